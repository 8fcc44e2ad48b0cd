"""The view "corpus" of a crawl: rights, quality, copies, and the export as a form."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import StringConstraints
from sqlalchemy import Connection

from crawler.checked_settings import canonical_of
from crawler.contrib.corpus.views.copy_clusters import CorpusCopies, corpus_copies
from crawler.contrib.corpus.views.corpus_pages import sampled_ids
from crawler.contrib.corpus.views.download import downloaded
from crawler.contrib.corpus.views.export_form import GROUPS, OUTPUTS, SAMPLED, ExportForm, PagesLeft, pages_left
from crawler.contrib.corpus.views.quality_sample import CorpusQuality, corpus_quality
from crawler.contrib.corpus.views.rights_shares import CorpusRights, corpus_rights
from crawler.contrib.dashboard.context import Context, DashboardContext, Number, Sentence, Text, slow
from crawler.contrib.dashboard.views.choices import ChosenCrawl, numbered_crawl
from crawler.contrib.dashboard.views.page import USES
from crawler.errors import SlowError, WrongUseError
from crawler.rights.statement import State
from crawler.store.batch.addresses import AddressKeys
from crawler.store.read_only import limited_reading, reading
from crawler.translation.message import N_, Message

MOST_AGE_SECONDS = 60.0
"""The age at which numbers are computed again on the next request."""
WAIT_SECONDS = 0.1
"""How long a response waits for the first numbers."""
COUNT_SECONDS = 1.5
"""Time limit for counting the pages that an export keeps."""
MOST_WHERE = 4_000
"""The most characters of all conditions and places in a form."""
router = APIRouter()
api = APIRouter()
LanguageCode = Annotated[Text, Query(description=N_("only pages in this language, such as en"))]
Lines = Annotated[str, StringConstraints(max_length=MOST_WHERE)]


@dataclass(frozen=True, slots=True)
class RightsReport:
    """What the pages of a crawl may be used for, and when it was counted."""

    counted_at: float | None
    """The time of the count; null during the first one."""
    rights: CorpusRights | None
    error: Sentence | None


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The quality of the pages of a crawl, and when it was computed."""

    counted_at: float | None
    quality: CorpusQuality | None
    error: Sentence | None


@dataclass(frozen=True, slots=True)
class CopiesReport:
    """The near-duplicates of a crawl, and when they were counted."""

    counted_at: float | None
    copies: CorpusCopies | None
    error: Sentence | None


@slow(api.get("/api/crawls/{crawl}/rights", summary=N_("What the pages of a crawl may be used for, by site")))
def rights(context: Context, crawl: Number) -> RightsReport:
    """What the pages of a crawl may be used for; null while they are counted for the first time."""
    return RightsReport(*_computed(context, "rights", _crawl(context, crawl), corpus_rights))


@slow(api.get("/api/crawls/{crawl}/quality", summary=N_("The quality of the pages of a crawl, by a sample")))
def quality(context: Context, crawl: Number, language: LanguageCode = "") -> QualityReport:
    """The quality of the pages of a crawl; null while it is computed for the first time."""
    counted_at, by_language, error = _computed(context, "quality", _crawl(context, crawl), corpus_quality)
    corpus = None
    if by_language:
        corpus = by_language.get(language) or by_language.get("")
    return QualityReport(counted_at=counted_at, quality=corpus, error=error)


@slow(api.get("/api/crawls/{crawl}/copies", summary=N_("The near-duplicates of a crawl, as clusters")))
def copies(context: Context, crawl: Number) -> CopiesReport:
    """The near-duplicates of a crawl; null while they are counted for the first time."""

    def compute(connection: Connection, crawl_id: int) -> CorpusCopies:
        return corpus_copies(connection, AddressKeys(crawl_id, canonical_of(context.settings)), crawl_id)

    return CopiesReport(*_computed(context, "copies", _crawl(context, crawl), compute))


def _crawl(context: DashboardContext, number: int) -> ChosenCrawl:
    with context.reading() as connection:
        return numbered_crawl(connection, number)


