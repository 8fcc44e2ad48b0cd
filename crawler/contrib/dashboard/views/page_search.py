"""The pages of a crawl that meet a visitor's conditions, some at a time and in order.

Pages are read in parts, each the first pages that follow a place in the order. Indexes of the database tell which pages
a part has and which of them meet the conditions; the rows are read of those alone whose words must be checked. When
enough are found or the time is up, the answer says from which place to go on: so a million pages are searched in many
answers that are all quick.

For words, a part has only pages that the full-text index names (`search_index`). All pages are read where the index
does not have them yet, for words of one letter, and in the order of relevance where very many pages have the words.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, literal_column, select, text, tuple_
from sqlalchemy.sql.operators import eq, ge, is_, is_not, le
from sqlalchemy.sql.selectable import Subquery

from crawler.contrib.dashboard.computed_columns import json_value, right
from crawler.contrib.dashboard.search_index import SearchIndex, address
from crawler.store.page_tables import page

NEWEST, BEST, WORST = ORDERS = ("newest", "best", "worst")
NEW, CHANGED, GONE, COPY, PRESENT = STATES = ("new", "changed", "gone", "copy", "present")
SECONDS = 0.08
"""The time limit of one look, in seconds."""
LARGE = 20_000
"""Pages of a part."""
SMALL = 200
"""Pages of a part where rows are read."""
NAMED = 2_000
"""Pages that the full-text index is asked for at once."""
AT_ONCE = 100
"""Rows that are read between two looks at the clock."""
MOST_ROUND = 2**31 - 1
"""The largest round that fits into PostgreSQL's column."""

ROW = page.alias("row_of")
"""The rows of a part's pages."""
Condition = tuple[str, Callable[[Any, Any], Any], Any]
"""A column, and what it must be."""


@dataclass(frozen=True, slots=True)
class PageQuery:
    """What pages are looked for."""

    crawl: int
    _: KW_ONLY
    words: tuple[str, ...] = ()
    """Case-folded; all must be in title, text or address."""
    site: int | None = None
    language: str = ""
    page_type: str = ""
    state: str = ""
    """One of STATES."""
    round: int = 0
    """The round in which they became that, or were last fetched; 0 for any."""
    least: float = 0.0
    most: float = 1.0
    """Bounds of the relevance."""
    order: str = NEWEST
    """One of ORDERS."""
    use: str = ""
    right: str = ""
    """What the use must be: allowed, disallowed, unknown or malformed."""
    licence: str = ""

    @property
    def is_read(self) -> bool:
        """Whether the rows must be read."""
        return bool(self.words or self.use or self.licence) or self.state == COPY


