"""The sheet on which people label a page: its blocks, the text of the chosen ones, and the label that is saved."""

import json
import re
import time
from collections import Counter
from collections.abc import Mapping
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
from crawler.contrib.dashboard.edits import Action
from crawler.contrib.dashboard.views.page import ShownPage, page_at
from crawler.contrib.dashboard.views.page_facts import read_facts
from crawler.contrib.lab.views.labels import crawl_to_label, uncertain_pages
from crawler.extraction import version
from crawler.extraction.output.plain_text import plain
from crawler.metadata.date_notation import checked
from crawler.store.batch.images import label_key
from crawler.store.labels import Label, put_label
from crawler.store.page_tables import LabelKind, label
from crawler.translation.message import N_

MOST_BLOCKS = 5_000
MOST_SOURCE = 8_000_000
TOO_LONG = N_("This page is too long to be labelled: it has more than 5,000 blocks, or more than 8 MB.")
FIELD = "block-"
CORRECTED = ("title", "author", "published")
"""What people can correct beside the text."""
MOST_VALUE = 500
UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
"""Control characters, and signs that turn the direction of what follows them: a field of a form does not isolate it."""
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
LONG = 1_500
"""Characters of a block that are shown."""
SHORT = 200
"""Characters of a block that are shown if the page has very many blocks."""
FILL = 300_000
LINKED = 0.5
"""The share of a block's characters in links from which it is marked as links."""
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A block of a page on the sheet."""

    place: int
    text: str
    more: int
    """Characters that are not shown; they belong to the block all the same."""
    tag: str
    heading: bool
    links: bool
    repeated: bool
    """Whether the page has the same text elsewhere."""
    found: bool
    """Whether the extractor takes it as main text."""
    kept: bool
    """Whether it is currently chosen as main text: by its label, or else by the extractor."""


class Sheet:
    """A page whose blocks can be labelled; a RefusedError says why one cannot."""

    def __init__(self, found: ShownPage) -> None:
        if found.damage:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
        if found.source is None:
            raise RefusedError(
                HTTPStatus.NOT_FOUND,
                "The response of this page was not stored; a crawl with a larger KEEP_RESPONSES stores more responses.",
            )
        if len(found.source) > MOST_SOURCE or len(found.page.blocks) > MOST_BLOCKS:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
        self.found = found
        self.source = found.source

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits that identify the source of the blocks."""
        digest = blake2b(self.source, digest_size=8)
        digest.update(version(self.found.method).encode())
        return digest.hexdigest()

    def lines(self, kept: frozenset[int]) -> tuple[SheetLine, ...]:
        blocks = self.found.page.blocks
        times = Counter(block.text for block in blocks)
        lines = []
        letters = 0
        for place, block in enumerate(blocks):
            shown = block.text[: LONG if letters < FILL else SHORT]
            letters += len(shown)
            lines.append(
                SheetLine(
                    place=place,
                    text=shown,
                    more=len(block.text) - len(shown),
                    tag=block.tag,
                    heading=block.tag in HEADINGS,
                    links=block.linked > LINKED * len(block.text),
                    repeated=times[block.text] > 1,
                    found=place in self.found.kept,
                    kept=place in kept,
                )
            )
        return tuple(lines)

    def text(self, places: frozenset[int]) -> str:
        blocks = self.found.page.blocks
        return plain([blocks[place] for place in sorted(places)])

    def label(self, places: frozenset[int], values: Mapping[str, str]) -> Label:
        """The label that chooses these blocks, and says this of the page."""
        row = self.found.row
        detail = {
            "number": row["id"],
            "fingerprint": self.fingerprint,
            "extractor": version(self.found.method),
            "language": row["language"] or "",
            "page_type": row["page_type"] or self.found.extraction.page_type,
            "content_type": self.found.headers.get("content-type", ""),
            "fetched_at": self.found.source_at,
            "of": len(self.found.page.blocks),
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
        """Title, author and date as an earlier label has them, else as they are read now."""
        labelled = json.loads(detail) if detail is not None else {}
        facts = read_facts(self.found)
        facts["published"] = facts["published"][: len("2026-11-27")]
        return {name: UNWANTED.sub("", labelled.get(name, facts[name])) for name in CORRECTED}

    def corrected(self, form: Mapping[str, str]) -> dict[str, str]:
        """Title, author and date in a form; raises a RefusedError if the date is none."""
        values = {name: UNWANTED.sub("", form[name]).strip()[:MOST_VALUE] for name in CORRECTED if name in form}
        day = values.get("published", "")
        if day and not (DAY.fullmatch(day) and checked(*map(int, day.split("-")))):
            raise RefusedError(
                HTTPStatus.BAD_REQUEST, "A date is a day up to today, written like 2026-11-27, or left empty."
            )
        return values

    def labelled_before(self, detail: str) -> frozenset[int] | None:
        """The blocks chosen by an earlier label; None if it was for another source."""
        labelled = json.loads(detail)
        if labelled["fingerprint"] == self.fingerprint:
            return frozenset(labelled["blocks"])
        return None

    def chosen(self, form: Mapping[str, str]) -> frozenset[int]:
        """The blocks that a form names; raises a RefusedError if one does not exist, or the page has changed."""
        if form.get("fingerprint") != self.fingerprint:
            raise RefusedError(
                HTTPStatus.CONFLICT, "This page was fetched again since it was opened here; open it again."
            )
        places = [name.removeprefix(FIELD) for name in form if name.startswith(FIELD)]
        count = len(self.found.page.blocks)
        if not all(place.isascii() and place.isdigit() and len(place) < 6 and int(place) < count for place in places):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "There is no such block on this page.")
        return frozenset(map(int, places))


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
    """Whether its text is in its scripts, and so in none of its blocks."""
    marked: bool
    """Whether it has a label in its current form."""
    outdated: bool
    """Whether it has a label for an earlier form."""
    values: dict[str, str]
    """Title, author and day of publication, to be corrected."""
    lines: tuple[SheetLine, ...]
    text: str


