"""One page: what is known of it, and its clean text beside its original with what was kept of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from sqlalchemy import Connection, RowMapping, select

from crawler.config import canonical_of
from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context, DashboardContext, language_of
from crawler.dashboard.views import Number, OutcomeObject, page_blocks, slow
from crawler.dashboard.views.original import LANGUAGE, document, original, sheet
from crawler.dashboard.views.page_blocks import Reread, reread, reread_at
from crawler.dashboard.views.page_links import known_by_key
from crawler.extraction.auto.explanation import MOST_EXPLAINED
from crawler.metadata.page_record import LABELS, PageRecord
from crawler.store.addresses import AddressKeys
from crawler.store.crawl_tables import site
from crawler.store.page_tables import page
from crawler.store.page_writer import field_values
from crawler.translation.catalogue import catalogue_of
from crawler.translation.message import N_

router, api = APIRouter(), APIRouter()
MOST_BYTES = 1_000_000
"""Of a source whose tints say why at once; larger ones take long enough to be read."""
MOST_SHOWN = 300_000
"""Characters of the clean text that are shown."""
MOST_REMARKS = 100_000
"""The same of readers' comments."""
MOST_PARAGRAPHS = 2_000


class Neighbour(NamedTuple):
    """Another stored page."""

    id: int
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class PageRef:
    """A page that another one speaks of."""

    url: str
    id: int | None
    """Its number, if it is stored."""
    title: str


@dataclass(kw_only=True)
class PageDetail(PageRecord):
    """A stored page: its record, and what is known of it besides."""

    id: int
    crawl: str
    site: str
    found_on: PageRef | None
    original: PageRef | None
    """The page that this one is a near copy of."""
    first_at: str
    changed_at: str | None
    change_distance: float | None
    gone_at: str | None
    checked_at: float | None
    outcome: OutcomeObject | None
    """Why the last check brought no page, where it brought none."""
    due_at: float
    interval: float | None
    """Seconds from one check to the next."""
    checks: int
    changes: int
    certainty: float | None
    """The F1 that the method expects of its text."""
    has_source: bool
    """Whether the response that it came in is kept."""


AS_STORED = (
    "id crawl first_at changed_at change_distance gone_at checked_at due_at interval checks changes certainty".split()
)


@api.get("/api/pages/{page}", summary=N_("A page with all of its clean text, which may have millions of letters"))
def data(context: Context, page: Number) -> PageDetail:
    """What is known of a page."""
    with context.reading() as connection:
        return _detail(context, connection, reread(context, connection, page))


def _detail(context: DashboardContext, connection: Connection, found: Reread) -> PageDetail:
    row = found.row
    keys = AddressKeys(row["crawl_id"], canonical_of(context.settings))
    spoken_of = {name: row[name] for name in ("parent", "duplicate_of") if row[name]}
    stored = neighbours(connection, [keys(url) for url in spoken_of.values()]) if spoken_of else {}
    mine = known_by_key(connection, [row["key"]]).get(row["key"])
    refs = {name: _ref(url, stored.get(keys(url))) for name, url in spoken_of.items()}
    return PageDetail(
        **field_values(row),
        **{name: row[name] for name in AS_STORED},
        site=_site(connection, row),
        outcome=mine.outcome if mine else None,
        found_on=refs.get("parent"),
        original=refs.get("duplicate_of"),
        has_source=found.source is not None,
    )


def neighbours(connection: Connection, keys: Iterable[int]) -> dict[int, Neighbour]:
    """The stored pages of these keys."""
    wanted = select(page.c.key, page.c.id, page.c.url, page.c.title).where(page.c.key.in_(set(keys)))
    return {row.key: Neighbour(row.id, row.url, row.title) for row in connection.execute(wanted)}


def _ref(url: str, stored: Neighbour | None) -> PageRef:
    return PageRef(url, stored.id, stored.title) if stored is not None else PageRef(url, None, "")


