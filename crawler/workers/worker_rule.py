"""Decides when `workers=auto` starts a further worker of a crawl, and when it ends one.

A crawl begins as one process. A further one pays if all that run are busy all the time, if one of them has hosts to
give away (a worker has a host for itself while it requests pages there), if enough work is left for the time that a
process needs to start, and if the machine has memory for it. Between the share at which one is started and the share at
which one is ended lies a wide gap, and a worker that was ended for want of work is not started again at once, so that
workers do not come and go.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from math import inf

START_SHARE = 0.85
"""How busy each worker is when a further one is started. A crawl that waits for its hosts stays below."""
END_SHARE = 0.6
"""How busy each of the other workers may at most become when one is ended."""
IDLE_SHARE = 0.05
"""How busy a worker is at most that has no host. One that has a host reads pages."""
LEAST_HOSTS = 2
"""Hosts of the first worker: one to keep, and one to give away."""
LEAST_SECONDS_LEFT = 10.0
"""Seconds of work for the present workers: a further one needs 2 to 5 s to start."""
LEAST_MEMORY_BYTES = 1_000_000_000
"""Available on the machine: a worker takes 200 to 500 MB, and so does the growth of the others."""
START_SECONDS = 5.0
"""Since the crawl or the last worker began, until the next one is started."""
END_SECONDS = 20.0
"""Since the last worker began, until one is ended: hosts may be paused, or have nothing until a page names a link."""
AGAIN_SECONDS = 60.0
"""Since a worker was ended, until another one is started."""


class WorkerChange(Enum):
    """What is done about the number of workers."""

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
    """How long the present workers need for the links that wait."""
    seconds_since_start: float
    """Since the crawl or the last worker began."""
    seconds_since_end: float = inf
    """Since the last worker was ended."""
    memory_bytes: float = inf
    """What a further process can take."""


def worker_change(load: CrawlLoad, most_workers: int) -> WorkerChange:
    """Whether a further worker is started, or one is ended."""
    workers = len(load.busy_shares)
    if workers > 1 and load.seconds_since_start >= END_SECONDS:
        others_suffice = sum(load.busy_shares) <= END_SHARE * (workers - 1)
        one_is_idle = min(load.busy_shares[1:]) <= IDLE_SHARE
        if others_suffice or one_is_idle:
            return WorkerChange.END

    is_settled = load.seconds_since_start >= START_SECONDS and load.seconds_since_end >= AGAIN_SECONDS
    has_work = load.hosts >= LEAST_HOSTS and load.seconds_left >= LEAST_SECONDS_LEFT
    has_room = workers < most_workers and load.memory_bytes >= LEAST_MEMORY_BYTES
    if has_room and is_settled and has_work and min(load.busy_shares) >= START_SHARE:
        return WorkerChange.START
    return WorkerChange.NONE
