"""Measures the latencies of hosts, for reports to the database.

The database keeps a moving average of the latency of each host. It has a row for each host, not for each response, so
the responses since the last report are combined: their mean, with the weight that they have together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

REPORT_SECONDS = 10.0  # the least time between two reports
WEIGHT_OF_RESPONSE = 0.2  # of a response in the moving average of the latencies before it


@dataclass(frozen=True, slots=True)
class HostLatency:
    """The latency of a host since the last report."""

    latency: float
    """The mean of the seconds until a response."""
    delay: float
    """The current seconds between two requests."""
    answers: int
    """The number of responses."""

    @property
    def weight(self) -> float:
        """The weight of all these responses together in the moving average.

        >>> HostLatency(1.0, 0.0, 1).weight, round(HostLatency(1.0, 0.0, 30).weight, 2)
        (0.19999999999999996, 1.0)
        """
        return 1 - float((1 - WEIGHT_OF_RESPONSE) ** self.answers)


@dataclass
class HostAnswers:
    """Responses of a host that are not reported yet."""

    name: str
    seconds: float = 0.0
    """The sum of the seconds until each response."""
    count: int = 0
    """How many responses these are."""


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
        """The latencies of all hosts that responded since the last report; empty if no report is due.

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
