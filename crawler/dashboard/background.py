"""Computations that take longer than an answer may: one thread does them in turn, and their results are kept."""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from crawler.store.database import StateError
from crawler.translation.message import Message

logger = logging.getLogger(__name__)

REST = 20.0
"""A result is kept at least this many times as long as its computation took: that costs a twentieth of a core."""
MOST = 200
"""Results that are kept; beyond it, those are dropped that nobody has asked for the longest."""


@dataclass
class Result:
    """The result of a computation."""

    value: Any = None
    at: float | None = None
    """When it was computed, as time.time(); None while it was not yet."""
    error: Message | None = None
    """Why the last computation failed."""
    took: float = 0.0
    busy: bool = False
    """Whether it is in the queue or being computed."""
    ready: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set while no newer result is being computed."""
    done: int = 0
    """The progress, where the computation reports it."""


class Background:
    """Results by their names."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._turn = threading.Lock()
        self._queue: SimpleQueue[tuple[Result, Callable[[], Any]]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def get(self, name: Hashable, compute: Callable[[], Any], age: float, patience: float = 0.0) -> Result:
        """The last result; one older than `age` seconds is computed anew, for which `patience` seconds are waited."""
        with self._turn:
            result = self._results.setdefault(name, Result())
            self._results.move_to_end(name)
            if len(self._results) > MOST:
                self._results.popitem(last=False)
            old = result.at is None or time.time() - result.at > max(age, REST * result.took)
            if old and not result.busy:
                result.busy = True
                result.ready.clear()
                self._queue.put((result, compute))
                self._start()
        if patience:
            result.ready.wait(patience)
        return result

    def tell(self, name: Hashable, done: int) -> None:
        """Report the progress of a computation."""
        if (result := self._results.get(name)) is not None:
            result.done = done

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="background", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            result, compute = self._queue.get()
            begun = time.monotonic()
            result.done = 0
            try:
                result.value, result.error = compute(), None
            except StateError as error:
                result.error = error.message
            except Exception:  # whatever it is, it must not end the thread
                logger.exception("What was to be computed cannot be")
                result.error = Message("It cannot be computed; the log says why.")
            result.took = time.monotonic() - begun
            with self._turn:  # or whoever asks in between is told that the old is new
                result.at, result.busy = time.time(), False
                result.ready.set()
