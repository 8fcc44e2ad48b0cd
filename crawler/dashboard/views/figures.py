"""What a crawl did in figures: of all crawls side by side, and of one by itself."""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, select

from crawler.dashboard.background import Result
from crawler.dashboard.desk import Desk
from crawler.state.crawls import Done, Standing, done, next_due, rates
from crawler.state.job_rows import Job, jobs_of
from crawler.state.report import outcomes_of, reading
from crawler.state.schema import crawl
from crawler.state.verdicts import saved_bytes

OLD = 60.0
"""Seconds after which what came of all addresses is counted anew."""
LATE = 60.0
"""Seconds from the start of a crawl to its first sample; where it is more, it was begun without them."""
FAILED = "failed/"
Outcomes = Mapping[tuple[int, float], Counter[str]]
"""What came of addresses, by the number of the crawl and its beginning: another may have the number after a reset."""


class CrawlFigures(NamedTuple):
    """A crawl, and what it did in figures."""

    id: int
    name: str
    status: str
    """running, finished, full (it has all pages it may have), broken (off) or stopped."""
    started_at: float
    ended_at: float | None
    round: int
    workers: int
    silent: float | None
    """Seconds since the last sign of life of its workers."""
    pages: int
    """Of this round."""
    rate: float | None
    """Pages a second of late, of one that is running."""
    waiting: int
    failed: int | None
    """Addresses that were given up; None while they are counted."""
    harvest: float | None
    """The share of pages on topic among those that were read."""
    requests: int | None
    bytes: int | None
    """Of answers."""
    pictures: int | None
    skipped: int | None
    """Pictures that were refused before the download."""
    saved: int | None
    """Bytes that this saved, estimated by the mean size of the pictures that were downloaded."""
    since: float | None
    """From when on the figures are known, of a crawl that was begun without samples."""
    next_run: float | None
    """When its job starts it again."""
    job: str | None
    """What its job is: running, waiting or paused."""
    next_due: float | None
    """When its next page is due, of a crawl that is at its end."""
    error: str = ""
    """Why what failed could not be counted."""


def figures(desk: Desk, connection: Connection, crawls: Collection[Standing], now: float) -> tuple[CrawlFigures, ...]:
    """The figures of some crawls."""
    numbers = [one.id for one in crawls]
    did = done(connection, numbers)
    fast = rates(connection, [one.id for one in crawls if one.status == "running"], now)
    jobs = {one.crawl: one for one in jobs_of(connection)} if crawls else {}
    due = next_due(connection, [one.id for one in crawls if one.ended_at is not None])
    counted = outcomes(desk) if any(_is_late(one, did.get(one.id)) for one in crawls) else Result()
    found = []
    for one in crawls:
        failed = _failed(counted.value, one) if _is_late(one, did.get(one.id)) else did[one.id].failed
        its_figures = _figures(one, did.get(one.id), jobs.get(one.name), fast.get(one.id))
        error = counted.error if failed is None else ""
        found.append(its_figures._replace(failed=failed, next_due=due.get(one.id), error=error))
    return tuple(found)


def outcomes(desk: Desk) -> Result:
    """What came of the addresses of all crawls, by their numbers and beginnings; it was counted a while ago."""
    return desk.background.get("outcomes", lambda: _outcomes(desk), OLD)


def _outcomes(desk: Desk) -> Outcomes:
    with reading(desk.url, one_process=True) as connection:
        begun, ends = connection.execute(select(crawl.c.id, crawl.c.started_at)).all(), outcomes_of(connection)
        return {(number, at): ends[number] for number, at in begun}


def _is_late(one: Standing, did: Done | None) -> bool:
    """Whether a crawl did more than its samples tell."""
    return did is None or did.since - one.started_at > LATE


def _failed(counted: Outcomes | None, one: Standing) -> int | None:
    found = None if counted is None else counted.get((one.id, one.started_at))
    return None if found is None else sum(n for what, n in found.items() if what.startswith(FAILED))


def _figures(one: Standing, did: Done | None, job: Job | None, rate: float | None) -> CrawlFigures:
    return CrawlFigures(
        id=one.id,
        name=one.name,
        status=one.status,
        started_at=one.started_at,
        ended_at=one.ended_at,
        round=one.round,
        workers=one.workers,
        silent=one.silent,
        pages=one.pages,
        rate=rate,
        waiting=one.waiting,
        failed=None,
        harvest=did.on_topic / did.read if did and did.read else None,
        requests=did.requests if did else None,
        bytes=did.bytes if did else None,
        pictures=did.pictures if did else None,
        skipped=did.skipped if did else None,
        saved=saved_bytes(did.skipped, did.pictures, did.picture_bytes) if did else None,
        since=did.since if did and _is_late(one, did) else None,
        next_run=job.next_at if job and not job.paused else None,
        job=None if job is None else "running" if job.now else "paused" if job.paused else "waiting",
        next_due=None,
    )
