"""The sites of a crawl, sorted and filtered, and the hosts that will take longest.

Sites are listed a part at a time, in a few milliseconds even among hundreds of thousands: they are sorted by an index,
by pages or name; other orders are for at most FEW sites. Queued addresses are counted only for the listed sites, each
up to a limit.

Counting the queued addresses of very many hosts would take too long. So the slowest hosts are found among candidates:
hosts with many addresses in an evenly spread sample of all addresses, and hosts with long pauses. Queued addresses are
counted only for the candidates, up to a limit.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, case, func, literal, select, tuple_

from crawler.store.batch.crawl_end import totals
from crawler.store.crawl_tables import IS_LIKELY, IS_WAITING, AddressState, address, host, site, worker
from crawler.store.database import database_time, in_chunks
from crawler.topic.priorities import LEAST_LIKELY, is_unlikely

FEW = 20_000
"""The most sites that are sorted by any order."""
MOST_HOSTS = 200
FEW_HOSTS = 2_000
"""Hosts of all sites in a part that are read at once; if there are more, they are read site by site."""
SORTS = ("pages", "requests", "name")
_has_likely = host.c.best >= LEAST_LIKELY
HOSTS = select(
    host.c.site_id,
    _has_likely.label("has_likely"),
    host.c.next_at,
    host.c.crawl_delay,
    host.c.closed,
    host.c.latency,
    host.c.delay,
)
_waiting_of_host = select(address.c.id).join(host, host.c.id == address.c.host_id)
_some_of_site = _waiting_of_host.where(host.c.site_id == site.c.id, _has_likely, IS_WAITING, IS_LIKELY).limit(
    bindparam("most")
)
WAITING_OF_SITE = select(func.count()).select_from(_some_of_site.correlate(site).subquery()).scalar_subquery()


@dataclass(frozen=True, slots=True)
class SiteQuery:
    _: KW_ONLY
    sort: str = "pages"
    name: str = ""
    """A part of their names."""
    after: tuple[int, int] | str | None = None
    """The last site of the part before: its number of pages or requests and its id, or its name."""
    most: int = 50
    most_waiting: int = 200
    """Queued addresses of a site are counted up to this number."""


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A site's pages and requests, and the state of its hosts."""

    id: int
    name: str
    pages: int
    requests: int
    waiting: int
    """Queued addresses, without unlikely links."""
    waiting_is_least: bool
    """Whether more are queued than were counted."""
    hosts: int
    hosts_are_least: bool
    closed: int
    why: str | None
    rests_until: float | None
    """The earliest end of a pause among its hosts with queued addresses."""
    latency: float | None
    """Seconds until its slowest host responds."""
    pause: float | None
    """Seconds between two requests to its slowest host."""


@dataclass(frozen=True, slots=True)
class SortedSites:
    """A part of the sites of a crawl."""

    rows: tuple[SiteRow, ...]
    more: bool
    sort: str
    """The order: by pages where there are too many sites for the requested one."""
    number: int
    """Sites that match, counted up to a limit."""
    number_is_least: bool


def sites(connection: Connection, crawl_id: int, query: SiteQuery) -> SortedSites:
    """A part of the sites of a crawl."""
    conditions: list[ColumnElement[bool]] = [site.c.crawl_id == crawl_id]
    if query.name:
        conditions.append(site.c.name.contains(query.name.lower(), autoescape=True))
    counted = select(site.c.id).where(*conditions).limit(FEW + 1)
    count = connection.execute(select(func.count()).select_from(counted.subquery())).scalar_one()
    sort = query.sort if count <= FEW or query.sort != "requests" else "pages"
    if count <= FEW and (query.name or sort == "requests"):
        # With the index of the sort order, all sites would be read to find the few that match.
        conditions = [site.c.id.in_(select(counted.subquery().c.id))]
    rows = connection.execute(_sorted(conditions, sort, query).limit(query.most + 1)).all()
    shown = rows[: query.most]
    mine_shown = [row.id for row in shown]
    hosts = _hosts(connection, mine_shown)
    counts = select(site.c.id, WAITING_OF_SITE).where(site.c.id.in_(mine_shown))
    waiting = dict(connection.execute(counts, {"most": query.most_waiting + 1}).all())
    of_each = tuple(_site(row, hosts.get(row.id, ()), waiting[row.id], query.most_waiting) for row in shown)
    return SortedSites(
        rows=of_each, more=len(rows) > len(shown), sort=sort, number=min(count, FEW), number_is_least=count > FEW
    )


