"""The stored pages of a crawl, for exports: which pages are exported, and their values.

Pages are read in the order of their ids, a part at a time, and no transaction is open while they are processed: however
long an export takes, PostgreSQL can vacuum and SQLite's log does not grow. A page is exported as it is when it is read;
pages stored after the export began are left out.

A place, by which pages can be selected, is a language, a site or host, or a site in a language. An offset is the
position of a change in the order of all changes of a database; its epoch tells whether the offset was drawn before the
database was restored from a backup (crawler/store/page_changes.py).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, and_, func, or_, select, true
from sqlalchemy.engine import URL

from crawler.errors import OffsetError, WrongUseError
from crawler.frontier.page_result import StoredResponse
from crawler.items import IS_OPTIONAL, TYPES
from crawler.store.batch.page_writer import field_values
from crawler.store.batch.responses import response_of, unpacked
from crawler.store.crawl_tables import crawl
from crawler.store.page_changes import ChangeEpochs, ChangeOffset, change_epochs, last_offset
from crawler.store.page_tables import erasure, page, page_change, robots_file, stored_response
from crawler.store.read_only import exists, reading
from crawler.translation.message import N_
from crawler.urls.address import address_of
from crawler.urls.page_id import page_id
from crawler.urls.parsing import HOST, MAX_HOST, lies_in

NEW = "new"
CHANGED = "changed"
GONE = "gone"
NOINDEX = "noindex"
ONLY = (NEW, CHANGED, GONE, NOINDEX)
"""The changes by which pages can be selected."""
ERASED = "erased"
"""The change of a page that was erased. No filter selects it: the page is no longer stored."""
EMPTY: Mapping[str, Any] = {name: None if IS_OPTIONAL[name] else kind() for name, kind in TYPES.items()}
"""The fields of a page that was erased."""
LANGUAGE = re.compile(r"[a-z]{2,3}")
PORT = re.compile(r":\d{1,5}$")
MOST_DIGITS = 7
"""Digits of the number of a round; eight digits are a date without hyphens."""
OTHER_DATABASE = N_(
    "the offset {after} is not of this crawl, or the database was restored from a copy; 0 gives all pages"
)
ROWS_AT_ONCE = 1_000
"""The most rows that one transaction reads."""
BYTES_AT_ONCE = 16 * 1024 * 1024
"""Characters of texts and bytes of responses after which a transaction reads no further row."""
FETCHED_AT_ONCE = 20
"""Rows that PostgreSQL sends at a time, as each may be as large as the largest page."""
RESPONSE_COLUMNS = ("status_line", "headers", "request_line", "request_headers", "body")
HAS_LEFT = page.c.gone_at.is_not(None)
"""The condition that a page is gone or has noindex now."""


@dataclass(frozen=True, slots=True)
class LanguageOrSite:
    """A place: a language, a site or host, or a site in a language."""

    _: KW_ONLY
    language: str = ""
    site: str = ""

    def __str__(self) -> str:
        """The place as users type it."""
        return "/".join(filter(None, (self.language, self.site)))

    def holds(self, host: str, language: str) -> bool:
        """Whether a page on a host and in a language belongs to this place: a site with a port must be the host itself,
        other sites contain their subdomains.
        """
        if self.language and self.language != language:
            return False
        if ":" in self.site:
            return host == self.site
        return not self.site or lies_in(host, [self.site])


@dataclass(frozen=True)
class PageFilter:
    """Which pages of a crawl are exported; by default all except those that are gone or have noindex now."""

    only: str = ""
    """One of `ONLY`: only pages with this change in the last round, or since `since`; any pages if empty."""
    since: int | str | None = None
    """A round, or a time in UTC as ISO 8601: only pages with a change in it or later. `only` names the kind of change;
    without it, new and changed pages are exported.
    """
    min_relevance: float = 0.0
    places: tuple[LanguageOrSite, ...] = ()
    """Only pages of one of these places; of any place if empty."""


def place_of(text: str) -> LanguageOrSite:
    """Parse a language, a site or host, or a site in a language; raises a WrongUseError.

    >>> place_of("zh"), place_of("zh/Example.org")
    (LanguageOrSite(language='zh', site=''), LanguageOrSite(language='zh', site='example.org'))
    """
    first, slash, second = text.strip().lower().partition("/")
    if slash:
        language = first
        site = second
        is_complete = bool(site) and LANGUAGE.fullmatch(language) is not None
    elif LANGUAGE.fullmatch(first):
        language = first
        site = ""
        is_complete = True
    else:
        language = ""
        site = first
        is_complete = bool(site)

    host_name = PORT.sub("", site).removeprefix("[").removesuffix("]")
    is_host = not site or (HOST.fullmatch(host_name) is not None and len(host_name) <= MAX_HOST)
    if not is_complete or not is_host:
        raise WrongUseError(
            "{value} is wrong; allowed are a language (zh), a site or host (example.org), or both (zh/example.org)",
            value=repr(text[:100]),
        )
    return LanguageOrSite(language=language, site=site)


def since_of(text: str) -> int | str:
    """Parse the number of a round, or a time, which is returned in UTC; raises a WrongUseError.

    >>> since_of("3"), since_of("2026-11-22"), since_of("2026-11-22T01:00+02:00")
    (3, '2026-11-22T00:00:00+00:00', '2026-11-21T23:00:00+00:00')
    """
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) > 0:
        return int(text)
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        return time.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise WrongUseError(
            "{value} is wrong; allowed are the number of a round, from 1, and a time such as 2026-11-22 or "
            "2026-11-22T13:00+01:00",
            value=repr(text[:100]),
        ) from None


def offset_of(text: str) -> ChangeOffset:
    """Parse the offset of a change; raises a WrongUseError.

    >>> str(offset_of("1234-5f0c9a7e"))
    '1234-5f0c9a7e'
    """
    try:
        return ChangeOffset.of(text.strip())
    except ValueError:
        raise WrongUseError(
            "{value} is wrong; allowed are 0 and the offsets that come with changes", value=repr(text[:100])
        ) from None


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as an export reads it."""

    key: int
    values: Mapping[str, Any]
    """The values of the requested columns."""
    _: KW_ONLY
    response: StoredResponse | None = None


