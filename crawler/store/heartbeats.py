"""The rows of workers: heartbeats, counts, and the expiry of silent workers.

A worker has leased an address while no other worker may request it. If a worker expires, its leases are returned: other
workers may lease the addresses.

Only a missing heartbeat tells that a worker of another machine is dead. A worker of this machine is known to be dead as
soon as its lock is free (crawler/processes/held_lock.py).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import Enum
from errno import ENOENT
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, select, update

from crawler.frontier.page_result import AddressKind
from crawler.outcomes import Code
from crawler.store.batch.hosts import UPDATE_BEST, count_sites, interval
from crawler.store.crawl_tables import IS_HELD, AddressState, address, crawl, host, worker
from crawler.store.database import database_time

MOST_CRASHES = 20
"""An address is given up when this many workers have crashed while they had leased it."""
LEASE_SECONDS = 60.0
"""Seconds without a heartbeat after which a worker expires, and a job's run counts as dead. An expired worker loses its
leases.
"""

WRITE_HEARTBEAT = (
    update(worker)
    .where(worker.c.id == bindparam("worker_id"), worker.c.batch == bindparam("last_batch"))
    .values(heartbeat=bindparam("now"), batch=bindparam("batch_number"))
)
"""Updates no row if the batch was committed before, or if the worker expired, which deletes its row."""
COUNT_WORKER = (
    update(worker)
    .where(worker.c.id == bindparam("worker_id"))
    .values(waiting=worker.c.waiting + bindparam("more_waiting"), pages=worker.c.pages + bindparam("more_pages"))
)


class LostReplyError(Exception):
    """A batch has no reply: it was committed, but the connection was lost, or this worker expired."""

    def __init__(self, is_committed: bool) -> None:
        self.is_committed = is_committed
        """Whether the batch was committed; otherwise the worker expired."""


def write_heartbeat(connection: Connection, worker_id: int, number: int) -> float:
    """Write a heartbeat with the number of the batch; returns the time of the database's clock.

    Raises a LostReplyError if the batch was committed before, or if this worker expired.
    """
    file = connection.engine.url.database
    if connection.dialect.name == "sqlite" and not Path(str(file)).exists():
        raise OSError(ENOENT, "it was deleted", file)  # SQLite would keep writing to the deleted file
    now = database_time(connection)
    batch = {"worker_id": worker_id, "last_batch": number - 1, "now": now, "batch_number": number}
    if connection.execute(WRITE_HEARTBEAT, batch).rowcount == 0:
        own_row = select(worker.c.batch).where(worker.c.id == worker_id)
        is_committed = connection.execute(own_row).first() is not None
        raise LostReplyError(is_committed)
    return now


def silent_workers(connection: Connection, crawl_id: int, now: float) -> list[int]:
    """The workers of a crawl whose last heartbeat is too old.

    Rows that another transaction has locked are left out: that worker is alive, or is being expired already.
    """
    silent = select(worker.c.id).where(worker.c.crawl_id == crawl_id, worker.c.heartbeat < now - LEASE_SECONDS)
    return list(connection.execute(silent.with_for_update(skip_locked=True)).scalars())


def count_worker(connection: Connection, worker_id: int, waiting: int = 0, pages: int = 0) -> None:
    """Add to a worker's counts of queued addresses and stored pages."""
    if waiting or pages:
        connection.execute(COUNT_WORKER, {"worker_id": worker_id, "more_waiting": waiting, "more_pages": pages})


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker of a crawl, alive or not yet expired."""

    number: int
    folder_id: str
    """The id of the folder of its files."""
    silent: float
    """Seconds since its last heartbeat."""
    held: int
    """How many addresses it has leased."""

    @property
    def alive(self) -> bool:
        """Whether its last heartbeat is recent."""
        return self.silent <= LEASE_SECONDS


def workers_of(connection: Connection, now: float) -> defaultdict[int, list[WorkerState]]:
    """The workers of each crawl, by the crawl's id."""
    states_of_crawl: defaultdict[int, list[WorkerState]] = defaultdict(list)
    for row, state in worker_rows(connection, now):
        states_of_crawl[row.crawl_id].append(state)
    return states_of_crawl


def worker_rows(connection: Connection, now: float) -> list[tuple[Row[Any], WorkerState]]:
    """The rows of all workers in the order of their numbers, each with the worker's state."""
    counts_of_held = select(address.c.worker, func.count().label("held")).where(IS_HELD).group_by(address.c.worker)
    held_by_worker = {row.worker: row.held for row in connection.execute(counts_of_held)}
    rows = connection.execute(select(worker).order_by(worker.c.number))
    # Not below 0: a worker may have written its heartbeat after `now` was read.
    return [
        (row, WorkerState(row.number, row.folder_id, max(0.0, now - row.heartbeat), held_by_worker.get(row.id, 0)))
        for row in rows
    ]


