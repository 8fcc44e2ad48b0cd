"""Pages of a crawl looked through for those that are wanted, for a while, in an order that an index has.

There is no index of words. So pages are looked at part after part: an index alone tells which pages a part has, indexes
alone tell which of them meet the conditions, and what only the rows know, the words above all, is asked of those that
are left: by the database as far as it knows letters (`page_sieve`), and then letter by letter. When enough are found or
the time is up, the place is told from which it goes on, so that a million pages are looked through in many answers that
are all quick.

    place   how far it was looked: the page's number, and its relevance where that is the order
    leg     what comes after a place and can be found in an index at once: in the order of relevance, the other pages of
            the same relevance first, which may be very many, and then all others
    part    the first pages of a leg, so many that there is time for them

What a database can ask of a page's texts itself, so that few pages are read for a rare word.

A database compares letters as they are, and A to Z in either case; more would depend on which one it is. A word that is
found in a case-folded text (`page_words`) may be spelled otherwise there: ÄPFEL, Straße, or with the sign of the kelvin
or the ligature ﬁ. So the database is asked for that stretch of the word which can be spelled in one way alone:

    other   a letter in whose place another single letter may stand; it is left open which one
    wide    letters in whose place one sign may stand that is case-folded to more letters than one, such as ß to ss, or
            to more than the word has of them at its beginning and end

What the database lets through is looked at letter by letter; it lets all through that is found then.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

from sqlalchemy import ColumnElement, Connection, Select, and_, collate, func, literal_column, or_, select, text, tuple_
from sqlalchemy.sql.operators import eq, ge, is_not, le
from sqlalchemy.sql.selectable import Subquery

from crawler.dashboard.views.page_list import address, has_all
from crawler.store.page_tables import page

NEWEST, BEST, WORST = ORDERS = ("newest", "best", "worst")
NEW, CHANGED, GONE, COPY = STATES = ("new", "changed", "gone", "copy")
SECONDS = 0.08
"""That are spent on one look."""
FIRST, FIRST_SLOW = 2_000, 20
"""Pages of the first part; fewer where each of them is asked for: they may be very long."""
LARGEST, LARGEST_READ = 50_000, 400
"""Pages of a part at most; fewer where rows are read, as a disk may be quick and then slow."""
MOST_ROUND = 2**31 - 1
"""That PostgreSQL has a column for."""
GROWTH, SHARE = 8.0, 0.5
"""How many times larger a part may be than the one before, and what share of the time that is left it may take."""
AT_ONCE = 100
"""Rows that are read between two looks at the clock."""

ROW = page.alias("row_of")
"""The rows of a part's pages."""
Condition = tuple[str, Callable[[Any, Any], Any], Any]
"""A column, and what it must be."""


class PageQuery(NamedTuple):
    """What pages are looked for."""

    crawl: int
    words: tuple[str, ...] = ()
    """Case-folded; all must be in title, text or address."""
    site: int | None = None
    language: str = ""
    page_type: str = ""
    state: str = ""
    """One of STATES."""
    round: int = 0
    """In which they became that, or were last fetched; 0 for any."""
    least: float = 0.0
    most: float = 1.0
    """Bounds of the relevance."""
    order: str = NEWEST
    """One of ORDERS."""

    @property
    def is_read(self) -> bool:
        """Whether the rows must be read."""
        return bool(self.words) or self.state == COPY


class Place(NamedTuple):
    """How far pages were looked through."""

    id: int
    relevance: float = 0.0


class Hit(NamedTuple):
    """A page that is wanted."""

    id: int
    text: str | None
    """Its text, where it was read."""


class Look(NamedTuple):
    """What was found, and how far it was looked."""

    hits: tuple[Hit, ...]
    looked: int
    """Pages that were looked at."""
    place: Place | None
    """From where on to look; None at the end."""


