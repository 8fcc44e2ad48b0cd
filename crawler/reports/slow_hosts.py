"""What a crawl waits for: the hosts that will take longest, and why.

Nobody counts what waits of each of very many hosts: that takes longer than one wants to wait for it. Some addresses,
evenly spread over all there are, show the hosts that have the most of them; beside these come the hosts that are
asked most seldom, or rest longest. Of those few it is counted what waits, up to a limit.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, select

from crawler.store.remaining import totals
from crawler.store.schema import IS_WAITING, WAITING, address, host, site, worker
from crawler.store.sql import database_time, in_chunks

LOOKED_AT = 300  # addresses, to see which hosts have many
CANDIDATES = 50  # hosts of each sort of which it is counted what waits
USUAL = 10  # addresses that are taken to wait of a host until they are counted
COUNTED = 1_000  # addresses of each candidate
SHORTEST_REST = 5.0  # seconds that are more than a pause between two requests


class Why(StrEnum):
    """Why a host takes its time."""

    CLOSED = "closed"
    """It is asked for nothing more; its addresses are given up when their turn comes."""
    RESTS = "rests"
    """After an answer 429 or 503, or a failure of its robots.txt."""
    PACE = "pace"
    """It asked for a pause between requests."""
    LATENCY = "latency"
    """It answers so slowly."""
    WORKER = "worker"
    """Another of several workers has it."""
    DELAY = "delay"
    """Nothing is slow: one request after the other, with the usual pause."""


@dataclass(frozen=True, slots=True)
class Slow:
    """A host that takes its time."""

    host: str
    site: str
    why: Why
    seconds: float
    """Until all that waits of it is asked for, if nothing changes."""
    waiting: int
    is_counted: bool
    """Whether so many wait, else it is an estimate or more than are counted."""
    rest: float
    """Seconds until it may be asked again."""
    pace: float
    """Seconds between two requests that it asked for."""
    delay: float | None
    """Seconds between two requests, as it was last asked."""
    latency: float | None
    """Seconds until it answers."""
    worker: int | None
    """The number of the worker that has it."""
    closed: str | None
    """Why it is closed."""


_delay, _latency = func.coalesce(host.c.delay, 0.0), func.coalesce(host.c.latency, 0.0)
_slower = case((_latency > _delay, _latency), else_=_delay)
each = case((host.c.crawl_delay > _slower, host.c.crawl_delay), else_=_slower)
# All of them are read: one row after the other is faster than by the index of their names, which + 0 rules out.
_mine = (host.c.crawl_id + 0 == bindparam("crawl")) & host.c.best.is_not(None)
_rest = case((host.c.next_at > bindparam("now"), host.c.next_at - bindparam("now")), else_=0.0)
SELDOM = select(host.c.id).where(_mine).order_by((_rest + USUAL * each).desc()).limit(CANDIDATES)
# By their numbers alone: with what they have in common spelled out, SQLite reads all that waits.
SEEN = select(address.c.host_id, address.c.state).where(address.c.id.in_(bindparam("ids", expanding=True)))
OF_CRAWL = select(host.c.id).where(
    host.c.id.in_(bindparam("hosts", expanding=True)), host.c.crawl_id == bindparam("crawl")
)
_waiting = select(address.c.id).where(address.c.host_id == host.c.id, IS_WAITING)
_some = _waiting.limit(bindparam("most")).correlate(host).subquery()
WAITING_OF = (
    select(host, each.label("each"), site.c.name.label("its_site"), worker.c.number.label("its_worker"))
    .add_columns(select(func.count()).select_from(_some).scalar_subquery().label("waiting"))
    .join(site, site.c.id == host.c.site_id)
    .outerjoin(worker, worker.c.id == host.c.worker)
    .where(host.c.id.in_(bindparam("hosts", expanding=True)), host.c.best.is_not(None))
)


def slowest(connection: Connection, crawl_id: int, most: int = 10) -> tuple[Slow, ...]:
    """The hosts of a crawl that will take longest until all that waits of them is asked for, the slowest first."""
    now, all_of_it = database_time(connection), totals(connection, crawl_id)
    guessed = _guessed(connection, crawl_id, all_of_it.waiting)
    hosts = {number for number, _ in Counter(guessed).most_common(CANDIDATES)}
    hosts.update(connection.execute(SELDOM, {"crawl": crawl_id, "now": now}).scalars())
    found = [
        _slow(row, now, guessed.get(row.id, 0), several=all_of_it.workers > 1)
        for part in in_chunks(sorted(hosts))
        for row in connection.execute(WAITING_OF, {"hosts": part, "most": COUNTED})
    ]
    return tuple(sorted(found, key=lambda one: (-one.seconds, one.host))[:most])


def _guessed(connection: Connection, crawl_id: int, waiting: int) -> Mapping[int, int]:
    """About how many addresses wait of hosts that have many."""
    # One by one, which takes no time, where SQLite would read the whole table for both.
    first, last = (connection.execute(select(end(address.c.id))).scalar() or 0 for end in (func.min, func.max))
    ids = sorted({first + (last - first) * n // LOOKED_AT for n in range(LOOKED_AT + 1)})
    seen: Counter[int] = Counter()
    for part in in_chunks(ids):
        seen.update(row.host_id for row in connection.execute(SEEN, {"ids": part}) if row.state == WAITING)
    mine: set[int] = set()
    for part in in_chunks(sorted(seen)):
        mine.update(connection.execute(OF_CRAWL, {"hosts": part, "crawl": crawl_id}).scalars())
    whole = sum(seen[number] for number in mine)
    return {number: seen[number] * waiting // whole for number in mine}


def _slow(row: Row[Any], now: float, guessed: int, *, several: bool) -> Slow:
    is_counted = row.waiting < COUNTED
    waiting = row.waiting if is_counted else max(row.waiting, guessed)
    rest = max(0.0, row.next_at - now)
    seconds = rest + waiting * row.each if row.closed is None else 0.0
    known = (rest, row.crawl_delay, row.delay, row.latency, row.its_worker, row.closed)
    return Slow(row.name, row.its_site, _why(row, rest, several), seconds, waiting, is_counted, *known)


def _why(row: Row[Any], rest: float, several: bool) -> Why:
    """The first reason that holds, of those that weigh most."""
    delay, latency = row.delay or 0.0, row.latency or 0.0
    reasons = {
        Why.CLOSED: row.closed is not None,
        Why.RESTS: rest > max(SHORTEST_REST, 2 * row.each),
        Why.PACE: row.crawl_delay > 0 and row.crawl_delay >= max(delay, latency),
        Why.LATENCY: latency > 0 and latency >= delay,
        Why.WORKER: several and row.its_worker is not None,
    }
    return next((why for why, holds in reasons.items() if holds), Why.DELAY)
