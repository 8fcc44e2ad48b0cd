"""The view "evaluate": how well a crawl kept to its topic, what it skipped as noise, and report files.

The two reports are computed in the background, because they read all pages of a crawl. Until a report is computed, the
web page shows the progress and requests the report again.

Report files are in the output folder, and are recognized by their first bytes. Requests never contain a path: a file is
requested by a number derived from its name, and searched among the existing files. Symbolic links are not followed.
Files are not trusted: each is shown in a frame with an opaque origin, which runs no scripts and loads nothing.
"""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, Field, PlainSerializer

from crawler import __version__
from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import (
    Context,
    DashboardContext,
    Number,
    Result,
    Sentence,
    Text,
    Whole,
    language_of,
    slow,
)
from crawler.contrib.dashboard.views.choices import (
    ChosenCrawl,
    CrawlNames,
    chosen_crawl,
    crawl_names,
    latest_with,
    numbered_crawl,
)
from crawler.contrib.dashboard.views.judged_images import read_file
from crawler.contrib.lab.focus_data import FetchedPage, readable_crawls
from crawler.contrib.lab.focus_report import CrawlFocus, crawl_focus, html_report
from crawler.reports.html_page import report_page
from crawler.reports.report_noise import NoiseFigures, noise_figures_of
from crawler.store.page_tables import page
from crawler.topic.stop_rule import ON_TOPIC
from crawler.translation.message import N_, catalogue_of, languages

MOST_OPENED = 300
"""The most files whose first bytes are read, beginning with the newest."""
MOST_BYTES = 20_000_000
"""Bytes of the largest file that is shown."""
MOST_CHARACTERS = 500_000
"""Characters of a file of figures that are shown."""
HEAD_BYTES = 1_000
"""The first bytes of a file, by which reports are recognized."""
FOCUS = "focus"
NOISE = "noise"
FILES = "files"
EXTRACTION = "extraction"
EXTRACTION_FIGURES = "extraction figures"
NOISE_FIGURES = "noise figures"


def _html_beginning(title: str) -> re.Pattern[bytes]:
    """A pattern of the first bytes of a report with this title, in any language."""
    titles = "|".join({re.escape(catalogue_of(language).gettext(title)) for language in languages()})
    beginning = rf'<!doctype html>\s+<html lang="\w+">.{{1,600}}<title>Winnow: (?:{titles})</title>'
    return re.compile(beginning.encode(), re.DOTALL)


BEGINNINGS = {
    EXTRACTION: _html_beginning("extraction judged"),
    FOCUS: _html_beginning(N_("how well it kept to the topic")),
    EXTRACTION_FIGURES: re.compile(rb'\{"format": \d+, "winnow": "'),
    NOISE_FIGURES: re.compile(rb'\{\s*"labels": \{\s*"given": \d'),
}
"""Patterns of the first bytes of the files that Winnow's commands write, by kind."""
HTML_KINDS = (EXTRACTION, FOCUS)
"""The kinds of files that are HTML; the others are JSON."""
# The headers of a document for a frame: it has an opaque origin, runs no scripts and loads nothing.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY}
MOST_AGE_SECONDS = 300.0
"""A report that is older than this is computed again on the next request."""
WAIT_SECONDS = 0.05
"""How long a response waits for a report, in case it is computed fast."""
PAGES_BETWEEN_PAUSES = 50
"""Pages after which the computation pauses, to leave CPU time to other requests."""
PAUSE_SECONDS = 0.0005
router = APIRouter()
api = APIRouter()
CrawlName = Annotated[Text, Query(description=N_("name of the crawl; by default the newest with a page"))]


class ReportParameters(BaseModel):
    """The choice of a report."""

    crawl: CrawlName = ""
    report: Literal["focus", "noise", "files"] = Field(default="focus", description="which report")
    file: Whole = Field(default=0, description="the number of the file that is shown")


