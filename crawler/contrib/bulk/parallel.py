"""Runs a function on many processors; results come in the order of the items, or in the order in which they finish.

Processes are spawned, not forked, so that all systems behave alike. If a process dies, only the item it worked on is
affected: a new process tries that item again, and if that one dies too, the item is given up. concurrent.futures and
pebble do not guarantee this: in the first, one death breaks the whole pool; in the second, so does a death while a
process waits, receives or sends.
"""

import contextlib
import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice, takewhile
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from crawler.workers.machine import GARBAGE_THRESHOLD

T = TypeVar("T")
R = TypeVar("R")

BATCH = 16  # items sent to a process together
BATCH_SIZE = 2 * 1024 * 1024  # bytes of a batch at most, unless it is a single item
AHEAD = 2  # batches that a process has at once, so that it never waits for the next one
MOST_AHEAD = 16  # batches per process that may be started before the first is done
MOST_BYTES = 256 * 1024 * 1024  # of all batches started and not done, unless there is only one
DIED = "A process died; a new one continues its work."
STARTS = 3  # processes in a row that die before they work; then no more are started


class WorkersError(Exception):
    """The processes cannot be started or reached; the message is one clause."""


@dataclass(eq=False)
class ItemBatch(Generic[T, R]):
    """Items that are sent together, and their results so far."""

    items: list[T]
    size: int
    results: list[R] = field(default_factory=list)
    deaths: int = 0
    """How many processes died on the next item."""

    @property
    def done(self) -> bool:
        return len(self.results) == len(self.items)


def batches(items: Iterable[T]) -> Iterator[ItemBatch[T, Any]]:
    """The items in batches, limited by number and by the bytes of their `data`.

    >>> [batch.items for batch in batches(["bees"] * 17)] == [["bees"] * 16, ["bees"]]
    True
    """
    batch: ItemBatch[T, Any] = ItemBatch([], 0)
    for item in items:
        size = len(getattr(item, "data", b""))
        if batch.items and (len(batch.items) >= BATCH or batch.size + size > BATCH_SIZE):
            yield batch
            batch = ItemBatch([], 0)
        batch.items.append(item)
        batch.size += size
    if batch.items:
        yield batch


class PoolWorker(Generic[T, R]):
    def __init__(self, work: Callable[[T], R]) -> None:
        spawn = get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(theirs, work), daemon=True)
        with without_interrupts():
            self.process.start()
        theirs.close()
        self.batches: deque[ItemBatch[T, R]] = deque()
        self.ready = False

    def give(self, batch: ItemBatch[T, R]) -> None:
        """Send the items of a batch that have no result yet."""
        self.batches.append(batch)
        with contextlib.suppress(OSError):  # it is dead, which is noticed when its results are read
            self.pipe.send(batch.items[len(batch.results) :])

    def read(self) -> bool:
        """Read a result; returns whether the process is alive."""
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):
            return False
        if not self.ready:
            self.ready = True
            return True
        batch = self.batches[0]
        batch.results.append(result)
        batch.deaths = 0
        if batch.done:
            self.batches.popleft()
        return True

    def end(self) -> None:
        """Kill the process."""
        self.pipe.close()
        self.process.kill()
        self.process.join()


