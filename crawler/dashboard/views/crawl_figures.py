"""What a crawl did in figures: of all crawls side by side, and of one by itself."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection

from crawler.reports.crawl_summary import CrawlSummary, Sums, next_due, rates, sums
from crawler.reports.noise_figures import saved_bytes
from crawler.schedule.jobs import Job, jobs_of


@dataclass(frozen=True, slots=True)
class CrawlFigures:
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
    """Addresses that were given up; None before the first sample, as are the figures below."""
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
    next_run: float | None
    """When its job starts it again."""
    job: str | None
    """What its job is: running, waiting or paused."""
    next_due: float | None
    """When its next page is due, of a crawl that is at its end."""


def figures(connection: Connection, crawls: Collection[CrawlSummary], now: float) -> tuple[CrawlFigures, ...]:
    """The figures of some crawls."""
    did = sums(connection, [one.id for one in crawls])
    fast = rates(connection, [one.id for one in crawls if one.status == "running"], now)
    jobs = {one.crawl: one for one in jobs_of(connection)} if crawls else {}
    due = next_due(connection, [one.id for one in crawls if one.ended_at is not None])
    return tuple(
        _figures(one, did.get(one.id), fast.get(one.id), jobs.get(one.name), due.get(one.id)) for one in crawls
    )


def _figures(
    one: CrawlSummary, did: Sums | None, rate: float | None, job: Job | None, due: float | None
) -> CrawlFigures:
    return CrawlFigures(
        *(one.id, one.name, one.status, one.started_at, one.ended_at, one.round, len(one.alive), one.silent),
        *(one.pages, rate, one.waiting),
        failed=did.failed if did else None,
        harvest=did.harvest if did else None,
        requests=did.requests if did else None,
        bytes=did.bytes if did else None,
        pictures=did.pictures if did else None,
        skipped=did.skipped if did else None,
        saved=saved_bytes(did.skipped, did.pictures, did.picture_bytes) if did else None,
        next_run=job.next_at if job and not job.paused else None,
        job=None if job is None else "running" if job.now else "paused" if job.paused else "waiting",
        next_due=due,
    )
