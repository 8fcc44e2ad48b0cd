"""`--dedupe exact` and `--dedupe near`: which pages of an export are copies of others, in all its crawls.

Exact copies have the same letters and digits; near ones are found by their signatures, as in a crawl. What pages are
compared by goes into a temporary file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.contrib.corpus.corpus_selection import PageSource
from crawler.contrib.corpus.text_rows import TextRows, text_columns, text_rows
from crawler.errors import WrongUseError
from crawler.export.selection import RemovalReason, Removed
from crawler.metadata.text_owner import owner_rank
from crawler.recrawl.near_duplicates import NEAR, Numbers, copies_among
from crawler.reports.stored_pages import LanguageOrSite, StoredPage, place_of
from crawler.urls.address import address_of
from crawler.urls.parsing import host_of

OLDEST, BEST = "oldest", "best"
EXACT = "dedupe: exact"
NEARLY = "dedupe: near"
COLUMNS = ("url", "text_fingerprint", "text_owner", "first_seen", "signature")
AT_ONCE = 1_000
"""Copies that are written down at once."""


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


def without_copies(source: PageSource, how: CopySearch, removed: Removed) -> NDArray[np.int64]:
    """The keys of the pages that are kept, in order; the copies are written down."""
    with text_rows(how.folder) as rows:
        for page in source.pages([*COLUMNS, *how.preference.needs], removed):
            _add_page(rows, page, how.preference)
        values = rows.values()
        order = np.lexsort(values["preference"].T[::-1])
        originals, similarities = copies_among(text_columns(values), order, is_near=how.is_near)
        for copies in copies_at_once(originals):
            kept = originals[copies]
            are_exact = values["fingerprint"][copies] == values["fingerprint"][kept]
            found = (rows.addresses(copies), rows.addresses(kept), are_exact.tolist(), similarities[copies].tolist())
            for url, original, is_exact, similarity in zip(*found, strict=True):
                rule, value, limit = (EXACT, 1.0, 1.0) if is_exact else (NEARLY, round(similarity, 3), NEAR)
                removed.add(url, RemovalReason(rule, value, limit, original))
        return np.sort(values["key"][originals == np.arange(rows.count)])


def _add_page(rows: TextRows, page: StoredPage, preference: Preference) -> None:
    values = page.values
    *numbers, site = preference.rank(values)
    rows.add(
        page.key,
        values["url"],
        values["text_fingerprint"],
        values["signature"],
        preference=(numbers[0], numbers[1]),
        site=site,
        rank=owner_rank(values["text_owner"], values["url"]),
    )


def copies_at_once(originals: Numbers) -> Iterator[Numbers]:
    """The rows of copies, some at a time."""
    copies = np.flatnonzero(originals != np.arange(len(originals)))
    return (copies[at : at + AT_ONCE] for at in range(0, len(copies), AT_ONCE))
