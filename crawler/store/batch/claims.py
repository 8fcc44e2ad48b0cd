"""Claims: a worker leases the queued addresses with the best priorities, from hosts that may be requested now.

A claim locks the hosts with the best priorities, skips hosts that another worker has locked, and leases the first
addresses of their queues. Each statement sees what was committed before it, so an address is never leased twice.

Links that are unlikely to lead to the topic are requested as tries; each host has a few (host_tries.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from crawler.frontier.batch import ClaimRequest
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, Lease
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.recrawl.page_history import PageHistory
from crawler.store.batch.claim_statements import (
    FIRST_ADDRESSES,
    HOSTS_WITH_MORE,
    LEASE_ADDRESSES,
    LOW_HOSTS,
    NEW_HOSTS,
    PAGES_REQUESTED,
    REFUSED_ADDRESSES,
    UPDATE_CLAIMED_HOSTS,
    ClaimedKinds,
    count_of_hosts,
)
from crawler.store.batch.host_tries import NO_LIMIT, SHARED_TRIES, count_tries, tries_of_host
from crawler.store.batch.hosts import REQUESTS_A_PAGE, UPDATE_BEST, count_sites
from crawler.store.crawl_tables import AddressState
from crawler.store.database import in_chunks
from crawler.store.page_tables import page
from crawler.topic.priorities import is_unlikely
from crawler.topic.stop_rule import ON_TOPIC

REFUSED_AT_ONCE = 10_000
"""The most addresses of a host given up in one claim: a statement must end within its time limit."""
LONGEST_REST_SECONDS = 600.0
"""The longest rest of a host, by default."""
SHARED_CLAIM = 250
"""The most addresses leased in one claim while other workers claim at the same time."""
COUNT_SOME_HOSTS = count_of_hosts(SHARED_TRIES)
"""How many hosts a crawl has, counted up to SHARED_TRIES: further hosts would not change `tries_of_host`."""


@dataclass(frozen=True, slots=True)
class Claimant:
    """The worker that claims, with the limits of its crawl."""

    crawl_id: int
    worker_id: int
    site_limit: int
    max_pages: int | None = None
    longest_rest: float = LONGEST_REST_SECONDS
    images: bool = True
    """Whether images are requested."""
    first_interval: float = 0.0
    """Seconds between two requests to a host that has not answered yet."""
    first_round: int | None = None
    """The round in which the crawl was begun, or last begun fresh; None during that round, when every page is read as
    new, without its history.
    """
    on_topic: float = ON_TOPIC
    """The relevance from which a page is on the topic."""
    limits_tries: bool = False
    """Whether links that are unlikely to lead to the topic are requested as tries only."""
    tries: int = NO_LIMIT
    """How many tries a host has until it brings a page on the topic."""

    def with_tries(self, connection: Connection, pages: int) -> Claimant:
        """This claimant, with the number of tries that each host has in a crawl with this many pages."""
        if not self.limits_tries:
            return self
        hosts = connection.execute(COUNT_SOME_HOSTS, {"crawl": self.crawl_id}).scalar_one()
        return replace(self, tries=tries_of_host(hosts, pages))


@dataclass(frozen=True, slots=True)
class RemainingPages:
    """How many more pages a crawl may request, and how many workers request them."""

    pages: float
    workers: int

    @property
    def are_scarce(self) -> bool:
        """Whether workers must claim one after another, as together they might claim more than these pages.

        A worker does not see what others claim at the same time, but each of them claims at most SHARED_CLAIM pages.
        While more pages are left than all workers claim at most, no order is needed.

        >>> [RemainingPages(pages, workers=2).are_scarce for pages in (500, 501, inf)]
        [True, False, False]
        """
        return self.pages <= self.workers * SHARED_CLAIM


class ClaimResult(NamedTuple):
    """What a claim has leased and refused."""

    leases: list[Lease]
    hosts_with_more: set[int]
    """The hosts with more queued addresses."""
    refused: Outcomes
    """How many addresses were given up, by outcome."""
    rests: dict[int, float]
    """How many more seconds the hosts of the leases rest."""


def claim(
    connection: Connection, claimant: Claimant, demand: ClaimRequest, now: float, claims_alone: bool = True
) -> ClaimResult:
    """Lease the best addresses that the worker may request now, and give up those that may not be requested any more.

    If `claims_alone` is false, other workers may claim pages at the same time, so the crawl may have fewer pages left
    than this worker sees.
    """
    # How many pages may be leased, and which kinds of addresses.
    remaining = remaining_pages(connection, claimant)
    pages_left = remaining.pages
    if not claims_alone:
        demand = replace(demand, addresses=min(demand.addresses, SHARED_CLAIM))
        if remaining.are_scarce:  # pages became scarce after this batch had begun: the next batch claims alone
            pages_left = 0
    kinds = ClaimedKinds.PAGES
    if claimant.images and pages_left > 0:
        kinds = ClaimedKinds.ALL
    elif claimant.images:
        kinds = ClaimedKinds.IMAGES

    # Lock hosts, and refuse the addresses of those that are closed or whose sites have no budget left.
    rows: list[Row[Any]] = []
    if pages_left > 0 or claimant.images:
        rows = _lock_hosts(connection, claimant, demand, now, kinds)
    if not rows:
        return ClaimResult([], set(), Outcomes(), {})
    refused = _refuse(connection, claimant, rows)

    # Choose the first addresses of the other hosts, and lease them.
    hosts = {row.id: row for row in rows}
    open_hosts = sorted(row.id for row in rows if not row.closed)
    first_addresses = connection.execute(
        FIRST_ADDRESSES[connection.dialect.name, kinds],
        {"hosts": open_hosts, "most_of_host": demand.each_host, "tries": claimant.tries},
    )
    kept = _within_budgets(claimant, demand, hosts, first_addresses, pages_left)
    histories = histories_of(connection, claimant.first_round, kept)
    leases = [lease_of(row, hosts[row.host_id].site_id, claimant, histories.get(row.key)) for row in kept]
    if leases:
        leased = {"addresses": [lease.id for lease in leases], "worker_id": claimant.worker_id}
        connection.execute(LEASE_ADDRESSES, leased)
        count_tries(connection, leases)
        count_sites(connection, Counter(lease.site_id for lease in leases if lease.is_page), held=1, requests=1)

    # Update the best priorities, and see which hosts have more addresses.
    claimed_hosts = sorted({lease.host_id for lease in leases})
    if claimed_hosts:
        claimed = {
            "hosts": claimed_hosts,
            "keeps_hosts": demand.keeps_hosts,
            "worker_id": claimant.worker_id,
            "first_interval": claimant.first_interval,
        }
        connection.execute(UPDATE_CLAIMED_HOSTS, claimed)
    other_hosts = sorted(hosts.keys() - set(claimed_hosts))
    if other_hosts:
        connection.execute(UPDATE_BEST, {"ids": other_hosts})
    all_kinds = ClaimedKinds.ALL if claimant.images else ClaimedKinds.PAGES
    hosts_and_tries = {"hosts": sorted(hosts), "tries": claimant.tries}
    hosts_with_more = set(connection.execute(HOSTS_WITH_MORE[all_kinds], hosts_and_tries).scalars())
    ends_of_rests = {host_id: hosts[host_id].next_at for host_id in claimed_hosts}
    return ClaimResult(leases, hosts_with_more, refused, host_rests(ends_of_rests, now, claimant.longest_rest))


def most_pages_of_a_host(pages_left: float, hosts: int) -> float:
    """The most pages of one host in a claim, given how many pages a crawl may still request, and from how many hosts.

    The last pages are spread over the hosts: on a single host, they would have to be requested one after another.

    >>> [most_pages_of_a_host(pages_left, hosts=60) for pages_left in (inf, 2_000, 200, 20)]
    [inf, 33, 3, 1]
    """
    if pages_left == inf:
        return inf
    return max(1, pages_left // hosts)


def host_rests(ends: Mapping[int, float], now: float, longest: float) -> dict[int, float]:
    """How many more seconds hosts rest, given when the rest of each ends; without hosts whose rest has ended.

    A rest that is longer than `longest` seconds can only come from a wrong clock, and is ignored.
    """
    return {host_id: end - now for host_id, end in ends.items() if now < end <= now + longest}


def _lock_hosts(
    connection: Connection, claimant: Claimant, demand: ClaimRequest, now: float, kinds: ClaimedKinds
) -> list[Row[Any]]:
    """Lock the hosts to claim from: those in memory that run out of addresses, and new ones; returns their rows."""
    rows: list[Row[Any]] = []
    limits = {"site_limit": claimant.site_limit, "tries": claimant.tries}
    if demand.low_hosts:
        low_hosts = {"low_hosts": demand.low_hosts, "worker_id": claimant.worker_id}
        rows += connection.execute(LOW_HOSTS[kinds], limits | low_hosts)
    if demand.hosts > 0:
        new_hosts = {
            "crawl": claimant.crawl_id,
            "hosts_in_memory": demand.hosts_in_memory,
            "now": now,
            "longest_rest": claimant.longest_rest,
            "most": demand.hosts,
        }
        rows += connection.execute(NEW_HOSTS[kinds], limits | new_hosts)
    return rows


def _refuse(connection: Connection, claimant: Claimant, rows: Iterable[Row[Any]]) -> Outcomes:
    """Give up addresses on closed hosts, and pages of sites whose budget is spent; returns how many, by outcome.

    If there are very many, some are left to the next claims.
    """
    refused = Outcomes()
    for row in rows:
        is_spent = row.pages >= claimant.site_limit or row.requests >= claimant.site_limit * REQUESTS_A_PAGE
        if row.closed:
            outcome = Outcome.of(row.closed)
            kinds = ClaimedKinds.ALL
        elif is_spent:
            outcome = Outcome(Code.SITE_BUDGET_SPENT)
            kinds = ClaimedKinds.PAGES
        else:
            continue
        ended = {"state": AddressState.DONE, "outcome": outcome.code, "outcome_detail": outcome.detail or None}
        given_up = REFUSED_ADDRESSES[kinds].values(**ended)
        refused[outcome] += connection.execute(given_up, {"host": row.id, "most": REFUSED_AT_ONCE}).rowcount
    return Outcomes(+refused)  # without counts of 0


def _within_budgets(
    claimant: Claimant, demand: ClaimRequest, hosts: Mapping[int, Row[Any]], rows: Iterable[Row[Any]], pages_left: float
) -> list[Row[Any]]:
    """The addresses for which there is room: in the budgets of sites, hosts and crawl, and in the demand."""
    # What is left: pages and requests by site, tries and pages by host.
    pages = {row.site_id: claimant.site_limit - row.pages - row.held for row in hosts.values()}
    requests = {row.site_id: claimant.site_limit * REQUESTS_A_PAGE - row.requests for row in hosts.values()}
    tries = {row.id: claimant.tries - row.tries for row in hosts.values()}
    number_of_hosts = len(hosts.keys() | set(demand.hosts_in_memory))
    pages_of_host = dict.fromkeys(hosts, most_pages_of_a_host(pages_left, number_of_hosts))

    kept: list[Row[Any]] = []
    for row in rows:
        if len(kept) >= demand.addresses:
            break
        site_id = hosts[row.host_id].site_id
        if is_unlikely(row.priority):
            if tries[row.host_id] <= 0:
                continue
            tries[row.host_id] -= 1
        if row.kind != AddressKind.IMAGE:
            if min(pages[site_id], requests[site_id], pages_left, pages_of_host[row.host_id]) <= 0:
                continue
            pages_of_host[row.host_id] -= 1
            pages[site_id] -= 1
            requests[site_id] -= 1
            pages_left -= 1
        kept.append(row)
    return kept


def remaining_pages(connection: Connection, claimant: Claimant) -> RemainingPages:
    """How many more pages the crawl may request; pages being requested count as requested."""
    if claimant.max_pages is None:
        return RemainingPages(inf, 1)
    requested = connection.execute(PAGES_REQUESTED, {"crawl": claimant.crawl_id}).one()
    return RemainingPages(claimant.max_pages - int(requested.pages), requested.workers)


def lease_of(row: Row[Any], site_id: int, claimant: Claimant, history: PageHistory | None) -> Lease:
    """The lease on the address in a row."""
    candidate = Candidate(
        url=row.url,
        priority=row.priority,
        depth=row.depth,
        parent=row.parent,
        kind=AddressKind(row.kind),
        requested=row.requested,
        sight=row.sight,
        via=FoundBy(row.via),
        lastmod=row.lastmod,
        labels=row.labels,
    )
    return Lease(
        id=row.id,
        candidate=candidate,
        host_id=row.host_id,
        site_id=site_id,
        shown_on=row.shown_on,
        history=history,
        predates_fresh_start=history is not None and history.last_round < (claimant.first_round or 0),
        is_try=is_unlikely(row.priority),
    )


def histories_of(
    connection: Connection, first_round: int | None, rows: Iterable[Row[Any]]
) -> Mapping[int, PageHistory]:
    """The histories of those addresses that have pages, by key; none during the first round."""
    if first_round is None:
        return {}
    columns = [page.c[name] for name in PageHistory.__dataclass_fields__]
    histories: dict[int, PageHistory] = {}
    for part in in_chunks(sorted({row.key for row in rows if row.kind != AddressKind.IMAGE})):
        stored_pages = select(page.c.key, *columns).where(page.c.key.in_(part))
        histories |= {key: PageHistory(*values) for key, *values in connection.execute(stored_pages)}
    return histories
