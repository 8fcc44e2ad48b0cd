"""Pictures that were judged, as people look through them: those kept, those skipped, and those least certain.

A wall is read from its newest verdict backwards, by the numbers of the rows; each kind has its own way through the
index, and the two are merged. What no index tells, such as the model that decided, is looked for in stretches, as many
as there is time for: who wants more goes on from there.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, func, select

from crawler.state.dashboard_tables import label
from crawler.state.marks import PICTURE, key_of
from crawler.state.schema import IS_AUDITED, crawl, site, verdict

KINDS = ("image", "link")
SECONDS = 0.025  # that one look may take; an answer has three of them
STRETCH = 1_000  # verdicts that are looked through at once
NEWEST = 2**63 - 1
SURE = 1e-9  # the nearest that a probability comes to 0 and 1, where the doubt is measured


class Seen(NamedTuple):
    """A picture, or the page behind it, and what was said of it."""

    id: int
    kind: str
    url: str
    target: str
    page: str
    site: str | None
    noise: bool
    probability: float
    keyword: float | None
    redundancy: float | None
    entropy: float | None
    reasons: str
    decided_by: str
    audited: bool
    mistaken: bool | None
    bytes: int | None
    decided_at: str
    sight: str
    file: str | None


class Wanted(NamedTuple):
    """Which verdicts."""

    noise: bool
    kinds: tuple[str, ...] = KINDS
    site_id: int | None = None
    by: str = ""
    """The model that decided; any if it is empty."""
    audited: bool = False
    """Of noise those alone that were chosen to be fetched."""


class Stretch(NamedTuple):
    """Some of the verdicts, the newest first."""

    seen: tuple[Seen, ...]
    before: int
    """The number before which the others are; 0 where there are none."""


class Audited(NamedTuple):
    """What came of the noise of one kind that was chosen to be fetched."""

    kind: str
    chosen: int
    told: int
    """Those of which the download told what they look like."""
    mistaken: int


class _Light(NamedTuple):
    """What is read of a verdict to see whether it is wanted."""

    id: int
    site_id: int
    decided_by: str


_LIGHT = select(verdict.c.id, verdict.c.site_id, verdict.c.decided_by)
_FULL = select(*(site.c.name if name == "site" else verdict.c[name] for name in Seen._fields)).outerjoin(
    site, site.c.id == verdict.c.site_id
)


def wall(connection: Connection, crawl_id: int, wanted: Wanted, before: int, most: int) -> Stretch:
    """The newest verdicts of those wanted whose number is lower; fewer than there are where the time is up."""
    until = time.monotonic() + SECONDS
    many = STRETCH if wanted.by or (wanted.audited and wanted.site_id is not None) else most + 1
    found: list[int] = []
    at = before or NEWEST
    while True:
        lights, at = _stretch(connection, _chosen(crawl_id, wanted), wanted.kinds, at, many)
        found += [one.id for one in lights if _is_wanted(one, wanted)]
        if len(found) > most:
            return Stretch(read(connection, found[:most]), found[most - 1])
        if not at or time.monotonic() > until:
            return Stretch(read(connection, found), at)


def read(connection: Connection, numbers: Sequence[int]) -> tuple[Seen, ...]:
    """The verdicts of these numbers, in this order; those that are gone are left out."""
    rows = connection.execute(_FULL.where(verdict.c.id.in_(numbers))).all() if numbers else ()
    known = {row.id: Seen(*row) for row in rows}
    return tuple(known[number] for number in numbers if number in known)


def _chosen(crawl_id: int, wanted: Wanted) -> Select[Any]:
    chosen = _LIGHT.where(verdict.c.crawl_id == crawl_id)
    if wanted.audited:
        return chosen.where(IS_AUDITED)
    chosen = chosen.where(verdict.c.noise == wanted.noise)
    return chosen if wanted.site_id is None else chosen.where(verdict.c.site_id == wanted.site_id)


def _is_wanted(one: _Light, wanted: Wanted) -> bool:
    return (not wanted.by or one.decided_by == wanted.by) and wanted.site_id in (None, one.site_id)


def _stretch(
    connection: Connection, chosen: Select[Any], kinds: Iterable[str], before: int, many: int
) -> tuple[list[_Light], int]:
    """The newest of all kinds together, and the number before which the others are; 0 where there are none."""
    rows: list[_Light] = []
    cut = 0
    for kind in kinds:
        mine = chosen.where(verdict.c.kind == kind, verdict.c.id < before).order_by(verdict.c.id.desc()).limit(many)
        found = [_Light(*row) for row in connection.execute(mine)]
        rows += found
        if len(found) == many:  # of this kind there may be more, so nothing older counts of the others
            cut = max(cut, found[-1].id)
    return sorted((one for one in rows if one.id >= cut), reverse=True), cut


def doubtful(connection: Connection, crawl_id: int, kind: str, most: int) -> tuple[Seen, ...]:
    """The verdicts nearest to the limit from both sides that nobody has marked, the least certain first.

    The limit is where the crawl's own verdicts on pictures part; how far a probability is from it is measured in
    log-odds, as the limit may be near 1.
    """
    limit = _limit(connection, crawl_id)
    name = connection.execute(select(crawl.c.name).where(crawl.c.id == crawl_id)).scalar_one_or_none() or ""
    until, many = time.monotonic() + SECONDS, 2 * most
    while True:
        near = _nearest(connection, crawl_id, (kind,) if kind else KINDS, limit, many)
        seen = read(connection, near[:many])
        marked = marked_of(connection, name, seen)
        found = tuple(one for one in seen if one.id not in marked)
        if len(found) >= most or len(near) < many or time.monotonic() > until:
            return found[:most]
        many *= 4


def _nearest(connection: Connection, crawl_id: int, kinds: Iterable[str], limit: float, many: int) -> list[int]:
    column = verdict.c.probability
    sides = ((column < limit, column.desc()), (column >= limit, column.asc()))
    found: list[tuple[float, int]] = []
    for kind in kinds:
        for noise in (False, True):
            mine = select(column, verdict.c.id).where(
                verdict.c.crawl_id == crawl_id, verdict.c.kind == kind, verdict.c.noise == noise
            )
            for side, order in sides:
                rows = connection.execute(mine.where(side).order_by(order).limit(many))
                found += [(abs(_odds(row.probability) - _odds(limit)), row.id) for row in rows]
    return [number for _, number in nsmallest(many, found)]


def _limit(connection: Connection, crawl_id: int) -> float:
    """The probability between the content most like noise and the noise least like it, of pictures."""

    def edge(found: ColumnElement[Any], *, noise: bool) -> float | None:
        mine = (verdict.c.crawl_id == crawl_id, verdict.c.kind == "image", verdict.c.noise == noise)
        value: float | None = connection.execute(select(found).where(*mine)).scalar_one()
        return value

    column = verdict.c.probability
    edges = [edge(func.max(column), noise=False), edge(func.min(column), noise=True)]
    known = [one for one in edges if one is not None]
    return sum(known) / len(known) if known else 0.5


def _odds(probability: float) -> float:
    bounded = min(max(probability, SURE), 1 - SURE)
    return math.log(bounded / (1 - bounded))


def audits(connection: Connection, crawl_id: int) -> tuple[Audited, ...]:
    """What the audit of a crawl has found, for each kind of which there is something."""
    counts = (func.count(), func.count(verdict.c.mistaken), func.count().filter(verdict.c.mistaken))
    found = select(verdict.c.kind, *counts).where(verdict.c.crawl_id == crawl_id, IS_AUDITED)
    return tuple(Audited(*row) for row in connection.execute(found.group_by(verdict.c.kind).order_by(verdict.c.kind)))


def marked_of(connection: Connection, name: str, seen: Iterable[Seen]) -> Mapping[int, str]:
    """What people called these verdicts' pictures, by the verdicts' numbers: `content` or `noise`."""
    keys = {one.id: key_of(name, PICTURE, one.url, one.page) for one in seen}
    said: dict[int, str] = {}
    for part in _parts(sorted(set(keys.values()))):
        rows = connection.execute(select(label.c.key, label.c.value).where(label.c.key.in_(part)))
        said.update((row.key, row.value) for row in rows)
    return {number: said[key] for number, key in keys.items() if key in said}


def _parts(keys: list[int]) -> Iterable[list[int]]:
    return (keys[at : at + 500] for at in range(0, len(keys), 500))
