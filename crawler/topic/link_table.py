"""The queued links as numbers: the words of each link's anchor, the words around it, its features
(crawler/topic/link_scores.py), the pages that show it, its site and its score.

A link has a row, which is its index in all arrays and lists. A word is represented by its place, a number
(crawler/topic/word_statistics.py).
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from crawler.page.text import terms, words
from crawler.topic.word_statistics import ADDRESS, ANCHOR, HOST, NEAR, PLACES, Numbers, Pairs, Values, Vocabulary
from crawler.urls.address import address_of
from crawler.urls.parsing import lies_in

MOST_WAITING = 50_000
"""The most links that are scored. If there are more, the worst links of the sites with the most links are dropped. They
stay queued in the database with their last priority, which `TopicFocus._make_room` may lower once more.
"""
FIRST_ROWS = 1024
"""The number of rows that memory is allocated for at first."""
MOST_SHOWN = 30
"""How many of the pages that show a link are remembered."""
REPORTED, SITE, FACTOR, SCORE, WAITS, KEPT = range(6)
"""The arrays in `LinkTable.table`: `table[SCORE]` has the scores of all links."""
MOST_LINK_TEXT = 200
"""How many characters of a link's words, of the text around it and of its path are read."""
MOST_ADDRESS_WORDS = 20
PREFERRED = 1.25
"""The factor of the score of a link to a preferred domain."""


@dataclass(frozen=True, slots=True)
class LinkContext:
    """An address, and the words that represent it."""

    url: str
    anchor: str
    """The link's own words: text, title and the alternative text of an image in it."""
    _: KW_ONLY
    near: str = ""
    """The text around the link."""


@dataclass(frozen=True)
class LinkNumbers:
    """A link on a page as numbers, which `LinkReader` computes."""

    page: int | None
    """The number of the page; None if it is unknown."""
    anchor: list[int]
    """The places of the words of the link's anchor (`LinkContext.anchor`)."""
    near: list[int]
    """The places of the words around the link."""
    features: Numbers
    """The features from which `Apprentice` learns."""
    site: int
    factor: float
    """The factor of the link's score."""
    fixed_score: float | None = None
    """The score of a link that another worker or an earlier run found (`TopicFocus.adopt`): this worker does not know
    the words of the link, and keeps the score.
    """


class LinkReader:
    """Converts links into numbers: the places of their words, their features, their sites."""

    def __init__(self, vocabulary: Vocabulary, prefer: Collection[str]) -> None:
        self.vocabulary = vocabulary
        self.prefer = prefer

    def places(self, text: str) -> list[int]:
        """The places of the words in the anchor of a link, or in the text around it."""
        return self.vocabulary.places(terms(text[:MOST_LINK_TEXT]))

    def read(self, page: int | None, links: Sequence[LinkContext]) -> list[LinkNumbers]:
        """The numbers of the links on a page, which is given by its number."""
        link_numbers = []
        places_of_text = dict[str, list[int]]()  # a text around several links is read once
        for link in links:
            if link.near not in places_of_text:
                places_of_text[link.near] = self.places(link.near)
            link_numbers.append(self._numbers(page, link, places_of_text[link.near]))
        return link_numbers

    def _numbers(self, page: int | None, link: LinkContext, near: list[int]) -> LinkNumbers:
        host = address_of(link.url).host
        anchor = self.places(link.anchor)
        address = self.vocabulary.places(words(_address_text(link.url))[:MOST_ADDRESS_WORDS])
        features = [ANCHOR * PLACES + place for place in anchor]
        features += [ADDRESS * PLACES + place for place in address]
        features += [NEAR * PLACES + place for place in near]
        features.append(HOST * PLACES + self.vocabulary.place(host))
        factor = PREFERRED if self.prefer and lies_in(host, self.prefer) else 1.0
        return LinkNumbers(
            page=page,
            anchor=anchor,
            near=near,
            features=np.array(list(dict.fromkeys(features)), np.int32),
            site=site_number(host),
            factor=factor,
        )


@dataclass(frozen=True)
class LinkTable:
    """All queued links, or those added last, in rows that are counted from 0."""

    count: int
    shown: Pairs
    """The pages that show each link."""
    anchors: Pairs
    """The places of the words of each link's anchors."""
    nears: Pairs
    """The places of the words around each link."""
    features: Pairs
    table: Values
    """The arrays REPORTED to KEPT: the priority last sent to the database, the site, the factor of the score, the
    score, whether the link is queued, and whether its score is fixed.
    """

    @property
    def waits(self) -> NDArray[np.bool_]:
        """Whether each link is queued."""
        return np.asarray(self.table[WAITS] > 0)


