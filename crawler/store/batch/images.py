"""Images: they are recorded, queued when enough pages of their site are stored, and get verdicts with reasons.

An image is judged by how the pages of a site show images, so it is only recorded at first. A site is ready when enough
of its pages are stored, when none of its pages is queued or leased any more, or when the crawl has nothing else to do:
then its recorded addresses are released, that is, queued. The evidence consists of the counts behind the verdicts. Its
rows are only inserted, one for each site and batch: workers do not wait for each other, and the sums are exact even if
a worker dies.
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
from crawler.store.batch.hosts import MAY_BE_QUEUED, RECORDED_SITES, SITES_AT_ONCE, UPDATE_BEST, raise_best
from crawler.store.crawl_tables import IMAGE_KIND, IS_RECORDED, IS_WAITING, AddressState, address, crawl, host, site
from crawler.store.database import column_value, in_chunks, replacing_insert, storable
from crawler.store.page_tables import LabelKind, evidence, verdict
from crawler.urls.lru_dict import LruDict

RELEASED_AT_ONCE = 10_000
"""The most addresses that one statement queues, as it must end within its time limit; the others are queued later."""
SEARCH_SECONDS = 2.0
"""Seconds between two searches for sites that are ready."""
MOST_RELEASED_SITES = 50_000
"""About how many sites with enough pages a worker remembers at most."""

HAS_QUEUED_PAGES = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.site_id == site.c.id, host.c.best.is_not(None), IS_WAITING, address.c.kind != IMAGE_KIND)
    .correlate(site)
    .exists()
)
"""The condition for sites with queued pages."""
IS_READY = (
    site.c.id > bindparam("after"),
    site.c.id <= bindparam("last"),
    or_(site.c.pages >= bindparam("enough"), (site.c.held == 0) & ~HAS_QUEUED_PAGES),
)
"""The conditions for sites, in a range of ids, that have enough pages or no page left to request."""
READY_SITES = {with_images: sites.where(*IS_READY) for with_images, sites in RECORDED_SITES.items()}
"""Sites that are ready and have recorded addresses, by whether the run requests images."""
SITES_WITH_ENOUGH_PAGES = select(site.c.id).where(
    site.c.id.in_(bindparam("sites", expanding=True)), site.c.pages >= bindparam("enough")
)
"""The sites, among some, that have enough pages."""


def _unlocked(addresses: Select[Any]) -> ScalarSelect[Any]:
    """The ids of those rows that no other transaction has locked, at most RELEASED_AT_ONCE."""
    return addresses.limit(RELEASED_AT_ONCE).with_for_update(skip_locked=True, of=address).scalar_subquery()


RECORDED_OF_SITES = select(address.c.id).where(address.c.shown_on.in_(bindparam("sites", expanding=True)), IS_RECORDED)
RELEASE = {
    with_images: update(address)
    .where(address.c.id.in_(_unlocked(RECORDED_OF_SITES.where(may_be_queued))))
    .values(state=AddressState.WAITING)
    .returning(address.c.host_id, address.c.priority)
    for with_images, may_be_queued in MAY_BE_QUEUED.items()
}
"""Queues the recorded addresses of sites, by whether the run requests images."""
WAITING_IMAGES = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.crawl_id == bindparam("crawl"), IS_WAITING, address.c.kind == IMAGE_KIND)
)
SITE_OF_ADDRESS = select(host.c.site_id).where(host.c.id == address.c.host_id).correlate(address).scalar_subquery()
SUSPEND = (
    update(address)
    .where(address.c.id.in_(_unlocked(WAITING_IMAGES)))
    .values(state=AddressState.RECORDED, shown_on=func.coalesce(address.c.shown_on, SITE_OF_ADDRESS))
    .returning(address.c.host_id)
)
"""Takes queued images off the queue, and records them. An image that no page shows gets the site of its own host."""


def release_images(connection: Connection, sites: Collection[int], with_images: bool = True) -> int:
    """Queue the recorded addresses of sites, a limited number at once; returns how many.

    Without images, only pages that an image links to are queued.
    """
    released = 0
    for part in in_chunks(sorted(sites)):
        rows = connection.execute(RELEASE[with_images], {"sites": part}).all()
        raise_best(connection, ((row.host_id, row.priority) for row in rows))
        released += len(rows)
    return released


def suspend_images(connection: Connection, crawl_id: int) -> int:
    """Take the queued images of a crawl off the queue, until a run asks for images again; returns how many."""
    count = 0
    while hosts := connection.execute(SUSPEND, {"crawl": crawl_id}).scalars().all():
        count += len(hosts)
        for part in in_chunks(sorted(set(hosts))):
            connection.execute(UPDATE_BEST, {"ids": part})
    return count


def ready_sites(
    connection: Connection, crawl_id: int, after: int, enough: int, with_images: bool = True
) -> tuple[list[int], int]:
    """The sites that are ready, in the next range of ids after `after`; and the id after which the next search begins.

    This id is 0 if the search has reached the last site. `enough` is the number of pages that are enough; with 0, all
    sites are ready.
    """
    last = after + SITES_AT_ONCE
    limits = {"crawl": crawl_id, "after": after, "last": last, "enough": enough}
    site_ids = list(connection.execute(READY_SITES[with_images], limits).scalars())
    highest = connection.execute(select(func.coalesce(func.max(site.c.id), 0))).scalar_one()
    next_after = last if last < highest else 0
    return site_ids, next_after


class ImageReleases:
    """Queues the images of a crawl site by site, and remembers the sites that have shown enough pages."""

    def __init__(self, crawl_id: int, with_images: bool = True) -> None:
        self.crawl_id = crawl_id
        self.with_images = with_images
        """Whether the run requests images; otherwise only pages behind images are queued."""
        self.released_sites: set[int] = set()
        """Sites that have shown enough pages: their images are queued as soon as they are found."""
        self.is_crawl_full = False
        """Whether the crawl had all its pages at the last commit, so that no site shows more."""
        self.searched_at = 0.0
        """When this worker last searched for sites that are ready."""
        self._searched_to = 0
        """The id of a site, after which the next search begins."""

    def release(self, connection: Connection, batch: Batch, enough_pages: int) -> int:
        """Queue the images of sites that have shown enough pages or have none left; returns how many."""
        # Sites of this batch.
        sites = {completion.lease.site_id for completion in batch.ended if completion.lease.is_page}
        sites -= self.released_sites
        if len(self.released_sites) > MOST_RELEASED_SITES:
            self.released_sites.clear()  # sites that are released once more have no recorded addresses
        sites_to_release = _sites_with_enough_pages(connection, sites, enough_pages)
        self.released_sites |= sites_to_release

        # Other sites, now and then.
        if batch.idle or time.monotonic() - self.searched_at > SEARCH_SECONDS:
            self.searched_at = time.monotonic()
            enough = 0 if self.is_crawl_full else enough_pages
            ready, self._searched_to = ready_sites(
                connection, self.crawl_id, self._searched_to, enough, self.with_images
            )
            sites_to_release.update(ready)
        return release_images(connection, sites_to_release, self.with_images)


def _sites_with_enough_pages(connection: Connection, sites: Collection[int], enough: int) -> set[int]:
    """Those of the sites that have enough pages."""
    site_ids: set[int] = set()
    for part in in_chunks(sorted(sites)):
        rows = connection.execute(SITES_WITH_ENOUGH_PAGES, {"sites": part, "enough": enough})
        site_ids.update(rows.scalars())
    return site_ids


MOST_EVIDENCE_SITES = 1_000
"""Sites whose evidence a worker keeps in memory."""


def save_image_results(connection: Connection, keys: AddressKeys, crawl_id: int, ended: Iterable[Completion]) -> None:
    """Save the verdicts on images, and the sizes of downloaded images."""
    verdicts = []
    downloads_without_verdict = {}
    for completion in ended:
        new_verdict = completion.result.verdict
        download_columns = _download_columns(completion)
        if new_verdict is not None:
            verdicts.append({name: column_value(value) for name, value in {**new_verdict, **download_columns}.items()})
        elif download_columns:  # an earlier run may have judged the image
            candidate = completion.lease.candidate
            downloads_without_verdict[keys(candidate.url, candidate.kind)] = download_columns
    save_verdicts(connection, crawl_id, verdicts)
    save_downloads(connection, downloads_without_verdict)


def _download_columns(completion: Completion) -> Mapping[str, Any]:
    """The columns of a verdict that describe the downloaded image; empty if no image was downloaded."""
    record = completion.result.record or {}
    if completion.lease.is_page or record.get("size") is None:
        return {}
    # The folder of an image file, named by the first letters of its name, and the name.
    file = "/".join(PurePosixPath(record["path"]).parts[-2:])
    return {"bytes": record["size"], "bytes_are_measured": True, "file": file or None}


def save_evidence(connection: Connection, crawl_id: int, counts: Mapping[int, Evidence]) -> None:
    """Add counts of images, by the id of their site.

    The rows of the sites are locked already, so the evidence of a site is committed in the order of the ids: an
    `EvidenceReader`, which continues after the last id that it has read, misses none.
    """
    rows = [
        {"crawl_id": crawl_id, "site_id": site_id, "counts": storable(counts[site_id].record())}
        for site_id in sorted(counts)
    ]
    if rows:
        connection.execute(insert(evidence), rows)


def save_verdicts(connection: Connection, crawl_id: int, verdicts: Iterable[Mapping[str, Any]]) -> None:
    """Save verdicts on images. They replace earlier verdicts on these images."""
    rows = {row["key"]: {"crawl_id": crawl_id, **row} for row in verdicts}
    if rows:
        name = connection.execute(select(crawl.c.name).where(crawl.c.id == crawl_id)).scalar_one()
        for row in rows.values():
            row["label_key"] = label_key(name, LabelKind.IMAGE, row["url"], row["page"])
        new = replacing_insert(connection.dialect.name, verdict, tuple(next(iter(rows.values()))))
        connection.execute(new, [rows[key] for key in sorted(rows)])


def save_downloads(connection: Connection, downloaded: Mapping[int, Mapping[str, Any]]) -> None:
    """Add the sizes and files of downloaded images to their verdicts, given by the images' keys."""
    for key in sorted(downloaded):
        connection.execute(update(verdict).where(verdict.c.key == key).values(**downloaded[key]))


