"""The view of one crawl: its figures and workers, its sites, its slowest hosts, and its progress over time."""

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import zip_longest
from operator import attrgetter
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection, func, select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, DashboardContext, Number, OutcomeObject, Sentence, Text, slow
from crawler.contrib.dashboard.views.overview import CrawlFigures, figures
from crawler.frontier.batch import WorkerSample
from crawler.outcomes import Group
from crawler.reports.address_patterns import PatternRow, address_patterns
from crawler.reports.crawls import CrawlSummary, OutcomeTotals, outcome_totals, summary_of
from crawler.reports.seeds import failed_seeds
from crawler.reports.sites import SiteQuery, SlowHost, SortedSites, sites, slowest
from crawler.reports.throughput import SamplePoint, sample_points
from crawler.reports.waiting_links import links_behind_images, unlikely_links
from crawler.store.crawl_tables import sample
from crawler.store.database import database_time
from crawler.store.read_only import reading
from crawler.translation.message import N_

Hours = Literal["1", "6", "24", "168", "all"]
MOST_SEEDS = 5
"""The most seeds that the page names."""
MOST_SLOW = 10
"""The most slow hosts that are listed."""
MOST_PATTERNS = 20
"""The most address patterns that are listed."""
MOST_FAILED = 20
"""The most failed seeds that are named."""
OUTCOMES_AGE = 60.0
"""Seconds after which the outcomes of all addresses are counted again."""
SLOW_AGE = 10.0
"""Seconds after which the slowest hosts are computed again."""
SLOW_PATIENCE = 0.05
"""Seconds that a response waits for the slowest hosts."""
MOST_POINTS = 300
"""The most points of a line."""
GAP_SECONDS = 60.0
GAP_LENGTHS = 3.0
"""A line has a gap where no worker was running for more than GAP_SECONDS, and for more than GAP_LENGTHS times the
interval of the last point before the gap.
"""
HARVEST_PAGES = 50
"""The harvest at a point is the share of pages on topic among at least this many pages, because a share of fewer pages
would jump up and down. The pages are those of the point, and of as many points before it as are needed. At the
beginning of a crawl they are all pages so far.
"""
HOUR_SECONDS = 3_600.0
NOTICES = {
    "pausing": N_("The crawl sends no more requests until it is resumed."),
    "resumed": N_("The crawl was resumed."),
    "stopping": N_("The crawl was told to stop; it stops cleanly within seconds."),
    "idle": N_("No worker runs this crawl, or it is stopping already."),
}
"""The results of pausing, resuming and stopping, by the values of `said` in the address."""
router = APIRouter()
api = APIRouter()


class SiteParameters(BaseModel):
    """Which sites of a crawl are listed."""

    sort: Literal["pages", "requests", "name"] = Field(default="pages", description=N_("order of the sites"))
    site: Text = Field(default="", description=N_("a part of their names"))
    after: Text = Field(default="", description=N_("the next sites: the value of more from the previous response"))


class CrawlParameters(SiteParameters):
    """The parameters of the view of a crawl."""

    hours: Hours = Field(default="all", description="how many of its last hours are drawn")
    said: Literal["", "pausing", "resumed", "stopping", "idle"] = Field(default="", description="the last change")


@dataclass(frozen=True, slots=True)
class CrawlWorker:
    """A process that works on a crawl, or died while it did."""

    number: int
    silent: float
    """Seconds since its last heartbeat."""
    held: int
    """Leased addresses."""
    alive: bool
    """Whether its last heartbeat is recent."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of the addresses of a crawl."""

    counted_at: float | None
    """When they were counted; None during the first count."""
    ends: Mapping[str, int]
    """The number of addresses by how they ended: `page`, `image`, a code such as `redirected`, or a group such as
    `failed`.
    """
    reasons: Mapping[str, Mapping[str, int]]
    """The count of each reason for which addresses were skipped, were noise, were put off or failed, by group of
    outcomes, such as `failed`. A reason is a code, with a slash before its parameter if it has one.
    """
    error: Sentence | None


