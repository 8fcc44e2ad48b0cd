"""Finds the pages of a crawl that meet a visitor's conditions, in order, a few with each call.

The pages are searched in parts. Indexes of the database return the pages of a part, and check most of the conditions;
rows are read only to check words, rights or copies. When enough pages are found or the time limit is reached, the
result contains the place from which to continue. So a million pages are searched in many quick responses.

A place is the position of one page in the order. The pages after a place form one range in the order of page numbers,
and two ranges in the orders of relevance; a range is a condition in SQL. A part is the first pages of a range. For
example, the best pages first, and after page 7 of relevance 0.8:

- The first range is the pages of relevance 0.8 with a number below 7, the second the pages of a lower relevance.
- A part of the first range is searched. If it is full, its last page is the next place, after which new ranges begin.
- If it is not full, the range ends, and a part of the second range is searched.

If words are searched, a part has only the pages that the full-text index returns (`search_index`). All pages are
searched instead if the index is not complete yet, if all words have one letter, if a search in the index takes too
long, and, in an order of relevance, if very many pages have the words.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, literal_column, select, text, tuple_
from sqlalchemy.sql.operators import eq, ge, is_, is_not, le
from sqlalchemy.sql.selectable import Subquery

from crawler.contrib.dashboard.computed_columns import json_value, right
from crawler.contrib.dashboard.search_index import SearchIndex, readable_address
from crawler.store.page_tables import page

NEWEST, BEST, WORST = ORDERS = ("newest", "best", "worst")
"""By page number, the highest first; by relevance, the highest or the lowest first."""
NEW, CHANGED, GONE, COPY, PRESENT = STATES = ("new", "changed", "gone", "copy", "present")
"""A copy is a near-duplicate of another page. All pages that are not gone are present."""
SEARCH_SECONDS = 0.08
"""The time limit of one search."""
LARGE_PART = 20_000
"""The most pages of a part if indexes check all conditions."""
SMALL_PART = 200
"""The most pages of a part if rows are read."""
PAGES_FROM_INDEX = 2_000
"""The most pages from the full-text index that one search checks."""
AT_ONCE = 100
"""Rows that are read between two checks of the time."""
MOST_ROUND = 2**31 - 1
"""The largest round that fits into PostgreSQL's column."""

ROW = page.alias("row_of")
"""The table of pages under another name, for subqueries that read the row of a page."""
Condition = tuple[str, Callable[[Any, Any], Any], Any]
"""The name of a column, an operator, and the value with which the column is compared."""


@dataclass(frozen=True, slots=True)
class PageQuery:
    """The conditions of a search."""

    crawl: int
    _: KW_ONLY
    words: tuple[str, ...] = ()
    """Case-folded words that must all be in title, text or address."""
    site: int | None = None
    language: str = ""
    page_type: str = ""
    state: str = ""
    """One of STATES."""
    round: int = 0
    """The round in which pages became new, changed or gone; with another state or none, the round of their last fetch.
    0 for any.
    """
    least_relevance: float = 0.0
    most_relevance: float = 1.0
    order: str = NEWEST
    """One of ORDERS."""
    use: str = ""
    """The use whose right is checked, such as ai-train; any if empty."""
    right: str = ""
    """The right of the use: allowed, disallowed, unknown or malformed."""
    licence: str = ""

    @property
    def needs_rows(self) -> bool:
        """Whether the rows of pages must be read, because no index has the columns of a condition."""
        return bool(self.words or self.use or self.licence) or self.state == COPY


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a page in the order."""

    id: int
    _: KW_ONLY
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that matches."""

    id: int
    text: str | None
    """Its text if the search has words, so that texts are read; otherwise None."""


class SearchResult(NamedTuple):
    """The pages that a search found, and how far it got."""

    hits: tuple[Hit, ...]
    searched: int
    """Pages that were searched."""
    place: Place | None
    """The place from which to continue; None at the end."""