class WaitingLinks:
    """The queued links by address, each a row of numbers."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.urls: list[str] = []
        """The address in each row; empty if the link was removed."""
        self.features: list[Numbers] = []
        """The features of the link in each row."""
        self.shown: list[list[int]] = []
        """The pages that show the link in each row, in the order in which they were seen."""
        self.sites: Counter[int] = Counter()
        """How many links to each site are queued."""
        self.dropped = 0
        """How many links are not scored any more because too many are queued."""
        self._pairs = Pairs(), Pairs(), Pairs(), Pairs()
        """The pages that show each link, the words of its anchors, the words around it, and its features."""
        self._table = np.zeros((6, FIRST_ROWS))

    def add(self, url: str, link: LinkNumbers) -> None:
        """Add a link."""
        row = len(self.urls)
        if row == self._table.shape[1]:
            self._table = np.concatenate([self._table, np.zeros_like(self._table)], axis=1)
        self.rows[url] = row
        self.sites[link.site] += 1
        self.urls.append(url)
        self.features.append(link.features)
        self.shown.append([] if link.page is None else [link.page])
        # REPORTED, SITE, FACTOR, SCORE, WAITS and KEPT.
        is_fixed = link.fixed_score is not None
        self._table[:, row] = 0, link.site, link.factor, link.fixed_score or 0, True, is_fixed
        shown, anchors, nears, features = self._pairs
        shown.add(row, self.shown[row])
        anchors.add(row, link.anchor)
        nears.add(row, link.near)
        features.add(row, link.features)

    def show_again(self, row: int, page: int, anchor: list[int]) -> None:
        """Record that one more page shows a link, and the words of the link there."""
        if len(self.shown[row]) < MOST_SHOWN and page not in self.shown[row]:
            self.shown[row].append(page)
            shown, anchors, _, _ = self._pairs
            shown.add(row, [page])
            anchors.add(row, anchor)

    def remove(self, url: str) -> int | None:
        """Remove a link, and return its row, which stays until `make_room` frees it; None if there is no such link."""
        row = self.rows.pop(url, None)
        if row is not None:
            self.urls[row] = ""
            self._table[WAITS, row] = False
            site = int(self._table[SITE, row])
            self.sites[site] -= 1
            if not self.sites[site]:
                del self.sites[site]
        return row

    def all(self) -> LinkTable:
        """All links, and the removed ones whose rows are not free yet."""
        count = len(self.urls)
        shown, anchors, nears, features = self._pairs
        return LinkTable(
            count=count,
            shown=shown,
            anchors=anchors,
            nears=nears,
            features=features,
            table=self._table[:, :count],
        )

    def mark(self) -> tuple[int, ...]:
        """The present ends of the rows and of the pairs, for `since`."""
        return len(self.urls), *map(len, self._pairs)

    def since(self, mark: tuple[int, ...]) -> LinkTable:
        """The links added after a mark. `show_again` must not have been called since."""
        first, *counts = mark
        later_pairs = (pairs.since(count, first) for pairs, count in zip(self._pairs, counts, strict=True))
        shown, anchors, nears, features = later_pairs
        return LinkTable(
            count=len(self.urls) - first,
            shown=shown,
            anchors=anchors,
            nears=nears,
            features=features,
            table=self._table[:, first : len(self.urls)],
        )

    def make_room(self) -> list[tuple[str, int, float]]:
        """Drop links if too many are queued, and free the rows of removed links if there are many.

        The worst links of the sites with the most links are dropped, so that no site crowds out the others. Returns
        these links with their sites and scores.
        """
        dropped: list[tuple[str, int, float]] = []
        if len(self.rows) > MOST_WAITING:
            # Three quarters are left, so that the next few links do not make this necessary again.
            for row in self._worst(len(self.rows) - MOST_WAITING * 3 // 4):
                url = self.urls[row]
                dropped.append((url, int(self._table[SITE, row]), float(self._table[SCORE, row])))
                self.remove(url)
            self.dropped += len(dropped)
        if len(self.urls) > FIRST_ROWS and len(self.urls) > 2 * len(self.rows):
            self._free_rows()
        return dropped

    def _worst(self, count: int) -> list[int]:
        """Rank the links to each site, from 0 on, by their reported priorities, and the newest first if these are
        equal; returns the rows of the `count` links with the greatest ranks.
        """
        rows = np.fromiter(self.rows.values(), np.int64, len(self.rows))
        sites = self._table[SITE, rows]
        reported_priorities = self._table[REPORTED, rows]
        order = np.lexsort((-rows, -reported_priorities, sites))
        # A rank is the number of links since the first one to the same site.
        first_of_site = np.flatnonzero(np.diff(sites[order], prepend=-1))
        sizes = np.diff(first_of_site, append=len(rows))
        ranks = np.arange(len(rows)) - np.repeat(first_of_site, sizes)
        last_ranked = np.argsort(-ranks, kind="stable")[:count]
        chosen: list[int] = rows[order[last_ranked]].tolist()
        return chosen

    def _free_rows(self) -> None:
        """Free the rows of removed links, and renumber the others."""
        rows = sorted(self.rows.values())
        new_rows = np.full(len(self.urls), -1, np.int32)  # -1: the row is freed
        new_rows[rows] = np.arange(len(rows), dtype=np.int32)
        for pairs in self._pairs:
            pairs.renumber(new_rows)
        self._table[:, : len(rows)] = self._table[:, rows]
        self.urls = [self.urls[row] for row in rows]
        self.features = [self.features[row] for row in rows]
        self.shown = [self.shown[row] for row in rows]
        self.rows = {url: row for row, url in enumerate(self.urls)}


def _address_text(url: str) -> str:
    """The path and the query of an address, decoded."""
    path = url.partition("://")[2].partition("/")[2]
    return unquote(path[:MOST_LINK_TEXT])


@lru_cache(maxsize=10_000)
def site_number(host: str) -> int:
    """The number of the site of a host, which is a hash."""
    return int.from_bytes(blake2b(address_of(f"http://{host}/").site.encode(), digest_size=4).digest(), "big")
