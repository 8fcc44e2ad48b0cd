"""The form in which people label a page: its blocks, the text of the chosen blocks, and the label that is saved.

A label has the numbers of its blocks on the page, which depend on the source of the page and on the extractor. So the
label has a fingerprint of both. If the page now has another fingerprint, only the text of the label is still of use.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import select

from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, DashboardContext, Number, see_other, slow
from crawler.contrib.dashboard.edit_record import Action
from crawler.contrib.dashboard.views.metadata_blocks import read_facts
from crawler.contrib.dashboard.views.page import ShownPage, page_at
from crawler.contrib.lab.views.labels import UncertainPage, crawl_to_label, uncertain_pages
from crawler.extraction import version
from crawler.extraction.output.plain_text import plain
from crawler.metadata.date_notation import possible_day
from crawler.store.batch.images import label_key
from crawler.store.labels import Label, put_label
from crawler.store.page_tables import LabelKind, label
from crawler.translation.message import N_

MOST_BLOCKS = 5_000
MOST_SOURCE_BYTES = 8_000_000
TOO_LONG = N_("This page is too long to be labelled: it has more than 5,000 blocks, or more than 8 MB.")
FIELD = "block-"
"""The prefix of the fields of the form that choose blocks."""
CORRECTED = ("title", "author", "published")
"""The metadata that people can correct, besides the text."""
MOST_VALUE = 500
"""Characters of a corrected value that are saved."""
UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that change the direction of the text after them, which form fields do not isolate."""
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
BLOCK_CHARACTERS = 1_500
"""Characters of a block that are shown."""
LATE_BLOCK_CHARACTERS = 200
"""Characters of a block that are shown if the earlier blocks have shown MANY_CHARACTERS."""
MANY_CHARACTERS = 300_000
"""After this many shown characters of a page, long blocks are shortened more."""
LINKED_SHARE = 0.5
"""A block is marked as links if a larger share of its characters is in links."""
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A block of a page on the sheet."""

    place: int
    """The number of the block on the page, from 0."""
    text: str
    more: int
    """Characters of the block that are not shown."""
    tag: str
    heading: bool
    links: bool
    """Whether the block consists mostly of links."""
    repeated: bool
    """Whether the page has the same text elsewhere."""
    found: bool
    """Whether the extractor chose the block as main text."""
    kept: bool
    """Whether the sheet shows the block as chosen: by an earlier label, or without one by the extractor."""


class Sheet:
    """A page whose blocks can be labelled; raises a RefusedError if the page cannot be labelled.

    `places` are numbers of blocks, as in `SheetLine.place`.
    """

    def __init__(self, shown: ShownPage) -> None:
        if shown.damage:  # the stored response is too large to be read; documents are not offered for labelling
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
        if shown.source is None:
            raise RefusedError(
                HTTPStatus.NOT_FOUND,
                "The response of this page was not stored; a crawl with a larger KEEP_RESPONSES stores more responses.",
            )
        if len(shown.source) > MOST_SOURCE_BYTES or len(shown.page.blocks) > MOST_BLOCKS:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
        self.shown = shown
        self.source = shown.source

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that identify the source of the page and the version of the extractor."""
        digest = blake2b(self.source, digest_size=8)
        digest.update(version(self.shown.method).encode())
        return digest.hexdigest()

    def lines(self, kept: frozenset[int]) -> tuple[SheetLine, ...]:
        """The blocks of the page; `kept` are the numbers of the blocks that are shown as chosen."""
        blocks = self.shown.page.blocks
        counts = Counter(block.text for block in blocks)
        lines = []
        shown_characters = 0
        for place, block in enumerate(blocks):
            most = BLOCK_CHARACTERS if shown_characters < MANY_CHARACTERS else LATE_BLOCK_CHARACTERS
            text = block.text[:most]
            shown_characters += len(text)
            lines.append(
                SheetLine(
                    place=place,
                    text=text,
                    more=len(block.text) - len(text),
                    tag=block.tag,
                    heading=block.tag in HEADINGS,
                    links=block.linked > LINKED_SHARE * len(block.text),
                    repeated=counts[block.text] > 1,
                    found=place in self.shown.kept,
                    kept=place in kept,
                )
            )
        return tuple(lines)

    def text(self, places: frozenset[int]) -> str:
        """The text of these blocks."""
        blocks = self.shown.page.blocks
        return plain([blocks[place] for place in sorted(places)])

    def label(self, places: frozenset[int], values: Mapping[str, str]) -> Label:
        """The label that chooses these blocks, and has these metadata."""
        row = self.shown.row
        detail = {
            "number": row["id"],
            "fingerprint": self.fingerprint,
            "extractor": version(self.shown.method),
            "language": row["language"] or "",
            "page_type": row["page_type"] or self.shown.extraction.page_type,
            "content_type": self.shown.headers.get("content-type", ""),
            "fetched_at": self.shown.source_at,
            "of": len(self.shown.page.blocks),
            "blocks": sorted(places),
            **values,
        }
        return Label(
            kind=LabelKind.TEXT,
            crawl=row["crawl"],
            url=row["url"],
            page=row["url"],
            value=self.text(places),
            detail=json.dumps(detail, ensure_ascii=False),
            source=self.source,
            said_at=time.time(),
        )

    def values(self, detail: str | None = None) -> dict[str, str]:
        """Title, author and date from the details of an earlier label; without a label, as they are extracted now."""
        label_values = json.loads(detail) if detail is not None else {}
        facts = read_facts(self.shown)
        facts["published"] = facts["published"][: len("2026-11-27")]
        return {name: UNWANTED.sub("", label_values.get(name, facts[name])) for name in CORRECTED}

    def corrected(self, form: Mapping[str, str]) -> dict[str, str]:
        """Title, author and date as a form corrects them; raises a RefusedError if the date is invalid."""
        values = {name: UNWANTED.sub("", form[name]).strip()[:MOST_VALUE] for name in CORRECTED if name in form}
        day = values.get("published", "")
        if day and not (DAY.fullmatch(day) and possible_day(*map(int, day.split("-")))):
            raise RefusedError(
                HTTPStatus.BAD_REQUEST, "A date is a day up to today, written like 2026-11-27, or left empty."
            )
        return values

    def blocks_of_label(self, detail: str) -> frozenset[int] | None:
        """The blocks of an earlier label with these details; None if the label is for another source."""
        label_values = json.loads(detail)
        if label_values["fingerprint"] == self.fingerprint:
            return frozenset(label_values["blocks"])
        return None

    def chosen(self, form: Mapping[str, str]) -> frozenset[int]:
        """The blocks that a form chooses; raises a RefusedError if one does not exist, or if the page has changed."""
        if form.get("fingerprint") != self.fingerprint:
            raise RefusedError(
                HTTPStatus.CONFLICT, "This page was fetched again since it was opened here; open it again."
            )
        digits = [name.removeprefix(FIELD) for name in form if name.startswith(FIELD)]
        count = len(self.shown.page.blocks)
        # `int` would also read other digits than ASCII, and refuses very long numbers with another error.
        if not all(text.isascii() and text.isdigit() and len(text) < 6 and int(text) < count for text in digits):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "There is no such block on this page.")
        return frozenset(map(int, digits))