def _site(connection: Connection, row: RowMapping) -> str:
    name = None
    if row["site_id"] is not None:
        mine = site.c.id == row["site_id"], site.c.crawl_id == row["crawl_id"]
        name = connection.execute(select(site.c.name).where(*mine)).scalar()
    try:
        return name or urlsplit(row["url"]).hostname or ""
    except ValueError:
        return ""


@router.get("/pages/{page}")
def show(context: Context, request: Request, page: Number) -> Response:
    """The page's text beside its original."""
    with context.reading() as connection:
        found = reread(context, connection, page)
        detail = _detail(context, connection, found)
    return context.page(
        request,
        "page.html",
        detail=detail,
        labels={name: label for name, label in LABELS.items() if getattr(detail, name)},
        number=found.row["crawl_id"],
        paragraphs=_paragraphs(detail.text[:MOST_SHOWN]),
        remarks=_paragraphs(detail.comments[:MOST_REMARKS]),
        most_remarks=MOST_REMARKS,
        unshown=max(0, len(detail.text) - MOST_SHOWN),
        most=MOST_SHOWN,
        lang=detail.language if LANGUAGE.fullmatch(detail.language or "") else "",
        damage=found.damage,
        tab="text",
    )


def _paragraphs(text: str) -> list[str]:
    """The lines of a text; of very many, the last ones as one paragraph, in which they are lines still."""
    lines = [line for line in text.split("\n") if line.strip()]
    return [*lines[:MOST_PARAGRAPHS], *filter(None, ["\n".join(lines[MOST_PARAGRAPHS:])])]


@slow(router.get("/pages/{page}/original"))
def show_original(context: Context, request: Request, page: Number) -> Response:
    """The original, for a frame: a document of its own that nothing can act in, and that can ask for nothing."""
    found = reread_at(context, page)
    if found.source is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "The source of this page is not kept.")
    _ = catalogue_of(language_of(request)).gettext
    is_large = len(found.source) > MOST_BYTES or len(found.page.blocks) > MOST_EXPLAINED
    made = original(found.page, found.kept, {} if is_large else _whys(found, _))
    notes = _notes(found, _)
    if is_large:
        notes.append(_("Why is said of its blocks: the page is too large for it to be told here, too."))
    if made.is_cut:
        notes.append(_("Only its beginning is shown: the page is too large."))
    body = document(made, language_of(request), found.row["title"], notes)
    return HTMLResponse(body, headers={"Content-Security-Policy": sheet()[1]})


def _whys(found: Reread, _: Callable[..., str]) -> dict[int, str]:
    """For the blocks of a page, why they are kept or not."""
    said: dict[int, str] = {}
    for block in page_blocks.blocks(found):
        reasons = _("; ").join(_(one.message) for one in block.reasons)
        verdict = _("kept") if block.kept else _("left out")
        likely = f" ({block.probability:.0%})" if block.probability is not None else ""
        said[block.place] = f"{verdict}{likely}" + (f": {reasons}" if reasons else "")
    return said


def _notes(found: Reread, _: Callable[..., str]) -> list[str]:
    """What is to be known of the tints."""
    notes = []
    row, extraction = found.row, found.extraction
    if found.method != row["extractor"]:
        notes.append(
            _(
                "{method} wants to know the whole site; the tints are those of {other}.",
                method=row["extractor"],
                other=found.method,
            )
        )
    if extraction.text and not extraction.blocks:
        notes.append(_("The text stands in the page's scripts, not in what it shows: nothing is tinted."))
    elif extraction.text != row["text"]:
        notes.append(
            _(
                "Read anew, its text is not quite the stored one: another release read it then, or what the pages of "
                "its site share was taken out."
            )
        )
    if found.source_at and found.source_at != row["fetched_at"]:
        notes.append(_("This source is older than the text: it was not kept when the page was fetched last."))
    if found.page.ended or extraction.ended:
        notes.append(_("The page is too large: it was not read to its end."))
    return notes
