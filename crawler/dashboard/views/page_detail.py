"""One stored page and what hangs together with it: what it said before, and what was found on it; read only."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, and_, func, or_, select

from crawler.outcomes import Code, Outcome
from crawler.reports.fetched_pages import PRIORITIES
from crawler.store.page_tables import page, page_version, verdict
from crawler.store.schema import DONE, HELD, RECORDED, WAITING, address
from crawler.store.sql import in_chunks

STATES = {WAITING: "waiting", HELD: "held", DONE: "done", RECORDED: "recorded"}
BY_CHANCE = PRIORITIES - 1
"""The priority of links that were chosen by chance, and of no others."""
MOST_FOUND = 5_000
"""Addresses first found on one page that are listed."""
MOST_VERSIONS = 50
"""That are listed, the newest."""
MOST_LETTERS = 200_000
"""Of the text of a version."""


class Neighbour(NamedTuple):
    """Another stored page."""

    id: int
    url: str
    title: str


class FoundLink(NamedTuple):
    """An address with its score, its state and its outcome."""

    id: int
    key: int
    url: str
    kind: str
    """link, image, and so on."""
    score: float | None
    """What it promises, from 0 to 1; None of seeds, what was chosen by chance, and what else has none."""
    state: str
    """waiting, held, done, or recorded."""
    outcome: Outcome | None
    """Why it brought nothing, where it did not."""
    priority: int
    page: int | None
    """The number of the page that it became."""
    title: str | None
    relevance: float | None


class PictureVerdict(NamedTuple):
    """What was said of a picture."""

    id: int
    key: int
    noise: bool
    probability: float
    reasons: str
    """JSON."""
    decided_by: str


class Text(NamedTuple):
    """What a page said at a time."""

    id: int
    """Of the version; 0 of what the page says now."""
    fetched_at: str
    title: str
    text: str


_FOUND = (
    address.c.id,
    address.c.key,
    address.c.url,
    address.c.kind,
    address.c.priority,
    address.c.state,
    address.c.outcome,
    address.c.outcome_detail,
    page.c.id.label("page"),
    page.c.title,
    page.c.relevance,
)
_BECAME = address.outerjoin(page, page.c.key == address.c.key)


def found_on(
    connection: Connection, key: int, after: tuple[int, int] | None = None, most: int = 100
) -> list[FoundLink]:
    """The addresses that were first found on the page of this key, the most promising first, from a place on.

    A front page that is fetched each day for years was the first to name far more than any page holds: what it
    named after so many is not listed, as to put all in order would take too long.
    """
    first = _first_found(key).subquery()
    wanted = select(first.c.id)
    if after is not None:
        priority, last = after
        lower = and_(first.c.priority == priority, first.c.id > last)
        wanted = wanted.where(or_(first.c.priority < priority, lower))
    numbers = list(connection.execute(wanted.order_by(first.c.priority.desc(), first.c.id).limit(most)).scalars())
    rows = connection.execute(select(*_FOUND).select_from(_BECAME).where(address.c.id.in_(numbers)))
    return sorted(map(_found, rows), key=lambda one: (-one.priority, one.id))


def found_count(connection: Connection, key: int) -> tuple[int, bool]:
    """How many addresses that were first found on the page of this key are listed, and whether there are more."""
    count = select(func.count()).select_from(_first_found(key, 1).subquery())
    number = int(connection.execute(count).scalar_one())
    return min(number, MOST_FOUND), number > MOST_FOUND


def _first_found(key: int, more: int = 0) -> Select[tuple[int, int]]:
    """So many of those addresses, in no order: an order would make PostgreSQL search all addresses for them."""
    mine = select(address.c.id).where(address.c.key == key).scalar_subquery()
    return select(address.c.id, address.c.priority).where(address.c.parent == mine).limit(MOST_FOUND + more)


def known_by_key(connection: Connection, keys: Iterable[int]) -> dict[int, FoundLink]:
    """The addresses of these keys that the crawl has met."""
    found: dict[int, FoundLink] = {}
    for part in in_chunks(sorted(set(keys))):
        for row in connection.execute(select(*_FOUND).select_from(_BECAME).where(address.c.key.in_(part))):
            found[row.key] = _found(row)
    return found


def _found(row: Row[*tuple[Any, ...]]) -> FoundLink:
    score = row.priority / PRIORITIES if row.kind == "link" and 0 <= row.priority < BY_CHANCE else None
    state = STATES.get(row.state, "")
    return FoundLink(
        row.id,
        row.key,
        row.url,
        row.kind,
        score,
        state,
        Outcome(Code(row.outcome), row.outcome_detail or "") if row.outcome else None,
        row.priority,
        row.page,
        row.title,
        row.relevance,
    )


def neighbours(connection: Connection, keys: Iterable[int]) -> dict[int, Neighbour]:
    """The stored pages of these keys."""
    wanted = select(page.c.key, page.c.id, page.c.url, page.c.title).where(page.c.key.in_(set(keys)))
    return {row.key: Neighbour(row.id, row.url, row.title) for row in connection.execute(wanted)}


def verdicts_by_key(connection: Connection, keys: Iterable[int]) -> dict[int, PictureVerdict]:
    """What was said of the pictures of these keys."""
    columns = [verdict.c[name] for name in PictureVerdict._fields]
    found: dict[int, PictureVerdict] = {}
    for part in in_chunks(sorted(set(keys))):
        for row in connection.execute(select(*columns).where(verdict.c.key.in_(part))):
            found[row.key] = PictureVerdict._make(row)
    return found


def texts_before(connection: Connection, key: int, most: int = MOST_VERSIONS) -> list[Text]:
    """What the page of this key said before, the newest first, and the beginning of it where it is very long."""
    newest = (
        select(
            page_version.c.id,
            page_version.c.fetched_at,
            page_version.c.title,
            func.substr(page_version.c.text, 1, MOST_LETTERS, type_=page_version.c.text.type),
        )
        .where(page_version.c.key == key)
        .order_by(page_version.c.id.desc())
        .limit(most)
    )
    return [Text._make(row) for row in connection.execute(newest)]
