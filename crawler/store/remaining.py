"""The survey: what all workers of a crawl together have done, and whether it is all.

What is left to do of a crawl's round when it is to go on.
"""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, or_, select, update

from crawler.frontier.messages import AddressKeys
from crawler.store.addresses import in_chunks
from crawler.store.claims import IS_IMAGE, Claimant, next_best
from crawler.store.images import recorded_sites, release_images
from crawler.store.schema import IS_DONE, IS_HELD, IS_WAITING, address, crawl, host, shared_example, worker

PICTURE_WAITS = (
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
# An address may be entered while another worker, who cannot see it yet, takes the last of its host.
MEND_BEST = (
    update(host)
    .where(
        host.c.crawl_id == bindparam("crawl"),
        host.c.best.is_(None),
        select(address.c.id).where(address.c.host_id == host.c.id, IS_WAITING).exists(),
    )
    .values(best=next_best)
)


class Totals(NamedTuple):
    """What all workers of a crawl have done, in earlier runs too."""

    waiting: int
    pages: int
    workers: int


class RemainingWork(NamedTuple):
    """What is left of a crawl to a worker that has nothing to do."""

    held: int
    """Addresses that other workers hold."""
    over: bool
    released: int
    """Pictures that wait from now on, for want of anything else."""


def totals(connection: Connection, crawl_id: int) -> Totals:
    """What waits and is stored of a crawl, and how many workers are at it."""
    sums = (func.coalesce(func.sum(worker.c.waiting), 0), func.coalesce(func.sum(worker.c.pages), 0))
    counted = select(*sums, func.count()).where(worker.c.crawl_id == crawl_id)
    waiting, pages, workers = connection.execute(counted).one()
    before = connection.execute(select(crawl.c.waiting, crawl.c.pages).where(crawl.c.id == crawl_id)).one()
    return Totals(max(0, int(before.waiting + waiting)), int(before.pages + pages), workers)


def remaining_work(connection: Connection, claimant: Claimant, pages: int) -> RemainingWork:
    """Whether a crawl with so many pages is over, which is written down; else what it waits for."""
    mine = select(worker.c.id).where(worker.c.crawl_id == claimant.crawl_id)
    held = select(func.count()).where(IS_HELD, address.c.worker.in_(mine))
    number = connection.execute(held).scalar_one()
    if number or not _nothing_waits(connection, claimant, pages):
        return RemainingWork(number, False, 0)
    if released := release_images(
        connection, recorded_sites(connection, claimant.crawl_id, claimant.pictures), claimant.pictures
    ):
        return RemainingWork(0, False, released)
    ended = update(crawl).where(crawl.c.id == claimant.crawl_id, crawl.c.ended_at.is_(None))
    connection.execute(ended.values(ended_at=time.time()))
    return RemainingWork(0, True, 0)


def is_full(claimant: Claimant, pages: int) -> bool:
    """Whether a crawl with so many pages has all it may have."""
    return claimant.max_pages is not None and pages >= claimant.max_pages


def _nothing_waits(connection: Connection, claimant: Claimant, pages: int) -> bool:
    """Whether no address waits that would still be asked for."""
    if is_full(claimant, pages) and not (claimant.pictures and picture_waits(connection, claimant.crawl_id)):
        return True  # pages wait on, until the crawl may have more of them
    return nothing_waits(connection, claimant.crawl_id, claimant.pictures)


def no_longer_waiting(connection: Connection, worker_id: int, keys: AddressKeys, urls: Iterable[str]) -> list[str]:
    """Those of some addresses that wait no more, nor are held by this worker."""
    by_key: dict[int, list[str]] = {}
    for url in urls:
        by_key.setdefault(keys(url), []).append(url)
    gone = or_(IS_DONE, IS_HELD & (address.c.worker != worker_id))
    found = select(address.c.key).where(address.c.key.in_(sorted(by_key)), gone)
    return [url for key in connection.execute(found).scalars() for url in by_key[key]]


def picture_waits(connection: Connection, crawl_id: int) -> bool:
    """Whether a picture of a crawl waits."""
    return connection.execute(PICTURE_WAITS, {"crawl": crawl_id}).first() is not None


def nothing_waits(connection: Connection, crawl_id: int, pictures: bool = True) -> bool:
    """Whether no address of a crawl waits, after hosts whose best was lost sight of have got it back.

    Without pictures these may wait.
    """
    mine = {"crawl": crawl_id}
    if pictures:
        return not something_waits(connection, crawl_id) and not connection.execute(MEND_BEST, mine).rowcount
    connection.execute(MEND_BEST, mine)
    return connection.execute(PAGE_WAITS, mine).first() is None


def something_waits(connection: Connection, crawl_id: int) -> bool:
    """Whether a host of a crawl is known to have addresses that wait."""
    waits = select(host.c.id).where(host.c.crawl_id == crawl_id, host.c.best.is_not(None)).limit(1)
    return connection.execute(waits).first() is not None


@dataclass(frozen=True)
class UnfinishedWork:
    """What is left to do, as a transaction sees it."""

    connection: Connection
    claimant: Claimant

    @property
    def is_full(self) -> bool:
        """Whether the round has all the pages it may have."""
        return is_full(self.claimant, totals(self.connection, self.claimant.crawl_id).pages)

    def is_unfinished(self, seeds: Collection[int]) -> bool:
        """Whether something waits or is held, or one of the seeds, by their keys, was never asked for."""
        mine, wants_pictures = self.claimant.crawl_id, self.claimant.pictures
        if self.is_full:
            ended = self.connection.execute(select(crawl.c.ended_at).where(crawl.c.id == mine)).scalar_one()
            return ended is None or self._has_pictures
        workers = select(worker.c.id).where(worker.c.crawl_id == mine)
        held = select(address.c.id).where(IS_HELD, address.c.worker.in_(workers)).limit(1)
        if self.connection.execute(held).first() is not None:
            return True
        if not nothing_waits(self.connection, mine, wants_pictures):
            return True
        if recorded_sites(self.connection, mine, wants_pictures):
            return True
        known = (select(func.count()).where(address.c.key.in_(part)) for part in in_chunks(sorted(seeds)))
        return sum(self.connection.execute(query).scalar_one() for query in known) < len(seeds)

    @property
    def has_failed_seeds(self) -> bool:
        """Whether a seed failed for a reason that may have passed, and may be asked for again."""
        again = (
            select(shared_example.c.id)
            .where(shared_example.c.crawl_id == self.claimant.crawl_id, shared_example.c.kind == "again")
            .limit(1)
        )
        return not self.is_full and self.connection.execute(again).first() is not None

    @property
    def _has_pictures(self) -> bool:
        """Whether an earlier run, or another worker, left pictures that this one asks for."""
        if not self.claimant.pictures:
            return False
        return picture_waits(self.connection, self.claimant.crawl_id) or bool(
            recorded_sites(self.connection, self.claimant.crawl_id)
        )
