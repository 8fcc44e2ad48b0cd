"""The blocks of a stored page: which are main text, how likely, and why, in a table and as tints in the original."""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, ReasonObject, Sentence, Whole, language_of, slow
from crawler.contrib.dashboard.views.page import METHOD, ShownPage, page_at
from crawler.contrib.dashboard.views.page_facts import fact_blocks
from crawler.contrib.dashboard.views.page_original import document, original, sheet
from crawler.extraction.auto.explanation import MOST_EXPLAINED, BlockReason, PageExplanation, explain
from crawler.extraction.extractor_fallback import is_doubtful
from crawler.translation.message import N_, catalogue_of
from crawler.translation.reasons import Reason

MOST_TINTED = 1_000_000
"""Bytes of a source whose tints say why at once; larger ones take long enough to be read."""
AT_ONCE = 200
NEAR = 0.25
"""How far from the limit a block may be that is in doubt."""
Which = Literal["all", "kept", "left", "doubt"]
WHICH: tuple[Which, ...] = get_args(Which)
router = APIRouter()
api = APIRouter()
WhichBlocks = Annotated[Which, Query(description=N_("the blocks that are shown"))]
Start = Annotated[Whole, Query(description=N_("how many to skip"))]


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
    in_scripts: bool
    """Whether the main text stands in the page's scripts, and in no block."""
    limit: float | None
    """How likely a block must be main text."""
    share: float | None
    """Of the best F that can be expected."""
    best: float | None
    total: int
    kept: int
    matching: int
    """Blocks of the sort that was asked for."""
    is_explained: bool
    blocks: tuple[PageBlock, ...]
    next: int | None
    """Where the next ones start."""


def explanation(found: ShownPage) -> PageExplanation | None:
    """What the model says of a page; None where another method reads it."""
    return found.page.once(explain) if found.method == METHOD else None


def blocks(found: ShownPage) -> list[PageBlock]:
    said = explanation(found)
    made = []
    for place, block in enumerate(found.page.blocks):
        mine = said.blocks[place] if said is not None and place < len(said.blocks) else None
        kept = place in found.kept
        reasons = mine.reasons if mine is not None else ()
        if mine is not None and said is not None and kept != (mine.probability >= said.limit):
            as_a_whole = BlockReason.IN_DOUBT if is_doubtful(found.extraction) else BlockReason.PART
            reasons = (Reason(BlockReason.COMMON if place in found.common else as_a_whole, {}),)
        probability = mine.probability if mine is not None else None
        linked = block.linked / max(1, len(block.text))
        made.append(
            PageBlock(
                place=place,
                text=block.text,
                tag=block.tag,
                linked=linked,
                kept=kept,
                probability=probability,
                reasons=reasons,
            )
        )
    return made


@slow(api.get("/api/pages/{page}/blocks", summary=N_("The blocks of a page, and why each is main text or not")))
def data(context: Context, page: Number, which: WhichBlocks = "all", start: Start = 0) -> PageBlocks:
    """The blocks of a page that were asked for."""
    found = page_at(context, page)
    total = len(found.page.blocks) if found.source is not None else 0
    said = explanation(found) if total else None
    wanted = [block for block in blocks(found) if _is_wanted(block, which, said)] if total else []
    first = max(0, start)
    after = first + AT_ONCE
    return PageBlocks(
        page=page,
        crawl=found.row["crawl"],
        title=found.row["title"],
        has_source=found.source is not None,
        damage=found.damage,
        method=found.method,
        in_scripts=total > 0 and bool(found.extraction.text) and not found.extraction.blocks,
        limit=said.limit if said is not None else None,
        share=said.share if said is not None else None,
        best=said.best if said is not None else None,
        total=total,
        kept=len(found.kept) if total else 0,
        matching=len(wanted),
        is_explained=said is not None and len(said.blocks) <= MOST_EXPLAINED,
        blocks=tuple(wanted[first:after]),
        next=after if after < len(wanted) else None,
    )


def _is_wanted(block: PageBlock, which: str, said: PageExplanation | None) -> bool:
    if which == "doubt":
        return said is not None and block.probability is not None and abs(block.probability - said.limit) <= NEAR
    return which == "all" or block.kept == (which == "kept")


@slow(router.get("/pages/{page}/blocks"))
def show(context: Context, request: Request, page: Number, which: WhichBlocks = "all", start: Start = 0) -> Response:
    found = data(context, page, which, start)
    return context.page(
        request, "page_blocks.html", found=found, which=which, choices=WHICH, most=MOST_EXPLAINED, tab="blocks"
    )


@slow(router.get("/pages/{page}/original"))
def show_original(context: Context, request: Request, page: Number) -> Response:
    """The original, for a frame: a document of its own that nothing can act in, and that can ask for nothing."""
    found = page_at(context, page)
    if found.source is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "The source of this page is not stored.")
    _ = catalogue_of(language_of(request)).gettext
    is_large = len(found.source) > MOST_TINTED or len(found.page.blocks) > MOST_EXPLAINED
    facts = {} if is_large else fact_blocks(found)
    made = original(found.page, found.kept, {} if is_large else _whys(found, _), facts)
    notes = _notes(found, _)
    if is_large:
        notes.append(_("The page is too large to show reasons here; see its blocks."))
    if made.is_cut:
        notes.append(_("Only its beginning is shown: the page is too large."))
    body = document(made, language_of(request), found.row["title"], notes)
    return HTMLResponse(body, headers={"Content-Security-Policy": sheet()[1]})


def _whys(found: ShownPage, _: Callable[..., str]) -> dict[int, str]:
    said: dict[int, str] = {}
    for block in blocks(found):
        reasons = _("; ").join(_(one.message) for one in block.reasons)
        verdict = _("kept") if block.kept else _("left out")
        likely = f" ({block.probability:.0%})" if block.probability is not None else ""
        said[block.place] = f"{verdict}{likely}" + (f": {reasons}" if reasons else "")
    return said


def _notes(found: ShownPage, _: Callable[..., str]) -> list[str]:
    notes = []
    row = found.row
    extraction = found.extraction
    if found.method != row["extractor"]:
        notes.append(
            _(
                "The dashboard does not run {method}; the highlights are those of {other}.",
                method=row["extractor"],
                other=found.method,
            )
        )
    if extraction.text and not extraction.blocks:
        notes.append(_("The text is in the page's scripts, not in what it shows, so nothing is highlighted."))
    elif extraction.text != row["text"]:
        notes.append(
            _(
                "Extracted again, the text differs a little from the stored one: another release extracted that, or "
                "removed what the pages of the site share."
            )
        )
    if found.source_at and found.source_at != row["fetched_at"]:
        notes.append(_("This source is older than the text: it was not stored when the page was last fetched."))
    if found.page.ended or extraction.ended:
        notes.append(_("The page is too large: it was not read to its end."))
    return notes
