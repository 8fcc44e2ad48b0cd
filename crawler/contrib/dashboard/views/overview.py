"""The view "overview": all crawls with their figures, live."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection

from crawler.contrib.dashboard.context import Context, NothingYetError, Whole
from crawler.contrib.schedule.job_store import Job, jobs_of
from crawler.reports.crawls import CrawlPhase, CrawlSummary, latest_summaries
from crawler.reports.throughput import SampleTotals, page_rates, sample_totals
from crawler.store.batch.rounds import due_times
from crawler.store.database import database_time
from crawler.translation.message import N_

AT_ONCE = 25
"""The most crawls in one response."""
AT_WORK = (CrawlPhase.RUNNING, CrawlPhase.STOPPING)
"""The phases in which workers store pages, so that a crawl has a rate."""


@dataclass(frozen=True, slots=True)
class CrawlFigures:
    """A crawl with its figures."""

    id: int
    name: str
    status: str
    """One of CrawlPhase, e.g. `full`."""
    started_at: float
    ended_at: float | None
    round: int
    workers: int
    silent: float | None
    """Seconds since the last heartbeat of its workers."""
    pages: int
    """Pages of this round."""
    rate: float | None
    """Recent pages per second, for a running crawl."""
    waiting: int
    """Queued addresses, without unlikely links."""
    unlikely: int
    """Links that wait because they are unlikely to lead to the topic."""
    behind_images: int
    """Queued links behind images, for a crawl that has ended."""
    failed: int | None
    """Addresses that were given up; None before the first sample, like the figures below."""
    harvest: float | None
    """The share of judged pages that are on topic."""
    requests: int | None
    bytes: int | None
    """Bytes of responses."""
    images: int | None
    skipped: int | None
    """Images that were skipped before the download."""
    saved: int | None
    """Bytes saved by the skipped images, estimated from the mean size of the downloaded ones."""
    next_run: float | None
    """When its job starts it again, in seconds since 1970."""
    job: str | None
    """The state of its job: `running`, `waiting` or `paused`; None without a job."""
    next_due: float | None
    """When its next page is due, for a crawl that has ended, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class CrawlList:
    """Crawls, running ones first, then the newest."""

    crawls: tuple[CrawlFigures, ...]
    more: int | None
    """The value of `before` for the next part."""


Before = Annotated[Whole, Query(description=N_("the next crawls: the value of more from the previous response"))]
router = APIRouter()
api = APIRouter()


@api.get("/api/crawls", summary=N_("All crawls with their figures, running ones first"))
def crawls(context: Context, before: Before = 0) -> CrawlList:
    """All crawls, one part at a time."""
    try:
        with context.reading() as connection:
            now = database_time(connection)
            summaries, more = latest_summaries(connection, now, before, AT_ONCE)
            return CrawlList(figures(connection, summaries, now), more)
    except NothingYetError:
        return CrawlList((), None)


def figures(connection: Connection, crawls: Collection[CrawlSummary], now: float) -> tuple[CrawlFigures, ...]:
    """The figures of crawls, in the same order."""
    totals = sample_totals(connection, [crawl.id for crawl in crawls])
    rates = page_rates(connection, [crawl.id for crawl in crawls if crawl.status in AT_WORK], now)
    jobs: dict[str, Job] = {}
    if crawls:
        jobs = {job.crawl: job for job in jobs_of(connection)}
    due = due_times(connection, [crawl.id for crawl in crawls if crawl.ended_at is not None])

    crawl_figures = []
    for crawl in crawls:
        job = jobs.get(crawl.name)
        crawl_figures.append(
            CrawlFigures(
                id=crawl.id,
                name=crawl.name,
                status=crawl.status,
                started_at=crawl.started_at,
                ended_at=crawl.ended_at,
                round=crawl.round,
                workers=len(crawl.alive),
                silent=crawl.silent,
                pages=crawl.pages,
                rate=rates.get(crawl.id),
                waiting=crawl.waiting,
                unlikely=crawl.unlikely,
                behind_images=crawl.behind_images,
                **_figures_of_samples(totals.get(crawl.id)),
                next_run=job.next_at if job and not job.paused else None,
                job=_job_state(job),
                next_due=due.get(crawl.id),
            )
        )
    return tuple(crawl_figures)


def _figures_of_samples(totals: SampleTotals | None) -> dict[str, Any]:
    """The figures that follow from the samples of a crawl; None before the first sample."""
    if totals is None:
        return dict.fromkeys(("failed", "harvest", "requests", "bytes", "images", "skipped", "saved"))
    return {
        "failed": totals.sums.failed,
        "harvest": totals.harvest,
        "requests": totals.sums.requests,
        "bytes": totals.sums.bytes,
        "images": totals.sums.images,
        "skipped": totals.sums.skipped,
        "saved": totals.saved_bytes,
    }


def _job_state(job: Job | None) -> str | None:
    """The state of a crawl's job: running, paused or waiting; None without a job."""
    if job is None:
        return None
    if job.now is not None:  # its run that has not ended yet
        return "running"
    if job.paused:
        return "paused"
    return "waiting"


@router.get("/")
def show(context: Context, request: Request, before: Before = 0) -> Response:
    listed = crawls(context, before)
    running = [crawl for crawl in listed.crawls if crawl.status in AT_WORK]
    return context.page(
        request,
        "overview.html",
        found=listed,
        before=before,
        running=len(running),
        rate=sum(crawl.rate or 0.0 for crawl in running),
    )
