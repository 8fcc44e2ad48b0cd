"""What ended leases cause besides pages: links added, counts, what was seen and said of pictures.

Moves: a redirect has the address that it leads to held in place of the one asked for.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from crawler.frontier.messages import Candidate, Completion, Keys, Lease, Move
from crawler.outcomes import Code, Outcome
from crawler.store.addresses import RAISE_BEST, Addresses, Place, Shown, raise_best
from crawler.store.claims import Claimant, count_sites, has_room
from crawler.store.images import keep_downloaded, keep_verdicts
from crawler.store.output_files import storable
from crawler.store.pages import column_value
from crawler.store.schema import DONE, HELD, WAITING, address, host
from crawler.urls.parsing import host as host_of

END = (
    update(address)
    .where(address.c.id == bindparam("lease"))
    .values(state=DONE, worker=None, outcome=bindparam("code"), outcome_detail=bindparam("detail"), sight=None)
)
# What is noise as a picture, while a link with words leads there too by now.
SPARE = (
    update(address)
    .where(address.c.id.in_(bindparam("leases", expanding=True)), address.c.sight.is_(None))
    .values(state=WAITING, worker=None)
    .returning(address.c.id, address.c.host_id, address.c.priority)
)


def add_links(
    connection: Connection, addresses: Addresses, keys: Keys, ended: Iterable[Completion], released: set[int]
) -> int:
    """Let the new ones among the links wait, or record them; how many wait."""
    links: dict[int, tuple[Candidate, int | None]] = {}
    shown: dict[int, Shown] = {}
    for one in ended:
        for link in one.result.links:
            key = keys(link.url, link.kind)
            if link.sight is None:
                links.setdefault(key, (link, one.lent.lease))
            else:
                shown.setdefault(key, Shown(link, one.lent.lease, one.lent.site_id))
    added = addresses.add(connection, links)
    alone = {key: shown[key] for key in shown.keys() - links.keys()}
    return added + addresses.record(connection, alone, released)


def end(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    """End leases; those that wait again, because a link with words leads to what is noise as a picture."""
    spared = _spare(connection, ended)
    _count_ends(connection, ended)
    rows = [end_row(one.lent, one.result.outcome) for one in ended if one.lent.lease not in spared]
    if rows:
        connection.execute(END, sorted(rows, key=lambda row: row["lease"] or 0))
    return spared


def end_row(lent: Lease, outcome: Outcome | None) -> dict[str, Any]:
    """The parameters of END."""
    code, detail = (outcome.code, storable(outcome.detail) or None) if outcome is not None else (None, None)
    return {"lease": lent.lease, "code": code, "detail": detail}


def _spare(connection: Connection, ended: Iterable[Completion]) -> set[int]:
    """Those leases of noise that wait again."""
    noise = [one.lent.lease for one in ended if one.lent.counts and one.result.is_noise]
    if not noise:
        return set()
    rows = connection.execute(SPARE, {"leases": noise}).all()
    best: dict[int, int] = {}
    for row in rows:
        best[row.host_id] = max(best.get(row.host_id, row.priority), row.priority)
    raise_best(connection, best)
    return {row.id for row in rows}


def _count_ends(connection: Connection, ended: Iterable[Completion]) -> None:
    """Count the pages that sites were asked for by their results; noise was not asked for."""
    counts = {
        "stored": {"pages": 1, "held": -1},
        "brought nothing": {"held": -1},
        "noise": {"held": -1, "requests": -1},
    }
    sites: dict[str, Counter[int]] = {name: Counter() for name in counts}
    for one in ended:
        if one.lent.counts:
            nothing = "noise" if one.result.is_noise else "brought nothing"
            sites["stored" if one.is_page else nothing][one.lent.site_id] += 1
    for name, changes in counts.items():
        count_sites(connection, sites[name], **changes)


def keep_pictures(connection: Connection, keys: Keys, crawl_id: int, ended: Iterable[Completion]) -> None:
    """Keep what was said of the pictures that were judged."""
    verdicts, later = [], {}
    for one in ended:
        if (verdict := one.result.verdict) is not None:
            verdicts.append({name: column_value(value) for name, value in {**verdict, **_downloaded(one)}.items()})
        elif downloaded := _downloaded(one):  # by a run that judges nothing; an earlier one may have
            later[keys(one.lent.candidate.url, one.lent.candidate.kind)] = downloaded
    keep_verdicts(connection, crawl_id, verdicts)
    keep_downloaded(connection, later)


def _downloaded(ended: Completion) -> Mapping[str, Any]:
    """What a verdict is told of the picture that was downloaded; nothing where none was."""
    record = ended.result.record or {}
    if ended.lent.counts or record.get("size") is None:
        return {}
    # Pictures lie in a folder by the first letters of their names, whatever folder holds them all.
    file = "/".join(PurePosixPath(record["path"]).parts[-2:])
    return {"bytes": record["size"], "bytes_are_measured": True, "file": file or None}


class Moved(NamedTuple):
    """The result of a move."""

    lent: Lease | None
    """None where the redirect may not be followed now."""
    added: int = 0
    """How many addresses wait that did not."""


def follow(connection: Connection, who: Claimant, addresses: Addresses, keys: Keys, move: Move) -> Moved:
    """Hold the address that a redirect leads to in place of the one asked for, if nobody knows it yet."""
    to, lent = move.to, move.lent
    place = addresses.place(connection, {host_of(to.url): to.url})[host_of(to.url)]
    row = {"key": keys(to.url, to.kind), "url": to.url, "kind": to.kind, "priority": to.priority}
    row |= {"depth": to.depth, "requested": to.requested, "via": to.via, "host_id": place.host_id}
    if to.sight is not None:  # who asks for it later judges it as this one was
        row |= {"sight": storable(to.sight), "shown_on": lent.shown_on}
    mine = _may_ask(connection, who, move, place)
    row |= {"state": HELD, "worker": who.worker_id} if mine else {"state": WAITING}
    found_on = select(address.c.parent).where(address.c.id == lent.lease).scalar_subquery()
    new = addresses.insert(address).values(**row, parent=found_on).on_conflict_do_nothing(index_elements=["key"])
    number = connection.execute(new.returning(address.c.id)).scalar()
    if number is None:  # it may be known for a picture alone
        known: dict[int, tuple[Candidate, int | None]] = {keys(to.url, to.kind): (to, None)}
        return Moved(None, addresses.overrule(connection, known))
    if not mine:  # it waits like any other
        connection.execute(RAISE_BEST, {"host": place.host_id, "priority": to.priority})
        return Moved(None, 1)
    connection.execute(END, end_row(lent, Outcome(Code.REDIRECTED)))
    if lent.counts:
        count_sites(connection, {lent.site_id: 1}, held=-1)
        count_sites(connection, {place.site_id: 1}, held=1, requests=1)
    return Moved(Lease(number, to, place.host_id, place.site_id, lent.load, lent.shown_on))


def _may_ask(connection: Connection, who: Claimant, move: Move, place: Place) -> bool:
    """Whether this worker may ask at once where a redirect leads; a seed need not wait for another worker."""
    row = connection.execute(select(host.c.worker, host.c.closed).where(host.c.id == place.host_id)).one()
    another_s = row.worker not in (None, who.worker_id) and move.to.kind != "seed"
    if another_s or row.closed is not None:
        return False
    same = place.site_id == move.lent.site_id
    return same or not move.lent.counts or has_room(connection, who, place.site_id)
