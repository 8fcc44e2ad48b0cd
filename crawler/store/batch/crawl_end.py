"""Decides when a crawl ends: counts what all workers did, and what remains in the round.

A crawl ends when no address is queued or leased that it would request, and no recorded address is left to be queued:
images, and pages that only an image links to, wait in this state until they are judged (images.py). Queued links may
remain: pages beyond `max_pages`, and links that are unlikely to lead to the topic, on hosts without further tries for
such links (host_tries.py).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, bindparam, func, or_, select, update

from crawler.frontier.batch import Control
from crawler.frontier.page_result import LessonKind
from crawler.store.batch.addresses import AddressKeys
from crawler.store.batch.claims import Claimant
from crawler.store.batch.host_tries import MAY_CLAIM
from crawler.store.batch.hosts import NEXT_BEST, recorded_sites
from crawler.store.batch.images import release_images
from crawler.store.crawl_tables import (
    ADDRESSES_WITH_HOSTS,
    IMAGE_KIND,
    IS_DONE,
    IS_HELD,
    IS_LIKELY,
    IS_WAITING,
    address,
    crawl,
    host,
    worker,
)
from crawler.store.database import in_chunks
from crawler.store.page_tables import shared_example
from crawler.topic.priorities import BEHIND_IMAGE

ADDRESS_WAITS = (
    select(address.c.id)
    .join(host, host.c.id == address.c.host_id)
    .where(host.c.crawl_id == bindparam("crawl"), IS_WAITING)
    .limit(1)
)
"""A queued address of a crawl."""
IMAGE_WAITS = ADDRESS_WAITS.where(address.c.kind == IMAGE_KIND)
PAGE_WAITS = ADDRESS_WAITS.where(
    host.c.best.is_not(None), address.c.kind != IMAGE_KIND, IS_LIKELY | (host.c.tries < bindparam("tries"))
)
"""A queued address of a page that is likely to lead to the topic, or whose host has tries left."""
REPAIR_BEST = (
    update(host)
    .where(
        host.c.crawl_id == bindparam("crawl"),
        host.c.best.is_(None),
        select(address.c.id).where(address.c.host_id == host.c.id, IS_WAITING).exists(),
    )
    .values(best=NEXT_BEST)
)
"""Sets the best priorities that hosts with queued addresses lack: while one worker leases the last address of a host,
another may add an address that the first cannot see yet.
"""


class Totals(NamedTuple):
    """Counts of all workers of a crawl, earlier runs included."""

    waiting: int
    unlikely: int
    """How many of the queued links are unlikely to lead to the topic, when they were last counted."""
    pages: int
    workers: int
    control: Control


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """What remains of a crawl, for a worker with nothing to do."""

    held: int
    """How many addresses other workers have leased."""
    over: bool
    """Whether nothing remains."""
    released: int
    """How many recorded addresses were queued now because nothing else was."""


class WaitingLinkCounts(NamedTuple):
    """Counts of the queued links that a crawl may end without requesting."""

    unlikely: int
    """Links that wait because they are unlikely to lead to the topic."""
    behind_images: int
    """Links that wait until the images are judged, after all pages."""

    def requestable(self, queued: int) -> int:
        """How many of the `queued` addresses the crawl would still request: all except these links.

        A crawl that ends although it would request some has reached `max_pages`.

        >>> WaitingLinkCounts(unlikely=3, behind_images=2).requestable(6), WaitingLinkCounts(3, 2).requestable(5)
        (1, 0)
        """
        return max(0, queued - self.unlikely - self.behind_images)


TOTALS_OF_WORKERS = select(
    func.coalesce(func.sum(worker.c.waiting), 0),
    func.coalesce(func.sum(worker.c.pages), 0),
    func.count().filter(worker.c.batch > 0),
).where(worker.c.crawl_id == bindparam("crawl"))
"""The sums of the workers of a crawl, and the number of workers. A worker is counted from its first batch on: when the
number grows, the others return hosts for the new worker, which cannot claim hosts before.
"""
TOTALS_OF_CRAWL = select(crawl.c.waiting, crawl.c.unlikely, crawl.c.pages, crawl.c.control).where(
    crawl.c.id == bindparam("crawl")
)
"""The sums of the workers that have left a crawl, and what a user told the others to do."""


def totals(connection: Connection, crawl_id: int) -> Totals:
    """How many addresses of a crawl are queued, how many pages are stored, and how many workers it has."""
    waiting, pages, workers = connection.execute(TOTALS_OF_WORKERS, {"crawl": crawl_id}).one()
    of_crawl = connection.execute(TOTALS_OF_CRAWL, {"crawl": crawl_id}).one()
    # If a worker leaves between the two statements, both contain its counts, and the sum may be below 0.
    queued = max(0, int(of_crawl.waiting + waiting))
    return Totals(
        waiting=queued,
        unlikely=min(of_crawl.unlikely, queued),
        pages=int(of_crawl.pages + pages),
        workers=workers,
        control=Control(of_crawl.control),
    )


def is_full(claimant: Claimant, pages: int) -> bool:
    """Whether a crawl with this many pages has reached `max_pages`."""
    return claimant.max_pages is not None and pages >= claimant.max_pages


def end_if_done(connection: Connection, claimant: Claimant, pages: int) -> RemainingWork:
    """End a crawl with this many pages if nothing remains of it; returns what remains.

    If no address is queued or leased that the crawl would request, its recorded addresses are queued.
    """
    held = connection.execute(select(func.count()).where(*_is_held(claimant))).scalar_one()
    if held or _look_for_requestable(connection, claimant, pages):
        return RemainingWork(held=held, over=False, released=0)
    recorded = recorded_sites(connection, claimant.crawl_id, claimant.images)
    released = release_images(connection, recorded, claimant.images)
    if released:
        return RemainingWork(held=0, over=False, released=released)
    ended = update(crawl).where(crawl.c.id == claimant.crawl_id, crawl.c.ended_at.is_(None))
    connection.execute(ended.values(ended_at=time.time(), **waiting_links(connection, claimant)._asdict()))
    return RemainingWork(held=0, over=True, released=0)


def is_unfinished(connection: Connection, claimant: Claimant, seeds: Collection[int]) -> bool:
    """Whether a started crawl has work left: an address is queued or leased, or a seed, given by key, is new."""
    # A crawl that has reached `max_pages` has only images left, or was interrupted before it ended.
    pages = totals(connection, claimant.crawl_id).pages
    has_recorded = bool(recorded_sites(connection, claimant.crawl_id, claimant.images))
    if is_full(claimant, pages):
        ended_at = select(crawl.c.ended_at).where(crawl.c.id == claimant.crawl_id)
        has_images = claimant.images and (has_recorded or image_waits(connection, claimant.crawl_id))
        return has_images or connection.execute(ended_at).scalar_one() is None

    # Any other crawl may have leased, recorded or queued addresses, or new seeds.
    held = connection.execute(select(address.c.id).where(*_is_held(claimant)).limit(1)).first()
    if held is not None or has_recorded or _look_for_requestable(connection, claimant, pages):
        return True
    known_seeds = 0
    for part in in_chunks(sorted(seeds)):
        known_seeds += connection.execute(select(func.count()).where(address.c.key.in_(part))).scalar_one()
    return known_seeds < len(seeds)


def has_failed_seeds(connection: Connection, claimant: Claimant) -> bool:
    """Whether a seed failed for a temporary reason, and the crawl is not full."""
    is_failed_seed = shared_example.c.crawl_id == claimant.crawl_id, shared_example.c.kind == LessonKind.SEED_AGAIN
    if connection.execute(select(shared_example.c.id).where(*is_failed_seed).limit(1)).first() is None:
        return False
    return not is_full(claimant, totals(connection, claimant.crawl_id).pages)


def _is_held(claimant: Claimant) -> tuple[ColumnElement[bool], ...]:
    """The conditions for addresses that workers of the crawl have leased."""
    return IS_HELD, address.c.worker.in_(select(worker.c.id).where(worker.c.crawl_id == claimant.crawl_id))


def _look_for_requestable(connection: Connection, claimant: Claimant, pages: int) -> bool:
    """Look for a queued address that this crawl, with this many pages, still requests; returns whether there is one.

    Sets the best priorities that hosts lack, without which no worker would claim from these hosts.
    """
    claimant = claimant.with_tries(connection, pages)
    of_crawl = {"crawl": claimant.crawl_id}
    if is_full(claimant, pages) and not (claimant.images and image_waits(connection, claimant.crawl_id)):
        return False  # queued pages are left to a run with a larger max_pages
    if claimant.images:  # then the best priorities of hosts suffice, as any kind of address is requested
        is_queued = something_waits(connection, claimant.crawl_id, claimant.tries)
        return is_queued or bool(connection.execute(REPAIR_BEST, of_crawl).rowcount)
    connection.execute(REPAIR_BEST, of_crawl)
    return connection.execute(PAGE_WAITS, of_crawl | {"tries": claimant.tries}).first() is not None


def no_longer_waiting(connection: Connection, worker_id: int, keys: AddressKeys, urls: Iterable[str]) -> list[str]:
    """The addresses that are done or leased by another worker."""
    by_key: dict[int, list[str]] = {}
    for url in urls:
        by_key.setdefault(keys(url), []).append(url)
    is_no_longer = or_(IS_DONE, IS_HELD & (address.c.worker != worker_id))
    keys_no_longer_waiting = select(address.c.key).where(address.c.key.in_(sorted(by_key)), is_no_longer)
    return [url for key in connection.execute(keys_no_longer_waiting).scalars() for url in by_key[key]]


def image_waits(connection: Connection, crawl_id: int) -> bool:
    """Whether an image of a crawl is queued."""
    return connection.execute(IMAGE_WAITS, {"crawl": crawl_id}).first() is not None


def something_waits(connection: Connection, crawl_id: int, tries: int) -> bool:
    """Whether a host of a crawl has queued addresses that may be claimed, by priority and tries (host_tries.py)."""
    waits = select(host.c.id).where(host.c.crawl_id == crawl_id, MAY_CLAIM).limit(1)
    return connection.execute(waits, {"tries": tries}).first() is not None


def waiting_links(connection: Connection, claimant: Claimant) -> WaitingLinkCounts:
    """How many queued links are unlikely to lead to the topic, or behind images; counting millions takes a second."""
    counts = func.count().filter(~IS_LIKELY), func.count().filter(address.c.priority == BEHIND_IMAGE)
    # Both kinds have the lowest priorities: of each host's queued addresses, only the end of the index is read.
    is_low = host.c.crawl_id == claimant.crawl_id, IS_WAITING, address.c.priority <= BEHIND_IMAGE
    sums = select(*counts).select_from(ADDRESSES_WITH_HOSTS).where(*is_low)
    unlikely, behind_images = connection.execute(sums).one()
    return WaitingLinkCounts(unlikely if claimant.limits_tries else 0, behind_images)


def count_waiting_links(connection: Connection, claimant: Claimant) -> WaitingLinkCounts:
    """Count the queued links that are unlikely to lead to the topic, or behind images; save the counts."""
    links = waiting_links(connection, claimant)
    has_changed = or_(crawl.c.unlikely != links.unlikely, crawl.c.behind_images != links.behind_images)
    changed_row = update(crawl).where(crawl.c.id == claimant.crawl_id, has_changed)
    connection.execute(changed_row.values(**links._asdict()))
    return links
