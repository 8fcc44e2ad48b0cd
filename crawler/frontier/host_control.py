"""Controls the hosts of one worker: request limits, which hosts stay in memory, and how many addresses are claimed.

The database reserves a host for the worker that has it in memory. Before each batch, the worker returns the hosts that
it cannot request soon and the addresses that it should not request next; then it claims others. An interval is the time
between two requests to a host, a rest a time without requests, for example after an error (host_limits.py).
"""

from __future__ import annotations

from collections.abc import Callable

from crawler.frontier.batch import Batch, ClaimRequest
from crawler.frontier.host_latencies import LatencyMeter
from crawler.frontier.host_queues import HostQueue, HostQueues
from crawler.frontier.page_result import Lease
from crawler.frontier.pending_priorities import PendingPriorities
from crawler.outcomes import Code, Outcome
from crawler.urls.address import address_of

AWAY_SECONDS = 2.0  # a host that may be requested only later than this is returned to the database
UNUSED_SECONDS = 10.0  # the addresses that a host refused are requested again after it was idle for longer than this
MOST_OF_A_HOST = 128  # the most addresses of a host in one claim
HANDOVER_SECONDS = 3.0  # a worker that has handed over hosts claims no new ones for this long: they are for others
ADDRESSES_A_REQUEST = 4  # addresses in memory for each concurrent request
MUCH_BETTER = 2  # if pages are scarce, a page is returned for another one that has more than this times its priority
HOST_CLOSED = Outcome(Code.HOST_CLOSED)


