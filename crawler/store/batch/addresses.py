"""Adds addresses to the frontier, each once, identified by its key, with its host and site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, or_, select, update

from crawler.frontier.page_result import EXAMPLE_KINDS, AddressKind, Candidate, Completion
from crawler.outcomes import Code
from crawler.store.batch.hosts import NO_TRIES, TRIED_HOSTS, raise_best
from crawler.store.crawl_tables import (
    IS_DONE,
    NO_OUTCOME,
    AddressState,
    address,
    host,
    site,
)
from crawler.store.database import in_chunks, storable
from crawler.store.page_tables import erasure, verdict
from crawler.urls.address import address_of
from crawler.urls.canonical import Canonical
from crawler.urls.page_id import page_id

KNOWN_HOSTS = 50_000  # whose ids are remembered
COUNTED = {"preserve_rowcount": True}  # SQLAlchemy counts inserted rows only with this option

# Addresses known only through an image: a link with words makes them pages.
ONLY_BY_IMAGE = (address.c.kind != AddressKind.IMAGE) & or_(
    address.c.sight.is_not(None), IS_DONE & (address.c.outcome == Code.NOISE)
)
UPDATE_LINKED = (
    update(address)
    .where(address.c.id == bindparam("known"))
    .values(
        {name: bindparam(f"to_{name}") for name in ("state", "kind", "priority", "depth", "parent", "via")}
        | {"sight": None, "shown_on": None}
        | NO_OUTCOME
    )
)


class AddressKeys:
    """Computes the key of an address: 64 bits, the same for all spellings of the canonical address."""

    def __init__(self, crawl_id: int, canonical: Canonical) -> None:
        self.canonical = canonical
        self._page, image, example = (f"{crawl_id} {kind} " for kind in ("page", "image", "example"))
        self._other_kinds = {AddressKind.IMAGE: image} | dict.fromkeys(EXAMPLE_KINDS, example)

    def __call__(self, url: str, kind: AddressKind = AddressKind.LINK) -> int:
        """The key; the same address has different keys as a page, as an image and as an example of the topic."""
        text = self._other_kinds.get(kind, self._page) + self.canonical(url)
        return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def without_erased(connection: Connection, keys: AddressKeys, crawl_id: int, urls: Iterable[str]) -> tuple[str, ...]:
    """The addresses among these that were not erased, nor their hosts."""
    rows = connection.execute(select(erasure.c.digest, erasure.c.key).where(erasure.c.crawl_id == crawl_id)).all()
    pages = {row.key for row in rows if row.key is not None}
    hosts = {row.digest for row in rows if row.key is None}
    return tuple(url for url in urls if keys(url) not in pages and page_id(address_of(url).host) not in hosts)


@dataclass(frozen=True, slots=True)
class HostIds:
    """The ids of a host and its site."""

    host_id: int
    site_id: int


@dataclass(frozen=True, slots=True)
class RecordedLink:
    """An image, or a page that only an image links to; with the page that shows it, and that page's site."""

    candidate: Candidate
    parent: int
    site_id: int


