"""Prices: the priorities that a crawl, as it learns, gives to addresses that wait already.

They are told to the database with the batch they belong to, and a crash loses prices alone: every address keeps its
place in the order until somebody prices it again. Nobody waits for a host here: what another worker's transaction has
locked is priced with the next batch.
"""

from collections.abc import Iterable, Mapping

from sqlalchemy import ARRAY, BigInteger, Connection, Integer, bindparam, func, select, update

from crawler.state.addresses import in_parts
from crawler.state.claims import RENEW_BEST
from crawler.state.entries import Keys
from crawler.state.schema import WAITING, address, host

AT_ONCE = 50_000  # addresses priced in one transaction, and prices that are kept for the next

# Pictures, and what is to be judged by one, come in their own time; seeds and lists of addresses before all else.
IS_PRICED = (address.c.state == WAITING) & (address.c.kind == "link") & address.c.sight.is_(None)
ONE = (
    update(address)
    .where(address.c.key == bindparam("of"), IS_PRICED, address.c.priority != bindparam("price"))
    .values(priority=bindparam("price"))
)
_given = (
    func.unnest(bindparam("keys", type_=ARRAY(BigInteger)), bindparam("prices", type_=ARRAY(Integer)))
    .table_valued("key", "price", name="given")
    .render_derived()
)
MANY = (
    update(address)
    .where(address.c.key == _given.c.key, IS_PRICED, address.c.priority != _given.c.price)
    .where(address.c.host_id == func.any(bindparam("hosts", type_=ARRAY(BigInteger))))
    .values(priority=_given.c.price)
)
LOCK = select(host.c.id).where(host.c.id.in_(bindparam("ids", expanding=True))).order_by(host.c.id)
LOCK = LOCK.with_for_update(skip_locked=True, key_share=True)


class Prices:
    """The new priorities of one worker, and those that another worker's locks keep from being written down."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self.late: dict[int, int] = {}
        """By the keys of addresses, the oldest first."""
        self.dropped = 0
        """Prices that there was no room to keep."""
        self._later: dict[int, int] = {}

    def write(self, connection: Connection, prices: Mapping[str, int]) -> None:
        """Give addresses that wait their new priorities, and their hosts those of the best of them."""
        self._later = {}
        if not prices and not self.late:
            return
        given = {self.keys(url): price for url, price in prices.items()}
        given = {key: price for key, price in self.late.items() if key not in given} | given
        now = sorted(list(given)[-AT_ONCE:])
        hosts = _hosts(connection, now)
        free = _free(connection, set(hosts.values()))
        of_free = {key: given[key] for key in now if hosts.get(key) in free}
        if of_free:
            _write(connection, of_free, free)
        for part in in_parts(sorted(free)):
            connection.execute(RENEW_BEST, {"ids": part})
        done = set(now) - {key for key, number in hosts.items() if number not in free}
        self._later = {key: price for key, price in given.items() if key not in done}

    def committed(self) -> None:
        """Keep what is to be written with the next batch, now that it is certain what was written with this one."""
        late = list(self._later.items())
        self.dropped += max(0, len(late) - AT_ONCE)
        self.late, self._later = dict(late[-AT_ONCE:]), {}

    def forget(self) -> None:
        """Forget what is late: this worker's books are closed."""
        self.late, self._later = {}, {}


def _hosts(connection: Connection, keys: Iterable[int]) -> dict[int, int]:
    """The hosts of those addresses that are to be priced, by the keys of these."""
    found: dict[int, int] = {}
    for part in in_parts(list(keys)):
        rows = select(address.c.key, address.c.host_id).where(address.c.key.in_(part), IS_PRICED)
        found.update((row.key, row.host_id) for row in connection.execute(rows))
    return found


def _free(connection: Connection, hosts: Iterable[int]) -> set[int]:
    """Those of the hosts that no other worker's transaction is at, and none will be until the commit."""
    parts = in_parts(sorted(hosts))
    return {number for part in parts for number in connection.execute(LOCK, {"ids": part}).scalars()}


def _write(connection: Connection, prices: Mapping[int, int], hosts: Iterable[int]) -> None:
    if connection.dialect.name == "sqlite":
        connection.execute(ONE, [{"of": key, "price": price} for key, price in prices.items()])
        return
    given = {"keys": list(prices), "prices": list(prices.values()), "hosts": sorted(hosts)}
    connection.execute(MANY, given)
