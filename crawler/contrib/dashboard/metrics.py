"""`/metrics`: the figures of all crawls and jobs for Prometheus.

Counters are sums of the samples that workers write, which are never deleted while the crawl exists. If a deleted crawl
is run again, its counters start from 0, as Prometheus allows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy import Connection, func, select

from crawler import __version__
from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, DashboardContext, slow
from crawler.contrib.schedule.job_store import Job, RunStatus, jobs_of
from crawler.errors import NothingError
from crawler.reports.crawls import CrawlSummary, due_pages, latest_summaries
from crawler.reports.throughput import SampleTotals, sample_totals, statuses_of
from crawler.store.crawl_tables import crawl
from crawler.store.database import database_time
from crawler.store.read_only import SLOW, limited_reading
from crawler.translation.message import Message

TYPE = "text/plain; version=0.0.4; charset=utf-8"
LONG = 30.0
"""Seconds that reading may take, in the background."""
FRESH = 5.0
"""Seconds for which figures are kept."""
PATIENCE = 5.0
"""Seconds that a request waits for new figures."""
RECENT = 600.0
"""Seconds over which the harvest rate is computed."""
MOST_DUE = 10_000
"""Due pages are counted up to this number."""
MOST_CRAWLS = 500
"""Crawls that are reported: running ones first, then the latest."""
OF_CRAWL = ("crawl",)
COUNTED = {
    "pages": "Pages that were stored or unchanged.",
    "read": "Pages that were judged by the topic.",
    "on_topic": "Pages that are on the topic.",
    "requests": "Requests that were sent.",
    "failed": "Addresses that were given up.",
    "bytes": "Bytes of responses, as received.",
    "images": "Images that were downloaded.",
    "image_bytes": "Bytes of these images.",
    "skipped": "Images that were skipped before the download.",
}
Value = tuple[Sequence[str], float | None]
"""The values of the labels, and the value."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a crawl."""

    crawl: CrawlSummary
    due: int
    """Due pages, counted up to MOST_DUE."""
    ever: SampleTotals | None
    """The sums of all samples."""
    lately: SampleTotals | None
    """The sums of the samples of the last RECENT seconds."""
    statuses: Mapping[str, int]
    """Responses by their status codes."""


router = APIRouter()


@slow(router.get("/metrics"))
def metrics(context: Context) -> Response:
    """The figures of all crawls and jobs, at most a few seconds old."""
    computed = context.background.get("metrics", lambda: _text(context), FRESH, PATIENCE)
    if computed.error or computed.at is None:
        raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, computed.error or Message(SLOW))
    return Response(computed.value, media_type=TYPE)


class Figures:
    """A Prometheus collector of figures that were read from the database."""

    def __init__(self, crawls: list[Measured], jobs: list[Job], left_out: int) -> None:
        self.crawls = crawls
        self.jobs = jobs
        self.left_out = left_out

    def collect(self) -> Iterator[Metric]:
        yield from _counters(self.crawls)
        yield from _gauges(self.crawls)
        yield from _of_jobs(self.jobs)
        about = "Crawls that are not reported, as there are too many; running and latest crawls are."
        yield _metric(GaugeMetricFamily, "left_out_crawls", about, [], [((), self.left_out)])


def _text(context: DashboardContext) -> bytes:
    """The figures in the text format of Prometheus."""
    try:
        with limited_reading(context.url, LONG) as connection:
            crawls, left_out = _measured(connection)
            jobs = jobs_of(connection)
    except NothingError:  # no crawl was ever run here
        crawls = []
        left_out = 0
        jobs = []
    return generate_latest(Figures(crawls, jobs, left_out))


def _metric(kind: type[Any], name: str, about: str, labels: Sequence[str], values: Iterable[Value]) -> Metric:
    """A metric with a sample for each known value."""
    metric: Metric = kind(f"winnow_{name}", about, labels=labels)
    for label_values, value in values:
        if value is not None:
            metric.add_metric(label_values, value)  # type: ignore[attr-defined]
    return metric


