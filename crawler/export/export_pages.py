"""`scrapy export`: writes the stored pages of a crawl, or labelled pages, into a file or a folder of files.

The output has a temporary name until it is complete, and is removed if it is not completed: the name always has the
whole export, or what was there before.
"""

import argparse
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from scrapy.settings import BaseSettings
from sqlalchemy.engine import URL

from crawler.atomic_files import AtomicFile, AtomicFolder
from crawler.command_line.stop_signals import ignore_repeats
from crawler.command_line.terminal import INTERRUPTED, TERMINATED, WrongUseError, byte_size, readable_json, say
from crawler.contrib.corpus.data_set import CARD, MANIFEST, DataSet
from crawler.contrib.corpus.deduplication import Deduplication
from crawler.contrib.corpus.manifest import NEEDS, CrawlOrigin, Origin
from crawler.contrib.corpus.masks import without_personal_data
from crawler.contrib.corpus.parquet import parquet
from crawler.contrib.corpus.presets import PRESETS, Preset
from crawler.contrib.corpus.wacz import wacz
from crawler.contrib.corpus.warc import warc
from crawler.export.csv import Formulas, csv_lines
from crawler.export.formats import FORMATS, compressed, compression_of
from crawler.export.jsonl import jsonl
from crawler.export.markdown import markdown
from crawler.export.selection import Removed, Selection, Source, path_beside
from crawler.items import TYPES
from crawler.page.page import Page
from crawler.reports.crawls import check_name, name_list
from crawler.reports.stored_pages import (
    GONE,
    NOINDEX,
    LanguageOrSite,
    PageCounts,
    PageFilter,
    StoredPage,
    StoredPages,
    crawls_to_export,
)
from crawler.store.database import state_url
from crawler.store.labels import Label, labelled_pages
from crawler.translation.message import N_, Message, plural

CALLED = "scrapy export"
# The suffixes of the files of an SQLite database.
OF_SQLITE = ("", "-wal", "-shm", "-journal")


@dataclass
class Tally:
    """Counts of what was written."""

    pages: int = 0
    bytes: int = 0
    offset: int = 0
    """Of the last change."""
    bare: int = 0
    """Pages without a stored response, or without Markdown, if the format is about these."""
    masked: Counter[str] = field(default_factory=Counter)
    """Personal data that was masked, by kind."""


@dataclass(frozen=True)
class Exporter:
    """Which pages are written, and how."""

    format: str
    fields: Sequence[str]
    source: Source
    formulas: Formulas
    removed: Removed = field(default_factory=Removed)
    copies: Deduplication = field(default_factory=Deduplication)
    masks: Sequence[str] = ()
    """Kinds of personal data that are masked."""
    preset: Preset | None = None
    """Whose records are written instead of the fields of items."""
    after: int | None = None
    """The offset after which changes are written, instead of all pages that match the filter."""

    def write(self, target: AtomicFile | AtomicFolder, tally: Tally) -> None:
        """Write the pages one after another."""
        kind = FORMATS[self.format]
        needs = NEEDS if isinstance(target, DataSet) else kind.needs
        chosen = self.preset.needs if self.preset else self.fields if kind.chooses else ()
        columns = [*dict.fromkeys((*needs, *chosen))]
        found = self.copies.pages(self.source, columns, self.removed, kind.has_responses)
        pages = self._counted(found, tally)
        types: Mapping[str, Any] | None = None
        if self.preset is not None:
            pages, types = self.preset.records(pages), self.preset.types
        if isinstance(target, DataSet):
            tally.bytes = target.fill(pages, self.fields, types)
            return
        if isinstance(target, AtomicFolder):
            for name, data in markdown(pages, self.fields):
                target.write(name, data)
                tally.bytes += len(data)
            return
        if self.after is not None:
            _write_parts(jsonl(self._changes(tally), ("offset", "change", *self.fields)), target, tally)
            return
        _write_parts(self._writer(target, types)(pages, self.fields), target, tally, kind.apart)

    def _writer(
        self, target: AtomicFile, types: Mapping[str, Any] | None
    ) -> Callable[[Iterable[StoredPage], Sequence[str]], Iterator[bytes]]:
        """The function that makes the parts of a file of this format."""
        robots = partial(_robots_body, self.source.crawls)
        match self.format:
            case "csv":
                return partial(csv_lines, formulas=self.formulas)
            case "parquet":
                return partial(parquet, types=types)
            case "warc":
                return partial(warc, robots=robots)
            case "wacz":
                return partial(wacz, robots=robots, folder=_folder_beside(target))
        return jsonl

    def _changes(self, tally: Tally) -> Iterator[StoredPage]:
        for page in self.source.crawls[0].changes(self.fields, self.after or 0):
            tally.pages, tally.offset = tally.pages + 1, page.values["offset"]
            yield self._masked(page, tally)

    def _counted(self, pages: Iterable[StoredPage], tally: Tally) -> Iterator[StoredPage]:
        for page in pages:
            tally.pages += 1
            values = page.values
            of_text = bool(values.get("text")) and not values.get("markdown")
            tally.bare += page.response is None if FORMATS[self.format].has_responses else of_text
            yield self._masked(page, tally)

    def _masked(self, page: StoredPage, tally: Tally) -> StoredPage:
        if not self.masks:
            return page
        values, counts = without_personal_data(page.values, self.masks)
        tally.masked.update(counts)
        return page._replace(values=values)


