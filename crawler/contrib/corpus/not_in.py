"""`--not-in`: the pages of an export without copies of texts that the user already has.

Each value of the option, called OLD, names texts that the user already has. Each page is compared with all of them, but
not with other pages, which `--dedupe` does. Exact copies have the same letters and digits; near copies are found by
their signatures, as during a crawl.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crawler.contrib.corpus.copies import copy_batches
from crawler.contrib.corpus.corpus_selection import PageSource
from crawler.contrib.corpus.deduplication import pages_with_keys, reporting_disk_errors
from crawler.contrib.corpus.known_texts import COMPARED, KnownCounts, known_texts
from crawler.contrib.corpus.signature_file import SignatureFile
from crawler.contrib.corpus.text_rows import TextRows, text_columns, text_rows
from crawler.export.where_conditions import RemovalReason, Removed
from crawler.recrawl.near_duplicates import NEAR, Numbers, copies_of
from crawler.reports.stored_pages import StoredPage, StoredPages

EXACT_RULE = "not-in: exact"
NEAR_RULE = "not-in: near"
"""The rules that are named in the list of removed pages."""


@dataclass(frozen=True)
class RemainingPages:
    """The pages of a source that have one of `keys`."""

    source: PageSource
    keys: NDArray[np.int64]
    """The sorted keys."""

    def pages(
        self, columns: Sequence[str], removed: Removed | None = None, responses: bool = False
    ) -> Iterator[StoredPage]:
        """The pages, with these columns; `removed` is ignored, because it was filled when the keys were found."""
        return pages_with_keys(self.keys, self.source.pages(columns, responses=responses))


@dataclass(frozen=True, kw_only=True)
class KnownTexts:
    """The texts that the user already has."""

    counts: Sequence[KnownCounts] = ()
    """The counts of each OLD, filled while it is read."""
    crawls: Mapping[str, StoredPages] = field(default_factory=dict)
    """The crawls of the database, by name."""
    signatures: SignatureFile | None = None
    """The file that the signatures of the texts are written to, if any."""
    folder: Path | None = None
    """The folder for temporary files; None for the system's."""

    def remaining(self, source: PageSource, removed: Removed) -> RemainingPages:
        """The pages that are not copies of these texts; the copies are added to `removed`."""
        with reporting_disk_errors("--not-in"), text_rows(self.folder) as rows:
            # First the rows of the known texts, whose key is the index of their OLD; then the rows of the pages.
            for old_number, counts in enumerate(self.counts):
                for text in known_texts(counts, self.crawls):
                    rows.add(old_number, text.address, text.fingerprint, text.signature)
                    if self.signatures is not None:
                        self.signatures.add(text)
            known_count = rows.count
            for page in source.pages(COMPARED, removed):
                url, fingerprint, signature = (page.values[name] for name in COMPARED)
                rows.add(page.key, url, fingerprint, signature)

            values = rows.values()
            known_rows = _distinct_texts(values[:known_count])
            originals, similarities = copies_of(text_columns(values), known_rows, np.arange(known_count, rows.count))
            self._report_copies(rows, originals, similarities, removed)
            is_new = originals[known_count:] == np.arange(known_count, rows.count)  # a new page is its own original
            return RemainingPages(source, np.sort(values["key"][known_count:][is_new]))

    def _report_copies(
        self, rows: TextRows, originals: Numbers, similarities: NDArray[np.float32], removed: Removed
    ) -> None:
        """Count the pages that are copies, and add them with their originals, which are known texts, to `removed`."""
        values = rows.values()
        for copies in copy_batches(originals):
            kept = originals[copies]
            are_exact = values["fingerprint"][copies] == values["fingerprint"][kept]
            addresses = zip(rows.addresses(copies), rows.addresses(kept), strict=True)
            old_numbers = values["key"][kept].tolist()
            comparisons = zip(old_numbers, are_exact.tolist(), similarities[copies].tolist(), strict=True)
            for (url, original), (old_number, is_exact, similarity) in zip(addresses, comparisons, strict=True):
                counts = self.counts[old_number]
                counts.removed += 1
                old = counts.source.typed
                if is_exact:
                    reason = RemovalReason(rule=EXACT_RULE, value=1.0, limit=1.0, copy_of=original, copy_in=old)
                else:
                    value = round(similarity, 3)
                    reason = RemovalReason(rule=NEAR_RULE, value=value, limit=NEAR, copy_of=original, copy_in=old)
                removed.add(url, reason)


def _distinct_texts(values: NDArray[np.void]) -> Numbers:
    """The rows of texts that have letters or digits; of texts with the same letters and digits, only the first row."""
    rows = np.flatnonzero(values["has_letters"] == 1)
    _, firsts = np.unique(values["fingerprint"][rows], return_index=True)
    return np.sort(rows[firsts])