class WorkerPool(Generic[T, R]):
    """Processes and the batches that are started; the results come in order, or when they are done."""

    def __init__(
        self, work: Callable[[T], R], jobs: int, lost: Callable[[T], R], died: Callable[[], None], in_order: bool
    ) -> None:
        self.work, self.jobs, self.lost, self.died, self.in_order = work, jobs, lost, died, in_order
        self.ahead = AHEAD if in_order else 1
        self.workers: list[PoolWorker[T, R]] = []
        self.begun: deque[ItemBatch[T, R]] = deque()
        self.failed_starts = 0

    def free(self) -> PoolWorker[T, R] | None:
        """A process that can take another batch; processes are started until each has one batch."""
        if self.begun and sum(batch.size for batch in self.begun if not batch.done) > MOST_BYTES:
            return None
        if len(self.begun) >= MOST_AHEAD * self.jobs:
            return None
        least = min(self.workers, key=lambda worker: len(worker.batches), default=None)
        if (least is None or least.batches) and len(self.workers) < self.jobs:
            self.workers.append(PoolWorker(self.work))
            return self.workers[-1]
        return least if least is not None and len(least.batches) < self.ahead else None

    def read(self, seconds: float | None = None) -> None:
        """Wait up to so many seconds for results, and read those that are available."""
        pipes: dict[Any, PoolWorker[T, R]] = {worker.pipe: worker for worker in self.workers}
        for pipe in wait(list(pipes), seconds):
            worker = pipes[pipe]
            if worker.read():
                self.failed_starts = 0
            else:
                self.replace(worker)

    def replace(self, worker: PoolWorker[T, R]) -> None:
        """Start a new process instead of a dead one; give up an item on which two have died."""
        worker.end()
        self.died()
        if not worker.ready:
            self.failed_starts += 1
            if self.failed_starts == STARTS:
                raise WorkersError(f"{STARTS} processes in a row ended before they began to work")
        elif worker.batches:
            self.count_death(worker.batches[0])
        new: PoolWorker[T, R] = PoolWorker(self.work)
        self.workers[self.workers.index(worker)] = new
        for batch in worker.batches:
            if not batch.done:
                new.give(batch)

    def count_death(self, batch: ItemBatch[T, R]) -> None:
        """Count a death for the item a process worked on; give the item up at the second."""
        batch.deaths += 1
        if batch.deaths > 1:
            batch.results.append(self.lost(batch.items[len(batch.results)]))
            batch.deaths = 0

    def finished(self) -> Iterator[R]:
        """The results of the batches that are done, in order only up to the first that is not."""
        done = [*takewhile(lambda batch: batch.done, self.begun)] if self.in_order else self.begun
        for batch in [batch for batch in done if batch.done]:
            self.begun.remove(batch)
            yield from batch.results

    def results(self, todo: Iterable[ItemBatch[T, R]]) -> Iterator[R]:
        """The results of the batches; at the end the processes are killed."""
        try:
            for batch in todo:
                self.read(0)  # a process with a full pipe blocks
                yield from self.finished()
                while (worker := self.free()) is None:
                    self.read()
                    yield from self.finished()
                self.begun.append(batch)
                worker.give(batch)
            while self.begun:
                self.read()
                yield from self.finished()
        finally:
            for worker in self.workers:
                worker.end()


def in_order(
    work: Callable[[T], R], items: Iterable[T], jobs: int, lost: Callable[[T], R], died: Callable[[], None]
) -> Iterator[R]:
    """The result of each item, in order; `lost` makes the result of an item on which processes die, `died` is called at
    deaths.

    With one job, or one batch, everything is done in this process.
    """
    todo = batches(items)
    first = list(islice(todo, 2)) if jobs > 1 else []
    todo = chain(first, todo)
    if len(first) < 2:
        for batch in todo:
            yield from map(work, batch.items)
        return
    yield from WorkerPool(work, jobs, lost, died, in_order=True).results(todo)


def as_done(
    work: Callable[[T], R], items: Iterable[T], jobs: int, lost: Callable[[T], R], died: Callable[[], None]
) -> Iterator[R]:
    """The result of each item when it is done, always in other processes: for few items that take long."""
    todo: Iterator[ItemBatch[T, R]] = (ItemBatch([item], 0) for item in items)
    yield from WorkerPool(work, jobs, lost, died, in_order=False).results(todo)


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    """Work on the items from the pipe until its other end is closed, then exit at once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the main one stops the others
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)
    todo: SimpleQueue[list[Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, todo), daemon=True).start()
    with contextlib.suppress(OSError):  # the other end is closed
        pipe.send(None)
        while True:
            for item in todo.get():
                pipe.send(work(item))


def _receive(pipe: Connection, todo: "SimpleQueue[list[Any]]") -> None:
    try:
        while True:
            todo.put(pipe.recv())
    except (EOFError, OSError):
        os._exit(0)


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Within the context Ctrl-C does nothing, also in processes that are started in it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
