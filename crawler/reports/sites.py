"""The sites of a crawl, sorted and filtered, a part at a time; of hundreds of thousands, too, in a few milliseconds.

What has an index can be sorted by it however many sites there are: pages and names. Anything else is sorted where few
enough sites are left to do so at once. What waits is counted for the sites that are shown, each up to a bound.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, literal, select, tuple_

from crawler.store.schema import IS_WAITING, address, host, site

FEW = 20_000
"""Sites that are sorted at once, whatever it is by."""
MOST_HOSTS = 200
"""Hosts of a site that are looked at."""
FEW_HOSTS = 2_000
"""Hosts of all sites of a part that are read at once; where there are more, they are read site by site."""
SORTS = ("pages", "requests", "name")
HOSTS = select(
    host.c.site_id, host.c.best, host.c.next_at, host.c.crawl_delay, host.c.closed, host.c.latency, host.c.delay
)
_waits = select(address.c.id).join(host, host.c.id == address.c.host_id)
_some = _waits.where(host.c.site_id == site.c.id, host.c.best.is_not(None), IS_WAITING).limit(bindparam("most"))
WAITING_OF_SITE = select(func.count()).select_from(_some.correlate(site).subquery()).scalar_subquery()


class SiteQuery(NamedTuple):
    """Which sites are asked for."""

    sort: str = "pages"
    name: str = ""
    """What their names hold."""
    after: tuple[int, int] | str | None = None
    """The last one that was seen: its number of pages or requests and its own, or its name."""
    most: int = 50
    most_waiting: int = 200
    """Waiting addresses of a site that are counted."""


@dataclass(frozen=True, slots=True)
class SiteRow:
    """What a site was asked for, and how its hosts are."""

    id: int
    name: str
    pages: int
    requests: int
    waiting: int
    waiting_is_least: bool
    """Whether more wait than were counted."""
    hosts: int
    hosts_are_least: bool
    closed: int
    """Hosts that are asked for nothing more."""
    why: str | None
    rests_until: float | None
    """Until when the first of its hosts rests that something waits for."""
    latency: float | None
    """Seconds until its slowest host answers."""
    pause: float | None
    """Seconds between two requests to its slowest host."""


@dataclass(frozen=True, slots=True)
class Sites:
    """A part of the sites of a crawl."""

    rows: tuple[SiteRow, ...]
    more: bool
    sort: str
    """By what they are sorted: by pages, where there are too many to sort them as was asked."""
    number: int
    """Sites there are, as far as they were counted."""
    number_is_least: bool


def sites(connection: Connection, crawl_id: int, wanted: SiteQuery) -> Sites:
    """A part of the sites of a crawl."""
    mine: list[ColumnElement[bool]] = [site.c.crawl_id == crawl_id]
    if wanted.name:
        mine.append(site.c.name.contains(wanted.name.lower(), autoescape=True))
    counted = select(site.c.id).where(*mine).limit(FEW + 1)
    count = connection.execute(select(func.count()).select_from(counted.subquery())).scalar_one()
    sort = wanted.sort if count <= FEW or wanted.sort != "requests" else "pages"
    if count <= FEW and (wanted.name or sort == "requests"):
        # By the index it is sorted by, all sites would be gone through for the few that are meant.
        mine = [site.c.id.in_(select(counted.subquery().c.id))]
    rows = connection.execute(_sorted(mine, sort, wanted).limit(wanted.most + 1)).all()
    shown = rows[: wanted.most]
    mine_shown = [row.id for row in shown]
    hosts, waiting = _hosts(connection, mine_shown), _waiting(connection, mine_shown, wanted.most_waiting + 1)
    of_each = tuple(_site(row, hosts.get(row.id, ()), waiting[row.id], wanted.most_waiting) for row in shown)
    return Sites(of_each, len(rows) > len(shown), sort, min(count, FEW), count > FEW)


def _sorted(mine: Sequence[ColumnElement[bool]], sort: str, wanted: SiteQuery) -> Any:
    found = select(site.c.id, site.c.name, site.c.pages, site.c.requests).where(*mine)
    if sort == "name":
        after = wanted.after if isinstance(wanted.after, str) else ""
        return found.where(site.c.name > after).order_by(site.c.name)
    by = site.c[sort], site.c.id
    if isinstance(wanted.after, tuple):
        found = found.where(tuple_(*by) < tuple_(*map(literal, wanted.after)))
    return found.order_by(*(column.desc() for column in by))


def _site(row: Row[Any], found: Sequence[Row[Any]], waiting: int, most: int) -> SiteRow:
    hosts = found[:MOST_HOSTS]
    open_hosts = [one for one in hosts if one.best is not None]
    closed = [one.closed for one in hosts if one.closed]
    return SiteRow(
        row.id,
        row.name,
        row.pages,
        row.requests,
        min(waiting, most),
        waiting > most,
        len(hosts),
        len(found) > MOST_HOSTS,
        len(closed),
        min(closed, default=None),
        min((one.next_at for one in open_hosts), default=None),
        max((one.latency for one in hosts if one.latency is not None), default=None),
        max(
            (max(one.crawl_delay, one.delay or 0.0) for one in hosts if one.delay is not None or one.crawl_delay),
            default=None,
        ),
    )


def _hosts(connection: Connection, mine: Sequence[int]) -> Mapping[int, Sequence[Row[Any]]]:
    """The hosts of some sites; where they are very many, of each no more than one too many."""
    found: defaultdict[int, list[Any]] = defaultdict(list)
    rows = connection.execute(HOSTS.where(host.c.site_id.in_(mine)).limit(FEW_HOSTS + 1)).all()
    if len(rows) > FEW_HOSTS:
        each = (HOSTS.where(host.c.site_id == number).limit(MOST_HOSTS + 1) for number in mine)
        rows = [row for of_one in each for row in connection.execute(of_one)]
    for row in rows:
        found[row.site_id].append(row)
    return found


def _waiting(connection: Connection, mine: Sequence[int], most: int) -> Mapping[int, int]:
    """How many addresses of some sites wait, of each counted up to a limit."""
    counted = select(site.c.id, WAITING_OF_SITE).where(site.c.id.in_(mine))
    return {number: int(count) for number, count in connection.execute(counted, {"most": most})}
