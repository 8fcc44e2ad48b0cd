"""The blocks of a stored page: whether each is main text, and why. They are shown in a table, and tinted in the
original.

The method `auto` computes a probability for each block and explains it. A later step may decide otherwise; then
`_other_reason` names this step. Other methods compute no probabilities.
"""

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, ReasonObject, Sentence, Whole, language_of, slow
from crawler.contrib.dashboard.views.metadata_blocks import fact_blocks
from crawler.contrib.dashboard.views.page import METHOD, ShownPage, page_at
from crawler.contrib.dashboard.views.page_original import document, original, sheet
from crawler.extraction.auto.explanation import MOST_EXPLAINED, BlockReason, PageExplanation, explain
from crawler.extraction.extractor_fallback import is_doubtful
from crawler.translation.message import N_, catalogue_of
from crawler.translation.reasons import Reason

MOST_TINTED = 1_000_000
"""Bytes of a source whose blocks have reasons in the original: for a larger source, computing them takes too long."""
AT_ONCE = 200
"""The most blocks in a part of the list."""
DOUBT_DISTANCE = 0.25
"""The distance of a probability from the limit within which a block is in doubt."""
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
    """Its index among all blocks of the page."""
    text: str
    tag: str
    linked: float
    """The share of its text that is in links."""
    kept: bool
    """Whether it is main text."""
    probability: float | None
    """The probability that it is main text; None if the method computes none."""
    reasons: tuple[ReasonObject, ...]


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks of a page."""

    page: int
    crawl: str
    title: str
    has_source: bool
    damage: Sentence | None
    """Why the source of a stored response is not shown; None if it is, or if no response was stored."""
    method: str
    in_scripts: bool
    """Whether the main text is in the page's scripts, and in no block."""
    limit: float | None
    """The least probability of a block that is kept: `share` times `best`."""
    share: float | None
    """The weight of precision in the F score."""
    best: float | None
    """The best F score of a main text that can be expected on this page."""
    total: int
    """All blocks."""
    kept: int
    """Blocks of main text."""
    matching: int
    """Blocks of the requested kind."""
    is_explained: bool
    """Whether there are few enough blocks to give reasons."""
    blocks: tuple[PageBlock, ...]
    next: int | None
    """The value of `start` for the next part."""


def explanation(shown_page: ShownPage) -> PageExplanation | None:
    """The model's explanation of a page; None if another method reads the page."""
    if shown_page.method == METHOD:
        return shown_page.page.once(explain)
    return None


def blocks(shown_page: ShownPage) -> list[PageBlock]:
    """All blocks of a page, in order."""
    page_explanation = explanation(shown_page)
    page_blocks = []
    for index, block in enumerate(shown_page.page.blocks):
        kept = index in shown_page.kept
        probability: float | None = None
        reasons: tuple[Reason, ...] = ()
        if page_explanation is not None and index < len(page_explanation.blocks):  # the model judges the first blocks
            block_explanation = page_explanation.blocks[index]
            probability = block_explanation.probability
            reasons = block_explanation.reasons
            if kept != (probability >= page_explanation.limit):  # another step decided
                reasons = (_other_reason(shown_page, index),)

        page_blocks.append(
            PageBlock(
                place=index,
                text=block.text,
                tag=block.tag,
                linked=block.linked / max(1, len(block.text)),
                kept=kept,
                probability=probability,
                reasons=reasons,
            )
        )
    return page_blocks


def _other_reason(shown_page: ShownPage, index: int) -> Reason:
    """Why a block with a probability below the limit is kept, or one with a higher probability is left out."""
    if index in shown_page.common:
        return Reason(BlockReason.COMMON, {})
    if is_doubtful(shown_page.extraction):
        return Reason(BlockReason.IN_DOUBT, {})
    return Reason(BlockReason.PART, {})


