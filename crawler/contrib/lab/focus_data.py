"""The data of the focus report: a crawl's pages, the words that its workers learned, and its recall of a truth list.

Pages are read one after another and without their texts, so that memory does not grow with their number. The relevance
of a page tells how well its text fits the topic. Its link score is the relevance that was expected before the request.

A truth list has the addresses of pages that are known to be on topic. The recall is the share of them that a crawl
stored.

Learned words are the words of the topic, and the words of links that led to it or away from it. Each worker learns its
own. The weight of a word is the mean of the workers' weights, weighted by the pages that each worker learned from.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import starmap
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import URL

from crawler.outcomes import Code
from crawler.store.crawl_tables import ADDRESSES_WITH_HOSTS, IS_DONE, IS_LIKELY, IS_WAITING, address, crawl, host
from crawler.store.page_tables import focus, page
from crawler.store.read_only import exists, reading
from crawler.topic.priorities import SCALE
from crawler.urls.parsing import absolute

PAGES_AT_ONCE = 1_000
"""Rows that are read from the database at once."""
STEPS = 1_000
"""For rankings, link scores and relevance are rounded to this many steps from 0 to 1, as many as priorities have."""
MOST_WORDS = 40
"""Words of each kind that are shown."""
MOST_CHARACTERS = 60
"""Characters of a word that are shown."""


class LearnedWord(NamedTuple):
    """A word with its weight."""

    word: str
    weight: float
    place: str = ""
    """Where links had the word: address, near or host. Empty for a word in the text of links, or of the topic."""


Weights = tuple[LearnedWord, ...]


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A stored page, without its text."""

    id: int
    url: str
    requested_url: str
    relevance: float
    link_score: float | None
    """The score of its link before the request; None if the link had no score."""
    via: str
    """The way in which the page was found, such as a link or a sitemap; empty if the way is not stored."""


@dataclass(frozen=True, slots=True)
class TitledPage:
    """A page with its title."""

    url: str
    title: str
    relevance: float
    link_score: float | None


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    """Queued addresses, including images."""

    total: int
    """All queued addresses except unlikely links."""
    promising: int
    """Addresses with at least the requested link score, and seeds, which have none."""
    unlikely: int = 0
    """Links that are held back because they are unlikely to lead to the topic."""


class CrawlPages:
    """The pages of one crawl for the focus report, while the connection is open."""

    def __init__(self, connection: Connection, number: int, name: str) -> None:
        self._connection = connection
        self._of_crawl = page.c.crawl_id == number
        self.number = number
        self.name = name

    def pages(self) -> Generator[FetchedPage, None, None]:
        """The pages in the order in which they were fetched, to the second."""
        columns = [page.c[field.name] for field in fields(FetchedPage)]
        query = select(*columns).where(self._of_crawl).order_by(page.c.fetched_at, page.c.id)
        with self._connection.execution_options(yield_per=PAGES_AT_ONCE).execute(query) as rows:
            for part in rows.partitions():
                yield from starmap(FetchedPage, part)

    def titled(self, ids: Sequence[int]) -> list[TitledPage]:
        """The pages with these ids, in this order, with their titles."""
        columns = [page.c[page_field.name] for page_field in fields(TitledPage)]
        rows = self._connection.execute(select(page.c.id, *columns).where(page.c.id.in_(ids)))
        page_by_id = {page_id: TitledPage(*values) for page_id, *values in rows}
        return [page_by_id[page_id] for page_id in ids]

    def summaries(self) -> list[str]:
        """The learned words of each worker, as JSON."""
        of_crawl = select(focus.c.summary).where(focus.c.crawl_id == self.number).order_by(focus.c.number)
        return list(self._connection.execute(of_crawl).scalars())

    def off_topic(self) -> int:
        """How many pages were read but not stored, because their relevance was below the crawl's `min_relevance`."""
        conditions = host.c.crawl_id == self.number, IS_DONE, address.c.outcome == Code.OFF_TOPIC
        count = select(func.count()).select_from(ADDRESSES_WITH_HOSTS).where(*conditions)
        return int(self._connection.execute(count).scalar_one())

    def waiting(self, score: float) -> WaitingCounts:
        """Counts of queued addresses, of those with at least this link score, and of unlikely links."""
        # Priorities are link scores times SCALE; those of seeds are higher.
        is_promising = address.c.priority >= score * SCALE
        likely = func.count().filter(IS_LIKELY)
        unlikely = func.count().filter(~IS_LIKELY)
        counts = select(likely, func.count().filter(is_promising), unlikely).select_from(ADDRESSES_WITH_HOSTS)
        conditions = IS_WAITING, host.c.crawl_id == self.number
        return WaitingCounts(*self._connection.execute(counts.where(*conditions)).one())


@contextmanager
def readable_crawls(url: URL) -> Iterator[list[CrawlPages]]:
    """All crawls of a database, for reading in one transaction; empty if no crawl was ever run."""
    if not exists(url):
        yield []
        return
    with reading(url) as connection:
        rows = connection.execute(select(crawl.c.id, crawl.c.name).order_by(crawl.c.id)).all()
        yield [CrawlPages(connection, row.id, row.name) for row in rows]


@dataclass(frozen=True)
class ReportedWords:
    """The words that workers learned, with the largest weights first."""

    workers: int
    topic: Weights = ()
    good: Weights = ()
    """Words of links that led to the topic."""
    bad: Weights = ()
    """Words of links that led away from the topic."""
    let_go: int = 0
    """Links that were not scored again because too many were queued."""


