"""`scrapy export`: the pages that a crawl stored, from the database into a file or a folder of files.

What is written has another name until all is done, and is removed where it does not come to that: there is the whole
export under its name, or what was there before.
"""

import argparse
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn

from rich.filesize import decimal
from sqlalchemy.engine import URL

from crawler.cli.options import OneSentence, names, refuse, share
from crawler.export.csv import Formulas, csv_lines
from crawler.export.formats import COMPRESSORS, FORMATS, compressed, compression_of, format_of
from crawler.export.jsonl import FIELDS, gold_line
from crawler.export.markdown import markdown
from crawler.export.options import WishError, places_of, since_of
from crawler.export.parquet import MissingLibraryError
from crawler.files import AtomicFile, AtomicFolder, OutputError
from crawler.labels.labels import Label, labelled_pages
from crawler.reports.pages import GONE, ONLY, PageFilter, StoredPage, StoredPages, crawls_to_export
from crawler.store.database import StateError, database_url, display_url
from crawler.translation.message import counted, printable

BROKEN, INTERRUPTED, TERMINATED = 1, 130, 143  # the last two are what shells make of Ctrl-C and SIGTERM
MOST_NAMES = 10
# What does not go with --labels: these choose among the pages that a crawl stored.
OF_PAGES = ("since", "only", "min_relevance", "fields", "where", "spreadsheet")
# How the names of a database's files end, without which it is not whole.
OF_SQLITE = ("", "-wal", "-shm", "-journal")


@dataclass
class Tally:
    """What was written."""

    pages: int = 0
    bytes: int = 0
    bare: int = 0
    """Pages without what their format is about: a response, or Markdown."""


