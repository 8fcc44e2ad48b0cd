from dataclasses import replace
from math import inf

from crawler.workers.worker_rule import (
    AGAIN_SECONDS,
    END_SECONDS,
    END_SHARE,
    IDLE_SHARE,
    LEAST_HOSTS,
    LEAST_MEMORY_BYTES,
    LEAST_SECONDS_LEFT,
    START_SECONDS,
    START_SHARE,
    CrawlLoad,
    WorkerChange,
    worker_change,
)

NONE, START, END = WorkerChange.NONE, WorkerChange.START, WorkerChange.END
BUSY = CrawlLoad(
    busy_shares=(START_SHARE,),
    hosts=LEAST_HOSTS,
    seconds_left=LEAST_SECONDS_LEFT,
    seconds_since_start=START_SECONDS,
    seconds_since_end=AGAIN_SECONDS,
)
"""A crawl whose every value just suffices for a second worker."""
TWO = replace(BUSY, busy_shares=(START_SHARE, START_SHARE), seconds_since_start=END_SECONDS)


def test_a_worker_begins_when_all_are_busy() -> None:
    rows = [
        (BUSY, 2, START),
        (BUSY, 1, NONE),
        (replace(BUSY, memory_bytes=LEAST_MEMORY_BYTES), 2, START),
        (replace(BUSY, memory_bytes=LEAST_MEMORY_BYTES - 1), 2, NONE),
        (replace(BUSY, busy_shares=(START_SHARE - 0.01,)), 2, NONE),
        (replace(BUSY, hosts=LEAST_HOSTS - 1), 2, NONE),
        (replace(BUSY, seconds_left=LEAST_SECONDS_LEFT - 0.1), 2, NONE),
        (replace(BUSY, seconds_left=inf, seconds_since_end=inf), 2, START),
        (replace(BUSY, seconds_since_start=START_SECONDS - 0.1), 2, NONE),
        (replace(BUSY, seconds_since_end=AGAIN_SECONDS - 0.1), 2, NONE),
        (TWO, 2, NONE),
        (TWO, 3, START),
        (replace(TWO, busy_shares=(1.0, START_SHARE - 0.01)), 3, NONE),
        (replace(TWO, seconds_since_start=START_SECONDS - 0.1), 3, NONE),
    ]
    for load, most_workers, change in rows:
        assert worker_change(load, most_workers) is change


def test_a_worker_ends_when_it_is_idle_or_the_others_suffice() -> None:
    rows = [
        ((END_SHARE / 2, END_SHARE / 2), END_SECONDS, END),
        ((END_SHARE / 2, END_SHARE / 2), END_SECONDS - 0.1, NONE),
        ((END_SHARE / 2, END_SHARE / 2 + 0.01), END_SECONDS, NONE),
        ((END_SHARE,), END_SECONDS, NONE),
        ((0.0,), inf, NONE),
        ((1.0, IDLE_SHARE), END_SECONDS, END),
        ((1.0, IDLE_SHARE + 0.01), END_SECONDS, NONE),
        ((IDLE_SHARE, 1.0), END_SECONDS, NONE),
        ((1.0, 1.0, IDLE_SHARE), END_SECONDS, END),
        ((0.4, 0.4, 0.39), END_SECONDS, END),
        ((0.4, 0.4, 0.41), END_SECONDS, NONE),
    ]
    for busy_shares, seconds, change in rows:
        load = replace(BUSY, busy_shares=busy_shares, hosts=0, seconds_left=0.0, seconds_since_start=seconds)
        assert worker_change(load, 4) is change


def test_a_worker_that_brought_nothing_is_not_started_again_at_once() -> None:
    for workers in [1, 2, 3, 8]:
        load = replace(BUSY, busy_shares=(1.0,) * workers, seconds_since_start=inf, seconds_since_end=0.0)
        assert worker_change(load, 64) is NONE


def test_the_load_that_starts_a_worker_does_not_end_it() -> None:
    """The work of busy workers, divided among them and one more, is too much for one fewer."""
    for workers in [1, 2, 3, 8]:
        shares = (START_SHARE * workers / (workers + 1),) * (workers + 1)
        assert worker_change(replace(BUSY, busy_shares=shares, seconds_since_start=inf), 64) is NONE
