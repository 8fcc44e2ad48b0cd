"""The inputs of bulk commands: files, folders of pages and standard input, and the records in them.

The format of a file is determined by its name, or else by its first bytes. An archive contains many pages. A web page,
a document and a text file are single pages; a folder contains single pages only.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from stat import S_ISREG
from typing import cast

from crawler.api.saved_document import saved_document
from crawler.contrib.bulk.archives import json_lines, stream
from crawler.contrib.bulk.archives.records import (
    MAX_PAGE,
    ArchiveRecord,
    Broken,
    InputError,
    Raw,
    ReadResult,
    Skipped,
    as_json,
)
from crawler.contrib.bulk.archives.stream import Stream, bare_name
from crawler.contrib.bulk.archives.warc_and_tianwang import TIANWANG_BEGINNING, WARC, read_tianwang, read_warc
from crawler.outcomes import Code, Outcome
from crawler.page.document_type import ENDINGS, PDF_MARK, TEXT_ENDINGS, text_type_of_file
from crawler.page.page import Page, is_html

STANDARD_INPUT = "-"
HTML = "HTML"
DOCUMENT = "document"
TEXT = "text"
SINGLE_PAGES = (HTML, DOCUMENT, TEXT)
"""The formats of files that contain a single page."""
HEAD_BYTES = 1024
"""Bytes at the beginning of a file from which its format is detected."""
# Suffixes of the names of single pages.
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
DOCUMENT_SUFFIXES = tuple(f".{ending}" for ending in ENDINGS)
TEXT_SUFFIXES = tuple(f".{ending}" for ending in sorted(TEXT_ENDINGS))
PAGE_SUFFIXES = (*HTML_SUFFIXES, *DOCUMENT_SUFFIXES, *TEXT_SUFFIXES)


def read_html(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The single page of a file that is a web page or a document by its first bytes."""
    return _read_page(stream, name, "")


