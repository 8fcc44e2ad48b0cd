"""The SQL of claims: which hosts a worker may claim, the first addresses of their queues, and what a claim writes.

The hosts stay locked until the commit; hosts that another worker has locked are skipped. A link that is unlikely to
lead to the topic is claimed as a try: a host has some tries, which are renewed when it brings a page on the topic. The
column `tries` counts those that it has used (host_tries.py).

The statements have these parameters:

    crawl, worker_id   the ids of the crawl and of the worker that claims
    now, longest_rest  the time, and the longest rest of a host in seconds
    site_limit         the page budget of a site
    tries              how many tries a host may use
    low_hosts          the ids of hosts in memory that are about to run out of addresses
    hosts_in_memory    the ids of all hosts in memory
    keeps_hosts        whether no other worker may request the hosts while this one has leases on them
    first_interval     the seconds between two requests to a host that has not answered yet
    host, hosts        the id or ids of hosts that were claimed
    addresses          the ids of the addresses that are leased
    most_of_host       the most addresses of each host
    most               the most new hosts, or the most addresses that are refused
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, Update, bindparam, case, func, lateral, literal, or_, select, true, update

from crawler.store.batch.host_tries import MAY_CLAIM
from crawler.store.batch.hosts import NEXT_BEST, REQUESTS_A_PAGE
from crawler.store.crawl_tables import (
    IMAGE_KIND,
    IS_HELD,
    IS_LIKELY,
    IS_WAITING,
    AddressState,
    address,
    crawl,
    host,
    site,
    worker,
)
from crawler.topic.priorities import LEAST_LIKELY

ADDRESS_COLUMNS = (
    address.c.id,
    address.c.key,
    address.c.host_id,
    address.c.url,
    address.c.priority,
    address.c.depth,
    address.c.kind,
    address.c.requested,
    address.c.sight,
    address.c.via,
    address.c.lastmod,
    address.c.labels,
    address.c.shown_on,
)
AHEAD_SECONDS = 1.0
"""A host is claimed this long before it may be requested, so that its addresses arrive in time."""
HEAD = address.alias("head")
"""An address at the head of the queue of its host."""


class ClaimedKinds(StrEnum):
    """Which addresses a worker claims."""

    ALL = "all"
    PAGES = "pages"
    """A crawl without images claims only pages."""
    IMAGES = "images"
    """A crawl that has all its pages still claims images."""


def count_of_hosts(most: int) -> Select[Any]:
    """How many hosts a crawl has; the count stops at `most`."""
    some_hosts = select(host.c.id).where(host.c.crawl_id == bindparam("crawl")).limit(most).subquery()
    return select(func.count()).select_from(some_hosts)


def pages_requested() -> Select[Any]:
    """How many pages a crawl has stored or is requesting, and how many workers it has.

    These are in one statement because one statement sees one state of the database.
    """
    is_of_crawl = worker.c.crawl_id == bindparam("crawl")
    pages_of_workers = select(func.coalesce(func.sum(worker.c.pages), 0)).where(is_of_crawl)
    workers = select(worker.c.id).where(is_of_crawl)
    held_pages = select(func.count()).where(IS_HELD, address.c.worker.in_(workers), address.c.kind != IMAGE_KIND)
    pages = crawl.c.pages + pages_of_workers.scalar_subquery() + held_pages.scalar_subquery()
    number_of_workers = select(func.count()).where(is_of_crawl).scalar_subquery()
    columns = pages.label("pages"), number_of_workers.label("workers")
    return select(*columns).where(crawl.c.id == bindparam("crawl"))


def low_hosts(kinds: ClaimedKinds) -> Select[Any]:
    """The hosts in a worker's memory that are about to run out of addresses.

    They are claimed even while they rest, for example after an error, so that when the rest ends the worker has
    addresses to request other than those the host refused.
    """
    is_free = or_(host.c.worker.is_(None), host.c.worker == bindparam("worker_id"))
    is_low = host.c.id.in_(bindparam("low_hosts", expanding=True))
    return _locked(_hosts_with_sites().where(is_low, is_free, _may_be_requested_or_refused(), _has_kind(kinds)))


def new_hosts(kinds: ClaimedKinds) -> Select[Any]:
    """Hosts that no worker has and that may be requested now, best priority first."""
    is_in_memory = host.c.id.in_(bindparam("hosts_in_memory", expanding=True))
    # A rest that ends later can only come from a wrong clock.
    latest: ColumnElement[float] = bindparam("now") + bindparam("longest_rest")
    is_ready = (host.c.next_at <= bindparam("now") + AHEAD_SECONDS) | (host.c.next_at > latest)
    is_new = host.c.crawl_id == bindparam("crawl"), host.c.worker.is_(None), ~is_in_memory
    hosts = _hosts_with_sites().where(*is_new, _may_be_requested_or_refused(), is_ready, _has_kind(kinds))
    return _locked(hosts.order_by(host.c.best.desc(), host.c.next_at).limit(bindparam("most")))


def _hosts_with_sites() -> Select[Any]:
    of_host = host.c.id, host.c.site_id, host.c.closed, host.c.crawl_delay, host.c.next_at, host.c.tries
    of_site = site.c.pages, site.c.held, site.c.requests
    return select(*of_host, *of_site).join(site, host.c.site_id == site.c.id)


def _locked(hosts: Select[Any]) -> Select[Any]:
    return hosts.with_for_update(of=(host, site), skip_locked=True)


def _may_be_requested_or_refused() -> ColumnElement[bool]:
    """The condition for hosts whose addresses are to be requested, or refused because their site's budget is spent.

    A host is not claimed if its site has no room now, but may have some when its leases end.
    """
    limit: ColumnElement[int] = bindparam("site_limit")
    is_spent = (site.c.pages >= limit) | (site.c.requests >= limit * REQUESTS_A_PAGE)
    has_room = site.c.pages + site.c.held < limit
    return MAY_CLAIM & (is_spent | has_room)


def _has_kind(kinds: ClaimedKinds) -> ColumnElement[bool]:
    """The condition for hosts with queued addresses of these kinds that may be claimed.

    For `ALL` nothing is left to check: every statement also has the condition `MAY_CLAIM`, which requires a likely
    address in the queue, or any address and a try left.
    """
    if kinds is ClaimedKinds.IMAGES:
        images = select(address.c.host_id).where(IS_WAITING & (address.c.kind == IMAGE_KIND))
        return host.c.id.in_(images)
    if kinds is ClaimedKinds.PAGES:
        is_likely_or_try = IS_LIKELY | (host.c.tries < bindparam("tries"))
        is_page = address.c.host_id == host.c.id, IS_WAITING, address.c.kind != IMAGE_KIND
        return select(address.c.id).where(*is_page, is_likely_or_try).correlate(host).exists()
    return true()


def first_addresses(dialect: str, kinds: ClaimedKinds) -> Select[Any]:
    """The first addresses of some hosts; SQLite and PostgreSQL need different statements."""
    is_likely_or_try = (HEAD.c.priority >= LEAST_LIKELY) | (host.c.tries < bindparam("tries"))
    queue = select(HEAD.c.id).where(HEAD.c.host_id == host.c.id, _head_waits(), is_likely_or_try, _head_is(kinds))
    first = queue.order_by(HEAD.c.priority.desc(), HEAD.c.id).limit(bindparam("most_of_host"))
    if dialect == "sqlite":
        source = host.join(address, address.c.id.in_(first.correlate(host).scalar_subquery()))
    else:
        firsts = lateral(first.correlate(host), "firsts")
        source = host.join(firsts, true()).join(address, address.c.id == firsts.c.id)
    parent = address.alias("parent")
    source = source.outerjoin(parent, parent.c.id == address.c.parent)
    return (
        select(*ADDRESS_COLUMNS, parent.c.url.label("parent"))
        .select_from(source)
        .where(host.c.id.in_(bindparam("hosts", expanding=True)))
        .order_by(address.c.priority.desc(), address.c.id)
    )


def _head_waits() -> ColumnElement[bool]:
    """The condition that an address is queued. The state is a literal, so that databases use the partial index."""
    return HEAD.c.state == literal(AddressState.WAITING, literal_execute=True)


def _head_is(kinds: ClaimedKinds) -> ColumnElement[bool]:
    """The condition that an address is of these kinds."""
    if kinds is ClaimedKinds.IMAGES:
        return HEAD.c.kind == IMAGE_KIND
    if kinds is ClaimedKinds.PAGES:
        return HEAD.c.kind != IMAGE_KIND
    return true()


def refused_addresses(kinds: ClaimedKinds) -> Update:
    """Refuses queued addresses of a host, but not more than `most`; the caller adds the outcome."""
    queue = select(HEAD.c.id).where(HEAD.c.host_id == bindparam("host"), _head_waits(), _head_is(kinds))
    return update(address).where(address.c.id.in_(queue.limit(bindparam("most"))))


def hosts_with_more(kinds: ClaimedKinds) -> Select[Any]:
    """Of the hosts that were claimed, the ids of those with more queued addresses of these kinds."""
    return select(host.c.id).where(host.c.id.in_(bindparam("hosts", expanding=True)), MAY_CLAIM, _has_kind(kinds))


# The statements are built once: SQLAlchemy compiles each at its first use, and caches it.
PAGES_REQUESTED = pages_requested()
LOW_HOSTS = {kinds: low_hosts(kinds) for kinds in ClaimedKinds}
NEW_HOSTS = {kinds: new_hosts(kinds) for kinds in ClaimedKinds}
FIRST_ADDRESSES = {
    (dialect, kinds): first_addresses(dialect, kinds) for dialect in ("sqlite", "postgresql") for kinds in ClaimedKinds
}
# A closed host is refused with all its addresses; a site whose budget is spent, only with its pages.
REFUSED_ADDRESSES = {kinds: refused_addresses(kinds) for kinds in (ClaimedKinds.ALL, ClaimedKinds.PAGES)}
# Asked for all kinds that the crawl ever claims: ALL, or PAGES if it takes no images.
HOSTS_WITH_MORE = {kinds: hosts_with_more(kinds) for kinds in (ClaimedKinds.ALL, ClaimedKinds.PAGES)}
LEASE_ADDRESSES = (
    update(address)
    .where(address.c.id.in_(bindparam("addresses", expanding=True)))
    .values(state=AddressState.HELD, worker=bindparam("worker_id"))
)
UPDATE_CLAIMED_HOSTS = (
    update(host)
    .where(host.c.id.in_(bindparam("hosts", expanding=True)))
    .values(
        best=NEXT_BEST,
        # A host with a crawl delay belongs to one worker, which observes it; other shared hosts are open to all.
        worker=case((bindparam("keeps_hosts") | (host.c.crawl_delay > 0), bindparam("worker_id")), else_=None),
        delay=func.coalesce(host.c.delay, bindparam("first_interval")),
    )
)