@slow(api.get("/api/pages/{page}/blocks", summary=N_("The blocks of a page, and why each is main text or not")))
def data(context: Context, page: Number, which: WhichBlocks = "all", start: Start = 0) -> PageBlocks:
    """The requested blocks of a page, a part at a time."""
    shown_page = page_at(context, page)
    total = 0
    page_explanation: PageExplanation | None = None
    matching_blocks: list[PageBlock] = []
    if shown_page.source is not None and shown_page.page.blocks:
        total = len(shown_page.page.blocks)
        page_explanation = explanation(shown_page)
        matching_blocks = [block for block in blocks(shown_page) if _matches(block, which, page_explanation)]

    first = max(0, start)
    end = first + AT_ONCE
    return PageBlocks(
        page=page,
        crawl=shown_page.row["crawl"],
        title=shown_page.row["title"],
        has_source=shown_page.source is not None,
        damage=shown_page.damage,
        method=shown_page.method,
        in_scripts=total > 0 and bool(shown_page.extraction.text) and not shown_page.extraction.blocks,
        limit=page_explanation.limit if page_explanation is not None else None,
        share=page_explanation.share if page_explanation is not None else None,
        best=page_explanation.best if page_explanation is not None else None,
        total=total,
        kept=len(shown_page.kept) if total else 0,
        matching=len(matching_blocks),
        is_explained=page_explanation is not None and len(page_explanation.blocks) <= MOST_EXPLAINED,
        blocks=tuple(matching_blocks[first:end]),
        next=end if end < len(matching_blocks) else None,
    )


def _matches(block: PageBlock, which: str, page_explanation: PageExplanation | None) -> bool:
    """Whether a block is of the requested kind."""
    if which == "doubt":
        return (
            page_explanation is not None
            and block.probability is not None
            and abs(block.probability - page_explanation.limit) <= DOUBT_DISTANCE
        )
    return which == "all" or block.kept == (which == "kept")


@slow(router.get("/pages/{page}/blocks"))
def show(context: Context, request: Request, page: Number, which: WhichBlocks = "all", start: Start = 0) -> Response:
    page_blocks = data(context, page, which, start)
    return context.page(
        request, "page_blocks.html", found=page_blocks, which=which, choices=WHICH, most=MOST_EXPLAINED, tab="blocks"
    )


@slow(router.get("/pages/{page}/original"))
def show_original(context: Context, request: Request, page: Number) -> Response:
    """The original, for a frame: a document of its own without scripts and forms, which can load nothing."""
    shown_page = page_at(context, page)
    if shown_page.source is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "The source of this page is not stored.")
    _ = catalogue_of(language_of(request)).gettext
    is_large = len(shown_page.source) > MOST_TINTED or len(shown_page.page.blocks) > MOST_EXPLAINED
    notes = _notes(shown_page, _)
    if is_large:
        marked_page = original(shown_page.page, shown_page.kept, {}, {})
        notes.append(_("The page is too large to show reasons here; see its blocks."))
    else:
        marked_page = original(shown_page.page, shown_page.kept, _hints(shown_page, _), fact_blocks(shown_page))
    if marked_page.is_cut:
        notes.append(_("Only its beginning is shown: the page is too large."))
    body = document(marked_page, language_of(request), shown_page.row["title"], notes)
    return HTMLResponse(body, headers={"Content-Security-Policy": sheet().policy})


def _hints(shown_page: ShownPage, _: Callable[..., str]) -> dict[int, str]:
    """A sentence for each block, by its index: whether it is kept, its probability, and the reasons. `_` translates."""
    hint_of_block: dict[int, str] = {}
    for block in blocks(shown_page):
        hint = _("kept") if block.kept else _("left out")
        if block.probability is not None:
            hint += f" ({block.probability:.0%})"
        if block.reasons:
            reasons = _("; ").join(_(reason.message) for reason in block.reasons)
            hint += f": {reasons}"
        hint_of_block[block.place] = hint
    return hint_of_block


def _notes(shown_page: ShownPage, _: Callable[..., str]) -> list[str]:
    """Notes above the original, about what differs from the stored text or is missing."""
    notes = []
    row = shown_page.row
    extraction = shown_page.extraction

    # About the text.
    if shown_page.method != row["extractor"]:
        notes.append(
            _(
                "The dashboard does not run {method}; the highlights are those of {other}.",
                method=row["extractor"],
                other=shown_page.method,
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

    # About the source.
    if shown_page.source_at and shown_page.source_at != row["fetched_at"]:
        notes.append(_("This source is older than the text: it was not stored when the page was last fetched."))
    if shown_page.page.ended or extraction.ended:
        notes.append(_("The page is too large: it was not read to its end."))
    return notes
