"""The blocks of a stored page, read again from the response that was kept: which are main text, how likely, and why."""

from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection, RowMapping, select

from crawler.dashboard.access import RefusedError
from crawler.dashboard.context import Context, DashboardContext
from crawler.dashboard.views import Number, ReasonObject, Sentence, Whole, slow
from crawler.dashboard.views.sources import Source, Sources
from crawler.extraction import EXTRACTORS
from crawler.extraction.auto.explanation import MOST_EXPLAINED, BlockExplanation, BlockReason, PageExplanation, explain
from crawler.page.page import Extraction, Page
from crawler.store.crawl_tables import crawl
from crawler.store.page_tables import page, stored_response
from crawler.store.page_writer import TooLargeError, response_of
from crawler.translation.message import N_, Message
from crawler.translation.reasons import Reason

METHOD = "auto"
"""What judges pages whose own method is not there, or wants to know their site."""
MOST_BYTES = 20_000_000
"""Of a response that is read here: crawls take half of that if nothing else is said, and blanks pack a thousandfold."""
OWN = frozenset(EXTRACTORS) - {"template", "template-svm", "framework"}


@dataclass(frozen=True)
class Reread:
    """A stored page, and what its source says."""

    row: RowMapping
    """Of the table of pages, with the crawl's name as `crawl`."""
    source: bytes | None
    """None where the response was not kept."""
    headers: dict[str, str]
    sources: Sources
    """Those that were read before."""
    source_at: str = ""
    """When the source was fetched, which is before the page was where that came without it."""
    damage: Message | None = None
    """Why what was kept cannot be read."""

    @cached_property
    def read(self) -> Source:
        """The page as it was fetched, or an empty one, read by the method."""
        robots = self.headers.get("x-robots-tag", "")
        page = Page(self.row["url"], self.source or b"", self.headers.get("content-type", ""), robots)
        return self.sources.get(page, self.method)

    @property
    def page(self) -> Page:
        """The same, as it is by itself."""
        return self.read.page

    @property
    def method(self) -> str:
        """The method by which it is read here."""
        return str(self.row["extractor"]) if self.row["extractor"] in OWN else METHOD

    @property
    def extraction(self) -> Extraction:
        """What the method sees in it."""
        return self.read.extraction

    @property
    def kept(self) -> frozenset[int]:
        """The places of the blocks of the main text among all blocks of the page."""
        return self.read.kept


def reread(context: DashboardContext, connection: Connection, number: int) -> Reread:
    """The page of this number; a RefusedError where there is none."""
    found = select(page, crawl.c.name.label("crawl")).join(crawl, crawl.c.id == page.c.crawl_id)
    row = connection.execute(found.where(page.c.id == number)).mappings().one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such page.")
    kept = (
        connection.execute(select(stored_response).where(stored_response.c.key == row["key"])).mappings().one_or_none()
    )
    if kept is None:
        return Reread(row, None, {}, context.sources)
    try:
        response = response_of(kept, MOST_BYTES)
    except TooLargeError as error:
        return Reread(row, None, {}, context.sources, kept["fetched_at"], error.message)
    headers = {name.lower(): value for name, value in response.headers}
    return Reread(row, response.body, headers, context.sources, kept["fetched_at"])


def reread_at(context: DashboardContext, number: int) -> Reread:
    """The same, with a look at the database of its own."""
    with context.reading() as connection:
        return reread(context, connection, number)


AT_ONCE = 200
NEAR = 0.25
"""How far from the limit a block may be that is in doubt."""
Which = Literal["all", "kept", "left", "doubt"]
WHICH: tuple[Which, ...] = get_args(Which)
router, api = APIRouter(), APIRouter()
WhichBlocks = Annotated[Which, Query(description=N_("the blocks that are shown"))]
Start = Annotated[Whole, Query(description=N_("how many of them are passed over"))]


@dataclass(frozen=True, slots=True)
class PageBlock:
    """A stretch of a page's text without a line break."""

    place: int
    text: str
    tag: str
    linked: float
    """The share of it that is links."""
    kept: bool
    probability: float | None
    """That it is main text, where the method says so."""
    reasons: tuple[ReasonObject, ...]


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks of a page."""

    page: int
    crawl: str
    title: str
    has_source: bool
    damage: Sentence | None
    """Why what was kept of its source cannot be read."""
    method: str
    """By which they were judged."""
    in_scripts: bool
    """Whether the main text stands in the page's scripts, and in no block."""
    limit: float | None
    """How likely a block must be main text."""
    share: float | None
    """Of the best F1 that can be expected."""
    best: float | None
    total: int
    kept: int
    matching: int
    """Blocks of the sort that was asked for."""
    is_explained: bool
    blocks: tuple[PageBlock, ...]
    next: int | None
    """Where the next ones start."""


def explanation(found: Reread) -> PageExplanation | None:
    """What the model says of a page; None where another method reads it."""
    return found.read.once(explain) if found.method == METHOD else None


def blocks(found: Reread) -> list[PageBlock]:
    """All blocks of a page."""
    return [_block(found, place) for place in range(len(found.page.blocks))]


def _block(found: Reread, place: int) -> PageBlock:
    block, said, mine = found.page.blocks[place], explanation(found), _explained(found, place)
    kept, reasons = place in found.kept, mine.reasons if mine is not None else ()
    if mine is not None and said is not None and kept and mine.probability < said.limit:
        reasons = (Reason(BlockReason.OTHER_HALF, {}),)
    probability = mine.probability if mine is not None else None
    linked = block.linked / max(1, len(block.text))
    return PageBlock(place, block.text, block.tag, linked, kept, probability, reasons)


def _explained(found: Reread, place: int) -> BlockExplanation | None:
    said = explanation(found)
    return said.blocks[place] if said is not None and place < len(said.blocks) else None


@slow(api.get("/api/pages/{page}/blocks", summary=N_("The blocks of a page, and why each is main text or not")))
def data(context: Context, page: Number, which: WhichBlocks = "all", start: Start = 0) -> PageBlocks:
    """The blocks of a page that were asked for."""
    found = reread_at(context, page)
    total = len(found.page.blocks) if found.source is not None else 0
    said = explanation(found) if total else None
    wanted = [place for place in range(total) if _is_wanted(found, place, which)]
    first = max(0, start)
    after = first + AT_ONCE
    return PageBlocks(
        page,
        found.row["crawl"],
        found.row["title"],
        found.source is not None,
        found.damage,
        found.method,
        total > 0 and bool(found.extraction.text) and not found.extraction.blocks,
        said.limit if said is not None else None,
        said.share if said is not None else None,
        said.best if said is not None else None,
        total,
        len(found.kept) if total else 0,
        len(wanted),
        said is not None and len(said.blocks) <= MOST_EXPLAINED,
        tuple(_block(found, place) for place in wanted[first:after]),
        after if after < len(wanted) else None,
    )


def _is_wanted(found: Reread, place: int, which: str) -> bool:
    if which == "doubt":
        said, mine = explanation(found), _explained(found, place)
        return said is not None and mine is not None and abs(mine.probability - said.limit) <= NEAR
    return which == "all" or (place in found.kept) == (which == "kept")


@slow(router.get("/pages/{page}/blocks"))
def show(context: Context, request: Request, page: Number, which: WhichBlocks = "all", start: Start = 0) -> Response:
    """The table of blocks."""
    found = data(context, page, which, start)
    return context.page(
        request, "page_blocks.html", found=found, which=which, choices=WHICH, most=MOST_EXPLAINED, tab="blocks"
    )
