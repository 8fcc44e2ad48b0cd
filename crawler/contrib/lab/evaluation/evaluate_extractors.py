"""`winnow evaluate`: evaluates methods and other programs on gold pages, prints tables, writes reports."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from scrapy.settings import BaseSettings

from crawler import __version__
from crawler.command_line.terminal import FAILED, printable, say
from crawler.contrib.lab.evaluation import evaluate_metadata, evaluate_structure
from crawler.contrib.lab.evaluation.baseline import TOLERANCE, RecordError, compare_records, read_record, record
from crawler.contrib.lab.evaluation.gold import read_set
from crawler.contrib.lab.evaluation.method_process import METHODS
from crawler.contrib.lab.evaluation.method_scores import EvaluationPlan, SetResult, judge
from crawler.contrib.lab.evaluation.peers import PEERS
from crawler.contrib.lab.evaluation.program_tables import CALLED
from crawler.contrib.lab.evaluation.report import HEADS, cells, report
from crawler.errors import WrongUseError
from crawler.reports.html_page import aligned
from crawler.translation.message import counted

TICK_SECONDS = 0.2
"""The time between two updates of the progress line on a terminal."""


def evaluate(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Evaluate extractors, or metadata or Markdown if requested; returns the exit status."""
    if opts.metadata:
        return evaluate_metadata.evaluate(opts.gold)
    if opts.structure:
        return evaluate_structure.evaluate(opts.gold)
    return Evaluation(opts).run()


class Evaluation:
    """An evaluation of the requested methods on the requested files."""

    def __init__(self, opts: argparse.Namespace) -> None:
        self.opts = opts
        self.status = 0
        peers = PEERS if "all" in opts.against else opts.against
        methods = opts.methods or METHODS
        self.plan = EvaluationPlan(methods=(*methods, *peers), by=opts.by, jobs=opts.jobs)
        try:
            self.baseline = read_record(Path(opts.baseline)) if opts.baseline is not None else None
        except RecordError as error:
            raise WrongUseError("{name}: {why}", name="--baseline", why=error.message) from None

    def run(self) -> int:
        """Evaluate, print and write everything; returns the exit status."""
        try:
            results, faults = self.judge()
        except KeyboardInterrupt:
            say(CALLED, "interrupted; nothing was written")
            return FAILED
        figures_json = record(results, __version__)
        if self.opts.save is not None:
            self.write(Path(self.opts.save), figures_json)
        if self.opts.output is not None:
            day = datetime.now(UTC).date()
            self.write(Path(self.opts.output), report(results, faults, __version__, day))
        if faults:
            say(CALLED, f"{counted(len(faults), 'fault')} in the gold files, listed above")
            self.status = FAILED
        if self.baseline is not None:
            self.compare(self.baseline, figures_json)
        return self.status

    def judge(self) -> tuple[list[SetResult], list[str]]:
        """Evaluate all sets, and print each as soon as it is ready; returns the results and the faults of the files."""
        results: list[SetResult] = []
        faults: list[str] = []
        for path in self.opts.gold:
            gold = read_set(path)
            for fault in gold.faults:
                say(CALLED, fault)
            faults += gold.faults
            if gold.pages:
                progress = _Progress()
                results_of_set = judge(gold, self.plan, progress.tick)
                progress.end()
                for result in results_of_set:
                    _print_table(result)
                results += results_of_set
        return results, faults

    def write(self, path: Path, text: str) -> None:
        """Write a file, or print why it cannot be written."""
        try:
            path.write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            say(CALLED, f"{str(path)!r} cannot be written ({error.strerror})")
            self.status = FAILED

    def compare(self, baseline: dict[str, dict[str, object]], figures_json: str) -> None:
        """Compare with the baseline, and print the figures that fell."""
        # The figures are read back from JSON, so that they are rounded like the baseline.
        comparison = compare_records(baseline, json.loads(figures_json)["sets"])
        for line in comparison.not_compared:
            say(CALLED, f"not compared: {line}")
        for line in comparison.falls:
            print(printable(line))
        print(
            f"{counted(comparison.pairs, 'pair')} of set and method compared with the baseline, "
            f"{counted(len(comparison.falls), 'fall')} of more than {TOLERANCE:g}."
        )
        if comparison.falls or comparison.gaps or not comparison.pairs:
            self.status = FAILED


class _Progress:
    """Shows progress on standard error: on a terminal one line that is updated, elsewhere a line for each method."""

    def __init__(self) -> None:
        self.started_at = time.monotonic()
        self.updated_at = self.started_at
        self.width = 0
        """The length of the line on the terminal; the next line is filled up with spaces to this length."""

    def tick(self, set_name: str, method: str, done: int, count: int) -> None:
        """Show that a method has done `done` of the `count` pages of a set."""
        now = time.monotonic()
        line = printable(f"{set_name}: {method} {done:,} of {counted(count, 'page')}, {now - self.started_at:.0f} s")
        if sys.stderr.isatty():
            if now - self.updated_at >= TICK_SECONDS or done == count:
                self.updated_at = now
                print(f"\r{line:{self.width}}", end="", file=sys.stderr, flush=True)
                self.width = len(line)
        elif done == count:
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Remove the line."""
        if self.width:
            print(f"\r{'':{self.width}}\r", end="", file=sys.stderr, flush=True)


def _print_table(result: SetResult) -> None:
    rows: list[Sequence[str]] = [HEADS]
    for judged in result.judged:
        if judged.figures is None:
            rows.append([judged.name, f"absent: {judged.run.absent}"])
        else:
            rows.append([judged.name, *cells(judged.figures)])
    pages = next((judged.figures.pages for judged in result.judged if judged.figures), 0)
    print(printable(f"\n{result.name}: {counted(pages, 'page')}"))
    for line in aligned(rows, {0}):
        print(printable(line))
    sys.stdout.flush()
