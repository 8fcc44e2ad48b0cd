"""Verdicts on pictures as people look through them, each with the label that people gave the picture.

A label is of a picture as a page shows it, so it may be of several verdicts: that on the picture, and those on the
pages that the picture leads to. Verdict and label have the same key then.
"""

import math
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Integer, Select, case, cast, exists, func, select

from crawler.labels.labels import CONTENT, NEWEST, NOISE
from crawler.store.crawl_tables import crawl, site
from crawler.store.images import PICTURE
from crawler.store.page_tables import IS_AUDITED, IS_NOISE, label, verdict

KINDS = ("image", "link")
SURE = 1e-9  # the nearest that a probability comes to 0 and 1, where the doubt is measured


class ListedVerdict(NamedTuple):
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
    label: str | None
    """What people say of it, if they do: content or noise."""


class VerdictFilter(NamedTuple):
    """Which verdicts."""

    noise: bool
    kinds: tuple[str, ...] = KINDS
    site_id: int | None = None
    by: str = ""
    """The model that called them noise; any if it is empty."""
    audited: bool = False
    """Of noise those alone that were chosen to be fetched."""
    labelled: bool = False
    """Those alone that people labelled."""
    disputed: bool = False
    """Of those labelled the ones that people see otherwise."""


class VerdictPage(NamedTuple):
    """Some of the verdicts, the newest first."""

    verdicts: tuple[ListedVerdict, ...]
    before: int
    """The number before which the others are; 0 where there are none."""


class Audited(NamedTuple):
    """The noise of one kind that was chosen to be fetched, counted."""

    kind: str
    chosen: int
    told: int
    """Those of which the download told what they look like."""
    mistaken: int


class Agreement(NamedTuple):
    """How the labels of a crawl's pictures agree with the verdicts on them."""

    unknown: int = 0
    """Labels of pictures on which this crawl has no verdict now."""
    content_kept: int = 0
    content_skipped: int = 0
    noise_kept: int = 0
    noise_skipped: int = 0


_columns = {name: verdict.c[name] for name in ListedVerdict._fields if name not in ("site", "label")}
_columns |= {"site": site.c.name, "label": label.c.value}
LISTED = (
    select(*(_columns[name].label(name) for name in ListedVerdict._fields))
    .select_from(verdict)
    .outerjoin(site, site.c.id == verdict.c.site_id)
    .outerjoin(label, label.c.key == verdict.c.label_key)
)
IS_LABELLED = exists().where(label.c.key == verdict.c.label_key)


def list_verdicts(
    connection: Connection, crawl_id: int, wanted: VerdictFilter, before: int = 0, most: int = 24
) -> VerdictPage:
    """The newest verdicts of those wanted whose number is lower."""
    numbers: list[int] = []
    for found in _wanted(crawl_id, wanted, before or NEWEST):
        numbers += connection.execute(found.limit(most + 1)).scalars()
    numbers.sort(reverse=True)
    return VerdictPage(read_verdicts(connection, numbers[:most]), numbers[most - 1] if len(numbers) > most else 0)


def read_verdicts(connection: Connection, numbers: Sequence[int]) -> tuple[ListedVerdict, ...]:
    """The verdicts of these numbers, in this order; those that are gone are left out."""
    known = {row.id: ListedVerdict(*row) for row in connection.execute(LISTED.where(verdict.c.id.in_(numbers)))}
    return tuple(known[number] for number in numbers if number in known)


def _wanted(crawl_id: int, wanted: VerdictFilter, before: int) -> Iterator[Select[Any]]:
    """The numbers of the verdicts, in queries of which each has an index for its order or few rows to sort."""
    if wanted.labelled:
        yield _labelled(crawl_id, wanted, before)
        return
    found = select(verdict.c.id).where(verdict.c.crawl_id == crawl_id, verdict.c.id < before)
    # Each as its index has it: what is audited, or was decided by a model, is noise.
    if wanted.site_id is None and not wanted.audited:
        found = found.where(IS_NOISE if wanted.by else verdict.c.noise == wanted.noise)
    elif wanted.site_id is not None:
        found = found.where(verdict.c.noise == wanted.noise)
    for kind in wanted.kinds:
        yield found.where(verdict.c.kind == kind, *_filters(wanted)).order_by(verdict.c.id.desc())


def _labelled(crawl_id: int, wanted: VerdictFilter, before: int) -> Select[Any]:
    # By the labels, of which there are few: + 0 rules out the way through all verdicts in their order.
    number = verdict.c.id + 0
    found = select(number).join_from(label, verdict, label.c.key == verdict.c.label_key).where(*_labels_of(crawl_id))
    found = found.where(number < before, verdict.c.noise == wanted.noise, verdict.c.kind.in_(wanted.kinds))
    if wanted.disputed:
        found = found.where(label.c.value == (CONTENT if wanted.noise else NOISE))
    return found.where(*_filters(wanted)).order_by(number.desc())


def _filters(wanted: VerdictFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.site_id is not None:
        yield verdict.c.site_id == wanted.site_id
    if wanted.audited:
        yield IS_AUDITED
    if wanted.by:
        yield verdict.c.decided_by == wanted.by


def _labels_of(crawl_id: int) -> tuple[ColumnElement[bool], ...]:
    name = select(crawl.c.name).where(crawl.c.id == crawl_id).scalar_subquery()
    return label.c.crawl == name, label.c.kind == PICTURE


def least_certain(connection: Connection, crawl_id: int, kinds: Sequence[str], most: int) -> tuple[ListedVerdict, ...]:
    """The verdicts nearest to the limit from both sides that nobody has labelled, the least certain first.

    The limit is where the crawl's own verdicts on pictures part; how far a probability is from it is measured in
    log-odds, as the limit may be near 1.
    """
    limit, column = _limit(connection, crawl_id), verdict.c.probability
    sides = ((column < limit, column.desc()), (column >= limit, column.asc()))
    found: list[tuple[float, int]] = []
    for kind in kinds:
        for noise in (False, True):
            mine = select(column, verdict.c.id).where(
                verdict.c.crawl_id == crawl_id, verdict.c.kind == kind, verdict.c.noise == noise, ~IS_LABELLED
            )
            for side, order in sides:
                rows = connection.execute(mine.where(side).order_by(order).limit(most))
                found += [(abs(_odds(row.probability) - _odds(limit)), row.id) for row in rows]
    return read_verdicts(connection, [number for _, number in nsmallest(most, found)])


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


def agreement(connection: Connection, crawl_id: int) -> Agreement:
    """How labels agree with the verdicts on their pictures, or on the pages behind where there is none on the picture.

    Of several pages behind a picture one that was kept counts.
    """
    # 0 and 1 are a picture kept and skipped, 2 and 3 a page behind it.
    verdicts = case((verdict.c.kind == "image", 0), else_=2) + cast(verdict.c.noise, Integer)
    first = select(label.c.value, func.min(verdicts).label("first")).outerjoin_from(
        label, verdict, label.c.key == verdict.c.label_key
    )
    each = first.where(*_labels_of(crawl_id)).group_by(label.c.id, label.c.value).subquery()
    counts: dict[str, int] = dict.fromkeys(Agreement._fields, 0)
    for value, found, count in connection.execute(
        select(each.c.value, each.c.first, func.count()).group_by(each.c.value, each.c.first)
    ):
        what = "unknown" if found is None else f"{value}_{'skipped' if found % 2 else 'kept'}"
        counts[what] += count
    return Agreement(**counts)