def look(connection: Connection, wanted: PageQuery, after: Place | None, most: int, seconds: float = SECONDS) -> Look:
    """Pages that are wanted, so many at most, from a place on; about so many seconds are taken."""
    until, path = time.monotonic() + seconds, _Path(connection, wanted)
    hits: list[Hit] = []
    looked, size, legs = 0, FIRST_SLOW if wanted.is_read or path.is_apart else FIRST, path.legs(after)
    largest = LARGEST_READ if wanted.is_read else LARGEST
    while legs:
        begun = time.monotonic()
        part = path.part(legs[0], size)
        end = path.end(legs[0], size)
        for found, here in path.pages(part, most - len(hits)):
            hits += found
            if len(hits) >= most or (wanted.words and time.monotonic() > until):
                return Look(tuple(hits), looked + path.count(part, here), here if path.has_more(here) else None)
        if end is None:
            looked += path.count(part)
            legs = legs[1:]
            continue
        looked, legs, now = looked + size, path.legs(end), time.monotonic()
        if now >= until:
            return Look(tuple(hits), looked, end if path.has_more(end) else None)
        size = int(min(largest, max(1, size * min(GROWTH, SHARE * (until - now) / max(now - begun, 1e-4)))))
    return Look(tuple(hits), looked, None)


def _conditions(wanted: PageQuery) -> Iterator[Condition]:
    """What a page must be, besides what its place in the order tells and what only its row tells."""
    if wanted.order == NEWEST:
        yield from _bounds(wanted)
    elif wanted.site is not None:
        yield "site_id", eq, wanted.site
    if wanted.language:
        yield "language", eq, wanted.language
    if wanted.page_type:
        yield "page_type", eq, wanted.page_type
    became = {NEW: "first_round", CHANGED: "changed_round", GONE: "gone_round"}.get(wanted.state, "round")
    if wanted.round:
        yield became, eq, max(-1, min(wanted.round, MOST_ROUND))
    elif wanted.state in (CHANGED, GONE):
        yield became, is_not, None


def _bounds(wanted: PageQuery) -> Iterator[Condition]:
    if wanted.least > 0:
        yield "relevance", ge, wanted.least
    if wanted.most < 1:
        yield "relevance", le, wanted.most


