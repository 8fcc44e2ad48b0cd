"""The formats of exports, the file names that choose them, and compression."""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple


class Format(NamedTuple):
    endings: tuple[str, ...]
    needs: tuple[str, ...] = ()
    """Fields without which a page cannot be written."""
    packs: bool = True
    """Whether a file may be compressed; Parquet is compressed already, and a folder cannot be."""
    apart: bool = False
    """Whether each part that is written is compressed separately."""
    is_text: bool = False
    """Whether it may go to standard output."""
    is_folder: bool = False
    """Whether it is a folder of files."""
    chooses: bool = True
    """Whether the fields can be chosen."""
    has_responses: bool = False
    """Whether pages are written with their responses as they came."""


OF_RECORDS = ("url", "fetched_at", "text", "rights", "revisited_at", "revisit_status")
"""The columns of pages that WARC records are made of."""
OF_LISTS = ("title", "status", "crawl")
"""Those that WACZ needs besides."""
FORMATS = {
    "jsonl": Format((".jsonl", ".ndjson", ".jl"), is_text=True),
    "csv": Format((".csv",), is_text=True),
    "parquet": Format((".parquet",), packs=False),
    "markdown": Format((".md", "/"), ("url", "text", "markdown"), packs=False, is_folder=True),
    "warc": Format((".warc",), OF_RECORDS, apart=True, chooses=False, has_responses=True),
    "wacz": Format((".wacz",), (*OF_RECORDS, *OF_LISTS), packs=False, chooses=False, has_responses=True),
}


def compression_of(name: str) -> str:
    """The suffix for the compression of a file; empty if it is not compressed.

    >>> compression_of("a.jsonl.GZ"), compression_of("a.jsonl")
    ('.gz', '')
    """
    return next((ending for ending in COMPRESSORS if name.lower().endswith(ending)), "")


def format_of(name: str) -> str | None:
    """The format that a file name chooses.

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


COMPRESSORS: dict[str, Callable[[], Any]] = {
    ".gz": lambda: zlib.compressobj(wbits=GZIP),
    ".zst": ZstdCompressor,
}


def compressed(parts: Iterable[bytes], ending: str, apart: bool = False) -> Iterator[bytes]:
    """The parts, compressed according to this suffix; unchanged if it is not a compression's suffix."""
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
