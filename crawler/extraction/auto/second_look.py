"""What is chosen of a page that the network is in doubt about: where the expected F1 of its choice is below DOUBT.

On such pages the probabilities say little about single blocks, and more about where the main text is. So

1. blocks in elements that are alike beside each other, such as the cards of a shop, are judged half alike: each
   probability moves to the average of all these elements, each block weighing its words,
2. blocks outside of one container are less likely: outside of that with the highest expected F, where recall weighs
   most, so that a smaller container has to hold nearly all that is likely,
3. of the blocks in it those are kept that promise the best F, where precision weighs a little less than usual.

On sites held out from training this raises the F1 of pages in doubt from .671 to .704.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from crawler.extraction.auto.model import choose
from crawler.extraction.auto.wholes import alike_elements
from crawler.page.page import Page

if TYPE_CHECKING:
    from crawler.extraction.auto.model import BlockJudgement
    from crawler.extraction.auto.page_arrays import Floats

SHARE = 0.5
"""How much of a probability is the average of the elements that are alike."""
MOST_WORDS = 0.8
"""The share of the page's words in elements that are judged alike; what holds more is the page's layout."""
WEIGHT_OF_CONTAINER = 0.15
"""The weight of precision in the choice of the container."""
OUTSIDE = 0.6
"""What a probability outside of it counts: a headline above the container may still be kept."""
LESS_PRECISION = 0.1
"""How much less precision weighs in the choice of blocks."""


def second_choice(page: Page, judgement: "BlockJudgement", weight: float) -> list[bool]:
    """Which blocks to keep of a page in doubt; `weight` is that of precision on other pages."""
    likely = _less_outside(page, _alike(page, judgement), judgement.tokens)
    kept: list[bool] = choose(likely, judgement.tokens, max(weight - LESS_PRECISION, 0)).tolist()
    return kept


def _alike(page: Page, judgement: "BlockJudgement") -> "Floats":
    """The probabilities, those in elements that are alike nearer to each other; inner elements count before outer."""
    likely = judgement.probabilities
    tokens = judgement.tokens
    averages = likely.copy()
    groups = [_blocks(elements, len(tokens)) for elements in alike_elements(page)]
    for places in sorted(groups, key=len):
        words = tokens[places].sum()
        if 0 < words <= MOST_WORDS * tokens.sum():
            averages[places] = likely[places] @ tokens[places] / words
    nearer: Floats = (1 - SHARE) * likely + SHARE * averages
    nearer[likely == 0] = 0  # what other pages of the site have, too, stays out
    return nearer


def _blocks(elements: Sequence[tuple[int, int]], end: int) -> list[int]:
    """The blocks of elements, up to an end."""
    return [place for first, last in elements for place in range(first, min(last, end))]


def _less_outside(page: Page, likely: "Floats", tokens: "Floats") -> "Floats":
    """The probabilities, those outside of the container with the highest expected F smaller."""
    starts, ends = (np.minimum(bounds, len(tokens)) for bounds in (page.containers.starts, page.containers.ends))
    likely_words = np.concatenate(([0], np.cumsum(likely * tokens)))
    words = np.concatenate(([0], np.cumsum(tokens)))
    hits = likely_words[ends] - likely_words[starts]
    size = words[ends] - words[starts]
    weight = WEIGHT_OF_CONTAINER
    best = int((hits / np.maximum(weight * size + (1 - weight) * likely_words[-1], 1e-9)).argmax())
    smaller = OUTSIDE * likely
    smaller[starts[best] : ends[best]] = likely[starts[best] : ends[best]]
    return smaller
