"""Entering addresses: each once, with its host and the site of that."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Engine, bindparam, delete, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from crawler.frontier.messages import Candidate
from crawler.outcomes import Code
from crawler.store.output_files import storable
from crawler.store.schema import DONE, HELD, IS_DONE, NO_OUTCOME, RECORDED, WAITING, address, host, site, verdict
from crawler.urls.parsing import host as host_of
from crawler.urls.parsing import site as site_of

KNOWN_HOSTS = 50_000  # whose numbers are remembered
NAMED_AT_ONCE = 5_000  # in a statement: databases take so many parameters and no more
COUNTED = {"preserve_rowcount": True}  # SQLAlchemy does not keep the count of rows inserted otherwise

RAISE_BEST = (
    update(host)
    .where(host.c.id == bindparam("host"), or_(host.c.best.is_(None), host.c.best < bindparam("priority")))
    .values(best=bindparam("priority"))
)
# What is known of an address for a picture alone, which one link with words overrules.
ONLY_PICTURED = (address.c.kind != "image") & or_(
    address.c.sight.is_not(None), IS_DONE & (address.c.outcome == Code.NOISE)
)
OVERRULE = (
    update(address)
    .where(address.c.id == bindparam("known"))
    .values(
        {name: bindparam(f"to_{name}") for name in ("state", "kind", "priority", "depth", "parent", "via")}
        | {"sight": None, "shown_on": None}
        | NO_OUTCOME
    )
)
T = TypeVar("T")


class HostIds(NamedTuple):
    """A host and its site, by their numbers."""

    host_id: int
    site_id: int


class RecordedLink(NamedTuple):
    """A candidate of which there is only a picture to go by: the address it was found on, and the site of that."""

    candidate: Candidate
    parent: int
    site_id: int


class Addresses:
    """The addresses of one crawl, to be added to; the numbers of hosts seen lately are remembered."""

    def __init__(self, crawl_id: int, insert: Callable[..., Any]) -> None:
        self.crawl_id = crawl_id
        self.insert = insert
        self._places: dict[str, HostIds] = {}
        self._best: dict[int, int] = {}
        """The best of what was let wait since `raise_hosts`, by host."""

    def forget(self) -> None:
        """Forget the hosts: those of a transaction that failed may not be there."""
        self._places.clear()
        self._best = {}

    def raise_hosts(self, connection: Connection) -> None:
        """Let hosts know of all that was let wait."""
        best, self._best = self._best, {}
        raise_best(connection, best)

    def _wait_at(self, entered: Iterable[tuple[int, int]]) -> None:
        """Remember hosts, and the priorities of what waits there from now on."""
        for host_id, priority in entered:
            self._best[host_id] = max(self._best.get(host_id, priority), priority)

    def add(self, connection: Connection, links: dict[int, tuple[Candidate, int | None]]) -> int:
        """Let candidates wait that are not known yet, by their keys and the address they were found on; how many.

        Their hosts know nothing of it before `raise_hosts`.
        """
        if not links:
            return 0
        places = self.place(connection, {host_of(link.url): link.url for link, _ in links.values()})
        rows: list[dict[str, Any]] = []
        for key, (link, parent) in links.items():
            host_id = places[host_of(link.url)].host_id
            row = {"key": key, "host_id": host_id, "url": link.url, "kind": link.kind, "priority": link.priority}
            rows.append(row | {"depth": link.depth, "parent": parent, "via": link.via, "lastmod": link.lastmod})
        count = self._insert(connection, rows)
        if count:
            self._wait_at((row["host_id"], row["priority"]) for row in rows)
        return count + (self.overrule(connection, links) if count < len(rows) else 0)

    def overrule(self, connection: Connection, links: dict[int, tuple[Candidate, int | None]]) -> int:
        """Let those of the candidates wait that are known for a picture alone; how many did not wait yet.

        What a worker holds stays with it, and waits again if it is found to be noise.
        """
        columns = (address.c.id, address.c.key, address.c.host_id, address.c.state)
        rows, count = [], 0
        for part in in_chunks(sorted(links)):
            known = select(*columns).where(address.c.key.in_(part), ONLY_PICTURED).order_by(address.c.id)
            for row in connection.execute(known.with_for_update()).all():
                link, parent = links[row.key]
                held = row.state == HELD
                to = {"to_kind": link.kind, "to_priority": link.priority, "to_depth": link.depth, "to_parent": parent}
                rows.append({"known": row.id, "to_state": HELD if held else WAITING, "to_via": link.via, **to})
                count += row.state in (RECORDED, DONE)
                if not held:
                    self._wait_at([(row.host_id, link.priority)])
                if row.state == DONE:
                    connection.execute(delete(verdict).where(verdict.c.key == row.key))
        if rows:
            connection.execute(OVERRULE, rows)
        return count

    def record(self, connection: Connection, shown: dict[int, RecordedLink], released: Collection[int]) -> int:
        """Record candidates that are not known yet; those shown on sites of which enough is known wait at once, and
        are counted.
        """
        added = 0
        for waits in (False, True):
            links = {key: one for key, one in shown.items() if (one.site_id in released) is waits}
            if not links:
                continue
            places = self.place(connection, {host_of(link.url): link.url for link, _, _ in links.values()})
            rows: list[dict[str, Any]] = []
            for key, (link, parent, site_id) in links.items():
                host_id = places[host_of(link.url)].host_id
                row = {"key": key, "host_id": host_id, "url": link.url, "kind": link.kind, "priority": link.priority}
                row |= {"depth": link.depth, "parent": parent, "via": link.via, "sight": storable(link.sight or "")}
                rows.append(row | {"shown_on": site_id, "state": WAITING if waits else RECORDED})
            count = self._insert(connection, rows)
            if waits and count:
                added += count
                self._wait_at((row["host_id"], row["priority"]) for row in rows)
        return added

    def _insert(self, connection: Connection, rows: list[dict[str, Any]]) -> int:
        """Enter addresses that are not known yet; how many.

        They are numbered in the order they came, and entered by their keys: of two workers that enter the same ones
        at once one waits for the other, and never each for the other.
        """
        if connection.dialect.name == "postgresql":
            numbers = func.nextval(func.pg_get_serial_sequence(address.name, "id"))
            given = connection.execute(select(numbers).select_from(func.generate_series(1, len(rows)))).scalars()
            rows = [row | {"id": number} for row, number in zip(rows, given, strict=True)]
            rows.sort(key=lambda row: row["key"])
        new = self.insert(address).on_conflict_do_nothing(index_elements=["key"])
        return connection.execute(new, rows, execution_options=COUNTED).rowcount

    def place(self, connection: Connection, hosts: dict[str, str]) -> dict[str, HostIds]:
        """Where hosts stand, by their names and an address of each; those not known yet are entered."""
        missing = sorted(hosts.keys() - self._places.keys())
        if len(self._places) + len(missing) > KNOWN_HOSTS:
            self._places.clear()
            missing = sorted(hosts)
        for names in in_chunks(missing):
            self._places.update(self._enter(connection, {name: site_of(hosts[name]) for name in names}))
        return {name: self._places[name] for name in hosts}

    def _enter(self, connection: Connection, sites: dict[str, str]) -> dict[str, HostIds]:
        """Where hosts stand that may not be known, by their names and the names of their sites."""
        mine, names = {"crawl_id": self.crawl_id}, sorted(set(sites.values()))
        new = self.insert(site).on_conflict_do_nothing(index_elements=["crawl_id", "name"])
        connection.execute(new, [mine | {"name": name} for name in names])
        known = select(site.c.name, site.c.id).where(site.c.crawl_id == self.crawl_id, site.c.name.in_(names))
        ids = {row.name: row.id for row in connection.execute(known)}
        new = self.insert(host).on_conflict_do_nothing(index_elements=["crawl_id", "name"])
        connection.execute(new, [mine | {"name": name, "site_id": ids[sites[name]]} for name in sites])
        of_mine = host.c.crawl_id == self.crawl_id, host.c.name.in_(list(sites))
        placed = select(host.c.name, host.c.id, host.c.site_id).where(*of_mine)
        return {name: HostIds(*place) for name, *place in connection.execute(placed)}


def raise_best(connection: Connection, best: Mapping[int, int]) -> None:
    """Let hosts know of waiting addresses of these priorities."""
    if best:
        connection.execute(RAISE_BEST, [{"host": n, "priority": best[n]} for n in sorted(best)])


def dialect_insert(engine: Engine) -> Callable[..., Any]:
    """The INSERT of a database's kind, which knows what to do with rows that are there."""
    return sqlite.insert if engine.dialect.name == "sqlite" else postgresql.insert


def in_chunks(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """So many things at a time as a statement can name."""
    return (things[start : start + NAMED_AT_ONCE] for start in range(0, len(things), NAMED_AT_ONCE))
