"""What crawls did and how fast they are, from the samples that their workers write."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import chain, count

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, func, select

from crawler.frontier.batch import SAMPLE_COUNTS, WorkerSample
from crawler.reports.saved_bytes import saved_bytes
from crawler.store.batch.chart_samples import DAY, sum_of_statuses
from crawler.store.crawl_tables import sample
from crawler.store.database import in_chunks

RECENT_SECONDS = 30.0
"""The time over which the speed of a crawl is computed."""
INTERVALS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, DAY)
"""The possible intervals between the points of a chart, in seconds, up to a day; longer ones are whole days."""
SHORTEST_SHARED_INTERVAL = 5
"""The shortest interval for several workers, in seconds, as each of them writes a row in this time."""
SUMS = tuple(func.coalesce(func.sum(sample.c[name]), 0) for name in SAMPLE_COUNTS)
"""The columns of a query that have the sums of SAMPLE_COUNTS, in this order."""


@dataclass(frozen=True, slots=True)
class SampleTotals:
    """The sums of a crawl's samples."""

    until: float
    """The end of the last sample."""
    sums: WorkerSample

    @property
    def harvest(self) -> float | None:
        """The share of pages on topic among the pages that were read; None if none was read."""
        if self.sums.read:
            return self.sums.on_topic / self.sums.read
        return None

    @property
    def saved_bytes(self) -> int | None:
        """The estimated bytes of images that were skipped before the download."""
        return saved_bytes(self.sums.skipped, self.sums.images, self.sums.image_bytes)


@dataclass(frozen=True, slots=True)
class SamplePoint:
    """What all workers of a crawl did in an interval."""

    at: float
    """When its first sample begins."""
    workers: int
    """How many workers wrote a sample in it."""
    waiting: int
    """Queued addresses of the crawl, at the end."""
    sums: WorkerSample
    """The sums of the workers' samples. Its seconds are the mean of a worker, so that pages / seconds is the rate of
    all workers together.
    """


def sample_totals(connection: Connection, crawls: Collection[int], since: float = 0.0) -> dict[int, SampleTotals]:
    """The totals of crawls since a time, by the crawls' ids; a crawl without samples is left out."""
    end = func.max(sample.c.at + sample.c.seconds)
    seconds = func.sum(sample.c.seconds)
    since_then = sample.c.crawl_id.in_(crawls), sample.c.at >= since
    query = select(sample.c.crawl_id, end, seconds, *SUMS).where(*since_then).group_by(sample.c.crawl_id)
    totals: dict[int, SampleTotals] = {}
    for crawl_id, until, seconds_of_samples, *sums in connection.execute(query):
        totals[crawl_id] = SampleTotals(until=until, sums=_sums(seconds_of_samples, sums))
    return totals


def page_rates(connection: Connection, crawls: Collection[int], now: float) -> dict[int, float]:
    """The pages per second of crawls in the last RECENT_SECONDS, by crawl id: the sum of the rates of their workers."""
    of_each = select(sample.c.crawl_id, func.sum(sample.c.pages), func.sum(sample.c.seconds))
    recent = of_each.where(sample.c.crawl_id.in_(crawls), sample.c.at >= now - RECENT_SECONDS)
    rate_of_crawl: dict[int, float] = {}
    for crawl_id, pages, seconds in connection.execute(recent.group_by(sample.c.crawl_id, sample.c.number)):
        if seconds > 0:
            rate_of_crawl[crawl_id] = rate_of_crawl.get(crawl_id, 0.0) + pages / seconds
    return rate_of_crawl


def statuses_of(connection: Connection, crawl_id: int) -> dict[str, int]:
    """How many responses of a crawl had each status."""
    return sum_of_statuses(connection.execute(select(sample.c.statuses).where(sample.c.crawl_id == crawl_id)).scalars())


def sample_points(
    connection: Connection, crawl_id: int, since: float | None = None, most: int = 500
) -> tuple[SamplePoint, ...]:
    """What all workers of a crawl did together, in the order of time, in at most `most` points."""
    conditions: list[ColumnElement[bool]] = [sample.c.crawl_id == crawl_id]
    if since is not None:
        conditions.append(sample.c.at >= since)
    begins = func.min(sample.c.at)
    ends = func.max(sample.c.at)
    workers = func.count(sample.c.number.distinct())
    first, last, worker_count = connection.execute(select(begins, ends, workers).where(*conditions)).one()
    if first is None or most < 1:
        return ()

    # The samples of each interval are summed. The number of a sample's interval is computed from thousandths of a
    # second, as the cast to whole numbers rounds in one database and truncates in the other.
    length = _interval_length(first, last, most, SHORTEST_SHARED_INTERVAL if worker_count > 1 else 1)
    interval = cast(sample.c.at * 1000, BigInteger) // (length * 1000)
    columns = (
        begins.label("at"),
        ends.label("last"),
        workers.label("workers"),
        func.coalesce(func.sum(sample.c.seconds), 0.0).label("seconds"),
        func.coalesce(func.aggregate_strings(sample.c.statuses, ","), "").label("statuses"),
    )
    rows = connection.execute(select(*columns, *SUMS).where(*conditions).group_by(interval)).all()

    # The queued addresses of an interval are those of its last sample.
    waiting: dict[float, int] = {}
    for part in in_chunks([row.last for row in rows]):
        query = select(sample.c.at, sample.c.waiting).where(*conditions, sample.c.at.in_(part))
        waiting.update((row.at, row.waiting) for row in connection.execute(query))
    points = []
    for row in rows:
        sums = _sums(row.seconds / row.workers, row[len(columns) :], row.statuses)  # SUMS follow the columns
        points.append(SamplePoint(at=row.at, workers=row.workers, waiting=waiting[row.last], sums=sums))
    return tuple(sorted(points, key=lambda point: point.at))


def _sums(seconds: float, sums: Iterable[int], statuses: str = "") -> WorkerSample:
    """The values of SUMS as a sample. `statuses` are counts by status, written as in the column of this name."""
    counts = dict(zip(SAMPLE_COUNTS, map(int, sums), strict=True))
    count_of_status: dict[str, int] = {}
    if statuses:
        count_of_status = sum_of_statuses([statuses])
    return WorkerSample(seconds, **counts, statuses=count_of_status)


def _interval_length(first: float, last: float, most: int, least: int) -> int:
    """The shortest interval of at least `least` seconds with which there are at most `most` points from the first to
    the last sample. Intervals begin at multiples of their length.
    """
    lengths = chain(INTERVALS, (days * DAY for days in count(2)))
    return next(length for length in lengths if length >= least and last // length - first // length < most)
