"""The view "evaluate": how a crawl kept to its topic, what it skipped as noise, and the reports that lie as files."""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple

from crawler import __version__
from crawler.dashboard.background import Result
from crawler.dashboard.context import DashboardContext
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import HTML, Answer, RefusedError, Request
from crawler.dashboard.views import Data, Views
from crawler.dashboard.views.choices import CrawlNames, OfCrawl, chosen_crawl, crawl_names, numbered_crawl
from crawler.dashboard.views.report_files import HEADERS, ReportFiles, report_file, report_files
from crawler.reports.fetched_pages import Fetched, gathered
from crawler.reports.focus_report import report
from crawler.reports.focus_tables import Kept, kept
from crawler.reports.noise_figures import NoiseFigures, noise_figures_of
from crawler.store.page_tables import page
from crawler.topic.harvest import ON_TOPIC
from crawler.translation.message import Message

FOCUS, NOISE, FILES = "focus", "noise", "files"
AGE = 300.0  # seconds until a report is computed anew for who asks
PATIENCE = 0.05  # seconds that an answer waits for a small crawl's report
STRIDE, REST = 50, 0.0005
"""After so many pages the computation rests for so many seconds: other answers want the processor, too."""
OF_CRAWL = (Parameter("crawl", "", "name of the crawl; the latest that has a page where it is not given"),)
PARAMETERS = (
    *OF_CRAWL,
    Parameter("report", FOCUS, "which report", (FOCUS, NOISE, FILES)),
    Parameter("file", 0, "the number of the file that is shown"),
)


class Computed(NamedTuple):
    """When figures were computed that take their time."""

    at: float | None
    """In seconds since 1970; null where they were not yet: ask again."""
    took: float
    is_busy: bool
    """Whether they are being computed, for the first time or anew."""
    done: int
    """The pages looked through so far, while they are."""
    error: Message | None
    """Why there are none, or none that are newer."""


class FocusReport(NamedTuple):
    """How a crawl kept to its topic."""

    crawl: str
    computed: Computed
    report: Kept | None
    """Null where there is no page, or nothing is computed yet."""


class NoiseReport(NamedTuple):
    """What a crawl skipped as noise."""

    crawl: str
    computed: Computed
    report: NoiseFigures | None
    """Null where nothing is computed yet."""


def focus(desk: DashboardContext, given: Given) -> FocusReport:
    """How well a crawl kept to its topic."""
    of = _asked(desk, given)
    return FocusReport(of.name, *_computed(_focus(desk, of)))


def noise(desk: DashboardContext, given: Given) -> NoiseReport:
    """What a crawl skipped as noise."""
    of = _asked(desk, given)
    return NoiseReport(of.name, *_computed(_noise(desk, of)))


def files(desk: DashboardContext, given: Given) -> ReportFiles:
    """The reports that lie as files."""
    return report_files(desk.output)


def show(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The page with one of the reports."""
    values: dict[str, Any] = {
        "given": given,
        "crawl": given["crawl"],
        "crawls": CrawlNames(),
        "number": 0,
        "found": None,
    }
    if given["report"] == FILES:
        values["found"] = report_files(desk.output)
        return desk.page(request, "evaluate.html", **values)
    with desk.reading() as connection:
        of = chosen_crawl(connection, given["crawl"], page)
        values["crawls"] = crawl_names(connection, of.name) if of is not None else CrawlNames()
    if of is not None:
        result = _focus(desk, of) if given["report"] == FOCUS else _noise(desk, of)
        values |= {"crawl": of.name, "number": of.id, "found": _computed(result)}
    return desk.page(request, "evaluate.html", **values)


def show_focus(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """The whole focus report of a crawl, for a frame."""
    with desk.reading() as connection:
        of = numbered_crawl(connection, given["crawl"])
    result = _focus(desk, of)
    if result.value is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "This report is not computed yet.")
    day = datetime.fromtimestamp(result.at or 0.0, UTC).date()
    body = report((result.value,), ON_TOPIC, __version__, day).encode("utf-8", "replace")
    return Answer(body, HTML, headers=HEADERS)


def show_file(desk: DashboardContext, request: Request, given: Given) -> Answer:
    """A report that lies as a file, for a frame."""
    found = report_file(desk.output, given["file"])
    if found is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such report.")
    return found


def _asked(desk: DashboardContext, given: Given) -> OfCrawl:
    with desk.reading() as connection:
        of = chosen_crawl(connection, given["crawl"], page)
    if of is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "No crawl has stored a page yet.")
    return of


def _computed(result: Result) -> tuple[Computed, Any]:
    """When a report was computed, and what it says."""
    done = result.done if result.busy else 0
    return Computed(result.at, result.took, result.busy, done, result.error), result.value


def _focus(desk: DashboardContext, of: OfCrawl) -> Result:
    name = (FOCUS, *of)
    return desk.reports.get(name, lambda: _kept(desk, of, lambda done: desk.reports.tell(name, done)), AGE, PATIENCE)


def _kept(desk: DashboardContext, of: OfCrawl, tell: Callable[[int], None]) -> Kept | None:
    """How a crawl kept to its topic; None where it has no page."""

    def gently(pages: Iterable[Fetched]) -> Iterator[Fetched]:
        for number, one in enumerate(pages, 1):
            if number % STRIDE == 0:
                tell(number)
                time.sleep(REST)
            yield one

    with gathered(desk.url) as crawls:
        found = next((one for one in crawls if one.number == of.id), None)
        return kept(found, ON_TOPIC, pace=gently) if found is not None else None


def _noise(desk: DashboardContext, of: OfCrawl) -> Result:
    return desk.reports.get((NOISE, *of), lambda: noise_figures_of(desk.url, of.id), AGE, PATIENCE)


VIEWS: Views = {
    "/evaluate": (show, PARAMETERS),
    "/evaluate/focus/{crawl}": (show_focus, ()),
    "/evaluate/files/{file}": (show_file, ()),
}
API: Data = {
    "/api/evaluate/focus": (focus, OF_CRAWL, "How well a crawl kept to its topic, once it is computed"),
    "/api/evaluate/noise": (noise, OF_CRAWL, "What a crawl skipped as noise, once it is computed"),
    "/api/evaluate/files": (files, (), "Reports that lie as files beside what crawls wrote"),
}