def read_text(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The single page of a file that is a text file by its name."""
    return _read_page(stream, name, text_type_of_file(bare_name(name)))


def _read_page(stream: Stream, name: str, content_type: str) -> Iterator[ReadResult]:
    """The single page of a file; its id is the file name."""
    data = stream.take(MAX_PAGE + 1)
    if stream.hole is not None:
        yield Broken(place=name, why=str(stream.hole))
    elif len(data) > MAX_PAGE:
        yield Broken(place=name, why=f"the page is longer than {MAX_PAGE:,} bytes")
    else:
        yield Raw(place=name, decode=page_record, data=data, head={"name": name, "content_type": content_type})


def page_record(raw: Raw) -> ArchiveRecord:
    """The page in one file. It has no address, and only its name declares its type."""
    page = saved_document(raw.data, "", "", raw.head["content_type"]) or Page(url="", body=raw.data)
    return ArchiveRecord(page, id=as_json(raw.head["name"]), url=as_json(""))


def read_folder(folder: Path) -> Iterator[ReadResult]:
    """The pages of a folder and its subfolders, sorted by name; other files are skipped, by their suffixes."""
    home = folder.resolve()
    # A stack rather than recursion, so that any depth is possible. An entry knows without a system call what it is.
    stack: list[Path | os.DirEntry[str]] = [folder]
    while stack:
        entry = stack.pop()
        path = Path(entry)
        if isinstance(entry, Path) or entry.is_dir(follow_symlinks=False):
            try:
                stack += sorted(os.scandir(path), key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                yield Broken(place=path.as_posix(), why=f"it cannot be read ({error.strerror})")
        elif not bare_name(entry.name).endswith(PAGE_SUFFIXES):
            yield Skipped(Outcome(Code.NO_HTML_NAME))
        elif entry.is_symlink() and not _stays_in(path, home):
            yield Skipped(Outcome(Code.LINK_NOT_FOLLOWED))
        else:
            yield from read_file(path)


def _stays_in(link: Path, home: Path) -> bool:
    """Whether a symbolic link leads to a path in the folder that is no folder, and may be missing."""
    target = Path(os.path.realpath(link))  # stops if links form a cycle
    return target.is_relative_to(home) and not target.is_dir()


def read_file(path: Path) -> Iterator[ReadResult]:
    """The single page of a file in a folder."""
    try:
        if path.exists() and not path.is_file():  # opening a named pipe would block
            yield Skipped(Outcome(Code.NOT_A_FILE))
            return
        read = read_text if bare_name(path.name).endswith(TEXT_SUFFIXES) else read_html
        with path.open("rb") as file:
            yield from read(stream.opened(file, path.name), path.as_posix())
    except OSError as error:
        yield Broken(place=path.as_posix(), why=f"it cannot be read ({error.strerror})")


@dataclass(frozen=True, slots=True)
class ArchiveFormat:
    """A format of files: an archive, or a single page."""

    name: str
    suffixes: tuple[str, ...]
    matches_head: Callable[[bytes], bool]
    """Whether the first HEAD_BYTES of a file are those of this format."""
    read: Callable[[Stream, str], Iterator[ReadResult]]
    """Yields the records of a file; takes its bytes, and its name for messages."""


def _begins_with(mark: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.removeprefix(json_lines.BOM).lstrip().startswith(mark)


FORMATS = (
    ArchiveFormat(name="WARC", suffixes=(".warc",), matches_head=_begins_with(WARC.mark), read=read_warc),
    ArchiveFormat(
        name="Tianwang",
        suffixes=(),
        matches_head=lambda head: TIANWANG_BEGINNING.search(head) is not None,
        read=read_tianwang,
    ),
    ArchiveFormat(
        name="JSON lines", suffixes=(".jsonl", ".ndjson", ".jl"), matches_head=_begins_with(b"{"), read=json_lines.read
    ),
    ArchiveFormat(name=HTML, suffixes=HTML_SUFFIXES, matches_head=lambda head: is_html("", head), read=read_html),
    ArchiveFormat(
        name=DOCUMENT, suffixes=DOCUMENT_SUFFIXES, matches_head=lambda head: PDF_MARK in head, read=read_html
    ),
    ArchiveFormat(
        name=TEXT,
        suffixes=tuple(suffix for suffix in TEXT_SUFFIXES if suffix != ".txt"),  # see TEXT_FORMAT
        matches_head=lambda head: False,  # text files are known by their names only
        read=read_text,
    ),
)
TEXT_FORMAT = FORMATS[-1]
"""Also the format of a `.txt` file, unless its first bytes are those of another format: archives may have any name."""
ACCEPTED_INPUTS = (
    "inputs are HTML files (.html, .htm, .xhtml), documents (.pdf, .docx, .odt, .epub), text files (.txt, .md, .eml, "
    ".mbox) and folders of them, JSON lines (.jsonl, .ndjson, .jl), WARC (.warc) and Tianwang's raw pages, also as "
    ".gz, .xz or .zst"
)


class Input:
    """A file, a folder or standard input (`-`) that contains pages; raises an InputError for anything else."""

    def __init__(self, name: str) -> None:
        if not name:
            raise InputError("an INPUT has no name")
        self.name = name
        self.path = Path(name)
        self.size = 0
        """The size of the file in bytes, compressed if it is; 0 if unknown."""
        self._file: BufferedReader | None = None
        self._stream: Stream | None = None
        self.kind: ArchiveFormat | None = None
        """The format of the file; None for a folder."""
        try:
            if name != STANDARD_INPUT and self.path.is_dir():
                os.scandir(self.path).close()
            else:
                self.kind = self._detect_kind()
        except OSError as error:
            raise InputError(f"{name!r} cannot be read ({error.strerror})") from None

    @property
    def position(self) -> int:
        """How many of the file's `size` bytes were read so far; 0 if the size is unknown or the file is closed."""
        if self._file is not None and self.size and not self._file.closed:
            return self._file.tell()
        return 0

    @property
    def can_be_read_again(self) -> bool:
        """Whether its records can be read more than once: it is a file or a folder, not a pipe."""
        return self.kind is None or self.size > 0

    def _detect_kind(self) -> ArchiveFormat:
        """Set the size and return the format of the file, which stays open if it can be read only once."""
        is_regular_file = False
        if self.name != STANDARD_INPUT:
            status = self.path.stat()
            is_regular_file = S_ISREG(status.st_mode)
            if is_regular_file:
                self.size = status.st_size

        stream = self._open()
        kind = format_of_name(self.name)
        if kind is None:
            head = stream.peek(HEAD_BYTES)
            kind = next((kind for kind in FORMATS if kind.matches_head(head)), None)
        if kind is None and bare_name(self.name).endswith(".txt"):
            kind = TEXT_FORMAT

        if is_regular_file or kind is None:  # there may be more inputs than files that can be open
            self.close()
        if kind is None and stream.hole is not None:
            raise InputError(f"{self.name!r} cannot be read ({stream.hole!s})")
        if kind is None:
            raise InputError(f"{self.name!r} is not an input that can be cleaned; {ACCEPTED_INPUTS}")
        return kind

    def _open(self) -> Stream:
        """Open the file at its beginning, unless it is open; a pipe stays open, as it can be read only once."""
        if self._stream is None:
            if self.name == STANDARD_INPUT:
                self._file = cast(BufferedReader, sys.stdin.buffer)
            else:
                self._file = self.path.open("rb")
            self._stream = stream.opened(self._file, self.name)
        return self._stream

    def close(self) -> None:
        if self._file is not None and self.name != STANDARD_INPUT:
            self._file.close()
        self._stream = None
        self._file = None

    def records(self) -> Iterator[ReadResult]:
        """The records of the input in order."""
        if self.kind is None:
            yield from read_folder(self.path)
            return
        shown = "standard input" if self.name == STANDARD_INPUT else self.path.as_posix()
        try:
            yield from self.kind.read(self._open(), shown)
        except OSError as error:  # a disk or network drive that fails
            yield Broken(place=shown, why=f"it cannot be read any further ({error.strerror})")
        finally:
            self.close()


def format_of_name(name: str) -> ArchiveFormat | None:
    """The format that a file name declares.

    >>> format_of_name("pages/2004.warc.gz").name, format_of_name("pages.txt")
    ('WARC', None)
    """
    ends = bare_name(name)
    return next((kind for kind in FORMATS if kind.suffixes and ends.endswith(kind.suffixes)), None)
