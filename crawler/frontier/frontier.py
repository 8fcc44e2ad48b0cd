"""The in-memory frontier of one worker: decides which leased address is requested next.

The database holds the whole frontier. Each worker leases enough addresses from it for a few seconds and queues them
here. A lease is active while its request is sent and not answered. It ends with the result of its address, or when the
address is returned to the queue in the database.

The scheduler calls `take` for each request, and `finish`, `requeue` or `redirect` with its result. Every few seconds,
or sooner if `needs_batch`, it sends the committer a `batch`, and passes the reply, with new leases, to `apply_reply`.
Nothing here waits for the database.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from crawler.frontier.batch import Batch, BatchReply, LinkUpdates, Redirect, WorkerSample
from crawler.frontier.host_control import ADDRESSES_A_REQUEST, HostControl, return_lease
from crawler.frontier.host_limits import HostLimits, LimitSettings
from crawler.frontier.host_queues import HostQueues
from crawler.frontier.page_result import AddressKind, Candidate, Completion, FoundBy, Lease, PageResult
from crawler.frontier.put_off_rule import PatternUse, Usefulness
from crawler.frontier.seen_addresses import SeenAddresses
from crawler.frontier.site_patterns import PatternMemory
from crawler.outcomes import Code, Outcome
from crawler.topic.priorities import is_unlikely
from crawler.urls.address import address_of

SEEN_ADDRESSES = 200_000  # how many of the addresses seen last are not sent to the database again
ASKED_AFTER = 1_000  # one batch asks for at most this many addresses whether they are still queued
LINKS_AT_ONCE = 50_000  # no request is sent while more links than this are not committed yet
JOINING_SECONDS = 1.0  # a worker that joins waits this long before it claims, until the others have noticed it


@dataclass
class ActiveLease:
    """A lease whose request has been sent."""

    lease: Lease
    since: float
    """When the address was taken from the queue."""
    ready_at: float
    """The `ready_at` of its host's queue after the address was taken."""


