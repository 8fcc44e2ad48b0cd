"""Removes running heads, running feet and page numbers: lines at page edges that other pages have in the same place.

The height of a line is its `y`, the distance of its baseline from the top of the page. Below, "running head" also means
a running foot and a page number.
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
"""Points by which the height of a running head may differ from page to page."""
PAGES = 6
"""A running head occurs again within this many pages; chapters, and left and right pages, have different ones."""
# All lines at one height are running heads if there are at least LEAST_LINES of them, and at least LEAST_SHARE of them
# are running heads by their text or by the space below them. The first lines of pages are running heads by the space
# below them if at least LEAST_LINES pages, and at least LEAST_SHARE of them, have the same space there.
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
    """The first and last lines of a page near its edges, each with its edge; lines of one height count as one."""
    heights = sorted({round(line.y) for line in page.lines})
    top = {y for y in heights[:MOST_AT_EDGE] if y < EDGE * page.height}
    bottom = {y for y in heights[-MOST_AT_EDGE:] if y > (1 - EDGE) * page.height}
    for line in page.lines:
        if round(line.y) in top:
            yield "top", line
        elif round(line.y) in bottom:
            yield "bottom", line


def _set_apart(pages: Sequence[PdfPage]) -> Iterator[PdfLine]:
    """The first lines of the pages that have the usual height of first lines, if most pages have the same space below
    their first line. The texts of these lines may differ.
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

    # The most frequent height of first lines with the space below them, both in steps of NEARNESS.
    layouts = Counter((round(line.y / NEARNESS), round(space / NEARNESS)) for line, space in firsts)
    (usual_height, usual_space), count = layouts.most_common(1)[0]
    if count < LEAST_LINES or count < LEAST_SHARE * len(firsts):
        return
    for line, space in firsts:
        is_apart = min(space, usual_space * NEARNESS) > APART * line.size  # on this page, and usually
        if is_apart and round(line.y / NEARNESS) == usual_height:
            yield line


def _key(text: str) -> str:
    """The text with all numbers replaced, so that lines with different page numbers are equal."""
    return "#" if PAGE_NUMBER.fullmatch(text) else re.sub(r"\d+", "#", text)


def _repeated(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """The lines that another page has in the same place; `lines` have the same text, in the order of their pages."""
    for at, line in enumerate(lines):
        near = lines[max(0, at - PAGES) : at + PAGES + 1]
        if any(0 < abs(other.page - line.page) <= PAGES and abs(other.y - line.y) <= NEARNESS for other in near):
            yield line