def learned_words(summaries: Iterable[str]) -> ReportedWords:
    """The words that the workers with these summaries learned together."""
    parsed = [json.loads(summary) for summary in summaries]
    lists = {name: _mean_weights(parsed, name) for name in ("topic", "good", "bad")}
    return ReportedWords(len(parsed), **lists, let_go=sum(summary.get("let_go", 0) for summary in parsed))


def _mean_weights(summaries: list[Mapping[str, Any]], name: str) -> Weights:
    """The MOST_WORDS words with the largest weights, from the lists `name` of all workers.

    The weight of a word is the mean of the workers' weights, weighted by their pages.
    """
    pages_of_workers = [summary.get("pages", 0) for summary in summaries]
    if not any(pages_of_workers):  # no worker has learned from a page yet, so all count the same
        pages_of_workers = [1] * len(pages_of_workers)
    means: defaultdict[tuple[str, str], float] = defaultdict(float)
    for summary, pages in zip(summaries, pages_of_workers, strict=True):
        for word, weight, place in starmap(LearnedWord, summary.get(name, ())):
            means[word[:MOST_CHARACTERS], place] += weight * pages / sum(pages_of_workers)
    # Words of links that led away from the topic may have negative weights, so the absolute weight decides.
    ranked = sorted(means.items(), key=lambda entry: (-abs(entry[1]), entry[0]))
    return tuple(
        LearnedWord(word=word, weight=weight, place=place) for (word, place), weight in ranked[:MOST_WORDS] if weight
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """How much of the truth list a crawl found."""

    addresses: int
    """The length of the list."""
    met: int
    """Addresses of the list that were stored."""
    agreed: int
    """Stored pages of the list that are also on topic by their relevance."""
    missed: int
    """Stored pages of the list that are off topic by their relevance."""
    on_topic: int
    """Stored pages that are on topic by their relevance."""
    brier: float
    """The Brier score: the mean over the stored pages of the squared difference between relevance and truth. The truth
    is 1 if the page is listed, otherwise 0.
    """
    ranking: float | None
    """The share of pairs of a listed page and another page in which the listed page had the higher relevance; .5 is
    chance.
    """

    @property
    def recall(self) -> float:
        """The share of the list that was stored."""
        return self.met / self.addresses


@dataclass(frozen=True, slots=True)
class Truth:
    """A truth list: addresses on the topic, each in its canonical spelling."""

    addresses: frozenset[str]
    canonical: Callable[[str], str]
    """Returns the canonical spelling of an address."""
    faults: tuple[int, ...]
    """The numbers of lines without an address."""


class TruthCounter:
    """Counts the pages of a crawl that are in a truth list."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._met: set[str] = set()
        self._agreed = self._missed = 0
        self._squares = 0.0  # for the Brier score
        # Two lists with the number of pages of each relevance: of pages that are not listed, and of listed pages.
        self._counts_by_relevance = ([0] * (STEPS + 1), [0] * (STEPS + 1))

    @property
    def count(self) -> int:
        """Addresses of the list that were found so far."""
        return len(self._met)

    def take(self, page: FetchedPage, on_topic: bool) -> None:
        """Count a page, which may be listed by its own or by its requested address."""
        listed = {self._truth.canonical(url) for url in {page.url, page.requested_url}} & self._truth.addresses
        is_listed = bool(listed)
        self._squares += (is_listed - page.relevance) ** 2
        bounded_relevance = min(max(page.relevance, 0.0), 1.0)  # the database does not limit it to 0 to 1
        self._counts_by_relevance[is_listed][round(bounded_relevance * STEPS)] += 1
        if is_listed:
            self._met |= listed
            self._agreed += on_topic
            self._missed += not on_topic

    def recall(self, on_topic: int) -> Recall:
        """The result for a crawl with this many pages on topic by their relevance."""
        return Recall(
            addresses=len(self._truth.addresses),
            met=self.count,
            agreed=self._agreed,
            missed=self._missed,
            on_topic=on_topic,
            brier=self._squares / sum(map(sum, self._counts_by_relevance)),
            ranking=ranking(*self._counts_by_relevance),
        )


def ranking(off_topic: list[int], on_topic: list[int]) -> float | None:
    """The share of pairs of a page on topic and a page off topic in which the page on topic had the higher score.

    A tie counts one half. The arguments have the number of pages for each score, the lowest score first. None without
    pairs.

    >>> ranking([2, 0, 0], [0, 1, 1]), ranking([1, 1], [1, 1]), ranking([0, 3], [0, 0])
    (1.0, 0.5, None)
    """
    pairs = sum(off_topic) * sum(on_topic)
    won = 0.0
    below = 0
    for off, on in zip(off_topic, on_topic, strict=True):
        won += on * (below + off / 2)
        below += off
    return won / pairs if pairs else None


def truth_of(lines: Iterable[str], canonical: Callable[[str], str]) -> Truth:
    """Parse a truth list with one address on each line; blank lines and comments are skipped.

    >>> truth = truth_of(["http://a.example", "# bees", "", "HTTP://A.example:80/", "bees"], str)
    >>> truth.addresses, truth.faults
    (frozenset({'http://a.example/'}), (5,))
    """
    addresses = set()
    faults = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        # Relative addresses are faults, so the base does not matter.
        address = absolute("http://nowhere.invalid/", text) if "://" in text else None
        if address is None:
            faults.append(number)
        else:
            addresses.add(canonical(address))
    return Truth(addresses=frozenset(addresses), canonical=canonical, faults=tuple(faults))
