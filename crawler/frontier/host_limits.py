"""Manners: how each host is to be asked, as the settings, the host itself and this worker's share of it have it.

The tempo of hosts: how soon they answer, and how far apart they are asked, told to the database now and then.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from crawler.outcomes import Code

MAX_HOSTS = 20_000  # whose pauses are remembered


@dataclass(frozen=True)
class LimitSettings:
    """How much is asked at once."""

    usual: int = 1
    """Requests to a host at once."""
    of_hosts: Mapping[str, int] = field(default_factory=dict)
    """Requests at once to hosts that have a number of their own, by their names without a port."""
    pause: Callable[[str], float] = lambda name: 0.0
    """Seconds from one request to a host to the next, as things stand."""
    requests: int = 16
    """Requests at once, to all hosts."""
    shared: bool = False
    """Whether several workers may ask a host at once, each for its part."""

    def at_once(self, name: str) -> int:
        """How many requests of a host there may be at once."""
        return self.of_hosts.get(name.partition(":")[0], self.usual)


class HostLimits:
    """What this worker knows of how to ask hosts, by their names."""

    def __init__(self, pace: LimitSettings) -> None:
        self.settings = pace
        self.workers = 1
        self.closed: dict[str, Code] = {}
        """Hosts that are asked for nothing more, and why."""
        self._rests: dict[str, float] = {}
        self._intervals: dict[str, float] = {}

    @property
    def alone(self) -> bool:
        """Whether a host is this worker's alone while it has addresses of it."""
        return not self.settings.shared or self.workers > self.settings.usual

    def share(self, name: str) -> int:
        """How many requests of a host this worker may have out."""
        at_once = self.settings.at_once(name)
        return max(1, at_once // self.workers) if self.settings.shared else at_once

    def interval(self, name: str) -> float:
        """Seconds from one request to a host to the next."""
        return max(self._intervals.get(name, 0.0), self.settings.pause(name))

    def slow(self, name: str, interval: float) -> None:
        """Have a host asked at most once in so many seconds."""
        self._intervals[name] = interval

    def rest(self, name: str, until: float) -> None:
        """Have a host asked for nothing before this time."""
        self._rests[name] = max(self._rests.get(name, 0.0), until)

    def rests_until(self, name: str) -> float:
        """Before when a host is not to be asked; it may have passed."""
        return self._rests.get(name, 0.0)

    def forget_rests(self, now: float) -> None:
        """Forget pauses that are over, when there are many."""
        if len(self._rests) > MAX_HOSTS:
            self._rests = {name: until for name, until in self._rests.items() if until > now}


TELL_SECONDS = 10.0  # from one telling of a host to the next, or more
NEW = 0.2  # what the last answer weighs in the average of all


class HostLatency(NamedTuple):
    """How a host was asked, and how it answered, since that was last told."""

    latency: float
    """Seconds until an answer, on average."""
    delay: float
    """Seconds between two requests, as things stand."""
    answers: int

    @property
    def weight(self) -> float:
        """What these answers weigh beside all before them.

        >>> HostLatency(1.0, 0.0, 1).weight, round(HostLatency(1.0, 0.0, 30).weight, 2)
        (0.19999999999999996, 1.0)
        """
        return 1 - float((1 - NEW) ** self.answers)


@dataclass
class HostAnswers:
    """Answers of a host that nobody was told of yet."""

    name: str
    seconds: float = 0.0
    answers: int = 0


@dataclass
class LatencyMeter:
    """What one worker hears of hosts, by their numbers, until it tells."""

    told_at: float = -inf
    last: bool = False
    """Whether there will be no other time to tell."""
    _heard: dict[int, HostAnswers] = field(default_factory=dict)

    def hear(self, host_id: int, name: str, seconds: float) -> None:
        """Note that a host has answered, after so many seconds."""
        heard = self._heard.setdefault(host_id, HostAnswers(name))
        heard.seconds += seconds
        heard.answers += 1

    def tell(self, now: float, delay: Callable[[str], float]) -> dict[int, HostLatency]:
        """The tempo of all hosts that were heard, if it is time to tell."""
        if not self._heard or (now - self.told_at < TELL_SECONDS and not self.last):
            return {}
        heard, self._heard, self.told_at = self._heard, {}, now
        return {n: HostLatency(one.seconds / one.answers, delay(one.name), one.answers) for n, one in heard.items()}
