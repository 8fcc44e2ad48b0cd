"""`/metrics`: what Prometheus reads, in its text format.

Counters are sums of the samples that the crawls' workers hand in, which are kept for good; those of a crawl that is
forgotten begin anew, as Prometheus expects of a counter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from crawler import __version__
from crawler.dashboard.context import DashboardContext
from crawler.dashboard.request import Answer, RefusedError
from crawler.reports.crawl_summary import CrawlSummary, Sums, due_pages, latest_summaries, sums
from crawler.reports.noise_figures import saved_bytes
from crawler.schedule.jobs import FAILED, Job, jobs_of
from crawler.store.read_only import SLOW, NothingError, glance
from crawler.store.samples import statuses_of
from crawler.store.schema import crawl
from crawler.store.sql import database_time
from crawler.translation.message import Message

TYPE = "text/plain; version=0.0.4; charset=utf-8"
LONG = 30.0
"""Seconds that reading them may take: it is not done while anybody waits for more than PATIENCE."""
FRESH = 5.0
"""Seconds for which figures are good: however many ask, they are read once."""
PATIENCE = 5.0
RECENT = 600.0
"""Seconds over which the harvest is reckoned."""
MOST_DUE = 10_000
"""Pages that are due, at which the count ends."""
MOST_CRAWLS = 500
"""Those that are measured: those at work first, then the latest."""
COUNTER, GAUGE = "counter", "gauge"
COUNTED = {
    "pages": "Pages that were stored, or were as they were.",
    "read": "Pages that were judged by the topic.",
    "on_topic": "Pages that are on the topic.",
    "requests": "Requests that were sent.",
    "failed": "Addresses that were given up.",
    "bytes": "Bytes of answers, as they came.",
    "pictures": "Pictures that were downloaded.",
    "picture_bytes": "Bytes of these pictures.",
    "skipped": "Pictures that were refused before the download.",
}
Labels = Mapping[str, str]
Lines = Sequence[tuple[Labels, float | None]]


class Measured(NamedTuple):
    """A crawl, and what it did."""

    crawl: CrawlSummary
    due: int
    """Pages that are due, up to MOST_DUE."""
    ever: Sums | None
    lately: Sums | None
    statuses: Mapping[str, int]


class Figure(NamedTuple):
    """One thing that is measured, and what it is of each crawl or job."""

    name: str
    kind: str
    about: str
    values: Lines


def metrics(desk: DashboardContext) -> Answer:
    """The figures of all crawls and jobs, as they were a few seconds ago."""
    found = desk.background.get("metrics", lambda: _text(desk), FRESH, PATIENCE)
    if found.error or found.at is None:
        raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, found.error or Message(SLOW))
    return Answer(found.value, TYPE)


def _text(desk: DashboardContext) -> bytes:
    try:
        with glance(desk.url, LONG) as connection:
            (crawls, left_out), jobs = _measured(connection), jobs_of(connection)
    except NothingError:  # no crawl was ever run here, which is no trouble
        crawls, left_out, jobs = [], 0, []
    said = "Crawls that are not among these, as there are too many; those at work and the latest are."
    unsaid = Figure("left_out_crawls", GAUGE, said, [({}, float(left_out))])
    figures = [*_counters(crawls), *_gauges(crawls), *_of_jobs(jobs), unsaid]
    return "".join(line for figure in figures for line in _lines(figure)).encode("utf-8", "replace")


def _measured(connection: Connection) -> tuple[list[Measured], int]:
    """The figures of crawls, by their names; and how many are left out, as there are too many."""
    now = database_time(connection)
    found, _ = latest_summaries(connection, now, 0, MOST_CRAWLS)
    numbers = [one.id for one in found]
    ever, lately = sums(connection, numbers), sums(connection, numbers, now - RECENT)
    crawls = [
        Measured(
            one,
            due_pages(connection, one, now, MOST_DUE),
            ever.get(one.id),
            lately.get(one.id),
            statuses_of(connection, one.id) if one.id in ever else {},
        )
        for one in sorted(found, key=lambda one: one.name)
    ]
    return crawls, connection.execute(select(func.count()).select_from(crawl)).scalar_one() - len(crawls)


def _counters(crawls: list[Measured]) -> Iterator[Figure]:
    ever = [({"crawl": one.crawl.name}, one.ever) for one in crawls if one.ever is not None]
    for name, about in COUNTED.items():
        yield Figure(f"{name}_total", COUNTER, about, [(of, float(getattr(did, name))) for of, did in ever])
    statuses = [
        ({"crawl": one.crawl.name, "status": status}, float(count))
        for one in crawls
        for status, count in one.statuses.items()
    ]
    yield Figure("responses_total", COUNTER, "Answers by their status code; none of those that never came.", statuses)
    saved = [(of, saved_bytes(did.skipped, did.pictures, did.picture_bytes)) for of, did in ever]
    yield Figure("saved_bytes", GAUGE, "Bytes of pictures that were not downloaded, as estimated.", saved)


def _gauges(crawls: list[Measured]) -> Iterator[Figure]:
    def of_each(value: Callable[[Measured], float | None]) -> Lines:
        return [({"crawl": one.crawl.name}, value(one)) for one in crawls]

    due = f"Pages that are due, counted up to {MOST_DUE}."
    sampled = "When the last sample ended, in seconds since 1970."
    harvest = "The share of the last ten minutes' pages on the topic."
    yield Figure("round", GAUGE, "The round that the crawl is in.", of_each(lambda one: one.crawl.round))
    yield Figure("round_pages", GAUGE, "Pages of this round.", of_each(lambda one: one.crawl.pages))
    yield Figure("waiting", GAUGE, "Addresses that wait.", of_each(lambda one: one.crawl.waiting))
    yield Figure("workers", GAUGE, "Workers that are alive.", of_each(lambda one: len(one.crawl.alive)))
    yield Figure("due_pages", GAUGE, due, of_each(lambda one: one.due))
    yield Figure("sampled_timestamp_seconds", GAUGE, sampled, of_each(lambda one: one.ever and one.ever.until))
    yield Figure("harvest", GAUGE, harvest, of_each(lambda one: one.lately and one.lately.harvest))
    yield Figure("info", GAUGE, "The release.", [({"version": __version__}, 1.0)])


def _of_jobs(jobs: list[Job]) -> Iterator[Figure]:
    def of_each(values: Mapping[str, float | None]) -> Lines:
        return [({"job": name}, value) for name, value in values.items()]

    coming = {one.name: None if one.paused else one.next_at for one in jobs}
    failed = {one.name: float(one.last.status == FAILED) for one in jobs if one.last is not None}
    ended = {one.name: one.last.ended_at for one in jobs if one.last is not None}
    running = {one.name: float(one.now is not None) for one in jobs}
    since = "in seconds since 1970."
    yield Figure("job_next_timestamp_seconds", GAUGE, f"When the job runs next, {since}", of_each(coming))
    yield Figure("job_running", GAUGE, "Whether a run is under way.", of_each(running))
    yield Figure("job_failed", GAUGE, "Whether the last run failed.", of_each(failed))
    yield Figure("job_ended_timestamp_seconds", GAUGE, f"When the last run ended, {since}", of_each(ended))


def _lines(figure: Figure) -> Iterator[str]:
    name = f"winnow_{figure.name}"
    yield f"# HELP {name} {figure.about}\n# TYPE {name} {figure.kind}\n"
    for labels, value in figure.values:
        if value is not None:
            said = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            yield f"{name}{{{said}}} {float(value)!r}\n"


def _escaped(text: str) -> str:
    """A label's value, in which nothing ends it.

    >>> _escaped('a"b\\\\c\\nd')
    'a\\\\"b\\\\\\\\c\\\\nd'
    """
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
