"""`--dedupe exact` and `--dedupe near`: finds the pages of an export, over all its crawls, that are copies of others.

Exact copies have the same letters and digits. Near copies are found by their signatures, as during a crawl. The values
that are compared go into a temporary file.
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
from crawler.export.where_conditions import RemovalReason, Removed
from crawler.metadata.text_owner import owner_rank
from crawler.recrawl.near_duplicates import NEAR, Numbers, copies_among
from crawler.reports.stored_pages import LanguageOrSite, StoredPage, place_of
from crawler.urls.address import address_of
from crawler.urls.parsing import host_of

OLDEST = "oldest"
BEST = "best"
EXACT_RULE = "dedupe: exact"
NEAR_RULE = "dedupe: near"
"""The rules that are named in the list of removed pages."""
COLUMNS = ("url", "text_fingerprint", "text_owner", "first_seen", "signature")
"""The columns of pages that every search reads."""
COPIES_AT_ONCE = 1_000
"""Copies whose addresses are read from the temporary file at once."""


@dataclass(frozen=True)
class Preference:
    """Which of several copies is kept: the oldest one, the one with the longest text, or the oldest one on a site.

    Of several copies on the same site, the page that owns the text (crawler/metadata/text_owner.py) is kept, even if
    another is older or longer.
    """

    name: str = OLDEST
    """`oldest`, `best` or `site`."""
    site: LanguageOrSite = field(default_factory=LanguageOrSite)
    """The preferred site; by default, one that holds all pages."""

    def __str__(self) -> str:
        """As `--prefer` is typed."""
        return self.site.site or self.name

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that the preference needs in addition to `COLUMNS`."""
        return ("text", "relevance") if self.name == BEST else ()

    def sort_keys_and_site(self, values: Mapping[str, Any]) -> tuple[float, float, int]:
        """Two sort keys, which are lower for preferred pages, and a number that identifies the page's site.

        If a single host is preferred, its pages and the other pages of its site get different site numbers, so that no
        page of another host replaces them as the owner of their text.
        """
        host = host_of(values["url"])
        is_elsewhere = not self.site.holds(host.lower(), "")
        site = address_of(values["url"]).site if host else ""
        site_number = _site_number(f"{site} {is_elsewhere}")
        if self.name == BEST:
            return -len(values["text"]), -values["relevance"], site_number
        return is_elsewhere, datetime.fromisoformat(values["first_seen"]).timestamp(), site_number


@lru_cache(maxsize=4096)
def _site_number(name: str) -> int:
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
    """Which copies are searched for, and which of them is kept."""

    is_near: bool
    """Whether near copies are searched for in addition to exact ones."""
    preference: Preference
    folder: Path | None = None
    """The folder for temporary files; None for the system's."""


def keys_without_copies(source: PageSource, search: CopySearch, removed: Removed) -> NDArray[np.int64]:
    """The sorted keys of the pages that are kept; the copies are added to `removed`."""
    with text_rows(search.folder) as rows:
        # Write the values that are compared, and find the original of each page: another page, or itself.
        for page in source.pages([*COLUMNS, *search.preference.needs], removed):
            _add_page(rows, page, search.preference)
        values = rows.values()
        order = np.lexsort(values["preference"].T[::-1])  # the first sort key comes last
        originals, similarities = copies_among(text_columns(values), order, is_near=search.is_near)

        # Report each copy with its original.
        for copies in copy_batches(originals):
            kept = originals[copies]
            are_exact = values["fingerprint"][copies] == values["fingerprint"][kept]
            addresses = zip(rows.addresses(copies), rows.addresses(kept), strict=True)
            comparisons = zip(are_exact.tolist(), similarities[copies].tolist(), strict=True)
            for (url, original), (is_exact, similarity) in zip(addresses, comparisons, strict=True):
                if is_exact:
                    reason = RemovalReason(rule=EXACT_RULE, value=1.0, limit=1.0, copy_of=original)
                else:
                    reason = RemovalReason(rule=NEAR_RULE, value=round(similarity, 3), limit=NEAR, copy_of=original)
                removed.add(url, reason)

        is_kept = originals == np.arange(rows.count)
        return np.sort(values["key"][is_kept])


def _add_page(rows: TextRows, page: StoredPage, preference: Preference) -> None:
    values = page.values
    first_key, second_key, site = preference.sort_keys_and_site(values)
    rows.add(
        page.key,
        values["url"],
        values["text_fingerprint"],
        values["signature"],
        preference=(first_key, second_key),
        site=site,
        rank=owner_rank(values["text_owner"], values["url"]),
    )


def copy_batches(originals: Numbers) -> Iterator[Numbers]:
    """The rows of the copies, `COPIES_AT_ONCE` at a time. `originals` has the row of each text's original, which is the
    text's own row if it is not a copy.
    """
    copies = np.flatnonzero(originals != np.arange(len(originals)))
    return (copies[at : at + COPIES_AT_ONCE] for at in range(0, len(copies), COPIES_AT_ONCE))
