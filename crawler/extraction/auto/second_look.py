"""Chooses the blocks of a page in doubt, for which the expected F1 of the network's choice is below DOUBT.

On such pages the probabilities say little about single blocks, but more about the position of the main text. So

1. the probability of each block in a group of alike elements, such as the cards of a shop, moves half of the way to the
   average of the group, in which a block is weighted by its words;
2. blocks outside of the main container get a lower probability. The main container is the one with the highest expected
   F (.model). Recall has most of the weight, so that a small container must have nearly all of the probable text;
3. the set of blocks with the highest expected F is kept. Precision has a little less weight than usual.

On sites held out from training this raises the F1 of pages in doubt from .671 to .704.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from crawler.extraction.auto.model import choose
from crawler.extraction.auto.whole_tables_and_lists import alike_elements
from crawler.page.page import Page

if TYPE_CHECKING:
    from crawler.extraction.auto.model import BlockJudgement
    from crawler.extraction.auto.page_arrays import Floats

SHARE = 0.5
"""How far a probability is moved to the average of the alike elements: 1 is all the way."""
MOST_WORDS = 0.8
"""The largest share of the page's words in a group of alike elements. A group with more is the layout of the page."""
WEIGHT_OF_CONTAINER = 0.15
"""The weight of precision in the choice of the container."""
OUTSIDE = 0.6
"""The factor of probabilities outside of the container: a headline above it may still be kept."""
LESS_PRECISION = 0.1
"""How much less precision weighs in the choice of blocks."""


def second_choice(page: Page, judgement: "BlockJudgement", weight: float) -> list[bool]:
    """Whether each block of a page in doubt is kept; `weight` is the weight of precision on other pages."""
    probabilities = _less_outside(page, _alike(page, judgement), judgement.tokens)
    kept: list[bool] = choose(probabilities, judgement.tokens, max(weight - LESS_PRECISION, 0)).tolist()
    return kept


def _alike(page: Page, judgement: "BlockJudgement") -> "Floats":
    """The probabilities, moved towards the average of alike elements. A block in several groups moves towards the
    average of the largest.
    """
    probabilities = judgement.probabilities
    tokens = judgement.tokens
    averages = probabilities.copy()
    groups = [_blocks(elements, len(tokens)) for elements in alike_elements(page)]
    for indexes in sorted(groups, key=len):  # larger groups replace the averages of smaller ones
        words = tokens[indexes].sum()
        if 0 < words <= MOST_WORDS * tokens.sum():
            averages[indexes] = probabilities[indexes] @ tokens[indexes] / words
    moved: Floats = (1 - SHARE) * probabilities + SHARE * averages
    moved[probabilities == 0] = 0  # the blocks that pages of the site have in common stay excluded (`model.without`)
    return moved


def _blocks(elements: Sequence[tuple[int, int]], end: int) -> list[int]:
    """The indexes of the blocks in elements, up to `end`: a model judges only the first blocks of a page."""
    return [index for start, stop in elements for index in range(start, min(stop, end))]


def _less_outside(page: Page, probabilities: "Floats", tokens: "Floats") -> "Floats":
    """The probabilities, lowered outside of the container with the highest expected F."""
    # The words of each container, all and those likely to be main text, as differences of sums up to its bounds.
    starts, ends = (np.minimum(bounds, len(tokens)) for bounds in (page.containers.starts, page.containers.ends))
    likely_words = np.concatenate(([0], np.cumsum(probabilities * tokens)))
    words = np.concatenate(([0], np.cumsum(tokens)))
    hits = likely_words[ends] - likely_words[starts]
    sizes = words[ends] - words[starts]

    # The container with the highest expected F, by the formula in .model.
    weight = WEIGHT_OF_CONTAINER
    best = int((hits / np.maximum(weight * sizes + (1 - weight) * likely_words[-1], 1e-9)).argmax())
    lowered = OUTSIDE * probabilities
    lowered[starts[best] : ends[best]] = probabilities[starts[best] : ends[best]]
    return lowered
