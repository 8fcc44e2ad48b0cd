"""`scrapy export`: the pages that a crawl stored, from the database into a file or a folder of files.

What is written has another name until all is done, and is removed where it does not come to that: there is the whole
export under its name, or what was there before.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn, TypeVar

from rich.filesize import decimal
from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler.export.csv import Formulas
from crawler.export.exporter import Exporter, Tally, check_apart, write_labels
from crawler.export.formats import FORMATS
from crawler.export.parquet import MissingLibraryError
from crawler.files import AtomicFile, AtomicFolder, OutputError
from crawler.labels.labels import labelled_pages
from crawler.metadata.page_record import TYPES
from crawler.reports.stored_pages import GONE, PageFilter, StoredPages, crawls_to_export
from crawler.store.database import display_url, state_url
from crawler.terminal import INTERRUPTED, TERMINATED, WrongUseError, say
from crawler.translation.message import counted

CALLED = "scrapy export"
MOST_NAMES = 10
T = TypeVar("T")


def export(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Write the pages of a crawl, or those that people labelled; the exit status."""
    url, folder = state_url(settings), Path(settings["OUTPUT_DIR"])
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        with crawls_to_export(url) as crawls:
            try:
                if opts.output is not None:
                    check_apart(opts.output, folder, crawls, url)
            except OutputError as error:
                raise WrongUseError(str(error)) from None
            if opts.labels:
                _export_labels(opts, url)
            else:
                _export_crawl(opts, _find(crawls, opts, url))
    except KeyboardInterrupt:
        say(CALLED, "stopped before the end" + (f"; nothing of {opts.output!r} stays" if opts.output else ""))
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _find(crawls: Sequence[StoredPages], opts: argparse.Namespace, url: URL) -> StoredPages:
    """The crawl of the name that is given, or the only one there is; a WrongUseError without one."""
    if not crawls:
        raise WrongUseError(f"no crawl was ever run here ({display_url(url)})")
    found = [one for one in crawls if opts.name in (None, one.name)]
    names = ", ".join(one.name for one in crawls[:MOST_NAMES])
    names += f" and {counted(len(crawls) - MOST_NAMES, 'other')}" if len(crawls) > MOST_NAMES else ""
    if not found:
        raise WrongUseError(f"there is no crawl {str(opts.name)[:200]!r}; there are {names}")
    if len(found) > 1:
        raise WrongUseError(f"there are several crawls; --name says which of {names}")
    if isinstance(opts.since, int) and opts.since > found[0].round:
        rounds = counted(found[0].round, "round")
        raise WrongUseError(f"--since {opts.since}: the crawl {found[0].name!r} has had {rounds}")
    return found[0]


def _export_crawl(opts: argparse.Namespace, crawl: StoredPages) -> None:
    """Write the pages of a crawl, and say at the end what was written."""
    began, tally = monotonic(), Tally()
    wanted = PageFilter(opts.only or "", opts.since, opts.min_relevance, tuple(opts.where))
    how = Exporter(opts.format, opts.fields or [*TYPES], wanted, Formulas(opts.spreadsheet))
    make = AtomicFolder if FORMATS[opts.format].is_folder else AtomicFile
    target: AtomicFile | AtomicFolder = _opened(lambda: make(opts.output))
    try:
        numbers = crawl.numbers()
        how.write(crawl, target, tally)
        target.finish()
    except MissingLibraryError as error:
        raise WrongUseError(str(error)) from None
    finally:
        target.discard()
    where = f"{tally.pages:,} of {counted(numbers.pages, 'page')} of the crawl {crawl.name} written to {target.shown}"
    say(CALLED, f"{where}, {decimal(tally.bytes)} in {monotonic() - began:.1f} s.")
    for line in _remarks(tally, numbers.gone, how):
        say(CALLED, line)


def _export_labels(opts: argparse.Namespace, url: URL) -> None:
    """Write the pages that people labelled, of a crawl or of all, and say at the end what was written."""
    target, tally = _opened(lambda: AtomicFile(opts.output)), Tally()
    try:
        with labelled_pages(url, opts.name) as labels:
            write_labels(labels, target, tally)
        if not tally.pages:
            nobody = "nobody has labelled the main text of a page yet"
            raise WrongUseError(f"{nobody}; scrapy dashboard shows pages to be labelled")
        target.finish()
    finally:
        target.discard()
    say(CALLED, f"{counted(tally.pages, 'labelled page')} written to {target.shown}, {decimal(tally.bytes)}.")


def _opened(make: Callable[[], T]) -> T:
    """The file or folder that is made; a WrongUseError where it cannot be written."""
    try:
        return make()
    except OutputError as error:
        raise WrongUseError(str(error)) from None


def _remarks(tally: Tally, gone: int, how: Exporter) -> Iterator[str]:
    """What else is to be known of what was written, in sentences."""
    if gone and how.filter.only != GONE:
        are = "page that is gone is" if gone == 1 else "pages that are gone are"
        yield f"{gone:,} {are} left out; --only gone has them."
    if tally.bare and how.format == "markdown":
        yield f"Of {counted(tally.bare, 'page')} no Markdown is stored: their text stands there (-a markdown=yes)."
    if tally.bare and how.format == "warc":
        yield f"Of {counted(tally.bare, 'page')} no response is stored: the text stands alone (KEEP_RESPONSES)."
    if count := how.formulas.count:
        begin = f"{counted(count, 'cell begins', 'cells begin')} like a formula"
        done = "with a ' before" if how.formulas.quoted else "which a spreadsheet may run; --spreadsheet prevents that"
        yield f"{begin}, {done}."


def _terminated(*_: Any) -> NoReturn:
    sys.exit(TERMINATED)