class Addresses:
    """Adds addresses to one crawl; remembers the ids of the hosts used last."""

    def __init__(self, crawl_id: int, insert: Callable[..., Any]) -> None:
        self.crawl_id = crawl_id
        self.insert = insert
        self._hosts: dict[str, HostIds] = {}
        self._best: dict[int, int] = {}
        """The best priority queued on each host since the last `raise_hosts`."""
        self.left_out = 0
        """How many addresses were not added because their hosts were erased."""
        self._erased_hosts: frozenset[str] | None = None
        """The digests of erased hosts; None before they are read. No host is erased while workers run the crawl."""

    def forget(self) -> None:
        """Forget the hosts: rows inserted by a failed transaction do not exist."""
        self._hosts.clear()
        self._best = {}
        self.left_out = 0

    def raise_hosts(self, connection: Connection) -> None:
        """Raise the best priority of hosts to that of the addresses added since the last call."""
        best, self._best = self._best, {}
        raise_best(connection, best.items())

    def _note(self, entered: Iterable[tuple[int, int]]) -> None:
        """Remember the hosts and priorities of newly queued addresses."""
        for host_id, priority in entered:
            self._best[host_id] = max(self._best.get(host_id, priority), priority)

    def add_links(
        self, connection: Connection, keys: AddressKeys, ended: Iterable[Completion], released: Collection[int]
    ) -> int:
        """Add the links of pages, and record their images; returns how many addresses were queued."""
        links: dict[int, tuple[Candidate, int | None]] = {}
        shown: dict[int, RecordedLink] = {}
        for one in ended:
            for link in one.result.links:
                key = keys(link.url, link.kind)
                if link.sight is None:
                    links.setdefault(key, (link, one.lease.id))
                else:
                    shown.setdefault(key, RecordedLink(link, one.lease.id, one.lease.site_id))
        added = self.add(connection, links)
        images_only = {key: shown[key] for key in shown.keys() - links.keys()}
        return added + self.record(connection, images_only, released)

    def add(self, connection: Connection, links: dict[int, tuple[Candidate, int | None]]) -> int:
        """Add candidates that are not known yet, with their keys and the page they were found on; returns how many were
        queued. `raise_hosts` must be called later.
        """
        if not links:
            return 0
        rows = self._rows(connection, {key: link for key, (link, _) in links.items()})
        count = self._insert(connection, [row | {"parent": links[row["key"]][1]} for row in rows])
        if count:
            self._note((row["host_id"], row["priority"]) for row in rows)
        return count + (self.add_linked(connection, links) if count < len(rows) else 0)

    def add_linked(self, connection: Connection, links: dict[int, tuple[Candidate, int | None]]) -> int:
        """Queue those candidates that were known only through an image; returns how many were not queued before.

        Addresses that a worker has leased stay leased; they are queued if they turn out to be noise.
        """
        columns = (address.c.id, address.c.key, address.c.host_id, address.c.state)
        rows, count = [], 0
        for part in in_chunks(sorted(links)):
            known = select(*columns).where(address.c.key.in_(part), ONLY_BY_IMAGE).order_by(address.c.id)
            for row in connection.execute(known.with_for_update()).all():
                link, parent = links[row.key]
                held = row.state == AddressState.HELD
                to = {"to_kind": link.kind, "to_priority": link.priority, "to_depth": link.depth, "to_parent": parent}
                rows.append(
                    {
                        "known": row.id,
                        "to_state": AddressState.HELD if held else AddressState.WAITING,
                        "to_via": link.via,
                        **to,
                    }
                )
                count += row.state in (AddressState.RECORDED, AddressState.DONE)
                if not held:
                    self._note([(row.host_id, link.priority)])
                if row.state == AddressState.DONE:
                    connection.execute(delete(verdict).where(verdict.c.key == row.key))
        if rows:
            connection.execute(UPDATE_LINKED, rows)
        return count

    def record(self, connection: Connection, shown: dict[int, RecordedLink], released: Collection[int]) -> int:
        """Record candidates that are not known yet; returns how many are queued, as their site is released."""
        added = 0
        for waits in (False, True):
            links = {key: one for key, one in shown.items() if (one.site_id in released) is waits}
            if not links:
                continue
            rows = self._rows(connection, {key: one.candidate for key, one in links.items()})
            for row in rows:
                one = links[row["key"]]
                row |= {"parent": one.parent, "sight": storable(one.candidate.sight or ""), "shown_on": one.site_id}
                row["state"] = AddressState.WAITING if waits else AddressState.RECORDED
            count = self._insert(connection, rows)
            if waits and count:
                added += count
                self._note((row["host_id"], row["priority"]) for row in rows)
        return added

    def _rows(self, connection: Connection, links: Mapping[int, Candidate]) -> list[dict[str, Any]]:
        """The rows of candidates, given with their keys; without those whose hosts were erased."""
        hosts = [address_of(link.url).host for link in links.values()]
        ids = self.host_ids(connection, {name: link.url for name, link in zip(hosts, links.values(), strict=True)})
        columns = ("url", "kind", "priority", "depth", "via", "lastmod", "labels")
        rows = [
            {"key": key, "host_id": ids[name].host_id} | {column: getattr(link, column) for column in columns}
            for name, (key, link) in zip(hosts, links.items(), strict=True)
            if name in ids
        ]
        self.left_out += len(links) - len(rows)
        return rows

    def _insert(self, connection: Connection, rows: list[dict[str, Any]]) -> int:
        """Insert addresses that are not known yet; returns how many.

        Their ids follow the order in which they came, but they are inserted in the order of their keys: so two workers
        that insert the same addresses at once cannot deadlock.
        """
        if not rows:
            return 0
        if connection.dialect.name == "postgresql":
            numbers = func.nextval(func.pg_get_serial_sequence(address.name, "id"))
            given = connection.execute(select(numbers).select_from(func.generate_series(1, len(rows)))).scalars()
            rows = [row | {"id": number} for row, number in zip(rows, given, strict=True)]
            rows.sort(key=lambda row: row["key"])
        new = self.insert(address).on_conflict_do_nothing(index_elements=["key"])
        return connection.execute(new, rows, execution_options=COUNTED).rowcount

    def host_ids(self, connection: Connection, hosts: dict[str, str]) -> dict[str, HostIds]:
        """The ids of hosts, given by name with an address on each; unknown ones are inserted, erased ones left out."""
        missing = sorted(hosts.keys() - self._hosts.keys())
        if len(self._hosts) + len(missing) > KNOWN_HOSTS:
            self._hosts.clear()
            missing = sorted(hosts)
        for names in in_chunks(self._without_erased(connection, missing) if missing else ()):
            self._hosts.update(self._insert_hosts(connection, {name: address_of(hosts[name]).site for name in names}))
        return {name: self._hosts[name] for name in hosts if name in self._hosts}

    def _without_erased(self, connection: Connection, names: list[str]) -> list[str]:
        """The names of hosts without those that were erased."""
        if self._erased_hosts is None:
            of_hosts = erasure.c.crawl_id == self.crawl_id, erasure.c.key.is_(None)
            self._erased_hosts = frozenset(connection.execute(select(erasure.c.digest).where(*of_hosts)).scalars())
        if not self._erased_hosts:
            return names
        return [name for name in names if page_id(name) not in self._erased_hosts]

    def _insert_hosts(self, connection: Connection, sites: dict[str, str]) -> dict[str, HostIds]:
        """Insert hosts that may be unknown, given with the names of their sites; returns their ids."""
        mine, names = {"crawl_id": self.crawl_id}, sorted(set(sites.values()))
        new = self.insert(site).on_conflict_do_nothing(index_elements=["crawl_id", "name"])
        connection.execute(new, [mine | {"name": name} for name in names])
        known = select(site.c.name, site.c.id).where(site.c.crawl_id == self.crawl_id, site.c.name.in_(names))
        ids = {row.name: row.id for row in connection.execute(known)}
        of_mine = host.c.crawl_id == self.crawl_id, host.c.name.in_(list(sites))
        known_hosts = select(host.c.name, host.c.id, host.c.site_id).where(*of_mine)
        before = {name: HostIds(*both) for name, *both in connection.execute(known_hosts)}
        new_hosts = {name: ids[sites[name]] for name in sites if name not in before}
        if not new_hosts:
            return before
        of_sites = host.c.site_id.in_(sorted(set(new_hosts.values())))
        counts = select(host.c.site_id, func.count()).where(of_sites).group_by(host.c.site_id)
        hosts_of_site = Counter[int]()
        for site_id, count in connection.execute(counts):
            hosts_of_site[site_id] = count
        rows = []
        for name, site_id in new_hosts.items():
            tries = NO_TRIES if hosts_of_site[site_id] >= TRIED_HOSTS else 0
            rows.append(mine | {"name": name, "site_id": site_id, "tries": tries})
            hosts_of_site[site_id] += 1
        new = self.insert(host).on_conflict_do_nothing(index_elements=["crawl_id", "name"])
        connection.execute(new, rows)
        return {name: HostIds(*both) for name, *both in connection.execute(known_hosts)}
