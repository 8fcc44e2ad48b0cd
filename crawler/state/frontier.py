"""The frontier: which address comes next, of those that this worker has at hand.

The database holds the frontier itself; a few seconds' worth of it is claimed and waits here, in one queue a host. The
next address is the best of all hosts that are ready: a host is not while it has as many requests out as it may have, or
while it is to be left alone. An address taken is lent under a number, its lease, until it is ended or given back. What
happened is handed to the ledger in batches; what the ledger answers is what comes next.

Nothing here waits for the database. The queues are short whatever waits there, so memory does not grow with the crawl.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import Any

from crawler.state.entries import Answer, Batch, Candidate, Demand, Ended, Keys, Lent, Move, Recent, Template
from crawler.urls import host

REMEMBERED = 200_000  # addresses seen last, for which the database need not be asked
AWAY = 2.0  # a host that is not ready within these seconds goes back to the database
MOST_OF_A_HOST = 128
MAX_HOSTS = 20_000  # whose pauses are remembered
JOINING = 1.0  # seconds in which the other workers learn of a new one
NOTHING: Mapping[str, str] = MappingProxyType({})
LEFT_ALONE = "site asked to be left alone"


@dataclass(frozen=True)
class Pace:
    """How much is asked at once."""

    at_once: Callable[[str], int] = lambda name: 1
    """Requests to a host at once."""
    pause: Callable[[str], float] = lambda name: 0.0
    """Seconds from one request to a host to the next, as things stand."""
    requests: int = 16
    """Requests at once, to all hosts."""
    shared: bool = False
    """Whether several workers may ask a host at once, each for its part."""


@dataclass
class Work:
    """An address on its way, and what came of it so far."""

    lent: Lent
    since: float
    links: list[Candidate] = field(default_factory=list)
    lessons: list[tuple[str, str]] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)


@dataclass
class _Queue:
    """What is at hand of one host."""

    host_id: int
    waiting: list[tuple[int, int, Lent]] = field(default_factory=list)
    out: int = 0
    ready_at: float = 0.0
    parked: bool = False
    """Taken off the list of hosts until one of its requests comes back or its time comes."""
    more: bool = False
    """Whether the database has more of it."""


class Frontier:
    """What one worker has at hand."""

    def __init__(self, keys: Keys, pace: Pace, max_pages: int | None = None) -> None:
        self.keys = keys
        self.pace = pace
        self.max_pages = max_pages
        self.pages = 0
        """Those this worker stored; `all_pages` are those of all workers, and of earlier runs."""
        self.all_pages = 0
        self.waiting = 0
        self.held_by_others = 0
        self.workers = 1
        self.refused: Counter[str] = Counter()
        self.over = False
        self.ended = 0
        """How many leases ended, whichever way."""
        self.lessons: list[tuple[str, str]] = []
        """What the seeds taught, for the spider to learn."""
        self.templates: list[Template] = []
        """What the pages of hosts have in common, for the spider to learn."""
        self._recent = Recent(REMEMBERED)
        self._queues: dict[str, _Queue] = {}
        self._heads: list[tuple[int, int, str]] = []
        self._resting: list[tuple[float, str]] = []
        self._rests: dict[str, float] = {}
        self._intervals: dict[str, float] = {}
        self._closed: dict[str, str] = {}
        self._work: dict[int, Work] = {}
        self._begun: dict[int, Work] = {}
        """What is known already of addresses that were given back."""
        self._at_hand = 0
        self._batch = Batch()
        self._moves: dict[int, asyncio.Future[Lent | None]] = {}
        self._asked_lately = 0
        self._quiet_until = 0.0
        self._hungry = True
        self._serial = 0
        self._found: dict[str, int] = {}
        """The best priority that pages ended since the last batch found, by host; `_coming` is that of the batch now
        being committed."""
        self._coming: dict[str, int] = {}
        self._held_back: set[str] = set()
        """Hosts that wait for a better address than they have at hand."""

    def __len__(self) -> int:
        """How many addresses wait, here or in the database."""
        return self.waiting + self._at_hand

    @property
    def full(self) -> bool:
        """Whether the crawl has all the pages it may have."""
        return self.max_pages is not None and self.all_pages >= self.max_pages

    @property
    def out(self) -> list[Work]:
        """What is on its way, the longest first."""
        return list(self._work.values())

    @property
    def hungry(self) -> bool:
        """Whether a batch should be committed now, rather than when its time comes."""
        return self._hungry or bool(self._batch.moves)

    def __contains__(self, url: str) -> bool:
        """Whether an address is among those seen last."""
        return spelling(url) in self._recent

    def found(self, lease: int, candidates: Iterable[Candidate]) -> None:
        """Take what a page leads to, if it is new; it waits from when the page is ended.

        What a page leads to that is no longer held here is not remembered either: it will be found again.
        """
        if lease in self._work:
            new = [one for one in candidates if self._recent.add(spelling(one.url, one.kind))]
            self._work[lease].links += new

    def taught(self, lease: int, kind: str, text: str) -> None:
        """What a seed teaches: where it is at home, what it is about, or that it is to be asked again."""
        if lease in self._work:
            self._work[lease].lessons.append((kind, text))

    def completed(self, lease: int, templates: Iterable[Template]) -> None:
        """Templates that a page completed; they are kept with it."""
        if lease in self._work:
            self._work[lease].templates += templates

    def take(self, now: float) -> Lent | None:
        """Lend the best address of the hosts that are ready, or None."""
        while self._resting and self._resting[0][0] <= now:
            self._unpark(heappop(self._resting)[1])
        while self._heads:
            priority, serial, name = heappop(self._heads)
            queue = self._queues.get(name)
            if queue is None or not queue.waiting or queue.waiting[0][:2] != (priority, serial):
                continue  # a better one came after this head was listed
            if queue.out >= self._share(name) or self._ready_at(name, queue) > now:
                self._park(name, queue)
                continue
            if self._better_comes(name, -priority):
                queue.parked = self._hungry = True
                self._held_back.add(name)
                continue
            lent = heappop(queue.waiting)[2]
            self._list(name, queue)
            self._lend(lent, name, queue, now)
            return lent
        # What ended may lead on; where nothing did, the next batch comes in its own time.
        self._hungry = self._hungry or (self._at_hand == 0 and bool(self._batch.ended))
        return None

    def ready_in(self, now: float) -> float | None:
        """In how many seconds a resting host is ready, or None when none rests."""
        return max(0.0, self._resting[0][0] - now) if self._resting else None

    def give_back(self, lease: int, load: Any) -> bool:
        """Let a lent address wait again here, with what it is asked by; whether its host is still asked."""
        work = self._work.get(lease)
        if work is None:
            return False
        name = host(work.lent.candidate.url)
        if name in self._closed:
            self.refused[self._closed[name]] += 1
            self.end(lease, f"skipped/{self._closed[name]}")
            return False
        self._return(lease)
        self._begun[lease] = work
        self._wait(work.lent._replace(load=load))
        return True

    def end(
        self,
        lease: int,
        outcome: str = "",
        record: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] = NOTHING,
    ) -> bool:
        """End a lease, with the record of what was stored or why nothing was; whether it was open."""
        work = self._work.get(lease)
        if work is None:
            return False
        self._return(lease)
        self.ended += 1
        self.pages += not outcome and work.lent.counts
        for link in work.links:
            name = host(link.url)
            self._found[name] = max(self._found.get(name, link.priority), link.priority)
        links, lessons, templates = tuple(work.links), tuple(work.lessons), tuple(work.templates)
        self._batch.ended.append(Ended(work.lent, outcome, links, lessons, record, headers, templates))
        return True

    async def move(self, lease: int, candidate: Candidate) -> int | None:
        """The lease of where a redirect leads, in place of the old one, or None when that is known already."""
        work = self._work.get(lease)
        if work is None:
            return None
        if self.keys(candidate.url, candidate.kind) == self.keys(work.lent.candidate.url, candidate.kind):
            return lease  # another spelling of the same
        self._moves[lease] = asyncio.get_running_loop().create_future()
        self._batch.moves.append(Move(work.lent, candidate))
        moved = await self._moves[lease]
        return moved.lease if moved else None

    def rest(self, name: str, until: float) -> None:
        """Ask a host for nothing before this time."""
        self._rests[name] = max(self._rests.get(name, 0.0), until)

    def rests(self, name: str, now: float) -> bool:
        """Whether a host is to be asked again, but not now."""
        return name not in self._closed and self._rests.get(name, 0.0) > now

    def slow(self, name: str, interval: float) -> None:
        """Ask a host at most once in so many seconds."""
        self._intervals[name] = interval
        if name in self._queues:
            self._batch.paces[self._queues[name].host_id] = interval

    def close(self, name: str, why: str = LEFT_ALONE) -> int:
        """Ask a host for nothing more; how many of its addresses at hand are given up."""
        self._closed[name] = self._batch.closed[name] = why
        queue = self._queues.get(name)
        waiting = queue.waiting if queue else []
        for _, _, lent in waiting:
            self._batch.ended.append(Ended(lent, f"skipped/{why}"))
        given_up = len(waiting)
        waiting.clear()
        self._at_hand -= given_up
        self.refused[why] += given_up
        return given_up

    def batch(self, now: float) -> Batch:
        """What happened since the last batch, and how much can be taken."""
        self._found, self._coming = {}, self._found
        for name in list(self._queues):
            self._tidy(name, now)
        batch, self._batch = self._batch, Batch()
        batch.idle = not self._queues and not self._work and not batch.moves
        batch.demand = self._demand(now)
        self._hungry, self._asked_lately = False, 0
        return batch

    def absorb(self, answer: Answer, now: float) -> None:
        """Take in what the ledger says to a batch."""
        if answer.workers > self.workers and self.workers == 1 and not self.pages:
            self._quiet_until = now + JOINING
        self.waiting, self.all_pages, self.workers = answer.waiting, answer.pages, answer.workers
        self.held_by_others, self.over = answer.held, answer.over
        self.refused += answer.refused
        self.lessons += answer.lessons
        self.templates += answer.templates
        self._coming = {}
        for name, queue in self._queues.items():
            queue.more = queue.host_id in answer.more
            if name in self._held_back:
                self._unpark(name)
        self._held_back.clear()
        for lent in answer.lent:
            name = host(lent.candidate.url)
            if name in self._closed:
                self.refused[self._closed[name]] += 1
                self._batch.ended.append(Ended(lent, f"skipped/{self._closed[name]}"))
            else:
                self._wait(lent).more = lent.host_id in answer.more
        for lease, moved in answer.moved.items():
            self._follow(lease, moved)

    def release(self) -> None:
        """Have nobody wait for a redirect any more: the ledger will not answer."""
        for future in self._moves.values():
            if not future.done():
                future.set_result(None)
        self._moves = {}

    def forget(self) -> None:
        """Let go of everything: what was at hand is another's now."""
        self.release()
        self._work, self._begun, self._queues, self._heads, self._resting = {}, {}, {}, [], []
        self._at_hand, self._batch, self._hungry = 0, Batch(), True
        self._recent.clear()

    def _follow(self, lease: int, lent: Lent | None) -> None:
        """Have the lease of where a redirect leads take the place of the old one."""
        future = self._moves.pop(lease, None)
        work = self._work.get(lease)
        if lent is not None and work is not None:
            self._return(lease)
            name = host(lent.candidate.url)
            queue = self._queues.setdefault(name, _Queue(lent.host_id))
            queue.out += 1
            self._work[lent.lease] = replace(work, lent=lent)
        if future is not None and not future.done():
            future.set_result(lent)

    def _demand(self, now: float) -> Demand | None:
        """How much can be taken: what is consumed until the next batch, twice over, for all hosts there is room for."""
        if now < self._quiet_until:
            return None
        most = max(map(self.pace.at_once, self._queues), default=self.pace.at_once(""))
        ready = {name: queue for name, queue in self._queues.items() if self._ready_at(name, queue) <= now + AWAY}
        waiting = sum(len(queue.waiting) for queue in ready.values())
        alone = not self.pace.shared or self.workers > self.pace.at_once("")
        low = tuple(queue.host_id for name, queue in ready.items() if self._runs_low(name, queue))
        each = max(2 * most, min(MOST_OF_A_HOST, 2 * self._asked_lately // max(1, len(ready))))
        pages = 4 * self.pace.requests - waiting
        hosts = 2 * self.pace.requests - len(ready)
        at_hand = tuple(queue.host_id for queue in self._queues.values())
        return Demand(max(0, hosts), pages, each, low, at_hand, alone) if pages > 0 else None

    def _runs_low(self, name: str, queue: _Queue) -> bool:
        return name not in self._closed and len(queue.waiting) <= self._share(name)

    def _tidy(self, name: str, now: float) -> None:
        """Let a host go that has nothing at hand, or that is not to be asked for a while."""
        queue = self._queues[name]
        away = self._ready_at(name, queue) - now
        better = self._coming.get(name)
        for entry in queue.waiting if away > AWAY or better is not None else []:
            # What is better comes first, although this was claimed before it was found.
            if entry[2].load is None and (away > AWAY or entry[2].candidate.priority < (better or 0)):
                self._batch.returned.append(entry[2])
        self._drop(name, queue, {lent.lease for lent in self._batch.returned})
        if not queue.waiting and not queue.out:
            self._batch.resting[queue.host_id] = max(0.0, away)
            del self._queues[name]
            if len(self._rests) > MAX_HOSTS:
                self._rests = {other: until for other, until in self._rests.items() if until > now}

    def _better_comes(self, name: str, priority: int) -> bool:
        """Whether a host that is asked one page at a time has a better one, found a moment ago."""
        if self.pace.at_once(name) > 1:
            return False
        return max(found.get(name, priority) for found in (self._found, self._coming)) > priority

    def _share(self, name: str) -> int:
        """How many requests of a host this worker may have out."""
        at_once = self.pace.at_once(name)
        return max(1, at_once // self.workers) if self.pace.shared else at_once

    def _ready_at(self, name: str, queue: _Queue) -> float:
        return max(queue.ready_at, self._rests.get(name, 0.0))

    def _wait(self, lent: Lent) -> _Queue:
        name = host(lent.candidate.url)
        queue = self._queues.setdefault(name, _Queue(lent.host_id))
        self._serial += 1
        entry = (-lent.candidate.priority, self._serial, lent)
        heappush(queue.waiting, entry)
        self._at_hand += 1
        if queue.waiting[0] is entry and not queue.parked:
            heappush(self._heads, (*entry[:2], name))
        return queue

    def _lend(self, lent: Lent, name: str, queue: _Queue, now: float) -> None:
        self._at_hand -= 1
        self._asked_lately += 1
        queue.out += 1
        queue.ready_at = max(queue.ready_at, now + max(self._intervals.get(name, 0.0), self.pace.pause(name)))
        begun = self._begun.pop(lent.lease, Work(lent, now))
        self._work[lent.lease] = replace(begun, lent=lent, since=now)
        if queue.more and self._runs_low(name, queue):
            self._hungry = True

    def _return(self, lease: int) -> None:
        work = self._work.pop(lease)
        name = host(work.lent.candidate.url)
        queue = self._queues.get(name)
        if queue is not None:
            queue.out -= 1
            self._unpark(name)

    def _list(self, name: str, queue: _Queue) -> None:
        if queue.waiting:
            heappush(self._heads, (*queue.waiting[0][:2], name))

    def _drop(self, name: str, queue: _Queue, leases: set[int]) -> None:
        kept = [entry for entry in queue.waiting if entry[2].lease not in leases]
        if len(kept) < len(queue.waiting):
            self._at_hand -= len(queue.waiting) - len(kept)
            queue.waiting = kept
            heapify(queue.waiting)
            if not queue.parked:
                self._list(name, queue)

    def _park(self, name: str, queue: _Queue) -> None:
        queue.parked = True
        if queue.out < self._share(name):
            heappush(self._resting, (self._ready_at(name, queue), name))

    def _unpark(self, name: str) -> None:
        queue = self._queues.get(name)
        if queue is not None and queue.parked:
            queue.parked = False
            self._list(name, queue)


def spelling(url: str, kind: str = "link") -> int:
    """What an address as it is spelled is remembered by; it may be a picture here and a page there."""
    return hash(f"image {url}" if kind == "image" else url)
