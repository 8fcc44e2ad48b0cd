"""`scrapy evaluate`: methods and peers judged on pages whose main text people have labelled."""

import argparse
import sys
import time
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from crawler import __version__
from crawler.cli.options import OneSentence, names, refuse, whole
from crawler.evaluation.gold import set_name
from crawler.evaluation.peers import PEERS
from crawler.extraction import EXTRACTORS
from crawler.reports.html_page import aligned
from crawler.translation.message import counted, printable

if TYPE_CHECKING:  # they want numpy and scipy, without which the other commands must be listed
    from crawler.evaluation.judgement import EvaluationPlan, SetResult

GROUPS = ("lang", "page_type")
NEEDED = ("numpy", "scipy")
PAGE_SECONDS = 30.0  # that a method has for a page
MOST_JOBS = 64
TICK = 0.2  # seconds between two changes of a line on a terminal


class Command(OneSentence):
    """Prints a table for each set; with -o writes a report, with --baseline fails when figures fell."""

    called = "scrapy evaluate"

    def syntax(self) -> str:
        return "GOLD.jsonl[.gz|.xz]... [options]"

    def short_desc(self) -> str:
        return "Judge extraction methods, and other programs, on pages whose main text is known"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        methods = "methods to judge (default: all)"
        add("--methods", metavar="A,B", type=names(EXTRACTORS), default=[*EXTRACTORS], help=methods)
        peers = f"peers to judge with them, or all: {', '.join(PEERS)}"
        add("--against", metavar="A,B", type=names([*PEERS, "all"]), default=[], help=peers)
        add("-o", "--output", metavar="FILE", help="write a report, one HTML file")
        add("--save", metavar="FILE", help="write the figures, as JSON")
        add("--baseline", metavar="FILE", help="figures saved before; exit with 1 when one of them fell")
        add("--by", choices=GROUPS, default="", help="judge groups of pages too")
        jobs = "methods at work at once (default: 1, which times best)"
        add("--jobs", metavar="N", type=whole(1, MOST_JOBS), default=1, help=jobs)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            _refuse(f"{' and '.join(missing)} must be installed: python -m pip install '.[evaluate]'")
        self.paths = [Path(arg) for arg in args]
        self.methods = [*opts.methods, *(PEERS if "all" in opts.against else opts.against)]
        self.jobs: int = opts.jobs
        outputs = [name for name in (opts.output, opts.save) if name is not None]
        if len({Path(name).absolute() for name in outputs}) < len(outputs):
            _refuse("-o and --save name the same file")
        read = [Path(opts.baseline)] if opts.baseline is not None and Path(opts.baseline).exists() else []
        _check_files(self.paths, outputs, read)
        self.before = _read_baseline(Path(opts.baseline)) if opts.baseline is not None else None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from crawler.evaluation.judgement import EvaluationPlan
        from crawler.evaluation.report import record, report

        plan = EvaluationPlan(tuple(self.methods), opts.by, PAGE_SECONDS, self.jobs)
        try:
            verdicts, faults = self.judge(plan)
        except KeyboardInterrupt:
            _say("broken off; nothing was written")
            self.exitcode = 1
            return
        figures = record(verdicts, __version__)
        today = datetime.now(UTC).date()
        for name, text in ((opts.save, figures), (opts.output, report(verdicts, faults, __version__, today))):
            if name is not None:
                self.write(Path(name), text)
        if faults:
            _say(f"{counted(len(faults), 'fault')} in the gold files, said above")
            self.exitcode = 1
        if self.before is not None:
            self.compare(figures)

    def judge(self, plan: "EvaluationPlan") -> "tuple[list[SetResult], list[str]]":
        """The verdicts on all sets, each printed as soon as it is there; and what of the files could not be read."""
        from crawler.evaluation.gold import read_set
        from crawler.evaluation.judgement import judge

        verdicts: list[SetResult] = []
        faults: list[str] = []
        for path in self.paths:
            gold = read_set(path)
            for fault in gold.faults:
                _say(fault)
            faults += gold.faults
            if gold.pages:
                progress = _Progress()
                found = judge(gold, plan, progress.tick)
                progress.end()
                for verdict in found:
                    _print_table(verdict)
                verdicts += found
        return verdicts, faults

    def write(self, path: Path, text: str) -> None:
        """Write a file, or say why not."""
        try:
            path.write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            _say(f"{str(path)!r} cannot be written ({error.strerror})")
            self.exitcode = 1

    def compare(self, figures: str) -> None:
        """Say what fell since the baseline."""
        import json

        from crawler.evaluation.report import TOLERANCE, compare_records

        assert self.before is not None  # noqa: S101 - only then it is called
        found = compare_records(self.before, json.loads(figures)["sets"])
        for line in found.left:
            _say(f"not compared: {line}")
        for line in found.falls:
            print(printable(line))
        print(
            f"{counted(found.pairs, 'pair')} of set and method compared with the baseline, "
            f"{counted(len(found.falls), 'fall')} of more than {TOLERANCE:g}."
        )
        if found.falls or found.gaps or not found.pairs:
            self.exitcode = 1


