"""Cleans saved pages: turns raw records into lines of JSON in the same order, on any number of processors.

A cleaner is a function from a record to its line; `method_cleaner` makes the cleaner of a method. There are two ways to
apply it: `cleaning_results` cleans the records of all inputs in order; `FileCleaner` cleans one file of an archive into
one file of lines, in any process on any machine.
"""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from crawler.atomic_files import AtomicFile
from crawler.contrib.bulk.archives.inputs import SINGLE_PAGES, Input
from crawler.contrib.bulk.archives.records import (
    ArchiveRecord,
    Broken,
    BrokenError,
    InputError,
    Raw,
    ReadResult,
    Skipped,
    WalledError,
    as_json,
)
from crawler.contrib.bulk.host_libraries import Libraries, learned_libraries
from crawler.contrib.bulk.resume_manifest import NO_ARCHIVE, FileToClean, is_same_folder, maker
from crawler.errors import OutputError
from crawler.extraction import LEARNING, Extractor, with_library
from crawler.extraction.document_text import METHOD, with_documents
from crawler.extraction.extractor_fallback import ExtractorFallback, with_fallback
from crawler.metadata.record_readers import READERS
from crawler.metadata.text_quality import text_quality
from crawler.noise.page_images import page_images
from crawler.noise.page_markdown import page_markdown
from crawler.outcomes import Code, Outcome, Outcomes
from crawler.page.document import DocumentError
from crawler.page.html_tree import Cut
from crawler.page.page import Extraction, NotHtmlError
from crawler.page.text import one_line
from crawler.processes.function_pool import in_order
from crawler.urls.parsing import host_of

