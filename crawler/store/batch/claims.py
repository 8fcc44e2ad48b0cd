"""Claims: a worker leases the queued addresses with the best priorities, from hosts that may be requested now.

A claim locks the hosts with the best priorities, skips hosts that another worker has locked, and leases the first
addresses of their queues. Each statement sees what was committed before it, so an address is never leased twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf, log2
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from crawler.frontier.batch import ClaimRequest
from crawler.frontier.page_result import AddressKind, Candidate, FoundBy, Lease
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.recrawl.page_history import PageHistory
from crawler.store.batch.claim_statements import (
    FIRST_ADDRESSES,
    HOLD,
    HOSTS_IN_MEMORY,
    HOSTS_WITH_MORE,
    NEW_HOSTS,
    PAGES_REQUESTED,
    REFUSED_ADDRESSES,
    UPDATE_CLAIMED,
    ClaimedKinds,
    count_of_hosts,
)
from crawler.store.batch.hosts import FIRST_TRIES, REQUESTS_A_PAGE, UPDATE_BEST, count_sites, count_tries
from crawler.store.crawl_tables import AddressState
from crawler.store.database import in_chunks
from crawler.store.page_tables import page
from crawler.topic.priorities import is_unlikely
from crawler.topic.stop_rule import ON_TOPIC

REFUSED_AT_ONCE = 10_000
"""Addresses of a host given up in one claim: a statement must end within its time limit."""
LONGEST_REST_SECONDS = 600.0
"""The longest pause of a host, by default."""
NO_LIMIT = 1_000_000_000
"""The number of tries where they are not limited."""
SHARED_TRIES = 40
"""Tries that a crawl of few hosts divides among them, if each then has more than the first tries."""
PAGES_A_TRY = 10
"""Pages of a crawl after which each host has a fifth try; after 30 it has a sixth, after 70 a seventh."""
SHARED_CLAIM = 250
"""Addresses leased in one claim while other workers claim at the same time."""
COUNT_SOME_HOSTS = count_of_hosts(SHARED_TRIES)


@dataclass(frozen=True, slots=True)
class Claimant:
    """The worker that claims, with the limits of its crawl."""

    crawl_id: int
    worker_id: int
    site_limit: int
    max_pages: int | None = None
    longest_rest: float = LONGEST_REST_SECONDS
    images: bool = True
    pause: float = 0.0
    """Seconds between two requests to a host that has not answered yet."""
    known_since: int | None = None
    """The round in which the crawl was begun or last begun fresh; None in that round, when no histories are read."""
    on_topic: float = ON_TOPIC
    """The relevance from which a page is on the topic."""
    limits_tries: bool = False
    """Whether links that are unlikely to lead to the topic are requested as tries only."""
    tries: int = NO_LIMIT
    """How many tries a host has, without a page on the topic between them."""

    def with_tries(self, connection: Connection, pages: int) -> Claimant:
        """The same worker, with the number of tries for each host that a crawl with so many pages has."""
        if not self.limits_tries:
            return self
        hosts = connection.execute(COUNT_SOME_HOSTS, {"crawl": self.crawl_id}).scalar_one()
        return replace(self, tries=tries_of_host(hosts, pages))


def tries_of_host(hosts: int, pages: int) -> int:
    """How many unlikely links a crawl with so many hosts and pages requests from each host.

    >>> [tries_of_host(hosts, 0) for hosts in (1, 2, 10, 1_000)], [tries_of_host(10, pages) for pages in (9, 10, 70)]
    ([40, 20, 4, 4], [4, 5, 7])
    """
    return max(FIRST_TRIES, SHARED_TRIES // max(1, hosts)) + int(log2(1 + pages / PAGES_A_TRY))


@dataclass(frozen=True, slots=True)
class RemainingPages:
    """How many more pages a crawl may request, and how many workers request them."""

    pages: float
    workers: int

    @property
    def are_scarce(self) -> bool:
        """Whether workers must claim one after another, as together they might claim more than these pages.

        A worker does not see what others claim at the same time. Each of them claims at most SHARED_CLAIM pages, and
        the last worker to count the workers counts all that claim at that time.

        >>> [RemainingPages(pages, workers=2).are_scarce for pages in (500, 501, inf)]
        [True, False, False]
        """
        return self.pages <= self.workers * SHARED_CLAIM


class ClaimResult(NamedTuple):
    """What a claim has leased and refused."""

    leases: list[Lease]
    more: set[int]
    """The hosts with more queued addresses."""
    refused: Outcomes
    """How many addresses were given up, by outcome."""
    rests: dict[int, float]
    """The remaining pauses of the hosts of the leases, in seconds."""


def claim(
    connection: Connection, claimant: Claimant, demand: ClaimRequest, now: float, alone: bool = True
) -> ClaimResult:
    """Lease the best addresses that the worker may request now, `alone` or while other workers claim, too."""
    remaining = remaining_pages(connection, claimant)
    left = remaining.pages if alone or not remaining.are_scarce else 0
    if not alone:
        demand = replace(demand, pages=min(demand.pages, SHARED_CLAIM))
    kinds = ClaimedKinds.PAGES
    if claimant.images:
        kinds = ClaimedKinds.IMAGES if left <= 0 else ClaimedKinds.ALL

    # Lock hosts, and refuse the addresses of those that are closed or whose sites have no budget left.
    rows: list[Row[Any]] = []
    if left > 0 or claimant.images:
        rows = _lock_hosts(connection, claimant, demand, now, kinds)
    if not rows:
        return ClaimResult([], set(), Outcomes(), {})
    refused = _refuse(connection, claimant, rows)

    # Choose the first addresses of the other hosts, and lease them.
    hosts = {row.id: row for row in rows}
    open_hosts = sorted(row.id for row in rows if not row.closed)
    first_addresses = connection.execute(
        FIRST_ADDRESSES[connection.dialect.name, kinds],
        {"chosen": open_hosts, "each": demand.each, "tries": claimant.tries},
    )
    kept = _within_budgets(claimant, demand, hosts, first_addresses, left)
    histories = histories_of(connection, claimant.known_since, kept)
    leases = [lease_of(row, hosts[row.host_id].site_id, claimant, histories.get(row.key)) for row in kept]
    if leases:
        connection.execute(HOLD, {"ids": [lease.id for lease in leases], "me": claimant.worker_id})
        count_tries(connection, leases)
        count_sites(connection, Counter(lease.site_id for lease in leases if lease.counts), held=1, requests=1)

    # Update the best priorities, and see which hosts have more addresses.
    claimed_hosts = sorted({lease.host_id for lease in leases})
    if claimed_hosts:
        connection.execute(
            UPDATE_CLAIMED,
            {"ids": claimed_hosts, "alone": demand.alone, "me": claimant.worker_id, "pause": claimant.pause},
        )
    other_hosts = sorted(hosts.keys() - set(claimed_hosts))
    if other_hosts:
        connection.execute(UPDATE_BEST, {"ids": other_hosts})
    of_hosts = {"ids": sorted(hosts), "tries": claimant.tries}
    hosts_with_more = set(connection.execute(HOSTS_WITH_MORE[claimant.images], of_hosts).scalars())
    ends_of_pauses = {host_id: hosts[host_id].next_at for host_id in claimed_hosts}
    return ClaimResult(leases, hosts_with_more, refused, host_rests(ends_of_pauses, now, claimant.longest_rest))


def most_pages_of_a_host(left: float, hosts: int) -> float:
    """How many pages of one host are leased at once, if a crawl may request `left` more pages from so many hosts.

    The last pages are spread over the hosts: those of a single one would wait for each other's pauses.

    >>> [most_pages_of_a_host(left, hosts=60) for left in (inf, 2_000, 200, 20)]
    [inf, 33, 3, 1]
    """
    return inf if left == inf else max(1, left // hosts)


def host_rests(until: Mapping[int, float], now: float, longest: float) -> dict[int, float]:
    """The remaining pauses of hosts in seconds, given the time when each ends; only of hosts that are paused.

    A pause that is longer than `longest` can only come from a wrong clock, and is ignored.
    """
    return {host_id: at - now for host_id, at in until.items() if now < at <= now + longest}


def _lock_hosts(
    connection: Connection, claimant: Claimant, demand: ClaimRequest, now: float, kinds: ClaimedKinds
) -> list[Row[Any]]:
    """Lock the hosts that are claimed: those in memory that run out of addresses, and new ones; returns their rows."""
    rows: list[Row[Any]] = []
    if demand.low:
        low = {"low": demand.low, "me": claimant.worker_id, "limit": claimant.site_limit, "tries": claimant.tries}
        rows += connection.execute(HOSTS_IN_MEMORY[kinds], low)
    if demand.hosts > 0:
        new = {
            "crawl": claimant.crawl_id,
            "hosts": demand.hosts,
            "at_hand": demand.at_hand,
            "limit": claimant.site_limit,
            "tries": claimant.tries,
            "now": now,
            "longest": claimant.longest_rest,
        }
        rows += connection.execute(NEW_HOSTS[kinds], new)
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
    return Outcomes(+refused)


def _within_budgets(
    claimant: Claimant, demand: ClaimRequest, hosts: Mapping[int, Row[Any]], rows: Iterable[Row[Any]], left: float
) -> list[Row[Any]]:
    """The addresses for which there is room: in the budgets of their sites and of the crawl, and in the demand."""
    room = {row.site_id: claimant.site_limit - row.pages - row.held for row in hosts.values()}
    requests = {row.site_id: claimant.site_limit * REQUESTS_A_PAGE - row.requests for row in hosts.values()}
    tries = {row.id: claimant.tries - row.tries for row in hosts.values()}
    pages_of_host = dict.fromkeys(hosts, most_pages_of_a_host(left, len(hosts.keys() | set(demand.at_hand))))

    kept: list[Row[Any]] = []
    for row in rows:
        site_id = hosts[row.host_id].site_id
        if len(kept) >= demand.pages:
            break
        if is_unlikely(row.priority):
            if tries[row.host_id] <= 0:
                continue
            tries[row.host_id] -= 1
        if row.kind != AddressKind.IMAGE:
            if min(room[site_id], requests[site_id], left, pages_of_host[row.host_id]) <= 0:
                continue
            pages_of_host[row.host_id] -= 1
            room[site_id] -= 1
            requests[site_id] -= 1
            left -= 1
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
        predates_fresh_start=history is not None and history.last_round < (claimant.known_since or 0),
        is_try=is_unlikely(row.priority),
    )


def histories_of(connection: Connection, since: int | None, rows: Iterable[Row[Any]]) -> Mapping[int, PageHistory]:
    """The histories of those addresses that have pages, by key; none if `since` is None."""
    if since is None:
        return {}
    columns = [page.c[name] for name in PageHistory.__dataclass_fields__]
    histories: dict[int, PageHistory] = {}
    for part in in_chunks(sorted({row.key for row in rows if row.kind != AddressKind.IMAGE})):
        stored_pages = select(page.c.key, *columns).where(page.c.key.in_(part))
        histories |= {key: PageHistory(*values) for key, *values in connection.execute(stored_pages)}
    return histories