@dataclass(frozen=True, slots=True)
class PageCounts:
    """How many pages a crawl has in the database, and how many of them an export leaves out."""

    pages: int
    gone: int
    """Pages that are gone or have noindex now."""


class StoredPages:
    """The pages of one crawl for an export, while the connection is open."""

    def __init__(self, connection: Connection, row: RowMapping) -> None:
        self._connection = connection
        self.dialect = connection.dialect.name
        self._crawl_id: int = row["id"]
        self._of_crawl = page.c.crawl_id == self._crawl_id
        self.name: str = row["name"]
        self.topic: str = row["topic"]
        self.round: int = row["round"]
        self._offset_before: int = row["offset_before"]

    def page_counts(self) -> PageCounts:
        """The number of all pages of the crawl, and of those that an export leaves out."""
        # In two queries, because each is answered by an index; a single query would read every text.
        every = select(func.count()).where(self._of_crawl)
        pages = self._connection.execute(every).scalar_one()
        gone = self._connection.execute(every.where(HAS_LEFT)).scalar_one()
        self._connection.rollback()
        return PageCounts(pages=pages, gone=gone)

    def pages(
        self,
        columns: Sequence[str],
        page_filter: PageFilter,
        responses: bool = False,
        where: ColumnElement[bool] | None = None,
    ) -> Iterator[StoredPage]:
        """The pages that match the filter and the condition, with these columns, and their responses if requested."""
        names = dict.fromkeys(("id", "key", "url", "language", *columns))
        query = select(*(page.c[name] for name in names)).select_from(page)
        if responses:
            query = with_responses(query)
        # `+ 0` keeps databases from using the indexes by crawl: they would sort all pages for each of many parts.
        query = query.where(page.c.crawl_id + 0 == self._crawl_id, *self._conditions(page_filter))
        if where is not None:
            query = query.where(where)
        query = query.order_by(page.c.id).limit(ROWS_AT_ONCE)

        # The ids of the first and the last page; null without any page. The query does not search by crawl, so it must
        # not begin before the first page. Pages after the last one were stored since the export began.
        ends = select(func.min(page.c.id), func.max(page.c.id)).where(self._of_crawl)
        first, last = self._connection.execute(ends).one()
        self._connection.rollback()

        read_until = (first or 0) - 1
        while rows := self._next_rows(query.where(page.c.id > read_until, page.c.id <= (last or 0))):
            read_until = rows[-1]["id"]
            for row in rows:
                host = address_of(row["url"]).host.lower()
                language = str(row["language"]).lower()
                if not page_filter.places or any(place.holds(host, language) for place in page_filter.places):
                    response = None
                    if responses and row["body"] is not None:
                        response = response_of(row)
                    yield StoredPage(key=row["key"], values=field_values(row, columns), response=response)

    def erased_digests(self) -> Sequence[str]:
        """The digests of the pages and hosts that were erased."""
        digests = select(erasure.c.digest).where(erasure.c.crawl_id == self._crawl_id).order_by(erasure.c.digest)
        erased = self._connection.execute(digests).scalars().all()
        self._connection.rollback()
        return erased

    def robots_body(self, digest: str) -> bytes | None:
        """The bytes of the robots.txt with this digest, which this crawl obeyed; None if it is not stored."""
        with_digest = robots_file.c.crawl_id == self._crawl_id, robots_file.c.digest == digest
        body = self._connection.execute(select(robots_file.c.body).where(*with_digest)).scalar_one_or_none()
        self._connection.rollback()
        if body is None:
            return None
        return unpacked(body)

    def changes(self, columns: Sequence[str], after: ChangeOffset, responses: bool = False) -> Iterator[StoredPage]:
        """The pages that became new, changed, gone, noindex or erased after an offset, in the order of their offsets,
        with their responses if requested. `changed_values` says which values they have. The key of an erased page is 0.
        """
        until = last_offset(self._connection)
        self._connection.rollback()
        epochs = change_epochs(self._connection)
        self._connection.rollback()
        if not is_of_crawl(after, OffsetBounds(before=self._offset_before, last=until), epochs):
            raise OffsetError(OTHER_DATABASE, after=str(after))
        last = after.number
        while rows := self._next_rows(
            changes_after(self._crawl_id, columns, last, until, responses).limit(ROWS_AT_ONCE)
        ):
            last = rows[-1]["offset"]
            for row in rows:
                response = None
                if responses and row["body"] is not None:
                    response = response_of(row)
                yield StoredPage(key=row["key"] or 0, values=changed_values(row, columns, epochs), response=response)

    def _next_rows(self, query: Any) -> list[RowMapping]:
        """The first rows of a query, up to BYTES_AT_ONCE; the transaction that read them has ended."""
        rows_read = []
        size = 0
        options = {"yield_per": FETCHED_AT_ONCE}
        with self._connection.execute(query, execution_options=options) as rows:
            for row in rows.mappings():
                rows_read.append(row)
                size += sum(len(value) for value in row.values() if isinstance(value, str | bytes))
                if size >= BYTES_AT_ONCE:
                    break
        self._connection.rollback()
        return rows_read

    def _conditions(self, page_filter: PageFilter) -> Iterator[ColumnElement[bool]]:
        """The conditions of a filter; the condition on places also holds for some pages of other places."""
        since = page_filter.since
        if page_filter.only == NOINDEX:
            yield HAS_LEFT
            yield page.c.noindex
        elif page_filter.only == GONE:
            yield HAS_LEFT
            yield ~page.c.noindex
        else:
            yield ~HAS_LEFT
        if page_filter.only:
            yield self._became(page_filter.only, since)
        elif since is not None:
            yield or_(self._became(NEW, since), self._became(CHANGED, since))
        if page_filter.min_relevance > 0:
            yield page.c.relevance >= page_filter.min_relevance
        if page_filter.places:
            yield or_(*map(_may_be_in, page_filter.places))

    def _became(self, kind: str, since: int | str | None) -> ColumnElement[bool]:
        """The condition that a page had this kind of change, one of ONLY, since a round or time, by default the last
        round.
        """
        time_column, round_column = {
            NEW: (page.c.first_seen, page.c.first_round),
            CHANGED: (page.c.changed_at, page.c.changed_round),
            GONE: (page.c.gone_at, page.c.gone_round),
            NOINDEX: (page.c.gone_at, page.c.gone_round),
        }[kind]
        if isinstance(since, str):
            return time_column >= since
        return round_column >= (self.round if since is None else since)


