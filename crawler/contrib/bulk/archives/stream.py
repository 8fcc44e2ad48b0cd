"""The bytes of a file, read once from beginning to end, decompressed if they are gzip, xz or zstd.

In each of these formats a file may have several parts, one after the other; archives are often written with one part
per record. A damaged part leaves a hole, and reading continues at the next part. The magic of a format is the bytes
with which each part begins.

`opened` makes a `Stream` of a file. Its pieces come from `unpacked`, which finds the parts and reads each with `_part`.
"""

import lzma
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain
from typing import Any

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor as ZstdDecompressor
    from compression.zstd import ZstdError as ZstdError
else:
    from backports.zstd import ZstdDecompressor as ZstdDecompressor
    from backports.zstd import ZstdError as ZstdError

PIECE_BYTES = 64 * 1024
KEPT_PIECES = 32  # the last pieces read of a damaged part, which are searched for the beginning of the next part
MAX_XZ_MEMORY = 256 * 1024 * 1024  # bytes; the highest preset of xz needs 65 MB
# What zlib calls wbits: the largest window, with a header of zlib, with none, with a header of gzip.
# https://docs.python.org/3/library/zlib.html#zlib.decompress
ZLIB_BITS = 15
RAW_BITS = -15
GZIP_BITS = 31
ERRORS = (zlib.error, lzma.LZMAError, ZstdError, ValueError)
"""What decompressors raise for damaged data."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A range of bytes in a file that could not be decompressed."""

    at: int
    """The number of compressed bytes before it; if the data are cut off, the number of bytes before their end."""
    why: str

    def __str__(self) -> str:
        return f"{self.why}, at byte {self.at:,} of the file"


class Inflate:
    """zlib's decompressor with the interface of those for xz and zstd; `wbits` is ZLIB_BITS, RAW_BITS or GZIP_BITS."""

    def __init__(self, wbits: int) -> None:
        self._inflate = zlib.decompressobj(wbits=wbits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        inflated = self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)
        self.needs_input = len(inflated) < max_length and not self._inflate.unconsumed_tail
        return inflated


@dataclass(frozen=True, slots=True)
class Packing:
    """A kind of compression: its name, the first bytes of a part, and its decompressor."""

    name: str
    magic: re.Pattern[bytes]
    unpacker: Callable[[], Any]
    """Makes a new decompressor, for one part."""


# The flags and the operating system are checked, too: the first three bytes alone occur by chance in searched data.
# https://datatracker.ietf.org/doc/html/rfc1952#section-2.3
GZIP = re.compile(rb"\x1f\x8b\x08[\0-\x1f].{5}[\0-\x0d\xff]", re.DOTALL)
PACKINGS = {
    ".gz": Packing(name="gzip", magic=GZIP, unpacker=lambda: Inflate(GZIP_BITS)),
    ".xz": Packing(
        name="xz", magic=re.compile(rb"\xfd7zXZ\0"), unpacker=lambda: lzma.LZMADecompressor(memlimit=MAX_XZ_MEMORY)
    ),
    # A frame, or a skippable frame: https://www.rfc-editor.org/rfc/rfc8878#section-3.1
    ".zst": Packing(
        name="zstd", magic=re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), unpacker=ZstdDecompressor
    ),
}
MAGIC_LENGTH = 10  # bytes of the longest magic, a header of gzip


def packing_of(name: str, head: bytes) -> Packing | None:
    """How a file is compressed, by its name, or else by its first bytes.

    >>> packing_of("pages.jsonl.gz", b"").name, packing_of("pages.jsonl", b"{")
    ('gzip', None)
    """
    for suffix, packing in PACKINGS.items():
        if name.lower().endswith(suffix):
            return packing
    return next((packing for packing in PACKINGS.values() if packing.magic.match(head)), None)


