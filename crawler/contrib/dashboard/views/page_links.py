"""Where a page leads: what was first found on it, all links of its source, and its images."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy import Connection, Row, Select, and_, func, or_, select

from crawler.checked_settings import canonical_of
from crawler.contrib.dashboard.access import RefusedError
from crawler.contrib.dashboard.context import Context, Number, OutcomeObject, ReasonObject, Sentence, Text, slow
from crawler.contrib.dashboard.views.page import ShownPage, stored_page
from crawler.frontier.page_result import AddressKind
from crawler.noise import verdict_reasons
from crawler.outcomes import Code, Outcome
from crawler.store.batch.addresses import AddressKeys
from crawler.store.crawl_tables import AddressState, address
from crawler.store.page_tables import page, verdict
from crawler.topic.priorities import score_of
from crawler.translation.message import N_

STATES = {state: state.name.lower() for state in AddressState}
MOST_FOUND = 5_000
"""Addresses first found on one page that are listed."""
AT_ONCE = 100
Sort = Literal["found", "all", "images"]
SORTS: tuple[Sort, ...] = get_args(Sort)
_CURSOR = re.compile(r"(-?[0-9]{1,10})\.([0-9]{1,18})", re.ASCII)
WRONG_AFTER = N_("after is wrong; use the value from the previous response")
router = APIRouter()
api = APIRouter()
Of = Annotated[Sort, Query(description=N_("first found on the page, all in its source, or its images"))]
After = Annotated[Text, Query(description=N_("where to continue: the value of next from the previous response"))]


_FOUND = (
    *(address.c[name] for name in "id key url kind priority state outcome outcome_detail".split()),
    *(page.c.id.label("page"), page.c.title, page.c.relevance),
)
_BECAME = address.outerjoin(page, page.c.key == address.c.key)


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of a page."""

    url: str
    anchor: str | None
    """Its text; None where the source does not have it, or is not kept."""
    kind: str
    score: float | None
    """What it promises, from 0 to 1; None of seeds, what was chosen by chance, and what else has none."""
    state: str
    """waiting, held, done, recorded, or empty where the crawl does not know the address."""
    outcome: OutcomeObject | None
    """Why it brought nothing, where it did not."""
    page: int | None
    """The number of the page that it became."""
    title: str | None
    relevance: float | None


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image of a page."""

    url: str
    alt: str
    target: str
    """Where it links to."""
    verdict: int | None
    noise: bool | None
    """None where it was not judged."""
    probability: float | None
    reasons: tuple[ReasonObject, ...]
    decided_by: str


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Links or images of a page."""

    page: int
    crawl: str
    title: str
    has_source: bool
    damage: Sentence | None
    """Why what was kept of its source cannot be read."""
    of: str
    total: int
    is_cut: bool
    """Whether more was first found on it than is listed."""
    unread: int
    """Links and images that were not read as the page has too many."""
    links: tuple[PageLink, ...]
    images: tuple[PageImage, ...]
    next: str | None


@slow(api.get("/api/pages/{page}/links", summary=N_("Links or images of a page, and their outcomes")))
def data(context: Context, page: Number, of: Of = "found", after: After = "") -> PageLinks:
    """Links or images of a page, a hundred at a time."""
    with context.reading() as connection:
        shown_page = stored_page(connection, page)
        if of == "found":
            rows = found_on(connection, shown_page.row["key"], _cursor(after), AT_ONCE + 1)
            total, is_cut = found_count(connection, shown_page.row["key"])
    if of == "found":
        return replace(_first_found(shown_page, rows), total=total, is_cut=is_cut)
    _ = shown_page.page.links  # read before the next look at the database: a large page takes its time
    with context.reading() as connection:
        keys = AddressKeys(shown_page.row["crawl_id"], canonical_of(context.settings))
        return _of_source(connection, shown_page, keys, of, after)


def found_on(connection: Connection, key: int, after: tuple[int, int] | None = None, most: int = 100) -> list[Row[Any]]:
    """The addresses that were first found on the page of this key, the most promising first, from a place on.

    A front page that is fetched each day for years was the first to name far more than any page holds: what it
    named after so many is not listed, as to put all in order would take too long.
    """
    first = _numbers_found(key).subquery()
    query = select(first.c.id)
    if after is not None:
        priority, last = after
        lower = and_(first.c.priority == priority, first.c.id > last)
        query = query.where(or_(first.c.priority < priority, lower))
    numbers = list(connection.execute(query.order_by(first.c.priority.desc(), first.c.id).limit(most)).scalars())
    rows = connection.execute(select(*_FOUND).select_from(_BECAME).where(address.c.id.in_(numbers)))
    return sorted(rows, key=lambda row: (-row.priority, row.id))


def found_count(connection: Connection, key: int) -> tuple[int, bool]:
    """How many addresses that were first found on the page of this key are listed, and whether there are more."""
    count = select(func.count()).select_from(_numbers_found(key, 1).subquery())
    number = int(connection.execute(count).scalar_one())
    return min(number, MOST_FOUND), number > MOST_FOUND


def _numbers_found(key: int, more: int = 0) -> Select[tuple[int, int]]:
    """So many of those addresses, in no order: an order would make PostgreSQL search all addresses for them."""
    page_address = select(address.c.id).where(address.c.key == key).scalar_subquery()
    return select(address.c.id, address.c.priority).where(address.c.parent == page_address).limit(MOST_FOUND + more)


