"""`winnow export` with the options for data sets: rules, copies, masks, presets and folders of shards.

`CorpusExporter` extends steps of `Exporter` (crawler/export/exporter.py), whose docstrings describe the steps.
"""

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
from crawler.contrib.corpus.known_texts import COMPARED, KnownCounts, check_crawls
from crawler.contrib.corpus.manifest import COUNTED_COLUMNS, CrawlOrigin, KnownOrigin, Origin
from crawler.contrib.corpus.masks import without_personal_data
from crawler.contrib.corpus.not_in import KnownTexts
from crawler.contrib.corpus.record_presets import PRESETS, Preset
from crawler.contrib.corpus.signature_file import SignatureFile
from crawler.export import export_pages
from crawler.export.exporter import Exporter, Tally, conditions_of, filter_of, folder_beside
from crawler.export.where_conditions import Source
from crawler.reports.stored_pages import PageCounts, StoredPage, StoredPages
from crawler.translation.message import Message, plural


@dataclass(frozen=True, kw_only=True)
class CorpusExporter(Exporter):
    """Which pages are written, and how."""

    copies: Deduplication = field(default_factory=Deduplication)
    known_texts: KnownTexts = field(default_factory=KnownTexts)
    """The texts of --not-in, whose copies are left out."""
    signatures: SignatureFile | None = None
    """The file for the signatures of the known texts and of the written pages."""
    masks: Sequence[str] = ()
    """Kinds of personal data that are masked."""
    masked: Counter[str] = field(default_factory=Counter)
    """Personal data that was masked, by kind."""
    tokens: int | None = None
    """The most tokens of a chunk; None for the default of chunks."""
    preset: Preset | None = None
    """The preset whose records are written; None to write the fields of items."""

    @classmethod
    def of(
        cls,
        opts: argparse.Namespace,
        crawls: Sequence[StoredPages],
        target: AtomicFile | AtomicFolder,
        all_crawls: Sequence[StoredPages] = (),
        **values: Any,
    ) -> Self:
        check_crawls(opts.not_in, [crawl.name for crawl in crawls], [crawl.name for crawl in all_crawls])
        preset = PRESETS[opts.preset] if opts.preset else None
        signatures = SignatureFile(opts.signatures) if opts.signatures is not None else None
        option_values: dict[str, Any] = {
            "copies": Deduplication(kinds=tuple(opts.dedupe), preference=opts.prefer, folder=folder_beside(target)),
            "known_texts": KnownTexts(
                counts=[KnownCounts(source) for source in opts.not_in],
                crawls={crawl.name: crawl for crawl in all_crawls},
                signatures=signatures,
                folder=folder_beside(target),
            ),
            "signatures": signatures,
            "masks": opts.mask,
            "tokens": opts.tokens,
            "preset": preset,
        }
        if preset is not None:
            option_values["fields"] = [*preset.fields]
        return super().of(opts, crawls, target, all_crawls, **(option_values | values))

    @staticmethod
    def source_of(opts: argparse.Namespace, crawls: Sequence[StoredPages]) -> Source:
        selection = CorpusSelection.of(conditions_of(opts), sets=tuple(opts.keep))
        # Parquet has a column for each number, and a data set may be of Parquet files.
        needs_all_numbers = opts.into is not None or opts.format == "parquet"
        needs_numbers = needs_all_numbers or selection.compares_text_numbers or "quality" in (opts.fields or ())
        return CorpusSource(crawls, filter_of(opts), selection, completes_quality=needs_numbers)

    @staticmethod
    def target(opts: argparse.Namespace) -> AtomicFile | AtomicFolder:
        if opts.into is not None:
            return DataSet(opts.output, opts.format, opts.shard_size)
        return Exporter.target(opts)

    @property
    def may_remove(self) -> bool:
        return super().may_remove or bool(self.copies.kinds or self.known_texts.counts)

    @staticmethod
    def outputs(opts: argparse.Namespace) -> list[str]:
        outputs = Exporter.outputs(opts)
        if opts.signatures is None:
            return outputs
        return [*outputs, opts.signatures]

    def open_lists(self, opts: argparse.Namespace) -> None:
        super().open_lists(opts)
        if self.signatures is not None:
            self.signatures.open()

    def finish_lists(self) -> None:
        super().finish_lists()
        if self.signatures is not None:
            self.signatures.finish()

    def discard_lists(self) -> None:
        super().discard_lists()
        if self.signatures is not None:
            self.signatures.discard()

    def columns(self, target: AtomicFile | AtomicFolder) -> list[str]:
        manifest_columns = COUNTED_COLUMNS if isinstance(target, DataSet) else ()
        record_columns = super().columns(target) if self.preset is None else self.preset.needs
        signature_columns = COMPARED if self.signatures is not None else ()
        return [*dict.fromkeys((*manifest_columns, *record_columns, *signature_columns))]

    def pages(self, columns: Sequence[str]) -> Iterator[StoredPage]:
        new_pages = self.known_texts.remaining(self.source, self.removed) if self.known_texts.counts else self.source
        pages = self.copies.pages(new_pages, columns, self.removed, self.format.uses_responses)
        if self.signatures is None:
            return pages
        return self.signatures.recorded(pages)

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
                crawls=[
                    CrawlOrigin(
                        name=crawl.name,
                        topic=crawl.topic,
                        stored=count.pages,
                        gone=count.gone,
                        erased=crawl.erased_digests(),
                    )
                    for crawl, count in crawls
                ],
                fields=self.fields,
                options=opts.options_given,
                removed=self.removed.counts,
                known_sources=[
                    KnownOrigin(name=str(old.source), texts=old.texts, unread=old.unread, removed=old.removed)
                    for old in self.known_texts.counts
                ],
                masked=self.masked,
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            )
        )

    def more_lines(self, target: AtomicFile | AtomicFolder) -> Iterator[Message]:
        yield from super().more_lines(target)
        for counts in self.known_texts.counts:
            yield from counts.summary_lines()
        if self.signatures is not None:
            yield self.signatures.summary_line()
        if self.masked.total():
            kinds = [f"{kind} ({count:,})" for kind, count in self.masked.items() if count]
            yield Message("Masked: {kinds}.", {"kinds": kinds})
        if isinstance(target, DataSet):
            shards = plural("{n} shard", "{n} shards", len(target.shards))
            yield Message("{shards}, described by {names}.", {"shards": shards, "names": [MANIFEST, CARD]})

    @property
    def _types(self) -> Mapping[str, Any] | None:
        """The types of the preset's fields; None without a preset."""
        return None if self.preset is None else self.preset.types


def export(opts: argparse.Namespace, settings: BaseSettings) -> int:
    """Write the pages of a crawl, a data set, or labelled pages; returns the exit status."""
    return export_pages.export(opts, settings, CorpusExporter)
