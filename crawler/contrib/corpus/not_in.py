"""`--not-in`: the pages of an export without those that somebody has already.

The pages are compared with all texts of OLD, also with those that are copies of each other. They are not compared with
each other, which is what `--dedupe` is for. Exact copies have the same letters and digits; near ones are found by their
signatures, as in a crawl.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crawler.contrib.corpus.copies import copies_at_once
from crawler.contrib.corpus.corpus_selection import PageSource
from crawler.contrib.corpus.deduplication import among, temporary_files
from crawler.contrib.corpus.known_texts import COMPARED, KnownCounts, known_texts
from crawler.contrib.corpus.signature_file import SignatureFile
from crawler.contrib.corpus.text_rows import TextRows, text_columns, text_rows
from crawler.export.selection import RemovalReason, Removed
from crawler.recrawl.near_duplicates import NEAR, Numbers, copies_of
from crawler.reports.stored_pages import StoredPage, StoredPages

EXACT = "not-in: exact"
NEARLY = "not-in: near"


@dataclass(frozen=True)
class RemainingPages:
    """Those pages of a source that have one of these sorted keys."""

    source: PageSource
    keys: NDArray[np.int64]

    def pages(
        self, columns: Sequence[str], removed: Removed | None = None, responses: bool = False
    ) -> Iterator[StoredPage]:
        """The pages, with these columns; what the source leaves out was written down when the keys were found."""
        return among(self.keys, self.source.pages(columns, responses=responses))


@dataclass(frozen=True, kw_only=True)
class KnownTexts:
    """The texts that somebody has."""

    counts: Sequence[KnownCounts] = ()
    """What was counted, one entry for each OLD."""
    crawls: Mapping[str, StoredPages] = field(default_factory=dict)
    """The crawls of the database, by name."""
    signatures: SignatureFile | None = None
    """What the texts are added to."""
    folder: Path | None = None
    """Where temporary files are; None for the system's folder for them."""

    def remaining(self, source: PageSource, removed: Removed) -> RemainingPages:
        """The pages that are no copies of these texts; the copies are written down."""
        with temporary_files("--not-in"), text_rows(self.folder) as rows:
            for number, counts in enumerate(self.counts):
                for text in known_texts(counts, self.crawls):
                    rows.add(number, text.address, text.fingerprint, text.signature)
                    if self.signatures is not None:
                        self.signatures.add(text)
            known_count = rows.count
            for page in source.pages(COMPARED, removed):
                url, fingerprint, signature = (page.values[name] for name in COMPARED)
                rows.add(page.key, url, fingerprint, signature)
            values = rows.values()
            known = _first_of_same_letters(values[:known_count])
            originals, similarities = copies_of(text_columns(values), known, np.arange(known_count, rows.count))
            self._write_down(rows, originals, similarities, removed)
            is_new = originals[known_count:] == np.arange(known_count, rows.count)
            return RemainingPages(source, np.sort(values["key"][known_count:][is_new]))

    def _write_down(
        self, rows: TextRows, originals: Numbers, similarities: NDArray[np.float32], removed: Removed
    ) -> None:
        """Write down the pages that are copies, and what they are copies of."""
        values = rows.values()
        for copies in copies_at_once(originals):
            kept = originals[copies]
            are_exact = values["fingerprint"][copies] == values["fingerprint"][kept]
            addresses = zip(rows.addresses(copies), rows.addresses(kept), strict=True)
            numbers = zip(values["key"][kept].tolist(), are_exact.tolist(), similarities[copies].tolist(), strict=True)
            for (url, original), (number, is_exact, similarity) in zip(addresses, numbers, strict=True):
                counts = self.counts[number]
                counts.removed += 1
                rule, value, limit = (EXACT, 1.0, 1.0) if is_exact else (NEARLY, round(similarity, 3), NEAR)
                removed.add(url, RemovalReason(rule, value, limit, original, counts.source.typed))


def _first_of_same_letters(values: NDArray[np.void]) -> Numbers:
    """The rows of texts with letters, of those with the same letters the first."""
    rows = np.flatnonzero(values["has_letters"] == 1)
    _, firsts = np.unique(values["fingerprint"][rows], return_index=True)
    return np.sort(rows[firsts])
