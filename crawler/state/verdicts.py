"""What was said of pictures, counted for people; read without touching it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import URL

from crawler.state.report import read, reading
from crawler.state.schema import crawl, site, verdict

MOST_SITES = 20


class Count(NamedTuple):
    """Verdicts of one sort: pictures (`image`) or pages behind them (`link`), all noise or all content."""

    kind: str
    noise: bool
    decided_by: str
    audited: bool
    mistaken: bool | None
    number: int
    measured: int
    """Bytes of what was downloaded."""
    sized: int
    """How many were downloaded."""
    estimated: int
    """Bytes of what was not, as they were thought to be."""


class SiteCount(NamedTuple):
    """What became of the pictures, and the pages behind them, that the pages of a site show."""

    name: str
    kept: int
    skipped: int
    estimated: int


@dataclass(frozen=True)
class Judged:
    """What was said of the pictures of a crawl."""

    name: str
    counts: tuple[Count, ...]
    sites: tuple[SiteCount, ...]
    """Those with the most noise."""
    site_count: int

    def total(self, **wanted: object) -> int:
        """How many verdicts have all these fields."""
        return sum(one.number for one in self.matching(**wanted))

    def matching(self, **wanted: object) -> Iterable[Count]:
        """The counts that have all these fields."""
        return [one for one in self.counts if all(getattr(one, name) == value for name, value in wanted.items())]


is_measured = verdict.c.bytes_are_measured
FIELDS = (verdict.c.kind, verdict.c.noise, verdict.c.decided_by, verdict.c.audited, verdict.c.mistaken)
COUNTS = select(
    *FIELDS,
    func.count(),
    func.coalesce(func.sum(verdict.c.bytes).filter(is_measured), 0),
    func.count().filter(is_measured),
    func.coalesce(func.sum(verdict.c.bytes).filter(~is_measured), 0),
).group_by(*FIELDS)
skipped = verdict.c.noise & ~verdict.c.audited
BY_SITE = (
    select(
        site.c.name,
        func.count().filter(~skipped),
        func.count().filter(skipped).label("skipped"),
        func.coalesce(func.sum(verdict.c.bytes).filter(~is_measured), 0),
    )
    .join(site, site.c.id == verdict.c.site_id)
    .group_by(site.c.name)
)


def judged(url: URL) -> list[Judged] | None:
    """What was said of the pictures of each crawl; None when no crawl was ever run there."""
    if read(url) is None:
        return None
    with reading(url) as connection:
        crawls = connection.execute(select(crawl.c.id, crawl.c.name).order_by(crawl.c.id)).all()
        return [_judged(connection, row) for row in crawls]


def _judged(connection: Connection, row: Any) -> Judged:
    mine = verdict.c.crawl_id == row.id
    counts = [Count(*values) for values in connection.execute(COUNTS.where(mine))]
    count = connection.execute(select(func.count(verdict.c.site_id.distinct())).where(mine)).scalar_one()
    sites = BY_SITE.where(mine).order_by(func.count().filter(skipped).desc(), site.c.name).limit(MOST_SITES)
    return Judged(row.name, tuple(counts), tuple(SiteCount(*values) for values in connection.execute(sites)), count)
