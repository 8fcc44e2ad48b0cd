"""`--dedupe exact` and `--dedupe near`: which pages of an export are copies of others, in all its crawls.

Exact copies have the same letters and digits; near ones are found by their signatures, as in a crawl. What pages are
compared by goes into a temporary file, so that memory holds only numbers: see crawler/recrawl/near_duplicates.py. So do
their addresses, for the list of copies: the database would look for each of them in another place of the disk.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from crawler.command_line.terminal import WrongUseError
from crawler.export.selection import RemovalReason, Removed, Source
from crawler.metadata.text_owner import owner_rank
from crawler.recrawl.near_duplicates import NEAR, PERMUTATIONS, Numbers, TextColumns, copies_among, fingerprint_number
from crawler.reports.stored_pages import LanguageOrSite, StoredPage, place_of
from crawler.urls.address import address_of
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
        ("preference", "<f8", 2),
        ("site", "<i8"),
        ("rank", "<i8"),
        ("address_end", "<i8"),
        ("signature", "<u2", PERMUTATIONS),
    ]
)
PACKED = Struct(f"<qqiiddqqq{2 * PERMUTATIONS}s")


@dataclass(frozen=True)
class Preference:
    """Which of several copies is kept: the first one, the one with the longest text, or the first one of a site.

    Of several copies on the same site the page whose own text it is is kept, whichever was first or has more text.
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

    def rank(self, values: Mapping[str, Any]) -> tuple[float, float, int]:
        """Two numbers that are lower for pages that are preferred, and one that stands for its site.

        The pages of a site that are on the preferred host and those that are not are as of two sites.
        """
        name = host_of(values["url"])
        is_elsewhere = not self.site.holds(name.lower(), "")
        site_number = _number_of(f"{address_of(values['url']).site if name else ''} {is_elsewhere}")
        if self.name == BEST:
            return -len(values["text"]), -values["relevance"], site_number
        return is_elsewhere, datetime.fromisoformat(values["first_seen"]).timestamp(), site_number


@lru_cache(maxsize=4096)
def _number_of(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True)


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
        originals, similarities = copies_among(
            TextColumns(
                signatures=rows["signature"],
                is_signed=rows["is_signed"] == 1,
                fingerprints=rows["fingerprint"],
                has_letters=rows["has_letters"] == 1,
                sites=rows["site"],
                ranks=rows["rank"],
            ),
            np.lexsort(rows["preference"].T[::-1]),
            is_near=how.is_near,
        )
        for copies in _copies(originals):
            kept = originals[copies]
            are_exact = rows["fingerprint"][copies] == rows["fingerprint"][kept]
            addresses_of = (_addresses(addresses, rows, some) for some in (copies, kept))
            values = (are_exact.tolist(), similarities[copies].tolist())
            for url, original, is_exact, similarity in zip(*addresses_of, *values, strict=True):
                rule, value, limit = (EXACT, 1.0, 1.0) if is_exact else (NEARLY, round(similarity, 3), NEAR)
                removed.add(url, RemovalReason(rule, value, limit, original))
        return np.sort(rows["key"][originals == np.arange(count)])


def _write_rows(file: IO[bytes], addresses: IO[bytes], pages: Iterator[StoredPage], preference: Preference) -> int:
    count = end = 0
    for count, page in enumerate(pages, 1):  # noqa: B007 - the last number is wanted
        values = page.values
        fingerprint, signature, url = values["text_fingerprint"], values["signature"], values["url"]
        end += addresses.write(url.encode("utf-8", "replace"))
        row = PACKED.pack(
            page.key,
            fingerprint_number(fingerprint or ""),
            fingerprint is not None,
            signature is not None,
            *preference.rank(values),
            owner_rank(values["text_owner"], url),
            end,
            signature or b"",
        )
        file.write(row)
    file.flush()
    return count


def _addresses(file: IO[bytes], rows: NDArray[np.void], some: Numbers) -> Iterator[str]:
    """The addresses of the pages in these rows."""
    starts = np.where(some > 0, rows["address_end"][some - 1], 0)
    for start, end in zip(starts.tolist(), rows["address_end"][some].tolist(), strict=True):
        file.seek(start)
        yield file.read(end - start).decode()


def _copies(originals: Numbers) -> Iterator[Numbers]:
    """The rows of copies, some at a time."""
    copies = np.flatnonzero(originals != np.arange(len(originals)))
    return (copies[at : at + AT_ONCE] for at in range(0, len(copies), AT_ONCE))
