"""`winnow clean`: extracts clean text from saved pages, without a crawl.

A run may take hours. With -o, lines are written to OUT.TOKEN.part, which is renamed to OUT at the end: OUT is always
complete, and an earlier OUT stays until then. If the run is interrupted by Ctrl-C or a full disk, the .part file keeps
the pages cleaned so far. With --into, each input file is cleaned into its own output file, on this machine or on many,
and an interrupted run is continued by the same command.
"""

import argparse
import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from scrapy.settings import Settings
from scrapy.utils.log import configure_logging

from crawler.atomic_files import AtomicFile, remove_parts
from crawler.checked_settings import fallback_of
from crawler.command_line.terminal import FAILED, INTERRUPTED, byte_size, printable, readable_json, spell_out_log
from crawler.contrib.bulk.archives.inputs import PAGE_SUFFIXES, STANDARD_INPUT, Input
from crawler.contrib.bulk.archives.records import Broken
from crawler.contrib.bulk.archives.stream import bare_name
from crawler.contrib.bulk.cleaning import (
    MOST_NAMED,
    Cleaned,
    CleaningCounts,
    FileCleaner,
    FileResult,
    MethodCleaner,
    cleaning_results,
    lost_file,
    method_cleaner,
    with_libraries,
)
from crawler.contrib.bulk.progress_bar import CleaningProgress, outcome_lines
from crawler.contrib.bulk.resume_manifest import (
    ENDING,
    FileToClean,
    files_to_clean,
    largest_first,
    maker,
    write_manifest,
)
from crawler.errors import OutputError, WrongUseError
from crawler.extraction import extractor_named
from crawler.processes.function_pool import DIED, WorkersError, as_done
from crawler.processes.held_lock import take_lock
from crawler.processes.machine import GARBAGE_THRESHOLD, cores
from crawler.translation.message import Message, counted, localized, plural

Engine = Callable[[FileCleaner, Sequence[FileToClean], Callable[[str], None]], Iterator[FileResult]]
"""A function that cleans files and yields the result of each when it is done; its last argument reports a line to the
user.
"""


def chosen_engine(opts: argparse.Namespace, jobs: int) -> Engine:
    """The engine that the options choose: processes of this machine, or the workers of Dask."""
    if opts.engine != "dask":
        return lambda file_cleaner, todo, report: as_done(file_cleaner, todo, jobs, lost_file, partial(report, DIED))
    try:
        from crawler.contrib.bulk.dask import by_dask
    except ImportError:
        raise WrongUseError(
            "{names} must be installed: python -m pip install '.[{extra}]'", names="distributed", extra="bulk"
        ) from None
    return lambda file_cleaner, todo, report: by_dask(file_cleaner, todo, opts.scheduler or "", jobs, report)


class FilesProgress(CleaningProgress):
    """Progress that also counts files."""

    def __init__(self, todo: Sequence[FileToClean], tally: CleaningCounts, interval: float) -> None:
        sizes = [file.size or 0 for file in todo]
        self.file_count = len(todo)
        self.files_done = 0
        self.bytes_done = 0
        total = sum(sizes) if all(sizes) else 0  # unknown if the size of any file is unknown
        super().__init__(total, lambda: self.bytes_done, tally, interval)

    def end(self, file: FileToClean) -> None:
        """Count a file that a worker has finished."""
        self.bytes_done += file.size or 0
        self.files_done += 1

    def summary(self) -> Message:
        """A line with the counts of files and pages so far."""
        return plural(
            "{done} of {n} file, {pages}",
            "{done} of {n} files, {pages}",
            self.file_count,
            done=f"{self.files_done:,}",
            pages=super().summary(),
        )


@contextmanager
def only_run(folder: Path, lock_name: str, shown: str) -> Iterator[None]:
    """A context in which no other run uses the folder. If another run does, raises a WrongUseError, in which the folder
    is called `shown`.
    """
    try:
        lock = take_lock(folder / lock_name)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise WrongUseError("{path} cannot be written to ({why})", path=repr(shown), why=why) from None
    if lock is None:
        raise WrongUseError("another run is using {path}", path=repr(shown))
    try:
        yield
    finally:
        lock.release()


