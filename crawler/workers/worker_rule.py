"""Decides when `workers=auto` starts a further worker of a crawl, and when it ends one.

A crawl begins as one process. A further worker is useful if all workers are busy all the time, if the first has hosts
to give away (a worker has a host for itself while it requests pages there), if the work that is left takes longer than
the start of a process, and if the machine has memory for it.

The busy share of a worker is the part of the last seconds in which it was busy (crawler/processes/busy_share.py). So
that workers do not come and go, the share at which a worker is started is much higher than the share at which one is
ended, and no worker is started soon after another was ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from math import inf

START_SHARE = 0.85
"""A further worker is started if each share is at least this. A crawl that waits for its hosts is less busy."""
END_SHARE = 0.6
"""A worker is ended if the shares of the others would then be at most this."""
IDLE_SHARE = 0.05
"""A worker with at most this share has no host, because reading pages would make it busier: such a worker is ended."""
LEAST_HOSTS = 2
"""A further worker is started only if the first one has at least this many hosts: one to keep, and one to give away."""
LEAST_SECONDS_LEFT = 10.0
"""A further worker is started only if the others have work for at least this time: its start takes 2 to 5 s."""
LEAST_MEMORY_BYTES = 1_000_000_000
"""A further worker is started only if this much memory is available: it takes 200 to 500 MB, and so does the growth of
the others.
"""
START_SECONDS = 5.0
"""The shortest time from the beginning of the crawl or of the last worker to the start of the next worker."""
END_SECONDS = 20.0
"""The shortest time from the beginning of the last worker to the end of a worker: hosts may be paused or without links
for a while.
"""
AGAIN_SECONDS = 60.0
"""The shortest time from the end of a worker to the start of another one."""


class WorkerChange(Enum):
    """How the number of workers changes."""

    NONE = auto()
    START = auto()
    END = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlLoad:
    """How much the workers of one command have to do."""

    busy_shares: tuple[float, ...]
    """The share of the last seconds in which each worker was busy, the first worker first."""
    hosts: int
    """Hosts of the first worker with queued links that may be requested now."""
    seconds_left: float
    """How many seconds the current workers need for the queued links."""
    seconds_since_start: float
    """Seconds since the crawl or the last worker began."""
    seconds_since_end: float = inf
    """Seconds since the last worker was ended."""
    memory_bytes: float = inf
    """The memory that a further process can take."""


def worker_change(load: CrawlLoad, most_workers: int) -> WorkerChange:
    """Whether a further worker should be started, or one should be ended."""
    workers = len(load.busy_shares)
    if workers > 1 and load.seconds_since_start >= END_SECONDS:
        others_suffice = sum(load.busy_shares) <= END_SHARE * (workers - 1)  # one worker fewer does the same work
        one_is_idle = min(load.busy_shares[1:]) <= IDLE_SHARE
        if others_suffice or one_is_idle:
            return WorkerChange.END

    is_settled = load.seconds_since_start >= START_SECONDS and load.seconds_since_end >= AGAIN_SECONDS
    has_work = load.hosts >= LEAST_HOSTS and load.seconds_left >= LEAST_SECONDS_LEFT
    has_room = workers < most_workers and load.memory_bytes >= LEAST_MEMORY_BYTES
    if has_room and is_settled and has_work and min(load.busy_shares) >= START_SHARE:
        return WorkerChange.START
    return WorkerChange.NONE
