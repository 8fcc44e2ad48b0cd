"""The pages whose main text is least certain, for people to label.

They come in the order of certainty, those of methods that tell none last, in the order in which they were stored. No
index tells which of them can be labelled: so many are looked at for each part of the list, and the next goes on there.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

from sqlalchemy import Connection, exists, select, tuple_

from crawler.labels.labels import TEXT
from crawler.store.dashboard_tables import label
from crawler.store.page_tables import page, stored_response
from crawler.store.schema import crawl

LOOKED_AT = 1_000  # pages: their rows, which lie anywhere, take some tens of milliseconds


@dataclass(frozen=True, slots=True)
class UncertainPage:
    """A page that somebody might label."""

    id: int
    url: str
    title: str
    language: str | None
    certainty: float | None
    """The F1 that the method expects of its text; not of all methods."""
    fetched_at: str


class UncertainPages(NamedTuple):
    """A part of the list."""

    pages: tuple[UncertainPage, ...]
    after: int
    """The page from which to go on; 0 where that was all."""


class LabelledCrawl(NamedTuple):
    """A crawl whose pages might be labelled."""

    id: int
    name: str
    kept: bool
    """Whether any response of its pages was kept."""


def crawl_to_label(connection: Connection, name: str) -> LabelledCrawl | None:
    """The crawl of this name; without one the one begun last that kept responses, or the one begun last."""
    kept = exists().where(stored_response.c.crawl_id == crawl.c.id)
    order = (kept.desc(), crawl.c.started_at.desc(), crawl.c.id.desc())
    found = select(crawl.c.id, crawl.c.name, kept.label("kept")).order_by(*order).limit(1)
    row = connection.execute(found.where(crawl.c.name == name) if name else found).one_or_none()
    return LabelledCrawl(row.id, row.name, bool(row.kept)) if row is not None else None


def uncertain_pages(connection: Connection, of: LabelledCrawl, after: int = 0, most: int = 20) -> UncertainPages:
    """The next pages behind this one whose response was kept and that nobody has labelled, the least certain first."""
    if not of.kept:
        return UncertainPages((), 0)
    numbers = _next(connection, of.id, after)
    labelled = select(label.c.url).where(label.c.crawl == of.name, label.c.kind == TEXT)
    found = select(*(page.c[one.name] for one in fields(UncertainPage))).join(
        stored_response, stored_response.c.key == page.c.key
    )
    rows = connection.execute(found.where(page.c.id.in_(numbers), page.c.url.not_in(labelled)))
    known = {row.id: UncertainPage(*row) for row in rows}
    pages = tuple(known[number] for number in numbers if number in known)[:most]
    if len(pages) == most:
        return UncertainPages(pages, pages[-1].id)
    return UncertainPages(pages, numbers[-1] if len(numbers) == LOOKED_AT else 0)


def _next(connection: Connection, crawl_id: int, after: int) -> list[int]:
    """The numbers of the next pages, by the index alone."""
    mine = page.c.crawl_id == crawl_id
    last = connection.execute(select(page.c.certainty).where(mine, page.c.id == after)).one_or_none()
    every = select(page.c.id).where(mine)
    told = every.where(page.c.certainty.is_not(None)).order_by(page.c.certainty, page.c.id)
    untold = every.where(page.c.certainty.is_(None)).order_by(page.c.id)
    if last is None:
        ways = [told, untold]
    elif last.certainty is not None:
        ways = [told.where(tuple_(page.c.certainty, page.c.id) > (last.certainty, after)), untold]
    else:
        ways = [untold.where(page.c.id > after)]
    numbers: list[int] = []
    for way in ways:
        numbers += connection.execute(way.limit(LOOKED_AT - len(numbers))).scalars()
    return numbers