@slow(api.get("/api/labels/pages/{page}", summary=N_("The blocks of a page, to be labelled")))
def data(context: Context, page: Number, anew: Anew = False) -> LabelSheet:
    """The blocks of a page."""
    read = page_at(context, page)
    sheet = Sheet(read)
    row = read.row
    detail = _detail(context, read)
    before = sheet.labelled_before(detail) if detail is not None else None
    kept = read.kept if before is None or anew else before
    return LabelSheet(
        *(row["id"], row["crawl"], row["url"], row["title"]),
        *(sheet.fingerprint, read.method, row["certainty"]),
        older=read.source_at != row["fetched_at"],
        elsewhere=bool(read.extraction.text) and not read.kept,
        marked=before is not None,
        outdated=detail is not None and before is None,
        values=sheet.values(None if anew else detail),
        lines=sheet.lines(kept),
        text=sheet.text(kept),
    )


def _detail(context: DashboardContext, read: ShownPage) -> str | None:
    key = label_key(read.row["crawl"], LabelKind.TEXT, read.row["url"], read.row["url"])
    with context.reading() as connection:
        return connection.execute(select(label.c.detail).where(label.c.key == key)).scalar_one_or_none()


@slow(router.get("/labels/pages/{page}"))
def show(context: Context, request: Request, page: Number, anew: Anew = False) -> Response:
    return context.page(request, "labels_page.html", sheet=data(context, page, anew))


@slow(router.get("/labels/pages/{page}/skip"))
def skip(context: Context, page: Number) -> Response:
    return _next(context, page_at(context, page))


@slow(router.post("/labels/pages/{page}"))
def save(context: Context, request: Request, page: Number, nothing: Annotated[bool, Query()] = False) -> Response:
    read = page_at(context, page)
    sheet = Sheet(read)
    places = sheet.chosen(request.query_params)
    values = sheet.corrected(request.query_params)
    with context.changing() as engine:
        put_label(engine, sheet.label(frozenset() if nothing else places, values))
    context.record(request, Action.TEXT_LABELLED, read.row["url"])
    return _next(context, read)


@slow(router.post("/labels/pages/{page}/preview"))
def preview(context: Context, request: Request, page: Number) -> Response:
    """The text of the chosen blocks; nothing is saved."""
    sheet = Sheet(page_at(context, page))
    text = sheet.text(sheet.chosen(request.query_params))
    return context.page(request, "labels_preview.html", number=page, text=text)


def _next(context: DashboardContext, read: ShownPage) -> Response:
    name = read.row["crawl"]
    with context.reading() as connection:
        of = crawl_to_label(connection, name)
        pages, after = uncertain_pages(connection, of, read.row["id"], 1) if of is not None else ((), 0)
    if pages:
        return see_other(f"/labels/pages/{pages[0].id}")
    return see_other(f"/labels?{urlencode({'crawl': name, 'after': after})}")