@dataclass
class FilesRun:
    """Files that are cleaned into a folder, and the results so far."""

    file_cleaner: FileCleaner
    todo: Sequence[FileToClean]
    done_earlier: int
    """Files that were already cleaned: by an earlier run, or by a worker that was reported dead too early."""
    tally: CleaningCounts = field(default_factory=CleaningCounts)
    cleaned: int = 0
    """Files that this run cleaned."""
    failed: int = 0
    """Files that could not be cleaned."""
    size: int = 0
    """Stored bytes of the cleaned files."""
    workers: set[tuple[str, int, int]] = field(default_factory=set)
    """The machine, process and thread of each worker."""
    stopped: Message | None = None
    """Why the run stopped before the end."""

    def go(self, engine: Engine, interval: float) -> int:
        """Clean the files; returns the exit status."""
        started = monotonic()
        status = 0
        progress = FilesProgress(self.todo, self.tally, interval)

        try:
            with progress:
                progress.show()
                for result in engine(self.file_cleaner, self.todo, progress.say):
                    self.count(result, progress)
        except KeyboardInterrupt:
            status = INTERRUPTED
            self.stopped = Message("Stopped before the end; the same command continues.")
        except WorkersError as error:
            status = FAILED
            self.stopped = Message("Stopped: {why}.", {"why": str(error)})

        remove_parts(self.file_cleaner.folder, ENDING)
        for line in self.closing(monotonic() - started):
            print(printable(localized(line)), file=sys.stderr)
        if not status and (self.tally.broken or self.failed):
            return FAILED
        return status

    def count(self, result: FileResult, progress: FilesProgress) -> None:
        """Count the result of a file, and report errors in it; raises a WorkersError if all other files would fail."""
        if result.stops:
            raise WorkersError(result.failed)
        progress.end(result.file)

        if result.failed:
            self.failed += 1
            progress.say(result.failed)
        elif result.existed:
            self.done_earlier += 1
        else:
            self.cleaned += 1
            self.size += result.file.size or 0
            self.tally.include(result.tally)
            self.workers.add(result.worker)

        for broken in result.named_broken:
            progress.say(f"{broken.place}: {broken.why}")
        more = result.tally.broken - len(result.named_broken)
        if more > 0:
            path = result.file.shown
            progress.say(
                localized(plural("{path}: {n} more record broken", "{path}: {n} more records broken", more, path=path))
            )
        progress.show()

    def closing(self, seconds: float) -> Iterator[Message]:
        """The lines with which a run ends."""
        seconds = max(seconds, 0.001)
        tally = self.tally
        first = plural(
            "{n} file ({size}, {pages}) cleaned in {seconds} s by {workers}: {rate} pages and {bytes} of files a "
            "second, {before} of pages to {after} of text.",
            "{n} files ({size}, {pages}) cleaned in {seconds} s by {workers}: {rate} pages and {bytes} of files a "
            "second, {before} of pages to {after} of text.",
            self.cleaned,
            size=byte_size(self.size),
            pages=plural("{n} page", "{n} pages", tally.pages),
            seconds=f"{seconds:.1f}",
            workers=plural("{n} worker", "{n} workers", len(self.workers)),
            rate=f"{tally.pages / seconds:.1f}",
            bytes=byte_size(int(self.size / seconds)),
            before=byte_size(tally.before),
            after=byte_size(tally.after),
        )
        yield Message("{stopped} {rest}", {"stopped": self.stopped, "rest": first}) if self.stopped else first

        if self.done_earlier:
            yield plural("Done earlier: {n} file.", "Done earlier: {n} files.", self.done_earlier)
        yield from outcome_lines(tally)
        if tally.broken:
            yield plural(
                "Broken: {n} record, the first {named} of a file named above.",
                "Broken: {n} records, the first {named} of a file named above.",
                tally.broken,
                named=MOST_NAMED,
            )
        if self.failed:
            yield plural("Failed: {n} file, each named above.", "Failed: {n} files, each named above.", self.failed)


def clean_into(
    opts: argparse.Namespace, cleaner: MethodCleaner, options: Mapping[str, Any], jobs: int, interval: float
) -> int:
    """Clean files into a folder; returns the exit status. `options` are the options on which the lines depend."""
    engine = chosen_engine(opts, jobs)
    folder = Path(opts.into).resolve()
    all_files = files_to_clean(opts.inputs)
    with only_run(folder, ".clean.lock", opts.into):
        folder_id = write_manifest(folder, options, all_files)
        removed_parts = remove_parts(folder, ENDING)
        if removed_parts:
            print(f"{counted(removed_parts, 'file')} removed that an earlier run had begun.", file=sys.stderr)
        todo = [file for file in all_files if not (folder / file.output).exists()]
        file_cleaner = FileCleaner(folder, folder_id, cleaner, maker())
        return FilesRun(file_cleaner, largest_first(todo), len(all_files) - len(todo)).go(engine, interval)


