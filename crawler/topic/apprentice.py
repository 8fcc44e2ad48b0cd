"""What links and pages led to, learned online from every page fetched.

S. Chakrabarti, K. Punera, M. Subramanyam, "Accelerated Focused Crawling through Online Relevance Feedback", WWW 2002,
call what judges a link before it is fetched the apprentice, and what judges a page the critic.

`Apprentice`: a link has signs, the words of its anchor, of its address, of the text around it, and its host. Each sign
keeps the mean relevance of the pages that links with it led to; as long as they are few, the mean of all counts as
PRIOR_LINKS links more. A link promises the mean of its best and its worst sign. Where most pages are off the topic,
each page on the topic counts several times (MOST_BALANCE at most), so that both kinds weigh the same.

`PageCredits`: for each page
    worth   its relevance, and CREDIT of the mean relevance of what was first found on it
    track   the mean relevance of the pages that its links led to; its own counts as PRIOR_PAGES of them
"""

from collections.abc import Sequence

import numpy as np

from crawler.topic.vocabulary import PLACES, SORTS, Numbers, Pairs, SignCounts, Values

PRIOR_LINKS = 4.0
"""Links that the mean of all counts for beside those with a sign."""
MOST_BALANCE = 10.0
"""How many times a page on the topic counts at most."""
MOST_TOLD = 5_000
"""Signs that are told to others: those that links had most often."""


class Apprentice:
    """What the signs of links led to."""

    def __init__(self) -> None:
        self._own = np.zeros((2, len(SORTS) * PLACES), np.float32)
        self._all = np.zeros((2, len(SORTS) * PLACES), np.float32)
        self.good = self.bad = 0.0
        """How much of the topic this worker found, and how much of the rest."""
        self._others: dict[int, SignCounts] = {}

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
        values = ((sums + PRIOR_LINKS * mean) / (weights + PRIOR_LINKS)).astype(np.float64)
        best, worst = np.full(links, mean), np.full(links, mean)
        np.maximum.at(best, signs.rows, values)
        np.minimum.at(worst, signs.rows, values)
        return np.asarray((best + worst) / 2)

    def mean(self) -> float:
        """The relevance of what links lead to, good and bad in balance."""
        good, bad = self._found()
        good *= self._balance()
        return good / (good + bad) if good + bad else 0.5

    def told(self) -> SignCounts:
        """What this worker knows of the signs that links had most often, for others."""
        sums, weights = self._own
        known = np.flatnonzero(weights)  # few of a million places
        common = known[np.argsort(-weights[known], kind="stable")][:MOST_TOLD].tolist()
        signs = {sign: (float(sums[sign]), float(weights[sign])) for sign in common}
        return SignCounts(signs, self.good, self.bad)

    def go_on(self, told: SignCounts) -> None:
        """Take in what an earlier run learned."""
        self.good, self.bad = self.good + told.good, self.bad + told.bad
        for sign, sums in told.signs.items():
            self._own[:, sign] += sums
            self._all[:, sign] += sums

    def hear(self, seat: int, told: SignCounts) -> None:
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
        values = (sums[known] + PRIOR_LINKS * self.mean()) / (weights[known] + PRIOR_LINKS)
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


CREDIT = 0.3
"""The share of a gain that goes back to the page on which the link was first found."""
PRIOR_PAGES = 3.0
"""Pages that a page's own relevance counts for beside those that it led to."""
MOST_PAGES = 1 << 18
"""Pages that are told apart: after so many, the numbers of the first are given again."""
RELEVANCE, LED, LED_TO, GAINED, GAINS = range(5)
"""The columns of a page: its relevance; the sum of what its links led to, and of how many pages; the same of the links
first found on it."""


class PageCredits:
    """What the pages seen led to, by the pages' numbers."""

    def __init__(self) -> None:
        self.pages = 0
        self._table = np.zeros((5, 1024))

    @property
    def count(self) -> int:
        """How many pages are told apart."""
        return min(self.pages, MOST_PAGES)

    def add(self, relevance: float) -> int:
        """The number of one page more."""
        number = self.pages % MOST_PAGES
        if number == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.zeros_like(self._table)], axis=1)
        self._table[:, number] = (relevance, 0.0, 0.0, 0.0, 0.0)
        self.pages += 1
        return number

    def lead(self, pages: Sequence[int], relevance: float) -> None:
        """Note what a link led to that these pages show, the one that showed it first before the others."""
        for page in dict.fromkeys(pages):
            self._table[LED, page] += relevance
            self._table[LED_TO, page] += 1
        if pages:
            self._table[GAINED, pages[0]] += relevance
            self._table[GAINS, pages[0]] += 1

    def leads_to(self, page: int, other: int) -> None:
        """Note that a page shows a link to one that was fetched before."""
        self._table[LED, page] += self._table[RELEVANCE, other]
        self._table[LED_TO, page] += 1

    def judge(self, pages: Sequence[int], relevance: Values) -> None:
        """Judge pages anew."""
        self._table[RELEVANCE, pages] = relevance

    def mean(self) -> float:
        """The mean relevance of all pages, one half where there is none."""
        return float(self._table[RELEVANCE, : self.count].mean()) if self.count else 0.5

    def worth(self, pages: Sequence[int] | Numbers) -> Values:
        """Of each of these pages."""
        relevance, _, _, gained, gains = self._table[:, pages]
        return np.asarray(relevance + CREDIT * gained / np.maximum(gains, PRIOR_PAGES))

    def track(self, pages: Sequence[int] | Numbers) -> Values:
        """Of each of these pages."""
        relevance, led, led_to, _, _ = self._table[:, pages]
        return np.asarray((led + PRIOR_PAGES * relevance) / (led_to + PRIOR_PAGES))
