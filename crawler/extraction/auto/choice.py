"""Which blocks to keep, by how likely each is main text.

Of all choices the one with the highest expected F1,
    2 * sum of p t over the kept / (sum of t over the kept + sum of p t over all),     p the probability, t the tokens,
keeps the blocks above half of that F1: half where the page is clear, less where nothing is sure, since then leaving out
costs more than taking in.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.auto.sight import Floats


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
