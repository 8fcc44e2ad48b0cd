"""What all workers of a crawl have done together, and what remains to be done in its round."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, bindparam, func, or_, select, update

from crawler.store.crawl_tables import IS_DONE, IS_HELD, IS_IMAGE, IS_WAITING, address, crawl, host, worker
from crawler.store.database import in_chunks
from crawler.store.hosts import next_best, recorded_sites
from crawler.store.page_tables import shared_example

if TYPE_CHECKING:
    from crawler.store.addresses import AddressKeys
    from crawler.store.claims import Claimant

IMAGE_WAITS = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.crawl_id == bindparam("crawl"), IS_WAITING, address.c.kind == IS_IMAGE)
    .limit(1)
)

PAGE_WAITS = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(
        host.c.crawl_id == bindparam("crawl"),
        host.c.best.is_not(None),
        IS_WAITING,
        address.c.kind != IS_IMAGE,
    )
    .limit(1)
)
# One worker may add an address while another, which cannot see it yet, takes the last one of its host.
REPAIR_BEST = (
    update(host)
    .where(
        host.c.crawl_id == bindparam("crawl"),
        host.c.best.is_(None),
        select(address.c.id).where(address.c.host_id == host.c.id, IS_WAITING).exists(),
    )
    .values(best=next_best)
)


class Totals(NamedTuple):
    """Counts of all workers of a crawl, earlier runs included."""

    waiting: int
    pages: int
    workers: int


class RemainingWork(NamedTuple):
    """What remains of a crawl for a worker that has nothing to do."""

    held: int
    """How many addresses other workers hold."""
    over: bool
    released: int
    """How many images wait from now on, as nothing else does."""


def totals(connection: Connection, crawl_id: int) -> Totals:
    """How many addresses of a crawl wait, how many pages are stored, and how many workers it has."""
    sums = (func.coalesce(func.sum(worker.c.waiting), 0), func.coalesce(func.sum(worker.c.pages), 0))
    counted = select(*sums, func.count()).where(worker.c.crawl_id == crawl_id)
    waiting, pages, workers = connection.execute(counted).one()
    before = connection.execute(select(crawl.c.waiting, crawl.c.pages).where(crawl.c.id == crawl_id)).one()
    return Totals(max(0, int(before.waiting + waiting)), int(before.pages + pages), workers)


def remaining_work(
    connection: Connection, claimant: Claimant, pages: int, release: Callable[[Connection, Collection[int], bool], int]
) -> RemainingWork:
    """What remains of a crawl with so many pages; it ends if nothing does.

    When nothing else waits, `release` lets the recorded images of the given sites wait.
    """
    mine = select(worker.c.id).where(worker.c.crawl_id == claimant.crawl_id)
    held = select(func.count()).where(IS_HELD, address.c.worker.in_(mine))
    number = connection.execute(held).scalar_one()
    if number or not _nothing_waits(connection, claimant, pages):
        return RemainingWork(number, False, 0)
    recorded = recorded_sites(connection, claimant.crawl_id, claimant.images)
    if released := release(connection, recorded, claimant.images):
        return RemainingWork(0, False, released)
    ended = update(crawl).where(crawl.c.id == claimant.crawl_id, crawl.c.ended_at.is_(None))
    connection.execute(ended.values(ended_at=time.time()))
    return RemainingWork(0, True, 0)


def is_full(claimant: Claimant, pages: int) -> bool:
    """Whether a crawl with so many pages has reached `max_pages`."""
    return claimant.max_pages is not None and pages >= claimant.max_pages


def _nothing_waits(connection: Connection, claimant: Claimant, pages: int) -> bool:
    """Whether no address waits that this crawl still requests."""
    if is_full(claimant, pages) and not (claimant.images and image_waits(connection, claimant.crawl_id)):
        return True  # waiting pages are left to a run with a larger max_pages
    return nothing_waits(connection, claimant.crawl_id, claimant.images)


def no_longer_waiting(connection: Connection, worker_id: int, keys: AddressKeys, urls: Iterable[str]) -> list[str]:
    """Those of the addresses that neither wait nor are held by this worker."""
    by_key: dict[int, list[str]] = {}
    for url in urls:
        by_key.setdefault(keys(url), []).append(url)
    gone = or_(IS_DONE, IS_HELD & (address.c.worker != worker_id))
    found = select(address.c.key).where(address.c.key.in_(sorted(by_key)), gone)
    return [url for key in connection.execute(found).scalars() for url in by_key[key]]


def image_waits(connection: Connection, crawl_id: int) -> bool:
    """Whether an image of a crawl waits."""
    return connection.execute(IMAGE_WAITS, {"crawl": crawl_id}).first() is not None


def nothing_waits(connection: Connection, crawl_id: int, images: bool = True) -> bool:
    """Whether no address of a crawl waits, or without images no page; wrong best priorities are repaired."""
    mine = {"crawl": crawl_id}
    if images:
        return not something_waits(connection, crawl_id) and not connection.execute(REPAIR_BEST, mine).rowcount
    connection.execute(REPAIR_BEST, mine)
    return connection.execute(PAGE_WAITS, mine).first() is None


def something_waits(connection: Connection, crawl_id: int) -> bool:
    """Whether a host of a crawl has a best priority, so that addresses wait there."""
    waits = select(host.c.id).where(host.c.crawl_id == crawl_id, host.c.best.is_not(None)).limit(1)
    return connection.execute(waits).first() is not None


@dataclass(frozen=True)
class UnfinishedWork:
    """What is left to do in a round, as one transaction sees it."""

    connection: Connection
    claimant: Claimant

    @property
    def is_full(self) -> bool:
        """Whether the round has reached `max_pages`."""
        return is_full(self.claimant, totals(self.connection, self.claimant.crawl_id).pages)

    def is_unfinished(self, seeds: Collection[int]) -> bool:
        """Whether an address waits or is held, or a seed, given by key, is new."""
        mine, wants_images = self.claimant.crawl_id, self.claimant.images
        if self.is_full:
            ended = self.connection.execute(select(crawl.c.ended_at).where(crawl.c.id == mine)).scalar_one()
            return ended is None or self._has_images
        workers = select(worker.c.id).where(worker.c.crawl_id == mine)
        held = select(address.c.id).where(IS_HELD, address.c.worker.in_(workers)).limit(1)
        if self.connection.execute(held).first() is not None:
            return True
        if not nothing_waits(self.connection, mine, wants_images):
            return True
        if recorded_sites(self.connection, mine, wants_images):
            return True
        known = (select(func.count()).where(address.c.key.in_(part)) for part in in_chunks(sorted(seeds)))
        return sum(self.connection.execute(query).scalar_one() for query in known) < len(seeds)

    @property
    def has_failed_seeds(self) -> bool:
        """Whether a seed failed for a reason that may have passed."""
        again = (
            select(shared_example.c.id)
            .where(shared_example.c.crawl_id == self.claimant.crawl_id, shared_example.c.kind == "again")
            .limit(1)
        )
        return not self.is_full and self.connection.execute(again).first() is not None

    @property
    def _has_images(self) -> bool:
        """Whether an earlier run or another worker left images that this one requests."""
        if not self.claimant.images:
            return False
        return image_waits(self.connection, self.claimant.crawl_id) or bool(
            recorded_sites(self.connection, self.claimant.crawl_id)
        )