def _sorted(conditions: Sequence[ColumnElement[bool]], sort: str, query: SiteQuery) -> Any:
    rows = select(site.c.id, site.c.name, site.c.pages, site.c.requests).where(*conditions)
    if sort == "name":
        after = query.after if isinstance(query.after, str) else ""
        return rows.where(site.c.name > after).order_by(site.c.name)
    by = site.c[sort], site.c.id
    if isinstance(query.after, tuple):
        rows = rows.where(tuple_(*by) < tuple_(*map(literal, query.after)))
    return rows.order_by(*(column.desc() for column in by))


def _site(row: Row[Any], host_rows: Sequence[Row[Any]], waiting: int, most: int) -> SiteRow:
    hosts = host_rows[:MOST_HOSTS]
    open_hosts = [host_row for host_row in hosts if host_row.has_likely]
    closed = [host_row.closed for host_row in hosts if host_row.closed]
    return SiteRow(
        id=row.id,
        name=row.name,
        pages=row.pages,
        requests=row.requests,
        waiting=min(waiting, most),
        waiting_is_least=waiting > most,
        hosts=len(hosts),
        hosts_are_least=len(host_rows) > MOST_HOSTS,
        closed=len(closed),
        why=min(closed, default=None),
        rests_until=min((host_row.next_at for host_row in open_hosts), default=None),
        latency=max((host_row.latency for host_row in hosts if host_row.latency is not None), default=None),
        pause=max(
            (
                max(host_row.crawl_delay, host_row.delay or 0.0)
                for host_row in hosts
                if host_row.delay is not None or host_row.crawl_delay
            ),
            default=None,
        ),
    )


def _hosts(connection: Connection, site_ids: Sequence[int]) -> Mapping[int, Sequence[Row[Any]]]:
    """The hosts of some sites; if there are very many, at most the limit plus one of each site."""
    rows_of_site: defaultdict[int, list[Any]] = defaultdict(list)
    rows = connection.execute(HOSTS.where(host.c.site_id.in_(site_ids)).limit(FEW_HOSTS + 1)).all()
    if len(rows) > FEW_HOSTS:
        each = (HOSTS.where(host.c.site_id == number).limit(MOST_HOSTS + 1) for number in site_ids)
        rows = [row for of_one in each for row in connection.execute(of_one)]
    for row in rows:
        rows_of_site[row.site_id].append(row)
    return rows_of_site


LOOKED_AT = 300  # addresses in the sample that shows which hosts have many
CANDIDATES = 50  # hosts of each kind whose queued addresses are counted
USUAL = 10  # queued addresses that a host is assumed to have until they are counted
COUNTED = 1_000  # addresses of each candidate that are counted
SHORTEST_REST = 5.0  # seconds: longer delays than the usual pause between two requests