def bare_name(name: str) -> str:
    """A file name in lower case, without the suffix of its compression.

    >>> bare_name("A.HTML.gz"), bare_name("a.gz.html")
    ('a.html', 'a.gz.html')
    """
    lower = name.lower()
    return next((lower.removesuffix(suffix) for suffix in PACKINGS if lower.endswith(suffix)), lower)


def pieces(file: BufferedReader) -> Iterator[bytes]:
    """The bytes of a file in pieces; the first is long enough to detect the compression."""
    head = file.read(MAGIC_LENGTH)
    if head:
        yield head
    while data := file.read1(PIECE_BYTES):
        yield data


class _Packed:
    """The compressed bytes of a file; bytes can be put back."""

    def __init__(self, stored: Iterator[bytes]) -> None:
        self.stored = stored
        self.ahead = b""
        """Bytes that were put back."""
        self.offset = 0
        """How many bytes were read, without those that were put back."""

    def read(self) -> bytes:
        data = self.ahead or next(self.stored, b"")
        self.ahead = b""
        self.offset += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        self.ahead = data + self.ahead
        self.offset -= len(data)

    def seek(self, magic: re.Pattern[bytes]) -> tuple[bool, bool]:
        """Go to the next part; returns whether there is one, and whether only padding (zero bytes) was skipped."""
        is_padding = True
        while data := self.read():
            while len(data) < MAGIC_LENGTH:  # too short to have a whole magic
                more = self.read()
                if not more:
                    break
                data += more

            match = magic.search(data)
            if match:
                is_padding = is_padding and not data[: match.start()].strip(b"\0")
                self.put_back(data[match.start() :])
                return True, is_padding

            is_padding = is_padding and not data.strip(b"\0")
            more = self.read()
            if not more:
                return False, is_padding
            # A magic may begin in this piece and end in the next one.
            self.put_back(data[max(0, len(data) - MAGIC_LENGTH + 1) :] + more)
        return False, is_padding


def unpacked(stored: Iterator[bytes], packing: Packing) -> Iterator[bytes | Hole]:
    """The content of a compressed file, with a hole for each damaged part."""
    packed = _Packed(stored)
    is_complete = True
    while True:
        offset = packed.offset
        has_next, is_padding = packed.seek(packing.magic)
        # After an incomplete part, the skipped bytes are its rest, for which there was a hole already.
        if is_complete and not is_padding:
            yield Hole(at=offset, why=f"this is not {packing.name}")
        if not has_next:
            return
        is_complete = yield from _part(packed, packing)


def _part(packed: _Packed, packing: Packing) -> Generator[bytes | Hole, None, bool]:
    """Yields the content of one part. Returns whether it is complete; if not, its last pieces are put back, to be
    searched for the next part.
    """
    start = packed.offset
    decompressor = packing.unpacker()
    last_pieces: deque[bytes] = deque(maxlen=KEPT_PIECES)

    try:
        while not decompressor.eof:
            data = b""
            if decompressor.needs_input:
                data = packed.read()
                if not data:
                    raise EOFError
                last_pieces.append(data)
            content = decompressor.decompress(data, PIECE_BYTES)
            if content:
                yield content
    except EOFError:
        yield Hole(at=packed.offset, why=f"the {packing.name} data are cut off")
    except ERRORS as error:
        yield Hole(
            at=start,
            why=f"the {packing.name} data are damaged ({str(error) or type(error).__name__}): the rest is lost",
        )
    else:
        packed.put_back(decompressor.unused_data)
        return True

    packed.put_back(b"".join(last_pieces)[1:])  # without its first byte, so that this part is not found again
    return False


