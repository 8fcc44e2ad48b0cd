"""The formats, and which of them a file's name asks for."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from crawler.export import markdown as files
from crawler.export import warc as archive
from crawler.export.csv import csv_lines
from crawler.export.jsonl import jsonl
from crawler.export.packing import PACKERS
from crawler.export.parquet import parquet
from crawler.export.warc import warc
from crawler.reports.stored_pages import Stored

Writer = Callable[[Iterable[Stored], Sequence[str]], Iterator[bytes]]


class Format(NamedTuple):
    """A format of one file, or of a folder of files, which `markdown` makes."""

    endings: tuple[str, ...]
    write: Writer | None
    needs: tuple[str, ...] = ()
    """Fields without which a page cannot be written."""
    packs: bool = True
    """Whether a file of it may be compressed; what is compressed within or is a folder may not."""
    apart: bool = False
    """Whether each part that is written is compressed by itself."""
    is_text: bool = False
    """Whether it may go to standard output."""
    chooses: bool = True
    """Whether some fields may be left out."""


FORMATS = {
    "jsonl": Format((".jsonl", ".ndjson", ".jl"), jsonl, is_text=True),
    "csv": Format((".csv",), csv_lines, is_text=True),
    "parquet": Format((".parquet",), parquet, packs=False),
    "markdown": Format((".md", "/"), None, files.NEEDS, packs=False),
    "warc": Format((".warc",), warc, archive.NEEDS, apart=True, chooses=False),
}


def packing(name: str) -> str:
    """The ending that says how a file is compressed; an empty string if it is not.

    >>> packing("a.jsonl.GZ"), packing("a.jsonl")
    ('.gz', '')
    """
    return next((ending for ending in PACKERS if name.lower().endswith(ending)), "")


def format_of(name: str) -> str | None:
    """The format that the end of a name asks for.

    >>> format_of("a.csv.zst"), format_of("pages/"), format_of("a.txt")
    ('csv', 'markdown', None)
    """
    bare = name.lower().removesuffix(packing(name))
    return next((format for format, one in FORMATS.items() if bare.endswith(one.endings)), None)
