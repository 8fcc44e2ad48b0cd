"""Keywords (Li 2006, NRel m1): a picture described by words of adverts is an advert.

Noise_m is a vector of words and their weights, as they come with the crawler. U_Nm are the words that
describe the picture (.words). Formula 1 gives the picture the mean weight of the words that both have; formula 2, N
sigma, is the mean weight of all words of the vector. The picture is noise if formula 1 is over N sigma.

What the paper leaves open, and what is chosen here:

- No word in common makes formula 1 0/0: nothing is said.
- Where all weights are equal, formula 1 is always N sigma and never over it. Then a word in common is enough.
- A word of the vector stands in a description or does not; how often is not asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from math import fsum  # whose result does not depend on the order
from pathlib import Path

from crawler.page.text import words

SHIPPED = ("english.txt", "chinese.txt")


@dataclass(frozen=True)
class NoiseWords:
    """The vector Noise_m."""

    weights: dict[str, float]

    @cached_property
    def limit(self) -> float:
        """Formula 2: N sigma, the mean weight of all words."""
        return fsum(self.weights.values()) / len(self.weights) if self.weights else 0.0

    @cached_property
    def all_equal(self) -> bool:
        """Whether all weights are the same."""
        return len(set(self.weights.values())) == 1

    def common(self, description: Iterable[str]) -> list[str]:
        """The words that a description shares with the vector, each once."""
        return list(self.weights.keys() & description)

    def score(self, description: Iterable[str]) -> float | None:
        """Formula 1: the mean weight of the words in common; None where there are none.

        >>> NoiseWords({"ad": 3.0, "banner": 2.0}).score(["top", "ad", "banner", "ad"])
        2.5
        """
        found = self.weights.keys() & description
        return fsum(map(self.weights.__getitem__, found)) / len(found) if found else None

    def is_over(self, score: float | None, limit: float | None = None) -> bool:
        """Whether a score means noise: over the limit (N sigma unless given), or at it where all weights are equal."""
        if score is None:
            return False
        limit = self.limit if limit is None else limit
        return score >= limit if self.all_equal else score > limit


def read(lines: Iterable[str]) -> NoiseWords:
    """The vector of lines with a word and its weight; # begins a comment.

    >>> read(["# of our sites", "banner 2.5", "广告位 1"]).weights
    {'banner': 2.5, '广告': 1.0, '告位': 1.0}
    """
    weights: dict[str, float] = {}
    for line in lines:
        *written, weight = line.partition("#")[0].split() or [""]
        for word in words(" ".join(written)):
            weights[word] = max(float(weight), weights.get(word, 0.0))
    return NoiseWords(weights)


@cache
def shipped() -> NoiseWords:
    """The English and Chinese words that come with the crawler."""
    here = Path(__file__).parent
    return read(line for name in SHIPPED for line in (here / name).read_text("utf-8").splitlines())