def _measured(connection: Connection) -> tuple[list[Measured], int]:
    """The figures of crawls, sorted by name, and the number of crawls beyond MOST_CRAWLS."""
    now = database_time(connection)
    summaries, _ = latest_summaries(connection, now, 0, MOST_CRAWLS)
    numbers = [summary.id for summary in summaries]
    ever = sample_totals(connection, numbers)
    lately = sample_totals(connection, numbers, now - RECENT)
    crawls = [
        Measured(
            crawl=summary,
            due=due_pages(connection, summary.id, now, MOST_DUE),
            ever=ever.get(summary.id),
            lately=lately.get(summary.id),
            statuses=statuses_of(connection, summary.id) if summary.id in ever else {},
        )
        for summary in sorted(summaries, key=lambda summary: summary.name)
    ]
    return crawls, connection.execute(select(func.count()).select_from(crawl)).scalar_one() - len(crawls)


def _counters(crawls: list[Measured]) -> Iterator[Metric]:
    """The counters of crawls, and the bytes that they saved."""
    totals = [((measured.crawl.name,), measured.ever) for measured in crawls if measured.ever is not None]
    for name, about in COUNTED.items():
        values = [(labels, getattr(total.sums, name)) for labels, total in totals]
        yield _metric(CounterMetricFamily, name, about, OF_CRAWL, values)
    statuses = [
        ((measured.crawl.name, status), count) for measured in crawls for status, count in measured.statuses.items()
    ]
    about = "Responses by status code, without requests that got none."
    yield _metric(CounterMetricFamily, "responses", about, (*OF_CRAWL, "status"), statuses)
    saved = [(labels, total.saved_bytes) for labels, total in totals]
    about = "Bytes of images that were not downloaded, as estimated."
    yield _metric(GaugeMetricFamily, "saved_bytes", about, OF_CRAWL, saved)


def _gauges(crawls: list[Measured]) -> Iterator[Metric]:
    """The gauges of crawls."""

    def of_each(name: str, about: str, value: Callable[[Measured], float | None]) -> Metric:
        values = [((measured.crawl.name,), value(measured)) for measured in crawls]
        return _metric(GaugeMetricFamily, name, about, OF_CRAWL, values)

    yield of_each("round", "The round that the crawl is in.", lambda measured: measured.crawl.round)
    yield of_each("round_pages", "Pages of this round.", lambda measured: measured.crawl.pages)
    yield of_each("waiting", "Addresses that wait, without unlikely links.", lambda measured: measured.crawl.waiting)
    about = "Links that wait because they are unlikely to lead to the topic."
    yield of_each("unlikely", about, lambda measured: measured.crawl.unlikely)
    yield of_each("workers", "Workers that are alive.", lambda measured: len(measured.crawl.alive))
    yield of_each("due_pages", f"Pages that are due, counted up to {MOST_DUE}.", lambda measured: measured.due)
    sampled = "When the last sample ended, in seconds since 1970."
    yield of_each("sampled_timestamp_seconds", sampled, lambda measured: measured.ever.until if measured.ever else None)
    harvest = "The share of the last ten minutes' pages on the topic."
    yield of_each("harvest", harvest, lambda measured: measured.lately.harvest if measured.lately else None)
    yield _metric(GaugeMetricFamily, "info", "The release.", ("version",), [((__version__,), 1)])


def _of_jobs(jobs: list[Job]) -> Iterator[Metric]:
    """The gauges of jobs."""

    def of_each(name: str, about: str, values: Mapping[str, float | None]) -> Metric:
        return _metric(GaugeMetricFamily, name, about, ("job",), [((job,), value) for job, value in values.items()])

    next_runs = {job.name: None if job.paused else job.next_at for job in jobs}
    failed = {job.name: float(job.last.status == RunStatus.FAILED) for job in jobs if job.last is not None}
    ended = {job.name: job.last.ended_at for job in jobs if job.last is not None}
    running = {job.name: float(job.now is not None) for job in jobs}
    yield of_each("job_next_timestamp_seconds", "When the job runs next, in seconds since 1970.", next_runs)
    yield of_each("job_running", "Whether a run is under way.", running)
    yield of_each("job_failed", "Whether the last run failed.", failed)
    yield of_each("job_ended_timestamp_seconds", "When the last run ended, in seconds since 1970.", ended)