class _Path:
    """The order in which pages are looked at, and what is asked of them."""

    def __init__(self, connection: Connection, wanted: PageQuery) -> None:
        self.connection, self.wanted, self.conditions = connection, wanted, [*_conditions(wanted)]
        self.by_number, self.is_down = wanted.order == NEWEST, wanted.order != WORST
        self.names = ["id"] if self.by_number else ["relevance", "id"]
        self.scope = page.c.crawl_id == wanted.crawl
        if self.by_number and wanted.site is not None:
            self.scope = and_(self.scope, page.c.site_id == wanted.site)
        # In the order of its pages' numbers, the index of a whole crawl knows all that is asked. Of other indexes'
        # pages it is asked one by one: SQLite would read their rows, with all their texts.
        self.is_apart = connection.dialect.name == "sqlite" and not (self.by_number and wanted.site is None)

    def legs(self, place: Place | None) -> list[ColumnElement[bool]]:
        """What comes after a place."""
        if self.by_number:
            return [self.scope if place is None else and_(self.scope, self._beyond(page.c.id, place.id))]
        bounds = [check(page.c.relevance, value) for _, check, value in _bounds(self.wanted)]
        if place is None:
            return [and_(self.scope, *bounds)]
        # Not as a pair: SQLite would go through all pages of the same relevance for each question.
        same = and_(self.scope, page.c.relevance == place.relevance, self._beyond(page.c.id, place.id))
        return [same, and_(self.scope, self._beyond(page.c.relevance, place.relevance), *bounds)]

    def _beyond(self, column: ColumnElement[Any], value: float) -> ColumnElement[bool]:
        return column < value if self.is_down else column > value

    def part(self, leg: ColumnElement[bool], size: int) -> Subquery:
        """The first pages of a leg, with what is asked of them."""
        asked = [] if self.is_apart else [name for name, _, _ in self.conditions]
        columns = [page.c[name] for name in dict.fromkeys([*self.names, *asked])]
        return select(*columns).where(leg).order_by(*self._order(page.c)).limit(size).subquery("part")

    def end(self, leg: ColumnElement[bool], size: int) -> Place | None:
        """The last place of a part of this size; None where a leg has not so many pages."""
        keys = select(*(page.c[name] for name in self.names)).where(leg).order_by(*self._order(page.c))
        row = self.connection.execute(keys.offset(size - 1).limit(1)).one_or_none()
        return None if row is None else _place(row)

    def count(self, part: Subquery, place: Place | None = None) -> int:
        """How many pages a part has, or has up to a place."""
        rows = select(func.count()).select_from(part)
        if place is not None:
            keys: Any = tuple_(*(part.c[name] for name in self.names))
            here = tuple(getattr(place, name) for name in self.names)
            rows = rows.where(keys >= here if self.is_down else keys <= here)
        return int(self.connection.execute(rows).scalar_one())

    def has_more(self, place: Place) -> bool:
        """Whether there are pages after a place."""
        return any(self.end(leg, 1) is not None for leg in self.legs(place))

    def pages(self, part: Subquery, most: int) -> Iterator[tuple[list[Hit], Place]]:
        """Those pages of a part that are wanted, a few at a time, and how far that is."""
        rows = select(*(part.c[name] for name in self.names)).where(*self._met(part)).order_by(*self._order(part.c))
        if not self.wanted.words:
            # All at once: the index was asked already, and a machine with much to do must not have one page a look.
            if found := [_place(row) for row in self.connection.execute(rows.limit(most))]:
                yield [Hit(place.id, None) for place in found], found[-1]
            return
        places = [_place(row) for row in self.connection.execute(rows)]
        for start in range(0, len(places), AT_ONCE):
            some = places[start : start + AT_ONCE]
            wanted = self._read([place.id for place in some])
            those = [place for place in some if place.id in wanted][:most]
            most -= len(those)
            # Where enough are found, what comes after the last one is left for the next look.
            yield [wanted[place.id] for place in those], some[-1] if most else those[-1]

    def _met(self, part: Subquery) -> Iterator[ColumnElement[bool]]:
        """The conditions, of the pages of a part."""
        if self.is_apart:
            yield from self._apart(part)
        else:
            yield from (check(part.c[name], value) for name, check, value in self.conditions)
        if asked := [*self._of_rows()]:  # last: SQLite asks in this order, and rows are long
            # Not as EXISTS, of which PostgreSQL makes a join with all rows there are.
            yield select(and_(*asked)).where(ROW.c.id == part.c.id).scalar_subquery()

    def _apart(self, part: Subquery) -> Iterator[ColumnElement[bool]]:
        """What indexes tell of the pages of a part, one by one."""
        for index in ("page_site", "page_list"):
            mine = [one for one in self.conditions if (one[0] == "site_id") == (index == "page_site")]
            if mine:
                column: dict[str, ColumnElement[Any]] = {
                    name: literal_column(f"beside.{name}") for name in ("crawl_id", "id", *(n for n, _, _ in mine))
                }
                rows: Select[Any] = select(literal_column("1")).select_from(text(f"page AS beside INDEXED BY {index}"))
                rows = rows.where(column["crawl_id"] == self.wanted.crawl, column["id"] == part.c.id)
                yield rows.where(*(check(column[name], value) for name, check, value in mine)).exists()

    def _of_rows(self) -> Iterator[ColumnElement[bool]]:
        """What the database is asked of a page's row: all that it can tell."""
        if self.wanted.state == COPY:
            yield ROW.c.duplicate_of.is_not(None)
        yield from sieved(self.wanted.words, ROW.c, self.connection.dialect.name)

    def _read(self, numbers: Sequence[int]) -> dict[int, Hit]:
        """Which of these pages have the words."""
        rows = select(page.c.id, page.c.title, page.c.url, page.c.text).where(page.c.id.in_(numbers))
        return {
            row.id: Hit(row.id, row.text)
            for row in self.connection.execute(rows)
            if has_all(self.wanted.words, row.title, address(row.url), row.text)
        }

    def _order(self, columns: Any) -> list[ColumnElement[Any]]:
        return [columns[name].desc() if self.is_down else columns[name].asc() for name in self.names]