FileName = Annotated[str, PlainSerializer(lambda name: name.encode("utf-8", "replace").decode(), return_type=str)]
"""The name of a file, which need not be valid text."""


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report file."""

    id: int
    name: FileName
    kind: str
    """A key of BEGINNINGS."""
    bytes: int
    written_at: float
    can_be_shown: bool
    """Whether it is small enough to be shown."""


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The report files in a folder, newest first."""

    files: tuple[ReportFile, ...]
    unopened: int
    """Older files that were not checked, and may be reports."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The state of figures that take long to compute."""

    at: float | None
    """When they were computed, in seconds since 1970; null if they are not computed yet: request them again."""
    took: float
    """How many seconds the computation took."""
    is_busy: bool
    """Whether they are being computed."""
    done: int
    """The pages processed so far, during the computation."""
    error: Sentence | None
    """Why there are no figures, or no newer ones."""


@dataclass(frozen=True, slots=True)
class FocusReport:
    """How a crawl kept to its topic."""

    crawl: str
    computed: Computed
    report: CrawlFocus | None
    """Null if there is no page, or nothing is computed yet."""


@dataclass(frozen=True, slots=True)
class NoiseReport:
    """What a crawl skipped as noise."""

    crawl: str
    computed: Computed
    report: NoiseFigures | None
    """Null if nothing is computed yet."""


@slow(api.get("/api/evaluate/focus", summary=N_("How well a crawl kept to its topic, once it is computed")))
def focus(context: Context, crawl: CrawlName = "") -> FocusReport:
    """How well a crawl kept to its topic."""
    chosen = _crawl(context, crawl)
    computed, report = _state_and_report(_focus(context, chosen))
    return FocusReport(crawl=chosen.name, computed=computed, report=report)


@slow(api.get("/api/evaluate/noise", summary=N_("What a crawl skipped as noise, once it is computed")))
def noise(context: Context, crawl: CrawlName = "") -> NoiseReport:
    """What a crawl skipped as noise."""
    chosen = _crawl(context, crawl)
    computed, report = _state_and_report(_noise(context, chosen))
    return NoiseReport(crawl=chosen.name, computed=computed, report=report)


@slow(api.get("/api/evaluate/files", summary=N_("Report files in the output folder")))
def files(context: Context) -> ReportFiles:
    """The report files."""
    return report_files(context.output)


@slow(router.get("/evaluate"))
def show(context: Context, request: Request, parameters: Annotated[ReportParameters, Query()]) -> Response:
    """The chosen report, of the chosen crawl or of the newest one with a page, or the report files."""
    values: dict[str, Any] = {"crawl": parameters.crawl, "crawls": CrawlNames(), "number": 0, "computed": None}
    if parameters.report == FILES:
        values["report_files"] = report_files(context.output)
    else:
        with context.reading() as connection:
            chosen = chosen_crawl(connection, parameters.crawl, latest_with(page))
            values["crawls"] = crawl_names(connection, chosen.name) if chosen is not None else CrawlNames()
        if chosen is not None:
            result = _focus(context, chosen) if parameters.report == FOCUS else _noise(context, chosen)
            computed, report = _state_and_report(result)
            values |= {"crawl": chosen.name, "number": chosen.id, "computed": computed, "report": report}
    return context.page(request, "evaluate.html", given=parameters, **values)


@slow(router.get("/evaluate/focus/{crawl}"))
def show_focus(context: Context, request: Request, crawl: Number) -> Response:
    """The whole focus report of a crawl, for a frame."""
    with context.reading() as connection:
        chosen = numbered_crawl(connection, crawl)
    result = _focus(context, chosen)
    if result.value is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "This report is not computed yet.")
    day = datetime.fromtimestamp(result.at or 0.0, UTC).date()
    catalogue = catalogue_of(language_of(request))
    body = html_report((result.value,), ON_TOPIC, __version__, day, catalogue).encode("utf-8", "replace")
    return HTMLResponse(body, headers=HEADERS)


@slow(router.get("/evaluate/files/{file}"))
def show_file(context: Context, file: Number) -> Response:
    """A report file, for a frame."""
    response = report_file(context.output, file)
    if response is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such report.")
    return response