router = APIRouter()
api = APIRouter()
Anew = Annotated[
    bool, Query(description=N_("whether to begin with the extractor's choice instead of an earlier label"))
]


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """A page whose blocks can be labelled."""

    id: int
    crawl: str
    url: str
    title: str
    fingerprint: str
    """Identifies the source of the blocks; a label must contain it."""
    method: str
    """The extraction method that suggests the main text."""
    certainty: float | None
    older: bool
    """Whether the stored source is older than the page."""
    elsewhere: bool
    """Whether the text of the page was found in its scripts, and not in its blocks."""
    marked: bool
    """Whether the page has a label for its current source."""
    outdated: bool
    """Whether the page has a label for an earlier source."""
    values: dict[str, str]
    """Title, author and day of publication, to be corrected."""
    lines: tuple[SheetLine, ...]
    text: str


@slow(api.get("/api/labels/pages/{page}", summary=N_("The blocks of a page, to be labelled")))
def data(context: Context, page: Number, anew: Anew = False) -> LabelSheet:
    """The blocks of a page, chosen as in its label if it has one for its current source."""
    shown = page_at(context, page)
    sheet = Sheet(shown)
    row = shown.row
    detail = _detail(context, shown)
    labelled_blocks = sheet.blocks_of_label(detail) if detail is not None else None
    kept = shown.kept if labelled_blocks is None or anew else labelled_blocks
    return LabelSheet(
        id=row["id"],
        crawl=row["crawl"],
        url=row["url"],
        title=row["title"],
        fingerprint=sheet.fingerprint,
        method=shown.method,
        certainty=row["certainty"],
        older=shown.source_at != row["fetched_at"],
        elsewhere=bool(shown.extraction.text) and not shown.kept,
        marked=labelled_blocks is not None,
        outdated=detail is not None and labelled_blocks is None,
        values=sheet.values(None if anew else detail),
        lines=sheet.lines(kept),
        text=sheet.text(kept),
    )


def _detail(context: DashboardContext, shown: ShownPage) -> str | None:
    """The details of the label that a page has, as JSON."""
    key = label_key(shown.row["crawl"], LabelKind.TEXT, shown.row["url"], shown.row["url"])
    with context.reading() as connection:
        return connection.execute(select(label.c.detail).where(label.c.key == key)).scalar_one_or_none()


@slow(router.get("/labels/pages/{page}"))
def show(context: Context, request: Request, page: Number, anew: Anew = False) -> Response:
    return context.page(request, "labels_page.html", sheet=data(context, page, anew))


@slow(router.get("/labels/pages/{page}/skip"))
def skip(context: Context, page: Number) -> Response:
    return _to_next_page(context, page_at(context, page))


@slow(router.post("/labels/pages/{page}"))
def save(context: Context, request: Request, page: Number, nothing: Annotated[bool, Query()] = False) -> Response:
    """Save the label that a form describes; with `nothing`, the page has no main text, whatever blocks are chosen."""
    shown = page_at(context, page)
    sheet = Sheet(shown)
    places = sheet.chosen(request.query_params)
    values = sheet.corrected(request.query_params)
    with context.changing() as engine:
        put_label(engine, sheet.label(frozenset() if nothing else places, values))
    context.record(request, Action.TEXT_LABELLED, shown.row["url"])
    return _to_next_page(context, shown)


@slow(router.post("/labels/pages/{page}/preview"))
def preview(context: Context, request: Request, page: Number) -> Response:
    """The text of the chosen blocks; nothing is saved."""
    sheet = Sheet(page_at(context, page))
    text = sheet.text(sheet.chosen(request.query_params))
    return context.page(request, "labels_preview.html", number=page, text=text)


def _to_next_page(context: DashboardContext, shown: ShownPage) -> Response:
    """A redirect to the next page to label; to the list of pages if none of those that were checked can be labelled."""
    name = shown.row["crawl"]
    with context.reading() as connection:
        crawl = crawl_to_label(connection, name)
        pages: Sequence[UncertainPage] = ()
        after = 0
        if crawl is not None:
            pages, after = uncertain_pages(connection, crawl, shown.row["id"], 1)
    if pages:
        return see_other(f"/labels/pages/{pages[0].id}")
    return see_other(f"/labels?{urlencode({'crawl': name, 'after': after})}")
