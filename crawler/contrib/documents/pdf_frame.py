"""Removes running heads, running feet and page numbers: lines at page edges that other pages have in the same place."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from crawler.contrib.documents.pdf_lines import PdfLine, PdfPage

EDGE = 0.13
"""Share of the height of a page at its top and bottom where running heads and feet are."""
MOST = 3
"""The most running heads or feet at each edge."""
NEARNESS = 4
"""Points by which the place of a running head may differ from page to page."""
PAGES = 6
"""Pages within which a running head occurs again: chapters, and left and right pages, have different ones."""
SHARE = 0.6
"""The least share of repeated lines at a place where all lines are running heads."""
APART = 1.6
"""Ems between a running head and the text below it."""
PAGE_NUMBER = re.compile(
    r"\W{0,3}(?:page|seite|第)?\W{0,3}(?:\d{1,4}|[ivxlc]{1,7})\W{0,3}(?:(?:of|von|页|頁)\W?)?(?:\d{1,4})?\W{0,3}", re.I
)


def without_frames(pages: Sequence[PdfPage]) -> list[list[PdfLine]]:
    """The lines of each page without running heads, running feet and page numbers."""
    lines_by_text: dict[tuple[str, str], list[PdfLine]] = defaultdict(list)
    lines_by_place: dict[tuple[str, int], list[PdfLine]] = defaultdict(list)
    for page in pages:
        for edge, line in _edge_lines(page):
            lines_by_text[edge, _key(line.text)].append(line)
            lines_by_place[edge, round(line.y / NEARNESS)].append(line)

    frame_lines = {id(line) for lines in lines_by_text.values() for line in _repeated(lines)}
    frame_lines |= {id(line) for line in _set_apart(pages)}
    for lines in lines_by_place.values():
        if len(lines) > MOST and sum(id(line) in frame_lines for line in lines) >= SHARE * len(lines):
            frame_lines.update(map(id, lines))
    if len(pages) == 1:
        frame_lines.update(id(line) for _, line in _edge_lines(pages[0]) if PAGE_NUMBER.fullmatch(line.text))
    return [[line for line in page.lines if id(line) not in frame_lines] for page in pages]


def _edge_lines(page: PdfPage) -> Iterator[tuple[str, PdfLine]]:
    """The first and last lines of a page near its edges, each with its edge; lines of one height count as one."""
    heights = sorted({round(line.y) for line in page.lines})
    top = {y for y in heights[:MOST] if y < EDGE * page.height}
    bottom = {y for y in heights[-MOST:] if y > (1 - EDGE) * page.height}
    for line in page.lines:
        if round(line.y) in top:
            yield "top", line
        elif round(line.y) in bottom:
            yield "bottom", line


def _set_apart(pages: Sequence[PdfPage]) -> Iterator[PdfLine]:
    """The first lines of most pages, if the same space separates them from the text; their texts may differ."""
    firsts: list[tuple[PdfLine, float]] = []
    for page in pages:
        heights = sorted({round(line.y): line for line in page.lines}.items())
        if len(heights) > 1:
            firsts += [(line, heights[1][0] - y) for y, line in heights[:1] if y < EDGE * page.height]
    spaces = Counter((round(line.y / NEARNESS), round(space / NEARNESS)) for line, space in firsts)
    if not spaces:
        return
    (place, space), count = spaces.most_common(1)[0]
    if count > MOST and count >= SHARE * len(firsts):
        for line, below in firsts:
            if round(line.y / NEARNESS) == place and below > APART * line.size and space * NEARNESS > APART * line.size:
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
