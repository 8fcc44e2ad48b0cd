"""Ends leases: an address is returned to the queue, completed with a result, or redirected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from crawler.frontier.batch import Redirect
from crawler.frontier.page_result import AddressKind, Candidate, Completion, Lease
from crawler.outcomes import Code, Outcome
from crawler.store.batch.addresses import Addresses, AddressKeys, HostIds
from crawler.store.batch.claims import Claimant
from crawler.store.batch.hosts import (
    RAISE_BEST,
    UPDATE_BEST,
    count_sites,
    count_tries,
    pause,
    raise_best,
    site_has_budget,
)
from crawler.store.crawl_tables import IS_HELD, AddressState, address, host
from crawler.store.database import database_time, storable
from crawler.urls.address import address_of

_is_leased = (address.c.id.in_(bindparam("ids", expanding=True)), address.c.worker == bindparam("me"), IS_HELD)
LEASED = select(address.c.id).where(*_is_leased)
RETURN_LEASED = update(address).where(*_is_leased).values(state=AddressState.WAITING, worker=None)


def return_leases(connection: Connection, worker_id: int, leases: Iterable[Lease]) -> int:
    """Queue addresses again that were leased but not requested; returns how many."""
    by_id = {lease.id: lease for lease in leases}
    if not by_id:
        return 0
    leases_of_worker = {"ids": sorted(by_id), "me": worker_id}
    back = connection.execute(LEASED, leases_of_worker).scalars().all()
    connection.execute(RETURN_LEASED, leases_of_worker)
    count_sites(connection, Counter(by_id[n].site_id for n in back if by_id[n].counts), held=-1, requests=-1)
    count_tries(connection, (by_id[number] for number in back), more=-1)
    connection.execute(UPDATE_BEST, {"ids": sorted({by_id[number].host_id for number in back})})
    return len(back)


COMPLETE = (
    update(address)
    .where(address.c.id == bindparam("lease_id"))
    .values(
        state=AddressState.DONE, worker=None, outcome=bindparam("code"), outcome_detail=bindparam("detail"), sight=None
    )
)
# Addresses that are noise as an image, but to which a link with words leads by now.
REQUEUE_LINKED = (
    update(address)
    .where(address.c.id.in_(bindparam("leases", expanding=True)), address.c.sight.is_(None))
    .values(state=AddressState.WAITING, worker=None)
    .returning(address.c.id, address.c.host_id, address.c.priority)
)


def complete_leases(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    """End leases; returns the ids of those queued again, as a link with words leads to what is noise as an image."""
    requeued = _requeue_linked(connection, ended)
    _count_completions(connection, ended)
    rows = [
        completion_row(completion.lease, completion.result.outcome)
        for completion in ended
        if completion.lease.id not in requeued
    ]
    if rows:
        connection.execute(COMPLETE, sorted(rows, key=lambda row: row["lease_id"] or 0))
    return requeued


def completion_row(lease: Lease, outcome: Outcome | None) -> dict[str, Any]:
    """The parameters of COMPLETE."""
    code, detail = (outcome.code, storable(outcome.detail) or None) if outcome is not None else (None, None)
    return {"lease_id": lease.id, "code": code, "detail": detail}


def _requeue_linked(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    noise = [completion.lease.id for completion in ended if completion.lease.counts and completion.result.is_noise]
    if not noise:
        return set()
    rows = connection.execute(REQUEUE_LINKED, {"leases": noise}).all()
    raise_best(connection, ((row.host_id, row.priority) for row in rows))
    return {row.id for row in rows}


def _count_completions(connection: Connection, ended: Iterable[Completion]) -> None:
    """Count results towards the budgets of sites."""
    counts = {
        "stored": {"pages": 1, "held": -1},
        "not stored": {"held": -1},
        "not requested": {"held": -1, "requests": -1},
    }
    sites: dict[str, Counter[int]] = {name: Counter() for name in counts}
    for completion in ended:
        if completion.lease.counts:
            other = "not stored" if completion.result.was_requested else "not requested"
            sites["stored" if completion.is_page else other][completion.lease.site_id] += 1
    for name, changes in counts.items():
        count_sites(connection, sites[name], **changes)


@dataclass(frozen=True, slots=True)
class RedirectResult:
    """The lease on the target of a redirect, or None, and how many more addresses are queued."""

    lease: Lease | None
    added: int = 0


def follow_redirect(
    connection: Connection, claimant: Claimant, addresses: Addresses, keys: AddressKeys, redirect: Redirect
) -> RedirectResult:
    """Lease the target of a redirect in place of the requested address, if it is not known yet, nor its host erased."""
    to = redirect.to
    lease = redirect.lease
    ids = addresses.host_ids(connection, {address_of(to.url).host: to.url}).get(address_of(to.url).host)
    if ids is None:
        return RedirectResult(None)
    row = {"key": keys(to.url, to.kind), "url": to.url, "kind": to.kind, "priority": to.priority}
    row |= {"depth": to.depth, "requested": to.requested, "via": to.via, "host_id": ids.host_id}
    if to.sight is not None:  # whoever requests it later judges it as this image was judged
        row |= {"sight": storable(to.sight), "shown_on": lease.shown_on}
    may_request = _may_request(connection, claimant, redirect, ids)
    row |= (
        {"state": AddressState.HELD, "worker": claimant.worker_id} if may_request else {"state": AddressState.WAITING}
    )
    found_on = select(address.c.parent).where(address.c.id == lease.id).scalar_subquery()
    new = addresses.insert(address).values(**row, parent=found_on).on_conflict_do_nothing(index_elements=["key"])
    number = connection.execute(new.returning(address.c.id)).scalar()
    if number is None:  # it may be known only through an image
        candidates: dict[int, tuple[Candidate, int | None]] = {keys(to.url, to.kind): (to, None)}
        return RedirectResult(None, addresses.add_linked(connection, candidates))
    if not may_request:  # it is queued like any other address
        connection.execute(RAISE_BEST, {"host": ids.host_id, "priority": to.priority})
        return RedirectResult(None, 1)
    connection.execute(COMPLETE, completion_row(lease, Outcome(Code.REDIRECTED)))
    if lease.counts:
        count_sites(connection, {lease.site_id: 1}, held=-1)
        count_sites(connection, {ids.site_id: 1}, held=1, requests=1)
    target = Lease(
        id=number,
        candidate=to,
        host_id=ids.host_id,
        site_id=ids.site_id,
        request=lease.request,
        shown_on=lease.shown_on,
    )
    return RedirectResult(target)


def _may_request(connection: Connection, claimant: Claimant, redirect: Redirect, ids: HostIds) -> bool:
    """Whether this worker may request the target of a redirect at once; a seed need not wait for another worker."""
    row = connection.execute(select(host.c.worker, host.c.closed).where(host.c.id == ids.host_id)).one()
    if row.closed is not None:
        return False
    is_its_turn = row.worker == claimant.worker_id or (row.worker is None and _takes_turn(connection, claimant, ids))
    if not is_its_turn and redirect.to.kind is not AddressKind.SEED:
        return False
    is_counted = ids.site_id != redirect.lease.site_id and redirect.lease.counts
    return not is_counted or site_has_budget(connection, claimant.site_limit, ids.site_id)


def _takes_turn(connection: Connection, claimant: Claimant, ids: HostIds) -> bool:
    """Whether a host that is no worker's may be requested now; if so, no worker requests it again during its pause."""
    now = database_time(connection)
    ready = (host.c.next_at <= now) | (host.c.next_at > now + claimant.longest_rest)
    turn = update(host).where(host.c.id == ids.host_id, host.c.worker.is_(None), ready)
    return connection.execute(turn.values(next_at=now + pause(claimant.pause))).rowcount > 0
