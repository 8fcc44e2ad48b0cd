"""What ended leases cause besides pages: links added, counts, what was seen and said of pictures.

Moves: a redirect has the address that it leads to held in place of the one asked for.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from crawler.frontier.messages import AddressKeys, Candidate, Completion, Lease, Redirect
from crawler.outcomes import Code, Outcome
from crawler.store.addresses import RAISE_BEST, Addresses, HostIds, RecordedLink, raise_best
from crawler.store.claims import Claimant, count_sites, site_has_budget
from crawler.store.images import save_downloads, save_verdicts
from crawler.store.output_files import storable
from crawler.store.pages import column_value
from crawler.store.schema import DONE, HELD, WAITING, address, host
from crawler.urls.parsing import host as host_of

COMPLETE = (
    update(address)
    .where(address.c.id == bindparam("lease_id"))
    .values(state=DONE, worker=None, outcome=bindparam("code"), outcome_detail=bindparam("detail"), sight=None)
)
# What is noise as a picture, while a link with words leads there too by now.
REQUEUE_LINKED = (
    update(address)
    .where(address.c.id.in_(bindparam("leases", expanding=True)), address.c.sight.is_(None))
    .values(state=WAITING, worker=None)
    .returning(address.c.id, address.c.host_id, address.c.priority)
)


def add_links(
    connection: Connection, addresses: Addresses, keys: AddressKeys, ended: Iterable[Completion], released: set[int]
) -> int:
    """Let the new ones among the links wait, or record them; how many wait."""
    links: dict[int, tuple[Candidate, int | None]] = {}
    shown: dict[int, RecordedLink] = {}
    for one in ended:
        for link in one.result.links:
            key = keys(link.url, link.kind)
            if link.sight is None:
                links.setdefault(key, (link, one.lease.id))
            else:
                shown.setdefault(key, RecordedLink(link, one.lease.id, one.lease.site_id))
    added = addresses.add(connection, links)
    alone = {key: shown[key] for key in shown.keys() - links.keys()}
    return added + addresses.record(connection, alone, released)


def complete_leases(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    """End leases; those that wait again, because a link with words leads to what is noise as a picture."""
    spared = _requeue_linked(connection, ended)
    _count_completions(connection, ended)
    rows = [completion_row(one.lease, one.result.outcome) for one in ended if one.lease.id not in spared]
    if rows:
        connection.execute(COMPLETE, sorted(rows, key=lambda row: row["lease_id"] or 0))
    return spared


def completion_row(lease: Lease, outcome: Outcome | None) -> dict[str, Any]:
    """The parameters of END."""
    code, detail = (outcome.code, storable(outcome.detail) or None) if outcome is not None else (None, None)
    return {"lease_id": lease.id, "code": code, "detail": detail}


def _requeue_linked(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    """Those leases of noise that wait again."""
    noise = [one.lease.id for one in ended if one.lease.counts and one.result.is_noise]
    if not noise:
        return set()
    rows = connection.execute(REQUEUE_LINKED, {"leases": noise}).all()
    best: dict[int, int] = {}
    for row in rows:
        best[row.host_id] = max(best.get(row.host_id, row.priority), row.priority)
    raise_best(connection, best)
    return {row.id for row in rows}


def _count_completions(connection: Connection, ended: Iterable[Completion]) -> None:
    """Count the pages that sites were asked for by their results; noise was not asked for."""
    counts = {
        "stored": {"pages": 1, "held": -1},
        "brought nothing": {"held": -1},
        "noise": {"held": -1, "requests": -1},
    }
    sites: dict[str, Counter[int]] = {name: Counter() for name in counts}
    for one in ended:
        if one.lease.counts:
            nothing = "noise" if one.result.is_noise else "brought nothing"
            sites["stored" if one.is_page else nothing][one.lease.site_id] += 1
    for name, changes in counts.items():
        count_sites(connection, sites[name], **changes)


def save_image_results(connection: Connection, keys: AddressKeys, crawl_id: int, ended: Iterable[Completion]) -> None:
    """Keep what was said of the pictures that were judged."""
    verdicts, later = [], {}
    for one in ended:
        if (verdict := one.result.verdict) is not None:
            verdicts.append({name: column_value(value) for name, value in {**verdict, **_downloaded(one)}.items()})
        elif downloaded := _downloaded(one):  # by a run that judges nothing; an earlier one may have
            later[keys(one.lease.candidate.url, one.lease.candidate.kind)] = downloaded
    save_verdicts(connection, crawl_id, verdicts)
    save_downloads(connection, later)


def _downloaded(ended: Completion) -> Mapping[str, Any]:
    """What a verdict is told of the picture that was downloaded; nothing where none was."""
    record = ended.result.record or {}
    if ended.lease.counts or record.get("size") is None:
        return {}
    # Pictures lie in a folder by the first letters of their names, whatever folder holds them all.
    file = "/".join(PurePosixPath(record["path"]).parts[-2:])
    return {"bytes": record["size"], "bytes_are_measured": True, "file": file or None}


class RedirectResult(NamedTuple):
    """The result of a move."""

    lease: Lease | None
    """None where the redirect may not be followed now."""
    added: int = 0
    """How many addresses wait that did not."""


def follow_redirect(
    connection: Connection, claimant: Claimant, addresses: Addresses, keys: AddressKeys, move: Redirect
) -> RedirectResult:
    """Hold the address that a redirect leads to in place of the one asked for, if nobody knows it yet."""
    to, lease = move.to, move.lease
    place = addresses.place(connection, {host_of(to.url): to.url})[host_of(to.url)]
    row = {"key": keys(to.url, to.kind), "url": to.url, "kind": to.kind, "priority": to.priority}
    row |= {"depth": to.depth, "requested": to.requested, "via": to.via, "host_id": place.host_id}
    if to.sight is not None:  # who asks for it later judges it as this one was
        row |= {"sight": storable(to.sight), "shown_on": lease.shown_on}
    mine = _may_ask(connection, claimant, move, place)
    row |= {"state": HELD, "worker": claimant.worker_id} if mine else {"state": WAITING}
    found_on = select(address.c.parent).where(address.c.id == lease.id).scalar_subquery()
    new = addresses.insert(address).values(**row, parent=found_on).on_conflict_do_nothing(index_elements=["key"])
    number = connection.execute(new.returning(address.c.id)).scalar()
    if number is None:  # it may be known for a picture alone
        known: dict[int, tuple[Candidate, int | None]] = {keys(to.url, to.kind): (to, None)}
        return RedirectResult(None, addresses.overrule(connection, known))
    if not mine:  # it waits like any other
        connection.execute(RAISE_BEST, {"host": place.host_id, "priority": to.priority})
        return RedirectResult(None, 1)
    connection.execute(COMPLETE, completion_row(lease, Outcome(Code.REDIRECTED)))
    if lease.counts:
        count_sites(connection, {lease.site_id: 1}, held=-1)
        count_sites(connection, {place.site_id: 1}, held=1, requests=1)
    return RedirectResult(Lease(number, to, place.host_id, place.site_id, lease.load, lease.shown_on))


def _may_ask(connection: Connection, claimant: Claimant, move: Redirect, place: HostIds) -> bool:
    """Whether this worker may ask at once where a redirect leads; a seed need not wait for another worker."""
    row = connection.execute(select(host.c.worker, host.c.closed).where(host.c.id == place.host_id)).one()
    another_s = row.worker not in (None, claimant.worker_id) and move.to.kind != "seed"
    if another_s or row.closed is not None:
        return False
    same = place.site_id == move.lease.site_id
    return same or not move.lease.counts or site_has_budget(connection, claimant, place.site_id)
