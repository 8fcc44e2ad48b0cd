"""The view of one stored page: its record, and its clean text beside a frame with its original.

`ShownPage` is the page with its stored source, which is parsed again. The views of its blocks, facts, links and labels
use it, too. `page_blocks` serves the original.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy import Connection, RowMapping, select

from crawler.checked_settings import canonical_of
from crawler.contrib.corpus.quality import complete_quality
from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, DashboardContext, Number, OutcomeObject, slow
from crawler.contrib.dashboard.markdown_html import markdown_html
from crawler.contrib.dashboard.views.page_original import LANGUAGE
from crawler.errors import TooLargeError
from crawler.extraction import EXTRACTORS, LEARNING, with_library
from crawler.extraction.auto.common_blocks import BlockLibrary
from crawler.extraction.document_text import METHOD as DOCUMENT
from crawler.extraction.methods.template import LeafLabel, Library
from crawler.extraction.output.markdown import markdown
from crawler.items import LABELS, PageRecord
from crawler.outcomes import Code, Outcome
from crawler.page.page import Extraction, Page
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.page_writer import field_values
from crawler.store.batch.responses import response_of
from crawler.store.batch.shared_learning import templates_of, topic_labels
from crawler.store.crawl_tables import address, site
from crawler.store.page_tables import page, stored_response
from crawler.translation.message import N_, Message
from crawler.urls.address import address_of
from crawler.urls.parsing import host_of

METHOD = "auto"
"""The method for pages whose own method is not in METHODS_RUN."""
METHODS_RUN = frozenset(EXTRACTORS) - {"framework"}
"""Methods that the dashboard runs on the pages whose texts they extracted; `framework` is slow, and a method of another
release may no longer exist.
"""
MOST_READ = 20_000_000
"""The most bytes of a response that is shown, twice as many as crawls accept by default. Stored responses are
compressed, so a small one may become very large.
"""
MOST_SHOWN = 300_000
"""Characters of the clean text that are shown."""
MOST_RENDERED = 2_000_000
"""Bytes of a source whose Markdown is rendered."""
MOST_REMARKS = 100_000
"""Characters of readers' comments that are shown."""
MOST_PARAGRAPHS = 2_000
"""Paragraphs that are shown one by one."""
USES = {"search": N_("search"), "ai-input": N_("AI input"), "ai-train": N_("AI training")}
"""The names of the uses about which sites make statements."""
router = APIRouter()
api = APIRouter()


@dataclass(frozen=True)
class ShownPage:
    """A stored page, and its source."""

    row: RowMapping
    """The row of the table of pages."""
    source: bytes | None = None
    """The body of its response; None if no response was stored, if the body is too large, or for a document."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of its response, by lower-case names."""
    source_at: str = ""
    """When the source was fetched: before the text if the last response was not stored."""
    damage: Message | None = None
    """Why the source of a stored response is not shown; None if no response was stored, or if its source is shown."""
    templates: tuple[LeafLabel, ...] = ()
    """The templates that the crawl learned from the pages of its host."""

    @cached_property
    def page(self) -> Page:
        """The page as it was fetched; an empty one without a source."""
        robots = self.headers.get("x-robots-tag", "")
        return Page(
            url=self.row["url"],
            body=self.source or b"",
            content_type=self.headers.get("content-type", ""),
            robots_header=robots,
        )

    @property
    def method(self) -> str:
        """The method that extracts its text here."""
        if self.row["extractor"] in METHODS_RUN:
            return str(self.row["extractor"])
        return METHOD

    @cached_property
    def library(self) -> Library | None:
        """What its method has learned of its host, as the crawl stored it; None if its method learns nothing."""
        if self.method in LEARNING:
            return LEARNING[self.method](self.templates)
        return None

    @cached_property
    def extraction(self) -> Extraction:
        """The text that its method extracts."""
        extract = EXTRACTORS[self.method]
        if self.library is not None:
            extract = with_library(extract, self.library)
        return extract(self.page)

    @cached_property
    def common(self) -> frozenset[int]:
        """The indices of the blocks that are not main text because other pages of its host contain them, too."""
        if not isinstance(self.library, BlockLibrary):
            return frozenset()
        return frozenset(self.library.common_blocks(self.page))

    @cached_property
    def kept(self) -> frozenset[int]:
        """The indices of the blocks of the main text, among all blocks of the page."""
        main_blocks = set(self.extraction.blocks)
        return frozenset(index for index, block in enumerate(self.page.blocks) if block in main_blocks)


def stored_page(connection: Connection, number: int) -> ShownPage:
    """The page with this number, with its source if it can be shown; raises a RefusedError if there is no page."""
    row = connection.execute(select(page).where(page.c.id == number)).mappings().one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
    response_query = select(stored_response).where(stored_response.c.key == row["key"])
    response_row = connection.execute(response_query).mappings().one_or_none()
    if response_row is None:
        return ShownPage(row)

    source_at = response_row["fetched_at"]
    if row["extractor"] == DOCUMENT:  # not parsed: only web pages have blocks and elements to be shown
        return ShownPage(row, source_at=source_at, damage=Message("It is a document, not a web page."))
    try:
        response = response_of(response_row, MOST_READ)
    except TooLargeError as error:
        return ShownPage(row, source_at=source_at, damage=error.message)

    headers = {name.lower(): value for name, value in response.headers}
    templates_of_host = templates_of(connection, row["crawl_id"], host_of(row["url"]))
    templates = tuple(LeafLabel(tag=template.tag, text=template.text) for template in templates_of_host)
    return ShownPage(row, response.body, headers, source_at, templates=templates)