def write_labels(labels: Iterable[Label], target: AtomicFile, tally: Tally) -> None:
    """Write the labelled pages, as gold."""

    def lines() -> Iterator[bytes]:
        for label in labels:
            tally.pages += 1
            yield gold_line(label)

    _write_parts(lines(), target, tally)


def gold_line(label: Label) -> bytes:
    """A labelled page and its main text as a line of JSON, which `scrapy evaluate` and `scrapy train` read."""
    told = json.loads(label.detail)
    row = {
        "id": label.url,
        "url": label.url,
        "lang": told["language"],
        "page_type": told["page_type"],
        "html": Page(label.url, label.source, told["content_type"]).html,
        "gold": label.value,
        **{name: told[name] for name in ("title", "author", "published") if name in told},
    }
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _write_parts(parts: Iterable[bytes], target: AtomicFile, tally: Tally, apart: bool = False) -> None:
    ending = "" if target.path is None else compression_of(target.shown)
    for part in compressed(parts, ending, apart):
        target.write(readable_json(part.replace(b"\r\n", b"\n")) if target.is_terminal else part)
        tally.bytes += len(part)


def check_apart(output: str, folder: Path, crawls: Iterable[StoredPages], url: URL) -> None:
    """Raise a WrongUseError if the output would replace a file that a crawl writes."""
    path = Path(output).resolve()
    own = "|".join(re.escape(one.name) for one in crawls)
    if path.parent == folder.resolve() and re.fullmatch(rf"(?:{own})(?:-\d+)?(?:\.images)?\.jsonl", path.name):
        raise WrongUseError("{path} is a file that a crawl writes: give another name", path=repr(output))
    database = Path(str(url.database)).resolve()
    if url.drivername == "sqlite" and path in {database.with_name(database.name + end) for end in OF_SQLITE}:
        raise WrongUseError("{path} is an input and cannot be the output", path=repr(output))


