"""Removes running heads, running feet and page numbers: lines at page edges that other pages have in the same place.

Below, "running head" also means a running foot and a page number. The height of a line is its `y`, the distance of its
baseline from the top of the page. A line is a running head if a near page has its text at its height (`_repeated`), if
it is set apart from the text below it (`_set_apart`), or if most lines at its height are running heads.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from crawler.contrib.documents.pdf_lines import PdfLine, PdfPage

EDGE = 0.13
"""Running heads are within this share of a page's height from its top or bottom."""
MOST_AT_EDGE = 3
"""The most running heads, one below the other, at each edge."""
NEARNESS = 4
"""Points by which the height of a running head may differ from page to page; also the step to which heights and spaces
are rounded to compare them.
"""
MAX_PAGES_APART = 6
"""A running head occurs again within this many pages, but not always on the next one: left and right pages, and
chapters, have different running heads.
"""
# These limits have two uses. At least LEAST_LINES lines at one height are all running heads if the share LEAST_SHARE of
# them is known to be. They also decide which place of first lines is usual, see `_set_apart`.
LEAST_LINES = 4
LEAST_SHARE = 0.6
APART = 1.6
"""Ems. A running head has more space below it."""
PAGE_NUMBER = re.compile(
    r"\W{0,3}(?:page|seite|第)?\W{0,3}(?:\d{1,4}|[ivxlc]{1,7})\W{0,3}(?:(?:of|von|页|頁)\W?)?(?:\d{1,4})?\W{0,3}", re.I
)


def without_running_heads(pages: Sequence[PdfPage]) -> list[list[PdfLine]]:
    """The lines of each page without running heads, running feet and page numbers."""
    lines_by_text: dict[tuple[str, str], list[PdfLine]] = defaultdict(list)
    lines_by_height: dict[tuple[str, int], list[PdfLine]] = defaultdict(list)
    for page in pages:
        for edge, line in _edge_lines(page):
            lines_by_text[edge, _key(line.text)].append(line)
            lines_by_height[edge, round(line.y / NEARNESS)].append(line)

    # By id, as two lines of a page may be equal.
    running_head_ids = {id(line) for lines in lines_by_text.values() for line in _repeated(lines)}
    running_head_ids |= {id(line) for line in _set_apart(pages)}
    for lines in lines_by_height.values():
        running_heads = sum(id(line) in running_head_ids for line in lines)
        if len(lines) >= LEAST_LINES and running_heads >= LEAST_SHARE * len(lines):
            running_head_ids.update(map(id, lines))
    if len(pages) == 1:  # no other page repeats its page number
        running_head_ids.update(id(line) for _, line in _edge_lines(pages[0]) if PAGE_NUMBER.fullmatch(line.text))
    return [[line for line in page.lines if id(line) not in running_head_ids] for page in pages]


def _edge_lines(page: PdfPage) -> Iterator[tuple[str, PdfLine]]:
    """The lines at the first and last MOST_AT_EDGE heights of a page that are near its edges, each with its edge."""
    heights = sorted({round(line.y) for line in page.lines})
    top = {y for y in heights[:MOST_AT_EDGE] if y < EDGE * page.height}
    bottom = {y for y in heights[-MOST_AT_EDGE:] if y > (1 - EDGE) * page.height}
    for line in page.lines:
        if round(line.y) in top:
            yield "top", line
        elif round(line.y) in bottom:
            yield "bottom", line


def _set_apart(pages: Sequence[PdfPage]) -> Iterator[PdfLine]:
    """The first lines of pages that are set apart from the text. Such a line has the usual height of first lines, and
    more space than APART below it, as usual. Their texts may differ.

    Height and space are usual if at least LEAST_LINES first lines, and the share LEAST_SHARE of all, have both.
    """
    firsts: list[tuple[PdfLine, float]] = []
    """The first line of each page, and the space between it and the second."""
    for page in pages:
        line_of_height = {round(line.y): line for line in page.lines}
        if len(line_of_height) > 1:
            first, second, *_ = sorted(line_of_height)
            if first < EDGE * page.height:
                firsts.append((line_of_height[first], second - first))
    if not firsts:
        return

    # The most frequent pair of a first line's height and the space below it, both in steps of NEARNESS.
    layouts = Counter((round(line.y / NEARNESS), round(space / NEARNESS)) for line, space in firsts)
    (usual_height, usual_space), count = layouts.most_common(1)[0]
    if count < LEAST_LINES or count < LEAST_SHARE * len(firsts):
        return
    for line, space in firsts:
        is_apart = min(space, usual_space * NEARNESS) > APART * line.size
        if is_apart and round(line.y / NEARNESS) == usual_height:
            yield line


def _key(text: str) -> str:
    """The text with each number as `#`, so that lines with different page numbers are equal. A page number that stands
    alone is also `#` if it is Roman.
    """
    return "#" if PAGE_NUMBER.fullmatch(text) else re.sub(r"\d+", "#", text)


def _repeated(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """The lines for which another line is at the same height of a near page. All `lines` have the same `_key`, and are
    in the order of their pages.
    """
    for at, line in enumerate(lines):
        for other in lines[max(0, at - MAX_PAGES_APART) : at + MAX_PAGES_APART + 1]:
            if 0 < abs(other.page - line.page) <= MAX_PAGES_APART and abs(other.y - line.y) <= NEARNESS:
                yield line
                break