def _may_be_in(place: LanguageOrSite) -> ColumnElement[bool]:
    """A condition that holds for all pages of a place and few others, so that few texts are read in vain.
    `LanguageOrSite.holds` decides.
    """
    condition: ColumnElement[bool] = true()
    if place.language:
        condition = and_(condition, func.lower(page.c.language) == place.language)
    if place.site:
        condition = and_(condition, func.lower(page.c.url).contains(place.site, autoescape=True))
    return condition


def with_responses(query: Select[Any]) -> Select[Any]:
    """A query for pages, with the responses from which their texts were extracted; null for pages without one."""
    is_response = and_(stored_response.c.key == page.c.key, stored_response.c.fetched_at == page.c.fetched_at)
    columns = [stored_response.c[name] for name in RESPONSE_COLUMNS]
    return query.outerjoin(stored_response, is_response).add_columns(*columns)


def changes_after(
    crawl_id: int, columns: Iterable[str], after: int, until: int, responses: bool = False
) -> Select[Any]:
    """The query for the pages whose last change has an offset in these bounds, in order."""
    names = dict.fromkeys(("key", "url", "gone_at", "noindex", "change", *columns))
    # The requested columns may include the offset, which is no column of pages.
    query = select(page_change.c.offset, erasure.c.digest, *(page.c[name] for name in names if name != "offset"))
    pages = page_change.outerjoin(page, page.c.key == page_change.c.key)
    source = pages.outerjoin(erasure, erasure.c.key == page_change.c.key)
    bounds = page_change.c.crawl_id == crawl_id, page_change.c.offset > after, page_change.c.offset <= until
    is_stored_or_erased = page.c.id.is_not(None) | erasure.c.digest.is_not(None)
    query = query.select_from(source).where(*bounds, is_stored_or_erased).order_by(page_change.c.offset)
    if responses:
        query = with_responses(query)
    return query


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetBounds:
    """The bounds of the offsets of a crawl's changes."""

    before: int
    """The last offset of the database before the crawl began; changes up to it are those of other crawls, perhaps of an
    earlier one with the same name.
    """
    last: int
    """The last offset of the database."""