class HostControl:
    """Applies limits and rests to the queues, and reports hosts to each batch."""

    def __init__(self, queues: HostQueues, give_up: Callable[[Lease, Outcome], None]) -> None:
        self.queues = queues
        self.limits = queues.limits
        self.give_up = give_up
        """Ends a lease without a request."""
        self.pending = PendingPriorities()
        """The priorities of addresses that the database does not have yet."""
        self.latency = LatencyMeter()
        """Measures the latencies of hosts."""
        self._rests: dict[int, float] = {}
        """When new rests of hosts end, for the next batch."""
        self._crawl_delays: dict[int, float] = {}
        """New crawl delays of hosts, for the next batch."""
        self._closed: dict[str, str] = {}
        """Hosts that were closed, with the text of the outcome, for the next batch."""
        self._handed_over: set[str] = set()
        """Hosts that are returned as soon as no request to them is active."""
        self._no_new_hosts_until = 0.0
        """When this worker may claim new hosts again, after it has handed over hosts."""

    def ready_hosts(self, now: float) -> int:
        """How many hosts have queued addresses and may be requested now or soon."""
        return sum(1 for name, queue in self.queues.items() if queue.waiting and self._is_ready(name, now))

    def hand_over(self, workers_before: int, workers: int, now: float) -> None:
        """Return hosts for workers that have joined, so that each of these can have as many as this one keeps."""
        names = [name for name, queue in self.queues.items() if queue.waiting]
        for joined in range(workers_before, workers):
            self._handed_over.update(names[joined::workers])  # one of every `workers` hosts
        self._no_new_hosts_until = now + HANDOVER_SECONDS

    def rest(self, name: str, until: float) -> None:
        """Do not request a host before this time."""
        self.limits.rest(name, until)
        if name in self.queues.hosts:
            self._rests[self.queues.hosts[name].host_id] = until

    def is_resting(self, name: str, now: float) -> bool:
        """Whether a host has a rest that has not ended, and is not closed."""
        return name not in self.limits.closed and self.limits.rest_ends_at(name) > now

    def host_recovered(self, name: str) -> None:
        """Queue the addresses again that a host refused, as the host has answered another request."""
        if name in self.queues.hosts:
            self.queues.requeue_refused(name)

    def set_crawl_delay(self, name: str, interval: float) -> None:
        """Request a host at most once in this many seconds, as its robots.txt says."""
        self.limits.set_crawl_delay(name, interval)
        if name in self.queues.hosts:
            self._crawl_delays[self.queues.hosts[name].host_id] = interval

    def interval(self, name: str) -> float:
        """Seconds between two requests to a host."""
        return self.limits.interval(name)

    def record_answer(self, name: str, seconds: float) -> None:
        """Record that a host has answered a request after this many seconds."""
        if name in self.queues.hosts:
            self.latency.record(self.queues.hosts[name].host_id, name, seconds)

    def outcome_if_closed(self, url: str) -> Outcome | None:
        """The outcome of an address whose host is closed; None if the host is open."""
        return self.limits.closed.get(address_of(url).host)

    def close(self, name: str, outcome: Outcome = HOST_CLOSED) -> int:
        """Never request a host again; returns how many of its leased addresses are given up, with this outcome."""
        self.limits.closed[name] = outcome
        self._closed[name] = str(outcome)
        queue = self.queues.hosts.get(name)
        if queue is None:
            return 0
        self.queues.requeue_refused(name)
        given_up = [lease for _, _, lease in queue.waiting]
        self.queues.remove(name, {lease.id for lease in given_up})
        for lease in given_up:
            self.give_up(lease, outcome)
        return len(given_up)

    def forget(self, queues: HostQueues) -> None:
        """Start with empty queues; the next reply says again which hosts are closed."""
        self.queues = queues
        self._closed = {name: str(outcome) for name, outcome in self.limits.closed.items()}
        self._rests = {}
        self._crawl_delays = {}
        self._handed_over.clear()

    def report(self, batch: Batch, now: float, pages_are_scarce: bool = False) -> None:
        """Report hosts in a batch, and return addresses. Pages are scarce if all that are left may be in memory."""
        self.pending.send()
        self.return_unneeded(batch, now, pages_are_scarce)
        batch.latencies = self.latency.report(now, self.limits.interval)
        batch.rests = {host_id: max(0.0, until - now) for host_id, until in self._rests.items()}
        batch.crawl_delays = self._crawl_delays
        batch.closed = self._closed
        self._rests = {}
        self._crawl_delays = {}
        self._closed = {}

    def wants_more(self, name: str) -> bool:
        """Whether a host is about to run out of leased addresses."""
        return name not in self.limits.closed and name not in self._handed_over and self.queues.runs_low(name)

    def better_is_pending(self, name: str, priority: int) -> bool:
        """Whether a host with one request at a time has a better address that was found a moment ago."""
        if self.limits.settings.at_once(name) > 1:
            return False
        best_priority = self.pending.best_of(name)
        return best_priority is not None and best_priority > priority

    def return_unneeded(self, batch: Batch, now: float, pages_are_scarce: bool = False) -> None:
        """Return hosts that are empty or cannot be requested soon, and addresses that come after better ones.

        Better addresses are pending ones with a higher priority on the same host or, if pages are scarce, with more
        than `MUCH_BETTER` times the priority on any host.
        """
        least_priority = self.pending.best_sent / MUCH_BETTER if pages_are_scarce else 0.0
        for name, queue in self.queues.items():
            self._return_unneeded(name, queue, batch, now, least_priority)

    def claim_request(self, now: float, requests_since_batch: int) -> ClaimRequest | None:
        """How much to claim; None if enough addresses are in memory.

        A claim should bring each host twice the requests that it gets until the next batch, which are estimated by
        `requests_since_batch`, the requests since the last one.
        """
        settings = self.limits.settings
        hosts = dict(self.queues.items())

        # How many addresses are missing from the number that should be in memory.
        ready = {name: queue for name, queue in hosts.items() if self._is_ready(name, now)}
        waiting = sum(len(queue.waiting) for queue in ready.values())
        addresses = ADDRESSES_A_REQUEST * settings.requests - waiting
        if addresses <= 0:
            return None

        # How many new hosts, and how many addresses of each host.
        most_at_once = max(map(settings.at_once, hosts), default=settings.usual_at_once)
        new_hosts = 0
        if now >= self._no_new_hosts_until:
            new_hosts = max(0, 2 * settings.requests - len(ready))
        return ClaimRequest(
            hosts=new_hosts,
            addresses=addresses,
            each_host=max(2 * most_at_once, min(MOST_OF_A_HOST, 2 * requests_since_batch // max(1, len(ready)))),
            low_hosts=tuple(queue.host_id for name, queue in ready.items() if self.wants_more(name)),
            hosts_in_memory=tuple(queue.host_id for queue in hosts.values()),
            keeps_hosts=self.limits.keeps_hosts,
        )

    def _is_ready(self, name: str, now: float) -> bool:
        """Whether a host may be requested now or soon."""
        return self.queues.ready_at(name) <= now + AWAY_SECONDS

    def _return_unneeded(self, name: str, queue: HostQueue, batch: Batch, now: float, least_priority: float) -> None:
        """Return addresses of a host: all if it cannot be requested soon, otherwise those that come after better ones.

        Pages with a priority below `least_priority` also come after better ones. The host itself is returned if none of
        its addresses is left.
        """
        wait_seconds = self.queues.ready_at(name) - now  # below 0 if it could have been requested earlier
        if queue.refused and not queue.active and wait_seconds < -UNUSED_SECONDS:
            self.queues.requeue_refused(name)

        is_away = wait_seconds > AWAY_SECONDS or name in self._handed_over
        better = self.pending.sent.get(name)
        if is_away or better is not None or least_priority:
            for _, _, lease in queue.waiting:
                priority = lease.candidate.priority
                is_worse = (better is not None and priority < better) or (lease.is_page and priority < least_priority)
                # If a lease has a request, it is a retry, which only this worker can send again.
                if lease.request is None and (is_away or is_worse):
                    return_lease(lease, batch)
        self.queues.remove(name, {lease.id for lease in batch.returned})

        if not queue.waiting and not queue.active and not queue.refused:
            batch.rests_of_dropped_hosts[queue.host_id] = max(0.0, wait_seconds)
            del self.queues.hosts[name]
            self._handed_over.discard(name)
            self.limits.forget_rests(now)


def return_lease(lease: Lease, batch: Batch) -> None:
    """Return an address to the database, with its new priority if it has one."""
    batch.returned.append(lease)
    if lease.has_new_priority:
        batch.priorities.setdefault(lease.candidate.url, lease.candidate.priority)