class EvidenceReader:
    """Reads the evidence of sites that this worker has not read yet."""

    def __init__(self, most: int = MOST_EVIDENCE_SITES) -> None:
        self.most = most
        """How many sites are remembered; more if a batch needs more."""
        self._last_rows: LruDict[int, int] = LruDict(most)
        """The id of the last row read for each site."""
        self._new_last_rows: dict[int, int] = {}
        """The id of the last row that the uncommitted transaction has read, by site."""

    def read(self, connection: Connection, sites: Collection[int]) -> list[SiteEvidence]:
        """All evidence of the sites whose evidence is not remembered, and the new evidence of the other sites."""
        if not sites:
            return []
        # The ids of the new rows. Remembered and new sites are searched apart: for remembered sites, the search begins
        # after the lowest of their last rows, for new sites at 0.
        columns = evidence.c.site_id, evidence.c.id
        new_rows: dict[int, list[int]] = {site_id: [] for site_id in sites}
        for is_new in (True, False):
            chosen_sites = sorted(site_id for site_id in sites if (site_id not in self._last_rows) is is_new)
            after = min((self._last_rows.get(site_id, 0) for site_id in chosen_sites), default=0)
            for part in in_chunks(chosen_sites):
                later_rows = select(*columns).where(evidence.c.site_id.in_(part), evidence.c.id > after)
                for site_id, number in connection.execute(later_rows.order_by(evidence.c.id)):
                    if number > self._last_rows.get(site_id, 0):
                        new_rows[site_id].append(number)

        # The counts in these rows.
        counts_of_row: dict[int, str] = {}
        for part in in_chunks([number for numbers in new_rows.values() for number in numbers]):
            rows = select(evidence.c.id, evidence.c.counts).where(evidence.c.id.in_(part))
            counts_of_row |= {row.id: row.counts for row in connection.execute(rows)}
        self._new_last_rows = {site_id: max(numbers) for site_id, numbers in new_rows.items() if numbers}
        return [
            SiteEvidence(site_id, site_id not in self._last_rows, [counts_of_row[number] for number in numbers])
            for site_id, numbers in new_rows.items()
            if numbers or site_id not in self._last_rows
        ]

    def committed(self, sites: Collection[int]) -> list[int]:
        """Remember the last rows read, as the transaction is committed; returns the sites that are forgotten instead.

        `sites` are those of the reply: the worker needs their evidence, so none of these is forgotten.
        """
        self._last_rows.max_weight = max(self.most, len(sites))
        for site_id in sites:  # the least recently used sites are dropped, so none of these
            self._last_rows.use(site_id)
        forgotten = []
        for site_id in sites:
            last_row = self._new_last_rows.get(site_id, self._last_rows.get(site_id, 0))
            forgotten += [dropped for dropped, _ in self._last_rows.set(site_id, last_row)]
        return forgotten


def label_key(crawl: str, kind: str, url: str, page: str) -> int:
    """The key of the label of an image or page: 64 bits."""
    parts = json.dumps([crawl, kind, url, page]).encode()
    return int.from_bytes(blake2b(parts, digest_size=8).digest(), "big", signed=True)