def page_at(context: DashboardContext, number: int) -> ShownPage:
    """The page with this number, read with a database connection of its own."""
    with context.reading() as connection:
        return stored_page(connection, number)


@dataclass(frozen=True, slots=True)
class PageRef:
    """A page to which another page refers."""

    url: str
    id: int | None
    """None if the page is not stored."""
    title: str


@dataclass(kw_only=True)
class PageDetail(PageRecord):
    """A stored page: its record, and other facts about it."""

    id: int
    site: str
    found_on: PageRef | None
    original: PageRef | None
    """The page that this one is a near-duplicate of."""
    changed_at: str | None
    change_distance: float | None
    gone_at: str | None
    noindex: bool
    """Whether the page is not gone but has noindex; then `gone_at` is the time when noindex was seen."""
    checked_at: float | None
    outcome: OutcomeObject | None
    """Why the last visit yielded no page, if it did not."""
    due_at: float
    interval: float | None
    """Seconds from one visit to the next."""
    checks: int
    changes: int
    certainty: float | None
    """The F1 score that the method expects for its text."""
    has_source: bool
    """Whether a source can be shown: not if the response was not stored or is too large, nor for a document."""
    label: str | None
    """on_topic or off_topic, if somebody labelled it."""


PAGE_COLUMNS = (
    "id changed_at change_distance gone_at noindex checked_at due_at interval checks changes certainty".split()
)


@api.get("/api/pages/{page}", summary=N_("A page with its whole clean text, which may have millions of characters"))
def data(context: Context, page: Number) -> PageDetail:
    """Facts about a page."""
    with context.reading() as connection:
        return _detail(context, connection, stored_page(connection, page))


def _detail(context: DashboardContext, connection: Connection, shown_page: ShownPage) -> PageDetail:
    """The record of a page, and other facts about it."""
    row = shown_page.row
    # The page on which it was found, and the page of which it is a near-duplicate, if they are stored.
    keys = AddressKeys(row["crawl_id"], canonical_of(context.settings))
    urls = {name: row[name] for name in ("parent", "duplicate_of") if row[name]}
    stored_refs = page_refs(connection, [keys(url) for url in urls.values()])
    refs = {name: stored_refs.get(keys(url), PageRef(url, None, "")) for name, url in urls.items()}

    outcome: Outcome | None = None
    outcome_query = select(address.c.outcome, address.c.outcome_detail).where(address.c.key == row["key"])
    outcome_row = connection.execute(outcome_query).one_or_none()
    if outcome_row and outcome_row.outcome:
        outcome = Outcome(Code(outcome_row.outcome), outcome_row.outcome_detail or "")

    return PageDetail(
        **complete_quality(field_values(row)),
        **{name: row[name] for name in PAGE_COLUMNS},
        site=_site(connection, row),
        outcome=outcome,
        found_on=refs.get("parent"),
        original=refs.get("duplicate_of"),
        has_source=shown_page.source is not None,
        label=topic_labels(connection, row["crawl"], [row["url"]]).get(row["url"]),
    )


def page_refs(connection: Connection, keys: Iterable[int]) -> dict[int, PageRef]:
    """The stored pages with these keys, by key."""
    query = select(page.c.key, page.c.url, page.c.id, page.c.title).where(page.c.key.in_(set(keys)))
    return {key: PageRef(*ref) for key, *ref in connection.execute(query)}


def _site(connection: Connection, row: RowMapping) -> str:
    """The name of a page's site, or its host if the site is unknown."""
    name = None
    if row["site_id"] is not None:
        is_site = site.c.id == row["site_id"], site.c.crawl_id == row["crawl_id"]
        name = connection.execute(select(site.c.name).where(*is_site)).scalar()
    return name or address_of(row["url"]).host


@slow(router.get("/pages/{page}"))
def show(context: Context, request: Request, page: Number) -> Response:
    with context.reading() as connection:
        shown_page = stored_page(connection, page)
        detail = _detail(context, connection, shown_page)

    language = detail.language or ""
    return context.page(
        request,
        "page.html",
        detail=detail,
        labels={name: label for name, label in LABELS.items() if getattr(detail, name)},
        number=shown_page.row["crawl_id"],
        paragraphs=_paragraphs(detail.text[:MOST_SHOWN]),
        rendered=_rendered(shown_page),
        remarks=_paragraphs(detail.comments[:MOST_REMARKS]),
        most_remarks=MOST_REMARKS,
        unshown=max(0, len(detail.text) - MOST_SHOWN),
        most=MOST_SHOWN,
        lang=language if LANGUAGE.fullmatch(language) else "",
        damage=shown_page.damage,
        use_labels=USES,
        tab="text",
    )


def _rendered(shown_page: ShownPage) -> Markup | None:
    """The rendered Markdown of the text, without links and images; None without a source, without a text, or if
    either is too large.
    """
    if shown_page.source is None or len(shown_page.source) > MOST_RENDERED:
        return None
    images = frozenset(image.url for image in shown_page.page.images)
    text = markdown(shown_page.page, shown_page.extraction, excluded_images=images)
    if 0 < len(text) <= MOST_SHOWN:
        return markdown_html(text)
    return None


def _paragraphs(text: str) -> list[str]:
    """The lines of a text; beyond MOST_PARAGRAPHS, the rest is one paragraph with line breaks."""
    lines = [line for line in text.split("\n") if line.strip()]
    paragraphs = lines[:MOST_PARAGRAPHS]
    rest = lines[MOST_PARAGRAPHS:]
    if rest:
        paragraphs.append("\n".join(rest))
    return paragraphs
