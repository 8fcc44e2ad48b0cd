"""A write-only file in memory: a library writes into it, and its caller takes the bytes out of it meanwhile."""

from io import RawIOBase
from typing import Any


class ByteSink(RawIOBase):
    """A file that keeps the bytes written since the last call of `take`, and counts all of them."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._offset = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._offset += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._offset

    def take(self) -> bytes:
        """Remove and return the bytes that were written since the last call."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data
