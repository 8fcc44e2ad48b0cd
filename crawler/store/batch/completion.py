"""Ends leases: an address is returned to the queue, completed with a result, or redirected.

A page that only an image links to, and whose image is judged to be noise, is completed without a request. If a link
with words has led to this page in the meantime, it is queued again instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from crawler.frontier.batch import Redirect
from crawler.frontier.page_result import AddressKind, Completion, Lease
from crawler.outcomes import Code, Outcome
from crawler.store.batch.addresses import Addresses, AddressKeys, HostIds, LinksByKey
from crawler.store.batch.claims import Claimant
from crawler.store.batch.host_tries import count_tries
from crawler.store.batch.hosts import RAISE_BEST, UPDATE_BEST, count_sites, interval, raise_best, site_has_budget
from crawler.store.crawl_tables import IS_HELD, AddressState, address, host
from crawler.store.database import database_time, storable
from crawler.urls.address import address_of

IS_LEASED = (address.c.id.in_(bindparam("ids", expanding=True)), address.c.worker == bindparam("worker_id"), IS_HELD)
"""The conditions for those addresses of some ids that a worker has leased."""
LEASED = select(address.c.id).where(*IS_LEASED)
RETURN_LEASED = update(address).where(*IS_LEASED).values(state=AddressState.WAITING, worker=None)


def return_leases(connection: Connection, worker_id: int, leases: Iterable[Lease]) -> int:
    """Queue addresses again that were leased but not requested; returns how many."""
    lease_by_id = {lease.id: lease for lease in leases}
    if not lease_by_id:
        return 0
    leases_of_worker = {"ids": sorted(lease_by_id), "worker_id": worker_id}
    returned_ids = connection.execute(LEASED, leases_of_worker).scalars().all()
    connection.execute(RETURN_LEASED, leases_of_worker)

    returned = [lease_by_id[number] for number in returned_ids]
    count_sites(connection, Counter(lease.site_id for lease in returned if lease.is_page), held=-1, requests=-1)
    count_tries(connection, returned, more=-1)
    connection.execute(UPDATE_BEST, {"ids": sorted({lease.host_id for lease in returned})})
    return len(returned)


COMPLETE = (
    update(address)
    .where(address.c.id == bindparam("lease_id"))
    # A page that was requested no longer counts as known only through an image; `sight` would say so.
    .values(
        state=AddressState.DONE, worker=None, outcome=bindparam("code"), outcome_detail=bindparam("detail"), sight=None
    )
)
REQUEUE_LINKED = (
    update(address)
    .where(address.c.id.in_(bindparam("leases", expanding=True)), address.c.sight.is_(None))
    .values(state=AddressState.WAITING, worker=None)
    .returning(address.c.id, address.c.host_id, address.c.priority)
)
"""Queues pages behind noise again if a link with words, which clears `sight`, leads to them by now."""


def complete_leases(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    """End leases; returns the ids of the pages behind noise that are queued again instead."""
    requeued = _requeue_linked(connection, ended)
    _count_completions(connection, ended)
    rows = [
        completion_row(completion.lease, completion.result.outcome)
        for completion in ended
        if completion.lease.id not in requeued
    ]
    if rows:
        connection.execute(COMPLETE, sorted(rows, key=lambda row: row["lease_id"]))
    return requeued


def completion_row(lease: Lease, outcome: Outcome | None) -> dict[str, Any]:
    """The parameters of COMPLETE for a lease."""
    if outcome is None:
        return {"lease_id": lease.id, "code": None, "detail": None}
    return {"lease_id": lease.id, "code": outcome.code, "detail": storable(outcome.detail) or None}


def _requeue_linked(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    """Queue pages behind noise again if a link with words leads to them by now; returns their ids."""
    behind_noise = [
        completion.lease.id for completion in ended if completion.lease.is_page and completion.result.is_noise
    ]
    if not behind_noise:
        return set()
    rows = connection.execute(REQUEUE_LINKED, {"leases": behind_noise}).all()
    raise_best(connection, ((row.host_id, row.priority) for row in rows))
    return {row.id for row in rows}


def _count_completions(connection: Connection, ended: Iterable[Completion]) -> None:
    """Count ended leases in the budgets of sites: a page that was not requested gives its request back."""
    stored = Counter[int]()
    not_stored = Counter[int]()
    not_requested = Counter[int]()
    for completion in ended:
        if not completion.lease.is_page:
            continue
        if completion.brought_page:
            stored[completion.lease.site_id] += 1
        elif completion.result.was_requested:
            not_stored[completion.lease.site_id] += 1
        else:
            not_requested[completion.lease.site_id] += 1
    count_sites(connection, stored, pages=1, held=-1)
    count_sites(connection, not_stored, held=-1)
    count_sites(connection, not_requested, held=-1, requests=-1)


@dataclass(frozen=True, slots=True)
class RedirectResult:
    """What became of the target of a redirect."""

    lease: Lease | None
    """The lease on the target, if there is one."""
    added: int = 0
    """How many more addresses are queued."""


def follow_redirect(
    connection: Connection, claimant: Claimant, addresses: Addresses, keys: AddressKeys, redirect: Redirect
) -> RedirectResult:
    """End the lease on a redirected address, and lease the target of the redirect instead.

    If the target is known already, or its host was erased, there is no new lease. If this worker may not request the
    target now, the target is queued. In these cases the old lease continues, and the worker ends it with an outcome.
    """
    to = redirect.to
    lease = redirect.lease
    host_name = address_of(to.url).host
    ids = addresses.host_ids(connection, {host_name: to.url}).get(host_name)
    if ids is None:
        return RedirectResult(None)

    # Insert the target, leased or queued.
    row = {
        "key": keys(to.url, to.kind),
        "url": to.url,
        "kind": to.kind,
        "priority": to.priority,
        "depth": to.depth,
        "requested": to.requested,
        "via": to.via,
        "host_id": ids.host_id,
        "state": AddressState.WAITING,
    }
    if to.sight is not None:  # it is judged like the address that redirects to it
        row |= {"sight": storable(to.sight), "shown_on": lease.shown_on}
    may_request = _may_request(connection, claimant, redirect, ids)
    if may_request:
        row |= {"state": AddressState.HELD, "worker": claimant.worker_id}
    parent = select(address.c.parent).where(address.c.id == lease.id).scalar_subquery()
    new = addresses.insert(address).values(**row, parent=parent).on_conflict_do_nothing(index_elements=["key"])
    target_id = connection.execute(new.returning(address.c.id)).scalar()
    if target_id is None:  # it may be known only through an image
        links: LinksByKey = {keys(to.url, to.kind): (to, None)}
        return RedirectResult(None, addresses.add_linked(connection, links))
    if not may_request:
        connection.execute(RAISE_BEST, {"host": ids.host_id, "priority": to.priority})
        return RedirectResult(None, 1)

    # End the old lease.
    connection.execute(COMPLETE, completion_row(lease, Outcome(Code.REDIRECTED)))
    if lease.is_page:
        count_sites(connection, {lease.site_id: 1}, held=-1)
        count_sites(connection, {ids.site_id: 1}, held=1, requests=1)
    target = Lease(
        id=target_id,
        candidate=to,
        host_id=ids.host_id,
        site_id=ids.site_id,
        request=lease.request,
        shown_on=lease.shown_on,
    )
    return RedirectResult(target)


def _may_request(connection: Connection, claimant: Claimant, redirect: Redirect, ids: HostIds) -> bool:
    """Whether this worker may request the target of a redirect at once.

    It may if this worker has the host, or if no worker has it and the host's interval has ended. The target of a seed
    need not wait for this. No target is requested if its host is closed or its site has no budget left.
    """
    row = connection.execute(select(host.c.worker, host.c.closed).where(host.c.id == ids.host_id)).one()
    if row.closed is not None:
        return False
    has_turn = row.worker == claimant.worker_id or (row.worker is None and _take_turn(connection, claimant, ids))
    if not has_turn and redirect.to.kind is not AddressKind.SEED:
        return False
    # On the same site, the target takes the place of the redirected page in the budget.
    needs_budget = ids.site_id != redirect.lease.site_id and redirect.lease.is_page
    return not needs_budget or site_has_budget(connection, claimant.site_limit, ids.site_id)


def _take_turn(connection: Connection, claimant: Claimant, ids: HostIds) -> bool:
    """Begin the interval of a host that no worker has, if it may be requested now; returns whether it may."""
    now = database_time(connection)
    # A rest that ends later than the longest one can only come from a wrong clock.
    is_ready = (host.c.next_at <= now) | (host.c.next_at > now + claimant.longest_rest)
    turn = update(host).where(host.c.id == ids.host_id, host.c.worker.is_(None), is_ready)
    return connection.execute(turn.values(next_at=now + interval(claimant.first_interval))).rowcount > 0