@dataclass(frozen=True, slots=True)
class Place:
    """How far pages were looked through."""

    id: int
    _: KW_ONLY
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that is wanted."""

    id: int
    text: str | None
    """Its text, where it was read."""


class Look(NamedTuple):
    """What was found, and how far it was looked."""

    hits: tuple[Hit, ...]
    looked: int
    place: Place | None
    """From where on to look; None at the end."""


def look(
    connection: Connection,
    query: PageQuery,
    after: Place | None,
    most: int,
    index: SearchIndex | None = None,
    seconds: float = SECONDS,
) -> Look:
    """Pages that are wanted, so many at most, from a place on; about so many seconds are taken."""
    until = time.monotonic() + seconds
    named = _named(query, after, index)
    pages = _Pages(connection, query, named)
    rest = Place(id=named[-1]) if named is not None and query.order == NEWEST and len(named) == NAMED else None
    hits: list[Hit] = []
    looked = 0
    legs = pages.legs(after)
    while legs:
        part = pages.part(legs[0])
        for met_hits, here in pages.met(part, most - len(hits)):
            hits += met_hits
            if len(hits) >= most or (query.words and time.monotonic() > until):
                has_more = rest is not None or any(pages.has_any(leg) for leg in pages.legs(here))
                looked += pages.count_until(part, legs[0], here)
                return Look(hits=tuple(hits), looked=looked, place=here if has_more else None)
        size = pages.count(part)
        looked += size
        end = pages.end(legs[0]) if size == pages.size else None
        legs = legs[1:] if end is None else pages.legs(end)
        if end is not None and time.monotonic() > until:
            return Look(hits=tuple(hits), looked=looked, place=end if any(map(pages.has_any, legs)) else rest)
    return Look(hits=tuple(hits), looked=looked, place=rest)


def _named(query: PageQuery, after: Place | None, index: SearchIndex | None) -> list[int] | None:
    """The pages after a place that the full-text index names; None where all must be looked through."""
    if index is None or not query.words:
        return None
    if query.order == NEWEST:
        return index.find(query.crawl, query.words, after.id if after is not None else None, NAMED)
    named_pages = index.find(query.crawl, query.words, None, NAMED + 1)
    if named_pages is not None and len(named_pages) <= NAMED:
        return named_pages
    return None


def _conditions(query: PageQuery) -> Iterator[Condition]:
    """What a page must be, besides what its place in the order tells and what only its row tells."""
    if query.order == NEWEST:
        yield from _bounds(query)
    elif query.site is not None:
        yield "site_id", eq, query.site
    if query.language:
        yield "language", eq, query.language
    if query.page_type:
        yield "page_type", eq, query.page_type
    became = {NEW: "first_round", CHANGED: "changed_round", GONE: "gone_round"}.get(query.state, "last_round")
    if query.round:
        yield became, eq, max(-1, min(query.round, MOST_ROUND))
    elif query.state in (CHANGED, GONE):
        yield became, is_not, None
    if query.state == PRESENT:
        yield "gone_round", is_, None


def _bounds(query: PageQuery) -> Iterator[Condition]:
    if query.least > 0:
        yield "relevance", ge, query.least
    if query.most < 1:
        yield "relevance", le, query.most


class _Pages:
    """The pages that are looked through, in their order."""

    def __init__(self, connection: Connection, query: PageQuery, named: list[int] | None) -> None:
        self.connection = connection
        self.wanted = query
        self.conditions = [*_conditions(query)]
        self.by_number = query.order == NEWEST
        self.is_down = query.order != WORST
        self.names = ["id"] if self.by_number else ["relevance", "id"]
        self.size = NAMED if named is not None else SMALL if query.is_read else LARGE
        self.scope = page.c.crawl_id == query.crawl
        if named is not None:  # of this crawl alone, or SQLite would go through all that the crawl has
            self.scope = page.c.id.in_(bindparam("named", named, expanding=True, literal_execute=True))
        if self.by_number and query.site is not None:
            self.scope = and_(self.scope, page.c.site_id == query.site)
        # In the order of the pages' numbers, one index knows all that is asked. Of pages that another index or the
        # search names it is asked one by one: SQLite would read their rows, with all their texts.
        is_in_order = self.by_number and named is None
        self.is_apart = connection.dialect.name == "sqlite" and not is_in_order

    def legs(self, place: Place | None) -> list[ColumnElement[bool]]:
        """What follows a place: in the order of relevance the others of the same relevance, and then the rest."""
        if self.by_number:
            return [self.scope if place is None else and_(self.scope, self._beyond(page.c.id, place.id))]
        bounds = [check(page.c.relevance, value) for _, check, value in _bounds(self.wanted)]
        if place is None:
            return [and_(self.scope, *bounds)]
        # Not as a pair: SQLite would go through all pages of the same relevance for each question.
        same = and_(self.scope, page.c.relevance == place.relevance, self._beyond(page.c.id, place.id))
        return [same, and_(self.scope, self._beyond(page.c.relevance, place.relevance), *bounds)]

    def _beyond(self, column: ColumnElement[Any], value: float) -> ColumnElement[bool]:
        if self.is_down:
            return column < value
        return column > value

    def _keys(self, leg: ColumnElement[bool], *names: str) -> Select[Any]:
        columns = [page.c[name] for name in dict.fromkeys([*self.names, *names])]
        return select(*columns).where(leg).order_by(*self._order(page.c))

    def _order(self, columns: Any) -> list[ColumnElement[Any]]:
        return [columns[name].desc() if self.is_down else columns[name].asc() for name in self.names]

    def part(self, leg: ColumnElement[bool]) -> Subquery:
        """The first pages of a leg, with what is asked of them."""
        columns = [] if self.is_apart else [name for name, _, _ in self.conditions]
        return self._keys(leg, *columns).limit(self.size).subquery("part")

    def end(self, leg: ColumnElement[bool]) -> Place:
        """The last place of a part that has as many pages as a part may have."""
        return _place(self.connection.execute(self._keys(leg).offset(self.size - 1).limit(1)).one())

    def has_any(self, leg: ColumnElement[bool]) -> bool:
        return self.connection.execute(self._keys(leg).limit(1)).first() is not None

    def count(self, part: Subquery) -> int:
        """How many pages a part has."""
        return int(self.connection.execute(select(func.count()).select_from(part)).scalar_one())

    def count_until(self, part: Subquery, leg: ColumnElement[bool], place: Place) -> int:
        """How many pages a part has up to a place."""
        rows = select(func.count())
        if self.by_number:  # not all of the part: that of a site may be spread over all pages of a crawl
            rows = rows.select_from(page).where(leg, page.c.id >= place.id)
        else:
            keys: Any = tuple_(part.c.relevance, part.c.id)
            here = place.relevance, place.id
            rows = rows.select_from(part).where(keys >= here if self.is_down else keys <= here)
        return int(self.connection.execute(rows).scalar_one())

    def met(self, part: Subquery, most: int) -> Iterator[tuple[list[Hit], Place]]:
        """Those pages of a part that are wanted, a few at a time, and how far that is."""
        rows = select(*(part.c[name] for name in self.names)).where(*self._met(part)).order_by(*self._order(part.c))
        if not self.wanted.words:
            # All at once: the index was asked already, and a machine with much to do must not have one page a look.
            met_places = [_place(row) for row in self.connection.execute(rows.limit(most))]
            if met_places:
                yield [Hit(id=place.id, text=None) for place in met_places], met_places[-1]
            return
        places = [_place(row) for row in self.connection.execute(rows)]
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            hit_of_number = self._read([place.id for place in some])
            those = [place for place in some if place.id in hit_of_number][:most]
            most -= len(those)
            # Where enough are found, what comes after the last one is left for the next look.
            yield [hit_of_number[place.id] for place in those], some[-1] if most else those[-1]

    def _met(self, part: Subquery) -> Iterator[ColumnElement[bool]]:
        """The conditions, of the pages of a part."""
        if not self.is_apart:
            yield from (check(part.c[name], value) for name, check, value in self.conditions)
        elif self.conditions:
            names = "crawl_id", "id", *(name for name, _, _ in self.conditions)
            beside: dict[str, ColumnElement[Any]] = {name: literal_column(f"beside.{name}") for name in names}
            rows: Select[Any] = select(literal_column("1")).select_from(text("page AS beside INDEXED BY page_list"))
            rows = rows.where(beside["crawl_id"] == self.wanted.crawl, beside["id"] == part.c.id)
            yield rows.where(*(check(beside[name], value) for name, check, value in self.conditions)).exists()
        # Last: SQLite asks in this order, and rows are long. Not as EXISTS, of which PostgreSQL makes a join with all
        # rows there are.
        for condition in self._of_rows():
            yield select(condition).where(ROW.c.id == part.c.id).scalar_subquery()

    def _of_rows(self) -> Iterator[ColumnElement[bool]]:
        """The conditions that only a page's row tells."""
        dialect = self.connection.dialect.name
        if self.wanted.state == COPY:
            yield ROW.c.duplicate_of.is_not(None)
        if self.wanted.use:
            yield right(ROW.c.rights, dialect, self.wanted.use) == self.wanted.right
        if self.wanted.licence:
            yield func.coalesce(json_value(ROW.c.rights, dialect, "licence"), "") == self.wanted.licence

    def _read(self, numbers: Sequence[int]) -> dict[int, Hit]:
        """Which of these pages are of the crawl and have the words."""
        rows = select(page.c.id, page.c.title, page.c.url, page.c.text)
        rows = rows.where(page.c.id.in_(numbers), page.c.crawl_id == self.wanted.crawl)
        return {
            row.id: Hit(id=row.id, text=row.text)
            for row in self.connection.execute(rows)
            if has_all(self.wanted.words, row.title, address(row.url), row.text)
        }


def has_all(words: Sequence[str], *texts: str) -> bool:
    """Whether each of the case-folded words is in one of the texts; the first ones should be the short ones.

    >>> has_all(["äpfel", "蜜蜂"], "ÄPFEL", "关于蜜蜂"), has_all(["strasse"], "Straße"), has_all(["bees"], "be")
    (True, True, False)
    """
    missing = list(words)
    for page_text in texts:
        folded = page_text.casefold() if missing else ""
        missing = [word for word in missing if word not in folded]
    return not missing


def _place(row: Any) -> Place:
    return Place(id=row[-1], relevance=row[0] if len(row) > 1 else 0.0)
