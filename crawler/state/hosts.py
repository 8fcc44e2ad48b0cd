"""What a worker tells of hosts: which rest and how long, how often they may be asked, and which are closed."""

from sqlalchemy import Connection, bindparam, case, or_, update

from crawler.state.addresses import Addresses
from crawler.state.claims import Claimant
from crawler.state.entries import Batch
from crawler.state.lines import storable
from crawler.state.schema import host

REST = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.worker.is_(None), host.c.worker == bindparam("me")))
    .values(next_at=case((host.c.next_at > bindparam("at"), host.c.next_at), else_=bindparam("at")), worker=None)
)


def tell_hosts(connection: Connection, who: Claimant, addresses: Addresses, batch: Batch, now: float) -> None:
    """Have all workers know what a batch tells of hosts."""
    if batch.resting:
        resting = sorted(batch.resting.items())
        rows = [{"host": n, "at": now + seconds, "me": who.worker_id} for n, seconds in resting]
        connection.execute(REST, rows)  # together: each by itself is a way to PostgreSQL and back
    for host_id, seconds in sorted(batch.rests.items()):
        until = case((host.c.next_at > now + seconds, host.c.next_at), else_=now + seconds)
        connection.execute(update(host).where(host.c.id == host_id).values(next_at=until))
    for host_id, pace in sorted(batch.paces.items()):
        connection.execute(update(host).where(host.c.id == host_id).values(pace=pace))
    if batch.closed:
        addresses.place(connection, {name: f"http://{name}/" for name in batch.closed})
    for name, reason in sorted(batch.closed.items()):
        row = (host.c.crawl_id == who.crawl_id) & (host.c.name == name)
        connection.execute(update(host).where(row).values(closed=storable(reason), worker=None, next_at=now))
