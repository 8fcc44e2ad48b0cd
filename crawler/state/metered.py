"""What of the state is measured for a monitor: a few questions a crawl, each answered at once however large it is."""

from typing import NamedTuple

from sqlalchemy import Connection, case, func, select

from crawler.state.dashboard_tables import sample
from crawler.state.samples import Point, totals
from crawler.state.schema import crawl, page, worker
from crawler.state.workers import LEASE

RECENT = 600.0
"""Seconds over which the harvest is reckoned."""
MOST_COUNTED = 10_000
"""Pages that are due, at which the count ends."""
MOST_CRAWLS = 500
"""Those that are measured: those at work first, then the latest."""


class Metered(NamedTuple):
    """The figures of one crawl."""

    name: str
    pages: int
    """Of this round."""
    waiting: int
    round: int
    workers: int
    """That gave a sign of life of late."""
    due: int
    """Pages that are due, up to MOST_COUNTED."""
    ever: Point | None
    """What all samples say together."""
    lately: Point | None
    """The same of the last seconds."""
    sampled_at: float | None
    """When the last sample ended."""


def metered(connection: Connection, now: float) -> tuple[tuple[Metered, ...], int]:
    """The figures of crawls, by their names; and how many are left out, as there are too many."""
    counts = (
        func.coalesce(func.sum(worker.c.pages), 0),
        func.coalesce(func.sum(worker.c.waiting), 0),
        func.count().filter(worker.c.beat >= now - LEASE),
    )
    working = {
        number: counted
        for number, *counted in connection.execute(select(worker.c.crawl_id, *counts).group_by(worker.c.crawl_id))
    }
    found = []
    at_work = crawl.c.id.in_(select(worker.c.crawl_id).where(worker.c.beat >= now - LEASE))
    wanted = select(crawl).order_by(case((at_work, 0), else_=1), crawl.c.id.desc()).limit(MOST_CRAWLS)
    for row in sorted(connection.execute(wanted), key=lambda row: row.name):
        pages, waiting, workers = map(int, working.get(row.id, (0, 0, 0)))
        last = _last(connection, row.id)
        ever = None if last is None else totals(connection, row.id)
        lately = None if last is None or last < now - RECENT else totals(connection, row.id, now - RECENT)
        figures = (row.pages + pages, max(0, row.waiting + waiting), row.round, workers)
        found.append(Metered(row.name, *figures, _due(connection, row.id, now), ever, lately, last))
    total = connection.execute(select(func.count()).select_from(crawl)).scalar_one()
    return tuple(found), int(total) - len(found)


def _due(connection: Connection, crawl_id: int, now: float) -> int:
    some = select(page.c.due_at).where(page.c.crawl_id == crawl_id, page.c.due_at <= now).limit(MOST_COUNTED)
    return int(connection.execute(select(func.count()).select_from(some.subquery())).scalar_one())


def _last(connection: Connection, crawl_id: int) -> float | None:
    last = select(sample.c.at, sample.c.seconds).where(sample.c.crawl_id == crawl_id).order_by(sample.c.at.desc())
    row = connection.execute(last.limit(1)).one_or_none()
    return None if row is None else float(row.at + row.seconds)
