"""`scrapy clean`: extracts clean text from saved pages, without a crawl.

A run may take hours. With -o, lines are written to OUT.TOKEN.part, which is renamed to OUT at the end: OUT is always
complete, and an earlier OUT stays until then. If the run is interrupted by Ctrl-C or a full disk, the .part file keeps
the pages cleaned so far. With --into, each INPUT gets its own output file: see clean_archives.py.
"""

import argparse
import gc
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic

from scrapy.settings import Settings
from scrapy.utils.log import configure_logging

from crawler.archives.inputs import HTML_SUFFIXES, Input
from crawler.archives.records import Broken
from crawler.archives.stream import bare
from crawler.atomic_files import AtomicFile, OutputError
from crawler.bulk.clean_archives import clean_into
from crawler.bulk.cleaning import Cleaned, Cleaner, CleaningCounts, cleaned, cleaner
from crawler.bulk.parallel import DIED, GARBAGE_THRESHOLD, WorkersError, cores
from crawler.bulk.progress_bar import CleaningProgress, outcome_lines
from crawler.command_line.terminal import (
    FAILED,
    INTERRUPTED,
    WrongUseError,
    byte_size,
    printable,
    readable_json,
    spell_out_log,
)
from crawler.extraction import favouring
from crawler.translation.message import Message, localized, plural


def clean(opts: argparse.Namespace, settings: Settings) -> int:
    """Clean everything into one file, or each input into its own; returns the exit status."""
    method, favour = settings["EXTRACTOR"] if opts.method is None else opts.method, opts.favour
    try:
        extract = favouring(method, favour)
    except ValueError as error:
        raise WrongUseError(str(error)) from None
    clean_page = cleaner(method, extract, opts.markdown, opts.fields)
    jobs, interval = opts.jobs or cores(), settings.getfloat("LOGSTATS_INTERVAL") or 10.0
    if opts.into is not None:
        configure_logging(settings)
        spell_out_log()
        options = {"--method": method, "--favour": favour, "--markdown": opts.markdown, "--with": ",".join(opts.fields)}
        return clean_into(opts, clean_page, options, jobs, interval)
    inputs = [Input(name) for name in opts.inputs]  # reads the first bytes, which may block
    _check_apart(opts.output, opts.inputs)
    output = AtomicFile(opts.output)
    configure_logging(settings)
    spell_out_log()
    gc.freeze()  # loaded modules are never collected
    gc.set_threshold(GARBAGE_THRESHOLD)
    total = sum(one.size for one in inputs) if all(one.size for one in inputs) else 0
    progress = CleaningProgress(total, lambda: sum(one.position for one in inputs), CleaningCounts(), interval)
    return _clean(inputs, output, progress, clean_page, jobs)


def _clean(
    inputs: Sequence[Input], output: AtomicFile, progress: CleaningProgress, clean_page: Cleaner, jobs: int
) -> int:
    """Clean everything and print the results; returns the exit status."""
    tally, started, status = progress.tally, monotonic(), 0
    stopped: Message | None = None
    found = (record for one in inputs for record in one.found())
    try:
        with progress:
            for result in cleaned(found, clean_page, jobs, lambda: progress.say(DIED)):
                tally.add(result)
                if isinstance(result, Cleaned):
                    output.write(readable_json(result.line) if output.is_terminal else result.line)
                elif isinstance(result, Broken):
                    progress.say(f"{result.place}: {result.why}")
                progress.show()
        output.finish()
    except KeyboardInterrupt:
        status, stopped = INTERRUPTED, Message("Stopped before the end.")
    except (OutputError, WorkersError) as error:
        status, stopped = FAILED, Message("Stopped: {why}.", {"why": str(error)})
    output.close()
    for line in _closing(tally, monotonic() - started, stopped, output):
        print(printable(localized(line)), file=sys.stderr)
    return status or (FAILED if tally.broken else 0)


def _closing(tally: CleaningCounts, seconds: float, stopped: Message | None, output: AtomicFile) -> Iterator[Message]:
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
    is_page = bare(Path(output).name).endswith(HTML_SUFFIXES)
    for name in inputs:
        if name == "-":
            continue
        inside = is_page and Path(name).resolve() in Path(output).resolve().parents
        if inside or Path(output).samefile(name):
            raise WrongUseError("{path} is also an input", path=repr(output))
