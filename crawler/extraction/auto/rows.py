"""The rows of two short cells, a label and its value, which say nothing by halves."""

from collections.abc import Iterable

from lxml import etree

from crawler.page.page import Page

CELLS = frozenset(("td", "th", "dt", "dd"))
MOST = 80
"""Characters of a cell; longer ones are text, not a label or a value."""


def whole_rows(page: Page, chosen: Iterable[int]) -> list[int]:
    """The places of the chosen blocks, and those of the other halves of their rows."""
    kept = set(chosen)
    for index in list(kept):
        for other in (index - 1, index + 1):
            if other not in kept and 0 <= other < len(page.blocks) and _are_halves(page, min(index, other)):
                kept.add(other)
    return sorted(kept)


def _are_halves(page: Page, first: int) -> bool:
    """Whether a block and the next one are all there is in a row of two cells."""
    left, right = page.blocks[first : first + 2]
    if left.tag not in CELLS or right.tag not in CELLS or max(len(left.text), len(right.text)) > MOST:
        return False
    if left.tag == "dt":
        return left.element.getnext() is right.element and not left.linked
    row = left.element.getparent()
    return row is not None and row.tag == "tr" and row is right.element.getparent() and _cells(row) == 2


def _cells(row: etree._Element) -> int:
    return sum(cell.tag in ("td", "th") for cell in row)