def known_by_key(connection: Connection, keys: Collection[int]) -> dict[int, Row[Any]]:
    """The addresses of these keys that the crawl has met."""
    rows = connection.execute(select(*_FOUND).select_from(_BECAME).where(address.c.key.in_(keys)))
    return {row.key: row for row in rows}


def verdicts_by_key(connection: Connection, keys: Collection[int]) -> dict[int, Row[Any]]:
    """What was said of the images of these keys."""
    names = ("key", "id", "noise", "probability", "reasons", "decided_by")
    rows = connection.execute(select(*(verdict.c[name] for name in names)).where(verdict.c.key.in_(keys)))
    return {row.key: row for row in rows}


def _cursor(after: str) -> tuple[int, int] | None:
    if not after:
        return None
    match = _CURSOR.fullmatch(after)
    if match is None:
        raise RefusedError(HTTPStatus.BAD_REQUEST, WRONG_AFTER)
    return int(match[1]), int(match[2])


def _first_found(shown_page: ShownPage, rows: list[Row[Any]]) -> PageLinks:
    """What was first found on the page, the most promising first, with what its source calls it."""
    anchors: dict[str, str] = {}
    for page_link in shown_page.page.links if rows else ():
        if page_link.text:
            anchors.setdefault(page_link.url, page_link.text)
    links = tuple(link(row.url, anchors.get(row.url), row) for row in rows[:AT_ONCE])
    last = rows[AT_ONCE - 1] if len(rows) > AT_ONCE else None
    next_one = f"{last.priority}.{last.id}" if last is not None else None
    return replace(_answer(shown_page, "found", len(rows)), links=links, next=next_one)


def _of_source(connection: Connection, shown_page: ShownPage, keys: AddressKeys, of: Sort, after: str) -> PageLinks:
    """All links, or images, of the source, in its order, each address once."""
    if not re.fullmatch(r"[0-9]{0,6}", after, re.ASCII):
        raise RefusedError(HTTPStatus.BAD_REQUEST, WRONG_AFTER)
    start = int(after or 0)
    end = start + AT_ONCE
    if of == "images":
        images = list({shown_image.url: shown_image for shown_image in shown_page.page.images}.values())
        keyed = [(shown_image, keys(shown_image.url, AddressKind.IMAGE)) for shown_image in images[start:end]]
        verdict_of_key = verdicts_by_key(connection, [key for _, key in keyed])
        shown = tuple(
            _image(shown_image.url, shown_image.alt, shown_image.target, verdict_of_key.get(key))
            for shown_image, key in keyed
        )
        answer = replace(_answer(shown_page, "images", len(images)), images=shown)
    else:
        first: dict[str, str] = {}
        for page_link in shown_page.page.links:
            first[page_link.url] = first.get(page_link.url) or page_link.text
        listed = [(url, text, keys(url)) for url, text in list(first.items())[start:end]]
        row_of_key = known_by_key(connection, [key for _, _, key in listed])
        links = tuple(link(url, text, row_of_key.get(key)) for url, text, key in listed)
        answer = replace(_answer(shown_page, "all", len(first)), links=links)
    return replace(answer, next=str(end) if end < answer.total else None)


def _answer(shown_page: ShownPage, of: str, total: int) -> PageLinks:
    return PageLinks(
        page=shown_page.row["id"],
        crawl=shown_page.row["crawl"],
        title=shown_page.row["title"],
        has_source=shown_page.source is not None,
        damage=shown_page.damage,
        of=of,
        total=total,
        is_cut=False,
        unread=shown_page.page.cut if of != "found" else 0,
        links=(),
        images=(),
        next=None,
    )


def link(url: str, anchor: str | None, row: Row[Any] | None) -> PageLink:
    """A link to an address, given its row if the crawl knows it."""
    if row is None:
        return PageLink(
            url=url,
            anchor=anchor,
            kind=AddressKind.LINK,
            score=None,
            state="",
            outcome=None,
            page=None,
            title=None,
            relevance=None,
        )
    return PageLink(
        url=url,
        anchor=anchor,
        kind=row.kind,
        score=score_of(row.priority) if row.kind == AddressKind.LINK else None,
        state=STATES.get(row.state, ""),
        outcome=Outcome(Code(row.outcome), row.outcome_detail or "") if row.outcome else None,
        page=row.page,
        title=row.title,
        relevance=row.relevance,
    )


def _image(url: str, alt: str, target: str, verdict_row: Row[Any] | None) -> PageImage:
    if verdict_row is None:
        return PageImage(
            url=url, alt=alt, target=target, verdict=None, noise=None, probability=None, reasons=(), decided_by=""
        )
    why = verdict_reasons.read(verdict_row.reasons)
    return PageImage(
        url=url,
        alt=alt,
        target=target,
        verdict=verdict_row.id,
        noise=verdict_row.noise,
        probability=verdict_row.probability,
        reasons=why,
        decided_by=verdict_row.decided_by,
    )


@slow(router.get("/pages/{page}/links"))
def show(context: Context, request: Request, page: Number, of: Of = "found", after: After = "") -> Response:
    return context.page(
        request, "page_links.html", found=data(context, page, of, after), most=MOST_FOUND, choices=SORTS, tab="links"
    )
