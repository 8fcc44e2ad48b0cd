"""`scrapy clean`: saved pages become clean text, without a crawl.

A run may take hours. With -o its lines go to a file beside OUT, named OUT.TOKEN.part, which becomes OUT when all is
done: OUT is never half a run, and an earlier OUT stays until then. What was cleaned when a run is broken off, by Ctrl-C
or a full disk, stays in the .part file. With --into each INPUT becomes a file of its own: subcommands/clean_into.py.
"""

import argparse
import gc
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic

from rich.filesize import decimal
from scrapy.utils.log import configure_logging

from crawler.archives.html_files import SUFFIXES
from crawler.archives.inputs import Input
from crawler.archives.records import Broken, InputError
from crawler.archives.stream import bare
from crawler.arguments import MARKDOWN
from crawler.bulk.cleaning import MORE, Cleaned, CleaningCounts, cleaned, cleaner
from crawler.bulk.parallel import DIED, GARBAGE_THRESHOLD, WorkersError, cores
from crawler.cli import WrongUseError, clean_into
from crawler.cli.cleaning_progress import CleaningProgress, outcome_lines
from crawler.cli.options import OneSentence, names, whole
from crawler.extensions.progress import spell_out_log
from crawler.extraction import favouring
from crawler.extraction.auto import BALANCE, FAVOURS
from crawler.files import AtomicFile, OutputError
from crawler.translation.catalogue import localized
from crawler.translation.message import Message, plural, printable, readable_json

MOST_JOBS = 1_000
BROKEN, INTERRUPTED = 1, 130  # the last is what shells make of Ctrl-C


class Command(OneSentence):
    """Cleans HTML files and folders of them, JSON lines, WARC files and Tianwang's raw pages."""

    called = "scrapy clean"

    def syntax(self) -> str:
        return (
            "INPUT... [-o OUT.jsonl] [--method NAME] [--favour NAME] [--with FIELDS] [--markdown[=links]] [--jobs N] "
            "[--into FOLDER [--engine NAME] [--scheduler ADDRESS]]"
        )

    def short_desc(self) -> str:
        return "Clean saved pages without a crawl"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-o", "--output", metavar="OUT.jsonl", help="where the lines go, if not to standard output")
        parser.add_argument("--method", metavar="NAME", help="the extractor, if not that of the setting EXTRACTOR")
        parser.add_argument("--favour", choices=FAVOURS, default=BALANCE, help="what auto favours")
        fields = f"add some of {','.join(MORE)}"
        parser.add_argument("--with", metavar="FIELDS", dest="fields", type=names(MORE), default=[], help=fields)
        parser.add_argument(
            "--markdown",
            choices=[*MARKDOWN],
            nargs="?",
            const="yes",
            default="no",
            help="add the text as Markdown, with its links if --markdown=links",
        )
        jobs = "number of processes, if not one for each core"
        parser.add_argument("--jobs", metavar="N", type=whole(1, MOST_JOBS), help=jobs)
        clean_into.add_options(parser)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        self.fields: list[str] = opts.fields
        if not args:
            self.refuse("no INPUT is given: {usage}", usage=f"scrapy clean {self.syntax()}")
        if repeated := next((arg for arg in args if args.count(arg) > 1), None):
            self.refuse("{name} is given more than once", name=repr(repeated))
        try:
            clean_into.check(opts)
        except WrongUseError as error:
            self.refuse(error.message)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        self.method = self.settings["EXTRACTOR"] if opts.method is None else opts.method
        try:
            extract = favouring(self.method, opts.favour)
        except ValueError as error:
            self.refuse(str(error))
        self.cleaner = cleaner(self.method, extract, opts.markdown, self.fields)
        self.jobs = opts.jobs or cores()
        self.interval = self.settings.getfloat("LOGSTATS_INTERVAL") or 10.0
        if opts.into is not None:
            self.exitcode = self.into(args, opts)
            return
        try:
            inputs = [Input(name) for name in args]  # which reads the first bytes, and may wait for them
            _check_apart(opts.output, args)
            output = AtomicFile(opts.output)
        except (InputError, OutputError) as error:
            self.refuse(str(error))
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        configure_logging(self.settings)
        spell_out_log()
        gc.freeze()  # what is loaded stays
        gc.set_threshold(GARBAGE_THRESHOLD)
        self.exitcode = self.clean(inputs, output)

    def into(self, args: list[str], opts: argparse.Namespace) -> int:
        """Clean each input into a file of its own; the exit status."""
        assert self.settings is not None  # noqa: S101 - as above
        options = {"--method": self.method, "--favour": opts.favour, "--markdown": opts.markdown}
        options["--with"] = ",".join(self.fields)
        how = clean_into.How(options, self.jobs, self.interval)
        configure_logging(self.settings)
        spell_out_log()
        try:
            return clean_into.clean_into(args, opts, self.cleaner, how)
        except WrongUseError as error:
            self.refuse(error.message)

    def clean(self, inputs: Sequence[Input], output: AtomicFile) -> int:
        """Clean everything and print the results; the exit status."""
        tally, started, status = CleaningCounts(), monotonic(), 0
        stopped: Message | None = None
        progress = CleaningProgress(inputs, tally, self.interval)
        try:
            with progress:
                self.go(inputs, output, progress)
            output.finish()
        except KeyboardInterrupt:
            status, stopped = INTERRUPTED, Message("Stopped before the end.")
        except (OutputError, WorkersError) as error:
            status, stopped = BROKEN, Message("Stopped: {why}.", {"why": str(error)})
        output.close()
        for line in _closing(tally, monotonic() - started, stopped, output):
            print(printable(localized(line)), file=sys.stderr)
        return status or (BROKEN if tally.broken else 0)

    def go(self, inputs: Sequence[Input], output: AtomicFile, progress: CleaningProgress) -> None:
        """Clean record by record."""
        found = (record for one in inputs for record in one.found())
        for result in cleaned(found, self.cleaner, self.jobs, lambda: progress.say(DIED)):
            progress.tally.add(result)
            if isinstance(result, Cleaned):
                output.write(readable_json(result.line) if output.is_terminal else result.line)
            elif isinstance(result, Broken):
                progress.say(f"{result.place}: {result.why}")
            progress.show()


def _closing(tally: CleaningCounts, seconds: float, stopped: Message | None, output: AtomicFile) -> Iterator[Message]:
    """What is said at the end."""
    values = {"seconds": f"{seconds:.1f}", "rate": f"{tally.pages / max(seconds, 0.001):.1f}"}
    values |= {"before": decimal(tally.before), "after": decimal(tally.after)}
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
        yield Message("What was cleaned so far is in {path}.", {"path": output.part})
    elif output.path is not None:
        yield plural("{n} line in {path}.", "{n} lines in {path}.", tally.pages, path=output.shown)


def _check_apart(output: str | None, inputs: Sequence[str]) -> None:
    """Raise an OutputError when the output would take the place of an input."""
    if output is None or not Path(output).exists():
        return
    is_page = bare(Path(output).name).endswith(SUFFIXES)
    for name in inputs:
        if name == "-":
            continue
        inside = is_page and Path(name).resolve() in Path(output).resolve().parents
        if inside or Path(output).samefile(name):
            raise OutputError(f"{output!r} is an input, too")
