"""`winnow export`: writes the stored pages of a crawl, or labelled pages, into a file or a folder of files.

The output has a temporary name until it is complete, and is deleted if the export fails. So the file with the final
name is always a whole export, this one or an earlier one.
"""

import argparse
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic

from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler.atomic_files import AtomicFile
from crawler.command_line.stop_signals import ignore_repeats
from crawler.command_line.terminal import INTERRUPTED, TERMINATED, byte_size, say
from crawler.errors import WrongUseError
from crawler.export.exporter import Exporter, Tally
from crawler.export.labelled_pages import write_labels
from crawler.reports.crawls import check_name, name_list
from crawler.reports.stored_pages import GONE, NOINDEX, StoredPages, crawls_to_export
from crawler.store.database import state_url
from crawler.store.labels import text_labels
from crawler.store.page_changes import ChangeOffset
from crawler.translation.message import Message, plural

CALLED = "export"
"""The name of the command, which begins each message."""
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""The suffixes of the files of an SQLite database."""


def check_output(output: str, folder: Path, crawls: Iterable[StoredPages], url: URL) -> None:
    """Raise a WrongUseError if the output would replace a file that a crawl writes, or the database."""
    path = Path(output).resolve()
    names = "|".join(re.escape(stored_pages.name) for stored_pages in crawls)
    if path.parent == folder.resolve() and re.fullmatch(rf"(?:{names})(?:-\d+)?(?:\.images)?\.jsonl", path.name):
        raise WrongUseError("{path} is a file that a crawl writes: give another name", path=repr(output))
    database = Path(str(url.database)).resolve()
    if url.drivername == "sqlite" and path in {database.with_name(database.name + end) for end in SQLITE_SUFFIXES}:
        raise WrongUseError("{path} is an input and cannot be the output", path=repr(output))


def export(opts: argparse.Namespace, settings: BaseSettings, exporter_class: type[Exporter] = Exporter) -> int:
    """Write the pages of crawls, or labelled pages, by an exporter of this class; returns the exit status."""
    url = state_url(settings)
    folder = Path(settings["OUTPUT_DIR"])
    # A terminated export deletes its files, because `sys.exit` leaves the `with` blocks.
    earlier_handler = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    ignore_repeats()

    try:
        with crawls_to_export(url) as crawls:
            for output in exporter_class.outputs(opts):
                check_output(output, folder, crawls, url)
            if opts.labels:
                _export_labels(opts, url)
            else:
                _export_crawls(opts, _chosen_crawls(crawls, opts, url), crawls, exporter_class)
    except KeyboardInterrupt:
        message = Message("stopped before the end")
        if opts.output:
            message = Message("stopped before the end; {path} was not written", {"path": repr(opts.output)})
        say(CALLED, message)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, earlier_handler)
    return 0


def _chosen_crawls(crawls: Sequence[StoredPages], opts: argparse.Namespace, url: URL) -> list[StoredPages]:
    """The crawls with the given names, or the only crawl; raises a WrongUseError if there are no such crawls."""
    known_names = [stored_pages.name for stored_pages in crawls]
    names: list[str | None] = [None]  # for None, `check_name` only checks that there is a crawl
    if opts.name is not None:
        names = opts.name.split(",")
    for name in names:
        check_name(known_names, name, url)
    chosen_crawls = [stored_pages for stored_pages in crawls if opts.name is None or stored_pages.name in names]
    if opts.name is None and len(chosen_crawls) > 1:
        raise WrongUseError("there are several crawls; set --name to one of {names}", names=name_list(known_names))
    for stored_pages in chosen_crawls:
        if isinstance(opts.since, int) and opts.since > stored_pages.round:
            rounds = plural("{n} round", "{n} rounds", stored_pages.round)
            values = {"since": opts.since, "name": repr(stored_pages.name), "rounds": rounds}
            raise WrongUseError("--since {since}: the crawl {name} has had {rounds}", **values)
    return chosen_crawls


def _export_crawls(
    opts: argparse.Namespace,
    crawls: Sequence[StoredPages],
    all_crawls: Sequence[StoredPages],
    exporter_class: type[Exporter],
) -> None:
    """Write the pages of crawls, and print what was written."""
    started_at = monotonic()
    tally = Tally()
    with exporter_class.target(opts) as target, exporter_class.of(opts, crawls, target, all_crawls) as exporter:
        exporter.open_lists(opts)
        page_counts = [crawl.page_counts() for crawl in crawls]
        exporter.write(target, tally)
        exporter.describe(target, opts, page_counts)
        if tally.pages or exporter.after is None:  # an export of changes without a change writes no file
            target.finish()
            exporter.finish_lists()

    # What was written, and further lines.
    if exporter.after is not None:
        say(CALLED, _changes_words(crawls[0].name, target.shown, exporter.after, tally))
    else:
        stored_count = sum(counts.pages for counts in page_counts)
        say(CALLED, _written_words(exporter, stored_count, target.shown, tally, monotonic() - started_at))
    for line in exporter.more_lines(target):
        say(CALLED, line)
    if exporter.after is None:
        gone_count = sum(counts.gone for counts in page_counts)
        for line in (*exporter.removed.words(), *_remarks(tally, gone_count, exporter)):
            say(CALLED, line)


def _written_words(exporter: Exporter, stored_count: int, path: str, tally: Tally, seconds: float) -> Message:
    """How many of the stored pages were written."""
    names = [stored_pages.name for stored_pages in exporter.source.crawls]
    values = {
        "pages": f"{tally.pages:,}",
        "path": path,
        "size": byte_size(tally.bytes),
        "seconds": f"{seconds:.1f}",
    }
    if len(names) > 1:
        return plural(
            "{pages} of {n} page of the crawls {names} written to {path}, {size} in {seconds} s.",
            "{pages} of {n} pages of the crawls {names} written to {path}, {size} in {seconds} s.",
            stored_count,
            names=names,
            **values,
        )
    return plural(
        "{pages} of {n} page of the crawl {name} written to {path}, {size} in {seconds} s.",
        "{pages} of {n} pages of the crawl {name} written to {path}, {size} in {seconds} s.",
        stored_count,
        name=names[0],
        **values,
    )


def _changes_words(name: str, path: str, after: ChangeOffset, tally: Tally) -> Message:
    """How many changes were written, and the offset for the next export."""
    if not tally.pages:
        values = {"name": name, "offset": str(after), "path": path}
        return Message("The crawl {name} has no change after the offset {offset}; {path} was not written.", values)
    return plural(
        "{n} change of the crawl {name} written to {path}, {size}; --changes-after {offset} continues after it.",
        "{n} changes of the crawl {name} written to {path}, {size}; --changes-after {offset} continues after them.",
        tally.pages,
        name=name,
        path=path,
        size=byte_size(tally.bytes),
        offset=tally.offset,
    )


def _export_labels(opts: argparse.Namespace, url: URL) -> None:
    """Write the labelled pages of a crawl or of all, and print what was written."""
    target = AtomicFile(opts.output)
    tally = Tally()
    try:
        with text_labels(url, opts.name) as labels:
            write_labels(labels, target, tally)
        if not tally.pages:
            raise WrongUseError(
                "nobody has labelled the main text of a page yet; winnow dashboard shows pages to be labelled"
            )
        target.finish()
    finally:
        target.discard()
    written = plural(
        "{n} labelled page written to {path}, {size}.",
        "{n} labelled pages written to {path}, {size}.",
        tally.pages,
        path=target.shown,
        size=byte_size(tally.bytes),
    )
    say(CALLED, written)


def _remarks(tally: Tally, gone: int, exporter: Exporter) -> Iterator[Message]:
    """Further lines: about pages that are gone, pages without stored Markdown or response, and cells that begin like
    formulas.
    """
    if gone and exporter.source.filter.only not in (GONE, NOINDEX):
        yield plural(
            "{n} page that is gone or has noindex now is left out; --only gone or --only noindex exports it.",
            "{n} pages that are gone or have noindex now are left out; --only gone and --only noindex export them.",
            gone,
        )
    if tally.bare and "markdown" in exporter.format.needs:
        yield plural(
            "{n} page has no stored Markdown, so its plain text was written (-a markdown=yes stores Markdown).",
            "{n} pages have no stored Markdown, so their plain text was written (-a markdown=yes stores Markdown).",
            tally.bare,
        )
    if tally.bare and exporter.format.has_responses:
        yield plural(
            "{n} page has no stored response, so only its text was written (a larger KEEP_RESPONSES stores more).",
            "{n} pages have no stored response, so only their text was written (a larger KEEP_RESPONSES stores more).",
            tally.bare,
        )

    count = exporter.formulas.count
    cells = plural("{n} cell begins like a formula", "{n} cells begin like a formula", count)
    if count and exporter.formulas.quoted:
        yield Message("{cells}; a ' was put before each.", {"cells": cells})
    elif count:
        yield Message("{cells}, which a spreadsheet may run; --spreadsheet prevents that.", {"cells": cells})
