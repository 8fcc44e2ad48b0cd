"""Turns: what workers wait for in one order, so that no two wait for each other."""

from sqlalchemy import Connection, select

from crawler.frontier.messages import Batch
from crawler.store.addresses import Addresses, in_chunks
from crawler.store.schema import crawl, site
from crawler.urls.parsing import host as host_of


def lock_crawl(connection: Connection, crawl_id: int) -> None:
    """Have no other worker count the pages of a crawl, nor end it, before this transaction does.

    Rows may be added meanwhile that refer to the crawl: who adds them does not wait.
    """
    connection.execute(select(crawl.c.id).where(crawl.c.id == crawl_id).with_for_update(key_share=True))


def lock_sites(connection: Connection, addresses: Addresses, batch: Batch) -> None:
    """Have no other worker count what the sites of a batch are asked for, before this transaction does."""
    targets = {host_of(move.to.url): move.to.url for move in batch.moves}
    sites = {place.site_id for place in addresses.place(connection, targets).values()}
    leases = [*(one.lease for one in batch.ended), *batch.returned, *(move.lease for move in batch.moves)]
    sites |= {one.site_id for one in leases if one.counts}
    for part in in_chunks(sorted(sites)):
        locked = select(site.c.id).where(site.c.id.in_(part)).order_by(site.c.id)
        connection.execute(locked.with_for_update(key_share=True))