def find_pages(
    connection: Connection,
    query: PageQuery,
    after: Place | None,
    most_hits: int,
    index: SearchIndex | None = None,
    seconds: float = SEARCH_SECONDS,
) -> SearchResult:
    """Up to `most_hits` matching pages after a place, or from the first page on if `after` is None. The search ends
    soon after `seconds`. `index` is the full-text index, or None if it is not complete.
    """
    deadline = time.monotonic() + seconds
    indexed_pages = _pages_from_index(query, after, index)
    pages = _Pages(connection, query, indexed_pages)
    # If the full-text index returned as many pages as requested, it may have more. Then a later search continues after
    # the last page that it returned.
    end_of_index: Place | None = None
    if indexed_pages is not None and query.order == NEWEST and len(indexed_pages) == PAGES_FROM_INDEX:
        end_of_index = Place(id=indexed_pages[-1])

    hits: list[Hit] = []
    searched = 0
    ranges = pages.ranges(after)
    while ranges:
        part = pages.part(ranges[0])
        for new_hits, last_checked in pages.matching(part, most_hits - len(hits)):
            hits += new_hits
            if len(hits) >= most_hits or (query.words and time.monotonic() > deadline):
                # Enough pages, or the time limit in a part whose texts are read: continue after the last checked page.
                has_more = end_of_index is not None or any(map(pages.has_any, pages.ranges(last_checked)))
                searched += pages.count_until(part, ranges[0], last_checked)
                return SearchResult(hits=tuple(hits), searched=searched, place=last_checked if has_more else None)

        count = pages.count(part)
        searched += count
        if count < pages.part_limit:  # the range has no further part
            ranges = ranges[1:]
            continue
        # After a full part, the search goes on after its last page; if the time limit is reached, in the next response.
        end = pages.end(ranges[0])
        ranges = pages.ranges(end)
        if time.monotonic() > deadline:
            has_more = any(map(pages.has_any, ranges))
            return SearchResult(hits=tuple(hits), searched=searched, place=end if has_more else end_of_index)
    return SearchResult(hits=tuple(hits), searched=searched, place=end_of_index)


def _pages_from_index(query: PageQuery, after: Place | None, index: SearchIndex | None) -> list[int] | None:
    """The numbers of the pages after a place that the full-text index returns; None if all pages must be searched.

    The index returns pages in the order of numbers. So in an order of relevance it must return all pages with the words
    at once.
    """
    if index is None or not query.words:
        return None
    if query.order == NEWEST:
        return index.find(query.crawl, query.words, after.id if after is not None else None, PAGES_FROM_INDEX)
    # If the index returns one page more than allowed, it has more pages with the words than can be checked at once.
    indexed_pages = index.find(query.crawl, query.words, None, PAGES_FROM_INDEX + 1)
    if indexed_pages is not None and len(indexed_pages) <= PAGES_FROM_INDEX:
        return indexed_pages
    return None


def _conditions(query: PageQuery) -> Iterator[Condition]:
    """The conditions that indexes can check, except the conditions that the ranges of `_Pages` contain: on the site in
    the order of numbers, on the relevance in the other orders.
    """
    if query.order == NEWEST:
        yield from _bounds(query)
    elif query.site is not None:
        yield "site_id", eq, query.site
    if query.language:
        yield "language", eq, query.language
    if query.page_type:
        yield "page_type", eq, query.page_type
    round_column = {NEW: "first_round", CHANGED: "changed_round", GONE: "gone_round"}.get(query.state, "last_round")
    if query.round:
        # No crawl has a round -1 or MOST_ROUND: they stand for rounds that the column cannot hold.
        yield round_column, eq, max(-1, min(query.round, MOST_ROUND))
    elif query.state in (CHANGED, GONE):
        yield round_column, is_not, None
    if query.state == PRESENT:
        yield "gone_round", is_, None


def _bounds(query: PageQuery) -> Iterator[Condition]:
    """The conditions on the relevance."""
    if query.least_relevance > 0:
        yield "relevance", ge, query.least_relevance
    if query.most_relevance < 1:
        yield "relevance", le, query.most_relevance


