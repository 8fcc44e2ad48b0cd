"""The limits on requests to each host, from the settings, the host and this worker's share; and host latencies.

The interval of a host is the time between two requests to it. A rest is a time without requests, for example after an
error. A worker may request a host when both have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf

from crawler.outcomes import Outcome

MAX_HOSTS = 20_000  # hosts whose rests are remembered; with more, rests that have ended are forgotten


@dataclass(frozen=True)
class LimitSettings:
    """The limits on requests, as set by the settings."""

    usual_at_once: int = 1
    """Concurrent requests to a host that has no limit of its own."""
    of_hosts: Mapping[str, int] = field(default_factory=dict)
    """Concurrent requests to hosts with their own limit, by name without port."""
    interval: Callable[[str], float] = lambda name: 0.0
    """The current seconds between two requests to a host, according to the settings and AutoThrottle."""
    sent_at: Callable[[str], float] = lambda name: -inf
    """When the last request was sent to a host. A request is sent later than it is taken from the queue if robots.txt
    is requested first.
    """
    requests: int = 16
    """Concurrent requests to all hosts."""
    shared: bool = False
    """Whether several workers may request one host at the same time, each with its share of the limit."""

    def at_once(self, name: str) -> int:
        """The most concurrent requests to a host."""
        return self.of_hosts.get(name.partition(":")[0], self.usual_at_once)


class HostLimits:
    """The limits of hosts by name, as this worker knows them."""

    def __init__(self, settings: LimitSettings) -> None:
        self.settings = settings
        self.workers = 1
        self.closed: dict[str, Outcome] = {}
        """Hosts that are never requested again, and why."""
        self._rests: dict[str, float] = {}
        """When the rests of hosts end."""
        self._crawl_delays: dict[str, float] = {}
        """The crawl delays of hosts, in seconds."""

    @property
    def keeps_hosts(self) -> bool:
        """Whether no other worker may request a host while this one has leases on it.

        If hosts are shared, this is so with more workers than concurrent requests to a host: each worker's share of the
        limit would be less than one request.
        """
        return not self.settings.shared or self.workers > self.settings.usual_at_once

    def share(self, name: str) -> int:
        """The most active requests of this worker to a host."""
        at_once = self.settings.at_once(name)
        if self.settings.shared:
            return max(1, at_once // self.workers)
        return at_once

    def interval(self, name: str) -> float:
        """Seconds between two requests to a host."""
        return max(self._crawl_delays.get(name, 0.0), self.settings.interval(name))

    def interval_ends_at(self, name: str) -> float:
        """When the interval after the last request to a host ends."""
        return self.settings.sent_at(name) + self.interval(name)

    def set_crawl_delay(self, name: str, interval: float) -> None:
        """Request a host at most once in so many seconds, as its robots.txt says."""
        self._crawl_delays[name] = interval

    def rest(self, name: str, until: float) -> None:
        """Do not request a host before this time, or before a later one that was set earlier."""
        self._rests[name] = max(self._rests.get(name, 0.0), until)

    def rest_ends_at(self, name: str) -> float:
        """When the rest of a host ends; it may be in the past."""
        return self._rests.get(name, 0.0)

    def forget_rests(self, now: float) -> None:
        """Forget rests that have ended, if there are many."""
        if len(self._rests) > MAX_HOSTS:
            self._rests = {name: until for name, until in self._rests.items() if until > now}


# The latencies of hosts:

REPORT_SECONDS = 10.0  # the least time between two reports
WEIGHT_OF_RESPONSE = 0.2  # of a response in the moving average of the latencies before it


@dataclass(frozen=True, slots=True)
class HostLatency:
    """The latency of a host since the last report."""

    latency: float
    """Average seconds until a response."""
    delay: float
    """The current seconds between two requests."""
    answers: int
    """The number of responses."""

    @property
    def weight(self) -> float:
        """The weight of these responses in the moving average.

        >>> HostLatency(1.0, 0.0, 1).weight, round(HostLatency(1.0, 0.0, 30).weight, 2)
        (0.19999999999999996, 1.0)
        """
        return 1 - float((1 - WEIGHT_OF_RESPONSE) ** self.answers)


@dataclass
class HostAnswers:
    """Responses of a host that are not reported yet."""

    name: str
    seconds: float = 0.0
    """The sum of the seconds until each."""
    count: int = 0


@dataclass
class LatencyMeter:
    """Measures the latencies of hosts, by id, and reports them every REPORT_SECONDS."""

    reported_at: float = -inf
    is_last: bool = False
    """Whether the next report is the last one, which is always due."""
    _answers: dict[int, HostAnswers] = field(default_factory=dict)

    def record(self, host_id: int, name: str, seconds: float) -> None:
        """Record the seconds that a host took to respond."""
        answers = self._answers.setdefault(host_id, HostAnswers(name))
        answers.seconds += seconds
        answers.count += 1

    def report(self, now: float, delay: Callable[[str], float]) -> dict[int, HostLatency]:
        """The latencies of all hosts that responded since the last report; empty if none is due.

        `delay` returns the current seconds between two requests to a host.
        """
        if not self._answers or (now - self.reported_at < REPORT_SECONDS and not self.is_last):
            return {}
        answers_by_host = self._answers
        self._answers = {}
        self.reported_at = now
        return {
            host_id: HostLatency(answers.seconds / answers.count, delay(answers.name), answers.count)
            for host_id, answers in answers_by_host.items()
        }