def export(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Write the pages of a crawl, or labelled pages; returns the exit status."""
    url, folder = state_url(settings), Path(settings["OUTPUT_DIR"])
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    ignore_repeats()
    try:
        with crawls_to_export(url) as crawls:
            if opts.output is not None:
                check_apart(opts.output, folder, crawls, url)
                check_apart(path_beside(opts.output), folder, crawls, url)
            if opts.labels:
                _export_labels(opts, url)
            else:
                _export_crawls(opts, _find(crawls, opts, url))
    except KeyboardInterrupt:
        unwritten = Message("stopped before the end; {path} was not written", {"path": repr(opts.output)})
        say(CALLED, unwritten if opts.output else Message("stopped before the end"))
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _find(crawls: Sequence[StoredPages], opts: argparse.Namespace, url: URL) -> list[StoredPages]:
    """The crawls with the given names, or the only one there is; raises a WrongUseError otherwise."""
    known, names = [one.name for one in crawls], opts.name.split(",") if opts.name is not None else [None]
    for name in names:
        check_name(known, name, url)
    found = [one for one in crawls if opts.name is None or one.name in names]
    if opts.name is None and len(found) > 1:
        raise WrongUseError("there are several crawls; --name says which of {names}", names=name_list(known))
    for one in found:
        if isinstance(opts.since, int) and opts.since > one.round:
            rounds = plural("{n} round", "{n} rounds", one.round)
            values = {"since": opts.since, "name": repr(one.name), "rounds": rounds}
            raise WrongUseError("--since {since}: the crawl {name} has had {rounds}", **values)
    return found


def _export_crawls(opts: argparse.Namespace, crawls: Sequence[StoredPages]) -> None:
    """Write the pages of crawls, and print what was written."""
    began, tally = monotonic(), Tally()
    places = tuple(one for one in opts.where if isinstance(one, LanguageOrSite))
    wanted = PageFilter(opts.only or "", opts.since, opts.min_relevance, places)
    preset = PRESETS[opts.preset] if opts.preset else None
    fields = [*preset.fields] if preset else opts.fields or [*TYPES]
    selection = Selection.of((one for one in opts.where if not isinstance(one, LanguageOrSite)), opts.keep)
    source, removed = Source(crawls, wanted, selection), Removed()
    target = _target(opts)
    copies = Deduplication(tuple(opts.dedupe), opts.prefer, _folder_beside(target))
    how = Exporter(
        opts.format,
        fields,
        source,
        Formulas(opts.spreadsheet),
        removed=removed,
        copies=copies,
        masks=opts.mask,
        preset=preset,
        after=opts.changes_after,
    )
    try:
        if (selection or copies.kinds) and opts.output is not None:
            removed.file = AtomicFile(path_beside(opts.output))
        numbers = [crawl.numbers() for crawl in crawls]
        how.write(target, tally)
        if isinstance(target, DataSet):
            target.describe(_origin(opts, crawls, numbers, how, tally))
        if tally.pages or how.after is None:
            target.finish()
            removed.finish()
    finally:
        target.discard()
        removed.discard()
    if tally.masked.total():
        kinds = [f"{kind} ({count:,})" for kind, count in tally.masked.items() if count]
        say(CALLED, Message("Masked: {kinds}.", {"kinds": kinds}))
    if how.after is not None:
        say(CALLED, _changes_words(crawls[0].name, target.shown, how.after, tally))
        return
    say(CALLED, _written_words(how, sum(one.pages for one in numbers), target.shown, tally, monotonic() - began))
    if isinstance(target, DataSet):
        shards = plural("{n} shard", "{n} shards", len(target.shards))
        described = Message("{shards}, described by {names}.", {"shards": shards, "names": [MANIFEST, CARD]})
        say(CALLED, described)
    for line in (*removed.words(), *_remarks(tally, sum(one.gone for one in numbers), how)):
        say(CALLED, line)


def _written_words(how: Exporter, pages: int, path: str, tally: Tally, seconds: float) -> Message:
    """What was written, of how many stored pages."""
    names = [one.name for one in how.source.crawls]
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
            pages,
            names=names,
            **values,
        )
    return plural(
        "{pages} of {n} page of the crawl {name} written to {path}, {size} in {seconds} s.",
        "{pages} of {n} pages of the crawl {name} written to {path}, {size} in {seconds} s.",
        pages,
        name=names[0],
        **values,
    )


def _folder_beside(target: AtomicFile | AtomicFolder) -> Path | None:
    """Where the temporary files of an export are; None for the system's folder for them."""
    return None if target.part is None else target.part.parent


def _robots_body(crawls: Iterable[StoredPages], digest: str) -> bytes | None:
    """The robots.txt with this digest, in whichever of the crawls."""
    return next((body for one in crawls if (body := one.robots_body(digest)) is not None), None)


def _target(opts: argparse.Namespace) -> AtomicFile | AtomicFolder:
    """The file or folder that is written."""
    if opts.into is not None:
        return DataSet(opts.output, opts.format, opts.shard_size)
    return AtomicFolder(opts.output) if FORMATS[opts.format].is_folder else AtomicFile(opts.output)


def _origin(
    opts: argparse.Namespace,
    crawls: Sequence[StoredPages],
    numbers: Sequence[PageCounts],
    how: Exporter,
    tally: Tally,
) -> Origin:
    """What the manifest says about where the pages are from."""
    return Origin(
        [CrawlOrigin(one.name, one.topic, *counts) for one, counts in zip(crawls, numbers, strict=True)],
        how.fields,
        opts.options_given,
        how.removed.counts,
        tally.masked,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _changes_words(name: str, path: str, after: int, tally: Tally) -> Message:
    """What was written, and the offset for the next time."""
    if not tally.pages:
        values = {"name": name, "offset": after, "path": path}
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
    target, tally = AtomicFile(opts.output), Tally()
    try:
        with labelled_pages(url, opts.name) as labels:
            write_labels(labels, target, tally)
        if not tally.pages:
            raise WrongUseError(
                "nobody has labelled the main text of a page yet; scrapy dashboard shows pages to be labelled"
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


def _remarks(tally: Tally, gone: int, how: Exporter) -> Iterator[Message]:
    """Further lines about what was written."""
    if gone and how.source.filter.only not in (GONE, NOINDEX):
        yield plural(
            "{n} page that is gone or has noindex now is left out; --only gone or --only noindex exports it.",
            "{n} pages that are gone or have noindex now are left out; --only gone and --only noindex export them.",
            gone,
        )
    if tally.bare and how.format == "markdown":
        yield plural(
            "{n} page has no stored Markdown, so its plain text was written (-a markdown=yes stores Markdown).",
            "{n} pages have no stored Markdown, so their plain text was written (-a markdown=yes stores Markdown).",
            tally.bare,
        )
    if tally.bare and FORMATS[how.format].has_responses:
        yield plural(
            "{n} page has no stored response, so only its text was written (a larger KEEP_RESPONSES stores more).",
            "{n} pages have no stored response, so only their text was written (a larger KEEP_RESPONSES stores more).",
            tally.bare,
        )
    if count := how.formulas.count:
        cells = plural("{n} cell begins like a formula", "{n} cells begin like a formula", count)
        quoted = N_("{cells}; a ' was put before each.")
        risky = N_("{cells}, which a spreadsheet may run; --spreadsheet prevents that.")
        yield Message(quoted if how.formulas.quoted else risky, {"cells": cells})
