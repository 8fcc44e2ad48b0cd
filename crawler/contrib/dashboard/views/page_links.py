"""The links of a page, in three lists: addresses first found on it, all links of its source, and its images.

The crawl knows an address from the first page on which it is found. So addresses first found on a page are read from
the database, the most promising first; the other two lists are read from the page's source, in its order.
"""

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

STATE_NAMES = {state: state.name.lower() for state in AddressState}
MOST_FOUND = 5_000
"""Addresses first found on one page that are listed."""
AT_ONCE = 100
"""Links or images in a part."""
ListName = Literal["found", "all", "images"]
LIST_NAMES: tuple[ListName, ...] = get_args(ListName)
CURSOR = re.compile(r"(-?[0-9]{1,10})\.([0-9]{1,18})", re.ASCII)
"""The priority and the number of an address."""
WRONG_AFTER = N_("after is wrong; use the value from the previous response")
router = APIRouter()
api = APIRouter()
Of = Annotated[ListName, Query(description=N_("first found on the page, all in its source, or its images"))]
After = Annotated[Text, Query(description=N_("where to continue: the value of next from the previous response"))]
ADDRESS_COLUMNS = (
    *(address.c[name] for name in "id key url kind priority state outcome outcome_detail".split()),
    *(page.c.id.label("page"), page.c.title, page.c.relevance),
)
"""The columns of an address, and of the page that it became."""
ADDRESSES_AND_PAGES = address.outerjoin(page, page.c.key == address.c.key)


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of a page."""

    url: str
    anchor: str | None
    """Its text; None if the source does not have the link, or is not stored."""
    kind: str
    score: float | None
    """How promising it is, from 0 to 1; None if it has no score, such as a seed or a link chosen at random."""
    state: str
    """waiting, held, done or recorded; empty if the crawl does not know the address."""
    outcome: OutcomeObject | None
    """Why it did not become a page."""
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
    """The address to which it links."""
    verdict: int | None
    """The number of its verdict; None if it was not judged."""
    noise: bool | None
    """Whether it is noise; None if it was not judged."""
    probability: float | None
    """The probability that it is noise; None if it was not judged."""
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
    """Why the source of a stored response is not shown; None if it is, or if no response was stored."""
    of: str
    """The requested kind: found, all or images."""
    total: int
    """The length of the whole list."""
    is_cut: bool
    """Whether more than MOST_FOUND addresses were first found on the page, so that the others are not listed."""
    unread: int
    """Links and images that were not read because the page has too many."""
    links: tuple[PageLink, ...]
    images: tuple[PageImage, ...]
    next: str | None
    """The value of `after` for the next part: for addresses first found on the page, the priority and the number of the
    last one, e.g. `5000.77`; for the other lists, how many entries the parts so far had.
    """


@slow(api.get("/api/pages/{page}/links", summary=N_("Links or images of a page, and their outcomes")))
def data(context: Context, page: Number, of: Of = "found", after: After = "") -> PageLinks:
    """Links or images of a page, a hundred at a time."""
    with context.reading() as connection:
        shown_page = stored_page(connection, page)
        if of == "found":
            rows = found_on(connection, shown_page.row["key"], _cursor(after), AT_ONCE + 1)
            total, is_cut = found_count(connection, shown_page.row["key"])
    # A large page takes long to parse, so its links are parsed, and cached in the page, while no connection is open.
    if of == "found":
        return replace(_first_found(shown_page, rows, total), is_cut=is_cut)
    _ = shown_page.page.links
    with context.reading() as connection:
        keys = AddressKeys(shown_page.row["crawl_id"], canonical_of(context.settings))
        return _of_source(connection, shown_page, keys, of, after)


def found_on(connection: Connection, key: int, after: tuple[int, int] | None = None, most: int = 100) -> list[Row[Any]]:
    """The addresses first found on the page with this key, the most promising first; `after` is the priority and the
    number of the last address of the previous part.

    On a front page that is fetched each day for years, far more addresses were first found than any page contains. Only
    MOST_FOUND of them are listed, as sorting all would take too long.
    """
    candidates = _found_candidates(key, MOST_FOUND).subquery()
    query = select(candidates.c.id)
    if after is not None:
        priority, last = after
        same_priority = and_(candidates.c.priority == priority, candidates.c.id > last)
        query = query.where(or_(candidates.c.priority < priority, same_priority))
    numbers = list(
        connection.execute(query.order_by(candidates.c.priority.desc(), candidates.c.id).limit(most)).scalars()
    )
    addresses = select(*ADDRESS_COLUMNS).select_from(ADDRESSES_AND_PAGES).where(address.c.id.in_(numbers))
    return sorted(connection.execute(addresses), key=lambda row: (-row.priority, row.id))


def found_count(connection: Connection, key: int) -> tuple[int, bool]:
    """The number of listed addresses that were first found on the page with this key, and whether there are more."""
    count = select(func.count()).select_from(_found_candidates(key, MOST_FOUND + 1).subquery())
    number = int(connection.execute(count).scalar_one())
    return min(number, MOST_FOUND), number > MOST_FOUND


def _found_candidates(key: int, most: int) -> Select[tuple[int, int]]:
    """A query for the numbers and priorities of up to `most` addresses first found on the page with this key.

    If there are more, the database chooses which it returns: to sort them, PostgreSQL would search all addresses.
    """
    page_address = select(address.c.id).where(address.c.key == key).scalar_subquery()
    return select(address.c.id, address.c.priority).where(address.c.parent == page_address).limit(most)


def known_by_key(connection: Connection, keys: Collection[int]) -> dict[int, Row[Any]]:
    """The addresses with these keys that the crawl knows, by key."""
    query = select(*ADDRESS_COLUMNS).select_from(ADDRESSES_AND_PAGES).where(address.c.key.in_(keys))
    rows = connection.execute(query)
    return {row.key: row for row in rows}


def verdicts_by_key(connection: Connection, keys: Collection[int]) -> dict[int, Row[Any]]:
    """The verdicts on the images with these keys, by key."""
    names = ("key", "id", "noise", "probability", "reasons", "decided_by")
    rows = connection.execute(select(*(verdict.c[name] for name in names)).where(verdict.c.key.in_(keys)))
    return {row.key: row for row in rows}


def _cursor(after: str) -> tuple[int, int] | None:
    """The priority and the number of an address after which a part begins; None for the first part."""
    if not after:
        return None
    match = CURSOR.fullmatch(after)
    if match is None:
        raise RefusedError(HTTPStatus.BAD_REQUEST, WRONG_AFTER)
    return int(match[1]), int(match[2])


def _first_found(shown_page: ShownPage, rows: list[Row[Any]], total: int) -> PageLinks:
    """A part of the addresses first found on the page, with the texts of their links. There is a next part if there are
    more than AT_ONCE rows.
    """
    # For each address, its first link text that is not empty. The page is only parsed if there are addresses.
    anchors: dict[str, str] = {}
    if rows:
        for page_link in shown_page.page.links:
            if page_link.text:
                anchors.setdefault(page_link.url, page_link.text)
    links = tuple(link(row.url, anchors.get(row.url), row) for row in rows[:AT_ONCE])
    cursor: str | None = None
    if len(rows) > AT_ONCE:
        last = rows[AT_ONCE - 1]
        cursor = f"{last.priority}.{last.id}"
    return replace(_empty_list(shown_page, "found", total), links=links, next=cursor)


def _of_source(connection: Connection, shown_page: ShownPage, keys: AddressKeys, of: ListName, after: str) -> PageLinks:
    """The links or the images of the source, in its order, each address once, a part at a time."""
    if not re.fullmatch(r"[0-9]{0,6}", after, re.ASCII):
        raise RefusedError(HTTPStatus.BAD_REQUEST, WRONG_AFTER)
    start = int(after or 0)
    end = start + AT_ONCE
    if of == "images":
        images = list({shown_image.url: shown_image for shown_image in shown_page.page.images}.values())
        keyed = [(shown_image, keys(shown_image.url, AddressKind.IMAGE)) for shown_image in images[start:end]]
        verdict_of_key = verdicts_by_key(connection, [key for _, key in keyed])
        listed_images = tuple(
            _image(shown_image.url, shown_image.alt, shown_image.target, verdict_of_key.get(key))
            for shown_image, key in keyed
        )
        page_links = replace(_empty_list(shown_page, "images", len(images)), images=listed_images)
    else:
        anchors: dict[str, str] = {}  # for each address, its first link text that is not empty, if any
        for page_link in shown_page.page.links:
            anchors[page_link.url] = anchors.get(page_link.url) or page_link.text
        listed = [(url, text, keys(url)) for url, text in list(anchors.items())[start:end]]
        row_of_key = known_by_key(connection, [key for _, _, key in listed])
        links = tuple(link(url, text, row_of_key.get(key)) for url, text, key in listed)
        page_links = replace(_empty_list(shown_page, "all", len(anchors)), links=links)

    if end < page_links.total:
        return replace(page_links, next=str(end))
    return page_links


def _empty_list(shown_page: ShownPage, of: str, total: int) -> PageLinks:
    """The list of a page's links or images, without any of them."""
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
    """A link to an address, with its row if the crawl knows the address."""
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

    outcome: Outcome | None = None
    if row.outcome:
        outcome = Outcome(Code(row.outcome), row.outcome_detail or "")
    return PageLink(
        url=url,
        anchor=anchor,
        kind=row.kind,
        score=score_of(row.priority) if row.kind == AddressKind.LINK else None,
        state=STATE_NAMES.get(row.state, ""),
        outcome=outcome,
        page=row.page,
        title=row.title,
        relevance=row.relevance,
    )


def _image(url: str, alt: str, target: str, verdict_row: Row[Any] | None) -> PageImage:
    """An image, with its verdict if it was judged."""
    if verdict_row is None:
        return PageImage(
            url=url, alt=alt, target=target, verdict=None, noise=None, probability=None, reasons=(), decided_by=""
        )
    return PageImage(
        url=url,
        alt=alt,
        target=target,
        verdict=verdict_row.id,
        noise=verdict_row.noise,
        probability=verdict_row.probability,
        reasons=verdict_reasons.stored_reasons(verdict_row.reasons),
        decided_by=verdict_row.decided_by,
    )


@slow(router.get("/pages/{page}/links"))
def show(context: Context, request: Request, page: Number, of: Of = "found", after: After = "") -> Response:
    return context.page(
        request,
        "page_links.html",
        found=data(context, page, of, after),
        most=MOST_FOUND,
        choices=LIST_NAMES,
        tab="links",
    )
