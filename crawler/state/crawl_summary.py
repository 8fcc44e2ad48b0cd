"""Crawls as a dashboard lists them: what a few rows tell, quickly, however many addresses a crawl has met."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, func, select

from crawler.state.dashboard_tables import sample
from crawler.state.schema import crawl, page, worker
from crawler.state.workers import LEASE

DUE_LOOKED_AT = 200
"""Pages that come next, of which the first that is not gone is looked for."""
LAST = 2**62
"""A number that no crawl has."""
LATELY = 30.0
"""Seconds over which it is said how fast a crawl is."""


class Standing(NamedTuple):
    """Where a crawl stands."""

    id: int
    name: str
    seeds: str
    """As JSON."""
    started_at: float
    ended_at: float | None
    pages: int
    waiting: int
    round: int
    first_round: int
    workers: int
    """Those that are taken for alive."""
    dead: int
    """Those that are not, and are not buried yet."""
    silent: float | None
    """Seconds since the last sign of life of any."""

    @property
    def status(self) -> str:
        """Whether it is at work or at its end, in a word."""
        if self.ended_at is not None:
            return "full" if self.waiting else "finished"
        if self.workers:
            return "running"
        return "broken" if self.dead else "stopped"


class Done(NamedTuple):
    """What a crawl did, as far back as there are samples."""

    since: float
    read: int = 0
    on_topic: int = 0
    requests: int = 0
    failed: int = 0
    bytes: int = 0
    pictures: int = 0
    picture_bytes: int = 0
    skipped: int = 0


def standings(connection: Connection, now: float, before: int, most: int) -> tuple[tuple[Standing, ...], int | None]:
    """Crawls before that number, the latest first, and what it is for those that follow, if there are any.

    Where it is 0, those at work come first; however many they are, the parts that follow leave out none.
    """
    at_work = select(worker.c.crawl_id).where(worker.c.beat >= now - LEASE)
    working = crawl.c.ended_at.is_(None) & crawl.c.id.in_(at_work)
    if before:
        first, rows = [], _latest(connection, crawl.c.id < before, most + 1)
    else:
        first = _latest(connection, working, most + 1)
        rows = first + _latest(connection, ~working, most + 1 - len(first))
    shown = rows[:most]
    last = LAST if len(first) >= len(shown) else shown[-1].id
    return tuple(_standings(connection, shown, now)), last if len(rows) > most else None


def standing(connection: Connection, number: int, now: float) -> Standing | None:
    """The crawl of this number."""
    rows = connection.execute(select(crawl).where(crawl.c.id == number)).all()
    return next(_standings(connection, rows, now), None)


def _latest(connection: Connection, which: ColumnElement[bool], most: int) -> list[Row[Any]]:
    return list(connection.execute(select(crawl).where(which).order_by(crawl.c.id.desc()).limit(most)))


def _standings(connection: Connection, rows: Collection[Row[Any]], now: float) -> Iterator[Standing]:
    workers: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    mine = select(worker).where(worker.c.crawl_id.in_([row.id for row in rows]))
    for one in connection.execute(mine):
        workers[one.crawl_id].append(one)
    return (_standing(row, workers[row.id], now) for row in rows)


def _standing(row: Row[Any], workers: Collection[Row[Any]], now: float) -> Standing:
    alive = sum(one.beat >= now - LEASE for one in workers)
    return Standing(
        row.id,
        row.name,
        row.seeds,
        row.started_at,
        row.ended_at,
        row.pages + sum(one.pages for one in workers),
        max(0, row.waiting + sum(one.waiting for one in workers)),
        row.round,
        row.first_round,
        alive,
        len(workers) - alive,
        max(0.0, now - max(one.beat for one in workers)) if workers else None,
    )


def next_due(connection: Connection, crawls: Collection[int]) -> dict[int, float | None]:
    """When the next page of some crawls is due; None where that is not among the first that are noted."""
    pages = select(page.c.due_at, page.c.round, page.c.gone_at).where(page.c.crawl_id == crawl.c.id)
    first = pages.order_by(page.c.due_at).limit(DUE_LOOKED_AT).correlate(crawl).subquery()
    there = select(func.min(first.c.due_at)).where(first.c.round >= crawl.c.first_round, first.c.gone_at.is_(None))
    rows = select(crawl.c.id, there.correlate(crawl).scalar_subquery().label("due")).where(crawl.c.id.in_(crawls))
    return {row.id: row.due for row in connection.execute(rows)}


def done(connection: Connection, crawls: Collection[int]) -> dict[int, Done]:
    """What some crawls did in all, by their numbers; those without a sample are left out."""
    sums = (func.sum(sample.c[name]) for name in Done._fields[1:])
    of_each = select(sample.c.crawl_id, func.min(sample.c.at), *sums).where(sample.c.crawl_id.in_(crawls))
    rows = connection.execute(of_each.group_by(sample.c.crawl_id))
    return {number: Done(since, *map(int, found)) for number, since, *found in rows}


def rates(connection: Connection, crawls: Collection[int], now: float) -> dict[int, float]:
    """How many pages some crawls stored in a second of late, those of all their workers together."""
    of_each = select(sample.c.crawl_id, func.sum(sample.c.pages), func.sum(sample.c.seconds))
    lately = of_each.where(sample.c.crawl_id.in_(crawls), sample.c.at >= now - LATELY)
    found: dict[int, float] = {}
    for number, pages, seconds in connection.execute(lately.group_by(sample.c.crawl_id, sample.c.number)):
        if seconds > 0:
            found[number] = found.get(number, 0.0) + pages / seconds
    return found
