"""The view "evaluate": how a crawl kept to its topic, what it skipped as noise, and the reports that lie as files."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, Field

from crawler import __version__
from crawler.dashboard.access import RefusedError
from crawler.dashboard.background import Result
from crawler.dashboard.context import Context, DashboardContext
from crawler.dashboard.views import Number, Sentence, Text, Whole, slow
from crawler.dashboard.views.choices import CrawlNames, OfCrawl, chosen_crawl, crawl_names, numbered_crawl
from crawler.dashboard.views.report_files import HEADERS, ReportFiles, report_file, report_files
from crawler.reports.focus_data import FetchedPage, crawls_with_pages
from crawler.reports.focus_report import CrawlFocus, crawl_focus, html_report
from crawler.reports.report_noise import NoiseFigures, noise_figures_of
from crawler.store.page_tables import page
from crawler.topic.stop_rule import ON_TOPIC
from crawler.translation.message import N_

FOCUS, NOISE, FILES = "focus", "noise", "files"
AGE = 300.0  # seconds until a report is computed anew for who asks
PATIENCE = 0.05  # seconds that an answer waits for a small crawl's report
STRIDE, REST = 50, 0.0005
"""After so many pages the computation rests for so many seconds: other answers want the processor, too."""
router, api = APIRouter(), APIRouter()
CrawlName = Annotated[
    Text, Query(description=N_("name of the crawl; the latest that has a page where it is not given"))
]


class ReportParameters(BaseModel):
    """Which report is shown."""

    crawl: Text = Field(
        default="", description=N_("name of the crawl; the latest that has a page where it is not given")
    )
    report: Literal["focus", "noise", "files"] = Field(default="focus", description="which report")
    file: Whole = Field(default=0, description="the number of the file that is shown")


@dataclass(frozen=True, slots=True)
class Computed:
    """When figures were computed that take their time."""

    at: float | None
    """In seconds since 1970; null where they were not yet: ask again."""
    took: float
    is_busy: bool
    """Whether they are being computed, for the first time or anew."""
    done: int
    """The pages looked through so far, while they are."""
    error: Sentence | None
    """Why there are none, or none that are newer."""


@dataclass(frozen=True, slots=True)
class FocusReport:
    """How a crawl kept to its topic."""

    crawl: str
    computed: Computed
    report: CrawlFocus | None
    """Null where there is no page, or nothing is computed yet."""


@dataclass(frozen=True, slots=True)
class NoiseReport:
    """What a crawl skipped as noise."""

    crawl: str
    computed: Computed
    report: NoiseFigures | None
    """Null where nothing is computed yet."""


@slow(api.get("/api/evaluate/focus", summary=N_("How well a crawl kept to its topic, once it is computed")))
def focus(context: Context, crawl: CrawlName = "") -> FocusReport:
    """How well a crawl kept to its topic."""
    of = _asked(context, crawl)
    return FocusReport(of.name, *_computed(_focus(context, of)))


@slow(api.get("/api/evaluate/noise", summary=N_("What a crawl skipped as noise, once it is computed")))
def noise(context: Context, crawl: CrawlName = "") -> NoiseReport:
    """What a crawl skipped as noise."""
    of = _asked(context, crawl)
    return NoiseReport(of.name, *_computed(_noise(context, of)))


@slow(api.get("/api/evaluate/files", summary=N_("Reports that lie as files beside what crawls wrote")))
def files(context: Context) -> ReportFiles:
    """The reports that lie as files."""
    return report_files(context.output)


@slow(router.get("/evaluate"))
def show(context: Context, request: Request, given: Annotated[ReportParameters, Query()]) -> Response:
    """The page with one of the reports."""
    values: dict[str, Any] = {
        "given": given,
        "crawl": given.crawl,
        "crawls": CrawlNames(),
        "number": 0,
        "found": None,
    }
    if given.report == FILES:
        values["found"] = report_files(context.output)
        return context.page(request, "evaluate.html", **values)
    with context.reading() as connection:
        of = chosen_crawl(connection, given.crawl, page)
        values["crawls"] = crawl_names(connection, of.name) if of is not None else CrawlNames()
    if of is not None:
        result = _focus(context, of) if given.report == FOCUS else _noise(context, of)
        values |= {"crawl": of.name, "number": of.id, "found": _computed(result)}
    return context.page(request, "evaluate.html", **values)


@slow(router.get("/evaluate/focus/{crawl}"))
def show_focus(context: Context, crawl: Number) -> Response:
    """The whole focus report of a crawl, for a frame."""
    with context.reading() as connection:
        of = numbered_crawl(connection, crawl)
    result = _focus(context, of)
    if result.value is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "This report is not computed yet.")
    day = datetime.fromtimestamp(result.at or 0.0, UTC).date()
    body = html_report((result.value,), ON_TOPIC, __version__, day).encode("utf-8", "replace")
    return HTMLResponse(body, headers=HEADERS)


@slow(router.get("/evaluate/files/{file}"))
def show_file(context: Context, file: Number) -> Response:
    """A report that lies as a file, for a frame."""
    found = report_file(context.output, file)
    if found is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such report.")
    return found


def _asked(context: DashboardContext, name: str) -> OfCrawl:
    with context.reading() as connection:
        of = chosen_crawl(connection, name, page)
    if of is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "No crawl has stored a page yet.")
    return of


def _computed(result: Result) -> tuple[Computed, Any]:
    """When a report was computed, and what it says."""
    done = result.done if result.busy else 0
    return Computed(result.at, result.took, result.busy, done, result.error), result.value


def _focus(context: DashboardContext, of: OfCrawl) -> Result:
    name = (FOCUS, *of)
    return context.reports.get(
        name, lambda: _kept(context, of, lambda done: context.reports.tell(name, done)), AGE, PATIENCE
    )


def _kept(context: DashboardContext, of: OfCrawl, tell: Callable[[int], None]) -> CrawlFocus | None:
    """How a crawl kept to its topic; None where it has no page."""

    def gently(pages: Iterable[FetchedPage]) -> Iterator[FetchedPage]:
        for number, one in enumerate(pages, 1):
            if number % STRIDE == 0:
                tell(number)
                time.sleep(REST)
            yield one

    with crawls_with_pages(context.url) as crawls:
        found = next((one for one in crawls if one.number == of.id), None)
        return crawl_focus(found, ON_TOPIC, pace=gently) if found is not None else None


def _noise(context: DashboardContext, of: OfCrawl) -> Result:
    return context.reports.get((NOISE, *of), lambda: noise_figures_of(context.url, of.id), AGE, PATIENCE)