class Command(OneSentence):
    """Writes stored pages as JSON lines, CSV, Parquet, Markdown or WARC, and those that people labelled as gold."""

    called = "scrapy export"

    def syntax(self) -> str:
        return (
            "[-o FILE] [--format NAME] [--name NAME] [--since ROUND|DATE] [--only new|changed|gone] "
            "[--min-relevance X] [--fields NAMES] [--where LANGUAGE/SITE] [--spreadsheet] | --labels [-o FILE] "
            "[--name NAME]"
        )

    def short_desc(self) -> str:
        return f"Write the pages that a crawl stored as {', '.join(FORMATS)}"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("-o", "--output", metavar="FILE", help="where to, if not to standard output")
        parser.add_argument("--format", choices=[*FORMATS], help="if FILE does not say which")
        parser.add_argument("--name", metavar="NAME", help="the crawl, if there are several")
        parser.add_argument(
            "--since", metavar="WHEN", help="what became new or changed in this round or later, or since"
        )
        parser.add_argument("--only", choices=ONLY, help="in the last round, or since --since")
        relevant = "pages of this relevance or more, 0 to 1"
        parser.add_argument("--min-relevance", metavar="X", type=share, default=0.0, help=relevant)
        parser.add_argument(
            "--fields", metavar="NAMES", type=names(FIELDS), help="these fields, commas between them, in this order"
        )
        parser.add_argument(
            "--where",
            metavar="PLACE",
            action="append",
            default=[],
            help="pages of a language (zh), a site (example.org) or both (zh/example.org); several are added up",
        )
        parser.add_argument("--spreadsheet", action="store_true", help="CSV in which no cell is taken for a formula")
        parser.add_argument(
            "--labels", action="store_true", help="pages whose main text people labelled, as scrapy evaluate reads them"
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if args:
            _refuse(f"{args[0][:200]!r} is too much; it is scrapy export {self.syntax()}")
        self.output: str | None = opts.output
        self.format = _format(opts)
        _check_labels(opts, self.format)
        try:
            places, since = places_of(opts.where), since_of(opts.since)
        except WishError as error:
            _refuse(str(error))
        self.fields: list[str] = opts.fields or [*FIELDS]
        if opts.fields is not None and not FORMATS[self.format].chooses:
            _refuse(f"--fields does not go with {self.format}, whose records have what they have")
        if opts.spreadsheet and self.format != "csv":
            _refuse(f"--spreadsheet goes with csv alone, and this is {self.format}")
        self.formulas = Formulas(opts.spreadsheet)
        self.wish = PageFilter(opts.only or "", since, opts.min_relevance, places)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None  # noqa: S101 - Scrapy has set them by now
        self.folder = Path(self.settings["OUTPUT_DIR"])
        try:
            url = database_url(self.settings["STATE_URL"], self.folder)
        except StateError as error:
            _refuse(str(error))
        before = signal.signal(signal.SIGTERM, _terminated)
        try:
            with crawls_to_export(url) as crawls:
                if opts.labels:
                    self.export_labels(opts.name, crawls, url)
                    return
                self.export(self.find(crawls, opts.name, url), crawls, url)
        except (StateError, OutputError) as error:
            _say(str(error))
            self.exitcode = BROKEN
        except KeyboardInterrupt:
            _say("stopped before the end" + (f"; nothing of {self.output!r} stays" if self.output else ""))
            self.exitcode = INTERRUPTED
        finally:
            signal.signal(signal.SIGTERM, before)

    def find(self, crawls: Sequence[StoredPages], name: str | None, url: URL) -> StoredPages:
        """The crawl of this name, or the only one there is; without one, the program ends."""
        if not crawls:
            _refuse(f"no crawl was ever run here ({display_url(url)})")
        found = [one for one in crawls if name in (None, one.name)]
        names = ", ".join(one.name for one in crawls[:MOST_NAMES])
        names += f" and {counted(len(crawls) - MOST_NAMES, 'other')}" if len(crawls) > MOST_NAMES else ""
        if not found:
            _refuse(f"there is no crawl {str(name)[:200]!r}; there are {names}")
        if len(found) > 1:
            _refuse(f"there are several crawls; --name says which of {names}")
        if isinstance(self.wish.since, int) and self.wish.since > found[0].round:
            _refuse(
                f"--since {self.wish.since}: the crawl {found[0].name!r} has had {counted(found[0].round, 'round')}"
            )
        return found[0]

    def export(self, crawl: StoredPages, crawls: Sequence[StoredPages], url: URL) -> None:
        """Write the pages of a crawl, and say at the end what was written."""
        began, tally = monotonic(), Tally()
        try:
            self.check_apart(crawls, url)
            target = AtomicFolder(str(self.output)) if FORMATS[self.format].write is None else AtomicFile(self.output)
        except OutputError as error:
            _refuse(str(error))
        try:
            numbers = crawl.numbers()
            self.write(crawl, target, tally)
            target.finish()
        except MissingLibraryError as error:
            _refuse(str(error))
        finally:
            target.discard()
        where = (
            f"{tally.pages:,} of {counted(numbers.pages, 'page')} of the crawl {crawl.name} written to {target.shown}"
        )
        _say(f"{where}, {decimal(tally.bytes)} in {monotonic() - began:.1f} s.")
        for line in self.remarks(tally, numbers.gone):
            _say(line)

    def export_labels(self, name: str | None, crawls: Sequence[StoredPages], url: URL) -> None:
        """Write the pages that people labelled, of a crawl or of all, and say at the end what was written."""
        try:
            self.check_apart(crawls, url)
            target = AtomicFile(self.output)
        except OutputError as error:
            _refuse(str(error))
        tally = Tally()
        try:
            with labelled_pages(url, name) as labels:
                for part in compressed(_gold_lines(labels, tally), compression_of(self.output or "")):
                    target.write(part)
                    tally.bytes += len(part)
            if not tally.pages:
                _refuse("nobody has labelled the main text of a page yet; scrapy dashboard shows pages to be labelled")
            target.finish()
        finally:
            target.discard()
        _say(f"{counted(tally.pages, 'labelled page')} written to {target.shown}, {decimal(tally.bytes)}.")

    def check_apart(self, crawls: Iterable[StoredPages], url: URL) -> None:
        """Raise an OutputError when the output would take the place of what crawls write."""
        if self.output is None:
            return
        path = Path(self.output).resolve()
        own = "|".join(re.escape(one.name) for one in crawls)
        if path.parent == self.folder.resolve() and re.fullmatch(rf"(?:{own})(?:-\d+)?(?:\.images)?\.jsonl", path.name):
            raise OutputError(f"{self.output!r} is what a crawl writes itself: give another name")
        database = Path(str(url.database)).resolve()
        if url.drivername == "sqlite" and path in {database.with_name(database.name + end) for end in OF_SQLITE}:
            raise OutputError(f"{self.output!r} is to be read and cannot be written to")

    def write(self, crawl: StoredPages, target: AtomicFile | AtomicFolder, tally: Tally) -> None:
        """Write the pages one after another."""
        kind = FORMATS[self.format]
        columns = [*dict.fromkeys((*kind.needs, *(self.fields if kind.chooses else ())))]
        pages = self.seen(crawl.pages(columns, self.wish, responses=self.format == "warc"), tally)
        if isinstance(target, AtomicFolder):
            for name, data in markdown(pages, self.fields):
                target.write(name, data)
                tally.bytes += len(data)
            return
        make = partial(csv_lines, formulas=self.formulas) if self.format == "csv" else kind.write
        assert make is not None  # noqa: S101 - what has no writer is a folder
        for part in compressed(make(pages, self.fields), compression_of(self.output or ""), kind.apart):
            target.write(part)
            tally.bytes += len(part)

    def seen(self, pages: Iterable[StoredPage], tally: Tally) -> Iterator[StoredPage]:
        """The pages, counted."""
        for page in pages:
            tally.pages += 1
            values = page.values
            of_text = bool(values.get("text")) and not values.get("markdown")
            tally.bare += page.response is None if self.format == "warc" else of_text
            yield page

    def remarks(self, tally: Tally, gone: int) -> Iterator[str]:
        """What else is to be known of what was written, in sentences."""
        if gone and self.wish.only != GONE:
            are = "page that is gone is" if gone == 1 else "pages that are gone are"
            yield f"{gone:,} {are} left out; --only gone has them."
        if tally.bare and self.format == "markdown":
            yield f"Of {counted(tally.bare, 'page')} no Markdown is stored: their text stands there (-a markdown=yes)."
        if tally.bare and self.format == "warc":
            yield f"Of {counted(tally.bare, 'page')} no response is stored: the text stands alone (KEEP_RESPONSES)."
        if count := self.formulas.count:
            begin = f"{counted(count, 'cell begins', 'cells begin')} like a formula"
            done = (
                "with a ' before"
                if self.formulas.quoted
                else "which a spreadsheet may run; --spreadsheet prevents that"
            )
            yield f"{begin}, {done}."


def _format(opts: argparse.Namespace) -> str:
    """The format that is asked for, or that the output's name says; if it is none, the program ends."""
    name: str | None = opts.output
    if name == "":
        _refuse("-o names no file")
    found = opts.format or ("jsonl" if name is None else format_of(name))
    if found is None:
        endings = ", ".join(ending for one in FORMATS.values() for ending in one.endings)
        _refuse(f"{name!r} does not say which format it is to have; --format does, or one of the endings {endings}")
    kind = FORMATS[found]
    if name is None and not kind.is_text:
        _refuse(f"{found} does not go to standard output; -o says where to")
    if name is not None and compression_of(name) and not kind.packs:
        _refuse(f"{found} goes without {' and '.join(COMPRESSORS)}")
    return str(found)


def _check_labels(opts: argparse.Namespace, kind: str) -> None:
    """End the program where --labels is given with what does not go with it."""
    others = [name for name, value in vars(opts).items() if name in OF_PAGES and value]
    if opts.labels and others:
        _refuse(f"--{others[0].replace('_', '-')} does not go with --labels, which writes all pages that were labelled")
    if opts.labels and (kind != "jsonl" or compression_of(opts.output or "") not in ("", ".gz")):
        _refuse("--labels writes JSON lines, as they are or as .gz, which is what scrapy evaluate reads")


def _gold_lines(labels: Iterable[Label], tally: Tally) -> Iterator[bytes]:
    """The line of each labelled page, counted."""
    for label in labels:
        tally.pages += 1
        yield gold_line(label)


def _terminated(*_: Any) -> NoReturn:
    sys.exit(TERMINATED)


def _say(line: str) -> None:
    print(printable(f"scrapy export: {line}"), file=sys.stderr)


_refuse = partial(refuse, "scrapy export")
