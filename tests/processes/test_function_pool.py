"""Work on many processors: the same results in the same order, whatever becomes of the processes."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import failing_work
import pytest
from fork_server import PATIENCE
from process_tree import descendants, running

from crawler.processes import function_pool
from crawler.processes.function_pool import WorkersError, as_done, in_order


def lost(item: Any) -> str:
    return f"lost {item}"


def results(work: Callable[[Any], Any], items: Iterable[Any], jobs: int) -> tuple[list[Any], int]:
    """The results, and how many processes died."""
    deaths: list[None] = []
    found = list(in_order(work, items, jobs, lost, partial(deaths.append, None)))
    return found, len(deaths)


def test_results_come_in_order() -> None:
    for jobs in [1, 2, 4]:
        for count in [0, 1, function_pool.BATCH_ITEMS, function_pool.BATCH_ITEMS + 1, 500]:
            assert results(failing_work.square_slowly, range(count), jobs) == ([n * n for n in range(count)], 0)


@pytest.mark.parametrize("jobs", [2, 3])
def test_results_that_fill_pipes(jobs: int) -> None:
    assert results(failing_work.big, range(100), jobs) == ([failing_work.big(n) for n in range(100)], 0)


@pytest.mark.long
def test_the_work_is_done_by_so_many_processes() -> None:
    assert set(results(failing_work.process, range(5), 3)[0]) == {os.getpid()}
    assert set(results(failing_work.process, range(200), 1)[0]) == {os.getpid()}
    found = set(results(failing_work.process, range(1_500), 3)[0])
    assert os.getpid() not in found
    assert 2 <= len(found) <= 3


@pytest.mark.parametrize("jobs", [2, 3])
def test_an_item_that_kills_is_given_up(jobs: int) -> None:
    found, deaths = results(failing_work.die, range(70), jobs)
    assert found == [f"lost {n}" if n in (21, 61) else n * n for n in range(70)]
    assert deaths == 4


def test_a_process_that_died_for_another_reason_costs_nothing(tmp_path: Path) -> None:
    found, deaths = results(failing_work.die_once, [(n, tmp_path) for n in range(70)], 2)
    assert found == [n * n for n in range(70)]
    assert deaths == 2


@pytest.mark.filterwarnings("ignore")
def test_processes_that_cannot_start() -> None:
    with pytest.raises(WorkersError, match="3 processes in a row"):
        results(failing_work.Unreadable(), range(100), 2)


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_more_is_read_than_can_be_worked_on(jobs: int) -> None:
    read, done = 0, 0

    def items() -> Iterator[int]:
        nonlocal read
        for read in range(3_000):
            yield read
            assert read - done <= function_pool.BATCH_ITEMS * (function_pool.MOST_BEGUN * jobs + 2)

    for _ in in_order(failing_work.square, items(), jobs, lost, lambda: None):
        done += 1
    assert (read, done) == (2_999, 3_000)


def test_results_as_they_are_done() -> None:
    for jobs in [1, 3]:
        for count in [0, 1, 30]:
            assert sorted(as_done(failing_work.square_slowly, range(count), jobs, lost, lambda: None)) == [
                n * n for n in range(count)
            ]


def test_who_is_free_takes_the_next(tmp_path: Path) -> None:
    found = [*as_done(failing_work.wait_for_the_last, [(n, 4, tmp_path) for n in range(5)], 2, lost, lambda: None)]
    assert found in ([1, 2, 3, 4, 0], [1, 2, 3, 0, 4])  # the last two may be read together


def test_an_item_that_kills_costs_no_other_as_they_are_done() -> None:
    deaths: list[None] = []
    found = set(as_done(failing_work.die, range(19, 24), 2, lost, partial(deaths.append, None)))
    assert (found, len(deaths)) == ({19 * 19, 400, "lost 21", 22 * 22, 23 * 23}, 2)


class Data:
    def __init__(self, size: int) -> None:
        self.data = bytes(size)


def test_large_items_go_alone() -> None:
    sizes = [1, function_pool.BATCH_BYTES - 1, 1, function_pool.BATCH_BYTES + 1, 1]
    found = function_pool.batches(Data(size) for size in sizes)
    assert [[len(item.data) for item in batch.items] for batch in found] == [sizes[:2], sizes[2:3], sizes[3:4], [1]]


def test_who_stops_reading_ends_the_processes() -> None:
    threads = set(threading.enumerate())
    earlier = descendants(os.getpid())
    found = in_order(failing_work.square, range(1_000), 2, lost, lambda: None)
    assert next(found) == 0
    children = descendants(os.getpid()) - earlier
    assert len(children) == 2
    found.close()
    assert running(children) == set()
    for thread in set(threading.enumerate()) - threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
