"""Removes tables of contents: they lead to pages, and are not text for readers.

An entry ends with dots, or with the number of its page at the right edge; it may begin on the lines before.
"""

import re
from collections.abc import Sequence

from crawler.contrib.documents.pdf_lines import PdfLine

LEADER = re.compile(r"(?:\.\s?){4,}\s*[\divxlcA-Z.-]{0,7}$|(?:…\s*){2,}[\divxlc]{0,6}$")
"""The dots at the end of an entry, perhaps with the number of a page."""
NUMBER = re.compile(r"[\divxlc]{1,6}")
"""The number of a page."""
LEAST_ENTRIES = 5
"""The least number of entries on a page with a table of contents. With fewer, only lines with dots are removed."""
LEAST_SHARE = 0.4
"""The least share of lines that end an entry on such a page, unless LEAST_ENTRIES of its entries have dots."""
HEADING = re.compile(
    r"(?:table of |brief )?contents|list of (?:figures|tables)|inhalt(?:sverzeichnis)?|table des matières|sommaire"
    r"|índice|indice|目\s*录|目\s*錄|目\s*次|содержание|оглавление|차\s*례|목\s*차",
    re.IGNORECASE,
)
"""The heading of a table of contents."""


def without_contents(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The lines of a page without those of a table of contents."""
    right_edge = max((line.x1 for line in lines), default=0.0)
    entry_ends = [at for at, line in enumerate(lines) if _ends_entry(line, right_edge)]
    with_dots = sum(LEADER.search(lines[at].text) is not None for at in entry_ends)
    is_dense = len(entry_ends) >= LEAST_SHARE * len(lines) or with_dots >= LEAST_ENTRIES
    if len(entry_ends) < LEAST_ENTRIES or not is_dense:
        return [line for line in lines if not LEADER.search(line.text)]

    # The table begins with its heading, or with the first line of its first entry.
    first = entry_ends[0]
    while first and (
        HEADING.fullmatch(lines[first - 1].text.strip()) or _continues_below(lines[first - 1], lines[first])
    ):
        first -= 1
    return [*lines[:first], *lines[entry_ends[-1] + 1 :]]


def _ends_entry(line: PdfLine, right_edge: float) -> bool:
    """Whether an entry ends with a line."""
    if LEADER.search(line.text):
        return True
    last = line.pieces[-1]
    return len(line.pieces) > 1 and NUMBER.fullmatch(last.text) is not None and last.x1 > right_edge - line.size


def _continues_below(line: PdfLine, below: PdfLine) -> bool:
    """Whether a line is part of an entry that continues in the line below it."""
    return 0 < below.y - line.y < 1.4 * line.size and line.size == below.size
