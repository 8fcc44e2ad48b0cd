"""Where pages lead: the worth of each page seen, and of those that its links led to.

worth   of a page: its relevance, and a share of what was gained by the links first found on it, so that credit goes
        back to pages that led to good ones
track   of a page: the mean relevance of the pages that its links led to, drawn to its own as long as they are few
"""

from collections.abc import Sequence

import numpy as np

from crawler.focus.pairs import Numbers, Values

CREDIT = 0.3
DRAWN_BY = 3.0
"""Pages that a page's own relevance counts for beside those that it led to."""
MOST_PAGES = 1 << 18
"""Pages that are told apart: after so many, the numbers of the first are given again."""
RELEVANCE, LED, LED_TO, GAINED, GAINS = range(5)


class Trails:
    """The pages seen, by their numbers."""

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
        return np.asarray(relevance + CREDIT * gained / np.maximum(gains, DRAWN_BY))

    def track(self, pages: Sequence[int] | Numbers) -> Values:
        """Of each of these pages."""
        relevance, led, led_to, _, _ = self._table[:, pages]
        return np.asarray((led + DRAWN_BY * relevance) / (led_to + DRAWN_BY))
