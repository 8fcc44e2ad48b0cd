"""Bytes compressed as gzip or zstd: as a whole, or each part by itself, so that one can be read without the others."""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor
else:
    from backports.zstd import ZstdCompressor

GZIP = 31  # a window of 32 KB, and gzip's frame


class Packer(Protocol):
    """What compresses, as in the standard library's modules."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


PACKERS: dict[str, Callable[[], Packer]] = {
    ".gz": lambda: zlib.compressobj(wbits=GZIP),
    ".zst": ZstdCompressor,
}


def packed(parts: Iterable[bytes], ending: str, apart: bool = False) -> Iterator[bytes]:
    """The parts as a file of this ending holds them; as they are if it is no ending of a packed file."""
    if ending not in PACKERS:
        yield from parts
        return
    packer = None
    for part in parts:
        packer = packer or PACKERS[ending]()
        yield packer.compress(part)
        if apart:
            yield packer.flush()
            packer = None
    if packer is not None:
        yield packer.flush()