def is_of_crawl(after: ChangeOffset, bounds: OffsetBounds, epochs: ChangeEpochs) -> bool:
    """Whether an offset belongs to a crawl with these bounds, in a database with these epochs; 0 always does."""
    return after.number == 0 or (bounds.before < after.number <= bounds.last and epochs.has(after))


def changed_values(row: RowMapping, columns: Sequence[str], epochs: ChangeEpochs) -> dict[str, Any]:
    """The offset of a page's last change, its id, how it changed, and the values of these columns, which are empty if
    the page was erased. `row` is a row of `changes_after`.
    """
    offset = str(epochs.offset(row["offset"]))
    if row["key"] is None:  # erased: there is no page
        return {"offset": offset, **{name: EMPTY[name] for name in columns}, "page_id": row["digest"], "change": ERASED}
    change = row["change"]
    if row["gone_at"] is not None:
        change = NOINDEX if row["noindex"] else GONE
    return {"offset": offset, **field_values(row, columns), "page_id": page_id(row["url"]), "change": change}


@contextmanager
def crawls_to_export(url: URL) -> Iterator[list[StoredPages]]:
    """The crawls in a database; empty if no crawl was ever run."""
    if not exists(url):
        yield []
        return
    with reading(url) as connection:
        columns = crawl.c.id, crawl.c.name, crawl.c.topic, crawl.c.round, crawl.c.offset_before
        rows = connection.execute(select(*columns).order_by(crawl.c.id))
        crawl_rows = rows.mappings().all()
        connection.rollback()
        yield [StoredPages(connection, row) for row in crawl_rows]