def clean(opts: argparse.Namespace, settings: Settings) -> int:
    """Clean everything into one file, or each input into its own; returns the exit status."""
    method = settings["EXTRACTOR"] if opts.method is None else opts.method
    favour = opts.favour
    try:
        extract = extractor_named(method, favour)
    except ValueError as error:
        raise WrongUseError(str(error)) from None
    fallback = fallback_of(settings)
    cleaner = method_cleaner(method, extract, opts.markdown, opts.fields, fallback)
    jobs = opts.jobs or cores()
    interval = settings.getfloat("LOGSTATS_INTERVAL") or 10.0

    if opts.into is not None:
        configure_logging(settings)
        spell_out_log()
        options = {"--method": method, "--favour": favour, "--markdown": opts.markdown, "--with": ",".join(opts.fields)}
        if fallback is not None:
            options["EXTRACTOR_FALLBACK"] = fallback.name
        return clean_into(opts, cleaner, options, jobs, interval)

    inputs = [Input(name) for name in opts.inputs]  # reads the first bytes, which may block
    _check_apart(opts.output, opts.inputs)
    output = AtomicFile(opts.output)
    configure_logging(settings)
    spell_out_log()
    gc.freeze()  # loaded modules are never collected
    gc.set_threshold(GARBAGE_THRESHOLD)
    sizes = [source.size for source in inputs]
    total = sum(sizes) if all(sizes) else 0  # unknown if the size of any input is unknown
    progress = CleaningProgress(total, lambda: sum(source.position for source in inputs), CleaningCounts(), interval)
    return _clean(inputs, output, progress, cleaner, jobs)


def _clean(
    inputs: Sequence[Input], output: AtomicFile, progress: CleaningProgress, cleaner: MethodCleaner, jobs: int
) -> int:
    """Clean everything and print the results; returns the exit status."""
    tally = progress.tally
    started = monotonic()
    status = 0
    stopped: Message | None = None
    records = (record for source in inputs for record in source.records())

    try:
        with progress:
            clean_with_libraries = with_libraries(cleaner, inputs, progress.show)
            for result in cleaning_results(records, clean_with_libraries, jobs, lambda: progress.say(DIED)):
                tally.add(result)
                if isinstance(result, Cleaned):
                    output.write(readable_json(result.line) if output.is_terminal else result.line)
                elif isinstance(result, Broken):
                    progress.say(f"{result.place}: {result.why}")
                progress.show()
        output.finish()
    except KeyboardInterrupt:
        status = INTERRUPTED
        stopped = Message("Stopped before the end.")
    except (OutputError, WorkersError) as error:
        status = FAILED
        stopped = Message("Stopped: {why}.", {"why": str(error)})

    output.close()
    for line in _closing(tally, monotonic() - started, stopped, output):
        print(printable(localized(line)), file=sys.stderr)
    if not status and tally.broken:
        return FAILED
    return status


def _closing(tally: CleaningCounts, seconds: float, stopped: Message | None, output: AtomicFile) -> Iterator[Message]:
    """The lines with which a run ends."""
    values: dict[str, object] = {"seconds": f"{seconds:.1f}", "rate": f"{tally.pages / max(seconds, 0.001):.1f}"}
    values |= {"before": byte_size(tally.before), "after": byte_size(tally.after)}
    first = plural(
        "{n} page cleaned in {seconds} s ({rate} a second), {before} of pages to {after} of text.",
        "{n} pages cleaned in {seconds} s ({rate} a second), {before} of pages to {after} of text.",
        tally.pages,
        **values,
    )
    yield Message("{stopped} {rest}", {"stopped": stopped, "rest": first}) if stopped else first
    yield from outcome_lines(tally)
    if tally.broken:
        yield plural("Broken: {n} record, each named above.", "Broken: {n} records, each named above.", tally.broken)
    if output.part is not None:
        yield Message("The pages cleaned so far are in {path}.", {"path": output.part})
    elif output.path is not None:
        yield plural("{n} line in {path}.", "{n} lines in {path}.", tally.pages, path=output.shown)


def _check_apart(output: str | None, inputs: Sequence[str]) -> None:
    """Raise a WrongUseError if the output would replace an input."""
    if output is None or not Path(output).exists():
        return
    # Of a folder, only files with the suffix of a page are read.
    is_page = bare_name(Path(output).name).endswith(PAGE_SUFFIXES)
    for name in inputs:
        if name == STANDARD_INPUT:
            continue
        is_in_folder = is_page and Path(name).resolve() in Path(output).resolve().parents
        if is_in_folder or Path(output).samefile(name):
            raise WrongUseError("{path} is also an input", path=repr(output))
