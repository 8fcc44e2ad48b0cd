"""Running heads, running feet and page numbers: lines at the edge of a page that other pages have in the same place."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from crawler.contrib.documents.pdf_lines import PdfLine, PdfPage

EDGE = 0.13
"""Share of the height of a page at its top and bottom where such lines are."""
MOST = 3
"""Lines of them at each edge."""
NEARNESS = 4
"""Points by which the places of a running head differ from page to page."""
PAGES = 6
"""How many pages further the same head is: a chapter has its own, and left and right pages have different ones."""
SHARE = 0.6
"""A place where so many lines come again has running heads alone."""
APART = 1.6
"""Ems between a running head and the text below it."""
PAGE_NUMBER = re.compile(
    r"\W{0,3}(?:page|seite|第)?\W{0,3}(?:\d{1,4}|[ivxlc]{1,7})\W{0,3}(?:(?:of|von|页|頁)\W?)?(?:\d{1,4})?\W{0,3}", re.I
)


def without_frames(pages: Sequence[PdfPage]) -> list[list[PdfLine]]:
    """The lines of each page without running heads, running feet and page numbers."""
    same: dict[tuple[str, str], list[PdfLine]] = defaultdict(list)
    places: dict[tuple[str, int], list[PdfLine]] = defaultdict(list)
    for page in pages:
        for edge, line in _edge_lines(page):
            same[edge, _key(line.text)].append(line)
            places[edge, round(line.y / NEARNESS)].append(line)
    left_out = {id(line) for lines in same.values() for line in _repeated(lines)}
    left_out |= {id(line) for line in _set_apart(pages)}
    for lines in places.values():
        if len(lines) > MOST and sum(id(line) in left_out for line in lines) >= SHARE * len(lines):
            left_out.update(map(id, lines))
    if len(pages) == 1:
        left_out.update(id(line) for _, line in _edge_lines(pages[0]) if PAGE_NUMBER.fullmatch(line.text))
    return [[line for line in page.lines if id(line) not in left_out] for page in pages]


def _edge_lines(page: PdfPage) -> Iterator[tuple[str, PdfLine]]:
    """The first and the last lines of a page that are at its edges; those of one height count as one."""
    heights = sorted({round(line.y) for line in page.lines})
    top = {y for y in heights[:MOST] if y < EDGE * page.height}
    bottom = {y for y in heights[-MOST:] if y > (1 - EDGE) * page.height}
    for line in page.lines:
        if round(line.y) in top:
            yield "top", line
        elif round(line.y) in bottom:
            yield "bottom", line


def _set_apart(pages: Sequence[PdfPage]) -> Iterator[PdfLine]:
    """The first lines of most pages, whatever they say, where the same space divides them from the text."""
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
    """A text in which all numbers are the same."""
    return "#" if PAGE_NUMBER.fullmatch(text) else re.sub(r"\d+", "#", text)


def _repeated(lines: Sequence[PdfLine]) -> Iterator[PdfLine]:
    """Those of the lines of the same text, in the order of pages, that another page has in the same place."""
    for at, line in enumerate(lines):
        near = lines[max(0, at - PAGES) : at + PAGES + 1]
        if any(0 < abs(other.page - line.page) <= PAGES and abs(other.y - line.y) <= NEARNESS for other in near):
            yield line
