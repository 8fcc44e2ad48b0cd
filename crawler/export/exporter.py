"""Writes pages in a format. Each step is a method of `Exporter`, some of which contrib/corpus extends.

export_pages.py calls the methods in this order: `target`, `of`, `open_lists`, `write`, `describe`, `finish_lists` and
`more_lines`. A list is a file beside the output, such as that of the removed pages.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Self

from crawler.atomic_files import AtomicFile, AtomicFolder
from crawler.command_line.terminal import readable_json
from crawler.export.csv import Formulas
from crawler.export.formats import FORMATS, Format, compressed, compression_of
from crawler.export.jsonl import jsonl
from crawler.export.where_conditions import Removed, Selection, Source, removed_list_path
from crawler.items import TYPES
from crawler.reports.condition import Condition
from crawler.reports.stored_pages import LanguageOrSite, PageCounts, PageFilter, StoredPage, StoredPages
from crawler.store.page_changes import ChangeOffset
from crawler.translation.message import Message

CHANGE_COLUMNS = ("offset", "change", "page_id")
"""The columns that a changed page has before its fields."""


@dataclass
class Tally:
    """Counts of what was written."""

    pages: int = 0
    bytes: int = 0
    offset: str = ""
    """The offset of the last change that was written."""
    bare: int = 0
    """Pages without a stored response if the format writes responses; otherwise pages with text but no stored Markdown.
    """


@dataclass(frozen=True, kw_only=True)
class Exporter:
    """Which pages are written, and how."""

    format: Format
    fields: Sequence[str]
    source: Source
    formulas: Formulas
    """Counts cells of CSV that begin like formulas."""
    removed: Removed = field(default_factory=Removed)
    """Counts and lists the pages that are left out."""
    remarks: list[Message] = field(default_factory=list)
    """Messages of the format's writer about the pages that it wrote."""
    after: ChangeOffset | None = None
    """The offset after which changes are written, instead of all pages that match the filter."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard_lists()

    @classmethod
    def of(
        cls,
        opts: argparse.Namespace,
        crawls: Sequence[StoredPages],
        target: AtomicFile | AtomicFolder,
        all_crawls: Sequence[StoredPages] = (),
        **values: Any,
    ) -> Self:
        """The exporter that the options of the command describe; `values` replace some of its fields.

        `all_crawls` are all crawls of the database, of which `crawls` are written; only a subclass needs them.
        """
        fields = {
            "format": FORMATS[opts.format],
            "fields": opts.fields or [*TYPES],
            "source": cls.source_of(opts, crawls),
            "formulas": Formulas(opts.spreadsheet),
            "after": opts.changes_after,
        }
        return cls(**(fields | values))

    @staticmethod
    def source_of(opts: argparse.Namespace, crawls: Sequence[StoredPages]) -> Source:
        """The source of the pages, by the options of the command."""
        return Source(crawls, filter_of(opts), Selection.of(conditions_of(opts)))

    @staticmethod
    def target(opts: argparse.Namespace) -> AtomicFile | AtomicFolder:
        """The file or folder that is written."""
        if FORMATS[opts.format].is_folder:
            return AtomicFolder(opts.output)
        return AtomicFile(opts.output)

    @staticmethod
    def outputs(opts: argparse.Namespace) -> list[str]:
        """The paths that may be written."""
        if opts.output is None:
            return []
        return [opts.output, removed_list_path(opts.output)]

    @property
    def may_remove(self) -> bool:
        """Whether the export may remove pages, so that it writes a list of them."""
        return bool(self.source.selection)

    def write(self, target: AtomicFile | AtomicFolder, tally: Tally) -> None:
        """Write the pages one after another."""
        if self.after is not None and isinstance(target, AtomicFile):
            changes = self._changes(self.after, tally)
            write_parts(jsonl(changes, (*CHANGE_COLUMNS, *self.fields)), target, tally)
            return
        pages = self.pages(self.columns(target))
        self.write_pages(self._counted(pages, tally), target, tally)

    def columns(self, target: AtomicFile | AtomicFolder) -> list[str]:
        """The fields that are read of each page: those of the format, and the requested ones if they can be chosen."""
        columns = [*self.format.needs]
        if self.format.chooses:
            columns += self.fields
        return [*dict.fromkeys(columns)]

    def pages(self, columns: Sequence[str]) -> Iterator[StoredPage]:
        """The pages that are written, with these fields; counts and lists the pages that do not meet the conditions."""
        return self.source.pages(columns, self.removed, self.format.uses_responses)

    def altered(self, page: StoredPage) -> StoredPage:
        """The page as it is written."""
        return page

    def write_pages(self, pages: Iterable[StoredPage], target: AtomicFile | AtomicFolder, tally: Tally) -> None:
        """Write pages into a file or a folder."""
        all_options = self.writer_options(target)
        options = {name: all_options[name] for name in self.format.options if name in all_options}
        write = resolve_name(self.format.writer)
        if isinstance(target, AtomicFolder):
            for name, data in write(pages, self.fields, **options):
                target.write(name, data)
                tally.bytes += len(data)
        else:
            write_parts(write(pages, self.fields, **options), target, tally, self.format.apart)

    def writer_options(self, target: AtomicFile | AtomicFolder) -> dict[str, Any]:
        """The arguments that writers may take besides pages and fields, by name."""
        return {
            "formulas": self.formulas,
            "robots": partial(_robots_body, self.source.crawls),
            "folder": folder_beside(target),
            "remarks": self.remarks,
        }

    def open_lists(self, opts: argparse.Namespace) -> None:
        """Begin the files that are written beside the output."""
        if self.may_remove and opts.output is not None:
            self.removed.file = AtomicFile(removed_list_path(opts.output))

    def finish_lists(self) -> None:
        """Finish the files beside the output; called when the output is complete."""
        self.removed.finish()

    def discard_lists(self) -> None:
        """Delete the files beside the output that are not finished."""
        self.removed.discard()

    def describe(
        self, target: AtomicFile | AtomicFolder, opts: argparse.Namespace, counts: Sequence[PageCounts]
    ) -> None:
        """Write a description of the pages after them, if there is one; `counts` are those of the crawls."""

    def more_lines(self, target: AtomicFile | AtomicFolder) -> Iterator[Message]:
        """What is printed below the line about the pages that were written."""
        yield from self.remarks

    def _changes(self, after: ChangeOffset, tally: Tally) -> Iterator[StoredPage]:
        """The changes after an offset, counted while they are read."""
        for page in self.source.changes(self.fields, after):
            tally.pages += 1
            tally.offset = page.values["offset"]
            yield self.altered(page)

    def _counted(self, pages: Iterable[StoredPage], tally: Tally) -> Iterator[StoredPage]:
        """The pages as they are written, counted while they are read."""
        for page in pages:
            tally.pages += 1
            if self.format.has_responses:
                tally.bare += page.response is None
            elif page.values.get("text") and not page.values.get("markdown"):
                tally.bare += 1
            yield self.altered(page)


def filter_of(opts: argparse.Namespace) -> PageFilter:
    """The filter that the options of the command describe, with the places but not the conditions of --where."""
    places = tuple(place for place in opts.where if isinstance(place, LanguageOrSite))
    return PageFilter(opts.only or "", opts.since, opts.min_relevance, places)


def conditions_of(opts: argparse.Namespace) -> list[Condition]:
    """The conditions among the options of the command."""
    return [condition for condition in opts.where if not isinstance(condition, LanguageOrSite)]


def write_parts(parts: Iterable[bytes], target: AtomicFile, tally: Tally, apart: bool = False) -> None:
    """Write the parts of a file, compressed as its name implies; with `apart`, each part is compressed separately."""
    ending = ""
    if target.path is not None:  # not standard output
        ending = compression_of(target.shown)
    for part in compressed(parts, ending, apart):
        if target.is_terminal:  # control characters are escaped, except the CR at the end of CSV's lines
            target.write(readable_json(part.replace(b"\r\n", b"\n")))
        else:
            target.write(part)
        tally.bytes += len(part)


def folder_beside(target: AtomicFile | AtomicFolder) -> Path | None:
    """The folder for the temporary files of an export, beside its output; None for the system's folder."""
    if target.part is None:
        return None
    return target.part.parent


def _robots_body(crawls: Iterable[StoredPages], digest: str) -> bytes | None:
    """The robots.txt with this digest, if one of the crawls has it."""
    bodies = (crawl.robots_body(digest) for crawl in crawls)
    return next((body for body in bodies if body is not None), None)
