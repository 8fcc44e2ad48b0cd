"""The queues of leased addresses, one for each host.

The next address is the best of all hosts that may be requested. A host that may not be requested now is parked, that
is, taken off the list of hosts: until its interval or rest has ended, until a response comes if it has as many requests
as it may have, or until the next batch if a better address of it was just found. So neither a slow host nor one with
endless pages delays the others, and the next address is found in logarithmic time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from crawler.frontier.host_limits import HostLimits
from crawler.frontier.page_result import Lease
from crawler.urls.address import address_of


@dataclass
class HostQueue:
    """The queue of one host."""

    host_id: int
    waiting: list[tuple[int, int, Lease]] = field(default_factory=list)
    """A heap of entries: the negative priority, a serial number and the lease. So the highest priority comes first, and
    of equal priorities the lease that was added first.
    """
    refused: list[Lease] = field(default_factory=list)
    """Addresses that the host refused; they wait until it answers another request or is idle."""
    active: int = 0
    """How many requests are sent and not answered yet."""
    ready_at: float = 0.0
    """When the interval ends that began when the last address was taken."""
    is_parked: bool = False
    """Whether the host is off the list of hosts that may be requested."""
    has_more: bool = False
    """Whether the database has more queued addresses of it."""


class HostQueues:
    """The queues of all hosts in memory, by host name."""

    def __init__(self, limits: HostLimits) -> None:
        self.limits = limits
        self.hosts: dict[str, HostQueue] = {}
        self.held_back: set[str] = set()
        """Hosts that wait for a better address than those in memory."""
        self._heads: list[tuple[int, int, str]] = []
        """The list of hosts that may be requested: a heap with the first entry of each queue, but with the name of the
        host in place of the lease. An entry is outdated if it is no longer the first of its queue.
        """
        self._parked_until: list[tuple[float, str]] = []
        """A heap of the parked hosts that wait for a time: the time and the name of each."""
        self._serial = 0
        """The serial number of the last entry."""
        self._count = 0
        """How many addresses are queued."""

    def __len__(self) -> int:
        """The number of queued addresses."""
        return self._count

    def items(self) -> Iterator[tuple[str, HostQueue]]:
        """The names and queues of all hosts; hosts may be added and removed during the iteration."""
        return iter(list(self.hosts.items()))

    def images_left(self) -> Counter[str]:
        """How many images of each host are queued in memory; empty while a page is queued."""
        images: Counter[str] = Counter()
        for name, queue in self.hosts.items():
            leases = [lease for _, _, lease in queue.waiting] + queue.refused
            if any(lease.is_page for lease in leases):
                return Counter()
            if leases:
                images[name] = len(leases)
        return images

    def of(self, lease: Lease) -> HostQueue:
        """The queue of an address's host, created if necessary."""
        return self.hosts.setdefault(address_of(lease.candidate.url).host, HostQueue(lease.host_id))

    def put(self, lease: Lease) -> HostQueue:
        """Add an address to the queue of its host."""
        queue = self.of(lease)
        self._serial += 1
        entry = (-lease.candidate.priority, self._serial, lease)
        heappush(queue.waiting, entry)
        self._count += 1
        if queue.waiting[0] is entry and not queue.is_parked:
            heappush(self._heads, (*entry[:2], address_of(lease.candidate.url).host))
        return queue

    def put_refused(self, lease: Lease) -> None:
        """Add an address that its host refused; it waits for `requeue_refused`."""
        self.of(lease).refused.append(lease)
        self._count += 1

    def requeue_refused(self, name: str) -> None:
        """Move the addresses that a host refused back to its queue."""
        queue = self.hosts[name]
        refused = queue.refused
        queue.refused = []
        self._count -= len(refused)
        for lease in refused:
            self.put(lease)

    def take(self, now: float, better_comes: Callable[[str, int], bool]) -> Lease | None:
        """Remove and return the best address of the hosts that may be requested, or None.

        `better_comes(name, priority)` says whether a host will soon have an address with a higher priority.
        """
        while self._parked_until and self._parked_until[0][0] <= now:
            _, name = heappop(self._parked_until)
            self.unpark(name)

        # Take the best host off the list, until one may be requested.
        while self._heads:
            negative_priority, serial, name = heappop(self._heads)
            queue = self.hosts.get(name)
            if queue is None or not queue.waiting or queue.waiting[0][:2] != (negative_priority, serial):
                continue  # the entry is outdated
            if queue.active >= self.limits.share(name) or self.ready_at(name) > now:
                self._park(name, queue)
                continue
            if better_comes(name, -negative_priority):
                queue.is_parked = True
                self.held_back.add(name)
                continue
            lease = heappop(queue.waiting)[2]
            self._list(name, queue)
            self._count -= 1
            queue.active += 1
            queue.ready_at = max(queue.ready_at, now + self.limits.interval(name))
            return lease
        return None

    def request_ended(self, name: str) -> None:
        """Count that a request to a host has ended."""
        if name in self.hosts:
            self.hosts[name].active -= 1
            self.unpark(name)

    def release_held_back(self) -> None:
        """Stop holding hosts back, as the better addresses are in the queues now."""
        for name in self.held_back:
            self.unpark(name)
        self.held_back.clear()

    def remove(self, name: str, leases: set[int]) -> None:
        """Remove addresses from the queue of a host, given by the ids of their leases."""
        queue = self.hosts[name]
        kept = [entry for entry in queue.waiting if entry[2].id not in leases]
        if len(kept) < len(queue.waiting):
            self._count -= len(queue.waiting) - len(kept)
            queue.waiting = kept
            heapify(queue.waiting)
            if not queue.is_parked:
                self._list(name, queue)

    def ready_at(self, name: str) -> float:
        """When a host may be requested again.

        Its rest has ended then, and so has its interval: since the last address was taken, and since its request was
        sent, which may be later.
        """
        return max(self.hosts[name].ready_at, self.limits.rest_ends_at(name), self.limits.interval_ends_at(name))

    def ready_in(self, now: float) -> float | None:
        """Seconds until the first of the parked hosts may be requested; None if none of them waits for a time."""
        if self._parked_until:
            return max(0.0, self._parked_until[0][0] - now)
        return None

    def update_priorities(self, priorities: Mapping[str, int]) -> set[str]:
        """Give queued addresses new priorities; returns the addresses among these that are queued here."""
        queued_urls: set[str] = set()
        for name, queue in self.hosts.items():
            queue.refused = [_with_priority(lease, priorities) for lease in queue.refused]
            queued_urls |= {lease.candidate.url for lease in queue.refused} & priorities.keys()
            waiting_urls = {entry[2].candidate.url for entry in queue.waiting} & priorities.keys()
            if waiting_urls:
                queued_urls |= waiting_urls
                leases = [(serial, _with_priority(lease, priorities)) for _, serial, lease in queue.waiting]
                queue.waiting = [(-lease.candidate.priority, serial, lease) for serial, lease in leases]
                heapify(queue.waiting)
                if not queue.is_parked:
                    self._list(name, queue)
        return queued_urls

    def runs_low(self, name: str) -> bool:
        """Whether a host has no more queued addresses than allowed concurrent requests."""
        return len(self.hosts[name].waiting) <= self.limits.share(name)

    def unpark(self, name: str) -> None:
        """Put a host back on the list of hosts that may be requested."""
        queue = self.hosts.get(name)
        if queue is not None and queue.is_parked:
            queue.is_parked = False
            self._list(name, queue)

    def _list(self, name: str, queue: HostQueue) -> None:
        """Add the first entry of a queue to the list of hosts, if there is one."""
        if queue.waiting:
            heappush(self._heads, (*queue.waiting[0][:2], name))

    def _park(self, name: str, queue: HostQueue) -> None:
        """Take a host off the list until its interval and rest have ended.

        If it has as many requests as it may have, it is off the list until a response comes.
        """
        queue.is_parked = True
        if queue.active < self.limits.share(name):
            heappush(self._parked_until, (self.ready_at(name), name))


def _with_priority(lease: Lease, priorities: Mapping[str, int]) -> Lease:
    """A lease with the new priority of its address, if there is one; seeds and images keep their priorities."""
    candidate = lease.candidate
    priority = priorities.get(candidate.url, candidate.priority)
    if priority == candidate.priority or not candidate.has_learned_priority:
        return lease
    return replace(lease, candidate=replace(candidate, priority=priority), has_new_priority=True)
