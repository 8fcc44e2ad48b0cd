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

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The text format of Prometheus."""
READ_SECONDS = 30.0
"""Time limit for reading the figures, in the background."""
AGE = 5.0
"""Seconds after which the figures are read again."""
PATIENCE = 5.0
"""Seconds that a request waits for new figures."""
RECENT_SECONDS = 600.0
"""The time over which the harvest is computed: the share of pages that are on topic."""
MOST_DUE = 10_000
"""Due pages are counted up to this number."""
MOST_CRAWLS = 500
"""Crawls that are reported: running ones first, then the latest."""
OF_CRAWL = ("crawl",)
"""The labels of metrics of a crawl."""
COUNTERS = {
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
"""The counters of each crawl, by their names in samples, with their descriptions."""
LabelledValue = tuple[Sequence[str], float | None]
"""The values of the labels of a metric, and the metric's value for them; None is left out."""


@dataclass(frozen=True, slots=True)
class CrawlMetrics:
    """The figures of a crawl."""

    crawl: CrawlSummary
    due: int
    """Due pages, counted up to MOST_DUE."""
    ever: SampleTotals | None
    """The sums of all samples."""
    lately: SampleTotals | None
    """The sums of the samples of the last RECENT_SECONDS."""
    statuses: Mapping[str, int]
    """Responses by their status codes."""


router = APIRouter()


@slow(router.get("/metrics"))
def metrics(context: Context) -> Response:
    """The figures of all crawls and jobs, at most a few seconds old."""
    result = context.background.get("metrics", lambda: _text(context), AGE, PATIENCE)
    if result.error or result.at is None:
        raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, result.error or Message(SLOW))
    return Response(result.value, media_type=CONTENT_TYPE)


class Figures:
    """A Prometheus collector of figures that were read from the database."""

    def __init__(self, crawls: list[CrawlMetrics], jobs: list[Job], left_out: int) -> None:
        self.crawls = crawls
        self.jobs = jobs
        self.left_out = left_out
        """How many crawls are not reported."""

    def collect(self) -> Iterator[Metric]:
        yield from _counters(self.crawls)
        yield from _gauges(self.crawls)
        yield from _of_jobs(self.jobs)
        description = "Crawls that are not reported, as there are too many; running and latest crawls are."
        yield _metric(GaugeMetricFamily, "left_out_crawls", description, [], [((), self.left_out)])


def _text(context: DashboardContext) -> bytes:
    """The figures in the text format of Prometheus."""
    try:
        with limited_reading(context.url, READ_SECONDS) as connection:
            crawls, left_out = _read_crawls(connection)
            jobs = jobs_of(connection)
    except NothingError:  # no crawl was ever run here
        crawls = []
        left_out = 0
        jobs = []
    return generate_latest(Figures(crawls, jobs, left_out))


def _metric(
    kind: type[Any], name: str, description: str, labels: Sequence[str], values: Iterable[LabelledValue]
) -> Metric:
    """A metric of a kind, with its known values."""
    metric: Metric = kind(f"winnow_{name}", description, labels=labels)
    for label_values, value in values:
        if value is not None:
            metric.add_metric(label_values, value)  # type: ignore[attr-defined]
    return metric


def _read_crawls(connection: Connection) -> tuple[list[CrawlMetrics], int]:
    """The figures of up to MOST_CRAWLS crawls, sorted by name, and the number of the other crawls."""
    now = database_time(connection)
    summaries, _ = latest_summaries(connection, now, 0, MOST_CRAWLS)
    numbers = [summary.id for summary in summaries]
    ever = sample_totals(connection, numbers)
    lately = sample_totals(connection, numbers, now - RECENT_SECONDS)
    crawls = [
        CrawlMetrics(
            crawl=summary,
            due=due_pages(connection, summary.id, now, MOST_DUE),
            ever=ever.get(summary.id),
            lately=lately.get(summary.id),
            statuses=statuses_of(connection, summary.id) if summary.id in ever else {},
        )
        for summary in sorted(summaries, key=lambda summary: summary.name)
    ]
    crawl_count = connection.execute(select(func.count()).select_from(crawl)).scalar_one()
    return crawls, crawl_count - len(crawls)


def _counters(crawls: list[CrawlMetrics]) -> Iterator[Metric]:
    """The counters of crawls, and the bytes that they saved."""
    totals = [((figures.crawl.name,), figures.ever) for figures in crawls if figures.ever is not None]
    for name, description in COUNTERS.items():
        values = [(labels, getattr(total.sums, name)) for labels, total in totals]
        yield _metric(CounterMetricFamily, name, description, OF_CRAWL, values)
    statuses = [
        ((figures.crawl.name, status), count) for figures in crawls for status, count in figures.statuses.items()
    ]
    description = "Responses by status code, without requests that got none."
    yield _metric(CounterMetricFamily, "responses", description, (*OF_CRAWL, "status"), statuses)
    saved = [(labels, total.saved_bytes) for labels, total in totals]
    description = "Bytes of images that were not downloaded, as estimated."
    yield _metric(GaugeMetricFamily, "saved_bytes", description, OF_CRAWL, saved)


def _gauges(crawls: list[CrawlMetrics]) -> Iterator[Metric]:
    """The gauges of crawls."""

    def of_each(name: str, description: str, value: Callable[[CrawlMetrics], float | None]) -> Metric:
        values = [((figures.crawl.name,), value(figures)) for figures in crawls]
        return _metric(GaugeMetricFamily, name, description, OF_CRAWL, values)

    yield of_each("round", "The round that the crawl is in.", lambda figures: figures.crawl.round)
    yield of_each("round_pages", "Pages of this round.", lambda figures: figures.crawl.pages)
    yield of_each("waiting", "Addresses that wait, without unlikely links.", lambda figures: figures.crawl.waiting)
    description = "Links that wait because they are unlikely to lead to the topic."
    yield of_each("unlikely", description, lambda figures: figures.crawl.unlikely)
    yield of_each("workers", "Workers that are alive.", lambda figures: len(figures.crawl.alive))
    yield of_each("due_pages", f"Pages that are due, counted up to {MOST_DUE}.", lambda figures: figures.due)
    sampled = "When the last sample ended, in seconds since 1970."
    yield of_each("sampled_timestamp_seconds", sampled, lambda figures: figures.ever.until if figures.ever else None)
    harvest = "The share of the last ten minutes' pages on the topic."
    yield of_each("harvest", harvest, lambda figures: figures.lately.harvest if figures.lately else None)
    yield _metric(GaugeMetricFamily, "info", "The release.", ("version",), [((__version__,), 1)])


def _of_jobs(jobs: list[Job]) -> Iterator[Metric]:
    """The gauges of jobs."""

    def of_each(name: str, description: str, values: Mapping[str, float | None]) -> Metric:
        return _metric(
            GaugeMetricFamily, name, description, ("job",), [((job,), value) for job, value in values.items()]
        )

    next_runs = {job.name: None if job.paused else job.next_at for job in jobs}
    failed = {job.name: float(job.last.status == RunStatus.FAILED) for job in jobs if job.last is not None}
    ended = {job.name: job.last.ended_at for job in jobs if job.last is not None}
    running = {job.name: float(job.now is not None) for job in jobs}
    yield of_each("job_next_timestamp_seconds", "When the job runs next, in seconds since 1970.", next_runs)
    yield of_each("job_running", "Whether a run is under way.", running)
    yield of_each("job_failed", "Whether the last run failed.", failed)
    yield of_each("job_ended_timestamp_seconds", "When the last run ended, in seconds since 1970.", ended)
