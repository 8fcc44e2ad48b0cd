"""What is in the database of the state, read without touching it.

Reading waits for nobody and nobody waits for it. At five million addresses it takes seconds: what waits or is held has
an index of its own, and what is done is counted in one go.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    case,
    create_engine,
    event,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from crawler.state.database import ENCODING, LOCK_SECONDS, StateError, has_tables, shown, time_of, why
from crawler.state.schema import (
    DONE,
    HELD,
    RECORDED,
    WAITING,
    address,
    crawl,
    host,
    output,
    page,
    site,
    tables,
)
from crawler.state.schema import worker as worker_table
from crawler.state.workers import LEASE

MOST_SITES = 10
CONNECT_SECONDS = 10
ONE_PROCESS = "SET LOCAL max_parallel_workers_per_gather = 0"


class Worker(NamedTuple):
    """A process that is at a crawl, or that died at it and is not buried yet."""

    number: int
    place: str
    silent: float
    """Seconds since its last sign of life."""
    held: int

    @property
    def alive(self) -> bool:
        """Whether it is to be taken for alive."""
        return self.silent <= LEASE


class Files(NamedTuple):
    """How many bytes are committed of the files of one worker."""

    number: int
    place: str
    pages_size: int
    images_size: int


class Site(NamedTuple):
    """What a site was asked for, and what it may still be asked for."""

    name: str
    pages: int
    requests: int
    waiting: int
    hosts: int
    closed: int
    """How many of its hosts are asked for nothing more."""
    why: str | None
    rest: float
    """In how many seconds the first of its hosts that something waits for may be asked."""


@dataclass(frozen=True)
class Crawl:
    """One crawl of those in the database."""

    name: str
    seeds: str
    """As JSON."""
    started_at: float
    ended_at: float | None
    pages: int
    texts: int
    """How many pages are in the database; those dropped since are not."""
    waiting: int
    held: int
    recorded: int
    """Pictures that wait for their site to show enough."""
    outcomes: Mapping[str, int]
    """What came of addresses: `page`, `picture`, or what the ledger says instead."""
    workers: tuple[Worker, ...]
    files: tuple[Files, ...]
    site_count: int
    round: int = 1
    first_round: int = 1
    due: int = 0
    """Pages that are due."""
    next_due: float | None = None
    """In how many seconds the next page is due, 0 where one is; None if none ever is."""
    sites: tuple[Site, ...] = ()
    """Those with the most pages, when this crawl was asked for."""

    @property
    def done(self) -> int:
        """Addresses of which something came, or nothing will."""
        return sum(self.outcomes.values())

    @property
    def addresses(self) -> int:
        """Addresses the crawl ever met."""
        return self.waiting + self.held + self.recorded + self.done

    @property
    def alive(self) -> tuple[Worker, ...]:
        """The workers that are at it."""
        return tuple(one for one in self.workers if one.alive)


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
        now = time_of(connection)
        return State(now, _disk(connection, url), tuple(_crawls(connection, now, detailed)))


def disk(url: URL) -> Disk | None:
    """How large the database is; None when there is none."""
    if not exists(url):
        return None
    with reading(url) as connection:
        return _disk(connection, url)


def _crawls(connection: Connection, now: float, detailed: str) -> Iterator[Crawl]:
    waiting, held, recorded = (_by_crawl(connection, state) for state in (IS_WAITING, IS_HELD, IS_RECORDED))
    outcomes, workers, files = outcomes_of(connection), workers_of(connection, now), _files(connection)
    texts, sites, working = (_count_of(connection, what) for what in TOTALS)
    for row in connection.execute(select(crawl).order_by(crawl.c.id)).all():
        number = row.id
        yield Crawl(
            row.name,
            row.seeds,
            row.started_at,
            row.ended_at,
            row.pages + working[number],
            texts[number],
            waiting[number],
            held[number],
            recorded[number],
            outcomes[number],
            tuple(workers[number]),
            tuple(files[number]),
            sites[number],
            row.round,
            row.first_round,
            *_due(connection, row, now),
            tuple(_sites(connection, number, now)) if row.name == detailed else (),
        )


def _due(connection: Connection, row: Row[Any], now: float) -> tuple[int, float | None]:
    """How many pages of a crawl are due, and in how many seconds the next one is."""
    mine = page.c.crawl_id == row.id, page.c.round >= row.first_round
    count = select(func.count()).select_from(page).where(*mine, page.c.due_at <= now)
    soonest = connection.execute(select(func.min(page.c.due_at)).where(*mine, page.c.gone_at.is_(None))).scalar()
    return connection.execute(count).scalar_one(), None if soonest is None else max(0.0, soonest - now)


# Bound later, as parameters otherwise are, they would have each row looked at, though the index says it all.
IS_WAITING, IS_HELD, IS_RECORDED = (
    address.c.state == literal(state, literal_execute=True) for state in (WAITING, HELD, RECORDED)
)
TOTALS = (
    select(page.c.crawl_id, func.count()).group_by(page.c.crawl_id),
    select(site.c.crawl_id, func.count()).group_by(site.c.crawl_id),
    select(worker_table.c.crawl_id, func.sum(worker_table.c.pages)).group_by(worker_table.c.crawl_id),
)
PLACED = address.join(host, address.c.host_id == host.c.id)
WAITING_ON_HOST = (
    select(func.count()).where(address.c.host_id == host.c.id, IS_WAITING).correlate(host).scalar_subquery()
)


def _count_of(connection: Connection, totals: Any) -> Counter[int]:
    counts: Counter[int] = Counter()
    for number, count in connection.execute(totals):
        counts[number] = count
    return counts


def _by_crawl(connection: Connection, state: ColumnElement[bool]) -> Counter[int]:
    """How many addresses of each crawl are in a state."""
    counts = select(host.c.crawl_id, func.count()).select_from(PLACED).where(state)
    return _count_of(connection, counts.group_by(host.c.crawl_id))


def outcomes_of(connection: Connection) -> defaultdict[int, Counter[str]]:
    """What came of the addresses of each crawl; this reads all of them."""
    kept = case((address.c.kind == "image", "picture"), else_="page")
    columns = (host.c.crawl_id, func.coalesce(address.c.outcome, kept).label("what"), func.count())
    counts = select(*columns).select_from(PLACED).where(address.c.state == DONE).group_by(host.c.crawl_id, text("what"))
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for number, what, count in connection.execute(counts):
        found[number][what] = count
    return found


def workers_of(connection: Connection, now: float) -> defaultdict[int, list[Worker]]:
    """The workers of each crawl, by its number."""
    holders = select(address.c.worker, func.count()).where(IS_HELD).group_by(address.c.worker)
    held = _count_of(connection, holders)
    found: defaultdict[int, list[Worker]] = defaultdict(list)
    for row in connection.execute(select(worker_table).order_by(worker_table.c.number)):
        found[row.crawl_id].append(Worker(row.number, row.place, max(0.0, now - row.beat), held[row.id]))
    return found


def _files(connection: Connection) -> defaultdict[int, list[Files]]:
    """The files of each crawl."""
    found: defaultdict[int, list[Files]] = defaultdict(list)
    for row in connection.execute(select(output).order_by(output.c.number)):
        found[row.crawl_id].append(Files(row.number, row.place, row.pages_size, row.images_size))
    return found


def _sites(connection: Connection, number: int, now: float) -> Iterator[Site]:
    """The sites of a crawl with the most pages."""
    most = site.c.pages.desc(), site.c.requests.desc(), site.c.id
    mine = select(site).where(site.c.crawl_id == number)
    rows = connection.execute(mine.order_by(*most).limit(MOST_SITES)).all()
    first = func.min(case((host.c.best.is_not(None), host.c.next_at)))
    columns = (func.sum(WAITING_ON_HOST), func.count(), func.count(host.c.closed), func.min(host.c.closed), first)
    theirs = host.c.crawl_id == number, host.c.site_id.in_([row.id for row in rows])
    hosts = select(host.c.site_id, *columns).where(*theirs).group_by(host.c.site_id)
    found = {site_id: values for site_id, *values in connection.execute(hosts)}
    for row in rows:
        waiting, count, closed, reason, ready = found.get(row.id, (0, 0, 0, None, None))
        rest = max(0.0, (ready or now) - now)
        yield Site(row.name, row.pages, row.requests, int(waiting), count, closed, reason, rest)


def exists(url: URL) -> bool:
    """Whether there are tables of this release; those of another are a StateError."""
    if not may_exist(url):
        return False
    with reading(url) as connection:
        return has_tables(connection, shown(url))


def may_exist(url: URL) -> bool:
    """Whether there is a file, where the database is one."""
    try:
        return url.drivername != "sqlite" or Path(str(url.database)).exists()
    except OSError as error:
        raise StateError(f"the database {shown(url)} cannot be read: {error.strerror}") from None


def _disk(connection: Connection, url: URL) -> Disk:
    if url.drivername == "sqlite":
        path = Path(str(url.database))
        files = [file for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
        free, each = (connection.exec_driver_sql(f"PRAGMA {what}") for what in ("freelist_count", "page_size"))
        return Disk(sum(file.stat().st_size for file in files), free.scalar_one() * each.scalar_one())
    sizes = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
    ours = text(f"{sizes} AND relname = ANY(:names)")
    return Disk(int(connection.execute(ours, {"names": list(tables.tables)}).scalar_one()), 0)


@contextmanager
def reading(url: URL, patience: int = CONNECT_SECONDS, *, one_process: bool = False) -> Iterator[Connection]:
    """A connection that changes nothing, to a database that is there, as it was at one moment.

    A dashboard is content with one process of a server's: crawls are at work beside it.
    """
    try:
        engine = _reader(url, patience, one_process)
        with engine.connect() as connection:
            yield connection
    except (NoSuchModuleError, ModuleNotFoundError):
        raise StateError("PostgreSQL must be installed for: python -m pip install '.[postgres]'") from None
    except SQLAlchemyError as error:
        raise StateError(f"the database {shown(url)} cannot be read: {why(error)}") from None


@lru_cache(maxsize=4)
def _reader(url: URL, patience: int, one_process: bool) -> Engine:
    # It keeps no connection, but how statements are written: to find that out takes longer than many an answer.
    if url.drivername == "sqlite":
        engine = create_engine("sqlite://", creator=lambda: open_sqlite(url, reading=True), poolclass=NullPool)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine
    arguments = {"connect_timeout": patience, "application_name": "winnow state", **ENCODING}
    engine = create_engine(url, isolation_level="REPEATABLE READ", poolclass=NullPool, connect_args=arguments)
    engine = engine.execution_options(postgresql_readonly=True)
    if one_process:
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(ONE_PROCESS))
    return engine


def open_sqlite(url: URL, reading: bool = False) -> sqlite3.Connection:
    """The file, which is not made if it is not there."""
    address = f"{Path(str(url.database)).absolute().as_uri()}?mode=rw"
    file = sqlite3.connect(address, uri=True, timeout=LOCK_SECONDS, isolation_level=None)
    file.execute(f"PRAGMA query_only = {int(reading)}")
    return file