LINE = '{{"id": {}, "url": {}, "text": {}, "title": {}, "method": {}{}}}\n'
"""A line with values that are JSON already, and the additional fields."""
MORE_FIELDS = {name: read for name, read in READERS.items() if name not in ("title", "text")}
"""Additional fields of a line, with the same values as in the items of a crawl with `quality=yes`."""
MORE_FIELDS |= {"quality": text_quality, "images": page_images}


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A clean page as a line of JSON."""

    line: bytes
    before: int
    """Bytes of the page."""
    after: int
    """Bytes of its text."""
    _: KW_ONLY
    ended: Cut | None = None
    """The limit that cut off the page; None if it was read to its end."""


CleaningResult = Cleaned | Broken | Skipped
Cleaner = Callable[[ReadResult], CleaningResult]
MethodCleaner = partial[CleaningResult]
"""The function `clean_record` with its options; `with_libraries` may add the libraries of hosts."""


@dataclass
class CleaningCounts:
    """Counts of the results of cleaning."""

    pages: int = 0
    before: int = 0
    """Bytes of the pages."""
    after: int = 0
    """Bytes of their texts."""
    broken: int = 0
    skipped: Outcomes = field(default_factory=Outcomes)
    cut: Outcomes = field(default_factory=Outcomes)
    """Pages of which only the beginning was read, by the limit that cut them off."""

    def add(self, result: CleaningResult) -> None:
        """Count a result."""
        if isinstance(result, Cleaned):
            self.pages += 1
            self.before += result.before
            self.after += result.after
            if result.ended:
                self.cut[Outcome(Code.PAGE_CUT, result.ended)] += 1
        elif isinstance(result, Broken):
            self.broken += 1
        else:
            self.skipped[result.outcome] += 1

    def include(self, other: "CleaningCounts") -> None:
        """Add the counts of another process."""
        self.pages += other.pages
        self.before += other.before
        self.after += other.after
        self.broken += other.broken
        self.skipped += other.skipped
        self.cut += other.cut


def clean_record(
    read_result: ReadResult,
    method: str,
    extract: Extractor,
    markdown: str,
    fields: Sequence[str],
    fallback: ExtractorFallback | None = None,
    libraries: Libraries = MappingProxyType({}),
) -> CleaningResult:
    """The result of cleaning a record; never raises an exception. `markdown` is `no`, `yes` or `links`; `fields` are
    names in MORE_FIELDS; `libraries` are by host.
    """
    if not isinstance(read_result, Raw):
        return read_result

    try:
        record = read_result.decode(read_result)
        library = libraries.get(host_of(record.page.url))
        if library:
            extract = with_library(extract, library)
        if fallback is not None:
            extract = with_fallback(extract, fallback)
        extraction = record.page.once(with_documents(extract))
        more = {name: MORE_FIELDS[name](record.page, extraction) for name in fields}
        if markdown != "no":
            more["markdown"] = page_markdown(record.page, extraction, markdown == "links")
        return _cleaned(record, extraction, method, more)
    except DocumentError as error:
        return Skipped(Outcome(Code.UNREAD_DOCUMENT, error.fault))
    except NotHtmlError as error:
        return Skipped(Outcome(Code.NOT_HTML, str(error)))
    except WalledError as error:
        return Skipped(Outcome(Code.WALLED, str(error)))
    except BrokenError as error:
        return Broken(place=read_result.place, why=str(error))
    except Exception as error:  # an error in one page, or in a method, must not affect the other pages
        return Broken(place=read_result.place, why=f"it cannot be cleaned ({type(error).__name__}: {error})")


def _cleaned(record: ArchiveRecord, extraction: Extraction, method: str, more: Mapping[str, Any]) -> Cleaned:
    """The line of a record with its text, and with more fields."""
    used_method = METHOD if record.page.document is not None else extraction.method or method
    values = (as_json(extraction.text), as_json(extraction.title), as_json(used_method))
    others = [f', "{name}": {_json(value)}' for name, value in more.items()]
    line = LINE.format(record.id, record.url, *values, "".join(others))
    return Cleaned(
        line=one_line(line).encode(),
        before=len(record.page.body),
        after=len(extraction.text.encode()),
        ended=record.page.ended or extraction.ended,
    )


def _json(value: Any) -> str:
    """A value as JSON; text as JSON that can be encoded in UTF-8."""
    if isinstance(value, str):
        return as_json(value)
    return json.dumps(value, ensure_ascii=False)


def method_cleaner(
    method: str,
    extract: Extractor,
    markdown: str = "no",
    fields: Sequence[str] = (),
    fallback: ExtractorFallback | None = None,
) -> MethodCleaner:
    """The function that cleans a record by the method of this name; it can be sent to another process."""
    return partial(clean_record, method=method, extract=extract, markdown=markdown, fields=fields, fallback=fallback)


def with_libraries(cleaner: MethodCleaner, inputs: Sequence[Input], show: Callable[[], object]) -> Cleaner:
    """The cleaner with a library for each host of these inputs, if its method learns libraries and the inputs can be
    read twice.

    A library holds the parts that the pages of a host have in common. `show`, which shows progress, is called for each
    record that is read for the libraries.
    """
    library_type = LEARNING.get(cleaner.keywords["method"])
    rereadable_inputs = [source for source in inputs if source.can_be_read_again]
    if library_type is None or not rereadable_inputs:
        return cleaner

    def records() -> Iterator[ReadResult]:
        return (record for source in rereadable_inputs for record in source.records())

    return partial(cleaner, libraries=learned_libraries(records, library_type, show))


def cleaning_results(
    records: Iterable[ReadResult], cleaner: Cleaner, jobs: int, died: Callable[[], None]
) -> Iterator[CleaningResult]:
    """The result of each record, in order; `died` is called when a process dies."""
    return in_order(cleaner, records, jobs, _lost_record, died)


def _lost_record(record: ReadResult) -> CleaningResult:
    """The result for a record on which two processes died."""
    assert isinstance(record, Raw)  # noqa: S101 - other results cannot make a process die
    return Broken(place=record.place, why="the process that cleans it dies")


MOST_NAMED = 10
"""The most broken records of a file that are listed; further ones are only counted, to save memory."""


@dataclass
class FileResult:
    """The result of cleaning one file."""

    file: FileToClean
    tally: CleaningCounts = field(default_factory=CleaningCounts)
    named_broken: list[Broken] = field(default_factory=list)
    """The first broken records, at most MOST_NAMED."""
    existed: bool = False
    """Whether the output was already there, so that nothing was cleaned."""
    failed: str = ""
    """Why there is no output."""
    stops: bool = False
    """Whether all other files would fail for the same reason, so that the run stops."""
    worker: tuple[str, int, int] = field(
        default_factory=lambda: (socket.gethostname(), os.getpid(), threading.get_ident())
    )
    """The machine, process and thread that cleaned the file."""


@dataclass(frozen=True)
class FileCleaner:
    """Cleans files into a folder."""

    folder: Path
    folder_id: str
    """The random id of the folder, in its manifest."""
    cleaner: MethodCleaner
    maker: str
    """The versions of Winnow and its libraries when the run began; other versions might write other lines."""

    def __call__(self, file: FileToClean) -> FileResult:
        """Clean a file in the order of its records; no content of the file raises an exception."""
        result = FileResult(file)
        try:
            self._check()
            if os.path.lexists(self.folder / file.output):  # written by a worker that was reported dead too early
                result.existed = True
                return result
            self._clean(file, result)
        except InputError as error:
            result.failed = str(error)
        except OutputError as error:
            result.failed = str(error)
            result.stops = True
        return result

    def _check(self) -> None:
        """Raise an OutputError if this machine has another version of Winnow, or another folder at this path."""
        if maker() != self.maker:
            raise OutputError(
                "{host} has another version of Winnow or Python: {other}, not {ours}",
                host=socket.gethostname(),
                other=maker(),
                ours=self.maker,
            )
        if not is_same_folder(self.folder, self.folder_id):
            raise OutputError(
                "{path} on {host} is not the output folder of this run",
                path=repr(str(self.folder)),
                host=socket.gethostname(),
            )

    def _clean(self, file: FileToClean, result: FileResult) -> None:
        """Clean a file into its output, and count its records in the result."""
        source = Input(str(file.input))
        if source.kind is None or source.kind.name in SINGLE_PAGES:
            source.close()
            raise InputError(f"{file.shown!r} is a single page; {NO_ARCHIVE}")
        clean = with_libraries(self.cleaner, [source], lambda: None)
        with AtomicFile(str(self.folder / file.output)) as output:
            for record in source.records():
                cleaning_result = clean(record)
                result.tally.add(cleaning_result)
                if isinstance(cleaning_result, Cleaned):
                    output.write(cleaning_result.line)
                elif isinstance(cleaning_result, Broken) and len(result.named_broken) < MOST_NAMED:
                    result.named_broken.append(cleaning_result)
            output.finish()


def lost_file(file: FileToClean) -> FileResult:
    """The result for a file on which processes died."""
    return FileResult(file, failed=f"{file.shown!r}: the processes that clean it die")
