"""Limits on requests to each host, from the settings, the host itself and this worker's share; and host latencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf

from crawler.outcomes import Outcome

MAX_HOSTS = 20_000  # hosts whose pauses are remembered


@dataclass(frozen=True)
class LimitSettings:
    """The limits that the settings set."""

    usual: int = 1
    """Concurrent requests to a host."""
    of_hosts: Mapping[str, int] = field(default_factory=dict)
    """Concurrent requests to hosts with their own limit, by name without port."""
    pause: Callable[[str], float] = lambda name: 0.0
    """The current seconds between two requests to a host."""
    sent_at: Callable[[str], float] = lambda name: -inf
    """When the last request was sent to a host; this may be later than when it was taken from the queue, as robots.txt
    comes first.
    """
    requests: int = 16
    """Concurrent requests to all hosts."""
    shared: bool = False
    """Whether several workers may ask one host at once, each with its share of the limit."""

    def at_once(self, name: str) -> int:
        """The most concurrent requests to a host."""
        return self.of_hosts.get(name.partition(":")[0], self.usual)


class HostLimits:
    """The limits of hosts by name, as this worker knows them."""

    def __init__(self, settings: LimitSettings) -> None:
        self.settings = settings
        self.workers = 1
        self.closed: dict[str, Outcome] = {}
        """Hosts that are never requested again, and why."""
        self._rests: dict[str, float] = {}
        self._intervals: dict[str, float] = {}

    @property
    def alone(self) -> bool:
        """Whether no other worker may request a host while this one has leases on it."""
        return not self.settings.shared or self.workers > self.settings.usual

    def share(self, name: str) -> int:
        """The most active requests of this worker to a host."""
        at_once = self.settings.at_once(name)
        if self.settings.shared:
            return max(1, at_once // self.workers)
        return at_once

    def interval(self, name: str) -> float:
        """Seconds between two requests to a host."""
        return max(self._intervals.get(name, 0.0), self.settings.pause(name))

    def pause_ends_at(self, name: str) -> float:
        """When a host may be requested again after the last request that was sent to it."""
        return self.settings.sent_at(name) + self.interval(name)

    def slow(self, name: str, interval: float) -> None:
        """Ask a host at most once in so many seconds."""
        self._intervals[name] = interval

    def rest(self, name: str, until: float) -> None:
        """Do not ask a host before this time."""
        self._rests[name] = max(self._rests.get(name, 0.0), until)

    def rests_until(self, name: str) -> float:
        """When the pause of a host ends; it may be in the past."""
        return self._rests.get(name, 0.0)

    def forget_rests(self, now: float) -> None:
        """Forget pauses that have ended, if there are many."""
        if len(self._rests) > MAX_HOSTS:
            self._rests = {name: until for name, until in self._rests.items() if until > now}


REPORT_SECONDS = 10.0  # between two reports, or more
NEW = 0.2  # weight of the last response in the average


@dataclass(frozen=True, slots=True)
class HostLatency:
    """The latency of a host since the last report."""

    latency: float
    """Average seconds until a response."""
    delay: float
    """The current seconds between two requests."""
    answers: int

    @property
    def weight(self) -> float:
        """The weight of these responses in the moving average.

        >>> HostLatency(1.0, 0.0, 1).weight, round(HostLatency(1.0, 0.0, 30).weight, 2)
        (0.19999999999999996, 1.0)
        """
        return 1 - float((1 - NEW) ** self.answers)


@dataclass
class HostAnswers:
    """Responses of a host that are not reported yet."""

    name: str
    seconds: float = 0.0
    answers: int = 0


@dataclass
class LatencyMeter:
    """Measures the latencies of hosts, by id, and reports them now and then."""

    reported_at: float = -inf
    last: bool = False
    """Whether the next report is the last one."""
    _answers: dict[int, HostAnswers] = field(default_factory=dict)

    def record(self, host_id: int, name: str, seconds: float) -> None:
        """Record the seconds that a host took to respond."""
        answers = self._answers.setdefault(host_id, HostAnswers(name))
        answers.seconds += seconds
        answers.answers += 1

    def report(self, now: float, delay: Callable[[str], float]) -> dict[int, HostLatency]:
        """The latencies of all hosts that responded, if a report is due."""
        if not self._answers or (now - self.reported_at < REPORT_SECONDS and not self.last):
            return {}
        answers_by_host = self._answers
        self._answers = {}
        self.reported_at = now
        return {
            n: HostLatency(answers.seconds / answers.answers, delay(answers.name), answers.answers)
            for n, answers in answers_by_host.items()
        }
