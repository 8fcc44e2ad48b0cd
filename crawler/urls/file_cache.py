"""A cache of downloaded files. A file that several callers need at the same time is fetched once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from crawler.urls.lru_dict import LruDict

DAY = 24 * 60 * 60.0  # seconds
OVERHEAD_BYTES = 200
"""The weight of a cached file in addition to its bytes."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Fetched(Generic[Value]):
    """A file that was fetched."""

    value: Value
    """The content of the file, parsed."""
    size: int
    """Bytes of the file."""
    valid_until: float
    """The time, by the clock of the cache, until which the file is used. If it has passed, the file is not cached."""


class FileCache(Generic[Key, Value]):
    """The files that were used most recently. `max_weight` limits their bytes plus OVERHEAD_BYTES for each file."""

    def __init__(self, max_weight: int, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.entries: LruDict[Key, Fetched[Value]] = LruDict(max_weight, lambda entry: entry.size + OVERHEAD_BYTES)
        self._fetching: dict[Key, asyncio.Task[Fetched[Value]]] = {}
        self._waiting: Counter[Key] = Counter()
        """How many callers wait for each file that is being fetched."""

    async def get(self, key: Key, fetch: Callable[[], Awaitable[Fetched[Value]]]) -> Value:
        """The file with this key; `fetch` is called if the file is not in the cache, or not valid any more."""
        entry = self.entries.use(key)
        if entry is not None and self.clock() < entry.valid_until:
            return entry.value
        if key not in self._fetching:
            self._fetching[key] = asyncio.ensure_future(fetch())
            self._fetching[key].add_done_callback(partial(self._add, key))
        fetching = self._fetching[key]
        self._waiting[key] += 1
        try:
            return (await asyncio.shield(fetching)).value
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]
                # No caller waits any more: the request is cancelled, unless it is finished.
                if fetching.cancel():
                    del self._fetching[key]

    def last(self, key: Key) -> Value | None:
        """The file with this key as it was last fetched, valid or not; None if it is not in the cache."""
        entry = self.entries.get(key)
        if entry is None:
            return None
        return entry.value

    def _add(self, key: Key, task: asyncio.Task[Fetched[Value]]) -> None:
        """Add the file that a task has fetched, if it is valid."""
        if self._fetching.get(key) is task:  # otherwise `get` has cancelled and removed it
            del self._fetching[key]
        if task.cancelled() or task.exception() is not None or task.result().valid_until <= self.clock():
            return
        self.entries.set(key, task.result())
