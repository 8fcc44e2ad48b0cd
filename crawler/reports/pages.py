"""The stored pages of crawls: their scores for the focus report, and whole pages for exports.

The focus report reads no texts, and pages one after another, so that memory does not grow with their number.

An export reads pages in the order of their ids, a part at a time, and holds no transaction open while it hands them on:
however long it takes, PostgreSQL can vacuum and SQLite's log does not grow. A page is as it is when it is read;
pages stored after the export began are left out.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, RowMapping, and_, func, or_, select, true
from sqlalchemy.engine import URL

from crawler.frontier.page_result import StoredResponse
from crawler.outcomes import Code
from crawler.reports.page_filter import CHANGED, GONE, NEW, LanguageOrSite, PageFilter
from crawler.store.crawl_tables import IS_DONE, IS_WAITING, address, crawl, host
from crawler.store.page_tables import focus, page, stored_response
from crawler.store.page_writer import field_values, response_of
from crawler.store.read_only import exists, reading
from crawler.urls.parsing import host as host_of

OF_HOSTS = address.join(host, address.c.host_id == host.c.id)
PAGES_AT_ONCE = 1_000
PRIORITIES = 1_000
"""Priorities of links are scores in so many parts."""


class FetchedPage(NamedTuple):
    """A page that was stored."""

    id: int
    url: str
    requested_url: str
    relevance: float
    link_score: float | None
    """What its link promised before it was asked for; None where there was none to go by."""
    via: str
    """How it was found."""


@dataclass(frozen=True, slots=True)
class TitledPage:
    """A page with its title."""

    url: str
    title: str
    relevance: float
    link_score: float | None


@dataclass(frozen=True, slots=True)
class WaitingCounts:
    """Waiting addresses, pictures included."""

    total: int
    promising: int
    """Those whose score reaches what was asked about; and seeds, which have none."""


class CrawlPages:
    """The pages of one crawl for the focus report, while the connection is open."""

    def __init__(self, connection: Connection, number: int, name: str) -> None:
        self._connection = connection
        self._mine = page.c.crawl_id == number
        self.number = number
        self.name = name

    def pages(self) -> Generator[FetchedPage, None, None]:
        """The pages by the second in which they were fetched."""
        columns = [page.c[name] for name in FetchedPage._fields]
        wanted = select(*columns).where(self._mine).order_by(page.c.fetched_at, page.c.id)
        with self._connection.execution_options(yield_per=PAGES_AT_ONCE).execute(wanted) as rows:
            for part in rows.partitions():
                yield from map(FetchedPage._make, part)

    def told(self, numbers: Iterable[int]) -> list[TitledPage]:
        """The pages of these numbers, in this order."""
        wanted = list(numbers)
        columns = [page.c[one.name] for one in fields(TitledPage)]
        rows = self._connection.execute(select(page.c.id, *columns).where(page.c.id.in_(wanted)))
        found = {row[0]: TitledPage(*row[1:]) for row in rows}
        return [found[number] for number in wanted]

    def summaries(self) -> list[str]:
        """The learned words of each worker, as JSON."""
        mine = select(focus.c.summary).where(focus.c.crawl_id == self.number).order_by(focus.c.number)
        return list(self._connection.execute(mine).scalars())

    def off_topic(self) -> int:
        """How many pages were read and not kept, as their relevance was under `min_relevance`."""
        mine = host.c.crawl_id == self.number, IS_DONE, address.c.outcome == Code.OFF_TOPIC
        count = select(func.count()).select_from(OF_HOSTS).where(*mine)
        return int(self._connection.execute(count).scalar_one())

    def waiting(self, score: float) -> WaitingCounts:
        """Waiting addresses, and those of them with this link score or more."""
        promises = address.c.priority >= score * PRIORITIES
        counts = select(func.count(), func.count().filter(promises)).select_from(OF_HOSTS)
        mine = IS_WAITING, host.c.crawl_id == self.number
        return WaitingCounts(*self._connection.execute(counts.where(*mine)).one())


@contextmanager
def crawls_with_pages(url: URL) -> Iterator[list[CrawlPages]]:
    """The crawls in a database as they are at one moment; none where no crawl was ever run."""
    if not exists(url):
        yield []
        return
    with reading(url) as connection:
        rows = connection.execute(select(crawl.c.id, crawl.c.name).order_by(crawl.c.id)).all()
        yield [CrawlPages(connection, row.id, row.name) for row in rows]


ROWS_AT_ONCE = 1_000
BYTES_AT_ONCE = 16 * 1024 * 1024  # of texts and responses that are in memory, and one page more
FETCHED_AT_ONCE = 20  # rows that PostgreSQL sends together: each may be as large as a page can be
RESPONSE = ("status_line", "headers", "body")
IS_GONE = page.c.gone_at.is_not(None)


class StoredPage(NamedTuple):
    """A page that was stored."""

    key: int
    values: Mapping[str, Any]
    """Those that were asked for."""
    response: StoredResponse | None = None


class PageCounts(NamedTuple):
    """How many pages a crawl has in the database, and how many of them are gone."""

    pages: int
    gone: int


class StoredPages:
    """The pages of one crawl for an export, while the connection is open."""

    def __init__(self, connection: Connection, row: RowMapping) -> None:
        self._connection = connection
        self._number: int = row["id"]
        self._mine = page.c.crawl_id == self._number
        self.name: str = row["name"]
        self.round: int = row["round"]

    def numbers(self) -> PageCounts:
        """How many pages there are."""
        # One after the other: each has an index that says it, together they would have every text read.
        every = select(func.count()).where(self._mine)
        found = [self._connection.execute(one).scalar_one() for one in (every, every.where(IS_GONE))]
        self._connection.rollback()
        return PageCounts(*found)

    def pages(self, columns: Sequence[str], wish: PageFilter, responses: bool = False) -> Iterator[StoredPage]:
        """The pages that the filter takes, with these columns, and with their responses if these are wanted."""
        names = dict.fromkeys(("id", "key", "url", "language", *columns))
        wanted = select(*(page.c[name] for name in names))
        if responses:
            same = and_(stored_response.c.key == page.c.key, stored_response.c.fetched_at == page.c.fetched_at)
            wanted = wanted.add_columns(*(stored_response.c[name] for name in RESPONSE)).outerjoin_from(
                page, stored_response, same
            )
        # The sum keeps databases from the indexes by crawl: they would sort all its pages for each of many parts.
        mine = page.c.crawl_id + 0 == self._number
        wanted = wanted.where(mine, *self._conditions(wish)).order_by(page.c.id).limit(ROWS_AT_ONCE)
        ends = select(func.min(page.c.id), func.max(page.c.id)).where(self._mine)
        first, end = self._connection.execute(ends).one()
        self._connection.rollback()
        last = (first or 0) - 1
        while rows := self._some(wanted.where(page.c.id > last, page.c.id <= (end or 0))):
            last = rows[-1]["id"]
            for row in rows:
                name = host_of(row["url"]).lower()
                if not wish.places or any(_is_in(row, one, name) for one in wish.places):
                    yield _stored_page(row, columns, responses)

    def _some(self, wanted: Any) -> list[RowMapping]:
        """The next rows, as many as fit into memory; the transaction they were read in has ended."""
        found, size = [], 0
        options = {"yield_per": FETCHED_AT_ONCE}
        with self._connection.execute(wanted, execution_options=options) as rows:
            for row in rows.mappings():
                found.append(row)
                size += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
                if size >= BYTES_AT_ONCE:
                    break
        self._connection.rollback()
        return found

    def _conditions(self, wish: PageFilter) -> Iterator[ColumnElement[bool]]:
        yield IS_GONE if wish.only == GONE else page.c.gone_at.is_(None)
        if wish.only or wish.since is not None:
            kinds = [wish.only] if wish.only else [NEW, CHANGED]
            yield or_(*(self._became(kind, wish.since) for kind in kinds))
        if wish.min_relevance > 0:
            yield page.c.relevance >= wish.min_relevance
        if wish.places:
            yield or_(*map(_may_be_in, wish.places))

    def _became(self, kind: str, since: int | str | None) -> ColumnElement[bool]:
        """That a page became new, changed or gone since then."""
        begins = {NEW: "first", CHANGED: "changed", GONE: "gone"}[kind]
        if isinstance(since, str):
            return page.c[f"{begins}_at"] >= since
        return page.c[f"{begins}_round"] >= (self.round if since is None else since)


def _may_be_in(place: LanguageOrSite) -> ColumnElement[bool]:
    """What is so of all pages of a place, and of few others: most texts need not be read."""
    language = func.lower(page.c.language) == place.language if place.language else true()
    return and_(language, func.lower(page.c.url).contains(place.site, autoescape=True) if place.site else true())


def _is_in(row: RowMapping, place: LanguageOrSite, name: str) -> bool:
    # The language was asked for of the database; of several places each page was found for one at least.
    return place.holds(name) and (not place.language or str(row["language"]).lower() == place.language)


def _stored_page(row: RowMapping, columns: Sequence[str], responses: bool) -> StoredPage:
    response = response_of(row) if responses and row["body"] is not None else None
    return StoredPage(row["key"], field_values(row, columns), response)


@contextmanager
def crawls_to_export(url: URL) -> Iterator[list[StoredPages]]:
    """The crawls in a database; none where no crawl was ever run."""
    if not exists(url):
        yield []
        return
    with reading(url) as connection:
        rows = connection.execute(select(crawl.c.id, crawl.c.name, crawl.c.round).order_by(crawl.c.id))
        found = rows.mappings().all()
        connection.rollback()
        yield [StoredPages(connection, row) for row in found]
