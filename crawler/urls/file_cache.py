"""A cache of files by their addresses: each is fetched once for all that need it at the same time."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from crawler.urls.lru_dict import LruDict

DAY = 24 * 60 * 60.0  # seconds
WEIGHT = 200
"""Bytes that each entry counts for, in addition to its own."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Fetched(Generic[Value]):
    """What was read of a file."""

    value: Value
    size: int
    """Bytes of the file."""
    valid_until: float
    """On the clock of the cache; in the past for what is not used again."""


class FileCache(Generic[Key, Value]):
    """The files that were used last, limited by size and age."""

    def __init__(self, max_weight: int, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.entries: LruDict[Key, Fetched[Value]] = LruDict(max_weight, lambda entry: entry.size + WEIGHT)
        self._fetching: dict[Key, asyncio.Task[Fetched[Value]]] = {}
        self._waiting: Counter[Key] = Counter()
        """How many wait for each file that is fetched."""

    async def get(self, key: Key, fetch: Callable[[], Awaitable[Fetched[Value]]]) -> Value:
        """The file with this key, fetched if the cache has none that is still valid."""
        entry = self.entries.use(key)
        if entry is not None and self.clock() < entry.valid_until:
            return entry.value
        if key not in self._fetching:
            self._fetching[key] = asyncio.ensure_future(fetch())
            self._fetching[key].add_done_callback(partial(self._fetched, key))
        fetching = self._fetching[key]
        self._waiting[key] += 1
        try:
            return (await asyncio.shield(fetching)).value
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:  # who gives up cancels it for nobody else
                del self._waiting[key]
                if fetching.cancel():
                    del self._fetching[key]

    def last(self, key: Key) -> Value | None:
        """The file with this key that was fetched last, valid or not; None if it is not in the cache."""
        entry = self.entries.get(key)
        return entry.value if entry is not None else None

    def _fetched(self, key: Key, task: asyncio.Task[Fetched[Value]]) -> None:
        """Add a file."""
        if self._fetching.get(key) is task:
            del self._fetching[key]
        if task.cancelled() or task.exception() is not None or task.result().valid_until <= self.clock():
            return
        self.entries.set(key, task.result())
