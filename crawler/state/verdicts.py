"""What was said of pictures, counted for people; read without touching it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.engine import URL

from crawler.state.report import read, reading
from crawler.state.schema import address, crawl, page, site, verdict

MOST_SITES = 20


def saved_bytes(skipped: int, kept: int, size: int) -> int | None:
    """The bytes of pictures that were skipped, by the mean size of those kept; None where none was.

    >>> saved_bytes(3, 2, 2_000), saved_bytes(0, 0, 0), saved_bytes(3, 0, 0)
    (3000, 0, None)
    """
    if not skipped:
        return 0
    return round(skipped * size / kept) if kept else None


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
    """How many pictures were downloaded."""


class SiteCount(NamedTuple):
    """What became of the pictures, and the pages behind them, that the pages of a site show."""

    name: str
    kept: int
    audited: int
    skipped: int
    skipped_pictures: int


@dataclass(frozen=True)
class Judged:
    """What was said of the pictures of a crawl."""

    name: str
    counts: tuple[Count, ...]
    sites: tuple[SiteCount, ...]
    """Those with the most noise."""
    site_count: int
    audited_pages: int
    """Pages stored although only noise leads to them."""

    def total(self, **wanted: object) -> int:
        """How many verdicts have all these fields."""
        return sum(one.number for one in self.matching(**wanted))

    def matching(self, **wanted: object) -> Iterable[Count]:
        """The counts that have all these fields."""
        return [one for one in self.counts if all(getattr(one, name) == value for name, value in wanted.items())]

    def saved(self, skipped: int) -> int | None:
        """The bytes of so many pictures that were not downloaded."""
        return saved_bytes(skipped, *self.downloaded(audited=False))

    def downloaded(self, *, audited: bool) -> tuple[int, int]:
        """How many pictures were downloaded, and their bytes: those of the audit, or all others."""
        found = self.matching(audited=audited)
        return sum(one.sized for one in found), sum(one.measured for one in found)


is_measured = verdict.c.bytes_are_measured
FIELDS = (verdict.c.kind, verdict.c.noise, verdict.c.decided_by, verdict.c.audited, verdict.c.mistaken)
COUNTS = select(
    *FIELDS,
    func.count(),
    func.coalesce(func.sum(verdict.c.bytes).filter(is_measured), 0),
    func.count().filter(is_measured),
).group_by(*FIELDS)
skipped = verdict.c.noise & ~verdict.c.audited
BY_SITE = (
    select(
        site.c.name,
        func.count().filter(~verdict.c.noise),
        func.count().filter(verdict.c.audited),
        func.count().filter(skipped),
        func.count().filter(skipped, verdict.c.kind == "image"),
    )
    .join(site, site.c.id == verdict.c.site_id)
    .group_by(site.c.name)
)
_mine = verdict.c.crawl_id == bindparam("crawl")
_chosen = select(address.c.url).join(verdict, verdict.c.key == address.c.key)
_chosen = _chosen.where(_mine, verdict.c.kind == "link", verdict.c.audited)
# By what was asked for at first: where a redirect led elsewhere, the page has the key of that.
AUDITED_PAGES = select(func.count()).where(page.c.crawl_id == bindparam("crawl"), page.c.requested_url.in_(_chosen))


def judged(url: URL) -> list[Judged] | None:
    """What was said of the pictures of each crawl; None when no crawl was ever run there."""
    if read(url) is None:
        return None
    with reading(url) as connection:
        crawls = connection.execute(select(crawl.c.id, crawl.c.name).order_by(crawl.c.id)).all()
        return [_judged(connection, row) for row in crawls]


def judged_of(url: URL, number: int) -> Judged | None:
    """What was said of the pictures of the crawl of this number; None where there is none."""
    with reading(url, one_process=True) as connection:
        row = connection.execute(select(crawl.c.id, crawl.c.name).where(crawl.c.id == number)).one_or_none()
        return _judged(connection, row) if row is not None else None


def _judged(connection: Connection, row: Any) -> Judged:
    mine = verdict.c.crawl_id == row.id
    counts = [Count(*values) for values in connection.execute(COUNTS.where(mine))]
    count = connection.execute(select(func.count(verdict.c.site_id.distinct())).where(mine)).scalar_one()
    sites = BY_SITE.where(mine).order_by(func.count().filter(skipped).desc(), site.c.name).limit(MOST_SITES)
    by_site = tuple(SiteCount(*values) for values in connection.execute(sites))
    is_audited = any(one.audited and one.kind == "link" for one in counts)  # else the pages need not be looked through
    stored = connection.execute(AUDITED_PAGES, {"crawl": row.id}).scalar_one() if is_audited else 0
    return Judged(row.name, tuple(counts), by_site, count, stored)
