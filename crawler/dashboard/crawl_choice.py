"""Which crawl a view is of, and between which of them a visitor may choose."""

from http import HTTPStatus
from typing import NamedTuple

from sqlalchemy import Connection, Table, exists, func, select

from crawler.dashboard.request import RefusedError
from crawler.state.schema import crawl

MOST_CRAWLS = 200


class CrawlNames(NamedTuple):
    """The crawls between which a visitor may choose."""

    names: tuple[str, ...] = ()
    left_out: int = 0
    """Older ones, that are not among them."""


class OfCrawl(NamedTuple):
    """A crawl, by what no other has: after a reset, the next may have its number and its name."""

    id: int
    name: str
    started_at: float


OF_CRAWL = select(*(crawl.c[name] for name in OfCrawl._fields))


def chosen_crawl(connection: Connection, name: str, of: Table) -> OfCrawl | None:
    """The crawl of this name; without one the latest that has a row of this table, None where none has."""
    if name:
        row = connection.execute(OF_CRAWL.where(crawl.c.name == name)).one_or_none()
        if row is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, "There is no crawl of this name.")
    else:
        has_any = exists().where(of.c.crawl_id == crawl.c.id)
        row = connection.execute(OF_CRAWL.where(has_any).order_by(crawl.c.id.desc()).limit(1)).one_or_none()
    return OfCrawl(*row) if row is not None else None


def numbered_crawl(connection: Connection, number: int) -> OfCrawl:
    """The crawl of this number."""
    row = connection.execute(OF_CRAWL.where(crawl.c.id == number)).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such crawl.")
    return OfCrawl(*row)


def crawl_names(connection: Connection, chosen: str) -> CrawlNames:
    """The names of the latest crawls, and of the one that is shown."""
    names = list(connection.execute(select(crawl.c.name).order_by(crawl.c.id.desc()).limit(MOST_CRAWLS)).scalars())
    if chosen and chosen not in names:
        names.insert(0, chosen)
    there = connection.execute(select(func.count()).select_from(crawl)).scalar_one()
    return CrawlNames(tuple(names), max(0, there - len(names)))
