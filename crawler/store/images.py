"""Pictures wait for evidence: they are recorded first, and wait their turn when their site has shown enough.

A site is released when it has so many pages, when nothing else of it waits or is held (it has run dry), or when
nothing else of the crawl is left to do. What was counted of its pictures stands in rows that are only added, one for
each batch that brought pages of it, so workers need not wait for each other and counts are exact whoever dies."""

import json
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from typing import Any

from sqlalchemy import (
    Connection,
    ScalarSelect,
    Select,
    bindparam,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    update,
)

from crawler.frontier.messages import Batch, SiteEvidence
from crawler.store.addresses import dialect_insert, in_chunks, raise_best
from crawler.store.claims import UPDATE_BEST
from crawler.store.output_files import storable
from crawler.store.schema import (
    IS_RECORDED,
    IS_WAITING,
    RECORDED,
    WAITING,
    address,
    crawl,
    evidence,
    host,
    site,
    verdict,
)

RELEASED_AT_ONCE = 10_000  # pictures: a statement must end within its time; the rest follows
SITES_AT_ONCE = 10_000  # numbers of sites that are looked through for some that have run dry
KNOWN_SITES = 1_000  # whose evidence a worker has in memory
DRY_SECONDS = 2.0  # between two looks for sites that have run dry
RELEASED_SITES = 50_000  # that are remembered

IS_NO_IMAGE = address.c.kind != literal("image", literal_execute=True)
# With pictures and without: what is recorded of pictures is no business of a run that wants none.
KINDS = {True: true(), False: IS_NO_IMAGE}
_recorded = select(address.c.id).where(address.c.shown_on == site.c.id, IS_RECORDED).correlate(site)
_page_waits = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.site_id == site.c.id, host.c.best.is_not(None), IS_WAITING, IS_NO_IMAGE)
    .correlate(site)
    .exists()
)
_of_crawl = {
    pictures: select(site.c.id).where(site.c.crawl_id == bindparam("crawl"), _recorded.where(kinds).exists())
    for pictures, kinds in KINDS.items()
}
RECORDED_SITES = {pictures: _of_crawl[pictures].order_by(site.c.id).limit(SITES_AT_ONCE) for pictures in KINDS}
_dry = (
    site.c.id > bindparam("after"),
    site.c.id <= bindparam("last"),
    or_(site.c.pages >= bindparam("enough"), (site.c.held == 0) & ~_page_waits),
)
DRY_SITES = {pictures: _of_crawl[pictures].where(*_dry) for pictures in KINDS}
FULL_SITES = select(site.c.id).where(
    site.c.id.in_(bindparam("sites", expanding=True)), site.c.pages >= bindparam("enough")
)
_of_sites = select(address.c.id).where(address.c.shown_on.in_(bindparam("sites", expanding=True)), IS_RECORDED)
PICTURE = "picture"
"""The kind of the labels of pictures."""


def _some(found: Select[Any]) -> ScalarSelect[Any]:
    """The numbers of those found that nobody else changes, or the first of very many."""
    return found.limit(RELEASED_AT_ONCE).with_for_update(skip_locked=True, of=address).scalar_subquery()


RELEASE = {
    pictures: update(address)
    .where(address.c.id.in_(_some(_of_sites.where(kinds))))
    .values(state=WAITING)
    .returning(address.c.host_id, address.c.priority)
    for pictures, kinds in KINDS.items()
}
_waiting_pictures = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.crawl_id == bindparam("crawl"), IS_WAITING, ~IS_NO_IMAGE)
)
_own_site = select(host.c.site_id).where(host.c.id == address.c.host_id).correlate(address).scalar_subquery()
SUSPEND = (
    update(address)
    .where(address.c.id.in_(_some(_waiting_pictures)))
    .values(state=RECORDED, shown_on=func.coalesce(address.c.shown_on, _own_site))
    .returning(address.c.host_id)
)


def release_images(connection: Connection, sites: Collection[int], pictures: bool = True) -> int:
    """Let wait what is recorded of some sites, or the first of very many; how many they are.

    Without pictures those are let wait that are pages behind pictures.
    """
    released = 0
    for part in in_chunks(sorted(sites)):
        best: dict[int, int] = {}
        for host_id, priority in connection.execute(RELEASE[pictures], {"sites": part}).all():
            best[host_id] = max(best.get(host_id, priority), priority)
            released += 1
        raise_best(connection, best)
    return released


def suspend_images(connection: Connection, crawl_id: int) -> int:
    """Have a crawl's pictures recorded that wait, until a run wants pictures; how many they are."""
    number = 0
    while hosts := connection.execute(SUSPEND, {"crawl": crawl_id}).scalars().all():
        number += len(hosts)
        for part in in_chunks(sorted(set(hosts))):
            connection.execute(UPDATE_BEST, {"ids": part})
    return number


def full_sites(connection: Connection, sites: Collection[int], enough: int) -> set[int]:
    """Those of the sites that have enough pages."""
    found = (connection.execute(FULL_SITES, {"sites": part, "enough": enough}) for part in in_chunks(sorted(sites)))
    return {number for rows in found for number in rows.scalars()}


def dry_sites(
    connection: Connection, crawl_id: int, after: int, enough: int, pictures: bool = True
) -> tuple[list[int], int]:
    """The sites beyond a number whose pictures wait for nothing any more; and the number to go on from."""
    last = after + SITES_AT_ONCE
    given = {"crawl": crawl_id, "after": after, "last": last, "enough": enough}
    found = list(connection.execute(DRY_SITES[pictures], given).scalars())
    highest = connection.execute(select(func.coalesce(func.max(site.c.id), 0))).scalar_one()
    return found, last if last < highest else 0


