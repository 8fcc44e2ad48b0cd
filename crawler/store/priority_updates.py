"""Writes new priorities of queued addresses.

If a worker crashes, addresses keep their old priorities. No worker waits to write priorities: if another transaction
has locked a host, its priorities are written with a later batch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ARRAY, BigInteger, Connection, Integer, bindparam, func, select, update

from crawler.store.crawl_tables import IS_WAITING, address, host
from crawler.store.database import in_chunks
from crawler.store.hosts import UPDATE_BEST

if TYPE_CHECKING:
    from crawler.store.addresses import AddressKeys

PRIORITIES_AT_ONCE = 50_000  # priorities written in one transaction; later ones wait for the next
# Seeds, lists, images, and pages that only an image links to have fixed priorities.
HAS_LEARNED_PRIORITY = (
    address.c.key.in_(bindparam("keys", expanding=True))
    & IS_WAITING
    & (address.c.kind == "link")
    & address.c.sight.is_(None)
)
LOCK_HOSTS = (
    select(host.c.id)
    .where(host.c.id.in_(select(address.c.host_id).where(HAS_LEARNED_PRIORITY)))
    .with_for_update(of=host, skip_locked=True, key_share=True)
)
PRIORITIES = select(address.c.id, address.c.key, address.c.host_id, address.c.priority).where(HAS_LEARNED_PRIORITY)
UPDATE_PRIORITY = update(address).where(address.c.id == bindparam("number")).values(priority=bindparam("new"))
_arrays = bindparam("numbers", type_=ARRAY(BigInteger)), bindparam("priorities", type_=ARRAY(Integer))
_given = func.unnest(*_arrays).table_valued("number", "new").render_derived()
# The id is the only condition: PostgreSQL would start with any other condition that it expects to hold for few rows.
UPDATE_PRIORITIES = update(address).where(address.c.id == _given.c.number).values(priority=_given.c.new)


class PriorityUpdates:
    """Writes the new priorities of one worker, and keeps those that wait for another worker's locks."""

    def __init__(self, keys: AddressKeys) -> None:
        self.keys = keys
        self.late: dict[int, int] = {}
        """Priorities still to be written, by the key of the address, oldest first."""
        self.dropped = 0
        """How many priorities were dropped because too many were waiting."""
        self._later: dict[int, int] = {}

    def write(self, connection: Connection, priorities: Mapping[str, int]) -> None:
        """Write the new priorities of queued addresses, and update the best priorities of their hosts."""
        self._later = {}
        if not priorities and not self.late:
            return
        given = {self.keys(url): priority for url, priority in priorities.items()}
        given = {key: priority for key, priority in self.late.items() if key not in given} | given
        now = sorted(list(given)[-PRIORITIES_AT_ONCE:])
        unlocked = _lock_hosts(connection, now)
        # While their hosts are locked, nobody claims the addresses.
        rows = [row for part in in_chunks(now) for row in connection.execute(PRIORITIES, {"keys": part})]
        later = {row.key for row in rows if unlocked is not None and row.host_id not in unlocked}
        changed = [row for row in rows if row.key not in later and row.priority != given[row.key]]
        _write_priorities(connection, changed, given)
        for hosts in in_chunks(sorted({row.host_id for row in changed})):
            connection.execute(UPDATE_BEST, {"ids": hosts})
        done = set(now) - later
        self._later = {key: priority for key, priority in given.items() if key not in done}

    def committed(self) -> None:
        """Keep what is still to be written, as the transaction is committed."""
        late = list(self._later.items())
        self.dropped += max(0, len(late) - PRIORITIES_AT_ONCE)
        self.late, self._later = dict(late[-PRIORITIES_AT_ONCE:]), {}

    def forget(self) -> None:
        """Forget what is still to be written, as this worker expired."""
        self.late, self._later = {}, {}


def _lock_hosts(connection: Connection, keys: Sequence[int]) -> set[int] | None:
    """Lock the hosts of addresses that no other transaction has locked; None stands for all of them."""
    if connection.dialect.name == "sqlite":  # SQLite has only one writer at a time
        return None
    return {n for part in in_chunks(keys) for n in connection.execute(LOCK_HOSTS, {"keys": part}).scalars()}


def _write_priorities(connection: Connection, rows: Collection[Any], priorities: Mapping[int, int]) -> None:
    given = {row.id: priorities[row.key] for row in rows}
    if not given:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(UPDATE_PRIORITY, [{"number": number, "new": priority} for number, priority in given.items()])
    else:
        connection.execute(UPDATE_PRIORITIES, {"numbers": list(given), "priorities": list(given.values())})