class _Pages:
    """The pages that are searched, in their order."""

    def __init__(self, connection: Connection, query: PageQuery, indexed_pages: list[int] | None) -> None:
        self.connection = connection
        self.query = query
        self.conditions = [*_conditions(query)]
        self.is_by_number = query.order == NEWEST
        self.is_descending = query.order != WORST
        self.key_columns = ["id"] if self.is_by_number else ["relevance", "id"]
        """The columns by which pages are ordered; their values are the key of a page."""

        # The most pages of a part.
        if indexed_pages is not None:
            self.part_limit = PAGES_FROM_INDEX
        elif query.needs_rows:
            self.part_limit = SMALL_PART
        else:
            self.part_limit = LARGE_PART

        # The condition that all ranges share. With pages from the full-text index, it does not mention the crawl,
        # because SQLite would then scan all pages of the crawl.
        self.scope = page.c.crawl_id == query.crawl
        if indexed_pages is not None:
            self.scope = page.c.id.in_(bindparam("indexed", indexed_pages, expanding=True, literal_execute=True))
        if self.is_by_number and query.site is not None:
            self.scope = and_(self.scope, page.c.site_id == query.site)

        # In the order of the pages' numbers, the database walks along the index page_list, which has all columns of the
        # conditions. In another order, or for pages from the full-text index, it uses an index without these columns,
        # and SQLite would read the rows of pages, with their texts. So `_matches` looks up each page of a part in
        # page_list by a subquery.
        is_in_order = self.is_by_number and indexed_pages is None
        self.checks_list_index = connection.dialect.name == "sqlite" and not is_in_order

    def ranges(self, place: Place | None) -> list[ColumnElement[bool]]:
        """The ranges of the pages after a place, or of all pages if it is None. In an order of relevance, the first
        range has the other pages of the same relevance, the second range the rest.
        """
        if self.is_by_number:
            if place is None:
                return [self.scope]
            return [and_(self.scope, self._is_after(page.c.id, place.id))]
        bounds = [check(page.c.relevance, value) for _, check, value in _bounds(self.query)]
        if place is None:
            return [and_(self.scope, *bounds)]
        # Two conditions instead of a comparison of pairs, for which SQLite would scan all pages of the same relevance.
        same = and_(self.scope, page.c.relevance == place.relevance, self._is_after(page.c.id, place.id))
        return [same, and_(self.scope, self._is_after(page.c.relevance, place.relevance), *bounds)]

    def _is_after(self, column: ColumnElement[Any], value: float) -> ColumnElement[bool]:
        """The condition that a column's value comes after this one in the order."""
        if self.is_descending:
            return column < value
        return column > value

    def _keys(self, page_range: ColumnElement[bool], *names: str) -> Select[Any]:
        """A query for the keys of the pages in a range, in their order, and for columns with these names."""
        columns = [page.c[name] for name in dict.fromkeys([*self.key_columns, *names])]
        return select(*columns).where(page_range).order_by(*self._order(page.c))

    def _order(self, columns: Any) -> list[ColumnElement[Any]]:
        if self.is_descending:
            return [columns[name].desc() for name in self.key_columns]
        return [columns[name].asc() for name in self.key_columns]

    def part(self, page_range: ColumnElement[bool]) -> Subquery:
        """The first pages of a range, with the columns that the conditions check."""
        columns = [] if self.checks_list_index else [name for name, _, _ in self.conditions]
        return self._keys(page_range, *columns).limit(self.part_limit).subquery("part")

    def end(self, page_range: ColumnElement[bool]) -> Place:
        """The place of the last page of the first part of a range, if the part is full."""
        return _place(self.connection.execute(self._keys(page_range).offset(self.part_limit - 1).limit(1)).one())

    def has_any(self, page_range: ColumnElement[bool]) -> bool:
        """Whether a range has any page."""
        return self.connection.execute(self._keys(page_range).limit(1)).first() is not None

    def count(self, part: Subquery) -> int:
        """The number of pages in a part."""
        return int(self.connection.execute(select(func.count()).select_from(part)).scalar_one())

    def count_until(self, part: Subquery, page_range: ColumnElement[bool], place: Place) -> int:
        """The number of pages in the first part of a range up to a place."""
        count = select(func.count())
        if self.is_by_number:
            # Counting in the part would read it to its end, and pages of a site may be spread over the whole crawl.
            count = count.select_from(page).where(page_range, page.c.id >= place.id)
        else:
            keys: Any = tuple_(part.c.relevance, part.c.id)
            place_key = place.relevance, place.id
            count = count.select_from(part).where(keys >= place_key if self.is_descending else keys <= place_key)
        return int(self.connection.execute(count).scalar_one())

    def matching(self, part: Subquery, most_hits: int) -> Iterator[tuple[list[Hit], Place]]:
        """The pages of a part that match, a few at a time, each time with the place up to which pages were checked."""
        keys = select(*(part.c[name] for name in self.key_columns))
        rows = keys.where(*self._matches(part)).order_by(*self._order(part.c))
        if not self.query.words:
            # Without checks of the time, with which a busy machine would return few pages in each search.
            places = [_place(row) for row in self.connection.execute(rows.limit(most_hits))]
            if places:
                yield [Hit(id=place.id, text=None) for place in places], places[-1]
            return

        places = [_place(row) for row in self.connection.execute(rows)]
        for start in range(0, len(places), AT_ONCE):
            read_places = places[start : start + AT_ONCE]
            hit_of_number = self._read([place.id for place in read_places])
            hits = [hit_of_number[place.id] for place in read_places if place.id in hit_of_number][:most_hits]
            most_hits -= len(hits)
            if most_hits:
                yield hits, read_places[-1]
            else:  # enough: the next search continues after the last hit
                last = next(place for place in read_places if place.id == hits[-1].id)
                yield hits, last

    def _matches(self, part: Subquery) -> Iterator[ColumnElement[bool]]:
        """The conditions on the pages of a part."""
        if not self.checks_list_index:
            yield from (check(part.c[name], value) for name, check, value in self.conditions)
        elif self.conditions:
            names = "crawl_id", "id", *(name for name, _, _ in self.conditions)
            listed: dict[str, ColumnElement[Any]] = {name: literal_column(f"listed.{name}") for name in names}
            rows: Select[Any] = select(literal_column("1")).select_from(text("page AS listed INDEXED BY page_list"))
            rows = rows.where(listed["crawl_id"] == self.query.crawl, listed["id"] == part.c.id)
            yield rows.where(*(check(listed[name], value) for name, check, value in self.conditions)).exists()
        # Conditions on rows come last: SQLite checks in this order, and rows are long. They are scalar subqueries,
        # because PostgreSQL turns EXISTS into a join with all rows.
        for condition in self._conditions_of_rows():
            yield select(condition).where(ROW.c.id == part.c.id).scalar_subquery()

    def _conditions_of_rows(self) -> Iterator[ColumnElement[bool]]:
        """The conditions on columns that no index has."""
        dialect = self.connection.dialect.name
        if self.query.state == COPY:
            yield ROW.c.duplicate_of.is_not(None)
        if self.query.use:
            yield right(ROW.c.rights, dialect, self.query.use) == self.query.right
        if self.query.licence:
            yield func.coalesce(json_value(ROW.c.rights, dialect, "licence"), "") == self.query.licence

    def _read(self, numbers: Sequence[int]) -> dict[int, Hit]:
        """The pages with these numbers that belong to the crawl and have the words, by number."""
        rows = select(page.c.id, page.c.title, page.c.url, page.c.text)
        rows = rows.where(page.c.id.in_(numbers), page.c.crawl_id == self.query.crawl)
        return {
            row.id: Hit(id=row.id, text=row.text)
            for row in self.connection.execute(rows)
            if has_all(self.query.words, row.title, readable_address(row.url), row.text)
        }


def has_all(words: Sequence[str], *texts: str) -> bool:
    """Whether each of the case-folded words is in one of the texts; short texts should come first.

    >>> has_all(["äpfel", "蜜蜂"], "ÄPFEL", "关于蜜蜂"), has_all(["strasse"], "Straße"), has_all(["bees"], "be")
    (True, True, False)
    """
    missing = list(words)
    for page_text in texts:
        if not missing:
            break
        folded = page_text.casefold()
        missing = [word for word in missing if word not in folded]
    return not missing


def _place(row: Any) -> Place:
    """The place of a page, from a row of its relevance and number, or of its number alone."""
    return Place(**row._mapping)
