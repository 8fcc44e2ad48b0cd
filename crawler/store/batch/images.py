"""Images: they are recorded, queued when enough pages of their site are known, and get verdicts with reasons.

The images of a site are judged when enough of its pages are stored, when none of its pages is queued or leased any
more, or when the crawl has nothing else to do. The counts behind the verdicts are in rows that are only inserted, one
for each site and batch: workers do not wait for each other, and the sums are exact even if a worker dies.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Connection, ScalarSelect, Select, bindparam, func, insert, or_, select, update

from crawler.frontier.batch import Batch, SiteEvidence
from crawler.frontier.page_result import Completion
from crawler.noise.image_evidence import Evidence
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.hosts import RECORDED_KINDS, RECORDED_SITES, SITES_AT_ONCE, UPDATE_BEST, raise_best
from crawler.store.crawl_tables import IS_IMAGE, IS_RECORDED, IS_WAITING, AddressState, address, crawl, host, site
from crawler.store.database import column_value, in_chunks, replacing_insert, storable
from crawler.store.page_tables import LabelKind, evidence, verdict
from crawler.urls.lru_dict import LruDict

RELEASED_AT_ONCE = 10_000  # images: a statement must end within its time limit; the rest follows later
DRY_SECONDS = 2.0  # between two searches for sites whose pages are all done
RELEASED_SITES = 50_000  # that are remembered

_page_waits = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.site_id == site.c.id, host.c.best.is_not(None), IS_WAITING, address.c.kind != IS_IMAGE)
    .correlate(site)
    .exists()
)
_dry = (
    site.c.id > bindparam("after"),
    site.c.id <= bindparam("last"),
    or_(site.c.pages >= bindparam("enough"), (site.c.held == 0) & ~_page_waits),
)
DRY_SITES = {images: sites.where(*_dry) for images, sites in RECORDED_SITES.items()}
FULL_SITES = select(site.c.id).where(
    site.c.id.in_(bindparam("sites", expanding=True)), site.c.pages >= bindparam("enough")
)
_of_sites = select(address.c.id).where(address.c.shown_on.in_(bindparam("sites", expanding=True)), IS_RECORDED)


def _unlocked(addresses: Select[Any]) -> ScalarSelect[Any]:
    """The ids of those rows that no other transaction has locked, or the first of very many."""
    return addresses.limit(RELEASED_AT_ONCE).with_for_update(skip_locked=True, of=address).scalar_subquery()


RELEASE = {
    images: update(address)
    .where(address.c.id.in_(_unlocked(_of_sites.where(kinds))))
    .values(state=AddressState.WAITING)
    .returning(address.c.host_id, address.c.priority)
    for images, kinds in RECORDED_KINDS.items()
}
_waiting_images = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.crawl_id == bindparam("crawl"), IS_WAITING, address.c.kind == IS_IMAGE)
)
_own_site = select(host.c.site_id).where(host.c.id == address.c.host_id).correlate(address).scalar_subquery()
SUSPEND = (
    update(address)
    .where(address.c.id.in_(_unlocked(_waiting_images)))
    .values(state=AddressState.RECORDED, shown_on=func.coalesce(address.c.shown_on, _own_site))
    .returning(address.c.host_id)
)


def release_images(connection: Connection, sites: Collection[int], images: bool = True) -> int:
    """Queue the recorded addresses of sites, or the first of very many; returns how many. Without images, only pages
    that an image links to are queued.

    Without images only pages that an image links to are released.
    """
    released = 0
    for part in in_chunks(sorted(sites)):
        rows = connection.execute(RELEASE[images], {"sites": part}).all()
        raise_best(connection, ((row.host_id, row.priority) for row in rows))
        released += len(rows)
    return released


def suspend_images(connection: Connection, crawl_id: int) -> int:
    """Take the queued images of a crawl off the queue, until a run asks for images again; returns how many."""
    number = 0
    while hosts := connection.execute(SUSPEND, {"crawl": crawl_id}).scalars().all():
        number += len(hosts)
        for part in in_chunks(sorted(set(hosts))):
            connection.execute(UPDATE_BEST, {"ids": part})
    return number


def dry_sites(
    connection: Connection, crawl_id: int, after: int, enough: int, images: bool = True
) -> tuple[list[int], int]:
    """Sites after an id that have recorded images and no pages left; and the id from which to search next."""
    last = after + SITES_AT_ONCE
    limits = {"crawl": crawl_id, "after": after, "last": last, "enough": enough}
    site_ids = list(connection.execute(DRY_SITES[images], limits).scalars())
    highest = connection.execute(select(func.coalesce(func.max(site.c.id), 0))).scalar_one()
    return site_ids, last if last < highest else 0


class ImageReleases:
    """Queues the images of a crawl site by site, and remembers the sites that have shown enough pages."""

    def __init__(self, crawl_id: int, images: bool = True) -> None:
        self.crawl_id = crawl_id
        self.images = images
        self.sites: set[int] = set()
        """Sites that have shown enough pages."""
        self.full = False
        """Whether the crawl had all its pages at the last commit, so that no site shows more."""
        self.searched_at = 0.0
        self._searched_to = 0

    def release(self, connection: Connection, batch: Batch, enough_pages: int) -> int:
        """Queue the images of sites that have shown enough pages or have none left; returns how many."""
        sites = {completion.lease.site_id for completion in batch.ended if completion.lease.counts} - self.sites
        if len(self.sites) > RELEASED_SITES:
            self.sites.clear()
        grown = _full_sites(connection, sites, enough_pages)
        self.sites |= grown
        if batch.idle or time.monotonic() - self.searched_at > DRY_SECONDS:
            self.searched_at = time.monotonic()
            enough = 0 if self.full else enough_pages
            dry, self._searched_to = dry_sites(connection, self.crawl_id, self._searched_to, enough, self.images)
            grown.update(dry)
        return release_images(connection, grown, self.images)


def _full_sites(connection: Connection, sites: Collection[int], enough: int) -> set[int]:
    results = (connection.execute(FULL_SITES, {"sites": part, "enough": enough}) for part in in_chunks(sorted(sites)))
    return {number for rows in results for number in rows.scalars()}


KNOWN_SITES = 1_000
"""Sites whose evidence a worker keeps in memory."""


def save_image_results(connection: Connection, keys: AddressKeys, crawl_id: int, ended: Iterable[Completion]) -> None:
    """Save the verdicts on images, and the sizes of those that were downloaded."""
    verdicts = []
    later = {}
    for completion in ended:
        verdict = completion.result.verdict
        if verdict is not None:
            verdicts.append(
                {name: column_value(value) for name, value in {**verdict, **_downloaded(completion)}.items()}
            )
        elif downloaded := _downloaded(completion):  # this run may judge no images, but an earlier one may have
            later[keys(completion.lease.candidate.url, completion.lease.candidate.kind)] = downloaded
    save_verdicts(connection, crawl_id, verdicts)
    save_downloads(connection, later)


def _downloaded(ended: Completion) -> Mapping[str, Any]:
    """The columns of a verdict about the downloaded image; empty if none was downloaded."""
    record = ended.result.record or {}
    if ended.lease.counts or record.get("size") is None:
        return {}
    # Image files are in folders named by the first letters of their names.
    file = "/".join(PurePosixPath(record["path"]).parts[-2:])
    return {"bytes": record["size"], "bytes_are_measured": True, "file": file or None}


def save_evidence(connection: Connection, crawl_id: int, counts: Mapping[int, Evidence]) -> None:
    """Add counts of images, by the id of their site.

    The rows of these sites are locked already: of two workers, the one whose row gets the lower id commits first.
    """
    rows = [{"crawl_id": crawl_id, "site_id": n, "counts": storable(counts[n].record())} for n in sorted(counts)]
    if rows:
        connection.execute(insert(evidence), rows)


def save_verdicts(connection: Connection, crawl_id: int, verdicts: Iterable[Mapping[str, Any]]) -> None:
    """Save verdicts on images, replacing earlier ones on the same images."""
    rows = {row["key"]: {"crawl_id": crawl_id, **row} for row in verdicts}
    if rows:
        name = connection.execute(select(crawl.c.name).where(crawl.c.id == crawl_id)).scalar_one()
        for row in rows.values():
            row["label_key"] = label_key(name, LabelKind.IMAGE, row["url"], row["page"])
        new = replacing_insert(connection.dialect.name, verdict, tuple(next(iter(rows.values()))))
        connection.execute(new, [rows[key] for key in sorted(rows)])


def save_downloads(connection: Connection, downloaded: Mapping[int, Mapping[str, Any]]) -> None:
    """Add the sizes and files of downloaded images to their verdicts, by the images' keys."""
    for key in sorted(downloaded):
        connection.execute(update(verdict).where(verdict.c.key == key).values(**downloaded[key]))