class SlowReason(StrEnum):
    """Why a host is slow."""

    CLOSED = "closed"
    """It is closed; its addresses are given up when their turn comes."""
    RESTS = "rests"
    """After an answer 429 or 503, a wall against robots, or a failure of its robots.txt."""
    PACE = "pace"
    """It asked for a pause between requests."""
    LATENCY = "latency"
    WORKER = "worker"
    """Another worker has it."""
    DELAY = "delay"
    """Nothing is slow: requests follow each other with the usual pause."""


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A slow host."""

    host: str
    site: str
    why: SlowReason
    seconds: float
    """Until all its queued addresses are requested, if nothing changes."""
    waiting: int
    is_counted: bool
    """Whether the number is exact; otherwise it is an estimate, or more than were counted."""
    rest: float
    """Seconds until it may be requested again."""
    pace: float
    delay: float | None
    """The current seconds between two requests."""
    latency: float | None
    """Seconds until it responds."""
    worker: int | None
    closed: str | None
    """Why it is closed."""


_delay = func.coalesce(host.c.delay, 0.0)
_latency = func.coalesce(host.c.latency, 0.0)
_slower = case((_latency > _delay, _latency), else_=_delay)
each = case((host.c.crawl_delay > _slower, host.c.crawl_delay), else_=_slower)
# All of them are read: sequentially, which is faster than by the index of names; + 0 rules that index out.
_mine = (host.c.crawl_id + 0 == bindparam("crawl")) & _has_likely
_rest = case((host.c.next_at > bindparam("now"), host.c.next_at - bindparam("now")), else_=0.0)
SELDOM = select(host.c.id).where(_mine).order_by((_rest + USUAL * each).desc()).limit(CANDIDATES)
# Only by id: with the conditions spelled out, SQLite would read all queued addresses.
SEEN = select(address.c.host_id, address.c.state, address.c.priority).where(
    address.c.id.in_(bindparam("ids", expanding=True))
)
OF_CRAWL = select(host.c.id).where(
    host.c.id.in_(bindparam("hosts", expanding=True)), host.c.crawl_id == bindparam("crawl")
)
_waiting_addresses = select(address.c.id).where(address.c.host_id == host.c.id, IS_WAITING, IS_LIKELY)
_some_waiting = _waiting_addresses.limit(bindparam("most")).correlate(host).subquery()
WAITING_OF = (
    select(host, each.label("each"), site.c.name.label("its_site"), worker.c.number.label("its_worker"))
    .add_columns(select(func.count()).select_from(_some_waiting).scalar_subquery().label("waiting"))
    .join(site, site.c.id == host.c.site_id)
    .outerjoin(worker, worker.c.id == host.c.worker)
    .where(host.c.id.in_(bindparam("hosts", expanding=True)), _has_likely)
)


def slowest(connection: Connection, crawl_id: int, most: int = 10) -> tuple[SlowHost, ...]:
    """The hosts of a crawl whose queued addresses will take longest, slowest first."""
    now = database_time(connection)
    all_of_it = totals(connection, crawl_id)
    guessed = _guessed(connection, crawl_id, all_of_it.waiting - all_of_it.unlikely)
    hosts = {number for number, _ in Counter(guessed).most_common(CANDIDATES)}
    hosts.update(connection.execute(SELDOM, {"crawl": crawl_id, "now": now}).scalars())
    slow_hosts = [
        _slow_host(row, now, guessed.get(row.id, 0), several=all_of_it.workers > 1)
        for part in in_chunks(sorted(hosts))
        for row in connection.execute(WAITING_OF, {"hosts": part, "most": COUNTED})
    ]
    return tuple(sorted(slow_hosts, key=lambda slow_host: (-slow_host.seconds, slow_host.host))[:most])


def _guessed(connection: Connection, crawl_id: int, waiting: int) -> Mapping[int, int]:
    # Separately, which is fast; SQLite would read the whole table for both at once.
    first, last = (connection.execute(select(end(address.c.id))).scalar() or 0 for end in (func.min, func.max))
    ids = sorted({first + (last - first) * n // LOOKED_AT for n in range(LOOKED_AT + 1)})
    seen: Counter[int] = Counter()
    for part in in_chunks(ids):
        rows = connection.execute(SEEN, {"ids": part})
        seen.update(row.host_id for row in rows if row.state == AddressState.WAITING and not is_unlikely(row.priority))
    hosts_of_crawl: set[int] = set()
    for part in in_chunks(sorted(seen)):
        hosts_of_crawl.update(connection.execute(OF_CRAWL, {"hosts": part, "crawl": crawl_id}).scalars())
    whole = sum(seen[number] for number in hosts_of_crawl)
    return {number: seen[number] * waiting // whole for number in hosts_of_crawl}


def _slow_host(row: Row[Any], now: float, guessed: int, *, several: bool) -> SlowHost:
    is_counted = row.waiting < COUNTED
    waiting = row.waiting if is_counted else max(row.waiting, guessed)
    rest = max(0.0, row.next_at - now)
    seconds = rest + waiting * row.each if row.closed is None else 0.0
    return SlowHost(
        host=row.name,
        site=row.its_site,
        why=_why(row, rest, several),
        seconds=seconds,
        waiting=waiting,
        is_counted=is_counted,
        rest=rest,
        pace=row.crawl_delay,
        delay=row.delay,
        latency=row.latency,
        worker=row.its_worker,
        closed=row.closed,
    )


def _why(row: Row[Any], rest: float, several: bool) -> SlowReason:
    """The first reason that applies, in order of importance."""
    delay = row.delay or 0.0
    latency = row.latency or 0.0
    reasons = {
        SlowReason.CLOSED: row.closed is not None,
        SlowReason.RESTS: rest > max(SHORTEST_REST, 2 * row.each),
        SlowReason.PACE: row.crawl_delay > 0 and row.crawl_delay >= max(delay, latency),
        SlowReason.LATENCY: latency > 0 and latency >= delay,
        SlowReason.WORKER: several and row.its_worker is not None,
    }
    return next((why for why, holds in reasons.items() if holds), SlowReason.DELAY)
