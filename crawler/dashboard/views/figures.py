"""What a crawl did in figures: of all crawls side by side, and of one by itself."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, select

from crawler.dashboard.background import Result
from crawler.dashboard.desk import Desk
from crawler.outcomes import Group, of_group
from crawler.state.crawl_summary import CrawlSummary, Sums, next_due, rates, sums
from crawler.state.jobs import Job, jobs_of
from crawler.state.report import Ends, ends_of, reading
from crawler.state.schema import crawl
from crawler.state.verdicts import saved_bytes
from crawler.wording import Message

OLD = 60.0
"""Seconds after which what came of all addresses is counted anew."""
LATE = 60.0
"""Seconds from the start of a crawl to its first sample; where it is more, it was begun without them."""
Outcomes = Mapping[tuple[int, float], Ends]
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
    error: Message | None = None
    """Why what failed could not be counted."""


def figures(
    desk: Desk, connection: Connection, crawls: Collection[CrawlSummary], now: float
) -> tuple[CrawlFigures, ...]:
    """The figures of some crawls."""
    did = sums(connection, [one.id for one in crawls])
    fast = rates(connection, [one.id for one in crawls if one.status == "running"], now)
    jobs = {one.crawl: one for one in jobs_of(connection)} if crawls else {}
    due = next_due(connection, [one.id for one in crawls if one.ended_at is not None])
    counted = outcomes(desk) if any(_is_late(one, did.get(one.id)) for one in crawls) else Result()
    return tuple(
        _figures(one, did.get(one.id), jobs.get(one.name), counted)._replace(
            rate=fast.get(one.id), next_due=due.get(one.id)
        )
        for one in crawls
    )


def outcomes(desk: Desk) -> Result:
    """What came of the addresses of all crawls, by their numbers and beginnings; it was counted a while ago."""
    return desk.background.get("outcomes", lambda: _outcomes(desk), OLD)


def _outcomes(desk: Desk) -> Outcomes:
    with reading(desk.url) as connection:
        begun, ends = connection.execute(select(crawl.c.id, crawl.c.started_at)).all(), ends_of(connection)
        return {(number, at): ends[number] for number, at in begun}


def _is_late(one: CrawlSummary, did: Sums | None) -> bool:
    """Whether a crawl did more than its samples tell."""
    return did is None or did.since - one.started_at > LATE


def _failed(counted: Outcomes | None, one: CrawlSummary) -> int | None:
    found = None if counted is None else counted.get((one.id, one.started_at))
    return None if found is None else of_group(found.outcomes, Group.FAILED).total()


def _figures(one: CrawlSummary, did: Sums | None, job: Job | None, counted: Result) -> CrawlFigures:
    is_late = _is_late(one, did)
    failed = did.failed if did and not is_late else _failed(counted.value, one)
    return CrawlFigures(
        *(one.id, one.name, one.status, one.started_at, one.ended_at, one.round, len(one.alive), one.silent),
        *(one.pages, None, one.waiting, failed),
        harvest=did.harvest if did else None,
        requests=did.requests if did else None,
        bytes=did.bytes if did else None,
        pictures=did.pictures if did else None,
        skipped=did.skipped if did else None,
        saved=saved_bytes(did.skipped, did.pictures, did.picture_bytes) if did else None,
        since=did.since if did and is_late else None,
        next_run=job.next_at if job and not job.paused else None,
        job=None if job is None else "running" if job.now else "paused" if job.paused else "waiting",
        next_due=None,
        error=counted.error if failed is None else None,
    )
