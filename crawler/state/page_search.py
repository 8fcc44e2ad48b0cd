"""Pages of a crawl looked through for those that are wanted, for a while, in an order that an index has.

There is no index of words. So pages are looked at part after part: an index alone tells where a part ends, then its
pages are asked whether they are wanted. When enough are found or the time is up, the place is told from which it goes
on, so that a million pages are looked through in many answers that are all quick.

    place   how far it was looked: the page's number, and its relevance where that is the order
    path    the order, and the conditions that the index of that order knows
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from sqlalchemy import ColumnElement, Connection, and_, func, literal, select, tuple_

from crawler.state.schema import page

NEWEST, BEST, WORST = ORDERS = ("newest", "best", "worst")
NEW, CHANGED, GONE, COPY = STATES = ("new", "changed", "gone", "copy")
SECONDS = 0.1
"""That are spent on one look."""
FIRST, FIRST_READ = 2_000, 200
"""Pages of the first part; when their texts are read, fewer."""
LARGEST = 200_000
GROWTH = 8.0


class Wanted(NamedTuple):
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


class _Path(NamedTuple):
    keys: tuple[ColumnElement[Any], ...]
    is_down: bool
    scope: ColumnElement[bool]

    def beyond(self, place: Place | None) -> ColumnElement[bool]:
        """What comes after a place."""
        if place is None:
            return literal(value=True)
        here: Any = place.id if len(self.keys) == 1 else (place.relevance, place.id)
        keys: Any = self.keys[0] if len(self.keys) == 1 else tuple_(*self.keys)
        return keys < here if self.is_down else keys > here  # type: ignore[no-any-return]

    def upto(self, place: Place | None) -> ColumnElement[bool]:
        """What does not come after a place."""
        return literal(value=True) if place is None else ~self.beyond(place)

    @property
    def order(self) -> list[ColumnElement[Any]]:
        """How rows are ordered."""
        return [key.desc() if self.is_down else key.asc() for key in self.keys]


def look(connection: Connection, wanted: Wanted, after: Place | None, most: int, seconds: float = SECONDS) -> Look:
    """Pages that are wanted, so many at most, from a place on; about so many seconds are taken."""
    until, path = time.monotonic() + seconds, _path(wanted)
    hits: list[Hit] = []
    place, size = after, FIRST_READ if wanted.words else FIRST
    while True:
        begun = time.monotonic()
        end = _end(connection, path, place, size)
        stopped = None
        for found, here in _part(connection, path, wanted, (place, end), most - len(hits)):
            if found is not None:
                hits.append(found)
            if len(hits) >= most or time.monotonic() > until:
                stopped = here
                break
        if stopped is not None or end is None:
            break
        place, now = end, time.monotonic()
        if now >= until:
            stopped = end
            break
        size = int(min(LARGEST, size * min(GROWTH, max(0.1, 0.8 * (until - now) / max(now - begun, 1e-4)))))
    looked = _count(connection, path, after, stopped)
    is_last = stopped is None or _end(connection, path, stopped, 1) is None
    return Look(tuple(hits), looked, None if is_last else stopped)


def has_all(words: Sequence[str], *texts: str) -> bool:
    """Whether each of the case-folded words is in one of the texts; the first ones should be the short ones.

    >>> has_all(["äpfel", "蜜蜂"], "ÄPFEL", "关于蜜蜂"), has_all(["strasse"], "Straße"), has_all(["bees"], "be")
    (True, True, False)
    """
    missing = list(words)
    for text in texts:
        folded = ""
        for word in list(missing):
            if word not in text:  # as it mostly is where it has no case, and folding takes time
                folded = folded or text.casefold()
                if word not in folded:
                    continue
            missing.remove(word)
        if not missing:
            return True
    return not missing


def address(url: str) -> str:
    """An address as it is searched: as people write it."""
    return unquote(url) if "%" in url else url


def _path(wanted: Wanted) -> _Path:
    mine = page.c.crawl_id == wanted.crawl
    if wanted.order == NEWEST:
        # A site's pages have an index in this order, too.
        scope = mine if wanted.site is None else and_(mine, page.c.site_id == wanted.site)
        return _Path((page.c.id,), True, scope)
    return _Path((page.c.relevance, page.c.id), wanted.order == BEST, and_(mine, *_relevance(wanted)))


def _relevance(wanted: Wanted) -> list[ColumnElement[bool]]:
    bounds = []
    if wanted.least > 0:
        bounds.append(page.c.relevance >= wanted.least)
    if wanted.most < 1:
        bounds.append(page.c.relevance <= wanted.most)
    return bounds


def _conditions(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    """What a page must be, besides what its path has."""
    if wanted.order == NEWEST:
        yield from _relevance(wanted)
    elif wanted.site is not None:
        # Not by the index of sites, which has another order: all pages of a large site would have to be sorted.
        yield page.c.site_id + 0 == wanted.site
    if wanted.language:
        yield page.c.language == wanted.language
    if wanted.page_type:
        yield page.c.page_type == wanted.page_type
    became = {NEW: page.c.first_round, CHANGED: page.c.changed_round, GONE: page.c.gone_round}.get(
        wanted.state, page.c.round
    )
    if wanted.state in (CHANGED, GONE) and not wanted.round:
        yield became.is_not(None)
    elif wanted.round:
        yield became == wanted.round
    if wanted.state == COPY:
        yield page.c.duplicate_of.is_not(None)


def _part(
    connection: Connection, path: _Path, wanted: Wanted, ends: tuple[Place | None, Place | None], most: int
) -> Iterator[tuple[Hit | None, Place]]:
    """The pages of a part that meet the conditions; those without the words as None."""
    read = [page.c.title, page.c.url, page.c.text] if wanted.words else []
    rows = select(page.c.id, *(path.keys[:-1] or [literal(0.0)]), *read)
    rows = rows.where(path.scope, path.beyond(ends[0]), path.upto(ends[1]), *_conditions(wanted)).order_by(*path.order)
    if not wanted.words:
        rows = rows.limit(most)
    with connection.execute(rows) as found:
        for row in found:
            place = Place(row[0], row[1])
            if not wanted.words:
                yield Hit(row[0], None), place
            elif has_all(wanted.words, row.title, address(row.url), row.text):
                yield Hit(row[0], row.text), place
            else:
                yield None, place


def _end(connection: Connection, path: _Path, after: Place | None, size: int) -> Place | None:
    """The last place of a part of this size; None where there are not so many pages. An index alone tells."""
    keys = select(*path.keys).where(path.scope, path.beyond(after)).order_by(*path.order)
    row = connection.execute(keys.offset(size - 1).limit(1)).one_or_none()
    return None if row is None else Place(row[-1], row[0] if len(row) > 1 else 0.0)


def _count(connection: Connection, path: _Path, after: Place | None, stopped: Place | None) -> int:
    count = select(func.count()).select_from(page).where(path.scope, path.beyond(after), path.upto(stopped))
    return int(connection.execute(count).scalar_one())
