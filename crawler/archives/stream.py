"""A file being read once, from its beginning to its end, with as much of it in memory as is looked at."""

import re
from collections.abc import Iterable

from crawler.archives.compression import Hole


class Stream:
    """The bytes of a file, up to its end or to a hole; `resume` goes on behind the hole."""

    def __init__(self, pieces: Iterable[bytes | Hole]) -> None:
        self._pieces = iter(pieces)
        self._buffer = bytearray()
        self._ended = False
        self.offset = 0
        """How many bytes were taken or passed, unpacked."""
        self.hole: Hole | None = None

    def _more(self) -> bool:
        """Read another piece; whether there was one."""
        if self._ended:
            return False
        piece = next(self._pieces, b"")
        if isinstance(piece, Hole):
            self.hole = piece
        self._ended = self.hole is not None or not piece
        if isinstance(piece, bytes):
            self._buffer += piece
        return not self._ended

    def resume(self) -> bool:
        """Whether there is a hole behind which to go on."""
        if self.hole is None:
            return False
        self.skip(len(self._buffer))
        self.hole, self._ended = None, False
        return True

    def _fill(self, size: int) -> None:
        """Have so many bytes in memory, or all there are."""
        while len(self._buffer) < size and self._more():
            pass

    def matches(self, pattern: re.Pattern[bytes], at: int, size: int) -> bool:
        """Whether there are so many bytes before what the pattern matches in the next ones."""
        self._fill(at + size)
        return len(self._buffer) >= at and pattern.match(self._buffer, at, at + size) is not None

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        self._fill(size)
        return bytes(memoryview(self._buffer)[:size])

    def take(self, size: int) -> bytes:
        """The next bytes, fewer at the end, which are read by that."""
        taken = self.peek(size)
        self.skip(len(taken))
        return taken

    def skip(self, size: int) -> None:
        """Pass over bytes that are in memory."""
        del self._buffer[:size]
        self.offset += size

    def line(self, limit: int) -> bytes | None:
        """The next line with its end; nothing at the end; None for a line over the limit, which is passed over."""
        end, seen = self._buffer.find(b"\n"), 0
        while end < 0:
            seen = len(self._buffer)
            if seen > limit:
                self._pass_line()
                return None
            if not self._more():
                end = seen - 1
                break
            end = self._buffer.find(b"\n", seen)
        if end >= limit:
            self.skip(end + 1)
            return None
        return self.take(end + 1)

    def _pass_line(self) -> None:
        """Pass over the rest of a line, in little memory."""
        while (end := self._buffer.find(b"\n")) < 0:
            self.skip(len(self._buffer))
            if not self._more():
                return
        self.skip(end + 1)

    def find(self, mark: bytes, limit: int) -> int | None:
        """How far the next line that begins with the mark is, if it is no farther than the limit."""
        if self.peek(len(mark)) == mark:
            return 0
        start = 0
        while (at := self._buffer.find(b"\n" + mark, start)) < 0:
            start = max(0, len(self._buffer) - len(mark))
            if start > limit or not self._more():
                return None
        return at + 1 if at < limit else None

    def skip_to(self, mark: bytes) -> bool:
        """Pass over everything before the next line that begins with the mark; whether that was more than blanks."""
        junk = False
        if self.peek(len(mark)) == mark:
            return junk
        while (at := self._buffer.find(b"\n" + mark)) < 0:
            passed = max(0, len(self._buffer) - len(mark))
            junk = junk or bool(self._buffer[:passed].strip())
            self.skip(passed)
            if not self._more():
                junk = junk or bool(self._buffer.strip())
                self.skip(len(self._buffer))
                return junk
        junk = junk or bool(self._buffer[:at].strip())
        self.skip(at + 1)
        return junk
