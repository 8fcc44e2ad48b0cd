"""What links like a link led to before, after Chakrabarti's apprentice: learned online, from every page fetched.

A link has signs: the words of its anchor, of its address, of the text around it, and its host. Each sign keeps the mean
relevance of what links with it led to, drawn to the mean of all as long as they are few. A link promises the mean of
its best and its worst sign. So that a topic of which little is found is not drowned by the rest, pages on the topic
count as much as the others together, up to ten times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crawler.topic.vocabulary import PLACES, Numbers, Pairs, Values

ANCHOR, ADDRESS, NEAR, HOST = SORTS = range(4)
"""Of signs: a word is another sign elsewhere. Its sign is its place in the vocabulary, `PLACES` further each sort."""
DRAWN_BY = 4.0
MOST_BALANCE = 10.0
MOST_TOLD = 5_000
"""Signs that are told to others: those that links had most often."""


@dataclass(frozen=True)
class Ledger:
    """What signs led to: by sign the sum of relevance and the weight, and how much of the topic and of the rest."""

    signs: Mapping[int, tuple[float, float]]
    good: float
    bad: float


class Apprentice:
    """What the signs of links led to."""

    def __init__(self) -> None:
        self._own = np.zeros((2, len(SORTS) * PLACES), np.float32)
        self._all = np.zeros((2, len(SORTS) * PLACES), np.float32)
        self.good = self.bad = 0.0
        """How much of the topic this worker found, and how much of the rest."""
        self._others: dict[int, Ledger] = {}

    def learn(self, signs: Sequence[int] | Numbers, relevance: float) -> None:
        """Take in what a link with these signs led to."""
        self.good += relevance
        self.bad += 1 - relevance
        gain = relevance * self._balance()
        for table in (self._own, self._all):
            table[0, signs] += gain
            table[1, signs] += gain + (1 - relevance)

    def promise(self, signs: Pairs, links: int) -> Values:
        """What some links promise, by the signs of each; links without signs are as all are."""
        mean = self.mean()
        sums, weights = self._all[:, signs.numbers]
        values = ((sums + DRAWN_BY * mean) / (weights + DRAWN_BY)).astype(np.float64)
        best, worst = np.full(links, mean), np.full(links, mean)
        np.maximum.at(best, signs.rows, values)
        np.minimum.at(worst, signs.rows, values)
        return np.asarray((best + worst) / 2)

    def mean(self) -> float:
        """The relevance of what links lead to, good and bad in balance."""
        good, bad = self._found()
        good *= self._balance()
        return good / (good + bad) if good + bad else 0.5

    def told(self) -> Ledger:
        """What this worker knows of the signs that links had most often, for others."""
        sums, weights = self._own
        known = np.flatnonzero(weights)  # few of a million places
        common = known[np.argsort(-weights[known], kind="stable")][:MOST_TOLD].tolist()
        signs = {sign: (float(sums[sign]), float(weights[sign])) for sign in common}
        return Ledger(signs, self.good, self.bad)

    def go_on(self, told: Ledger) -> None:
        """Take in what an earlier run learned."""
        self.good, self.bad = self.good + told.good, self.bad + told.bad
        for sign, sums in told.signs.items():
            self._own[:, sign] += sums
            self._all[:, sign] += sums

    def hear(self, seat: int, told: Ledger) -> None:
        """Take in what another worker learned, in place of what it told before."""
        self._others[seat] = told
        np.copyto(self._all, self._own)  # to take off again what a worker told before leaves crumbs
        for one in self._others.values():
            signs = np.fromiter(one.signs, np.int32, len(one.signs))
            self._all[:, signs] += np.array(list(one.signs.values()), np.float32).reshape(-1, 2).T

    def extremes(self, least: float, most: int) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """The signs that led to the topic most, and least, of those seen so often; with their means."""
        sums, weights = self._all
        known = np.flatnonzero(weights >= least)
        values = (sums[known] + DRAWN_BY * self.mean()) / (weights[known] + DRAWN_BY)
        order = np.argsort(-values, kind="stable")
        ranked = [(int(known[at]), float(values[at])) for at in order.tolist()]
        return ranked[:most], ranked[::-1][:most]

    def _found(self) -> tuple[float, float]:
        others = self._others.values()
        return self.good + sum(one.good for one in others), self.bad + sum(one.bad for one in others)

    def _balance(self) -> float:
        """How many times a page on the topic counts."""
        good, bad = self._found()
        return min(MOST_BALANCE, max(1.0, bad / good)) if good else 1.0
