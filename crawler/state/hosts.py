"""What a worker tells of hosts: which rest and how long, how often they may be asked, and which are closed."""

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, case, or_, select, update

from crawler.state.addresses import Addresses, in_parts
from crawler.state.claims import Claimant
from crawler.state.entries import Batch
from crawler.state.schema import host
from crawler.state.tempo import Tempo

REST = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.worker.is_(None), host.c.worker == bindparam("me")))
    .values(next_at=case((host.c.next_at > bindparam("at"), host.c.next_at), else_=bindparam("at")), worker=None)
)
AVERAGE = host.c.latency + bindparam("weight") * (bindparam("seconds") - host.c.latency)
KEEP_TEMPO = (
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
    tell_tempos(connection, batch.tempos)
    if batch.closed:
        addresses.place(connection, {name: f"http://{name}/" for name in batch.closed})
    for name, code in sorted(batch.closed.items()):
        row = (host.c.crawl_id == who.crawl_id) & (host.c.name == name)
        connection.execute(update(host).where(row).values(closed=code, worker=None, next_at=now))


def tell_tempos(connection: Connection, tempos: Mapping[int, Tempo]) -> None:
    """Have it known how soon hosts answer and how often they are asked, but of those that another is at just now."""
    for part in in_parts(sorted(tempos)):
        free = connection.execute(FREE, {"hosts": part}).scalars().all()
        rows = [
            {"host": n, "seconds": tempos[n].latency, "weight": tempos[n].weight, "pause": tempos[n].delay}
            for n in free
        ]
        if rows:
            connection.execute(KEEP_TEMPO, rows)