class Frontier:
    """The addresses that one worker has leased."""

    def __init__(
        self,
        keys: Callable[[str, AddressKind], int],
        settings: LimitSettings,
        max_pages: int | None = None,
        count_outcome: Callable[[Outcome, int], None] = lambda outcome, by: None,
    ) -> None:
        self.keys = keys
        self.limits = HostLimits(settings)
        self.queues = HostQueues(self.limits)
        self.hosts = HostControl(self.queues, self._give_up)
        self.max_pages = max_pages
        self.pages = 0
        """Pages that this worker stored, or that are stored already and unchanged."""
        self.items = 0
        """Pages of this worker written to the item file: those that are new or changed."""
        self.all_pages = 0
        """Pages of all workers in this round."""
        self.waiting = 0
        """How many addresses are queued in the database."""
        self.unlikely = 0
        """How many of the waiting links are unlikely to lead to the topic."""
        self.held_by_others = 0
        """Addresses leased by other workers; counted when this worker is idle."""
        self.over = False
        """Whether the crawl has nothing left to do."""
        self.is_paused = False
        """Whether no request is to be sent until somebody resumes the crawl."""
        self.ended = 0
        """How many leases have ended."""
        self._count_outcome = count_outcome
        """Counts outcomes: of addresses without a request, and of what the committer did not store."""
        self._links_without_item: list[str] = []
        """Links whose leases have ended without a stored page since the last reply."""
        self._seen = SeenAddresses(SEEN_ADDRESSES)
        self.patterns = PatternMemory()
        self._active: dict[int, ActiveLease] = {}
        self._batch = Batch()
        self._redirects: dict[int, asyncio.Future[Lease | None]] = {}
        """The leases on the targets of redirects, for which the next reply is awaited, by the id of the old lease."""
        self._uncommitted_links = 0
        """How many links are in this batch and in the one being committed."""
        self._requests_since_batch = 0
        self._low_hosts: set[int] = set()
        """The ids of hosts for which the last batch claims more addresses."""
        self._claims_from = 0.0
        """When this worker begins to claim: other workers, if it joins any, first return some of their hosts."""
        self._needs_batch = True
        self._committing_pages = 0
        """How many pages are in the batch being committed."""
        self._committing_items = 0
        """How many items are in the batch being committed."""

    def __len__(self) -> int:
        """The number of queued addresses, in memory and in the database."""
        return self.waiting + len(self.queues)

    @property
    def links_left(self) -> int:
        """How many of the queued addresses the crawl may still request, without links that are unlikely to lead to the
        topic; as far as this worker knows.
        """
        likely = len(self) - self.unlikely
        if self.max_pages is None:
            return likely
        return min(likely, self.max_pages - self.all_pages)

    @property
    def full(self) -> bool:
        """Whether the crawl has reached `max_pages`."""
        return self.max_pages is not None and self.all_pages >= self.max_pages

    @property
    def _pages_are_scarce(self) -> bool:
        """Whether so few pages are left before `max_pages` that all of them may be in memory already."""
        most_in_memory = ADDRESSES_A_REQUEST * self.limits.settings.requests * self.limits.workers
        return self.max_pages is not None and self.max_pages - self.all_pages <= most_in_memory

    @property
    def active(self) -> list[ActiveLease]:
        """The leases whose requests have been sent, oldest first."""
        return list(self._active.values())

    @property
    def needs_batch(self) -> bool:
        """Whether a batch is needed now, before the usual interval has passed."""
        return self._needs_batch or bool(self._batch.redirects)

    def images_left(self) -> list[str]:
        """The hosts of the images that are left, most images first; empty while pages are queued or requested.

        Only the addresses in memory are looked at: the database leases images after pages, so if only images are in
        memory, only images are left.
        """
        if any(active.lease.is_page for active in self.active):
            return []
        return [name for name, _ in self.queues.images_left().most_common()]

    def seen(self, urls: Iterable[str], kind: AddressKind = AddressKind.LINK) -> set[str]:
        """Those of the addresses that were seen lately as this kind: as links, images, or pages behind an image."""
        return self._seen.of(urls, kind)

    def update_priorities(self, renewed: Mapping[str, int]) -> None:
        """Give queued addresses new priorities: in memory at once, in the database with the next batch."""
        self._batch.priorities.update(renewed)
        urls_in_memory = self.queues.update_priorities(renewed)
        urls_in_memory.update(active.lease.candidate.url for active in self._active.values())
        for url, priority in renewed.items():
            if url not in urls_in_memory:  # then the database has the address, and gets the priority with the batch
                self.hosts.pending.add(address_of(url).host, priority)

    def share_model(self, summary: str, model: str) -> None:
        """Save the topic model with the next batch, as JSON: a summary for people, and the model for other workers."""
        self._batch.learned = summary, model

    def add_samples(self, *samples: WorkerSample) -> None:
        """Save consecutive samples with the next batch."""
        self._batch.samples += samples

    def ask_after(self, urls: Iterable[str]) -> None:
        """Ask with the next batch which of these addresses are no longer queued."""
        self._batch.asked_after = (*self._batch.asked_after, *urls)[-ASKED_AFTER:]

    def take(self, now: float) -> Lease | None:
        """The best lease whose host may be requested now, or None; it is active from now on."""
        if self.is_paused:
            return None
        if self._uncommitted_links > LINKS_AT_ONCE:
            self._needs_batch = True
            return None

        while (lease := self.queues.take(now, self.hosts.better_is_pending)) is not None:
            self._requests_since_batch += 1
            name = address_of(lease.candidate.url).host
            queue = self.queues.of(lease)
            self._active[lease.id] = ActiveLease(lease, now, queue.ready_at)
            self._needs_batch = self._needs_batch or (queue.has_more and self.hosts.wants_more(name))

            # Return a link that has become unlikely to lead to the topic, put off an address whose pattern brings
            # nothing, and return an address that should come later.
            if _has_become_unlikely(lease):
                self._return_to_queue(lease)
                continue
            pattern = self.patterns.pattern_to_put_off(lease, self.seen)
            if pattern:
                self._put_off(lease, pattern)
                continue
            priority = self.patterns.priority(lease)
            if priority >= lease.candidate.priority:
                break
            candidate = replace(lease.candidate, priority=priority)
            self._return_to_queue(replace(lease, candidate=candidate, has_new_priority=True))

        self._needs_batch = self._needs_batch or bool(self.queues.held_back)
        if lease is not None:
            return lease
        # If nothing is queued, a batch with news is sent at once, as its reply may bring leases on new links. Otherwise
        # the next batch comes in time.
        has_news = bool(self._batch.ended or self._batch.returned)
        self._needs_batch = self._needs_batch or (not self.queues and has_news)
        return None

    def requeue(self, lease_id: int, request: Any, refused: bool = False) -> bool:
        """Queue the address of a sent request again; returns whether its lease was active.

        An address that its host `refused` waits until the host has answered another request, if there is one soon. So a
        host that always refuses one page is not mistaken for a host that refuses every page.
        """
        active = self._active.get(lease_id)
        if active is None:
            return False
        self._deactivate(lease_id)
        put = self.queues.put_refused if refused else self.queues.put
        put(replace(active.lease, request=request))
        return True

    def finish(self, lease_id: int, result: PageResult) -> bool:
        """End a lease with its result; returns whether it was active.

        The links of a page are not remembered if its lease was lost: the page will be requested again.
        """
        active = self._active.get(lease_id)
        if active is None:
            return False
        if not result.was_requested:
            self._undo_interval(active)
        self._deactivate(lease_id)
        self.ended += 1

        # New links and priorities.
        if result.priorities:
            self.update_priorities(result.priorities)
        links = tuple(self._seen.new(result.links, self._batch.priorities))
        for link in links:
            if link.sight is None:  # images, and pages behind images, are requested later
                self.hosts.pending.add(address_of(link.url).host, link.priority)
        self._uncommitted_links += len(links)

        # Evidence about images and patterns.
        if result.image_counts is not None:
            self._batch.add_evidence(active.lease.site_id, result.image_counts)
        use = result.pattern_use or self.patterns.use(active.lease, result, links)
        if use is not None:
            self.patterns.count(active.lease, use)
        self._batch.links_that_changed_patterns |= self.patterns.learn_names(links)
        self._end(active.lease, replace(result, links=links, priorities={}, image_counts=None, pattern_use=use))
        return True

    def _put_off(self, lease: Lease, pattern: str) -> None:
        """End the lease on an address without a request, as addresses of its pattern bring nothing."""
        # All patterns are counted together, but the database gets the pattern of each address.
        self._count_outcome(Outcome(Code.UNPRODUCTIVE), 1)
        outcome = Outcome(Code.UNPRODUCTIVE, pattern)
        self.finish(lease.id, PageResult(outcome, pattern_use=PatternUse(pattern, Usefulness.PUT_OFF)))

    def _return_to_queue(self, lease: Lease) -> None:
        """Return an address to the database without a request, with its new priority."""
        self._undo_interval(self._active[lease.id])
        self._deactivate(lease.id)
        return_lease(lease, self._batch)

    def _undo_interval(self, active: ActiveLease) -> None:
        """Let the host be requested at once again, as no request was sent for this lease."""
        queue = self.queues.hosts.get(address_of(active.lease.candidate.url).host)
        # A later request to the host has set another time, which stays.
        if queue is not None and queue.ready_at == active.ready_at:
            queue.ready_at = active.since

    def _give_up(self, lease: Lease, outcome: Outcome) -> None:
        """End a lease without a request."""
        self._count_outcome(outcome, 1)
        self._end(lease, PageResult(outcome))

    def _end(self, lease: Lease, result: PageResult) -> None:
        """Add an ended lease to the batch."""
        self._batch.ended.append(Completion(lease, result))
        if result.record is None and lease.candidate.has_learned_priority:
            self._links_without_item.append(lease.candidate.requested or lease.candidate.url)

    async def redirect(self, lease_id: int, candidate: Candidate) -> Lease | None:
        """Replace a lease by a lease on the target of a redirect.

        Returns the new lease; None if the target is known already, or may not be requested now.
        """
        active = self._active.get(lease_id)
        if active is None:
            return None
        if self.keys(candidate.url, candidate.kind) == self.keys(active.lease.candidate.url, candidate.kind):
            return replace(active.lease, candidate=candidate)  # another spelling of the same address
        self._redirects[lease_id] = asyncio.get_running_loop().create_future()
        self._batch.redirects.append(Redirect(active.lease, candidate))
        return await self._redirects[lease_id]

    def batch(self, now: float) -> Batch:
        """The next batch: what happened since the last one, and how much is claimed."""
        self.hosts.report(self._batch, now, self._pages_are_scarce)
        batch = self._batch
        self._batch = Batch()

        # Added, not set: if no reply to a batch comes before the crawl stops, the next reply counts for both batches.
        self._committing_pages += sum(1 for completion in batch.ended if completion.brought_page)
        self._committing_items += sum(1 for completion in batch.ended if completion.brought_item)

        batch.idle = not self.queues.hosts and not self._active and not batch.redirects
        if now >= self._claims_from and not self.is_paused:
            batch.demand = self.hosts.claim_request(now, self._requests_since_batch)
        self._low_hosts = set(batch.demand.low_hosts) if batch.demand else set()
        self._needs_batch = False
        self._requests_since_batch = 0
        return batch

    def apply_reply(self, reply: BatchReply, now: float) -> LinkUpdates:
        """Apply the reply to a batch; returns the news about links, for the topic."""
        # Other workers. If this worker has just joined them, it waits until they have returned hosts; if others have
        # joined, it hands over hosts to them. A worker has just joined if none of its leases has ended.
        workers_before = self.limits.workers
        self.limits.workers = reply.workers
        others_joined = reply.workers > workers_before
        if others_joined and workers_before == 1 and not self.ended:
            self._claims_from = now + JOINING_SECONDS
        elif others_joined and self.ended and self.limits.keeps_hosts:
            self.hosts.hand_over(workers_before, reply.workers, now)

        # The counts of the crawl.
        self._count_committed()
        self._uncommitted_links = sum(len(completion.result.links) for completion in self._batch.ended)
        self.waiting = reply.waiting
        self.unlikely = reply.unlikely
        self.all_pages = reply.pages
        self.held_by_others = reply.held_by_others
        self.over = reply.over
        for outcome, count in (reply.refused + reply.left_out).items():
            self._count_outcome(outcome, count)

        # The new leases.
        self.hosts.pending.received()
        for _, queue in self.queues.items():
            queue.has_more = queue.host_id in reply.hosts_with_more
        self.queues.release_held_back()
        for lease in reply.leases:
            self._queue_lease(lease, reply, now)
        # If the last batch claimed addresses of a host and there are none, only those that the host refused remain:
        # these are requested again.
        for name, queue in self.queues.items():
            if queue.refused and not queue.waiting and not queue.has_more and queue.host_id in self._low_hosts:
                self.queues.requeue_refused(name)
        self.patterns.update(reply.leases, reply.patterns, self._batch.ended)
        for lease_id, target in reply.redirected.items():
            self._follow_redirect(lease_id, target)

        # The news for the topic.
        leased = [
            lease.candidate
            for lease in reply.leases
            if lease.candidate.via is FoundBy.LINK and lease.candidate.has_learned_priority
        ]
        no_longer_queued = (*self._links_without_item, *reply.no_longer_queued)
        self._links_without_item = []
        return LinkUpdates(
            tuple((candidate.requested or candidate.url, candidate.priority) for candidate in leased), no_longer_queued
        )

    def _count_committed(self) -> None:
        """Count the pages and items of the batch that was committed."""
        self.pages += self._committing_pages
        self._committing_pages = 0
        self.items += self._committing_items
        self._committing_items = 0

    def _queue_lease(self, lease: Lease, reply: BatchReply, now: float) -> None:
        """Queue a leased address, unless its host was closed meanwhile."""
        name = address_of(lease.candidate.url).host
        outcome = self.limits.closed.get(name)
        if outcome:
            self._give_up(lease, outcome)
            # The claim has reserved the host for this worker, which does not keep it: other workers may claim it.
            self._batch.rests_of_dropped_hosts.setdefault(lease.host_id, 0.0)
            return
        self.queues.put(lease).has_more = lease.host_id in reply.hosts_with_more
        if lease.host_id in reply.rests:
            self.limits.rest(name, now + reply.rests[lease.host_id])

    def release(self) -> None:
        """Stop waiting for redirect targets: no reply will come."""
        for future in self._redirects.values():
            if not future.done():
                future.set_result(None)
        self._redirects = {}

    def forget(self, committed: bool = False) -> None:
        """Drop all leases, which have been returned, and all that is not committed except the samples.

        `committed` says whether the last batch was committed.
        """
        if committed:
            self._count_committed()
        self.release()
        self._active = {}
        self.queues = HostQueues(self.limits)
        self.hosts.forget(self.queues)
        self._batch = Batch(samples=self._batch.samples)
        self._needs_batch = True
        self._uncommitted_links = 0
        self._committing_pages = 0
        self._committing_items = 0
        self._seen.clear()

    def _follow_redirect(self, lease_id: int, lease: Lease | None) -> None:
        """Replace the lease of a redirected request by the lease on the target."""
        future = self._redirects.pop(lease_id, None)
        active = self._active.get(lease_id)
        if lease is not None and active is not None:
            self._deactivate(lease_id)
            self.queues.of(lease).active += 1
            self._active[lease.id] = replace(active, lease=lease)
        if future is not None and not future.done():
            future.set_result(lease)

    def _deactivate(self, lease_id: int) -> None:
        """Remove a lease from the active leases: its request has ended, or was not sent."""
        lease = self._active.pop(lease_id).lease
        self.queues.request_ended(address_of(lease.candidate.url).host)


def _has_become_unlikely(lease: Lease) -> bool:
    """Whether a leased link is no longer likely to lead to the topic; never true of stored pages and retries."""
    is_new_link = lease.candidate.has_learned_priority and lease.history is None and lease.request is None
    return is_new_link and is_unlikely(lease.candidate.priority) and not lease.is_try
