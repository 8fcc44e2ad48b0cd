"""Requests of people to a running crawl: its workers, on whatever machine, read them with each commit."""

from sqlalchemy import Connection, select, update

from crawler.store.crawl_tables import crawl, worker
from crawler.store.database import database_time
from crawler.store.heartbeats import LEASE_SECONDS

RUNNING, PAUSED, STOPPING = "", "paused", "stopping"
"""What a crawl is to do. A paused one sends no request until it is resumed; a stopping one ends as after Ctrl-C."""


def has_workers(connection: Connection, crawl_id: int) -> bool:
    """Whether a worker of the crawl has a recent heartbeat."""
    recent = worker.c.heartbeat >= database_time(connection) - LEASE_SECONDS
    mine = select(worker.c.id).where(worker.c.crawl_id == crawl_id, recent).limit(1)
    return connection.execute(mine).first() is not None


def request_control(connection: Connection, crawl_id: int, control: str) -> bool:
    """Tell the workers of a crawl to pause, to go on, or to stop; returns whether there are any.

    A crawl that is stopping cannot be paused or resumed.
    """
    if not has_workers(connection, crawl_id):
        return False
    change = update(crawl).where(crawl.c.id == crawl_id, crawl.c.control != STOPPING).values(control=control)
    return bool(connection.execute(change).rowcount) or control == STOPPING
