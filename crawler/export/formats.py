"""The formats of exports, the file names that choose them, and compression.

Other packages add formats as parts of the kind `exports` (crawler/doors.py); the extension of their files is the name
of the format.
"""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from crawler.doors import Door, PartTable


@dataclass(frozen=True)
class Format:
    """How pages are written."""

    writer: str
    """`module:name` of the function that writes pages. It is called with the pages and the names of their fields. For a
    file it yields parts of it, for a folder the path and the content of each of its files.
    """
    options: tuple[str, ...] = ()
    """The names of the other arguments that the function takes, out of `Exporter.writer_options`."""
    needs: tuple[str, ...] = ()
    """Fields that are always read, because the function needs them."""
    packs: bool = True
    """Whether the file may be compressed: false for Parquet, which compresses itself, and for folders."""
    apart: bool = False
    """Whether each part that the function yields is compressed separately, as is usual for the records of WARC."""
    is_text: bool = False
    """Whether it may go to standard output."""
    is_folder: bool = False
    """Whether it is a folder of files."""
    chooses: bool = True
    """Whether --fields can choose the fields."""
    has_responses: bool = False
    """Whether pages are written with their HTTP responses."""
    reads_responses: bool = False
    """Whether the function needs the responses of pages, but does not write them."""

    @property
    def uses_responses(self) -> bool:
        """Whether the function must get pages with their responses."""
        return self.has_responses or self.reads_responses


CORE_FORMATS = {
    "jsonl": Format("crawler.export.jsonl:jsonl", is_text=True),
    "csv": Format("crawler.export.csv:csv_lines", ("formulas",), is_text=True),
    "markdown": Format(
        "crawler.export.markdown:markdown", needs=("url", "text", "markdown"), packs=False, is_folder=True
    ),
}
"""The formats that need no optional part."""
FORMATS: PartTable[Format] = PartTable(Door.EXPORTS, CORE_FORMATS)
"""All formats by name; looking up a format that is not installed raises a MissingPartError."""
OWN_ENDINGS = {"jsonl": (".jsonl", ".ndjson", ".jl"), "markdown": (".md", "/")}
"""The endings of file names for formats that have others than their name. A name that ends with / is a folder."""


def endings_of(format: str) -> tuple[str, ...]:
    """The endings of file names that choose a format.

    >>> endings_of("jsonl"), endings_of("parquet")
    (('.jsonl', '.ndjson', '.jl'), ('.parquet',))
    """
    return OWN_ENDINGS.get(format, (f".{format}",))


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
    uncompressed_name = name.lower().removesuffix(compression_of(name))
    return next((format for format in FORMATS if uncompressed_name.endswith(endings_of(format))), None)


if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor
else:
    from backports.zstd import ZstdCompressor

GZIP = 31  # zlib's `wbits` for a window of 32 KB, with the header and trailer of gzip
COMPRESSORS: dict[str, Callable[[], Any]] = {
    ".gz": lambda: zlib.compressobj(wbits=GZIP),
    ".zst": ZstdCompressor,
}
"""By suffix, functions that create a compressor."""


def compressed(parts: Iterable[bytes], ending: str, apart: bool = False) -> Iterator[bytes]:
    """The parts, compressed as the suffix of a file says; unchanged if COMPRESSORS does not have the suffix."""
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