def expire_worker(connection: Connection, worker_id: int, crashes: int = 1) -> None:
    """Delete a worker's row, and return its leases. `crashes` is 1 if it crashed, and 0 if it leaves cleanly."""
    row = connection.execute(select(worker).where(worker.c.id == worker_id).with_for_update()).one_or_none()
    returned = return_held(connection, worker_id, crashes)
    if row is not None:
        sums = {"waiting": crawl.c.waiting + row.waiting + returned, "pages": crawl.c.pages + row.pages}
        connection.execute(update(crawl).where(crawl.c.id == row.crawl_id).values(**sums))
        connection.execute(worker.delete().where(worker.c.id == worker_id))


def forget_leases(connection: Connection, worker_id: int) -> None:
    """Return the leases of a worker that continues without them."""
    # While its row is locked, no other worker expires it.
    connection.execute(select(worker.c.id).where(worker.c.id == worker_id).with_for_update())
    count_worker(connection, worker_id, waiting=return_held(connection, worker_id, crashes=0))


def return_held(connection: Connection, worker_id: int, crashes: int) -> int:
    """Return all leases of a worker, and release its hosts; returns how many addresses are queued again.

    `crashes` is added to the crashes of each address: 1 if the worker crashed, otherwise 0.
    """
    is_held = (address.c.worker == worker_id, IS_HELD)

    # The budgets of the sites. A worker that crashed may have sent the requests, so these stay counted.
    unsent_requests = 0 if crashes else 1
    pages_of_sites = (
        select(host.c.site_id, func.count().label("pages"))
        .join(address, address.c.host_id == host.c.id)
        .where(*is_held, address.c.kind != AddressKind.IMAGE)
        .group_by(host.c.site_id)
    )
    pages = {row.site_id: row.pages for row in connection.execute(pages_of_sites)}
    count_sites(connection, pages, held=-1, requests=-unsent_requests)

    # The addresses. An address with too many crashes is given up, any other is queued.
    host_ids = connection.execute(select(address.c.host_id).where(*is_held).distinct()).scalars().all()
    given_up = update(address).where(*is_held, address.c.crashes + crashes >= MOST_CRASHES)
    connection.execute(given_up.values(state=AddressState.DONE, worker=None, outcome=Code.WORKERS_CRASHED))
    still_held = update(address).where(*is_held)
    requeued = still_held.values(state=AddressState.WAITING, worker=None, crashes=address.c.crashes + crashes)
    count = connection.execute(requeued).rowcount

    # The hosts, each after an interval: the worker may have sent requests that it has not reported.
    connection.execute(UPDATE_BEST, {"ids": sorted(host_ids)})
    interval_ends = database_time(connection) + interval()
    later = case((host.c.next_at > interval_ends, host.c.next_at), else_=interval_ends)
    connection.execute(update(host).where(host.c.worker == worker_id).values(worker=None, next_at=later))
    return count


class CrawlLock(Enum):
    """How PostgreSQL locks the row of a crawl (https://www.postgresql.org/docs/current/explicit-locking.html)."""

    SHARED = "KEY SHARE"
    """Many workers may hold it. PostgreSQL also takes it when a transaction inserts a row that refers to the crawl."""
    CHANGE = "NO KEY UPDATE"
    """One worker at a time may hold it, while other workers hold SHARED."""
    ALONE = "UPDATE"
    """No other worker may hold any lock."""


CRAWL_ROW = select(crawl.c.id).where(crawl.c.id == bindparam("crawl"))
LOCK_CRAWL = {
    CrawlLock.SHARED: CRAWL_ROW.with_for_update(read=True, key_share=True),
    CrawlLock.CHANGE: CRAWL_ROW.with_for_update(key_share=True),
    CrawlLock.ALONE: CRAWL_ROW.with_for_update(),
}


def lock_crawl(connection: Connection, crawl_id: int, lock: CrawlLock = CrawlLock.CHANGE) -> None:
    """Lock the row of a crawl until the transaction ends; SQLite has one writer at a time anyway."""
    connection.execute(LOCK_CRAWL[lock], {"crawl": crawl_id})


def has_workers(connection: Connection, crawl_id: int) -> bool:
    """Whether a worker of the crawl has a recent heartbeat."""
    is_alive = worker.c.heartbeat >= database_time(connection) - LEASE_SECONDS
    living_workers = select(worker.c.id).where(worker.c.crawl_id == crawl_id, is_alive).limit(1)
    return connection.execute(living_workers).first() is not None