def recorded_sites(connection: Connection, crawl_id: int, pictures: bool = True) -> list[int]:
    """The sites of a crawl of which pictures, or pages behind them, are recorded; or these pages alone."""
    return list(connection.execute(RECORDED_SITES[pictures], {"crawl": crawl_id}).scalars())


class ImageReleases:
    """Lets the pictures of a crawl wait, site by site, and remembers the sites that have shown enough."""

    def __init__(self, crawl_id: int, pictures: bool = True) -> None:
        self.crawl_id, self.pictures = crawl_id, pictures
        self.sites: set[int] = set()
        """Those that have enough pages."""
        self.full = False
        """Whether the crawl had all its pages at the last commit: no site will show more."""
        self.read_at, self._looked_at = 0.0, 0

    def release(self, connection: Connection, batch: Batch, enough_pages: int) -> int:
        """Let the pictures wait of sites that have shown enough; now and then also those of sites that have run dry,
        and of all when the crawl has its pages; how many they are.
        """
        sites = {one.lease.site_id for one in batch.ended if one.lease.counts} - self.sites
        if len(self.sites) > RELEASED_SITES:
            self.sites.clear()
        grown = full_sites(connection, sites, enough_pages)
        self.sites |= grown
        if batch.idle or time.monotonic() - self.read_at > DRY_SECONDS:
            self.read_at = time.monotonic()
            enough = 0 if self.full else enough_pages
            dry, self._looked_at = dry_sites(connection, self.crawl_id, self._looked_at, enough, self.pictures)
            grown.update(dry)
        return release_images(connection, grown, self.pictures)


def save_evidence(connection: Connection, crawl_id: int, counts: Mapping[int, str]) -> None:
    """Add what was counted on pages of some sites.

    This comes after the rows of these sites were changed: so they are locked, and of two workers the one whose row
    has the lower number has committed first.
    """
    rows = [{"crawl_id": crawl_id, "site_id": n, "counts": storable(counts[n])} for n in sorted(counts)]
    if rows:
        connection.execute(insert(evidence), rows)


def save_verdicts(connection: Connection, crawl_id: int, verdicts: Iterable[Mapping[str, Any]]) -> None:
    """Keep what was said of pictures; what was said before of the same ones goes."""
    rows = {one["key"]: {"crawl_id": crawl_id, **one} for one in verdicts}
    if rows:
        name = connection.execute(select(crawl.c.name).where(crawl.c.id == crawl_id)).scalar_one()
        for row in rows.values():
            row["label_key"] = label_key(name, PICTURE, row["url"], row["page"])
        new = dialect_insert(connection.engine)(verdict)
        renewed = {name: new.excluded[name] for name in next(iter(rows.values())) if name != "key"}
        connection.execute(
            new.on_conflict_do_update(index_elements=["key"], set_=renewed), [rows[key] for key in sorted(rows)]
        )


def save_downloads(connection: Connection, downloaded: Mapping[int, Mapping[str, Any]]) -> None:
    """Add to what was said of pictures before, by their keys, what was downloaded of them since."""
    for key in sorted(downloaded):
        connection.execute(update(verdict).where(verdict.c.key == key).values(**downloaded[key]))


class EvidenceReader:
    """Reads what is new of the evidence of sites, and knows how far it has read."""

    def __init__(self, most: int = KNOWN_SITES) -> None:
        self.most = most
        self._last: OrderedDict[int, int] = OrderedDict()
        """The last row read of each site, the site longest not asked for first."""

    def read(self, connection: Connection, sites: Collection[int]) -> list[SiteEvidence]:
        """What is new of these sites; all of those not known."""
        if not sites:
            return []
        numbers = evidence.c.site_id, evidence.c.id
        new: dict[int, list[int]] = {number: [] for number in sites}
        for whole in (True, False):
            mine = sorted(n for n in sites if (n not in self._last) is whole)
            after = min((self._last.get(n, 0) for n in mine), default=0)
            for part in in_chunks(mine):
                known = select(*numbers).where(evidence.c.site_id.in_(part), evidence.c.id > after)
                for site_id, number in connection.execute(known.order_by(evidence.c.id)):
                    if number > self._last.get(site_id, 0):
                        new[site_id].append(number)
        texts: dict[int, str] = {}
        for part in in_chunks([number for found in new.values() for number in found]):
            rows = select(evidence.c.id, evidence.c.counts).where(evidence.c.id.in_(part))
            texts |= {row.id: row.counts for row in connection.execute(rows)}
        self._rows = {site_id: max(found) for site_id, found in new.items() if found}
        return [
            SiteEvidence(n, n not in self._last, [texts[number] for number in found])
            for n, found in new.items()
            if found or n not in self._last
        ]

    def committed(self, sites: Collection[int]) -> list[int]:
        """Remember how far was read, now that it is certain; the sites that are forgotten for it."""
        for site_id in sites:
            self._last[site_id] = self._rows.get(site_id, self._last.get(site_id, 0))
            self._last.move_to_end(site_id)
        forgotten = []
        while len(self._last) > max(self.most, len(sites)):
            forgotten.append(self._last.popitem(last=False)[0])
        return forgotten


def label_key(crawl: str, kind: str, url: str, page: str) -> int:
    """What labels of the same thing have in common."""
    parts = json.dumps([crawl, kind, url, page]).encode()
    return int.from_bytes(blake2b(parts, digest_size=8).digest(), "big", signed=True)