class Stream:
    """The bytes of a file up to its end or a hole, with a buffer to look ahead; `resume` continues after the hole."""

    def __init__(self, pieces: Iterable[bytes | Hole]) -> None:
        self._pieces = iter(pieces)
        self._buffer = bytearray()
        self._ended = False
        self.offset = 0
        """How many decompressed bytes were taken or skipped."""
        self.hole: Hole | None = None
        """The hole at which the bytes end; None if no hole has been reached."""

    def _more(self) -> bool:
        """Read another piece into the buffer; returns whether there was one before the end or a hole."""
        if self._ended:
            return False
        piece = next(self._pieces, b"")
        if isinstance(piece, Hole):
            self.hole = piece
        self._ended = self.hole is not None or not piece
        if isinstance(piece, bytes):
            self._buffer += piece
        return not self._ended

    def resume(self) -> None:
        """Skip the rest of the bytes before the hole, and continue after it."""
        self.skip(len(self._buffer))
        self.hole = None
        self._ended = False

    def _fill(self, size: int) -> None:
        """Read until the buffer has `size` bytes, or all that remain."""
        while len(self._buffer) < size and self._more():
            pass

    def matches(self, pattern: re.Pattern[bytes], at: int, size: int) -> bool:
        """Whether the pattern matches the `size` bytes that begin `at` bytes ahead, or their beginning."""
        self._fill(at + size)
        return len(self._buffer) >= at and pattern.match(self._buffer, at, at + size) is not None

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer at the end."""
        self._fill(size)
        return bytes(memoryview(self._buffer)[:size])

    def take(self, size: int) -> bytes:
        """The next bytes, fewer at the end, removed from the buffer."""
        next_bytes = self.peek(size)
        self.skip(len(next_bytes))
        return next_bytes

    def skip(self, size: int) -> None:
        """Skip bytes, which must be in the buffer."""
        del self._buffer[:size]
        self.offset += size

    def line(self, limit: int) -> bytes | None:
        """The next line with its end; empty at the end of the file; None for a line over the limit, which is
        skipped.
        """
        last = self._buffer.find(b"\n")
        while last < 0:
            searched = len(self._buffer)
            if searched > limit:
                self._skip_line()
                return None
            if not self._more():
                last = searched - 1  # the last line may have no line end
                break
            last = self._buffer.find(b"\n", searched)
        if last >= limit:
            self.skip(last + 1)
            return None
        return self.take(last + 1)

    def _skip_line(self) -> None:
        """Skip the rest of a line without holding it in memory."""
        while (end := self._buffer.find(b"\n")) < 0:
            self.skip(len(self._buffer))
            if not self._more():
                return
        self.skip(end + 1)

    def find(self, mark: bytes, limit: int) -> int | None:
        """The number of bytes before the next line that begins with the mark; None if there is no such line within
        `limit` bytes.
        """
        if self.peek(len(mark)) == mark:
            return 0
        start = 0
        while (at := self._buffer.find(b"\n" + mark, start)) < 0:
            start = max(0, len(self._buffer) - len(mark))  # the next piece may continue a mark that begins here
            if start > limit or not self._more():
                return None
        return at + 1 if at < limit else None

    def skip_to(self, mark: bytes) -> bool:
        """Skip everything before the next line that begins with the mark, or everything to the end or hole; returns
        whether more than white space was skipped.
        """
        has_junk = False
        if self.peek(len(mark)) == mark:
            return has_junk
        while (at := self._buffer.find(b"\n" + mark)) < 0:
            skipped = max(0, len(self._buffer) - len(mark))  # the next piece may continue a mark that begins here
            has_junk = has_junk or bool(self._buffer[:skipped].strip())
            self.skip(skipped)
            if not self._more():
                has_junk = has_junk or bool(self._buffer.strip())
                self.skip(len(self._buffer))
                return has_junk
        has_junk = has_junk or bool(self._buffer[:at].strip())
        self.skip(at + 1)
        return has_junk


def opened(file: BufferedReader, name: str) -> Stream:
    """An open file as a stream, decompressed if necessary."""
    stored = pieces(file)
    head = next(stored, b"")
    packing = packing_of(name, head)
    stored = chain([head], stored)
    if packing is None:
        return Stream(stored)
    return Stream(unpacked(stored, packing))
