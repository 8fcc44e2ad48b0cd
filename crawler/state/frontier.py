"""The frontier: which addresses are known, which wait, and which comes next.

Addresses wait in one queue a host. The next one is the best of all hosts that are ready: a host is not while it has as
many requests out as it may have, or while it asked to be left alone. An address taken is lent under a number, its
lease, until it is finished or given back.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, NamedTuple

from crawler.urls import host, site

# A site may answer this many requests with something else for every page of its budget.
REQUESTS_A_PAGE = 10
# Addresses of one host that wait at most, about a kilobyte each: a page may hold thousands of links.
MAX_WAITING = 100_000


class Candidate(NamedTuple):
    """An address that may be asked for, and what is known of it."""

    url: str
    priority: int = 0
    depth: int = 0
    parent: str | None = None
    kind: str = "link"
    """seed, list (a sitemap named by another), link or image."""


class Lent(NamedTuple):
    """A candidate on its way, and whatever was given back with it."""

    lease: int
    candidate: Candidate
    load: Any


@dataclass
class _Queue:
    """What waits for one host."""

    waiting: list[tuple[int, int, Candidate, Any]] = field(default_factory=list)
    out: int = 0
    ready_at: float = 0.0
    interval: float = 0.0
    parked: bool = False
    """Taken off the list of hosts until one of its requests comes back or its time comes."""


class Frontier:
    """The frontier of one process, in memory."""

    def __init__(
        self,
        at_once: Callable[[str], int] = lambda host: 1,
        max_pages: int | None = None,
        site_limit: int | None = None,
    ) -> None:
        self.at_once = at_once
        self.max_pages = max_pages
        self.site_limit = site_limit
        self.pages = 0
        self.refused: Counter[str] = Counter()
        self.left = 0
        """Pages that waited when the crawl had all it may have."""
        self._known: set[int] = set()
        self._queues: dict[str, _Queue] = {}
        self._heads: list[tuple[int, int, str]] = []
        self._resting: list[tuple[float, str]] = []
        self._closed: set[str] = set()
        self._lent: dict[int, Candidate] = {}
        self._pages_out = 0
        self._site_pages: Counter[str] = Counter()
        self._site_out: Counter[str] = Counter()
        self._site_requests: Counter[str] = Counter()
        self._busy_sites: dict[str, set[str]] = {}
        """The hosts that wait to learn whether their site's budget is spent."""
        self._waiting = 0
        self._images_waiting = 0
        self._serial = 0

    def __len__(self) -> int:
        return self._waiting + self.left

    def __contains__(self, url: str) -> bool:
        return hash(url) in self._known

    def know(self, url: str) -> bool:
        """Remember an address; whether it is new."""
        key = hash(url)
        if key in self._known:
            return False
        self._known.add(key)
        return True

    @property
    def pending(self) -> bool:
        """Whether anything waits that would still be asked for."""
        return (self._images_waiting if self.full else self._waiting) > 0

    @property
    def full(self) -> bool:
        """Whether the crawl has all the pages it may have."""
        return self.max_pages is not None and self.pages >= self.max_pages

    def add(self, candidate: Candidate, load: Any = None) -> bool:
        """Let a candidate wait for its turn; whether its host is still asked at all."""
        name = host(candidate.url)
        if name in self._closed:
            self.refused["site asked to be left alone"] += 1
            return False
        queue = self._queues.setdefault(name, _Queue())
        if len(queue.waiting) >= MAX_WAITING:
            self.refused["queue of the host is full"] += 1
            return False
        self._serial += 1
        entry = (-candidate.priority, self._serial, candidate, load)
        heappush(queue.waiting, entry)
        self._count(candidate, 1)
        if queue.waiting[0] is entry and not queue.parked:
            heappush(self._heads, (*entry[:2], name))
        return True

    def take(self, now: float) -> Lent | None:
        """Lend the best candidate of the hosts that are ready, or None."""
        if self.max_pages is not None and self.pages + self._pages_out >= self.max_pages and not self.full:
            return None  # until it is known what becomes of those on their way
        while self._resting and self._resting[0][0] <= now:
            self._unpark(heappop(self._resting)[1])
        while self._heads:
            priority, serial, name = heappop(self._heads)
            queue = self._queues[name]
            if not queue.waiting or queue.waiting[0][:2] != (priority, serial):
                continue  # a better candidate came after this head was listed
            if queue.out >= self.at_once(name) or queue.ready_at > now:
                self._park(name, queue)
                continue
            if self._site_is_busy(queue.waiting[0][2]):
                queue.parked = True
                self._busy_sites.setdefault(site(queue.waiting[0][2].url), set()).add(name)
                continue
            _, serial, candidate, load = heappop(queue.waiting)
            self._count(candidate, -1)
            self._list(name, queue)
            if candidate.kind != "image" and self.full:
                self.left += 1
            elif self._within_budget(candidate):
                return self._lend(Lent(serial, candidate, load), name, now)
        return None

    def ready_in(self, now: float) -> float | None:
        """In how many seconds a resting host is ready, or None when none rests."""
        return max(0.0, self._resting[0][0] - now) if self._resting else None

    def give_back(self, lease: int, candidate: Candidate, load: Any = None) -> bool:
        """Let a lent candidate wait again, perhaps under another address; whether its host is still asked."""
        if lease not in self._lent:
            return False
        self._return(lease)
        return self.add(candidate, load)

    def finish(self, lease: int, page: bool = False) -> bool:
        """End a lease, whose request brought a page or did not; whether it was open."""
        candidate = self._lent.get(lease)
        if candidate is None:
            return False
        self._return(lease)
        self.pages += page
        if page and candidate.kind != "image":
            self._site_pages[site(candidate.url)] += 1
        return True

    def rest(self, name: str, until: float) -> None:
        """Ask a host for nothing before this time."""
        queue = self._queues.setdefault(name, _Queue())
        queue.ready_at = max(queue.ready_at, until)

    def rests(self, name: str, now: float) -> bool:
        """Whether a host is to be asked again, but not now."""
        return name not in self._closed and name in self._queues and self._queues[name].ready_at > now

    def slow(self, name: str, interval: float) -> None:
        """Ask a host at most once in so many seconds."""
        self._queues.setdefault(name, _Queue()).interval = interval

    def close(self, name: str) -> int:
        """Ask a host for nothing more; how many of its candidates are given up."""
        self._closed.add(name)
        queue = self._queues.setdefault(name, _Queue())
        given_up = len(queue.waiting)
        for _, _, candidate, _ in queue.waiting:
            self._count(candidate, -1)
        queue.waiting.clear()
        self.refused["site asked to be left alone"] += given_up
        return given_up

    def _count(self, candidate: Candidate, by: int) -> None:
        self._waiting += by
        self._images_waiting += by * (candidate.kind == "image")

    def _site_is_busy(self, candidate: Candidate) -> bool:
        """Whether the site's budget depends on what becomes of its pages on their way."""
        if candidate.kind == "image" or self.site_limit is None or self.full:
            return False
        name = site(candidate.url)
        return self._site_pages[name] < self.site_limit <= self._site_pages[name] + self._site_out[name]

    def _within_budget(self, candidate: Candidate) -> bool:
        if candidate.kind == "image" or self.site_limit is None:
            return True
        name = site(candidate.url)
        if self._site_pages[name] >= self.site_limit or self._site_requests[name] >= REQUESTS_A_PAGE * self.site_limit:
            self.refused["page budget of the site is spent"] += 1
            return False
        self._site_requests[name] += 1
        return True

    def _lend(self, lent: Lent, name: str, now: float) -> Lent:
        queue = self._queues[name]
        queue.out += 1
        queue.ready_at = max(queue.ready_at, now + queue.interval)
        self._lent[lent.lease] = lent.candidate
        if lent.candidate.kind != "image":
            self._pages_out += 1
            self._site_out[site(lent.candidate.url)] += 1
        return lent

    def _return(self, lease: int) -> None:
        candidate = self._lent.pop(lease, None)
        if candidate is None:
            return
        name = host(candidate.url)
        self._queues[name].out -= 1
        self._unpark(name)
        if candidate.kind != "image":
            self._pages_out -= 1
            self._site_out[site(candidate.url)] -= 1
            for waiting in self._busy_sites.pop(site(candidate.url), ()):
                self._unpark(waiting)

    def _list(self, name: str, queue: _Queue) -> None:
        if queue.waiting:
            heappush(self._heads, (*queue.waiting[0][:2], name))

    def _park(self, name: str, queue: _Queue) -> None:
        queue.parked = True
        if queue.out < self.at_once(name):
            heappush(self._resting, (queue.ready_at, name))

    def _unpark(self, name: str) -> None:
        queue = self._queues[name]
        if queue.parked:
            queue.parked = False
            self._list(name, queue)
