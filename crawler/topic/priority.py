"""The scores and priorities of links that wait.

The score of a link is a weighted mean:

    shown    the mean worth of the pages that show it, drawn to the mean of all pages by one page
    track    the mean track of these pages: what their other links led to; the mean of all where none is known
    words    how near the words of its anchor come to the topic
    near     the same of the text around it
    promise  what links with its signs led to before

The weights were found on a web of 4,598 pages of an encyclopaedia and four topics; they are few on purpose, and half as
much or twice of any of them changes little. The priority is lower where one site has had its share of the last pages,
and now and then a link with a low score is tried.
"""

import random
from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.topic.apprentice import Apprentice, PageCredits
from crawler.topic.relevance import Subject
from crawler.topic.vocabulary import Pairs, Values
from crawler.topic.waiting_links import FACTOR, LinkTable

HIGHEST = 999
"""The priority of a link that is asked for before all others: priorities are thousandths of a score."""
WINDOW = 200
"""Pages, the last ones, of which one site is to have its share and no more."""
SITE_FACTOR = 0.1
FOREFRONT = 300
"""Links that come next anyway: what is tried lies behind them."""


@dataclass(frozen=True)
class FocusOptions:
    """How to choose."""

    learning: bool = True
    """Whether it is learned what links lead to."""
    exploration: float = 0.02
    """The share of the pages that are tried although others promise more."""
    site_share: float = 0.5
    """The share of the last pages that one site may have, as long as links to others wait."""


class Prioritizer:
    """What was fetched lately, and what is owed to the rest."""

    def __init__(self, manner: FocusOptions, seat: int) -> None:
        self.manner = manner
        self._sites: deque[int] = deque(maxlen=WINDOW)
        self._owed = 0.0
        self._random = random.Random(seat)  # noqa: S311 - a choice among links, no secret

    def fetched(self, site: int) -> None:
        """Count a page of a site."""
        self._sites.append(site)
        self._owed += self.manner.exploration

    def priorities(self, scores: Values, sites: Values, waiting: Collection[int]) -> NDArray[np.int32]:
        """The priorities of links, by their scores and sites: less of sites that have had their share, as long as links
        to others wait.
        """
        full = self._full()
        if sum(site in waiting for site in full) < len(waiting):
            scores = scores * np.where(np.isin(sites, full), SITE_FACTOR, 1.0)
        return np.minimum(np.round(1000 * scores), HIGHEST - 1).astype(np.int32)

    def _full(self) -> list[int]:
        """The sites that have had more than their share of the last pages."""
        if len(self._sites) < WINDOW // 10:
            return []
        most = self.manner.site_share * len(self._sites)
        return [site for site, count in Counter(self._sites).items() if count > most]

    def tries(self, priorities: NDArray[np.int32], waits: NDArray[np.bool_]) -> list[int]:
        """The rows of links that are asked for now although others promise more."""
        rows = np.flatnonzero(waits & (priorities < HIGHEST))
        if self._owed < 1 or len(rows) <= FOREFRONT:
            return []
        behind = rows[np.argsort(-priorities[rows], kind="stable")[FOREFRONT:]]
        chosen = self._random.sample(behind.tolist(), min(int(self._owed), len(behind)))
        self._owed -= len(chosen)
        return chosen


SHOWN, TRACK, WORDS, NEAR, PROMISE = 0.5, 1.2, 1.0, 0.3, 0.25
PRIOR_PAGES = 1.0


@dataclass(frozen=True)
class Scorer:
    """What the scores of links are made of, as it is known now."""

    subject: Subject
    trails: PageCredits
    apprentice: Apprentice
    learning: bool = True
    """Whether it counts what links led to."""

    def scores(self, links: LinkTable) -> Values:
        """The score of each link, from 0 to 1."""
        count, shown = links.count, links.shown
        pages, mean = shown.sizes(count), self.trails.mean()
        worth = (shown.sums(self.trails.worth(shown.numbers), count) + PRIOR_PAGES * mean) / (pages + PRIOR_PAGES)
        words, near = self._of_topic(links.anchors, count), self._of_topic(links.nears, count)
        total, weight = SHOWN * worth + WORDS * words + NEAR * near, SHOWN + WORDS + NEAR
        if self.learning:
            tracks = shown.sums(self.trails.track(shown.numbers), count)
            total = total + TRACK * np.where(pages > 0, tracks / np.maximum(pages, 1), mean)
            total = total + PROMISE * self.apprentice.promise(links.signs, count)
            weight += TRACK + PROMISE
        return np.asarray(np.clip(links.table[FACTOR] * total / weight, 0.0, 1.0))

    def _of_topic(self, words: Pairs, count: int) -> Values:
        """How much of the topic the words of each link tell."""
        subject = self.subject
        lengths = np.sqrt(words.sums(subject.squares[words.numbers], count))
        likeness = words.sums(subject.weighed[words.numbers], count) / np.where(lengths > 0, lengths, 1.0)
        return subject.relevance(likeness)
