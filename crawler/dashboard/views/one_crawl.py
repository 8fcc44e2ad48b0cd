"""One crawl: its figures and workers, its sites, and why the slowest of them are slow."""

import json
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field
from sqlalchemy import Connection, select

from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context, DashboardContext
from crawler.dashboard.views import Number, Sentence, Text
from crawler.dashboard.views.course import Hours
from crawler.outcomes import Group
from crawler.reports.crawls import CrawlSummary, OutcomeTotals, next_due, outcome_totals, summary_of
from crawler.reports.report_noise import saved_bytes
from crawler.reports.sites import SiteQuery, SlowHost, SortedSites, sites, slowest
from crawler.reports.throughput import SampleTotals, page_rates, sample_totals
from crawler.schedule.job_store import Job, jobs_of
from crawler.store.crawl_tables import crawl
from crawler.store.database import database_time
from crawler.store.read_only import reading
from crawler.translation.message import N_

router, api = APIRouter(), APIRouter()

MOST_SEEDS = 5
MOST_SLOW = 10
OUTCOMES_AGE = 60.0
"""Seconds after which the outcomes of all addresses are counted anew."""
SLOW_AGE, SLOW_PATIENCE = 10.0, 0.05
"""Seconds after which the slowest hosts are looked for anew, and that an answer waits for it."""


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


class SiteParameters(BaseModel):
    """Which sites of a crawl are listed."""

    sort: Literal["pages", "requests", "name"] = Field(default="pages", description=N_("by what they are sorted"))
    site: Text = Field(default="", description=N_("what their names hold"))
    after: Text = Field(default="", description=N_("the sites that follow, as more of an answer says"))


class CrawlParameters(SiteParameters):
    """What of a crawl is shown."""

    hours: Hours = Field(default="all", description="how many of its last hours are drawn")


