"""Calls a function in many processes; results come in the order of the items, or in the order in which they finish.

Each process has a thread that sends it batches of items and reads the results. If a process dies, only the item it
worked on is affected: a new process tries that item again, and if the new process dies, too, the item is given up.
Neither concurrent.futures nor pebble guarantees this: a death breaks the whole pool, in pebble only if the process was
waiting, receiving or sending.
"""

from __future__ import annotations

import gc
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice, takewhile
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

from crawler.processes.function_process import ChildDiedError, FunctionProcess
from crawler.processes.machine import GARBAGE_THRESHOLD

T = TypeVar("T")
R = TypeVar("R")

BATCH_ITEMS = 16  # the most items that are sent to a process together
BATCH_BYTES = 2 * 1024 * 1024  # the most bytes of a batch, unless it is a single item
AHEAD = 2  # batches that a process has at once with `in_order`, so that it never waits for the next one
MOST_BEGUN = 16  # the most batches per process that are begun and whose results are not returned yet
MOST_BYTES = 256 * 1024 * 1024  # no batch is begun while those that are begun and not done have more bytes
DIED = "A process died; a new one continues its work."
MOST_FAILED_STARTS = 3  # if this many processes in a row die before they begin to work, no more are started


class WorkersError(Exception):
    """The processes cannot be started or reached; the message is one clause."""


@dataclass(eq=False)
class ItemBatch(Generic[T]):
    """Items that are sent together, and their results so far."""

    items: list[T]
    size: int
    """The bytes of the items' `data`; 0 if they have none."""
    results: list[Any] = field(default_factory=list)
    deaths: int = 0
    """How many processes died on the first item without a result."""
    is_done: bool = False
    """Whether the pool has received the event that all results are there."""


def batches(items: Iterable[T]) -> Iterator[ItemBatch[T]]:
    """The items in batches, limited by number and by the bytes of their `data`.

    >>> [batch.items for batch in batches(["bees"] * 17)] == [["bees"] * 16, ["bees"]]
    True
    """
    batch: ItemBatch[T] = ItemBatch([], 0)
    for item in items:
        size = len(getattr(item, "data", b""))
        if batch.items and (len(batch.items) >= BATCH_ITEMS or batch.size + size > BATCH_BYTES):
            yield batch
            batch = ItemBatch([], 0)
        batch.items.append(item)
        batch.size += size
    if batch.items:
        yield batch


