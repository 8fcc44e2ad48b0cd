"""Adds addresses to the frontier, each once, identified by its key, with its host and site.

New links are queued. Images, and pages that only an image links to, are only recorded at first: they are queued when
their site has shown enough pages to judge its images (images.py), and if an image is judged to be noise, the page
behind it is done without a request. A link with words to such a page makes it an ordinary link, which is queued.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, or_, select, update

from crawler.frontier.page_result import EXAMPLE_KINDS, AddressKind, Candidate, Completion
from crawler.outcomes import Code
from crawler.store.batch.host_tries import ALL_TRIES_USED, TRIED_HOSTS
from crawler.store.batch.hosts import raise_best
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

MAX_HOSTS = 50_000
"""The most hosts whose ids are remembered."""
COUNT_ROWS = {"preserve_rowcount": True}
"""The option without which SQLAlchemy does not count inserted rows."""
IS_KNOWN_BY_IMAGE_ONLY = (address.c.kind != AddressKind.IMAGE) & or_(
    address.c.sight.is_not(None), IS_DONE & (address.c.outcome == Code.NOISE)
)
"""The condition for pages that only an image links to. Those behind noise are done, and have lost their `sight`."""
UPDATE_LINKED = (
    update(address)
    .where(address.c.id == bindparam("address_id"))
    .values(
        {name: bindparam(f"to_{name}") for name in ("state", "kind", "priority", "depth", "parent", "via")}
        | {"sight": None, "shown_on": None}
        | NO_OUTCOME
    )
)
"""Makes a page that was known only through an image an ordinary link."""
LinksByKey = dict[int, tuple[Candidate, int | None]]
"""Candidates by key, each with the id of the page on which it was found; None if it was found on no page."""


class AddressKeys:
    """Computes the key of an address: 64 bits, equal for all addresses with one canonical address."""

    def __init__(self, crawl_id: int, canonical: Canonical) -> None:
        self.canonical = canonical
        self._page_prefix = f"{crawl_id} page "
        self._other_prefixes = dict.fromkeys(EXAMPLE_KINDS, f"{crawl_id} example ")
        self._other_prefixes[AddressKind.IMAGE] = f"{crawl_id} image "

    def __call__(self, url: str, kind: AddressKind = AddressKind.LINK) -> int:
        """The key of an address; as a page, as an image and as an example of the topic, it has different keys."""
        text = self._other_prefixes.get(kind, self._page_prefix) + self.canonical(url)
        return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def without_erased(connection: Connection, keys: AddressKeys, crawl_id: int, urls: Iterable[str]) -> tuple[str, ...]:
    """The addresses without those that were erased or whose hosts were erased."""
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
    """An image, or a page that only an image links to, and the page that shows the image."""

    candidate: Candidate
    parent: int
    """The id of the address of the page that shows the image."""
    site_id: int
    """The site of that page."""


class Addresses:
    """Adds addresses to one crawl; remembers the ids of hosts."""

    def __init__(self, crawl_id: int, insert: Callable[..., Any]) -> None:
        self.crawl_id = crawl_id
        self.insert = insert
        self._hosts: dict[str, HostIds] = {}
        self._best: dict[int, int] = {}
        """The best priority, or a higher one, of the addresses queued on each host since the last `raise_hosts`."""
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
        """Raise the best priorities of hosts to those of the addresses added since the last call."""
        best_of_hosts = self._best
        self._best = {}
        raise_best(connection, best_of_hosts.items())

    def _note_priorities(self, queued: Iterable[tuple[int, int]]) -> None:
        """Remember the best priority on each host of newly queued addresses, given as pairs of host and priority."""
        for host_id, priority in queued:
            self._best[host_id] = max(self._best.get(host_id, priority), priority)

    def add_links(
        self, connection: Connection, keys: AddressKeys, ended: Iterable[Completion], released: Collection[int]
    ) -> int:
        """Add the links of pages, and record their images; returns how many addresses were queued.

        The images of `released` sites, which have shown enough pages, are queued at once.
        """
        links: LinksByKey = {}
        links_by_image: dict[int, RecordedLink] = {}
        for completion in ended:
            lease = completion.lease
            for link in completion.result.links:
                key = keys(link.url, link.kind)
                if link.sight is None:
                    links.setdefault(key, (link, lease.id))
                else:
                    links_by_image.setdefault(key, RecordedLink(link, lease.id, lease.site_id))
        # An address to which both a link and an image lead is an ordinary link.
        added = self.add(connection, links)
        only_by_image = {key: links_by_image[key] for key in links_by_image.keys() - links.keys()}
        return added + self.record(connection, only_by_image, released)

    def add(self, connection: Connection, links: LinksByKey) -> int:
        """Add candidates that are not known yet; returns how many were queued.

        The caller calls `raise_hosts` later: hosts are locked after addresses, so that workers cannot deadlock.
        """
        if not links:
            return 0
        rows = self._rows(connection, {key: link for key, (link, _) in links.items()})
        count = self._insert(connection, [row | {"parent": links[row["key"]][1]} for row in rows])
        if count:
            # Rows that were not inserted are noted, too: the best priority of a host may be too high, not too low.
            self._note_priorities((row["host_id"], row["priority"]) for row in rows)
        if count < len(rows):  # some addresses are known, perhaps only through an image
            return count + self.add_linked(connection, links)
        return count

    def add_linked(self, connection: Connection, links: LinksByKey) -> int:
        """Queue those candidates that were known only through an image; returns how many were not queued before.

        Addresses that a worker has leased stay leased; they are queued if they turn out to be noise.
        """
        columns = (address.c.id, address.c.key, address.c.host_id, address.c.state)
        updates = []
        count = 0
        for part in in_chunks(sorted(links)):
            by_image = select(*columns).where(address.c.key.in_(part), IS_KNOWN_BY_IMAGE_ONLY).order_by(address.c.id)
            for row in connection.execute(by_image.with_for_update()).all():
                link, parent = links[row.key]
                is_held = row.state == AddressState.HELD
                updates.append(
                    {
                        "address_id": row.id,
                        "to_state": AddressState.HELD if is_held else AddressState.WAITING,
                        "to_kind": link.kind,
                        "to_priority": link.priority,
                        "to_depth": link.depth,
                        "to_parent": parent,
                        "to_via": link.via,
                    }
                )

                # Addresses that were recorded or done are queued, and the verdict on a page behind noise is void.
                count += row.state in (AddressState.RECORDED, AddressState.DONE)
                if not is_held:
                    self._note_priorities([(row.host_id, link.priority)])
                if row.state == AddressState.DONE:
                    connection.execute(delete(verdict).where(verdict.c.key == row.key))
        if updates:
            connection.execute(UPDATE_LINKED, updates)
        return count

    def record(self, connection: Connection, links_by_image: dict[int, RecordedLink], released: Collection[int]) -> int:
        """Record candidates that are not known yet; on `released` sites, queue them. Returns how many are queued."""
        added = 0
        for is_queued in (False, True):
            links = {key: link for key, link in links_by_image.items() if (link.site_id in released) is is_queued}
            if not links:
                continue
            rows = self._rows(connection, {key: link.candidate for key, link in links.items()})
            for row in rows:
                link = links[row["key"]]
                row["parent"] = link.parent
                row["sight"] = storable(link.candidate.sight or "")
                row["shown_on"] = link.site_id
                row["state"] = AddressState.WAITING if is_queued else AddressState.RECORDED
            count = self._insert(connection, rows)
            if is_queued and count:
                added += count
                self._note_priorities((row["host_id"], row["priority"]) for row in rows)
        return added

    def _rows(self, connection: Connection, links: Mapping[int, Candidate]) -> list[dict[str, Any]]:
        """The rows of candidates, given by key; without the candidates whose hosts were erased."""
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

        Their ids follow the order of the rows, in which links of equal priority are requested. On PostgreSQL, they are
        inserted in the order of their keys: so two workers that insert the same addresses at once cannot deadlock.
        """
        if not rows:
            return 0
        if connection.dialect.name == "postgresql":
            next_id = func.nextval(func.pg_get_serial_sequence(address.name, "id"))
            new_ids = connection.execute(select(next_id).select_from(func.generate_series(1, len(rows)))).scalars()
            rows = [row | {"id": number} for row, number in zip(rows, new_ids, strict=True)]
            rows.sort(key=lambda row: row["key"])
        new = self.insert(address).on_conflict_do_nothing(index_elements=["key"])
        return connection.execute(new, rows, execution_options=COUNT_ROWS).rowcount

    def host_ids(self, connection: Connection, hosts: dict[str, str]) -> dict[str, HostIds]:
        """The ids of hosts by name, given an address on each; unknown hosts are inserted, erased ones excluded."""
        missing = sorted(hosts.keys() - self._hosts.keys())
        if len(self._hosts) + len(missing) > MAX_HOSTS:
            self._hosts.clear()
            missing = sorted(hosts)
        if missing:
            for names in in_chunks(self._without_erased(connection, missing)):
                sites = {name: address_of(hosts[name]).site for name in names}
                self._hosts.update(self._insert_hosts(connection, sites))
        return {name: self._hosts[name] for name in hosts if name in self._hosts}

    def _without_erased(self, connection: Connection, names: list[str]) -> list[str]:
        """The names of the hosts that were not erased."""
        if self._erased_hosts is None:
            is_host = erasure.c.crawl_id == self.crawl_id, erasure.c.key.is_(None)
            self._erased_hosts = frozenset(connection.execute(select(erasure.c.digest).where(*is_host)).scalars())
        if not self._erased_hosts:
            return names
        return [name for name in names if page_id(name) not in self._erased_hosts]

    def _insert_hosts(self, connection: Connection, sites: dict[str, str]) -> dict[str, HostIds]:
        """Insert the hosts that are not in the database yet; returns the ids of all.

        `sites` has the name of the site of each host, by the name of the host.
        """
        of_crawl = {"crawl_id": self.crawl_id}

        # The sites.
        names_of_sites = sorted(set(sites.values()))
        new = self.insert(site).on_conflict_do_nothing(index_elements=["crawl_id", "name"])
        connection.execute(new, [of_crawl | {"name": name} for name in names_of_sites])
        stored_sites = select(site.c.name, site.c.id).where(
            site.c.crawl_id == self.crawl_id, site.c.name.in_(names_of_sites)
        )
        site_ids = {row.name: row.id for row in connection.execute(stored_sites)}

        # The hosts that are stored already.
        stored_hosts = select(host.c.name, host.c.id, host.c.site_id).where(
            host.c.crawl_id == self.crawl_id, host.c.name.in_(list(sites))
        )
        earlier_hosts = {row.name: HostIds(row.id, row.site_id) for row in connection.execute(stored_hosts)}
        new_hosts = {name: site_ids[sites[name]] for name in sites if name not in earlier_hosts}
        if not new_hosts:
            return earlier_hosts

        # The new hosts. The first hosts of a site have tries for unlikely links, further ones have none.
        is_of_sites = host.c.site_id.in_(sorted(set(new_hosts.values())))
        counts = select(host.c.site_id, func.count()).where(is_of_sites).group_by(host.c.site_id)
        hosts_of_site = Counter[int]()
        for site_id, count in connection.execute(counts):
            hosts_of_site[site_id] = count
        rows = []
        for name, site_id in new_hosts.items():
            tries = ALL_TRIES_USED if hosts_of_site[site_id] >= TRIED_HOSTS else 0
            rows.append(of_crawl | {"name": name, "site_id": site_id, "tries": tries})
            hosts_of_site[site_id] += 1
        new = self.insert(host).on_conflict_do_nothing(index_elements=["crawl_id", "name"])
        connection.execute(new, rows)
        return {row.name: HostIds(row.id, row.site_id) for row in connection.execute(stored_hosts)}