@dataclass(frozen=True, slots=True)
class SeedFailure:
    """A seed that failed."""

    url: str
    why: OutcomeObject


@dataclass(frozen=True, slots=True)
class OneCrawl:
    """A crawl with its workers."""

    figures: CrawlFigures
    topic: str
    """The topic as the user wrote it; empty if the crawl reads it from its seeds."""
    seeds: tuple[str, ...]
    failed_seeds: tuple[SeedFailure, ...]
    """The first MOST_FAILED failed seeds."""
    failed_seed_count: int
    workers: tuple[CrawlWorker, ...]
    outcomes: Outcomes


@dataclass(frozen=True, slots=True)
class SlowHosts:
    """The hosts of a crawl that will take longest, slowest first."""

    looked_at: float | None
    """When they were computed; None during the first computation."""
    hosts: tuple[SlowHost, ...]
    error: Sentence | None


@dataclass(frozen=True, slots=True)
class SiteList:
    """A part of the sites of a crawl."""

    sites: SortedSites
    more: str | None
    """The value of `after` for the next part."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart."""

    name: str
    unit: str
    values: tuple[float | None, ...]
    """None if no worker was running, or if the value is undefined."""


@dataclass(frozen=True, slots=True)
class Course:
    """The progress of a crawl over time, of all workers together."""

    at: tuple[float, ...]
    """Seconds since 1970 at which each interval begins."""
    series: tuple[Series, ...]


@api.get("/api/crawls/{crawl}", summary=N_("A crawl with its figures and workers, and the outcomes of its addresses"))
def one_crawl(context: Context, crawl: Number) -> OneCrawl:
    """A crawl with its figures and workers, and the outcomes of its addresses."""
    with context.reading() as connection:
        return _one_crawl(context, connection, found_crawl(connection, crawl))


@api.get("/api/crawls/{crawl}/sites", summary=N_("The sites of a crawl, sorted and filtered, a part at a time"))
def site_list(context: Context, crawl: Number, parameters: Annotated[SiteParameters, Query()]) -> SiteList:
    """The sites of a crawl, sorted and filtered, a part at a time."""
    with context.reading() as connection:
        return _site_list(connection, found_crawl(connection, crawl), parameters)


@api.get("/api/crawls/{crawl}/slow", summary=N_("The hosts of a crawl that will take longest, and why"))
def slow_hosts(context: Context, crawl: Number) -> SlowHosts:
    """The hosts of a crawl that will take longest, and why, as they were a few seconds ago."""
    with context.reading() as connection:
        summary = found_crawl(connection, crawl)
    return _slow_hosts(context, summary)


@api.get("/api/crawls/{crawl}/patterns", summary=N_("The address patterns of a crawl, and what is put off"))
def pattern_list(context: Context, crawl: Number) -> tuple[PatternRow, ...]:
    """The address patterns of a crawl; those of which the most addresses are put off come first."""
    with context.reading() as connection:
        return address_patterns(connection, found_crawl(connection, crawl).id, MOST_PATTERNS)


def _one_crawl(context: DashboardContext, connection: Connection, summary: CrawlSummary) -> OneCrawl:
    """A crawl with its figures, workers and outcomes."""
    failed = failed_seeds(connection, summary.id, MOST_FAILED)
    return OneCrawl(
        figures=figures(connection, [summary], database_time(connection))[0],
        topic=summary.topic,
        seeds=tuple(json.loads(summary.seeds)),
        failed_seeds=tuple(SeedFailure(seed.url, seed.outcome) for seed in failed.seeds),
        failed_seed_count=failed.number,
        workers=tuple(
            CrawlWorker(worker.number, worker.silent, worker.held, worker.alive) for worker in summary.workers
        ),
        outcomes=_outcomes(context, summary),
    )


