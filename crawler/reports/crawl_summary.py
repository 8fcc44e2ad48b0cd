"""What a few rows tell of crawls, quickly, however many addresses these have met; for people and for monitors."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, func, select

from crawler.store.dashboard_tables import sample
from crawler.store.page_tables import page
from crawler.store.samples import NUMBERS
from crawler.store.schema import crawl
from crawler.store.schema import worker as worker_table
from crawler.store.workers import LEASE_SECONDS, WorkerState, worker_rows

DUE_LOOKED_AT = 200
"""Pages that come next, of which the first that is not gone is looked for."""
LAST = 2**62
"""A number that no crawl has."""
LATELY = 30.0
"""Seconds over which it is said how fast a crawl is."""


@dataclass(frozen=True)
class CrawlSummary:
    """Where a crawl stands."""

    id: int
    name: str
    seeds: str
    """As JSON."""
    started_at: float
    ended_at: float | None
    pages: int
    """Of this round."""
    waiting: int
    round: int
    first_round: int
    workers: tuple[WorkerState, ...]

    @property
    def alive(self) -> tuple[WorkerState, ...]:
        """The workers that are at it."""
        return tuple(one for one in self.workers if one.alive)

    @property
    def silent(self) -> float | None:
        """Seconds since the last sign of life of any worker."""
        return min((one.silent for one in self.workers), default=None)

    @property
    def status(self) -> str:
        """Whether it is at work or at its end, in a word."""
        if self.ended_at is not None:
            return "full" if self.waiting else "finished"
        if self.alive:
            return "running"
        return "broken" if self.workers else "stopped"


class Sums(NamedTuple):
    """What a crawl did, as its samples tell."""

    since: float
    until: float
    pages: int
    read: int
    on_topic: int
    requests: int
    failed: int
    bytes: int
    pictures: int
    picture_bytes: int
    skipped: int

    @property
    def harvest(self) -> float | None:
        """The share of pages on topic among those that were read."""
        return self.on_topic / self.read if self.read else None


def all_summaries(connection: Connection, now: float) -> list[CrawlSummary]:
    """All crawls, in the order in which they were begun."""
    return _summaries(connection, connection.execute(select(crawl).order_by(crawl.c.id)).all(), now)


def latest_summaries(
    connection: Connection, now: float, before: int, most: int
) -> tuple[list[CrawlSummary], int | None]:
    """Crawls before that number, the latest first, and what it is for those that follow, if there are any.

    Where it is 0, those at work come first; however many they are, the parts that follow leave out none.
    """
    at_work = select(worker_table.c.crawl_id).where(worker_table.c.heartbeat >= now - LEASE_SECONDS)
    working = crawl.c.ended_at.is_(None) & crawl.c.id.in_(at_work)
    if before:
        first, rows = [], _latest(connection, crawl.c.id < before, most + 1)
    else:
        first = _latest(connection, working, most + 1)
        rows = first + _latest(connection, ~working, most + 1 - len(first))
    shown = rows[:most]
    last = LAST if len(first) >= len(shown) else shown[-1].id
    return _summaries(connection, shown, now), last if len(rows) > most else None


def summary_of(connection: Connection, number: int, now: float) -> CrawlSummary | None:
    """The crawl of this number."""
    rows = connection.execute(select(crawl).where(crawl.c.id == number)).all()
    return next(iter(_summaries(connection, rows, now)), None)


def _latest(connection: Connection, which: ColumnElement[bool], most: int) -> list[Row[Any]]:
    return list(connection.execute(select(crawl).where(which).order_by(crawl.c.id.desc()).limit(most)))


def _summaries(connection: Connection, rows: Collection[Row[Any]], now: float) -> list[CrawlSummary]:
    workers: defaultdict[int, list[tuple[Row[Any], WorkerState]]] = defaultdict(list)
    for row, worker in worker_rows(connection, now):
        workers[row.crawl_id].append((row, worker))
    return [
        CrawlSummary(
            *(row.id, row.name, row.seeds, row.started_at, row.ended_at),
            row.pages + sum(one.pages for one, _ in workers[row.id]),
            max(0, row.waiting + sum(one.waiting for one, _ in workers[row.id])),
            *(row.round, row.first_round),
            tuple(worker for _, worker in workers[row.id]),
        )
        for row in rows
    ]


def next_due(connection: Connection, crawls: Collection[int], most: int | None = DUE_LOOKED_AT) -> dict[int, float]:
    """When the next page of some crawls is due; those are left out that have none among so many that come first."""
    pages = select(page.c.due_at, page.c.round, page.c.gone_at).where(page.c.crawl_id == crawl.c.id)
    first = pages.order_by(page.c.due_at).limit(most).correlate(crawl).subquery()
    there = select(func.min(first.c.due_at)).where(first.c.round >= crawl.c.first_round, first.c.gone_at.is_(None))
    rows = select(crawl.c.id, there.correlate(crawl).scalar_subquery().label("due")).where(crawl.c.id.in_(crawls))
    return {row.id: row.due for row in connection.execute(rows) if row.due is not None}


def due_pages(connection: Connection, of: CrawlSummary, now: float, most: int | None = None) -> int:
    """How many pages of a crawl are due, counted up to a limit."""
    due = select(page.c.id).where(page.c.crawl_id == of.id, page.c.round >= of.first_round, page.c.due_at <= now)
    return int(connection.execute(select(func.count()).select_from(due.limit(most).subquery())).scalar_one())


def sums(connection: Connection, crawls: Collection[int], since: float = 0.0) -> dict[int, Sums]:
    """What some crawls did since a time, by their numbers; those without a sample are left out."""
    numbers = (func.sum(sample.c[name]) for name in NUMBERS)
    of_each = select(sample.c.crawl_id, func.min(sample.c.at), func.max(sample.c.at + sample.c.seconds), *numbers)
    rows = connection.execute(
        of_each.where(sample.c.crawl_id.in_(crawls), sample.c.at >= since).group_by(sample.c.crawl_id)
    )
    return {number: Sums(begins, ends, *map(int, found)) for number, begins, ends, *found in rows}


def rates(connection: Connection, crawls: Collection[int], now: float) -> dict[int, float]:
    """How many pages some crawls stored in a second of late, those of all their workers together."""
    of_each = select(sample.c.crawl_id, func.sum(sample.c.pages), func.sum(sample.c.seconds))
    lately = of_each.where(sample.c.crawl_id.in_(crawls), sample.c.at >= now - LATELY)
    found: dict[int, float] = {}
    for number, pages, seconds in connection.execute(lately.group_by(sample.c.crawl_id, sample.c.number)):
        if seconds > 0:
            found[number] = found.get(number, 0.0) + pages / seconds
    return found
