"""The tempo of hosts: how soon they answer, and how far apart they are asked, told to the database now and then."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

TELL_SECONDS = 10.0  # from one telling of a host to the next, or more
NEW = 0.2  # what the last answer weighs in the average of all


class Tempo(NamedTuple):
    """How a host was asked, and how it answered, since that was last told."""

    latency: float
    """Seconds until an answer, on average."""
    delay: float
    """Seconds between two requests, as things stand."""
    answers: int

    @property
    def weight(self) -> float:
        """What these answers weigh beside all before them.

        >>> Tempo(1.0, 0.0, 1).weight, round(Tempo(1.0, 0.0, 30).weight, 2)
        (0.19999999999999996, 1.0)
        """
        return 1 - float((1 - NEW) ** self.answers)


@dataclass
class Heard:
    """Answers of a host that nobody was told of yet."""

    name: str
    seconds: float = 0.0
    answers: int = 0


@dataclass
class Ear:
    """What one worker hears of hosts, by their numbers, until it tells."""

    told_at: float = -inf
    last: bool = False
    """Whether there will be no other time to tell."""
    _heard: dict[int, Heard] = field(default_factory=dict)

    def hear(self, host_id: int, name: str, seconds: float) -> None:
        """Note that a host has answered, after so many seconds."""
        heard = self._heard.setdefault(host_id, Heard(name))
        heard.seconds += seconds
        heard.answers += 1

    def tell(self, now: float, delay: Callable[[str], float]) -> dict[int, Tempo]:
        """The tempo of all hosts that were heard, if it is time to tell."""
        if not self._heard or (now - self.told_at < TELL_SECONDS and not self.last):
            return {}
        heard, self._heard, self.told_at = self._heard, {}, now
        return {n: Tempo(one.seconds / one.answers, delay(one.name), one.answers) for n, one in heard.items()}
