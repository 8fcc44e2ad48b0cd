"""Recovery: what a batch brought that was committed although the connection was lost before the database said so."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, select

from crawler.state.claims import Claimant, candidate_of, knowledge, resting
from crawler.state.database import time_of
from crawler.state.entries import Answer, Batch, Keys, Lent
from crawler.state.schema import IS_HELD, address, host


def recovered(connection: Connection, who: Claimant, keys: Keys, batch: Batch, held: Collection[int]) -> Answer:
    """What is lent and moved by a batch that was committed; these leases were held before it."""
    answer = Answer()
    ended = {one.lent.lease for one in batch.ended} | {one.lease for one in batch.returned}
    answer.moved = dict.fromkeys(move.lent.lease for move in batch.moves)
    moved: dict[int, int] = {}
    for move in batch.moves:
        moved.setdefault(keys(move.to.url, move.to.kind), move.lent.lease)
    mine = address.c.worker == who.worker_id, IS_HELD
    found = select(address, host.c.site_id, host.c.next_at).join(host, host.c.id == address.c.host_id).where(*mine)
    rows = [row for row in connection.execute(found).all() if row.id not in held or row.id in ended]
    known = knowledge(connection, who, rows)
    for row in rows:
        lent = _lent(connection, row)._replace(known=known.get(row.key))
        if row.key in moved:
            answer.moved[moved[row.key]] = lent
        else:
            answer.lent.append(lent)
    answer.rests = resting(who, {row.host_id: row.next_at for row in rows}, time_of(connection))
    return answer


def _lent(connection: Connection, row: Row[Any]) -> Lent:
    parent = select(address.c.url).where(address.c.id == row.parent)
    found = connection.execute(parent).scalar() if row.parent else None
    return Lent(row.id, candidate_of(row, found), row.host_id, row.site_id, shown_on=row.shown_on)
