"""Moves: a redirect has the address that it leads to held in place of the one asked for."""

from typing import NamedTuple

from sqlalchemy import Connection, select

from crawler.outcomes import Code, Outcome
from crawler.state.addresses import RAISE_BEST, Addresses, Place
from crawler.state.claims import Claimant, count_sites, has_room
from crawler.state.ended import END, end_row
from crawler.state.entries import Candidate, Keys, Lent, Move
from crawler.state.lines import storable
from crawler.state.schema import HELD, WAITING, address, host
from crawler.urls.parsing import host as host_of


class Moved(NamedTuple):
    """The result of a move."""

    lent: Lent | None
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
    return Moved(Lent(number, to, place.host_id, place.site_id, lent.load, lent.shown_on))


def _may_ask(connection: Connection, who: Claimant, move: Move, place: Place) -> bool:
    """Whether this worker may ask at once where a redirect leads; a seed need not wait for another worker."""
    row = connection.execute(select(host.c.worker, host.c.closed).where(host.c.id == place.host_id)).one()
    another_s = row.worker not in (None, who.worker_id) and move.to.kind != "seed"
    if another_s or row.closed is not None:
        return False
    same = place.site_id == move.lent.site_id
    return same or not move.lent.counts or has_room(connection, who, place.site_id)
