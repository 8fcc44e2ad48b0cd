"""Chooses among candidates for a field by signs, or none of them if the signs say so.

A candidate is a value that stands somewhere on the page. A sign is a name with a number, usually 1, that tells where
and how it stands there. The score of a candidate is the sum of its signs, each times its weight; the field being empty
is a candidate too, whose signs are those of the page. The scores are made probabilities: exp(score) / sum of exp(score)
over all. The weights are learned by `winnow train metadata` (crawler.contrib.lab.training.metadata_weights) from pages
whose fields are known.
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
"""The probability from which a value is given: below, an empty field is less misleading."""

Signs = dict[str, float]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates for a field of a page, each with its signs."""

    signs: defaultdict[str, Signs]
    page: Signs
    """What speaks for an empty field."""

    def add(self, value: str, *names: str) -> None:
        """Add signs to a value, which is a candidate from then on."""
        self.signs[value].update(dict.fromkeys(names, 1.0))


def candidates(page: Signs) -> Candidates:
    return Candidates(signs=defaultdict(dict), page={"empty": 1.0, **page})


def probabilities(candidates: Candidates, weights: Mapping[str, float]) -> dict[str, float]:
    """How likely each candidate is, and the empty field."""
    scores = {value: _score(signs, weights) for value, signs in candidates.signs.items()}
    scores[EMPTY] = _score(candidates.page, weights)
    most = max(scores.values())
    powers = {value: exp(score - most) for value, score in scores.items()}
    total = sum(powers.values())
    return {value: power / total for value, power in powers.items()}


def chosen(candidates: Candidates, weights: Mapping[str, float]) -> str:
    """The likeliest value, empty if none is likely enough."""
    likely = probabilities(candidates, weights)
    value = max(candidates.signs, key=lambda value: likely[value], default=EMPTY)
    return value if likely[value] >= LEAST else EMPTY


@cache
def shipped() -> dict[str, dict[str, float]]:
    """The weights of this release, for each field by sign."""
    read: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return read


def _score(signs: Signs, weights: Mapping[str, float]) -> float:
    return sum(number * weights.get(name, 0.0) for name, number in signs.items())