class FunctionPool(Generic[T, R]):
    """Calls `work` in `jobs` processes. With `in_order`, results come in the order of the items, else as they are done.

    `lost` returns the result of an item that was given up, and `died` is called when a process has died.
    """

    def __init__(
        self,
        work: Callable[[T], R],
        jobs: int,
        lost: Callable[[T], R],
        died: Callable[[], None],
        *,
        in_order: bool,
    ) -> None:
        self.work = work
        self.jobs = jobs
        self.lost = lost
        self.died = died
        self.in_order = in_order
        self.ahead = AHEAD if in_order else 1
        """Batches that a process has at once."""
        self.begun: deque[ItemBatch[T]] = deque()
        """Batches that are queued, being worked on or done, in their order, until their results are returned."""
        self._waiting: SimpleQueue[ItemBatch[T] | None] = SimpleQueue()
        """Batches for the next process that has time; None ends a thread."""
        self._events: SimpleQueue[ItemBatch[T] | ChildDiedError | Exception] = SimpleQueue()
        """Batches that are done, deaths, and errors that end the work."""
        self._processes: list[FunctionProcess[T]] = []
        self._threads: list[Thread] = []
        self._lock = Lock()
        self._is_over = False

    def results(self, todo: Iterable[ItemBatch[T]]) -> Iterator[R]:
        """The results of the batches; at the end the processes are killed."""
        try:
            for batch in todo:
                self._begin(batch)
                while self._is_full():
                    self._wait()
                    yield from self._take_finished()
            while self.begun:
                self._wait()
                yield from self._take_finished()
        finally:
            self._end()

    def _begin(self, batch: ItemBatch[T]) -> None:
        """Queue a batch; start another process until there are as many as are allowed."""
        self.begun.append(batch)
        self._waiting.put(batch)
        if len(self._processes) < self.jobs:
            process = FunctionProcess[T](partial(pickling, self.work))
            self._processes.append(process)
            self._threads.append(Thread(target=self._work_through, args=(process,), daemon=True))
            self._threads[-1].start()

    def _is_full(self) -> bool:
        """Whether a batch must be finished before another is begun."""
        unfinished_sizes = [batch.size for batch in self.begun if not batch.is_done]
        return (
            len(unfinished_sizes) >= self.ahead * self.jobs
            or len(self.begun) >= MOST_BEGUN * self.jobs
            or sum(unfinished_sizes) > MOST_BYTES
        )

    def _wait(self) -> None:
        """Wait until a batch is done or a process has died."""
        event = self._events.get()
        if isinstance(event, ChildDiedError):
            self.died()
        elif isinstance(event, Exception):
            raise event
        else:
            event.is_done = True

    def _take_finished(self) -> Iterator[R]:
        """Remove the batches that are done, with `in_order` up to the first that is not; yields their results."""
        candidates = list(self.begun)
        if self.in_order:
            candidates = list(takewhile(lambda batch: batch.is_done, candidates))
        for batch in candidates:
            if batch.is_done:
                self.begun.remove(batch)
                yield from batch.results

    def _end(self) -> None:
        """Kill the processes, and wait until their threads have ended."""
        with self._lock:
            self._is_over = True
            for process in self._processes:
                process.kill()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    # The following methods run in the thread of a process.

    def _work_through(self, process: FunctionProcess[T]) -> None:
        """Have a process work on batches until the pool ends."""
        sent_batches: deque[ItemBatch[T]] = deque()
        failed_starts = 0
        try:
            while self._feed(sent_batches, process):
                batch = sent_batches[0]
                try:
                    batch.results.append(pickle.loads(process.receive()))  # noqa: S301 - our own function has written it
                    batch.deaths = 0
                    failed_starts = 0
                except ChildDiedError as error:
                    if error.is_ready:
                        failed_starts = 0
                        self._count_death(batch)
                    else:
                        failed_starts += 1
                    if failed_starts == MOST_FAILED_STARTS:
                        why = f"{failed_starts} processes in a row ended before they began to work"
                        raise WorkersError(why) from None
                    self._events.put(error)
                    self._start(process)
                    self._send(sent_batches, process)
                if len(batch.results) == len(batch.items):
                    self._events.put(sent_batches.popleft())
        except Exception as error:  # the thread of the caller raises it
            self._events.put(error)
        finally:
            process.close()

    def _feed(self, sent_batches: deque[ItemBatch[T]], process: FunctionProcess[T]) -> bool:
        """Send a process the next batch if it may have one; if it has none, wait for one.

        Returns False if the pool has ended.
        """
        if len(sent_batches) < self.ahead:
            with suppress(Empty):
                batch = self._waiting.get(block=not sent_batches)
                if batch is None:
                    return False
                sent_batches.append(batch)
                if len(sent_batches) == 1:  # the process may have died while it had nothing to do
                    self._start(process)
                self._send([batch], process)
        return not self._is_over

    def _start(self, process: FunctionProcess[T]) -> None:
        """Start a process unless it runs or the pool has ended; no batch has been sent to the new one yet."""
        with self._lock:
            if not self._is_over:
                process.start()

    def _send(self, batches: Iterable[ItemBatch[T]], process: FunctionProcess[T]) -> None:
        """Send the items of batches that have no result yet."""
        for batch in batches:
            for item in batch.items[len(batch.results) :]:
                process.send(item)

    def _count_death(self, batch: ItemBatch[T]) -> None:
        """Count a death for the item on which a process worked; give the item up at the second death."""
        batch.deaths += 1
        if batch.deaths > 1:
            batch.results.append(self.lost(batch.items[len(batch.results)]))
            batch.deaths = 0


def pickling(work: Callable[[T], R]) -> Callable[[T], bytes]:
    """The function with pickled results. It is called in a child, and sets garbage collection as in other processes."""
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)
    return lambda item: pickle.dumps(work(item))


def in_order(
    work: Callable[[T], R], items: Iterable[T], jobs: int, lost: Callable[[T], R], died: Callable[[], None]
) -> Iterator[R]:
    """The result of each item, in order. `lost` and `died` are those of `FunctionPool`.

    With one job, or with items for one batch only, everything is done in this process.
    """
    todo = batches(items)
    first_batches = []
    if jobs > 1:
        first_batches = list(islice(todo, 2))
    todo = chain(first_batches, todo)
    if len(first_batches) < 2:
        for batch in todo:
            yield from map(work, batch.items)
        return
    yield from FunctionPool(work, jobs, lost, died, in_order=True).results(todo)


def as_done(
    work: Callable[[T], R], items: Iterable[T], jobs: int, lost: Callable[[T], R], died: Callable[[], None]
) -> Iterator[R]:
    """The result of each item as soon as it is done, always in other processes: meant for few items that take long."""
    todo = (ItemBatch([item], 0) for item in items)
    yield from FunctionPool(work, jobs, lost, died, in_order=False).results(todo)
