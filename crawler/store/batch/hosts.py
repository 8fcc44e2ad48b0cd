"""The rows of hosts and sites: best priorities, rests, crawl delays, latencies, budgets.

No worker waits to write latencies: if another transaction has locked a host, its latency is written with a later batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, bindparam, case, func, or_, select, true, update

from crawler.frontier.batch import Batch
from crawler.frontier.host_latencies import HostLatency
from crawler.store.crawl_tables import IMAGE_KIND, IS_RECORDED, IS_WAITING, address, host, site
from crawler.store.database import in_chunks
from crawler.urls.address import address_of

if TYPE_CHECKING:
    from crawler.store.batch.addresses import Addresses
    from crawler.store.batch.claims import Claimant

REQUESTS_A_PAGE = 10
"""Requests allowed on a site for each page of its budget: not every request yields a page."""

NEXT_BEST = (
    select(address.c.priority)
    .where(address.c.host_id == host.c.id, IS_WAITING)
    .order_by(address.c.priority.desc())
    .limit(1)
    .correlate(host)
    .scalar_subquery()
)
"""The best priority in the queue of a host; null if the queue is empty."""
UPDATE_BEST = update(host).where(host.c.id.in_(bindparam("ids", expanding=True))).values(best=NEXT_BEST)
RAISE_BEST = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.best.is_(None), host.c.best < bindparam("priority")))
    .values(best=bindparam("priority"))
)
LOCK_SITES = (
    select(site.c.id)
    .where(site.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(site.c.id)
    .with_for_update(key_share=True)
)
COUNT_SITE = (
    update(site)
    .where(site.c.id == bindparam("site"))
    .values(
        pages=site.c.pages + bindparam("pages"),
        held=site.c.held + bindparam("held"),
        requests=site.c.requests + bindparam("requests"),
    )
)
RELEASE_HOST = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.worker.is_(None), host.c.worker == bindparam("worker_id")))
    .values(next_at=case((host.c.next_at > bindparam("at"), host.c.next_at), else_=bindparam("at")), worker=None)
)
"""Ends the reservation of a host for a worker that no longer has it in memory. `at` is when this worker would request
the host again; a later time in the database stays.
"""
NEW_AVERAGE = host.c.latency + bindparam("weight") * (bindparam("new_latency") - host.c.latency)
"""The moving average of latencies with those of new responses: `new_latency` is their mean, with this `weight`."""
UPDATE_LATENCY = (
    update(host)
    .where(host.c.id == bindparam("host"))
    .values(
        latency=case((host.c.latency.is_(None), bindparam("new_latency")), else_=NEW_AVERAGE),
        delay=bindparam("new_delay"),
    )
)
MAY_BE_QUEUED = {True: true(), False: address.c.kind != IMAGE_KIND}
"""The condition for recorded addresses that may be queued, by whether the run requests images. Images, and pages that
only an image links to, are recorded: they are not queued before their site has shown enough pages.
"""
RECORDED_ADDRESSES = select(address.c.id).where(address.c.shown_on == site.c.id, IS_RECORDED).correlate(site)
RECORDED_SITES = {
    with_images: select(site.c.id).where(
        site.c.crawl_id == bindparam("crawl"), RECORDED_ADDRESSES.where(may_be_queued).exists()
    )
    for with_images, may_be_queued in MAY_BE_QUEUED.items()
}
"""The sites of a crawl with recorded addresses that may be queued, by whether the run requests images."""
SITES_AT_ONCE = 10_000
"""The most sites that one statement searches for recorded addresses."""
LOCK_UNLOCKED_HOSTS = (
    select(host.c.id)
    .where(host.c.id.in_(bindparam("hosts", expanding=True)))
    .order_by(host.c.id)
    .with_for_update(skip_locked=True, key_share=True)
)
"""Locks those hosts that no other worker has locked."""


def interval(usual: float = 0.0) -> ColumnElement[float]:
    """The seconds between two requests to a host, as SQL: its delay, or its crawl delay if this is longer.

    `usual` is the delay of a host for which no worker has reported one.
    """
    delay = func.coalesce(host.c.delay, usual)
    return case((host.c.crawl_delay > delay, host.c.crawl_delay), else_=delay)


def raise_best(connection: Connection, queued: Iterable[tuple[int, int]]) -> None:
    """Raise the best priorities of hosts to those of newly queued addresses, given as pairs of host id and priority."""
    best: dict[int, int] = {}
    for host_id, priority in queued:
        best[host_id] = max(best.get(host_id, priority), priority)
    if best:
        connection.execute(RAISE_BEST, [{"host": host_id, "priority": best[host_id]} for host_id in sorted(best)])


def count_sites(
    connection: Connection, sites: Mapping[int, int], pages: int = 0, held: int = 0, requests: int = 0
) -> None:
    """Add to the counts of sites: `pages`, `held` and `requests` times the number of leases that is given for a site.

    For example, `count_sites(connection, {7: 2}, held=-1)` says that two leases of the site 7 have ended.
    """
    changes = [
        {"site": site_id, "pages": number * pages, "held": number * held, "requests": number * requests}
        for site_id, number in sorted(sites.items())
    ]
    if changes:
        connection.execute(COUNT_SITE, changes)


def lock_sites(connection: Connection, addresses: Addresses, batch: Batch) -> None:
    """Lock the sites whose counts a batch changes, until the transaction ends."""
    # A redirect may lead to another site.
    targets = {address_of(redirect.to.url).host: redirect.to.url for redirect in batch.redirects}
    sites = {ids.site_id for ids in addresses.host_ids(connection, targets).values()}
    ended = [completion.lease for completion in batch.ended]
    redirected = [redirect.lease for redirect in batch.redirects]
    sites |= {lease.site_id for lease in (*ended, *batch.returned, *redirected) if lease.is_page}
    for part in in_chunks(sorted(sites)):
        connection.execute(LOCK_SITES, {"ids": part})


def site_has_budget(connection: Connection, limit: int, site_id: int) -> bool:
    """Whether a site with a page limit may get one more request; its row stays locked until the commit."""
    row = connection.execute(select(site).where(site.c.id == site_id).with_for_update()).one()
    return bool(row.pages + row.held < limit and row.requests < limit * REQUESTS_A_PAGE)


def update_hosts(connection: Connection, claimant: Claimant, addresses: Addresses, batch: Batch, now: float) -> None:
    """Write what a batch reports about hosts: rests, crawl delays, latencies, and which are closed."""
    if batch.rests_of_dropped_hosts:
        rows = [
            {"host": host_id, "at": now + seconds, "worker_id": claimant.worker_id}
            for host_id, seconds in sorted(batch.rests_of_dropped_hosts.items())
        ]
        connection.execute(RELEASE_HOST, rows)  # at once, as there may be many: a statement is a round trip
    for host_id, seconds in sorted(batch.rests.items()):
        later_end = case((host.c.next_at > now + seconds, host.c.next_at), else_=now + seconds)
        connection.execute(update(host).where(host.c.id == host_id).values(next_at=later_end))
    for host_id, seconds in sorted(batch.crawl_delays.items()):
        connection.execute(update(host).where(host.c.id == host_id).values(crawl_delay=seconds))
    update_latencies(connection, batch.latencies)
    if batch.closed:  # a closed host that is not stored yet is inserted
        addresses.host_ids(connection, {name: f"http://{name}/" for name in batch.closed})
    for name, outcome in sorted(batch.closed.items()):
        is_closed_host = host.c.crawl_id == claimant.crawl_id, host.c.name == name
        connection.execute(update(host).where(*is_closed_host).values(closed=outcome, worker=None, next_at=now))


def update_latencies(connection: Connection, latencies: Mapping[int, HostLatency]) -> None:
    """Write the latencies and delays of hosts, except those that another worker has locked."""
    for part in in_chunks(sorted(latencies)):
        unlocked = connection.execute(LOCK_UNLOCKED_HOSTS, {"hosts": part}).scalars().all()
        rows = [
            {
                "host": host_id,
                "new_latency": latencies[host_id].latency,
                "weight": latencies[host_id].weight,
                "new_delay": latencies[host_id].delay,
            }
            for host_id in unlocked
        ]
        if rows:
            connection.execute(UPDATE_LATENCY, rows)


def recorded_sites(connection: Connection, crawl_id: int, with_images: bool = True) -> list[int]:
    """The first sites of a crawl with recorded addresses that may be queued: images, and pages behind images.

    If the run requests no images, only the pages count.
    """
    sites = RECORDED_SITES[with_images].order_by(site.c.id).limit(SITES_AT_ONCE)
    return list(connection.execute(sites, {"crawl": crawl_id}).scalars())