def _site_list(connection: Connection, summary: CrawlSummary, parameters: SiteParameters) -> SiteList:
    """A part of the sites of a crawl. `more` identifies the last site of the part, after which the next part begins. In
    the order of names it is the site's name, otherwise its count and number, e.g. `120-7`, which `_cursor` reads.
    """
    sort = parameters.sort
    after = parameters.after
    query = SiteQuery(sort=sort, name=parameters.site.strip(), after=after if sort == "name" else _cursor(after))
    sorted_sites = sites(connection, summary.id, query)
    if not sorted_sites.more:
        return SiteList(sorted_sites, None)
    last = sorted_sites.rows[-1]
    if sorted_sites.sort == "name":
        return SiteList(sorted_sites, last.name)
    return SiteList(sorted_sites, f"{getattr(last, sorted_sites.sort)}-{last.id}")


def _slow_hosts(context: DashboardContext, summary: CrawlSummary) -> SlowHosts:
    """The slowest hosts, as they were computed last."""

    def compute() -> tuple[SlowHost, ...]:
        with reading(context.url, one_process=True) as connection:
            return slowest(connection, summary.id, MOST_SLOW)

    result = context.background.get(("slow", summary.id, summary.started_at), compute, SLOW_AGE, SLOW_PATIENCE)
    return SlowHosts(result.at, result.value or (), result.error)


def found_crawl(connection: Connection, number: int) -> CrawlSummary:
    """The crawl with this number; raises a RefusedError if there is none."""
    summary = summary_of(connection, number, database_time(connection))
    if summary is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such crawl.")
    return summary


def _outcomes(context: DashboardContext, summary: CrawlSummary) -> Outcomes:
    """The outcomes of all addresses, as they were counted last."""

    def compute() -> OutcomeTotals:
        with reading(context.url) as connection:
            return outcome_totals(connection, summary.id)[summary.id]

    result = context.background.get(("outcomes", summary.id, summary.started_at), compute, OUTCOMES_AGE)
    totals: OutcomeTotals = result.value or OutcomeTotals(images=0, pages=0, outcomes=Counter())
    reasons: dict[str, dict[str, int]] = {}
    for outcome, count in sorted(totals.outcomes.items(), key=lambda entry: (-entry[1], entry[0])):
        if outcome.code.group is not Group.DONE:
            reasons.setdefault(outcome.code.group, {})[str(outcome)] = count
    return Outcomes(result.at, totals.ends, reasons, result.error)


def _cursor(text: str) -> tuple[int, int] | None:
    """The count of pages or requests, and the number, of the site after which a part begins; None for the first
    part.
    """
    if not text:
        return None
    count, _, number = text.partition("-")
    if not (text.isascii() and count.isdigit() and number.isdigit() and max(len(count), len(number)) < 19):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "after is wrong; use the value of more from the previous response")
    return int(count), int(number)


@slow(
    api.get(
        "/api/crawls/{crawl}/course",
        summary=N_("A crawl over time: pages, requests and bytes a second, harvest, status codes, queue"),
    )
)
def course_of(
    context: Context,
    number: Annotated[Number, Path(alias="crawl")],
    hours: Annotated[Hours, Query(description=N_("hours before the end that are returned, or all"))] = "all",
) -> Course:
    """The progress of a crawl: all of it, or its last hours."""
    with context.reading() as connection:
        found_crawl(connection, number)
        last = connection.execute(select(func.max(sample.c.at)).where(sample.c.crawl_id == number)).scalar()
        since: float | None = None
        if last is not None and hours != "all":
            since = last - HOUR_SECONDS * int(hours)
        points = sample_points(connection, number, since, MOST_POINTS)
    return course_through(points)


