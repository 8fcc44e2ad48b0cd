"""The addresses that a worker has at hand, in one queue a host.

The next address is the best of all hosts that are ready. A host is not while as many requests of it are out as may be,
or while it is to be left alone; it is parked then, off the list of hosts, until a request of it comes back or its time
comes. So neither a slow host nor an endless one stands in the way of the others, and the next address is found in time
that does not grow with what waits.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from crawler.frontier.host_limits import HostLimits
from crawler.frontier.messages import Lease
from crawler.frontier.page_budget import LEARNED, NEAR, PageBudget
from crawler.urls.parsing import host


@dataclass
class HostQueue:
    """What is at hand of one host."""

    host_id: int
    waiting: list[tuple[int, int, Lease]] = field(default_factory=list)
    """A heap: the best first, of equals the first that came."""
    refused: list[Lease] = field(default_factory=list)
    """What the host refused: it waits until the host answers something else, or is asked for nothing for a while."""
    active: int = 0
    ready_at: float = 0.0
    asked_at: float = 0.0
    parked: bool = False
    more: bool = False
    """Whether the database has more of it."""


class HostQueues:
    """What is at hand of all hosts, by their names."""

    def __init__(self, limits: HostLimits, budget: PageBudget | None = None) -> None:
        self.limits = limits
        self.budget = budget
        """What a crawl goes by that cannot have every page."""
        self.hosts: dict[str, HostQueue] = {}
        self.held_back: set[str] = set()
        """Hosts that wait for a better address than they have at hand."""
        self._heads: list[tuple[int, int, str]] = []
        """The head of each host's queue, and some that no longer are: a heap."""
        self._resting: list[tuple[float, str]] = []
        self._serial = 0
        self._count = 0

    def __len__(self) -> int:
        """How many addresses are at hand."""
        return self._count

    def items(self) -> Iterator[tuple[str, HostQueue]]:
        """The hosts as they are now, whatever becomes of them meanwhile."""
        return iter(list(self.hosts.items()))

    def of(self, lease: Lease) -> HostQueue:
        """The queue of an address's host, made if there is none."""
        return self.hosts.setdefault(host(lease.candidate.url), HostQueue(lease.host_id))

    def put(self, lease: Lease) -> HostQueue:
        """Let an address wait."""
        queue = self.of(lease)
        self._serial += 1
        entry = (-lease.candidate.priority, self._serial, lease)
        heappush(queue.waiting, entry)
        self._count += 1
        if self.budget is not None:
            self.budget.has_come(host(lease.candidate.url))
        if queue.waiting[0] is entry and not queue.parked:
            heappush(self._heads, (*entry[:2], host(lease.candidate.url)))
        return queue

    def put_refused(self, lease: Lease) -> None:
        """Let an address wait that its host refused, behind all else of the host until `let_up`."""
        self.of(lease).refused.append(lease)
        self._count += 1

    def requeue_refused(self, name: str) -> None:
        """Have what the host refused wait like the rest."""
        queue = self.hosts[name]
        refused, queue.refused = queue.refused, []
        self._count -= len(refused)
        for lease in refused:
            self.put(lease)

    def take(self, now: float, better_comes: Callable[[str, int], bool], pending: int = 0) -> Lease | None:
        """The best address of the hosts that are ready, which is out from now on, or None.

        Poor ones are left where there is thrift, the best page that is coming being worth so much.
        """
        while self._resting and self._resting[0][0] <= now:
            self.unpark(heappop(self._resting)[1])
        poor: list[tuple[int, int, str]] = []
        if self.budget is not None:
            self.budget.look_anew()
        lease = self._next(now, better_comes, pending, poor)
        for head in poor:
            heappush(self._heads, head)
        return lease

    def _next(
        self, now: float, better_comes: Callable[[str, int], bool], pending: int, poor: list[tuple[int, int, str]]
    ) -> Lease | None:
        """As `take`, with the heads that are poor put aside."""
        while self._heads:
            priority, serial, name = heappop(self._heads)
            queue = self.hosts.get(name)
            if queue is None or not queue.waiting or queue.waiting[0][:2] != (priority, serial):
                continue  # a better one came after this head was listed
            if queue.active >= self.limits.share(name) or self.ready_at(name) > now:
                self._park(name, queue)
                continue
            if better_comes(name, -priority):
                queue.parked = True
                self.held_back.add(name)
                continue
            if -priority in LEARNED and (poor or self._is_poor(-priority, now, pending)):
                poor.append((priority, serial, name))  # and what comes after it is as poor
                continue
            lease = heappop(queue.waiting)[2]
            self._list(name, queue)
            self._count -= 1
            queue.active += 1
            queue.asked_at = now
            queue.ready_at = max(queue.ready_at, now + self.limits.interval(name))
            return lease
        return None

    def request_returned(self, name: str) -> None:
        """Count a request of a host that is no longer out."""
        if name in self.hosts:
            self.hosts[name].active -= 1
            self.unpark(name)

    def release_held_back(self) -> None:
        """Hold no host back any more: what is better has come."""
        for name in self.held_back:
            self.unpark(name)
        self.held_back.clear()

    def remove(self, name: str, leases: set[int]) -> None:
        """Let go of some addresses of a host."""
        queue = self.hosts[name]
        kept = [entry for entry in queue.waiting if entry[2].id not in leases]
        if len(kept) < len(queue.waiting):
            self._count -= len(queue.waiting) - len(kept)
            queue.waiting = kept
            heapify(queue.waiting)
            if not queue.parked:
                self._list(name, queue)

    def ready_at(self, name: str) -> float:
        """When a host may be asked again."""
        return max(self.hosts[name].ready_at, self.limits.rests_until(name))

    def ready_in(self, now: float) -> float | None:
        """In how many seconds a resting host is ready, or None when none rests."""
        times = [self._resting[0][0]] if self._resting else []
        if self.budget is not None and self.budget.until is not None:
            times.append(self.budget.until)
        return max(0.0, min(times) - now) if times else None

    def update_priorities(self, priorities: Mapping[str, int]) -> set[str]:
        """Give addresses at hand new priorities; those at hand of which there are some."""
        found: set[str] = set()
        for name, queue in self.hosts.items():
            queue.refused = [_with_priority((0, 0, lease), priorities)[2] for lease in queue.refused]
            found |= {lease.candidate.url for lease in queue.refused} & priorities.keys()
            here = {entry[2].candidate.url for entry in queue.waiting} & priorities.keys()
            if here:
                found |= here
                queue.waiting = [_with_priority(entry, priorities) for entry in queue.waiting]
                heapify(queue.waiting)
                if not queue.parked:
                    self._list(name, queue)
        return found

    def runs_low(self, name: str) -> bool:
        """Whether a host has no more at hand than it may have out."""
        return len(self.hosts[name].waiting) <= self.limits.share(name)

    def unpark(self, name: str) -> None:
        """Put a host back on the list."""
        queue = self.hosts.get(name)
        if queue is not None and queue.parked:
            queue.parked = False
            self._list(name, queue)

    def _is_poor(self, priority: int, now: float, pending: int) -> bool:
        return self.budget is not None and self.budget.is_poor(priority, now, pending, self._resting_heads(now))

    def _resting_heads(self, now: float) -> Iterator[tuple[int, float]]:
        """The priorities of the heads of hosts that have their pause, and when it will have passed.

        One whose request is out is taken to answer before there is no more thrift for its sake.
        """
        for name, queue in self.hosts.items():
            if not queue.parked or not queue.waiting or name in self.held_back:
                continue
            if queue.active < self.limits.share(name):
                yield -queue.waiting[0][0], self.ready_at(name)
            elif queue.ready_at > queue.asked_at:
                yield -queue.waiting[0][0], max(self.ready_at(name), queue.asked_at + NEAR)

    def _list(self, name: str, queue: HostQueue) -> None:
        if queue.waiting:
            heappush(self._heads, (*queue.waiting[0][:2], name))

    def _park(self, name: str, queue: HostQueue) -> None:
        queue.parked = True
        if queue.active < self.limits.share(name):
            heappush(self._resting, (self.ready_at(name), name))


def _with_priority(entry: tuple[int, int, Lease], priorities: Mapping[str, int]) -> tuple[int, int, Lease]:
    """An address in its queue, at its new priority if it has one; seeds and what is to be judged have their own."""
    _, serial, lease = entry
    one = lease.candidate
    price = priorities.get(one.url, one.priority) if one.has_learned_priority else one.priority
    if price == one.priority:
        return entry
    return -price, serial, lease._replace(candidate=one._replace(priority=price), has_new_priority=True)