def _computed(
    context: DashboardContext, name: str, stored_crawl: ChosenCrawl, compute: Callable[[Connection, int], Any]
) -> tuple[float | None, Any, Message | None]:
    """When the numbers with this name were computed for a crawl, these numbers, and the error if that failed."""

    def read() -> Any:
        with reading(context.url, one_process=True) as connection:
            return compute(connection, stored_crawl.id)

    result = context.reports.get((name, stored_crawl.id, stored_crawl.started_at), read, MOST_AGE_SECONDS)
    if result.at is None:
        result.ready.wait(WAIT_SECONDS)
    return result.at, result.value, result.error


# FastAPI only limits the length of these two parameters: ExportForm reads them with the checkboxes.
Where = Annotated[Lines, Query(description="conditions and places, one a line")]
Prefer = Annotated[Text, Query(description="which of several copies stays")]


@slow(router.get("/crawls/{crawl}/corpus"))
def show_rights(context: Context, request: Request, crawl: Number, by: Annotated[Text, Query()] = "") -> Response:
    values = {"report": rights(context, crawl), "uses": USES, "states": [*State], "by": "bytes" if by else "pages"}
    return _page(context, request, "rights", _crawl(context, crawl), values)


@slow(router.get("/crawls/{crawl}/corpus/quality"))
def show_quality(context: Context, request: Request, crawl: Number, language: LanguageCode = "") -> Response:
    values = {"report": quality(context, crawl, language)}
    return _page(context, request, "quality", _crawl(context, crawl), values)


@slow(router.get("/crawls/{crawl}/corpus/copies"))
def show_copies(context: Context, request: Request, crawl: Number) -> Response:
    return _page(context, request, "copies", _crawl(context, crawl), {"report": copies(context, crawl)})


@slow(router.get("/crawls/{crawl}/corpus/export"))
def show_export(
    context: Context,
    request: Request,
    crawl: Number,
    where: Where = "",
    prefer: Prefer = "",
) -> Response:
    stored_crawl = _crawl(context, crawl)
    form = ExportForm.of(stored_crawl.name, request.query_params)
    error = None
    left = None
    try:
        form.check()
        left = _pages_left(context, stored_crawl, form)
    except WrongUseError as wrong:
        error = wrong.message
    values = {"form": form, "error": error, "left": left, "outputs": OUTPUTS, "groups": GROUPS}
    return _page(context, request, "export", stored_crawl, values)


def _pages_left(context: DashboardContext, stored_crawl: ChosenCrawl, form: ExportForm) -> PagesLeft | None:
    """How many pages of a sample an export keeps; None while the sample is chosen, or if counting takes too long."""

    def choose(connection: Connection, crawl_id: int) -> Sequence[int]:
        return sampled_ids(connection, crawl_id, SAMPLED + 1)  # one more shows that the corpus is larger

    _, ids, _ = _computed(context, "sample", stored_crawl, choose)
    if ids is None:
        return None
    try:
        with limited_reading(context.url, COUNT_SECONDS) as connection:
            return pages_left(connection, ids, form)
    except SlowError:
        return None


@slow(router.get("/crawls/{crawl}/corpus/download"))
def download(
    context: Context,
    request: Request,
    crawl: Number,
    where: Where = "",
    prefer: Prefer = "",
) -> Response:
    """The pages of a crawl as a file."""
    stored_crawl = _crawl(context, crawl)
    form = ExportForm.of(stored_crawl.name, request.query_params)
    body = downloaded(context.url, stored_crawl.id, form)
    name = f"pages{OUTPUTS[form.output].ending}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, HTTPStatus.OK, headers, media_type="application/octet-stream")


def _page(
    context: DashboardContext, request: Request, tab: str, stored_crawl: ChosenCrawl, values: dict[str, Any]
) -> Response:
    return context.page(request, f"corpus_{tab}.html", of=stored_crawl, tab=tab, **values)
