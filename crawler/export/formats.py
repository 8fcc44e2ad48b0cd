"""The formats of exports, which of them a file's name asks for, and how files are compressed."""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol


class Format(NamedTuple):
    """What a format can be, and what it takes from a page."""

    endings: tuple[str, ...]
    needs: tuple[str, ...] = ()
    """Fields without which a page cannot be written."""
    packs: bool = True
    """Whether a file of it may be compressed; what is compressed within or is a folder may not."""
    apart: bool = False
    """Whether each part that is written is compressed by itself."""
    is_text: bool = False
    """Whether it may go to standard output."""
    is_folder: bool = False
    """Whether it is a folder of files."""
    chooses: bool = True
    """Whether some fields may be left out."""


FORMATS = {
    "jsonl": Format((".jsonl", ".ndjson", ".jl"), is_text=True),
    "csv": Format((".csv",), is_text=True),
    "parquet": Format((".parquet",), packs=False),
    "markdown": Format((".md", "/"), ("url", "text", "markdown"), packs=False, is_folder=True),
    "warc": Format((".warc",), ("url", "fetched_at", "text"), apart=True, chooses=False),
}


def compression_of(name: str) -> str:
    """The ending that says how a file is compressed; an empty string if it is not.

    >>> compression_of("a.jsonl.GZ"), compression_of("a.jsonl")
    ('.gz', '')
    """
    return next((ending for ending in COMPRESSORS if name.lower().endswith(ending)), "")


def format_of(name: str) -> str | None:
    """The format that the end of a name asks for.

    >>> format_of("a.csv.zst"), format_of("pages/"), format_of("a.txt")
    ('csv', 'markdown', None)
    """
    bare = name.lower().removesuffix(compression_of(name))
    return next((format for format, one in FORMATS.items() if bare.endswith(one.endings)), None)


if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor
else:
    from backports.zstd import ZstdCompressor

GZIP = 31  # a window of 32 KB, and gzip's frame


class Compressor(Protocol):
    """What compresses, as in the standard library's modules."""

    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


COMPRESSORS: dict[str, Callable[[], Compressor]] = {
    ".gz": lambda: zlib.compressobj(wbits=GZIP),
    ".zst": ZstdCompressor,
}


def compressed(parts: Iterable[bytes], ending: str, apart: bool = False) -> Iterator[bytes]:
    """The parts as a file of this ending holds them; as they are if it is no ending of a packed file."""
    if ending not in COMPRESSORS:
        yield from parts
        return
    packer = None
    for part in parts:
        packer = packer or COMPRESSORS[ending]()
        yield packer.compress(part)
        if apart:
            yield packer.flush()
            packer = None
    if packer is not None:
        yield packer.flush()
