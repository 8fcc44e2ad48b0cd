"""The links that wait, and what is known of each: its words, those around it, its signs, and the pages that show it.

Where pages lead: the worth of each page seen, and of those that its links led to.

worth   of a page: its relevance, and a share of what was gained by the links first found on it, so that credit goes
        back to pages that led to good ones
track   of a page: the mean relevance of the pages that its links led to, drawn to its own as long as they are few
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.topic.vocabulary import Numbers, Pairs, Values

MOST_WAITING = 50_000
"""Links whose priority is renewed; of more, the worst of the sites with most links have their last."""
MOST_SHOWN = 30
"""Pages that show a link, of which it is known: to be shown by more says no more."""
TOLD, SITE, FACTOR, SCORE, WAITS, KEPT = range(6)


@dataclass(frozen=True)
class Seen:
    """What a page shows of a link, as numbers: see Vocabulary and Apprentice."""

    page: int | None
    """Its number, None of one that is not known."""
    anchor: list[int]
    near: list[int]
    signs: Numbers
    site: int
    factor: float
    """How many times its score counts."""
    kept: float | None = None
    """The score that it has whatever is learned, because too little is known of it here."""


@dataclass(frozen=True)
class Links:
    """Some of the links, by rows from 0 on."""

    count: int
    shown: Pairs
    """The pages that show each."""
    anchors: Pairs
    nears: Pairs
    signs: Pairs
    table: Values
    """Of each the priority told last, its site, how many times its score counts, its score, whether it waits, and
    whether it keeps its score.
    """

    @property
    def waits(self) -> NDArray[np.bool_]:
        """Which of them wait."""
        return np.asarray(self.table[WAITS] > 0)


class Waiting:
    """Links by their addresses, each a row of numbers."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.urls: list[str | None] = []
        self.signs: list[Numbers] = []
        self.shown: list[list[int]] = []
        self.sites: Counter[int] = Counter()
        """How many links to each site wait."""
        self.let_go = 0
        """Links that are priced no more because too many wait."""
        self._pairs = Pairs(), Pairs(), Pairs(), Pairs()
        self._table = np.zeros((6, 1024))

    def add(self, url: str, seen: Seen) -> None:
        """Let a link wait."""
        row = len(self.urls)
        if row == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.zeros_like(self._table)], axis=1)
        self.rows[url] = row
        self.sites[seen.site] += 1
        self.urls.append(url)
        self.signs.append(seen.signs)
        self.shown.append([] if seen.page is None else [seen.page])
        self._table[:, row] = 0, seen.site, seen.factor, seen.kept or 0, True, seen.kept is not None
        shown, anchors, nears, signs = self._pairs
        shown.add(row, self.shown[row])
        anchors.add(row, seen.anchor)
        nears.add(row, seen.near)
        signs.add(row, seen.signs)

    def again(self, row: int, page: int, anchor: list[int]) -> None:
        """Note that one more page shows a link, and in which words."""
        if len(self.shown[row]) < MOST_SHOWN and page not in self.shown[row]:
            self.shown[row].append(page)
            self._pairs[0].add(row, [page])
            self._pairs[1].add(row, anchor)

    def remove(self, url: str) -> int | None:
        """Let a link go; its row, which stays as it is until room is made."""
        row = self.rows.pop(url, None)
        if row is not None:
            self.urls[row] = None
            self._table[WAITS, row] = False
            site = int(self._table[SITE, row])
            self.sites[site] -= 1
            if not self.sites[site]:
                del self.sites[site]
        return row

    def all(self) -> Links:
        """All links, and rows of some that are gone."""
        count = len(self.urls)
        return Links(count, *self._pairs, self._table[:, :count])

    def mark(self) -> tuple[int, ...]:
        """A place between the links that are there and those that come."""
        return len(self.urls), *map(len, self._pairs)

    def since(self, mark: tuple[int, ...]) -> Links:
        """The links that came after a mark; none was shown again since."""
        first, *counts = mark
        shown, anchors, nears, signs = (p.since(count, first) for p, count in zip(self._pairs, counts, strict=True))
        return Links(len(self.urls) - first, shown, anchors, nears, signs, self._table[:, first : len(self.urls)])

    def make_room(self) -> list[tuple[str, int, float]]:
        """Drop the rows of links that are gone, where they are many, and where too many wait the worst of the sites
        that have most, so that none drives out the others; these links with their sites and scores.
        """
        let_go: list[tuple[str, int, float]] = []
        if len(self.rows) > MOST_WAITING:
            for row in self._worst(len(self.rows) - MOST_WAITING * 3 // 4):
                url = self.urls[row] or ""
                let_go.append((url, int(self._table[SITE, row]), float(self._table[SCORE, row])))
                self.remove(url)
            self.let_go += len(let_go)
        if len(self.urls) > 1024 and len(self.urls) > 2 * len(self.rows):
            self._drop()
        return let_go

    def _worst(self, count: int) -> list[int]:
        """The rows of so many links, those before which most of their own site come; of equals the oldest."""
        rows = np.fromiter(self.rows.values(), np.int64, len(self.rows))
        sites, told = self._table[SITE, rows], self._table[TOLD, rows]
        order = np.lexsort((-rows, -told, sites))
        first = np.flatnonzero(np.diff(sites[order], prepend=-1))
        places = np.arange(len(rows)) - np.repeat(first, np.diff(first, append=len(rows)))
        chosen: list[int] = rows[order[np.argsort(-places, kind="stable")[:count]]].tolist()
        return chosen

    def _drop(self) -> None:
        rows = sorted(self.rows.values())
        new = np.full(len(self.urls), -1, np.int32)
        new[rows] = np.arange(len(rows), dtype=np.int32)
        for pairs in self._pairs:
            pairs.keep(new)
        self._table[:, : len(rows)] = self._table[:, rows]
        self.urls = [self.urls[row] for row in rows]
        self.signs = [self.signs[row] for row in rows]
        self.shown = [self.shown[row] for row in rows]
        self.rows = {url: row for row, url in enumerate(self.urls) if url is not None}


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