@dataclass(frozen=True, slots=True)
class CrawlWorker:
    """A process that is at a crawl, or that died at it."""

    number: int
    silent: float
    """Seconds since its last sign of life."""
    held: int
    """Addresses that are its own to ask for now."""
    alive: bool


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of the addresses of a crawl."""

    counted_at: float | None
    """When; None while they are counted for the first time."""
    ends: Mapping[str, int]
    """How many there are of each end; of those that have reasons, together."""
    reasons: Mapping[str, Mapping[str, int]]
    """Why addresses were skipped, were noise or failed: codes, with a slash before the value of a parameter."""
    error: Sentence | None


@dataclass(frozen=True, slots=True)
class OneCrawl:
    """A crawl with its workers."""

    figures: CrawlFigures
    seeds: tuple[str, ...]
    workers: tuple[CrawlWorker, ...]
    outcomes: Outcomes


@dataclass(frozen=True, slots=True)
class SlowHosts:
    """The hosts of a crawl that will take longest, the slowest first."""

    looked_at: float | None
    """When; None while they are looked for the first time."""
    hosts: tuple[SlowHost, ...]
    error: Sentence | None


@dataclass(frozen=True, slots=True)
class SiteList:
    """A part of the sites of a crawl."""

    sites: SortedSites
    more: str | None
    """What `after` is to be for those that follow."""


@api.get("/api/crawls/{crawl}", summary=N_("A crawl with its figures and workers, and the outcomes of its addresses"))
def one_crawl(context: Context, crawl: Number) -> OneCrawl:
    """A crawl with its figures and workers, and the outcomes of its addresses."""
    with context.reading() as connection:
        return _one_crawl(context, connection, _found(connection, crawl))


@api.get("/api/crawls/{crawl}/sites", summary=N_("The sites of a crawl, sorted and filtered, a part at a time"))
def site_list(context: Context, crawl: Number, given: Annotated[SiteParameters, Query()]) -> SiteList:
    """The sites of a crawl, sorted and filtered, a part at a time."""
    with context.reading() as connection:
        return _site_list(connection, _found(connection, crawl), given)


@api.get("/api/crawls/{crawl}/slow", summary=N_("The hosts of a crawl that will take longest, and why"))
def slow_hosts(context: Context, crawl: Number) -> SlowHosts:
    """The hosts of a crawl that will take longest, and why, as they were a few seconds ago."""
    with context.reading() as connection:
        found = _found(connection, crawl)
    return _slow_hosts(context, found)


def figures(connection: Connection, crawls: Collection[CrawlSummary], now: float) -> tuple[CrawlFigures, ...]:
    """The figures of some crawls."""
    did = sample_totals(connection, [one.id for one in crawls])
    fast = page_rates(connection, [one.id for one in crawls if one.status == "running"], now)
    jobs = {one.crawl: one for one in jobs_of(connection)} if crawls else {}
    due = next_due(connection, [one.id for one in crawls if one.ended_at is not None])
    return tuple(
        _figures(one, did.get(one.id), fast.get(one.id), jobs.get(one.name), due.get(one.id)) for one in crawls
    )


def _figures(
    one: CrawlSummary, did: SampleTotals | None, rate: float | None, job: Job | None, due: float | None
) -> CrawlFigures:
    return CrawlFigures(
        *(one.id, one.name, one.status, one.started_at, one.ended_at, one.round, len(one.alive), one.silent),
        *(one.pages, rate, one.waiting),
        failed=did.sums.failed if did else None,
        harvest=did.harvest if did else None,
        requests=did.sums.requests if did else None,
        bytes=did.sums.bytes if did else None,
        pictures=did.sums.pictures if did else None,
        skipped=did.sums.skipped if did else None,
        saved=saved_bytes(did.sums.skipped, did.sums.pictures, did.sums.picture_bytes) if did else None,
        next_run=job.next_at if job and not job.paused else None,
        job=None if job is None else "running" if job.now else "paused" if job.paused else "waiting",
        next_due=due,
    )


def _one_crawl(context: DashboardContext, connection: Connection, of: CrawlSummary) -> OneCrawl:
    return OneCrawl(
        figures(connection, [of], database_time(connection))[0],
        tuple(json.loads(of.seeds)),
        tuple(CrawlWorker(one.number, one.silent, one.held, one.alive) for one in of.workers),
        _outcomes(context, of),
    )


def _site_list(connection: Connection, of: CrawlSummary, given: SiteParameters) -> SiteList:
    sort, after = given.sort, given.after
    wanted = SiteQuery(sort, given.site.strip(), after if sort == "name" else _cursor(after))
    found = sites(connection, of.id, wanted)
    if not found.more:
        return SiteList(found, None)
    last = found.rows[-1]
    return SiteList(found, last.name if found.sort == "name" else f"{getattr(last, found.sort)}-{last.id}")


def _slow_hosts(context: DashboardContext, of: CrawlSummary) -> SlowHosts:
    result = context.background.get(
        ("slow", of.id, of.started_at), lambda: _slow(context, of.id), SLOW_AGE, SLOW_PATIENCE
    )
    return SlowHosts(result.at, result.value or (), result.error)


def _slow(context: DashboardContext, number: int) -> tuple[SlowHost, ...]:
    with reading(context.url, one_process=True) as connection:
        return slowest(connection, number, MOST_SLOW)


def _found(connection: Connection, number: int) -> CrawlSummary:
    found = summary_of(connection, number, database_time(connection))
    if found is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such crawl.")
    return found


def _outcomes(context: DashboardContext, of: CrawlSummary) -> Outcomes:
    result = context.background.get("outcomes", lambda: _ends(context), OUTCOMES_AGE)
    ends: dict[str, int] = {}
    reasons: dict[str, dict[str, int]] = {}
    found: OutcomeTotals = (result.value or {}).get((of.id, of.started_at), OutcomeTotals(0, 0, Counter()))
    for outcome, count in sorted(found.outcomes.items(), key=lambda one: (-one[1], one[0])):
        group = outcome.code.group
        if group is not Group.DONE:
            reasons.setdefault(group, {})[str(outcome)] = count
        end = outcome.code if group is Group.DONE else group
        ends[end] = ends.get(end, 0) + count
    stored = {"page": found.pages, "picture": found.pictures}
    ends = dict(sorted(((end, count) for end, count in (ends | stored).items() if count), key=lambda one: -one[1]))
    return Outcomes(result.at, ends, reasons, result.error)


def _ends(context: DashboardContext) -> Mapping[tuple[int, float], OutcomeTotals]:
    """The outcomes of addresses, by the number of the crawl and its beginning: a later crawl may have its number."""
    with reading(context.url) as connection:
        begun, ends = connection.execute(select(crawl.c.id, crawl.c.started_at)).all(), outcome_totals(connection)
        return {(number, at): ends[number] for number, at in begun}


def _cursor(text: str) -> tuple[int, int] | None:
    """The number and the site after which a part begins."""
    if not text:
        return None
    value, _, number = text.partition("-")
    if not (text.isascii() and value.isdigit() and number.isdigit() and max(len(value), len(number)) < 19):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "after is wrong; it is what more of an answer says")
    return int(value), int(number)


@router.get("/crawls/{crawl}")
def show(context: Context, request: Request, crawl: Number, given: Annotated[CrawlParameters, Query()]) -> Response:
    """The page of a crawl."""
    with context.reading() as connection:
        of = _found(connection, crawl)
        slow = _slow_hosts(context, of)  # first: before what takes the background long
        one, found = _one_crawl(context, connection, of), _site_list(connection, of, given)
    values: dict[str, Any] = {"crawl": one, "found": found, "slow": slow, "given": given, "now": time.time()}
    return context.page(request, "overview_crawl.html", most_seeds=MOST_SEEDS, **values)
