"""The frontier: which address comes next, of those that this worker has at hand.

The database holds the frontier itself; a few seconds' worth of it is claimed and waits here (`queues.py`). An address
taken is lent under a number, its lease, until it is finished or given back. What happened is handed to the ledger in
batches; what the ledger answers is what comes next.

Nothing here waits for the database. The queues are short whatever waits there, so memory does not grow with the crawl.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from crawler.frontier.host_limits import HostLimits, LatencyMeter, LimitSettings
from crawler.frontier.host_queues import HostQueue, HostQueues
from crawler.frontier.messages import (
    AddressKeys,
    Batch,
    BatchReply,
    Candidate,
    ClaimRequest,
    Completion,
    Lease,
    PageResult,
    RecentNumbers,
    Redirect,
    WorkerSample,
)
from crawler.frontier.page_budget import NEAR, PageBudget, PendingPriorities, is_poor
from crawler.noise.evidence import Evidence
from crawler.outcomes import Code, Outcome
from crawler.urls.parsing import host

REMEMBERED = 200_000  # addresses seen last, for which the database need not be asked
AWAY = 2.0  # a host that is not ready within these seconds goes back to the database
PASSED_OVER = 10.0  # seconds in which a host could be asked and is not, until it is asked for what it refused
MOST_OF_A_HOST = 128
ASKED_AFTER = 1_000  # addresses a batch
LINKS_AT_ONCE = 50_000  # that wait to be committed: nothing more is asked for until they are
JOINING = 1.0  # seconds in which the other workers learn of a new one


@dataclass
class ActiveLease:
    """An address on its way."""

    lease: Lease
    since: float
    turn: float
    """When its host may be asked again, as this one was taken."""


class LinkUpdates(NamedTuple):
    """What an answer of the ledger means for the links that the topic has priced."""

    came: tuple[tuple[str, int], ...]
    """Links that were lent, and their priorities."""
    no_longer: tuple[str, ...]
    """Links that wait no more, and those of which nothing came."""


def _count_nothing(outcome: Outcome, by: int = 1) -> None:
    """What is given up unasked is not counted."""


class Frontier:
    """What one worker has at hand."""

    def __init__(
        self,
        keys: AddressKeys,
        pace: LimitSettings,
        max_pages: int | None = None,
        count: Callable[[Outcome, int], None] = _count_nothing,
    ) -> None:
        self.keys = keys
        self.limits = HostLimits(pace)
        self.queues = HostQueues(self.limits, None if max_pages is None else PageBudget())
        self.max_pages = max_pages
        self.pages = 0
        """Those this worker stored; `all_pages` are those of all workers, and of earlier runs."""
        self.items = 0
        """Those of them that are items; fewer than pages, where some are as they were."""
        self.all_pages = 0
        self.waiting = 0
        self.held_by_others = 0
        self.over = False
        self.ended = 0
        """How many leases ended, whichever way."""
        self._count = count
        """Told of addresses that are given up unasked."""
        self._no_longer: list[str] = []
        self._recent = RecentNumbers(REMEMBERED)
        self._work: dict[int, ActiveLease] = {}
        self._batch = Batch()
        self._pictures: dict[int, Evidence] = {}
        """What the pages of the batch show of pictures, by their sites."""
        self._moves: dict[int, asyncio.Future[Lease | None]] = {}
        self._links = 0
        """How many links are in the batch, or in the one that is being committed."""
        self._asked_lately = 0
        self._asked_for: set[int] = set()
        """Hosts at hand of which more was asked for."""
        self._quiet_until = 0.0
        self._needs_batch = True
        self._committing = self._committing_items = 0
        """How many pages are in the batch that is being committed, and how many items."""
        self._pending = PendingPriorities()
        self.latency = LatencyMeter()
        """What is heard of hosts."""

    def __len__(self) -> int:
        """How many addresses wait, here or in the database."""
        return self.waiting + len(self.queues)

    @property
    def workers(self) -> int:
        """How many workers are at this crawl."""
        return self.limits.workers

    @property
    def full(self) -> bool:
        """Whether the crawl has all the pages it may have."""
        return self.max_pages is not None and self.all_pages >= self.max_pages

    @property
    def active(self) -> list[ActiveLease]:
        """What is on its way, the longest first."""
        return list(self._work.values())

    @property
    def needs_batch(self) -> bool:
        """Whether a batch should be committed now, rather than when its time comes."""
        return self._needs_batch or bool(self._batch.moves)

    def __contains__(self, url: str) -> bool:
        """Whether an address is among those seen last."""
        return url_hash(url) in self._recent

    def has_seen(self, url: str, sort: str) -> bool:
        """Whether an address is among those seen last as an image, or as a page behind a picture."""
        return url_hash(url, sort) in self._recent

    def update_priorities(self, renewed: Mapping[str, int]) -> None:
        """Give addresses that wait new priorities, here at once and in the database with the next batch."""
        self._batch.priorities.update(renewed)
        here = self.queues.update_priorities(renewed)
        here.update(work.lease.candidate.url for work in self._work.values())
        for url, priority in renewed.items():
            if url not in here:
                self._pending.found.add(host(url), priority)

    def learned(self, summary: str, learned: str) -> None:
        """What this worker has learned of where the topic's pages are, as JSON for people and for others."""
        self._batch.learned = summary, learned

    def add_samples(self, *samples: WorkerSample) -> None:
        """What this worker did lately, one after the other up to now; it is kept with the next batch."""
        self._batch.samples += samples

    def ask_after(self, urls: Iterable[str]) -> None:
        """Ask with the next batch whether addresses still wait; those that do not come with the news."""
        self._batch.asked_after = (*self._batch.asked_after, *urls)[-ASKED_AFTER:]

    def take(self, now: float) -> Lease | None:
        """Lend the best address of the hosts that are ready, or None."""
        if self._links > LINKS_AT_ONCE:
            self._needs_batch = True
            return None
        budget = self.queues.budget
        lease = self.queues.take(now, self._better_comes, self._pending.best_page if budget else 0)
        self._needs_batch = (
            self._needs_batch or bool(self.queues.held_back) or (budget is not None and budget.needs_batch)
        )
        if lease is not None:
            self._lend(lease, now)
            return lease
        # What ended may lead on; where nothing did, the next batch comes in its own time.
        self._needs_batch = self._needs_batch or (not self.queues and bool(self._batch.ended))
        return None

    def ready_in(self, now: float) -> float | None:
        """In how many seconds a resting host is ready, or None when none rests."""
        return self.queues.ready_in(now)

    def closed(self, url: str) -> Outcome | None:
        """Why the host of an address is asked for nothing more, if it is not."""
        code = self.limits.closed.get(host(url))
        return Outcome(code) if code else None

    def requeue(self, lease_id: int, load: Any, refused: bool = False) -> bool:
        """Let a lent address wait again here, with what it is asked by; whether it was lent.

        What the host refused waits until the host answers something else, if there is anything that is soon asked
        for: so a page that is always refused is not taken for a host that refuses every page.
        """
        work = self._work.get(lease_id)
        if work is None:
            return False
        self._return(lease_id)
        put = self.queues.put_refused if refused else self.queues.put
        put(work.lease._replace(load=load))
        return True

    def finish(self, lease_id: int, result: PageResult) -> bool:
        """End a lease with its result; whether it was open.

        What a page leads to that is no longer held here is not remembered either: it will be found again.
        """
        work = self._work.get(lease_id)
        if work is None:
            return False
        if result.is_noise:
            self._ask_at_once(work)
        self._return(lease_id)
        self.ended += 1
        if result.priorities:
            self.update_priorities(result.priorities)
        links = tuple(self._new(result.links))
        for link in links:
            if link.sight is None:  # else it comes in its own time
                self._pending.found.add(host(link.url), link.priority)
        self._links += len(links)
        if result.pictures is not None:
            self._pictures.setdefault(work.lease.site_id, Evidence()).add(result.pictures)
        self._end(work.lease, replace(result, links=links, priorities={}, pictures=None))
        return True

    def _new(self, links: Iterable[Candidate]) -> Iterator[Candidate]:
        """Those links that are new, and those of which a sitemap says something new, at their latest priorities."""
        for link in links:
            if self._recent.add(url_hash(link.url, link.sort)) or link.lastmod is not None:
                price = self._batch.priorities.get(link.url) if link.has_learned_priority else None
                yield link if price is None else link._replace(priority=price)

    def _ask_at_once(self, work: ActiveLease) -> None:
        """Let the host of what was refused unasked be asked at once for something else."""
        queue = self.queues.hosts.get(host(work.lease.candidate.url))
        if queue is not None and queue.ready_at == work.turn:
            queue.ready_at = work.since

    def _give_up(self, lease: Lease, code: Code) -> None:
        """End a lease that was never asked for."""
        self._count(Outcome(code), 1)
        self._end(lease, PageResult(Outcome(code)))

    def _end(self, lease: Lease, result: PageResult) -> None:
        self._batch.ended.append(Completion(lease, result))
        if result.record is None and lease.candidate.has_learned_priority:
            self._no_longer.append(lease.candidate.requested or lease.candidate.url)

    async def move(self, lease_id: int, candidate: Candidate) -> Lease | None:
        """The lease of where a redirect leads, in place of the old one, or None when that is known already."""
        work = self._work.get(lease_id)
        if work is None:
            return None
        if self.keys(candidate.url, candidate.kind) == self.keys(work.lease.candidate.url, candidate.kind):
            return work.lease._replace(candidate=candidate)  # another spelling of the same
        self._moves[lease_id] = asyncio.get_running_loop().create_future()
        self._batch.moves.append(Redirect(work.lease, candidate))
        return await self._moves[lease_id]

    def rest(self, name: str, until: float) -> None:
        """Ask a host for nothing before this time."""
        self.limits.rest(name, until)
        if name in self.queues.hosts:
            self._batch.rests[self.queues.hosts[name].host_id] = until

    def host_recovered(self, name: str) -> None:
        """Ask a host again for what it refused: it has answered something else."""
        if name in self.queues.hosts:
            self.queues.requeue_refused(name)

    def rests(self, name: str, now: float) -> bool:
        """Whether a host is to be asked again, but not now."""
        return name not in self.limits.closed and self.limits.rests_until(name) > now

    def slow(self, name: str, interval: float) -> None:
        """Ask a host at most once in so many seconds."""
        self.limits.slow(name, interval)
        if name in self.queues.hosts:
            self._batch.crawl_delays[self.queues.hosts[name].host_id] = interval

    def interval(self, name: str) -> float:
        """Seconds from one request to a host to the next."""
        return self.limits.interval(name)

    def answered(self, name: str, seconds: float) -> None:
        """Note that a host has answered, after so many seconds."""
        if name in self.queues.hosts:
            self.latency.hear(self.queues.hosts[name].host_id, name, seconds)

    def close(self, name: str, code: Code = Code.HOST_CLOSED) -> int:
        """Ask a host for nothing more; how many of its addresses at hand are given up."""
        self.limits.closed[name] = self._batch.closed[name] = code
        queue = self.queues.hosts.get(name)
        if queue:
            self.queues.requeue_refused(name)
        given_up = [lease for _, _, lease in queue.waiting] if queue else []
        if given_up:
            self.queues.remove(name, {lease.id for lease in given_up})
        for lease in given_up:
            self._give_up(lease, code)
        return len(given_up)

    def batch(self, now: float) -> Batch:
        """What happened since the last batch, and how much can be taken."""
        self._pending.ask()
        for name, queue in self.queues.items():
            self._tidy(name, queue, now)
        batch, self._batch = self._batch, Batch()
        pictures, self._pictures = self._pictures, {}
        batch.pictures = {site_id: counts.record() for site_id, counts in pictures.items()}
        batch.latencies = self.latency.tell(now, self.limits.interval)
        batch.rests = {host_id: max(0.0, until - now) for host_id, until in batch.rests.items()}
        # Of one whose answer nobody waited for, because the crawl is to stop, they are in there still.
        self._committing += sum(1 for one in batch.ended if one.is_page)
        self._committing_items += sum(1 for one in batch.ended if one.is_item)
        batch.idle = not self.queues.hosts and not self._work and not batch.moves
        batch.demand = self._demand(now)
        self._asked_for = set(batch.demand.low) if batch.demand else set()
        self._needs_batch, self._asked_lately = False, 0
        return batch

    def apply_reply(self, answer: BatchReply, now: float) -> LinkUpdates:
        """Take in what the ledger says to a batch."""
        if answer.workers > self.workers and self.workers == 1 and not self.ended:
            self._quiet_until = now + JOINING
        self.pages, self._committing = self.pages + self._committing, 0
        self.items, self._committing_items = self.items + self._committing_items, 0
        self._links = sum(len(one.result.links) for one in self._batch.ended)
        self.waiting, self.all_pages, self.limits.workers = answer.waiting, answer.pages, answer.workers
        self.held_by_others, self.over = answer.held, answer.over
        for outcome, count in answer.refused.items():
            self._count(outcome, count)
        self._pending.came()
        for _, queue in self.queues.items():
            queue.more = queue.host_id in answer.more
        self.queues.release_held_back()
        for lease in answer.leases:
            self._take_in(lease, answer, now)
        for name, queue in self.queues.items():
            if queue.refused and not queue.waiting and not queue.more and queue.host_id in self._asked_for:
                self.queues.requeue_refused(name)
        for lease_id, moved in answer.moved.items():
            self._follow(lease_id, moved)
        came = [
            one.candidate for one in answer.leases if one.candidate.via == "link" and one.candidate.has_learned_priority
        ]
        no_longer, self._no_longer = (*self._no_longer, *answer.done), []
        return LinkUpdates(tuple((one.requested or one.url, one.priority) for one in came), no_longer)

    def _take_in(self, lease: Lease, answer: BatchReply, now: float) -> None:
        """Let an address wait that was lent, unless its host was closed meanwhile."""
        name = host(lease.candidate.url)
        if code := self.limits.closed.get(name):
            self._give_up(lease, code)
            self._batch.resting.setdefault(lease.host_id, 0.0)
            return
        self.queues.put(lease).more = lease.host_id in answer.more
        if lease.host_id in answer.rests:
            self.limits.rest(name, now + answer.rests[lease.host_id])

    def release(self) -> None:
        """Have nobody wait for a redirect any more: the ledger will not answer."""
        for future in self._moves.values():
            if not future.done():
                future.set_result(None)
        self._moves = {}

    def forget(self) -> None:
        """Let go of everything: what was at hand is another's now."""
        self.release()
        self._work, self.queues = {}, HostQueues(self.limits, self.queues.budget and PageBudget())
        self._batch, self._needs_batch = Batch(closed=dict(self.limits.closed), samples=self._batch.samples), True
        self._pictures = {}
        self._links = self._committing = self._committing_items = 0
        self._recent.clear()

    def _follow(self, lease_id: int, lease: Lease | None) -> None:
        """Have the lease of where a redirect leads take the place of the old one."""
        future = self._moves.pop(lease_id, None)
        work = self._work.get(lease_id)
        if lease is not None and work is not None:
            self._return(lease_id)
            self.queues.of(lease).active += 1
            self._work[lease.id] = replace(work, lease=lease)
        if future is not None and not future.done():
            future.set_result(lease)

    def _demand(self, now: float) -> ClaimRequest | None:
        """How much can be taken: what is consumed until the next batch, twice over, for all hosts there is room for."""
        if now < self._quiet_until:
            return None
        pace, hosts = self.limits.settings, dict(self.queues.items())
        most = max(map(pace.at_once, hosts), default=pace.usual)
        ready = {name: queue for name, queue in hosts.items() if self.queues.ready_at(name) <= now + AWAY}
        waiting = sum(len(queue.waiting) for queue in ready.values())
        near = (name for name in hosts if self.queues.ready_at(name) <= now + self._near)
        low = tuple(hosts[name].host_id for name in near if self._wants_more(name))
        each = max(2 * most, min(MOST_OF_A_HOST, 2 * self._asked_lately // max(1, len(ready))))
        pages = 4 * pace.requests - waiting
        new = max(0, 2 * pace.requests - len(ready))
        at_hand = tuple(queue.host_id for queue in hosts.values())
        return ClaimRequest(new, pages, each, low, at_hand, self.limits.alone) if pages > 0 else None

    @property
    def _near(self) -> float:
        """In how many seconds a host is to be ready that is kept at hand."""
        return NEAR if self.queues.budget else AWAY

    def _wants_more(self, name: str) -> bool:
        return name not in self.limits.closed and self.queues.runs_low(name)

    def _tidy(self, name: str, queue: HostQueue, now: float) -> None:
        """Let a host go that has nothing at hand, or that is not to be asked for a while."""
        away, budget = self.queues.ready_at(name) - now, self.queues.budget
        if queue.refused and not queue.active and away < -PASSED_OVER:
            self.queues.requeue_refused(name)
        is_away = away > self._near
        better = self._pending.asked.get(name)
        best = self._pending.asked.best_page if budget else 0
        for _, _, lease in queue.waiting if is_away or better is not None or best else []:
            # What is better comes first, although this was claimed before it was found.
            priority = lease.candidate.priority
            is_worse = (better is not None and priority < better) or is_poor(priority, best)
            if lease.load is None and (is_away or is_worse):
                self._put_back(lease)
        self.queues.remove(name, {lease.id for lease in self._batch.returned})
        if not queue.waiting and not queue.active and not queue.refused:
            self._batch.resting[queue.host_id] = max(0.0, away)
            if budget is not None and better is not None:
                budget.promise(name, better, now + max(0.0, away))
            del self.queues.hosts[name]
            self.limits.forget_rests(now)

    def _put_back(self, lease: Lease) -> None:
        """Let an address wait in the database again, at the priority it has by now."""
        self._batch.returned.append(lease)
        if lease.has_new_priority:
            self._batch.priorities.setdefault(lease.candidate.url, lease.candidate.priority)

    def _better_comes(self, name: str, priority: int) -> bool:
        """Whether a host that is asked one page at a time has a better one, found a moment ago."""
        if self.limits.settings.at_once(name) > 1:
            return False
        best = self._pending.best_of(name)
        return best is not None and best > priority

    def _lend(self, lease: Lease, now: float) -> None:
        self._asked_lately += 1
        name = host(lease.candidate.url)
        self._work[lease.id] = ActiveLease(lease, now, self.queues.hosts[name].ready_at)
        if self.queues.hosts[name].more and self._wants_more(name):
            self._needs_batch = True

    def _return(self, lease_id: int) -> None:
        self.queues.request_returned(host(self._work.pop(lease_id).lease.candidate.url))


def url_hash(url: str, sort: str = "link") -> int:
    """What an address as it is spelled is remembered by; it may be a picture here and a page there."""
    return hash(f"{sort} {url}" if sort in ("image", "picture") else url)
