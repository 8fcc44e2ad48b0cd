"""Samples for charts: what each worker did in intervals of a few seconds.

Old rows are merged: after an hour into one per minute, after a day into one per ten minutes, after thirty days into
one per hour. The sums stay the same. Each worker merges its own rows, so that workers do not wait for each other.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from crawler.frontier.batch import SAMPLE_COUNTS, WorkerSample
from crawler.store.crawl_tables import sample
from crawler.store.database import dialect_insert, in_chunks

SAMPLES_BETWEEN_MERGES = 100
"""Samples that a worker saves between two merges of its rows."""
MOST_READ = 10_000
"""The most rows of a worker that are searched for rows to merge: the latest ones, as older ones were merged before."""
MOST_MERGED = 2_000
"""The most rows that are merged in one transaction; the others are merged later."""
MINUTE = 60
HOUR = 3_600
DAY = 86_400
SPANS = ((HOUR, 30 * DAY), (10 * MINUTE, DAY), (MINUTE, HOUR))
"""The lengths of merged intervals, and the age from which rows are merged into each, in seconds; longest first."""


class SampleWriter:
    """Saves the samples of one worker, and merges its old rows."""

    def __init__(self, crawl_id: int) -> None:
        self.crawl_id = crawl_id
        self._samples_until_merge = 0
        """How many more samples are saved before the next merge; the first call of `save` merges."""

    def save(
        self, connection: Connection, number: int, samples: Sequence[WorkerSample], now: float, waiting: int
    ) -> None:
        """Save consecutive samples of the worker with this number; the last one ends now.

        `waiting` is the number of queued addresses of the crawl.
        """
        if not samples:
            return
        ends = now - sum(worker_sample.seconds for worker_sample in samples)
        rows = []
        for worker_sample in samples:
            begins = ends
            ends = ends + worker_sample.seconds
            row = {name: getattr(worker_sample, name) for name in ("seconds", *SAMPLE_COUNTS)}
            row |= {"crawl_id": self.crawl_id, "number": number, "at": begins, "waiting": waiting}
            rows.append(row | {"statuses": _json(worker_sample.statuses)})
        # The clock may have been set back to the time of an earlier sample.
        connection.execute(dialect_insert(connection.engine)(sample).on_conflict_do_nothing(), rows)
        self._samples_until_merge -= len(samples)
        if self._samples_until_merge < 0:
            merge_old_samples(connection, self.crawl_id, number, now)
            self._samples_until_merge = SAMPLES_BETWEEN_MERGES


def merge_old_samples(connection: Connection, crawl_id: int, number: int, now: float) -> int:
    """Merge the old rows of a worker; returns how many rows were merged."""
    of_worker = sample.c.crawl_id == crawl_id, sample.c.number == number

    # The times of the rows that share an interval with another row.
    old = select(sample.c.at).where(*of_worker, sample.c.at < now - HOUR).order_by(sample.c.at.desc())
    times_of_interval: dict[tuple[int, int], list[float]] = defaultdict(list)
    for at in connection.execute(old.limit(MOST_READ)).scalars():
        interval = _interval(at, now)
        if interval is not None:
            times_of_interval[interval].append(at)
    merged_times = [at for times in times_of_interval.values() if len(times) > 1 for at in times][:MOST_MERGED]

    # Replace these rows by their sums.
    rows_of_interval: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for part in in_chunks(merged_times):
        for row in connection.execute(select(sample).where(*of_worker, sample.c.at.in_(part)).order_by(sample.c.at)):
            interval = _interval(row.at, now)
            assert interval is not None  # noqa: S101 - these rows were chosen by their intervals
            rows_of_interval[interval].append(row)
        connection.execute(delete(sample).where(*of_worker, sample.c.at.in_(part)))
    if rows_of_interval:
        # The rows of one interval may come from two chunks, of which the later one has the earlier rows.
        sums = [_sum(sorted(rows, key=lambda row: row.at)) for _, rows in sorted(rows_of_interval.items())]
        connection.execute(insert(sample), sums)
    return len(merged_times)


def _interval(at: float, now: float) -> tuple[int, int] | None:
    """The length and the number of the interval into which a row is merged; None if it is too new.

    The whole interval must be old enough, so that no row is added to it later.
    """
    for seconds, age in SPANS:
        number = int(at // seconds)
        if (number + 1) * seconds <= now - age:
            return seconds, number
    return None


def _sum(rows: Sequence[Any]) -> dict[str, Any]:
    """The row that replaces rows of a worker, given in order of time: their sums, but `waiting` of the last row."""
    last_row = rows[-1]._asdict()
    statuses = _json(sum_of_statuses(row.statuses for row in rows))
    sums = {name: sum(getattr(row, name) for row in rows) for name in ("seconds", *SAMPLE_COUNTS)}
    return {**last_row, "at": rows[0].at, "statuses": statuses, **sums}


def sum_of_statuses(statuses: Iterable[str]) -> dict[str, int]:
    """The sums of counts by status, given as JSON objects; a text may hold several, as a database joins them.

    >>> sum_of_statuses(['{"404": 1}', '{"200": 3},{"200": 2}'])
    {'200': 5, '404': 1}
    """
    pairs: list[tuple[str, int]] = []
    json.loads(f"[{','.join(statuses)}]", object_pairs_hook=pairs.extend)  # parsed at once: there may be 20,000
    sums: dict[str, int] = defaultdict(int)
    for status, number in pairs:
        sums[status] += number
    return dict(sorted(sums.items()))


def _json(statuses: Mapping[str, int]) -> str:
    return json.dumps(dict(sorted(statuses.items())), separators=(",", ":"))
