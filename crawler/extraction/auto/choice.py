"""Which blocks to keep, by how likely each is main text.

Of all choices the one with the highest expected F1,
    2 * sum of p t over the kept / (sum of t over the kept + sum of p t over all),     p the probability, t the tokens,
keeps the blocks above half of that F1: half where the page is clear, less where nothing is sure, since then leaving out
costs more than taking in.
"""

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.auto.signs import Floats

FAVOURS = {"balance": 0.5, "precision": 0.75, "recall": 0.25}
"""What part of the highest F1 a probability must reach."""


def best_f1(probabilities: Floats, tokens: Floats) -> float:
    """The highest expected F1 of any choice."""
    order = np.argsort(-probabilities, kind="stable")
    hits, taken = np.cumsum((probabilities * tokens)[order]), np.cumsum(tokens[order])
    return float((2 * hits / np.maximum(taken + hits[-1:], 1e-9)).max(initial=0))


def choose(probabilities: Floats, tokens: Floats, favour: str = "balance") -> NDArray[np.bool_]:
    """Which blocks to keep."""
    return probabilities >= FAVOURS[favour] * best_f1(probabilities, tokens)
