"""`--dedupe paragraphs`: removes lines that a site repeats on several pages from all but the first of these pages.

A paragraph is a line of at least `SHORTEST` bytes: newsletter boxes and legal notices are that long, headings and
labels are not. Two paragraphs are the same if they have the same letters and digits. A paragraph is repeated if at
least `FEWEST_PAGES` pages have it: the first sentence of an article is also on the few pages that list the article, and
must not be removed from it.

The pages are read twice. First, `repeated_paragraphs` writes 16 bytes for each paragraph into one of `FILES`
temporary files, chosen by the paragraph's hash, and then sorts one file at a time. Second, the paragraphs are removed
by `RepeatedParagraphs.without`. Memory holds 16 bytes for each repeated paragraph.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile
from typing import IO

import numpy as np
from numpy.typing import NDArray

from crawler.export.where_conditions import RemovalReason, Removed
from crawler.page.text import letters
from crawler.reports.stored_pages import StoredPage
from crawler.urls.address import address_of
from crawler.urls.parsing import host_of

SHORTEST = 40
"""Bytes of UTF-8: 40 Latin letters, 14 Chinese characters."""
FEWEST_PAGES = 5
"""The number of pages of a site from which a paragraph counts as repeated."""
SEARCHED_COLUMNS = ("url", "text")
"""The columns that the search reads."""
FIELDS = ("text", "markdown")
"""The fields from which paragraphs are removed."""
REPEATED = "dedupe: paragraphs"
"""The rule that the list of removed pages names for a page that stays without its repeated paragraphs."""
NOTHING_ELSE = "dedupe: paragraphs alone"
"""The rule that the list names for a page that is left out because it has only repeated paragraphs."""
LONGEST_SHOWN = 100
"""The most characters of a paragraph that the list of removed pages shows."""
FILES = 64
"""The number of temporary files."""
PACKED = Struct("<qq")
"""The hash of a paragraph, and the key of its page."""
TARGET = re.compile(r"\]\([^()\s]*\)")
"""The address of a link in Markdown, which is not part of the text."""
GAP = re.compile(r"\n{3,}")
"""The line ends around a removed paragraph of Markdown."""


@dataclass(frozen=True)
class RepeatedParagraphs:
    """The paragraphs that sites repeat, and the first page of each."""

    paragraphs: NDArray[np.int64]
    """The hashes of the paragraphs, sorted."""
    first_pages: NDArray[np.int64]
    """For each of `paragraphs`, the key of the first page that has it."""

    def without(self, pages: Iterable[StoredPage], removed: Removed) -> Iterator[StoredPage]:
        """The pages without paragraphs that an earlier page has; pages without any other text are left out."""
        for page in pages:
            values = dict(page.values)
            repeated: list[str] = []
            for name in FIELDS:
                text = values.get(name)
                if text:
                    values[name], repeated_in_field = self._shortened(page, text)
                    repeated = repeated or repeated_in_field  # the other field has the same paragraphs
            if not repeated:
                yield page
                continue
            shown = [line[:LONGEST_SHOWN] for line in repeated]
            if values["text"]:
                removed.shorten(values["url"], RemovalReason(rule=REPEATED, value=shown, limit=None), len(repeated))
                yield replace(page, values=values)
            else:
                removed.add(values["url"], RemovalReason(rule=NOTHING_ELSE, value=shown, limit=None))

    def _shortened(self, page: StoredPage, text: str) -> tuple[str, list[str]]:
        """A text without its paragraphs that an earlier page has, and these paragraphs."""
        lines = text.split("\n")
        hash_by_line_number = {
            number: line_hash
            for number, line_hash in enumerate(_hashes(page.values["url"], lines))
            if line_hash is not None
        }
        if not hash_by_line_number or not len(self.paragraphs):
            return text, []

        # Look up each paragraph of the text. `indexes` say where its hash is in `self.paragraphs`, if it is there. A
        # hash above all of these would come after the last one, and is compared with the last one instead.
        line_numbers = np.array([*hash_by_line_number])
        hashes = np.array([*hash_by_line_number.values()])
        indexes = np.minimum(np.searchsorted(self.paragraphs, hashes), len(self.paragraphs) - 1)
        is_repeated = (self.paragraphs[indexes] == hashes) & (self.first_pages[indexes] != page.key)
        repeated_numbers = set(line_numbers[is_repeated].tolist())
        if not repeated_numbers:
            return text, []
        rest = "\n".join(line for number, line in enumerate(lines) if number not in repeated_numbers)
        return GAP.sub("\n\n", rest).strip(), [lines[number] for number in sorted(repeated_numbers)]


def repeated_paragraphs(pages: Iterable[StoredPage], folder: Path | None) -> RepeatedParagraphs:
    """The paragraphs that at least `FEWEST_PAGES` pages of a site have; `folder` is where temporary files go."""
    with ExitStack() as stack:
        files = [stack.enter_context(TemporaryFile(dir=folder)) for _ in range(FILES)]
        for page in pages:
            hashes = _hashes(page.values["url"], page.values["text"].split("\n"))
            for paragraph_hash in {line_hash for line_hash in hashes if line_hash is not None}:
                files[paragraph_hash % FILES].write(PACKED.pack(paragraph_hash, page.key))
        parts = [_repeated(file) for file in files]
    paragraphs, first_pages = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(paragraphs)
    return RepeatedParagraphs(paragraphs[order], first_pages[order])


def _repeated(file: IO[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The hashes of the repeated paragraphs of a file, and the key of the first page of each."""
    file.seek(0)
    rows = np.frombuffer(file.read(), "<i8").reshape(-1, 2)
    hashes = rows[:, 0]
    pages = rows[:, 1]
    # The rows are in the order in which the pages were read, so the first row of a hash is that of its first page.
    paragraphs, first_rows, counts = np.unique(hashes, return_index=True, return_counts=True)
    is_repeated = counts >= FEWEST_PAGES
    return paragraphs[is_repeated], pages[first_rows[is_repeated]]


def _hashes(url: str, lines: Iterable[str]) -> Iterator[int | None]:
    """The hash of the letters and digits of each line, different for each site; None for a line that is too short, or
    has neither letters nor digits.
    """
    salt = blake2b(address_of(url).site.encode() if host_of(url) else b"", digest_size=32).digest()
    for line in lines:
        is_paragraph = len(line.encode("utf-8", "replace")) >= SHORTEST
        line_letters = letters(TARGET.sub("]", line)) if is_paragraph else b""
        if line_letters:
            digest = blake2b(line_letters, digest_size=8, key=salt).digest()
            yield int.from_bytes(digest, "big", signed=True)
        else:
            yield None
