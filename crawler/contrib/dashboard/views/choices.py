"""The crawl and the site that a view shows, and the others that a visitor may choose."""

from dataclasses import KW_ONLY, dataclass, fields
from http import HTTPStatus
from typing import Any

from sqlalchemy import Connection, Select, Table, exists, func, select

from crawler.contrib.dashboard.access import RefusedError
from crawler.store.crawl_tables import crawl, site
from crawler.urls.address import address_of
from crawler.urls.parsing import absolute

MOST_CRAWLS = 200
"""The most crawls in the list from which visitors choose."""
MOST_SITES = 20
"""The most sites with a matching name that are returned."""
MOST_SORTED = 2_000
"""The most sites with a matching name that are sorted by their pages."""
MOST_OFFERED = 50
"""The most sites in the list from which visitors choose; they may also type a name."""
MOST_LETTERS = 100
"""The most characters of the name of a site in this list."""


@dataclass(frozen=True, slots=True)
class CrawlNames:
    """The crawls that the visitor may choose."""

    _: KW_ONLY
    names: tuple[str, ...] = ()
    left_out: int = 0
    """How many older crawls are not listed."""


@dataclass(frozen=True, slots=True)
class ChosenCrawl:
    """The crawl that a view shows, identified by number and start time: after a reset, another crawl may have its
    number and name.
    """

    id: int
    name: str
    started_at: float
    round: int
    first_round: int


CHOSEN_CRAWLS = select(*(crawl.c[field.name] for field in fields(ChosenCrawl)))


def chosen_crawl(connection: Connection, name: str, defaults: Select[Any]) -> ChosenCrawl | None:
    """The crawl with this name; without a name, the first crawl of the query `defaults`, or None if it has none.

    Raises a RefusedError if there is no crawl with this name.
    """
    query = CHOSEN_CRAWLS.where(crawl.c.name == name) if name else defaults.limit(1)
    row = connection.execute(query).one_or_none()
    if name and row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no crawl of this name.")
    if row is not None:
        return ChosenCrawl(**row._mapping)
    return None


def latest_with(table: Table) -> Select[Any]:
    """A query for the crawls that have a row in this table, newest first."""
    return CHOSEN_CRAWLS.where(exists().where(table.c.crawl_id == crawl.c.id)).order_by(crawl.c.id.desc())


def numbered_crawl(connection: Connection, number: int) -> ChosenCrawl:
    """The crawl with this number; raises a RefusedError if there is none."""
    row = connection.execute(CHOSEN_CRAWLS.where(crawl.c.id == number)).one_or_none()
    if row is None:
        raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such crawl.")
    return ChosenCrawl(**row._mapping)


def crawl_names(connection: Connection, chosen: str) -> CrawlNames:
    """The names of the latest crawls, and of the crawl that is shown, if any."""
    names = list(connection.execute(select(crawl.c.name).order_by(crawl.c.id.desc()).limit(MOST_CRAWLS)).scalars())
    if chosen and chosen not in names:
        names.insert(0, chosen)
    crawl_count = connection.execute(select(func.count()).select_from(crawl)).scalar_one()
    return CrawlNames(names=tuple(names), left_out=max(0, crawl_count - len(names)))


@dataclass(frozen=True, slots=True)
class SiteChoice:
    """The requested site, or the sites that match the requested text."""

    id: int | None
    """None unless exactly one site matches."""
    names: tuple[str, ...] = ()
    """Sites whose names contain the requested text, if there are several."""
    is_cut: bool = False
    """Whether more sites match."""


def site_number(connection: Connection, crawl_id: int, name: str) -> int | None:
    """The number of a site by its name; None if the crawl has no such site."""
    query = select(site.c.id).where(site.c.crawl_id == crawl_id, site.c.name == name)
    return connection.execute(query).scalar()


def sites_like(connection: Connection, crawl_id: int, part: str, most: int) -> list[tuple[int, str]]:
    """The numbers and names of up to `most` sites whose names contain a text, those with the most pages first. Only
    MOST_SORTED of the sites that match are considered.
    """
    named = select(site.c.id).where(site.c.crawl_id == crawl_id, site.c.name.contains(part, autoescape=True))
    query = select(site.c.id, site.c.name).where(site.c.id.in_(named.limit(MOST_SORTED)))
    return [
        (row.id, row.name) for row in connection.execute(query.order_by(site.c.pages.desc(), site.c.id).limit(most))
    ]


def chosen_site(connection: Connection, crawl_id: int, text: str) -> SiteChoice:
    """The site with this name, or the site of this address or host, or the sites whose names contain this text."""
    name = text.strip().casefold()
    address = name if "://" in name else f"http://{name}/"
    normal_address = absolute(address, address) or address
    for site_name in (name, address_of(normal_address).site):
        number = site_number(connection, crawl_id, site_name)
        if number is not None:
            return SiteChoice(number)

    if not name:
        return SiteChoice(None)
    similar_sites = sites_like(connection, crawl_id, name, MOST_SITES + 1)
    if len(similar_sites) == 1:
        return SiteChoice(similar_sites[0][0])
    names = tuple(similar_name for _, similar_name in similar_sites[:MOST_SITES])
    return SiteChoice(None, names, is_cut=len(similar_sites) > MOST_SITES)


def offered_sites(connection: Connection, crawl_id: int) -> list[str]:
    """The names of the sites with the most pages, among which a visitor may choose; they are read from an index."""
    query = select(site.c.name).where(site.c.crawl_id == crawl_id).order_by(site.c.pages.desc(), site.c.id.desc())
    names = connection.execute(query.limit(MOST_OFFERED)).scalars()
    return [name for name in names if len(name) <= MOST_LETTERS and name.isprintable()]
