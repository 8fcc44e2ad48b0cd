"""The sites of a crawl, sorted and filtered, and the hosts that will take longest.

`sites` lists the sites of a crawl a part at a time, in a few milliseconds even among hundreds of thousands: the orders
by pages and by name have an index; the order by requests is for at most FEW sites. Queued addresses are counted only
for the listed sites, each up to a limit.

`slowest` finds the hosts that will take longest. Counting the queued addresses of very many hosts would take too long.
So it looks at candidates: hosts with many addresses in an evenly spread sample of all addresses, and hosts with long
pauses. Queued addresses are counted only for the candidates, up to a limit.

Unlikely links, which wait because they are unlikely to lead to the topic, do not count as queued addresses here. A
pause is the time between two requests to a host. A host rests for longer after it refused requests or failed.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, ScalarSelect, Select, case, func, literal, select, tuple_

from crawler.store.batch.crawl_end import totals
from crawler.store.crawl_tables import IS_LIKELY, IS_WAITING, AddressState, address, host, site, worker
from crawler.store.database import database_time, in_chunks
from crawler.topic.priorities import LEAST_LIKELY, is_unlikely

FEW = 20_000
"""The most matching sites that are counted, and the most that are sorted without an index."""
MOST_HOSTS = 200
"""The most hosts of a site that are read."""
FEW_HOSTS = 2_000
"""If the listed sites have at most this many hosts, these are read in one query; otherwise in one query for each site.
"""
SORTS = ("pages", "requests", "name")
"""The orders of sites: the most pages or requests first, or alphabetical."""
HAS_LIKELY = host.c.best >= LEAST_LIKELY
"""The condition that a host has queued addresses other than unlikely links."""
HOSTS = select(
    host.c.site_id,
    HAS_LIKELY.label("has_likely"),
    host.c.next_at,
    host.c.crawl_delay,
    host.c.closed,
    host.c.latency,
    host.c.delay,
)


def waiting_of_site(most: int) -> ScalarSelect[int]:
    """A subquery for a query of sites: the number of queued addresses of each site, counted up to `most`."""
    queued = (
        select(address.c.id)
        .join(host, host.c.id == address.c.host_id)
        .where(host.c.site_id == site.c.id, HAS_LIKELY, IS_WAITING, IS_LIKELY)
        .limit(most)
    )
    return select(func.count()).select_from(queued.correlate(site).subquery()).scalar_subquery()


@dataclass(frozen=True, slots=True)
class SiteQuery:
    """Which part of the sites is listed, and in which order."""

    _: KW_ONLY
    sort: str = "pages"
    """One of SORTS."""
    name: str = ""
    """Part of the names of the sites; empty lists all."""
    after: tuple[int, int] | str | None = None
    """The last site of the previous part: its number of pages or requests and its id, or its name."""
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
    """Queued addresses."""
    waiting_is_least: bool
    """Whether more are queued than were counted."""
    hosts: int
    """Its hosts, up to MOST_HOSTS; the fields below are about these."""
    hosts_are_least: bool
    """Whether it has more hosts."""
    closed: int
    """How many of its hosts are closed."""
    why: str | None
    """The outcome for which a host is closed; if several differ, the first in alphabetical order."""
    rests_until: float | None
    """When the first of its hosts with queued addresses may be requested; if that is in the future, the site rests."""
    latency: float | None
    """The seconds that its slowest host takes to respond."""
    pause: float | None
    """Seconds between two requests to its slowest host."""


@dataclass(frozen=True, slots=True)
class SortedSites:
    """A part of the sites of a crawl."""

    rows: tuple[SiteRow, ...]
    more: bool
    sort: str
    """The order: the requested one, or by pages if there are too many sites for that."""
    number: int
    """Sites that match, counted up to FEW."""
    number_is_least: bool
    """Whether more sites match."""


def sites(connection: Connection, crawl_id: int, query: SiteQuery) -> SortedSites:
    """A part of the sites of a crawl, with the state of their hosts."""
    # How many sites match.
    conditions: list[ColumnElement[bool]] = [site.c.crawl_id == crawl_id]
    if query.name:
        conditions.append(site.c.name.contains(query.name.lower(), autoescape=True))
    matching = select(site.c.id).where(*conditions).limit(FEW + 1)
    count = connection.execute(select(func.count()).select_from(matching.subquery())).scalar_one()
    has_few = count <= FEW

    sort = query.sort
    if sort == "requests" and not has_few:
        sort = "pages"
    if has_few and (query.name or sort == "requests"):
        # The few sites that match are found first, then sorted: an index of the order would lead through all sites.
        conditions = [site.c.id.in_(select(matching.subquery().c.id))]
    rows = connection.execute(_sorted(conditions, sort, query).limit(query.most + 1)).all()
    shown = rows[: query.most]

    shown_ids = [row.id for row in shown]
    hosts = _hosts(connection, shown_ids)
    counts = select(site.c.id, waiting_of_site(query.most_waiting + 1)).where(site.c.id.in_(shown_ids))
    waiting: dict[int, int] = dict(connection.execute(counts).all())
    return SortedSites(
        rows=tuple(_site_row(row, hosts.get(row.id, ()), waiting[row.id], query.most_waiting) for row in shown),
        more=len(rows) > len(shown),
        sort=sort,
        number=min(count, FEW),
        number_is_least=not has_few,
    )


def _sorted(conditions: Sequence[ColumnElement[bool]], sort: str, query: SiteQuery) -> Any:
    """The query for the sites that come after the last one of the previous part."""
    rows = select(site.c.id, site.c.name, site.c.pages, site.c.requests).where(*conditions)
    if sort == "name":
        if isinstance(query.after, str):
            rows = rows.where(site.c.name > query.after)
        return rows.order_by(site.c.name)
    order = site.c[sort], site.c.id
    if isinstance(query.after, tuple):
        rows = rows.where(tuple_(*order) < tuple_(*map(literal, query.after)))
    return rows.order_by(*(column.desc() for column in order))


def _site_row(row: Row[Any], host_rows: Sequence[Row[Any]], waiting: int, most_waiting: int) -> SiteRow:
    """A site with the state of its hosts."""
    hosts = host_rows[:MOST_HOSTS]
    queued_hosts = [host_row for host_row in hosts if host_row.has_likely]
    closing_outcomes = [host_row.closed for host_row in hosts if host_row.closed]
    pauses = [  # of the hosts whose pause is known
        max(host_row.crawl_delay, host_row.delay or 0.0)
        for host_row in hosts
        if host_row.delay is not None or host_row.crawl_delay
    ]

    return SiteRow(
        id=row.id,
        name=row.name,
        pages=row.pages,
        requests=row.requests,
        waiting=min(waiting, most_waiting),
        waiting_is_least=waiting > most_waiting,
        hosts=len(hosts),
        hosts_are_least=len(host_rows) > MOST_HOSTS,
        closed=len(closing_outcomes),
        why=min(closing_outcomes, default=None),
        rests_until=min((host_row.next_at for host_row in queued_hosts), default=None),
        latency=max((host_row.latency for host_row in hosts if host_row.latency is not None), default=None),
        pause=max(pauses, default=None),
    )


def _hosts(connection: Connection, site_ids: Sequence[int]) -> Mapping[int, Sequence[Row[Any]]]:
    """The hosts of some sites, by site; if there are more than FEW_HOSTS, at most MOST_HOSTS + 1 of each site."""
    rows_of_site: defaultdict[int, list[Any]] = defaultdict(list)
    rows = connection.execute(HOSTS.where(host.c.site_id.in_(site_ids)).limit(FEW_HOSTS + 1)).all()
    if len(rows) > FEW_HOSTS:
        queries = (HOSTS.where(host.c.site_id == site_id).limit(MOST_HOSTS + 1) for site_id in site_ids)
        rows = [row for query in queries for row in connection.execute(query)]
    for row in rows:
        rows_of_site[row.site_id].append(row)
    return rows_of_site


SAMPLE_SIZE = 300
"""Addresses in the sample that shows which hosts have many."""
CANDIDATES = 50
"""Hosts of each of the two kinds of candidates: with many addresses in the sample, and with long pauses."""
ASSUMED_WAITING = 10
"""Queued addresses that a host is assumed to have until they are counted."""
MOST_COUNTED = 1_000
"""Queued addresses of a candidate are counted up to this number."""
SHORTEST_REST_SECONDS = 5.0
"""Shorter rests are not reported as a reason: they are the usual pause between two requests."""


class SlowReason(StrEnum):
    """Why a host is slow."""

    CLOSED = "closed"
    """It is closed; its addresses are given up when their turn comes."""
    RESTS = "rests"
    """It rests after a status 429 or 503, a wall against robots, or a failure of its robots.txt."""
    PACE = "pace"
    """Its robots.txt asks for a pause between requests."""
    LATENCY = "latency"
    """It responds slowly."""
    WORKER = "worker"
    """One of several workers has leased it, and the others may not request it."""
    DELAY = "delay"
    """It is not slow: requests follow each other with the usual pause."""


@dataclass(frozen=True, slots=True)
class SlowHost:
    """A slow host."""

    host: str
    site: str
    why: SlowReason
    seconds: float
    """Seconds until all its queued addresses are requested, if nothing changes; 0 for a closed host."""
    waiting: int
    """Its queued addresses."""
    is_counted: bool
    """Whether this number is exact; otherwise it is an estimate, or the limit of the count."""
    rest: float
    """Seconds until it may be requested again."""
    pace: float
    """The pause in seconds for which its robots.txt asks; 0 if it asks for none."""
    delay: float | None
    """The current pause in seconds, apart from the one for which robots.txt asks."""
    latency: float | None
    """The seconds that it takes to respond."""
    worker: int | None
    """The number of the worker that has leased it."""
    closed: str | None
    """Why it is closed."""


def slowest(connection: Connection, crawl_id: int, most: int = 10) -> tuple[SlowHost, ...]:
    """The hosts of a crawl whose queued addresses will take longest, slowest first."""
    now = database_time(connection)
    crawl_totals = totals(connection, crawl_id)
    estimates = _estimated_waiting(connection, crawl_id, crawl_totals.waiting - crawl_totals.unlikely)

    # The two kinds of candidates.
    candidates = {host_id for host_id, _ in Counter(estimates).most_common(CANDIDATES)}
    candidates.update(connection.execute(hosts_by_pauses(crawl_id, now).limit(CANDIDATES)).scalars())
    slow_hosts = [
        _slow_host(row, now, estimates.get(row.id, 0), has_several_workers=crawl_totals.workers > 1)
        for part in in_chunks(sorted(candidates))
        for row in connection.execute(hosts_with_waiting(part, MOST_COUNTED))
    ]
    return tuple(sorted(slow_hosts, key=lambda slow_host: (-slow_host.seconds, slow_host.host))[:most])


def _larger(first: ColumnElement[float], second: ColumnElement[float]) -> ColumnElement[float]:
    return case((first > second, first), else_=second)


SECONDS_PER_REQUEST = _larger(
    host.c.crawl_delay, _larger(func.coalesce(host.c.latency, 0.0), func.coalesce(host.c.delay, 0.0))
)
"""The seconds from one request of a host to the next: the longest of its Crawl-delay, its latency and its delay."""


def hosts_by_pauses(crawl_id: int, now: float) -> Select[int]:
    """The query for the hosts of a crawl that would take longest if all had the same number of queued addresses."""
    rest = case((host.c.next_at > now, host.c.next_at - now), else_=0.0)
    # All hosts are read, faster sequentially than by the index of crawls and names; + 0 rules that index out.
    of_crawl = host.c.crawl_id + 0 == crawl_id
    seconds = rest + ASSUMED_WAITING * SECONDS_PER_REQUEST
    return select(host.c.id).where(of_crawl, HAS_LIKELY).order_by(seconds.desc())


def hosts_with_waiting(host_ids: Sequence[int], most: int) -> Select[Any]:
    """The query for some hosts, with their queued addresses counted up to a limit."""
    queued = select(address.c.id).where(address.c.host_id == host.c.id, IS_WAITING, IS_LIKELY).limit(most)
    waiting = select(func.count()).select_from(queued.correlate(host).subquery()).scalar_subquery()
    columns = (
        SECONDS_PER_REQUEST.label("seconds_per_request"),
        site.c.name.label("site_name"),
        worker.c.number.label("worker_number"),
        waiting.label("waiting"),
    )
    return (
        select(host, *columns)
        .join(site, site.c.id == host.c.site_id)
        .outerjoin(worker, worker.c.id == host.c.worker)
        .where(host.c.id.in_(host_ids), HAS_LIKELY)
    )


def _estimated_waiting(connection: Connection, crawl_id: int, waiting: int) -> Mapping[int, int]:
    """Estimates of how many queued addresses hosts have, by host id: `waiting`, the number of the whole crawl, is
    divided among the hosts as in a sample of all addresses.
    """
    # The sample: evenly spread ids. The first and the last id are read separately, which is fast; in one query, SQLite
    # would read the whole table for them.
    first = connection.execute(select(func.min(address.c.id))).scalar() or 0
    last = connection.execute(select(func.max(address.c.id))).scalar() or 0
    ids = sorted({first + (last - first) * n // SAMPLE_SIZE for n in range(SAMPLE_SIZE + 1)})

    # The queued addresses of each host in the sample.
    sampled: Counter[int] = Counter()
    for part in in_chunks(ids):
        # Only by id: with further conditions, SQLite would read all queued addresses.
        query = select(address.c.host_id, address.c.state, address.c.priority).where(address.c.id.in_(part))
        for row in connection.execute(query):
            if row.state == AddressState.WAITING and not is_unlikely(row.priority):
                sampled[row.host_id] += 1

    # The hosts of this crawl share its queued addresses as they share the sampled ones.
    hosts_of_crawl: set[int] = set()
    for part in in_chunks(sorted(sampled)):
        query = select(host.c.id).where(host.c.id.in_(part), host.c.crawl_id == crawl_id)
        hosts_of_crawl.update(connection.execute(query).scalars())
    sampled_of_crawl = sum(sampled[host_id] for host_id in hosts_of_crawl)
    return {host_id: sampled[host_id] * waiting // sampled_of_crawl for host_id in hosts_of_crawl}


def _slow_host(row: Row[Any], now: float, estimate: int, *, has_several_workers: bool) -> SlowHost:
    """The host in a row of `hosts_with_waiting`; `estimate` is its estimated number of queued addresses."""
    is_counted = row.waiting < MOST_COUNTED
    waiting = row.waiting if is_counted else max(row.waiting, estimate)
    rest = max(0.0, row.next_at - now)
    seconds = 0.0
    if row.closed is None:
        seconds = rest + waiting * row.seconds_per_request
    return SlowHost(
        host=row.name,
        site=row.site_name,
        why=_why(row, rest, has_several_workers),
        seconds=seconds,
        waiting=waiting,
        is_counted=is_counted,
        rest=rest,
        pace=row.crawl_delay,
        delay=row.delay,
        latency=row.latency,
        worker=row.worker_number,
        closed=row.closed,
    )


def _why(row: Row[Any], rest: float, has_several_workers: bool) -> SlowReason:
    """The first reason that applies, in order of importance."""
    delay = row.delay or 0.0
    latency = row.latency or 0.0
    reasons = {
        SlowReason.CLOSED: row.closed is not None,
        # A rest of more than twice the usual time is surely not the pause between two requests.
        SlowReason.RESTS: rest > max(SHORTEST_REST_SECONDS, 2 * row.seconds_per_request),
        SlowReason.PACE: row.crawl_delay > 0 and row.crawl_delay >= max(delay, latency),
        SlowReason.LATENCY: latency > 0 and latency >= delay,
        SlowReason.WORKER: has_several_workers and row.worker_number is not None,
    }
    return next((why for why, holds in reasons.items() if holds), SlowReason.DELAY)
