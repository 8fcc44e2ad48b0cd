"""Samples: what each worker did in every few seconds, for charts.

Rows are merged as they age: older than an hour into one a minute, older than a day into one in ten minutes, older than
thirty days into one an hour. Each worker merges its own rows, so that no two wait for each other. Sums are kept.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, delete, func, insert, select

from crawler.store.crawl_tables import sample
from crawler.store.database import dialect_insert, in_chunks

if TYPE_CHECKING:
    from crawler.frontier.batch import WorkerSample

SAMPLES_BETWEEN = 100  # of a worker, between two merges of its rows
MOST_LOOKED_AT = 10_000  # rows of a worker, the latest: older ones are merged already
MOST_MERGED = 2_000  # rows at a time; the rest follows
MINUTE, HOUR, DAY = 60, 3_600, 86_400
SPANS = ((HOUR, 30 * DAY), (10 * MINUTE, DAY), (MINUTE, HOUR))
"""The seconds into which rows are merged, and from which age."""
WIDTHS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, DAY)
"""Seconds that the points of a chart may be apart, up to a day; beyond that, whole days."""
SHARED_WIDTH = 5  # the least for several workers: each has a row in so many seconds
NUMBERS = ("pages", "read", "on_topic", "requests", "failed", "bytes", "pictures", "picture_bytes", "skipped")


class SamplePoint(NamedTuple):
    """What all workers of a crawl did in a few seconds."""

    at: float
    seconds: float
    """How long they worked side by side: pages / seconds is the rate of all workers."""
    workers: int
    waiting: int
    """Waiting addresses of the crawl, at the end."""
    statuses: Mapping[str, int]
    pages: int
    read: int
    on_topic: int
    requests: int
    failed: int
    bytes: int
    pictures: int
    picture_bytes: int
    skipped: int


class SampleWriter:
    """Saves the samples of one worker, and merges its old rows."""

    def __init__(self, crawl_id: int) -> None:
        self.crawl_id = crawl_id
        self._until_merged = 0

    def save(
        self, connection: Connection, number: int, samples: Sequence[WorkerSample], now: float, waiting: int
    ) -> None:
        """Save consecutive samples that end now, of the worker with this number."""
        if not samples:
            return
        ends, rows = now - sum(one.seconds for one in samples), []
        for one in samples:
            begins, ends = ends, ends + one.seconds
            row = {name: getattr(one, name) for name in ("seconds", *NUMBERS)}
            row |= {"crawl_id": self.crawl_id, "number": number, "at": begins, "waiting": waiting}
            rows.append(row | {"statuses": _json(one.statuses)})
        # Clocks may be set back to the very moment of an earlier sample.
        connection.execute(dialect_insert(connection.engine)(sample).on_conflict_do_nothing(), rows)
        self._until_merged -= len(samples)
        if self._until_merged < 0:
            merge_old_samples(connection, self.crawl_id, number, now)
            self._until_merged = SAMPLES_BETWEEN


def merge_old_samples(connection: Connection, crawl_id: int, number: int, now: float) -> int:
    """Merge the rows of a worker that are old enough; how many rows were merged."""
    mine = sample.c.crawl_id == crawl_id, sample.c.number == number
    late = select(sample.c.at).where(*mine, sample.c.at < now - HOUR).order_by(sample.c.at.desc())
    groups: dict[tuple[int, int], list[float]] = defaultdict(list)
    for at in connection.execute(late.limit(MOST_LOOKED_AT)).scalars():
        if (group := _group(at, now)) is not None:
            groups[group].append(at)
    several = [at for times in groups.values() if len(times) > 1 for at in times][:MOST_MERGED]
    found: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for part in in_chunks(several):
        for row in connection.execute(select(sample).where(*mine, sample.c.at.in_(part)).order_by(sample.c.at)):
            found[_group(row.at, now) or (0, 0)].append(row)
        connection.execute(delete(sample).where(*mine, sample.c.at.in_(part)))
    if found:
        added = [_whole(sorted(rows)) for _, rows in sorted(found.items())]
        connection.execute(insert(sample), added)
    return len(several)


def _group(at: float, now: float) -> tuple[int, int] | None:
    """The seconds and the number of the stretch into which a row is merged by now, if it is."""
    for seconds, age in SPANS:
        stretch = int(at // seconds)
        if (stretch + 1) * seconds <= now - age:
            return seconds, stretch
    return None


def _whole(rows: Sequence[Any]) -> dict[str, Any]:
    """The sum of rows of a worker, given in order."""
    whole = rows[-1]._asdict() | {"at": rows[0].at, "statuses": _json(_added(row.statuses for row in rows))}
    sums = {name: sum(getattr(row, name) for row in rows) for name in ("seconds", *NUMBERS)}
    return {**whole, **sums}


SUMS = tuple(func.coalesce(func.sum(sample.c[name]), 0) for name in NUMBERS)
ALL_OF_THEM = (
    func.min(sample.c.at),
    func.max(sample.c.at),
    func.coalesce(func.sum(sample.c.seconds), 0.0),
    func.count(sample.c.number.distinct()),
    func.coalesce(func.aggregate_strings(sample.c.statuses, ","), ""),
)


def sample_points(
    connection: Connection, crawl_id: int, since: float | None = None, most: int = 500
) -> tuple[SamplePoint, ...]:
    """What all workers of a crawl did together, in time order, in at most so many points."""
    mine = _of(crawl_id, since)
    bounds = select(func.min(sample.c.at), func.max(sample.c.at), func.count(sample.c.number.distinct())).where(*mine)
    first, last, sessions = connection.execute(bounds).one()
    if first is None or most < 1:
        return ()
    width = _width(first, last, most, SHARED_WIDTH if sessions > 1 else 1)
    # In thousandths, as the one database rounds to whole numbers and the other cuts off.
    begins = int(first // width) * width
    stretch = cast((sample.c.at - begins) * 1000, BigInteger) // (width * 1000)
    rows = connection.execute(select(*ALL_OF_THEM, *SUMS).where(*mine).group_by(stretch)).all()
    waiting: dict[float, int] = {}
    for part in in_chunks([row[1] for row in rows]):
        found = select(sample.c.at, sample.c.waiting).where(*mine, sample.c.at.in_(part))
        waiting.update((row.at, row.waiting) for row in connection.execute(found))
    return tuple(sorted(_point(row, waiting[row[1]]) for row in rows))


def statuses_of(connection: Connection, crawl_id: int) -> dict[str, int]:
    """How many answers of each status a crawl ever got."""
    return _added(connection.execute(select(sample.c.statuses).where(*_of(crawl_id, None))).scalars())


def _of(crawl_id: int, since: float | None) -> tuple[ColumnElement[bool], ...]:
    mine = sample.c.crawl_id == crawl_id
    return (mine,) if since is None else (mine, sample.c.at >= since)


def _point(row: Sequence[Any], waiting: int) -> SamplePoint:
    at, _, seconds, workers, statuses, *sums = row
    added = _added([statuses]) if statuses else {}
    return SamplePoint(at, seconds / workers, workers, waiting, added, *map(int, sums))


def _width(first: float, last: float, most: int, least: int) -> int:
    """The seconds of each point, of which there are to be so many at most; times are cut at multiples of them."""
    widths = chain(WIDTHS, count(2 * DAY, DAY))
    return next(width for width in widths if width >= least and last // width - first // width < most)


def _added(statuses: Iterable[str]) -> dict[str, int]:
    """Counts by status added up, the statuses in order; a text may hold several, with commas between them."""
    pairs: list[tuple[str, int]] = []
    json.loads(f"[{','.join(statuses)}]", object_pairs_hook=pairs.extend)  # as one list: there may be 20,000
    sums: dict[str, int] = defaultdict(int)
    for status, number in pairs:
        sums[status] += number
    return dict(sorted(sums.items()))


def _json(statuses: Mapping[str, int]) -> str:
    return json.dumps(dict(sorted(statuses.items())), separators=(",", ":"))
