"""A dictionary of limited size that drops its least recently used entries."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, overload

Key = TypeVar("Key")
Value = TypeVar("Value")
Default = TypeVar("Default")


class LruDict(Mapping[Key, Value]):
    """A dictionary that drops its least recently used entries when they weigh too much.

    An entry counts as used when it is set, and when it is read by `use`; other ways to read it do not count. An entry
    is weighed by `weigh` when it is set; without `weigh`, each weighs 1. The entry that was set last is kept, whatever
    it weighs.
    """

    def __init__(self, max_weight: int, weigh: Callable[[Value], int] | None = None) -> None:
        self.max_weight = max_weight
        self.weight = 0
        """The weight of all entries."""
        self._weigh = weigh
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._weights: dict[Key, int] = {}
        """The weights of the entries that `weigh` has weighed."""

    def __getitem__(self, key: Key) -> Value:
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    # Overridden for speed: Mapping.get raises and catches an error for each missing key.
    @overload
    def get(self, key: Key, /) -> Value | None: ...
    @overload
    def get(self, key: Key, /, default: Value | Default) -> Value | Default: ...
    def get(self, key: Key, /, default: Any = None) -> Any:
        """The value of a key, or the default if there is none."""
        return self._values.get(key, default)

    def __iter__(self) -> Iterator[Key]:
        """The keys, the least recently used first."""
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def use(self, key: Key) -> Value | None:
        """The value of a key, whose entry becomes the most recently used one; None if the key is missing."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def set(self, key: Key, value: Value) -> list[tuple[Key, Value]]:
        """Set the value of a key; returns the entries that are dropped."""
        self.pop(key)
        self._values[key] = value
        if self._weigh is not None:
            self._weights[key] = self._weigh(value)
        self.weight += self._weights.get(key, 1)
        dropped = []
        while self.weight > self.max_weight and len(self._values) > 1:
            oldest = next(iter(self._values))
            dropped.append((oldest, self._remove(oldest)))
        return dropped

    def pop(self, key: Key) -> Value | None:
        """Remove a key and return its value; None if there is none."""
        if key in self._values:
            return self._remove(key)
        return None

    def _remove(self, key: Key) -> Value:
        self.weight -= self._weights.pop(key, 1)
        return self._values.pop(key)