def course_through(points: Sequence[SamplePoint]) -> Course:
    """The lines of a chart through these points."""
    moments = list(_moments(points))
    points_and_gaps = [point for _, point in moments]
    lines = [
        Series(name, unit, tuple(None if point is None else value(point) for point in points_and_gaps))
        for name, (unit, value) in LINES.items()
    ]
    # The harvest comes after pages, requests and failed, and before the lines of status codes.
    lines.insert(3, Series("harvest", "%", tuple(_harvest(points_and_gaps))))
    return Course(tuple(at for at, _ in moments), tuple(lines))


def _moments(points: Sequence[SamplePoint]) -> Iterator[tuple[float, SamplePoint | None]]:
    """The beginning of each point, with the point; and the beginning of each gap, with None."""
    for point, following in zip_longest(points, points[1:]):
        yield point.at, point
        end = point.at + point.sums.seconds
        if following is not None and following.at - end > max(GAP_SECONDS, GAP_LENGTHS * point.sums.seconds):
            yield end, None


def _harvest(points: Iterable[SamplePoint | None]) -> Iterator[float | None]:
    """The harvest at each point, as HARVEST_PAGES says; None for a gap, and before the first page."""
    last_points: deque[SamplePoint] = deque()
    # The sums of the last points.
    read = 0
    on_topic = 0
    for point in points:
        if point is None:
            yield None
            continue
        last_points.append(point)
        read += point.sums.read
        on_topic += point.sums.on_topic
        while read - last_points[0].sums.read >= HARVEST_PAGES:
            first = last_points.popleft()
            read -= first.sums.read
            on_topic -= first.sums.on_topic
        yield on_topic / read if read else None


def _per_second(count: Callable[[WorkerSample], float]) -> Callable[[SamplePoint], float | None]:
    """A function that divides a count of a point by the seconds of the point."""

    def value(point: SamplePoint) -> float | None:
        if point.sums.seconds <= 0:
            return None
        return count(point.sums) / point.sums.seconds

    return value


def _responses(status_prefix: str) -> Callable[[SamplePoint], float | None]:
    """A function that computes the responses per second whose status begins with a prefix."""
    return _per_second(lambda sums: sum(n for status, n in sums.statuses.items() if status.startswith(status_prefix)))


LINES: dict[str, tuple[str, Callable[[SamplePoint], float | None]]] = {
    "pages": ("/s", _per_second(attrgetter("pages"))),
    "requests": ("/s", _per_second(attrgetter("requests"))),
    "failed": ("/s", _per_second(attrgetter("failed"))),
    "ok": ("/s", _responses("2")),
    "redirects": ("/s", _responses("3")),
    "refused": ("/s", _responses("4")),
    "broken": ("/s", _responses("5")),
    "silent": ("/s", _responses("none")),
    "waiting": ("", lambda point: point.waiting),
    "bytes": ("B/s", _per_second(attrgetter("bytes"))),
    "images": ("/s", _per_second(attrgetter("images"))),
    "skipped": ("/s", _per_second(attrgetter("skipped"))),
}
"""All lines except the harvest: the unit of each, and the function that computes its value at a point."""


@router.get("/crawls/{crawl}")
def show(
    context: Context, request: Request, crawl: Number, parameters: Annotated[CrawlParameters, Query()]
) -> Response:
    with context.reading() as connection:
        summary = found_crawl(connection, crawl)
        slow_hosts = _slow_hosts(context, summary)  # first, so that the background computation begins early
        one_crawl = _one_crawl(context, connection, summary)
        listed_sites = _site_list(connection, summary, parameters)
        patterns = address_patterns(connection, summary.id, MOST_PATTERNS)
    return context.page(
        request,
        "overview_crawl.html",
        most_seeds=MOST_SEEDS,
        crawl=one_crawl,
        found=listed_sites,
        slow=slow_hosts,
        given=parameters,
        now=time.time(),
        patterns=patterns,
        said=NOTICES.get(parameters.said, ""),
        unlikely_links=unlikely_links,
        links_behind_images=links_behind_images,
    )
