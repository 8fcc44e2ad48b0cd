"""What takes longer than an answer may: computed by one thread, one after the other, and kept until it is too old."""

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
"""Times as long as it took to compute it, a result is kept at least: no more than a twentieth of a core is spent."""
MOST = 200
"""Results that are kept: of others, those longest not asked for are forgotten."""


@dataclass
class Result:
    """The result of a computation."""

    value: Any = None
    at: float | None = None
    """When it was computed, as time.time(); None while it was not yet."""
    error: Message | None = None
    """Why there is none, or none that is newer."""
    took: float = 0.0
    busy: bool = False
    """Whether it is being computed, or waits for its turn."""
    ready: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set while it is as new as anybody asked for."""
    done: int = 0
    """How far it is, where its computation tells."""


class Background:
    """Results by their names."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._turn = threading.Lock()
        self._queue: SimpleQueue[tuple[Result, Callable[[], Any]]] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def get(self, name: Hashable, compute: Callable[[], Any], age: float, patience: float = 0.0) -> Result:
        """What was computed last, no older than these seconds if it could be had within the patience."""
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
        """Say how far the computation of this name is."""
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
