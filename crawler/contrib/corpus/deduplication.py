"""`--dedupe`: the pages of an export without copies of others, and without paragraphs that a site repeats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.errors import OutputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crawler.contrib.corpus.copies import Preference
    from crawler.contrib.corpus.corpus_selection import PageSource
    from crawler.export.where_conditions import Removed
    from crawler.reports.stored_pages import StoredPage

EXACT = "exact"
NEAR = "near"
PARAGRAPHS = "paragraphs"
KINDS = (EXACT, NEAR, PARAGRAPHS)


@dataclass(frozen=True)
class Deduplication:
    """Which copies and repeated paragraphs an export leaves out."""

    kinds: tuple[str, ...] = ()
    preference: Preference | None = None
    """Which of several copies is kept; the oldest if None, so that the default does not import numpy."""
    folder: Path | None = None
    """The folder for temporary files; None for the system's."""

    def pages(
        self, source: PageSource, columns: Sequence[str], removed: Removed, responses: bool
    ) -> Iterator[StoredPage]:
        """The pages that an export writes, with these columns; excluded pages are added to `removed`.

        Pages are read once to find copies, once to find repeated paragraphs, and once to be written.
        """
        if not self.kinds:
            yield from source.pages(columns, removed, responses)
            return
        from crawler.contrib.corpus.copies import CopySearch, Preference, keys_without_copies  # these import numpy
        from crawler.contrib.corpus.paragraphs import SEARCHED_COLUMNS, repeated_paragraphs

        kept_keys = None  # of the pages that are not copies; None if copies are not searched for
        if self.kinds != (PARAGRAPHS,):
            preference = self.preference or Preference()
            search = CopySearch(is_near=NEAR in self.kinds, preference=preference, folder=self.folder)
            with reporting_disk_errors("--dedupe"):
                kept_keys = keys_without_copies(source, search, removed)
        if PARAGRAPHS not in self.kinds:
            yield from pages_with_keys(kept_keys, source.pages(columns, responses=responses))
            return

        # The search for copies has already added the excluded pages to `removed`.
        searched_pages = source.pages(SEARCHED_COLUMNS, removed if kept_keys is None else None)
        with reporting_disk_errors("--dedupe"):
            repeated = repeated_paragraphs(pages_with_keys(kept_keys, searched_pages), self.folder)
        columns = [*dict.fromkeys((*SEARCHED_COLUMNS, *columns))]
        pages = pages_with_keys(kept_keys, source.pages(columns, responses=responses))
        yield from repeated.without(pages, removed)


@contextmanager
def reporting_disk_errors(option: str) -> Iterator[None]:
    """Raise an OutputError if the temporary files of an option cannot be written."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            "the temporary files of {option} cannot be written ({why})", option=option, why=str(error)
        ) from None


def pages_with_keys(keys: NDArray[np.int64] | None, pages: Iterable[StoredPage]) -> Iterator[StoredPage]:
    """The pages that have one of these sorted keys; all pages if `keys` is None."""
    for page in pages:
        if keys is None or _contains(keys, page.key):
            yield page


def _contains(keys: NDArray[np.int64], key: int) -> bool:
    index = int(keys.searchsorted(key))
    return index < len(keys) and bool(keys[index] == key)
