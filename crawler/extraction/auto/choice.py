"""Which blocks to keep, by how likely each is main text.

Of all choices the one with the highest expected F1,
    2 * sum of p t over the kept / (sum of t over the kept + sum of p t over all),     p the probability, t the tokens,
keeps the blocks above half of that F1: half where the page is clear, less where nothing is sure, since then leaving out
costs more than taking in.

The rows of two short cells, a label and its value, which say nothing by halves.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from crawler.extraction.auto.page_outline import Floats
from crawler.page.page import Page


def best_f1(probabilities: Floats, tokens: Floats) -> float:
    """The highest expected F1 of any choice.

    >>> float(best_f1(np.array([1.0, 1.0, 0.0]), np.array([5.0, 5.0, 90.0])))
    1.0
    """
    order = np.argsort(-probabilities, kind="stable")
    hits, taken = np.cumsum((probabilities * tokens)[order]), np.cumsum(tokens[order])
    return float((2 * hits / np.maximum(taken + hits[-1:], 1e-9)).max(initial=0))


def expected_f1(probabilities: Floats, tokens: Floats, kept: Sequence[int]) -> float:
    """The expected F1 of a choice, given by the places of what it keeps; those that nobody judged do not count.

    >>> expected_f1(np.array([1.0, 0.5, 0.0]), np.array([5.0, 2.0, 90.0]), [0])
    0.9090909090909091
    """
    hits = probabilities * tokens
    places = np.array([at for at in kept if at < len(hits)], np.intp)
    return float(2 * hits[places].sum() / max(tokens[places].sum() + hits.sum(), 1e-9))


def choose(probabilities: Floats, tokens: Floats, share: float) -> NDArray[np.bool_]:
    """Which blocks to keep: those that are main text with this share of the best F1 at least.

    >>> choose(np.array([0.9, 0.4, 0.1]), np.array([9.0, 9.0, 9.0]), 0.5).tolist()
    [True, True, False]
    """
    return probabilities >= share * best_f1(probabilities, tokens)


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