def _place(row: Any) -> Place:
    return Place(row[-1], row[0] if len(row) > 1 else 0.0)


LONGEST = 32
"""Letters of a word that are looked at: more of them hardly let fewer pages through."""
LEAST = 2
"""Letters that a stretch must have; one that is not of ASCII counts twice."""
LAST = 0x1FFFF
"""No sign after this one has cases."""
OTHER, WIDE = " ", "\n"  # a word has neither


class Sieve(NamedTuple):
    """Patterns of LIKE, with a backslash before what they mean literally; A to Z are caseless."""

    text: str
    """What a text or an address has that the word is in."""
    address: str
    """What an address has in whose signs such as %E8%9C%82 the word may be."""


def sieve(word: str) -> Sieve | None:
    r"""What pages with a case-folded word have; None where that would be next to nothing.

    >>> sieve("honig")
    Sieve(text='%honig%', address='%\\%%')
    >>> sieve("kekse"), sieve("蜜蜂").address
    (Sieve(text='%e__e%', address='%\\%%'), '%\\%e8\\%9c\\%9c\\%e8\\%9c\\%82%')
    >>> sieve("ﬁ".casefold()), sieve("пчёлы")
    (None, None)
    """
    stretches = [one.strip(OTHER) for one in _masked(word[:LONGEST]).split(WIDE)]
    best = max(stretches, key=_weight)
    if _weight(best) < LEAST:
        return None
    foreign = max(re.findall(r"[^\x00-\x7f]+", best), key=len, default="")
    return Sieve(_pattern(best), _pattern(quote(foreign).lower() or "%"))


def _masked(word: str) -> str:
    """The word with OTHER and WIDE in the place of letters that may be spelled otherwise."""
    others, wide = _spellings()
    masked = [OTHER if letter in others else letter for letter in word]
    for found in wide.finditer(word):
        start, end = found.span(1)
        masked[start:end] = WIDE * (end - start)
    return "".join(masked)


def _weight(stretch: str) -> int:
    return sum(1 if letter.isascii() else 2 for letter in stretch if letter != OTHER)


def _pattern(stretch: str) -> str:
    return "%" + re.sub(r"([%_\\])", r"\\\1", stretch).replace(OTHER, "_") + "%"


@cache
def _spellings() -> tuple[frozenset[str], re.Pattern[str]]:
    """The letters that another one is case-folded to, and what several are that one is case-folded to.

    Of several, a word may have the last ones at its beginning and the first ones at its end.
    """
    folded = {sign.casefold() for sign in map(chr, range(0x80, LAST + 1)) if sign.casefold() != sign}
    several = [one for one in folded if len(one) > 1]
    cuts = {re.escape(one) for one in several}
    for one in several:
        cuts |= {rf"\A{re.escape(one[at:])}" for at in range(1, len(one))}
        cuts |= {rf"{re.escape(one[:at])}\Z" for at in range(1, len(one))}
    # Signs that no database takes are in no text either.
    longest = sorted([*cuts, r"[\0\ud800-\udfff]"], key=lambda cut: (-len(cut.strip("\\AZ")), cut))
    return frozenset(folded - set(several)), re.compile(f"(?=({'|'.join(longest)}))")


def sieved(words: Iterable[str], columns: Any, database: str) -> Iterator[ColumnElement[bool]]:
    """What the rows of pages with all the words meet, as far as the database is asked."""
    # From A to Z SQLite's LIKE has no case; PostgreSQL's has, and ILIKE asks for the case of every letter there is.
    plain = (columns.title, columns.url, columns.text)
    title, url, text = plain if database == "sqlite" else (func.lower(collate(column, "C")) for column in plain)
    # A long word is in few texts: the others are not looked through for the short ones.
    for found in filter(None, map(sieve, sorted(words, key=len, reverse=True))):
        asked = ((title, found.text), (url, found.text), (url, found.address), (text, found.text))
        yield or_(*(column.like(pattern, escape="\\") for column, pattern in asked))
