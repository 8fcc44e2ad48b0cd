"""gzip, xz and zstd, unpacked a piece at a time; what is damaged leaves a hole, and the next part is read again.

Each of them allows several parts in a file, one behind the other; archives are often written one record a part.
"""

import lzma
import re
import sys
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from io import BufferedReader
from typing import NamedTuple, Protocol

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError
else:
    from backports.zstd import ZstdDecompressor, ZstdError

__all__ = ["Hole", "Inflate", "Unpacker", "ZstdDecompressor", "ZstdError", "packing_of", "pieces", "unpack", "unpacked"]

PIECE = 64 * 1024
KEPT = 32  # pieces of a damaged part that are searched for the next part's beginning
MAX_DICTIONARY = 256 * 1024 * 1024  # memory xz may ask for; its highest preset asks for 65 MB
ERRORS = (zlib.error, lzma.LZMAError, ZstdError, ValueError)


class Hole(NamedTuple):
    """A place in a file, in bytes, where nothing could be unpacked."""

    at: int
    why: str


class Unpacker(Protocol):
    """One part of a compressed file being unpacked, as in the standard library's modules."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class Inflate:
    """zlib, which has other names for the same."""

    def __init__(self, bits: int) -> None:
        self._inflate = zlib.decompressobj(wbits=bits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        found = self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)
        self.needs_input = len(found) < max_length and not self._inflate.unconsumed_tail
        return found


class Packing(NamedTuple):
    """A kind of compression: its name, the first bytes of a part, and what unpacks one."""

    name: str
    magic: re.Pattern[bytes]
    unpacker: Callable[[], Unpacker]


# Flags, time and system are looked at too: three bytes alone turn up by chance in what is searched.
GZIP = re.compile(rb"\x1f\x8b\x08[\0-\x1f].{5}[\0-\x0d\xff]", re.DOTALL)
PACKINGS = {
    ".gz": Packing("gzip", GZIP, lambda: Inflate(31)),
    ".xz": Packing("xz", re.compile(rb"\xfd7zXZ\0"), lambda: lzma.LZMADecompressor(memlimit=MAX_DICTIONARY)),
    ".zst": Packing("zstd", re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), ZstdDecompressor),
}
MAGIC_LENGTH = 10


def packing_of(name: str, head: bytes) -> Packing | None:
    """How a file is compressed, by its name, else by its first bytes.

    >>> packing_of("pages.jsonl.gz", b"").name, packing_of("pages.jsonl", b"{")
    ('gzip', None)
    """
    for suffix, packing in PACKINGS.items():
        if name.lower().endswith(suffix):
            return packing
    return next((packing for packing in PACKINGS.values() if packing.magic.match(head)), None)


def pieces(file: BufferedReader) -> Iterator[bytes]:
    """The bytes of a file as they come, enough in the first piece to tell how it is compressed."""
    if head := file.read(MAGIC_LENGTH):
        yield head
    while data := file.read1(PIECE):
        yield data


class _Packed:
    """The compressed bytes of a file, which can be put back."""

    def __init__(self, stored: Iterator[bytes]) -> None:
        self.stored = stored
        self.ahead = b""
        self.at = 0

    def read(self) -> bytes:
        data, self.ahead = self.ahead or next(self.stored, b""), b""
        self.at += len(data)
        return data

    def put_back(self, data: bytes) -> None:
        self.ahead = data + self.ahead
        self.at -= len(data)

    def seek(self, magic: re.Pattern[bytes]) -> tuple[bool, bool]:
        """Go to where a part begins: whether there is one, and whether only padding was passed."""
        padding = True
        while data := self.read():
            while len(data) < MAGIC_LENGTH and (more := self.read()):
                data += more
            found = magic.search(data)
            # The beginning may lie across two pieces.
            passed = found.start() if found else max(0, len(data) - MAGIC_LENGTH + 1)
            padding = padding and not data[: passed if found else len(data)].strip(b"\0")
            if found:
                self.put_back(data[passed:])
                return True, padding
            if not (more := self.read()):
                return False, padding
            self.put_back(data[passed:] + more)
        return False, padding


def unpacked(stored: Iterator[bytes], packing: Packing) -> Iterator[bytes | Hole]:
    """What a compressed file holds, with a hole where it is damaged."""
    packed = _Packed(stored)
    whole = True
    while True:
        at = packed.at
        found, padding = packed.seek(packing.magic)
        if whole and not padding:
            yield Hole(at, f"this is not {packing.name}")
        if not found:
            return
        whole = yield from _part(packed, packing)


def _part(packed: _Packed, packing: Packing) -> Generator[bytes | Hole, None, bool]:
    """One part, and whether it is whole; if not, what was read of it is put back: the next part may lie in there."""
    start, part = packed.at, packing.unpacker()
    read: deque[bytes] = deque(maxlen=KEPT)
    try:
        while not part.eof:
            data = packed.read() if part.needs_input else b""
            if part.needs_input and not data:
                raise EOFError
            read.append(data)
            if found := part.decompress(data, PIECE):
                yield found
    except EOFError:
        yield Hole(packed.at, f"the {packing.name} data are cut off")
    except ERRORS as error:
        yield Hole(
            start, f"the {packing.name} data are damaged ({str(error) or type(error).__name__}): the rest is lost"
        )
    else:
        packed.put_back(part.unused_data)
        return True
    packed.put_back(b"".join(read)[1:])
    return False


def unpack(data: bytes, part: Unpacker, limit: int) -> bytes:
    """All of one part that is in memory, at most so many bytes and one more; EOFError when it is cut off.

    >>> unpack(zlib.compress(b"bees" * 9), Inflate(15), 4)
    b'beesb'
    """
    found = [part.decompress(data, limit + 1)]
    size = len(found[0])
    while not part.eof and size <= limit:
        if part.needs_input:
            raise EOFError
        found.append(part.decompress(b"", limit + 1 - size))
        size += len(found[-1])
    return b"".join(found)