class EvidenceReader:
    """Reads the evidence of sites that this worker has not read yet."""

    def __init__(self, most: int = KNOWN_SITES) -> None:
        self.most = most
        self._last: LruDict[int, int] = LruDict(most)
        """The last row read for each site."""

    def read(self, connection: Connection, sites: Collection[int]) -> list[SiteEvidence]:
        """The new evidence of known sites, and all evidence of new ones."""
        if not sites:
            return []
        numbers = evidence.c.site_id, evidence.c.id
        new: dict[int, list[int]] = {number: [] for number in sites}
        for whole in (True, False):
            chosen_sites = sorted(n for n in sites if (n not in self._last) is whole)
            after = min((self._last.get(n, 0) for n in chosen_sites), default=0)
            for part in in_chunks(chosen_sites):
                new_rows = select(*numbers).where(evidence.c.site_id.in_(part), evidence.c.id > after)
                for site_id, number in connection.execute(new_rows.order_by(evidence.c.id)):
                    if number > self._last.get(site_id, 0):
                        new[site_id].append(number)
        texts: dict[int, str] = {}
        for part in in_chunks([number for ids in new.values() for number in ids]):
            rows = select(evidence.c.id, evidence.c.counts).where(evidence.c.id.in_(part))
            texts |= {row.id: row.counts for row in connection.execute(rows)}
        self._rows = {site_id: max(ids) for site_id, ids in new.items() if ids}
        return [
            SiteEvidence(n, n not in self._last, [texts[number] for number in ids])
            for n, ids in new.items()
            if ids or n not in self._last
        ]

    def committed(self, sites: Collection[int]) -> list[int]:
        """Remember the last rows read, as the transaction is committed; returns the sites that are dropped instead."""
        self._last.max_weight = max(self.most, len(sites))
        for site_id in sites:  # so that none of them is dropped for another
            self._last.use(site_id)
        forgotten = []
        for site_id in sites:
            last_row = self._rows.get(site_id, self._last.get(site_id, 0))
            forgotten += [dropped for dropped, _ in self._last.set(site_id, last_row)]
        return forgotten


def label_key(crawl: str, kind: str, url: str, page: str) -> int:
    """The key of the label of an image or page."""
    parts = json.dumps([crawl, kind, url, page]).encode()
    return int.from_bytes(blake2b(parts, digest_size=8).digest(), "big", signed=True)