def _crawl(context: DashboardContext, name: str) -> ChosenCrawl:
    """The crawl with this name, or the newest one with a page; raises a RefusedError if there is none."""
    with context.reading() as connection:
        chosen = chosen_crawl(connection, name, latest_with(page))
    if chosen is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "No crawl has stored a page yet.")
    return chosen


def _state_and_report(result: Result) -> tuple[Computed, Any]:
    """The state of a background computation, and the report that it returned last."""
    done = result.done if result.busy else 0  # otherwise it is the progress of the last computation
    computed = Computed(at=result.at, took=result.took, is_busy=result.busy, done=done, error=result.error)
    return computed, result.value


def _focus(context: DashboardContext, crawl: ChosenCrawl) -> Result:
    """The focus report of a crawl, which is computed if it is missing or old."""
    name = (FOCUS, crawl.id, crawl.started_at)  # the same id may belong to another crawl after a deletion

    def with_pauses(pages: Iterable[FetchedPage]) -> Iterator[FetchedPage]:
        for number, fetched_page in enumerate(pages, 1):
            if number % PAGES_BETWEEN_PAUSES == 0:
                context.reports.report_progress(name, number)
                time.sleep(PAUSE_SECONDS)
            yield fetched_page

    def compute() -> CrawlFocus | None:
        with readable_crawls(context.url) as crawls:
            crawl_pages = next((pages for pages in crawls if pages.number == crawl.id), None)
            if crawl_pages is not None:
                return crawl_focus(crawl_pages, ON_TOPIC, pace=with_pauses)
            return None

    return context.reports.get(name, compute, MOST_AGE_SECONDS, WAIT_SECONDS)


def _noise(context: DashboardContext, crawl: ChosenCrawl) -> Result:
    """What a crawl skipped as noise, which is computed if it is missing or old."""
    name = (NOISE, crawl.id, crawl.started_at)
    return context.reports.get(name, lambda: noise_figures_of(context.url, crawl.id), MOST_AGE_SECONDS, WAIT_SECONDS)


def report_files(folder: Path) -> ReportFiles:
    """The report files in a folder, among the newest MOST_OPENED files."""
    candidates = _candidates(folder)
    files = []
    for written_at, name, size in candidates[:MOST_OPENED]:
        head = read_file(folder / name, HEAD_BYTES) or b""
        kind = next((kind for kind, beginning in BEGINNINGS.items() if beginning.match(head)), None)
        if kind is not None:
            files.append(
                ReportFile(
                    id=_number(name),
                    name=name,
                    kind=kind,
                    bytes=size,
                    written_at=written_at,
                    can_be_shown=size <= MOST_BYTES,
                )
            )
    return ReportFiles(files=tuple(files), unopened=max(0, len(candidates) - MOST_OPENED))


def report_file(folder: Path, number: int) -> Response | None:
    """The report with this number as a document for a frame; None if it does not exist or is too large."""
    for file in report_files(folder).files:
        if file.id == number and file.can_be_shown:
            body = read_file(folder / file.name, MOST_BYTES)
            if body is None or not BEGINNINGS[file.kind].match(body[:HEAD_BYTES]):  # replaced in the meantime
                return None
            if file.kind not in HTML_KINDS:
                body = _figures(file.name, body)
            return HTMLResponse(body, headers=HEADERS)
    return None


def _candidates(folder: Path) -> list[tuple[float, str, int]]:
    """The modification times, names and sizes of the HTML and JSON files, newest first."""
    candidates = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.lower().endswith((".html", ".htm", ".json")):
                with suppress(OSError):  # deleted in the meantime
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        candidates.append((status.st_mtime, entry.name, status.st_size))
    return sorted(candidates, reverse=True)


def _number(name: str) -> int:
    """The number that identifies a file in addresses, small enough for JavaScript."""
    return int.from_bytes(blake2b(os.fsencode(name), digest_size=6).digest(), "big")


def _figures(name: str, body: bytes) -> bytes:
    """A page that shows a file of figures."""
    text = body.decode("utf-8", "replace")
    return report_page("figures.html", name=name, text=text, most=MOST_CHARACTERS).encode("utf-8", "replace")