class _Progress:
    """What is being done: on a terminal one line that changes, elsewhere a line for each method."""

    def __init__(self) -> None:
        self.start = self.last = time.monotonic()
        self.width = 0

    def tick(self, name: str, method: str, done: int, count: int) -> None:
        now = time.monotonic()
        line = printable(f"{name}: {method} {done:,} of {counted(count, 'page')}, {now - self.start:.0f} s")
        if sys.stderr.isatty():
            if now - self.last >= TICK or done == count:
                self.last = now
                print(f"\r{line:{self.width}}", end="", file=sys.stderr, flush=True)
                self.width = len(line)
        elif done == count:
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self.width:
            print(f"\r{'':{self.width}}\r", end="", file=sys.stderr, flush=True)


def _print_table(verdict: "SetResult") -> None:
    """Print the figures of a set."""
    from crawler.evaluation.report import HEADS, cells

    rows = [HEADS]
    for judged in verdict.judged:
        said = [f"absent: {judged.run.absent}"] if judged.figures is None else cells(judged.figures)
        rows.append([judged.name, *said])
    pages = next((judged.figures.pages for judged in verdict.judged if judged.figures), 0)
    print(printable(f"\n{verdict.name}: {counted(pages, 'page')}"))
    for line in aligned(rows, {0}):
        print(printable(line))
    sys.stdout.flush()


def _check_files(inputs: list[Path], outputs: list[str], read: list[Path]) -> None:
    """End the program unless the inputs can be read, have names of their own, and the outputs can be written."""
    if not inputs:
        _refuse("give at least one file of pages with their main text: scrapy evaluate GOLD.jsonl")
    for path in inputs:
        try:
            path.open("rb").close()
        except OSError as error:
            _refuse(f"{str(path)!r} cannot be read ({error.strerror})")
    names = [set_name(path) for path in inputs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        _refuse(f"two files would both be called {twice[0]!r} in the tables; give one of them another name")
    for name in outputs:
        if any(Path(name).exists() and path.samefile(name) for path in [*inputs, *read]):
            _refuse(f"{name!r} is to be read and cannot be written to")
        if Path(name).is_dir() or not Path(name).absolute().parent.is_dir():
            _refuse(f"{name!r} cannot be written: its folder is not there, or it is a folder")


def _read_baseline(path: Path) -> dict[str, dict[str, object]]:
    from crawler.evaluation.report import RecordError, read_record

    try:
        return read_record(path)
    except RecordError as error:
        _refuse(f"--baseline: {error}")


def _say(message: str) -> None:
    print(printable(f"scrapy evaluate: {message}").replace("\n", " "), file=sys.stderr)


_refuse = partial(refuse, "scrapy evaluate")
