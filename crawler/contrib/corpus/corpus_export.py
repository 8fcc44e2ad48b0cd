"""`winnow export` with what builds data sets: rules, copies, masks, presets and folders of shards."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Self

from scrapy.settings import BaseSettings

from crawler.atomic_files import AtomicFile, AtomicFolder
from crawler.contrib.corpus.corpus_selection import CorpusSelection, CorpusSource
from crawler.contrib.corpus.data_set import CARD, MANIFEST, DataSet
from crawler.contrib.corpus.deduplication import Deduplication
from crawler.contrib.corpus.manifest import NEEDS, CrawlOrigin, Origin
from crawler.contrib.corpus.masks import without_personal_data
from crawler.contrib.corpus.presets import PRESETS, Preset
from crawler.export import export_pages
from crawler.export.exporter import Exporter, Tally, conditions_of, filter_of, folder_beside
from crawler.export.selection import Source
from crawler.reports.stored_pages import PageCounts, StoredPage, StoredPages
from crawler.translation.message import Message, plural


@dataclass(frozen=True, kw_only=True)
class CorpusExporter(Exporter):
    """Which pages are written, and how."""

    copies: Deduplication = field(default_factory=Deduplication)
    masks: Sequence[str] = ()
    """Kinds of personal data that are masked."""
    masked: Counter[str] = field(default_factory=Counter)
    """Personal data that was masked, by kind."""
    tokens: int | None = None
    """The size of a chunk; None for that which chunks have by themselves."""
    preset: Preset | None = None
    """Whose records are written instead of the fields of items."""

    @classmethod
    def of(
        cls, opts: argparse.Namespace, crawls: Sequence[StoredPages], target: AtomicFile | AtomicFolder, **values: Any
    ) -> Self:
        preset = PRESETS[opts.preset] if opts.preset else None
        of_options: dict[str, Any] = {
            "copies": Deduplication(tuple(opts.dedupe), opts.prefer, folder_beside(target)),
            "masks": opts.mask,
            "tokens": opts.tokens,
            "preset": preset,
        }
        if preset is not None:
            of_options["fields"] = [*preset.fields]
        return super().of(opts, crawls, target, **(of_options | values))

    @staticmethod
    def source_of(opts: argparse.Namespace, crawls: Sequence[StoredPages]) -> Source:
        selection = CorpusSelection.of(conditions_of(opts), sets=tuple(opts.keep))
        is_data_set = opts.into is not None or opts.format == "parquet"
        is_asked_for = selection.compares_text_numbers or "quality" in (opts.fields or ())
        return CorpusSource(crawls, filter_of(opts), selection, completes_quality=is_data_set or is_asked_for)

    @staticmethod
    def target(opts: argparse.Namespace) -> AtomicFile | AtomicFolder:
        if opts.into is not None:
            return DataSet(opts.output, opts.format, opts.shard_size)
        return Exporter.target(opts)

    @property
    def may_remove(self) -> bool:
        return super().may_remove or bool(self.copies.kinds)

    def columns(self, target: AtomicFile | AtomicFolder) -> list[str]:
        needs = NEEDS if isinstance(target, DataSet) else ()
        chosen = super().columns(target) if self.preset is None else self.preset.needs
        return [*dict.fromkeys((*needs, *chosen))]

    def pages(self, columns: Sequence[str]) -> Iterator[StoredPage]:
        return self.copies.pages(self.source, columns, self.removed, self.format.uses_responses)

    def altered(self, page: StoredPage) -> StoredPage:
        if not self.masks:
            return page
        values, counts = without_personal_data(page.values, self.masks)
        self.masked.update(counts)
        return replace(page, values=values)

    def write_pages(self, pages: Iterable[StoredPage], target: AtomicFile | AtomicFolder, tally: Tally) -> None:
        records = pages if self.preset is None else self.preset.records(pages)
        if isinstance(target, DataSet):
            tally.bytes = target.fill(records, self.fields, self._types)
        else:
            super().write_pages(records, target, tally)

    def writer_options(self, target: AtomicFile | AtomicFolder) -> dict[str, Any]:
        return {**super().writer_options(target), "types": self._types, "tokens": self.tokens}

    def describe(
        self, target: AtomicFile | AtomicFolder, opts: argparse.Namespace, counts: Sequence[PageCounts]
    ) -> None:
        if not isinstance(target, DataSet):
            return
        crawls = zip(self.source.crawls, counts, strict=True)
        target.describe(
            Origin(
                crawls=[CrawlOrigin(crawl.name, crawl.topic, count.pages, count.gone) for crawl, count in crawls],
                fields=self.fields,
                options=opts.options_given,
                removed=self.removed.counts,
                masked=self.masked,
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            )
        )

    def more_lines(self, target: AtomicFile | AtomicFolder) -> Iterator[Message]:
        yield from super().more_lines(target)
        if self.masked.total():
            kinds = [f"{kind} ({count:,})" for kind, count in self.masked.items() if count]
            yield Message("Masked: {kinds}.", {"kinds": kinds})
        if isinstance(target, DataSet):
            shards = plural("{n} shard", "{n} shards", len(target.shards))
            yield Message("{shards}, described by {names}.", {"shards": shards, "names": [MANIFEST, CARD]})

    @property
    def _types(self) -> Mapping[str, Any] | None:
        """The types of the fields of a preset; None for those of items."""
        return None if self.preset is None else self.preset.types


def export(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Write the pages of a crawl, a data set, or labelled pages; returns the exit status."""
    return export_pages.export(opts, settings, CorpusExporter)
