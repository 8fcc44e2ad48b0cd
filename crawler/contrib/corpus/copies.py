"""`--dedupe exact` and `--dedupe near`: which pages of an export are copies of others, in all its crawls.

Exact copies have the same letters and digits; near ones are found by their signatures, as in a crawl. What pages are
compared by goes into a temporary file, so that memory holds only numbers: see crawler/recrawl/originals.py. So do their
addresses, for the list of copies: the database would look for each of them in another place of the disk.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from crawler.command_line.terminal import WrongUseError
from crawler.export.selection import RemovalReason, Removed, Source
from crawler.metadata.text_owner import owner_rank
from crawler.recrawl.near_duplicates import NEAR, PERMUTATIONS
from crawler.recrawl.originals import Rows, originals
from crawler.reports.stored_pages import LanguageOrSite, StoredPage, place_of
from crawler.urls.parsing import host_of

OLDEST, BEST = "oldest", "best"
EXACT = "dedupe: exact"
NEARLY = "dedupe: near"
COLUMNS = ("url", "text_fingerprint", "text_owner", "first_seen", "signature")
AT_ONCE = 1_000
"""Copies that are written down at once."""
ROW = np.dtype(
    [
        ("key", "<i8"),
        ("fingerprint", "<i8"),
        ("has_letters", "<i4"),
        ("is_signed", "<i4"),
        ("rank", "<f8", 3),
        ("address_end", "<i8"),
        ("signature", "<u2", PERMUTATIONS),
    ]
)
PACKED = Struct(f"<qqiidddq{2 * PERMUTATIONS}s")


@dataclass(frozen=True)
class Preference:
    """Which of several copies is kept: the first one, the one with the longest text, or the first one of a site.

    The page whose own text it is comes before others of the same site, whichever was first or has more text around it.
    """

    name: str = OLDEST
    site: LanguageOrSite = field(default_factory=LanguageOrSite)

    def __str__(self) -> str:
        """As `--prefer` is typed."""
        return self.site.site or self.name

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that are compared beside `COLUMNS`."""
        return ("text", "relevance") if self.name == BEST else ()

    def rank(self, values: Mapping[str, Any]) -> tuple[float, float, float]:
        """Three numbers that are lower for pages that are preferred."""
        owner = owner_rank(values["text_owner"], values["url"])
        if self.name == BEST:
            return owner, -len(values["text"]), -values["relevance"]
        is_elsewhere = not self.site.holds(host_of(values["url"]).lower(), "")
        return float(is_elsewhere), owner, datetime.fromisoformat(values["first_seen"]).timestamp()


def preference_of(text: str) -> Preference:
    """Parse `oldest`, `best` or a site; raises a WrongUseError.

    >>> preference_of("best").name, preference_of("example.org").site
    ('best', LanguageOrSite(language='', site='example.org'))
    """
    if text in (OLDEST, BEST):
        return Preference(text)
    place = place_of(text)
    if place.language:
        raise WrongUseError(
            "{value} is wrong; allowed are oldest, best, and a site or host (example.org)", value=repr(text[:100])
        )
    return Preference("site", place)


@dataclass(frozen=True)
class CopySearch:
    """How copies are found."""

    is_near: bool
    preference: Preference
    folder: Path | None = None
    """Where the temporary files are."""


def without_copies(source: Source, how: CopySearch, removed: Removed) -> NDArray[np.int64]:
    """The keys of the pages that are kept, in order; the copies are written down."""
    with TemporaryFile(dir=how.folder) as file, TemporaryFile(dir=how.folder) as addresses:
        pages = source.pages([*COLUMNS, *how.preference.needs], removed)
        count = _write_rows(file, addresses, pages, how.preference)
        if not count:
            return np.empty(0, np.int64)
        rows = np.memmap(file, ROW, mode="r", shape=(count,))
        found, alike = _originals(rows, how.is_near)
        for at in _copies(found):
            urls, kept = (_addresses(addresses, rows, some) for some in (at, found[at]))
            is_exact = (rows["fingerprint"][at] == rows["fingerprint"][found[at]]).tolist()
            for url, original, exact, similarity in zip(urls, kept, is_exact, alike[at].tolist(), strict=True):
                rule, value, limit = (EXACT, 1.0, 1.0) if exact else (NEARLY, round(similarity, 3), NEAR)
                removed.add(url, RemovalReason(rule, value, limit, original))
        return np.sort(rows["key"][found == np.arange(count)])


def _write_rows(file: IO[bytes], addresses: IO[bytes], pages: Iterator[StoredPage], preference: Preference) -> int:
    count = end = 0
    for count, page in enumerate(pages, 1):  # noqa: B007 - the last number is wanted
        letters, signature = page.values["text_fingerprint"], page.values["signature"]
        fingerprint = int.from_bytes(bytes.fromhex(letters or ""), "big", signed=True)
        known = letters is not None, signature is not None
        end += addresses.write(page.values["url"].encode("utf-8", "replace"))
        file.write(PACKED.pack(page.key, fingerprint, *known, *preference.rank(page.values), end, signature or b""))
    file.flush()
    return count


def _addresses(file: IO[bytes], rows: NDArray[np.void], some: Rows) -> Iterator[str]:
    """The addresses of the pages in these rows."""
    starts = np.where(some > 0, rows["address_end"][some - 1], 0)
    for start, end in zip(starts.tolist(), rows["address_end"][some].tolist(), strict=True):
        file.seek(start)
        yield file.read(end - start).decode()


def _originals(rows: NDArray[np.void], is_near: bool) -> tuple[Rows, NDArray[np.float32]]:
    """For each row the row of its original, or itself if it is no copy; and how similar they are."""
    order = np.lexsort(rows["rank"].T[::-1])
    fingerprints = rows["fingerprint"]
    _, first, which = np.unique(fingerprints[order], return_index=True, return_inverse=True)
    found = np.empty(len(rows), np.int64)
    found[order] = order[first[which]]
    bare = np.flatnonzero(rows["has_letters"] == 0)
    found[bare] = bare
    if not is_near:
        return found, np.ones(len(rows), np.float32)
    compared = order[(found[order] == order) & (rows["is_signed"][order] == 1)]
    nearest, alike = originals(rows["signature"], compared)
    return nearest[found], alike[found]


def _copies(found: Rows) -> Iterator[Rows]:
    """The rows of copies, some at a time."""
    copies = np.flatnonzero(found != np.arange(len(found)))
    return (copies[at : at + AT_ONCE] for at in range(0, len(copies), AT_ONCE))
