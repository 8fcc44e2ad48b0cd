"""How much crawls did and how fast they are, by the samples that their workers write."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import (
    Connection,
    func,
    select,
)

from crawler.store.crawl_tables import sample
from crawler.store.samples import NUMBERS

LATELY = 30.0
"""The last seconds, whose pages tell how fast a crawl is."""


class SampleTotals(NamedTuple):
    """The sums of a crawl's samples."""

    since: float
    until: float
    pages: int
    read: int
    on_topic: int
    requests: int
    failed: int
    bytes: int
    pictures: int
    picture_bytes: int
    skipped: int

    @property
    def harvest(self) -> float | None:
        """The share of pages on topic among those that were read."""
        return self.on_topic / self.read if self.read else None


def sample_totals(connection: Connection, crawls: Collection[int], since: float = 0.0) -> dict[int, SampleTotals]:
    """The totals of crawls since a time, by the crawls' ids; a crawl without samples is left out."""
    numbers = (func.sum(sample.c[name]) for name in NUMBERS)
    of_each = select(sample.c.crawl_id, func.min(sample.c.at), func.max(sample.c.at + sample.c.seconds), *numbers)
    rows = connection.execute(
        of_each.where(sample.c.crawl_id.in_(crawls), sample.c.at >= since).group_by(sample.c.crawl_id)
    )
    return {number: SampleTotals(begins, ends, *map(int, found)) for number, begins, ends, *found in rows}


def page_rates(connection: Connection, crawls: Collection[int], now: float) -> dict[int, float]:
    """The pages that crawls stored per second lately, all their workers together, by the crawls' ids."""
    of_each = select(sample.c.crawl_id, func.sum(sample.c.pages), func.sum(sample.c.seconds))
    lately = of_each.where(sample.c.crawl_id.in_(crawls), sample.c.at >= now - LATELY)
    found: dict[int, float] = {}
    for number, pages, seconds in connection.execute(lately.group_by(sample.c.crawl_id, sample.c.number)):
        if seconds > 0:
            found[number] = found.get(number, 0.0) + pages / seconds
    return found
