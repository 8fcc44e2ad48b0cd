"""The limits on requests to each host, from the settings, the host and this worker's share.

The interval of a host is the time between two requests to it. A rest is a time without requests, for example after an
error. A worker may request a host when both have ended. Hosts are given by name, with a port if the address has one.
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
        """How many workers the crawl has."""
        self.closed: dict[str, Outcome] = {}
        """Hosts that are never requested again, and why."""
        self._rests: dict[str, float] = {}
        """When the rests of hosts end."""
        self._crawl_delays: dict[str, float] = {}
        """The crawl delays of hosts, in seconds."""

    @property
    def keeps_hosts(self) -> bool:
        """Whether no other worker may request a host while this one has leases on it.

        Even hosts that may be shared are kept if any host has a limit below the number of workers: the share of each
        worker would be less than one request.
        """
        lowest_limit = min((self.settings.usual_at_once, *self.settings.of_hosts.values()))
        return not self.settings.shared or self.workers > lowest_limit

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

    def set_crawl_delay(self, name: str, seconds: float) -> None:
        """Request a host at most once in this many seconds, as its robots.txt says."""
        self._crawl_delays[name] = seconds

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
