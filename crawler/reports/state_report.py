"""What is in the database of the state, read without touching it.

Reading waits for nobody and nobody waits for it. At five million addresses it takes seconds: what waits or is held has
an index of its own, and what is done is counted in one go.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    case,
    func,
    select,
    text,
)
from sqlalchemy.engine import URL

from crawler.outcomes import Code, Outcome, Outcomes
from crawler.reports.crawl_summary import CrawlSummary, all_summaries, due_pages, next_due
from crawler.reports.sites import SiteQuery, SiteRow, sites
from crawler.store.page_tables import page
from crawler.store.read_only import exists, reading
from crawler.store.schema import IS_DONE, IS_RECORDED, address, host, output, site
from crawler.store.sql import database_time, tables

MOST_SITES = 10
EVERY = 2**31 - 1  # of what waits of a site is counted


class Files(NamedTuple):
    """How many bytes are committed of the files of one worker."""

    number: int
    place: str
    pages_size: int
    images_size: int


class Ends(NamedTuple):
    """How the addresses of a crawl ended that are done with."""

    pictures: int
    pages: int
    outcomes: Outcomes


@dataclass(frozen=True)
class Crawl(CrawlSummary):
    """One crawl of those in the database, with what takes long to count."""

    texts: int
    """How many pages are in the database; those dropped since are not."""
    recorded: int
    """Pictures that wait for their site to show enough."""
    ends: Ends
    """How the addresses ended that are done with."""
    files: tuple[Files, ...]
    site_count: int
    due: int
    """Pages that are due."""
    next_due: float | None
    """In how many seconds the next page is due, 0 where one is; None if none ever is."""
    sites: tuple[SiteRow, ...]
    """Those with the most pages, when this crawl was asked for."""

    @property
    def held(self) -> int:
        """Addresses that workers hold."""
        return sum(one.held for one in self.workers)

    @property
    def done(self) -> int:
        """Addresses of which something came, or nothing will."""
        return self.ends.pages + self.ends.pictures + self.ends.outcomes.total()

    @property
    def addresses(self) -> int:
        """Addresses the crawl ever met."""
        return self.waiting + self.held + self.recorded + self.done


class Disk(NamedTuple):
    """What the tables take on disk, in bytes."""

    size: int
    free: int
    """How much of it SQLite keeps for new rows."""


@dataclass(frozen=True)
class State:
    """What is in the database at one moment, by the database's own clock."""

    now: float
    disk: Disk
    crawls: tuple[Crawl, ...]


def read(url: URL, detailed: str = "") -> State | None:
    """What is in the database, with the sites of one crawl; None when no crawl was ever run there."""
    if not exists(url):
        return None
    with reading(url) as connection:
        now = database_time(connection)
        return State(now, _disk(connection, url), tuple(_crawls(connection, now, detailed)))


def disk(url: URL) -> Disk | None:
    """How large the database is; None when there is none."""
    if not exists(url):
        return None
    with reading(url) as connection:
        return _disk(connection, url)


def _crawls(connection: Connection, now: float, detailed: str) -> Iterator[Crawl]:
    recorded = select(host.c.crawl_id, func.count()).select_from(PLACED).where(IS_RECORDED).group_by(host.c.crawl_id)
    texts, site_counts, recorded_counts = (_count_of(connection, what) for what in (*TOTALS, recorded))
    ends, files = ends_of(connection), _files(connection)
    for one in all_summaries(connection, now):
        soonest = next_due(connection, [one.id], None).get(one.id)
        most = SiteQuery(most=MOST_SITES, most_waiting=EVERY)
        yield Crawl(
            **vars(one),
            texts=texts[one.id],
            recorded=recorded_counts[one.id],
            ends=ends[one.id],
            files=tuple(files[one.id]),
            site_count=site_counts[one.id],
            due=due_pages(connection, one, now),
            next_due=None if soonest is None else max(0.0, soonest - now),
            sites=sites(connection, one.id, most).rows if one.name == detailed else (),
        )


TOTALS = (
    select(page.c.crawl_id, func.count()).group_by(page.c.crawl_id),
    select(site.c.crawl_id, func.count()).group_by(site.c.crawl_id),
)
PLACED = address.join(host, address.c.host_id == host.c.id)


def _count_of(connection: Connection, totals: Any) -> Counter[int]:
    counts: Counter[int] = Counter()
    for number, count in connection.execute(totals):
        counts[number] = count
    return counts


def ends_of(connection: Connection) -> defaultdict[int, Ends]:
    """How the addresses of each crawl ended; this reads all of them."""
    is_picture = case((address.c.outcome.is_(None), address.c.kind == "image"))
    what = (host.c.crawl_id, address.c.outcome, address.c.outcome_detail, is_picture)
    counts = select(*what, func.count()).select_from(PLACED).where(IS_DONE).group_by(*what)
    found: defaultdict[int, Ends] = defaultdict(lambda: Ends(0, 0, Outcomes()))
    for number, code, detail, is_of_picture, count in connection.execute(counts):
        ends = found[number]
        if code is not None:
            ends.outcomes[Outcome(Code(code), detail or "")] = count
        elif is_of_picture:
            found[number] = ends._replace(pictures=count)
        else:
            found[number] = ends._replace(pages=count)
    return found


def _files(connection: Connection) -> defaultdict[int, list[Files]]:
    """The files of each crawl."""
    found: defaultdict[int, list[Files]] = defaultdict(list)
    for row in connection.execute(select(output).order_by(output.c.number)):
        found[row.crawl_id].append(Files(row.number, row.folder_id, row.pages_size, row.images_size))
    return found


def _disk(connection: Connection, url: URL) -> Disk:
    if url.drivername == "sqlite":
        path = Path(str(url.database))
        files = [file for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
        free, each = (connection.exec_driver_sql(f"PRAGMA {what}") for what in ("freelist_count", "page_size"))
        return Disk(sum(file.stat().st_size for file in files), free.scalar_one() * each.scalar_one())
    sizes = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
    ours = text(f"{sizes} AND relname = ANY(:names)")
    return Disk(int(connection.execute(ours, {"names": list(tables.tables)}).scalar_one()), 0)
