"""Chooses one of the candidates for a field by their signs, or none of them: multinomial logistic regression.

A candidate is a value that was found on the page. A sign is a feature of a candidate, with a number, usually 1: it says
where and how the value was found. The score of a candidate is the sum of its signs, each multiplied by its weight. The
empty field has a score, too; its signs are those of the page. The softmax turns scores into probabilities:
exp(score) / sum of exp(score) over all candidates and the empty field. The likeliest candidate is chosen if its
probability is at least LEAST, even if the empty field is likelier. `winnow train metadata`
(crawler.contrib.lab.training.metadata_weights) learns the weights from pages whose fields are known.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path

WEIGHTS = Path(__file__).with_name("weights.json")
EMPTY = ""
"""The value of an empty field."""
LEAST = 0.3
"""The least probability of a value that is chosen; below this, an empty field misleads less."""

Signs = dict[str, float]
"""The number of each sign, by its name."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for a field of a page, each with its signs."""

    signs: defaultdict[str, Signs]
    """The signs of each value."""
    empty_signs: Signs
    """The signs of the empty field."""

    def add(self, value: str, *names: str) -> None:
        """Add signs to a value, which is a candidate from then on."""
        self.signs[value].update(dict.fromkeys(names, 1.0))


def new_candidates(page_signs: Signs) -> Candidates:
    """Candidates for a field without values yet: only the empty field, with the signs of the page."""
    return Candidates(signs=defaultdict(dict), empty_signs={"empty": 1.0, **page_signs})


def probabilities(candidates: Candidates, weights: Mapping[str, float]) -> dict[str, float]:
    """The probability of each candidate, and of the empty field."""
    scores = {value: _score(signs, weights) for value, signs in candidates.signs.items()}
    scores[EMPTY] = _score(candidates.empty_signs, weights)
    highest = max(scores.values())  # subtracted, so that no power overflows
    powers = {value: exp(score - highest) for value, score in scores.items()}
    total = sum(powers.values())
    return {value: power / total for value, power in powers.items()}


def chosen(candidates: Candidates, weights: Mapping[str, float]) -> str:
    """The likeliest value; empty if its probability is below LEAST."""
    probability_of = probabilities(candidates, weights)
    likeliest = max(candidates.signs, key=lambda value: probability_of[value], default=EMPTY)
    return likeliest if probability_of[likeliest] >= LEAST else EMPTY


@cache
def shipped_weights() -> dict[str, dict[str, float]]:
    """The weights of this release: by sign, for each field."""
    weights: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return weights


def _score(signs: Signs, weights: Mapping[str, float]) -> float:
    return sum(number * weights.get(name, 0.0) for name, number in signs.items())
