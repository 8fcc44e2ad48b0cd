"""How busy this process is: the share of time in which it computes, or waits until it gets a processor.

The process of a crawl is the bottleneck if its event loop never sleeps. On a machine with other work, such a process
computes only part of the time. So the time in which it waits for a processor counts, too. Linux says how long the
main thread, which has the event loop, has waited: https://docs.kernel.org/scheduler/sched-stats.html. On other systems
only the CPU time of the process counts.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from time import monotonic, process_time
from typing import NamedTuple

WINDOW_SECONDS = 3.0  # long enough for some pages, and short enough to notice a change soon
SCHEDULER_STATISTICS = Path("/proc/self/schedstat")
NANOSECONDS = 1e9


class BusyMark(NamedTuple):
    """A measurement of how many seconds the process has been busy up to a time."""

    at: float
    """The time by the monotonic clock."""
    busy_seconds: float
    """Seconds of CPU time, and of waiting for a processor, since the process began."""


class BusyMeter:
    """Measures how busy this process is."""

    def __init__(self) -> None:
        self._marks = deque([_mark()])

    def share(self) -> float:
        """The share of the last seconds in which the process was busy, from 0 to 1."""
        now = _mark()
        self._marks.append(now)
        # Of the marks that are at least as old as the window, only the latest is kept, as the first.
        while len(self._marks) > 2 and self._marks[1].at <= now.at - WINDOW_SECONDS:
            self._marks.popleft()
        before = self._marks[0]
        busy_seconds = now.busy_seconds - before.busy_seconds
        # At most 1, as other threads may compute at the same time as the main one. The clock may show one time twice.
        return min(1.0, busy_seconds / max(now.at - before.at, 1e-9))


def _mark() -> BusyMark:
    return BusyMark(monotonic(), process_time() + _waited_seconds())


def _waited_seconds() -> float:
    """How many seconds the main thread has waited for a processor; 0 if the system does not say."""
    try:
        return int(SCHEDULER_STATISTICS.read_text(encoding="ascii").split()[1]) / NANOSECONDS
    except (OSError, IndexError, ValueError):
        return 0.0
