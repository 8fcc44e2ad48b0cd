"""What a worker tells of hosts: which rest and how long, how often they may be asked, and which are closed.

Prices: the priorities that a crawl, as it learns, gives to addresses that wait already.

They are told to the database with the batch they belong to, and a crash loses prices alone: every address keeps its
place in the order until somebody prices it again. Nobody waits for a host here: what another worker's transaction has
locked is priced with the next batch.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ARRAY, BigInteger, Connection, Integer, bindparam, case, func, or_, select, update

from crawler.frontier.host_limits import HostLatency
from crawler.frontier.messages import AddressKeys, Batch
from crawler.store.addresses import Addresses, in_chunks
from crawler.store.claims import UPDATE_BEST, Claimant
from crawler.store.schema import IS_WAITING, address, host

REST = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.worker.is_(None), host.c.worker == bindparam("me")))
    .values(next_at=case((host.c.next_at > bindparam("at"), host.c.next_at), else_=bindparam("at")), worker=None)
)
AVERAGE = host.c.latency + bindparam("weight") * (bindparam("seconds") - host.c.latency)
UPDATE_LATENCY = (
    update(host)
    .where(host.c.id == bindparam("host"))
    .values(
        latency=case((host.c.latency.is_(None), bindparam("seconds")), else_=AVERAGE),
        delay=bindparam("pause"),
    )
)
# Nobody waits for others to say how fast a host is: it will be said again.
FREE = select(host.c.id).where(host.c.id.in_(bindparam("hosts", expanding=True))).order_by(host.c.id)
FREE = FREE.with_for_update(skip_locked=True, key_share=True)


def update_hosts(connection: Connection, claimant: Claimant, addresses: Addresses, batch: Batch, now: float) -> None:
    """Have all workers know what a batch tells of hosts."""
    if batch.resting:
        resting = sorted(batch.resting.items())
        rows = [{"host": n, "at": now + seconds, "me": claimant.worker_id} for n, seconds in resting]
        connection.execute(REST, rows)  # together: each by itself is a way to PostgreSQL and back
    for host_id, seconds in sorted(batch.rests.items()):
        until = case((host.c.next_at > now + seconds, host.c.next_at), else_=now + seconds)
        connection.execute(update(host).where(host.c.id == host_id).values(next_at=until))
    for host_id, seconds in sorted(batch.crawl_delays.items()):
        connection.execute(update(host).where(host.c.id == host_id).values(crawl_delay=seconds))
    update_latencies(connection, batch.latencies)
    if batch.closed:
        addresses.place(connection, {name: f"http://{name}/" for name in batch.closed})
    for name, code in sorted(batch.closed.items()):
        row = (host.c.crawl_id == claimant.crawl_id) & (host.c.name == name)
        connection.execute(update(host).where(row).values(closed=code, worker=None, next_at=now))


def update_latencies(connection: Connection, latencies: Mapping[int, HostLatency]) -> None:
    """Have it known how soon hosts answer and how often they are asked, but of those that another is at just now."""
    for part in in_chunks(sorted(latencies)):
        free = connection.execute(FREE, {"hosts": part}).scalars().all()
        rows = [
            {"host": n, "seconds": latencies[n].latency, "weight": latencies[n].weight, "pause": latencies[n].delay}
            for n in free
        ]
        if rows:
            connection.execute(UPDATE_LATENCY, rows)


AT_ONCE = 50_000  # addresses priced in one transaction, and prices that are kept for the next

# Pictures, and what is to be judged by one, come in their own time; seeds and lists of addresses before all else.
HAS_LEARNED_PRIORITY = (
    address.c.key.in_(bindparam("keys", expanding=True))
    & IS_WAITING
    & (address.c.kind == "link")
    & address.c.sight.is_(None)
)
FREE_HOSTS = select(host.c.id).where(host.c.id.in_(select(address.c.host_id).where(HAS_LEARNED_PRIORITY)))
FREE_HOSTS = FREE_HOSTS.with_for_update(of=host, skip_locked=True, key_share=True)
ADDRESSES = select(address.c.id, address.c.key, address.c.host_id, address.c.priority).where(HAS_LEARNED_PRIORITY)
ONE = update(address).where(address.c.id == bindparam("number")).values(priority=bindparam("price"))
_arrays = bindparam("numbers", type_=ARRAY(BigInteger)), bindparam("prices", type_=ARRAY(Integer))
_given = func.unnest(*_arrays).table_valued("number", "price").render_derived()
# Nothing else is asked here: by conditions that it guesses to hold of few rows, PostgreSQL would begin with those.
MANY = update(address).where(address.c.id == _given.c.number).values(priority=_given.c.price)


class PriorityUpdates:
    """The new priorities of one worker, and those that another worker's locks keep from being written down."""

    def __init__(self, keys: AddressKeys) -> None:
        self.keys = keys
        self.late: dict[int, int] = {}
        """By the keys of addresses, the oldest first."""
        self.dropped = 0
        """Prices that there was no room to keep."""
        self._later: dict[int, int] = {}

    def write(self, connection: Connection, priorities: Mapping[str, int]) -> None:
        """Give addresses that wait their new priorities, and their hosts those of the best of them."""
        self._later = {}
        if not priorities and not self.late:
            return
        given = {self.keys(url): price for url, price in priorities.items()}
        given = {key: price for key, price in self.late.items() if key not in given} | given
        now = sorted(list(given)[-AT_ONCE:])
        free = _free_hosts(connection, now)
        # With their hosts taken, nobody claims them meanwhile.
        rows = [row for part in in_chunks(now) for row in connection.execute(ADDRESSES, {"keys": part})]
        later = {row.key for row in rows if free is not None and row.host_id not in free}
        changed = [row for row in rows if row.key not in later and row.priority != given[row.key]]
        _write(connection, changed, given)
        for hosts in in_chunks(sorted({row.host_id for row in changed})):
            connection.execute(UPDATE_BEST, {"ids": hosts})
        done = set(now) - later
        self._later = {key: price for key, price in given.items() if key not in done}

    def committed(self) -> None:
        """Keep what is to be written with the next batch, now that it is certain what was written with this one."""
        late = list(self._later.items())
        self.dropped += max(0, len(late) - AT_ONCE)
        self.late, self._later = dict(late[-AT_ONCE:]), {}

    def forget(self) -> None:
        """Forget what is late: this worker's books are closed."""
        self.late, self._later = {}, {}


def _free_hosts(connection: Connection, keys: Sequence[int]) -> set[int] | None:
    """The hosts of some addresses that no other transaction is at, nor will be before this one ends; None for all."""
    if connection.dialect.name == "sqlite":  # which lets one write at a time
        return None
    return {n for part in in_chunks(keys) for n in connection.execute(FREE_HOSTS, {"keys": part}).scalars()}


def _write(connection: Connection, rows: Collection[Any], priorities: Mapping[int, int]) -> None:
    given = {row.id: priorities[row.key] for row in rows}
    if not given:
        return
    if connection.dialect.name == "sqlite":
        connection.execute(ONE, [{"number": number, "price": price} for number, price in given.items()])
    else:
        connection.execute(MANY, {"numbers": list(given), "prices": list(given.values())})
