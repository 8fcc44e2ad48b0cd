"""Tells the workers of a crawl to pause, to go on, or to stop. Workers read this with each batch."""

from sqlalchemy import Connection, update

from crawler.frontier.batch import Control
from crawler.store.crawl_tables import crawl
from crawler.store.heartbeats import has_workers


def request_control(connection: Connection, crawl_id: int, control: Control) -> bool:
    """Tell the workers of a crawl to pause, to go on, or to stop; returns whether they will.

    They will not if there are none, or if they are told to pause or to go on while they are stopping.
    """
    if not has_workers(connection, crawl_id):
        return False
    change = update(crawl).where(crawl.c.id == crawl_id, crawl.c.control != Control.STOPPING).values(control=control)
    return bool(connection.execute(change).rowcount) or control is Control.STOPPING
