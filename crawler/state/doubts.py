"""The pages whose main text is least certain, for people who know better.

The index of certainty is walked from its low end, a piece at a time, until there are enough pages whose response was
kept and that nobody has marked, or the time is over; then the walk goes on from the last page that was looked at.
Pages of methods that tell no certainty come last, in the order in which they were stored.
"""

import time
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Select, exists, select, tuple_

from crawler.state.dashboard_tables import label
from crawler.state.marks import TEXT, key_of
from crawler.state.schema import crawl, page, raw

PIECE = 200  # pages of the index: their rows, which lie anywhere, take milliseconds
SECONDS = 0.1


class Doubt(NamedTuple):
    """A page that somebody might mark."""

    id: int
    url: str
    title: str
    language: str | None
    certainty: float | None
    """The F1 that the method expects of its text; not of all methods."""
    fetched_at: str


class Doubts(NamedTuple):
    """What was found on a part of the way."""

    found: tuple[Doubt, ...]
    looked: int
    """Pages that were looked at."""
    after: int
    """The page from which to go on; 0 where that was all."""


class Crawled(NamedTuple):
    """A crawl whose pages might be marked."""

    id: int
    name: str
    kept: bool
    """Whether any response of its pages was kept."""


def chosen(connection: Connection, name: str) -> Crawled | None:
    """The crawl of this name; without one the one begun last that kept responses, or the one begun last."""
    found = select(crawl.c.id, crawl.c.name).order_by(crawl.c.started_at.desc(), crawl.c.id.desc()).limit(1)
    kept = exists().where(raw.c.crawl_id == crawl.c.id)
    ways = (found.where(crawl.c.name == name),) if name else (found.where(kept), found)
    row = next((row for way in ways if (row := connection.execute(way).one_or_none()) is not None), None)
    return crawled(connection, row.id, row.name) if row is not None else None


def crawled(connection: Connection, number: int, name: str) -> Crawled:
    """A crawl, by its number and its name."""
    kept = select(raw.c.fetched_at).where(raw.c.crawl_id == number).limit(1)
    return Crawled(number, name, connection.execute(kept).first() is not None)


def doubts(
    connection: Connection, found_in: Crawled, after: int = 0, most: int = 20, seconds: float = SECONDS
) -> Doubts:
    """The next pages behind this one, the least certain first."""
    if not found_in.kept:
        return Doubts((), 0, 0)
    until = time.monotonic() + seconds
    found: list[Doubt] = []
    looked = 0
    while True:
        piece = _piece(connection, found_in.id, after)
        known = _unmarked(connection, found_in, piece)
        for number in piece:
            looked, after = looked + 1, number
            if number in known:
                found.append(known[number])
            if len(found) == most:
                return Doubts(tuple(found), looked, after)
        if not piece:
            return Doubts(tuple(found), looked, 0)
        if time.monotonic() > until:
            return Doubts(tuple(found), looked, after)


def _piece(connection: Connection, crawl_id: int, after: int) -> list[int]:
    """The numbers of the next pages, by the index alone."""
    asked = select(page.c.certainty).where(page.c.id == after, page.c.crawl_id == crawl_id)
    last = connection.execute(asked).one_or_none() if after else None
    every = select(page.c.id).where(page.c.crawl_id == crawl_id).limit(PIECE)
    sure = every.where(page.c.certainty.is_not(None)).order_by(page.c.certainty, page.c.id)
    unsure = every.where(page.c.certainty.is_(None)).order_by(page.c.id)
    if last is not None and last.certainty is None:
        return _numbers(connection, unsure.where(page.c.id > after))
    if last is not None:
        sure = sure.where(tuple_(page.c.certainty, page.c.id) > (last.certainty, after))
    return _numbers(connection, sure) or _numbers(connection, unsure)


def _numbers(connection: Connection, wanted: Select[tuple[int]]) -> list[int]:
    return [row.id for row in connection.execute(wanted)]


def _unmarked(connection: Connection, found_in: Crawled, numbers: Sequence[int]) -> dict[int, Doubt]:
    """Those of some pages whose response was kept and that nobody has marked."""
    kept = (
        select(page.c.id, page.c.url, page.c.title, page.c.language, page.c.certainty, page.c.fetched_at)
        .join(raw, raw.c.key == page.c.key)
        .where(page.c.id.in_(numbers))
    )
    rows = connection.execute(kept).all()
    keys = {key_of(found_in.name, TEXT, row.url, row.url): row for row in rows}
    marked = set(connection.execute(select(label.c.key).where(label.c.key.in_(keys))).scalars())
    return {row.id: Doubt(*row) for key, row in keys.items() if key not in marked}
