"""A file that only takes bytes, for writers that want one, whose bytes are taken on while it is written."""

from io import RawIOBase
from typing import Any


class ByteSink(RawIOBase):
    """A file whose new bytes can be taken, and that remembers their offset."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._at += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._at

    def taken(self) -> bytes:
        """What was written since the last call."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data
