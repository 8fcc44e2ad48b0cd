"""The texts of entries in feeds, used in place of pages that a server withholds from the crawler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import getsizeof

from crawler.frontier.page_result import Candidate
from crawler.metadata.page_purpose import is_login
from crawler.page.document import DocumentContent, Facts
from crawler.page.document_page import document_page
from crawler.page.feed_entries import EntryText
from crawler.page.page import Extraction, MadeFrom, Page
from crawler.page.sitemaps import day
from crawler.urls.address import address_of
from crawler.urls.lru_dict import LruDict

WITHHELD_STATUSES = (401, 402, 403, 451)
"""Statuses of pages that their server withholds from the crawler."""
LEAST_LENGTH = 250
"""A text of fewer characters may be only a summary, and is not used."""
FULLER_FACTOR = 2
"""The text of an entry is used if it is longer than this many times the text of the page."""
MOST_BYTES = 32_000_000
"""The most memory for the texts that wait for their pages; if they need more, the oldest are dropped."""
OVERHEAD_BYTES = 1_000
"""Memory that is counted for each text in addition to its strings."""


class FeedTexts:
    """The texts of entries until their pages are read; each is used once."""

    def __init__(
        self,
        extract: Callable[[Page], Extraction],
        key: Callable[[str], int],
        count_statistic: Callable[[str, int], None],
        max_bytes: int = MOST_BYTES,
    ) -> None:
        self._extract = extract
        self._key = key
        """Returns the same number for all spellings of an address."""
        self._count_statistic = count_statistic
        self._kept: LruDict[int, tuple[str, EntryText]] = LruDict(max_bytes, _memory)

    def keep(self, feed: str, texts: Mapping[str, EntryText]) -> None:
        """Keep the texts of the entries whose pages are on the site of the feed."""
        for url, text in texts.items():
            if address_of(url).site == address_of(feed).site:
                dropped = self._kept.set(self._key(url), (url, text))
                if dropped:
                    self._count_statistic("feed/dropped", len(dropped))

    def has(self, candidate: Candidate) -> bool:
        """Whether the text of a page is kept, under its address or the one from which redirects led there."""
        return any(self._key(url) in self._kept for url in (candidate.url, candidate.requested) if url)

    def in_place_of(self, page: Page, candidate: Candidate, *, is_refused: bool = False) -> Page | None:
        """A page made from the kept text of its entry in a feed, which is then no longer kept.

        None if there is no such text, or it is no better: unless the server refuses the page, or the page is a login,
        the text must be longer than `FULLER_FACTOR` times that of the page.
        """
        entry_text = self._pop(candidate, page.url)
        if entry_text is None:
            return None
        extraction = page.once(self._extract)
        length_to_exceed = FULLER_FACTOR * len(extraction.text)
        if is_refused or is_login(page, extraction):
            length_to_exceed = 0
        if len(entry_text.html) <= length_to_exceed:  # the text in the HTML cannot be longer, so do not parse it
            return None
        facts = Facts(
            title=entry_text.title,
            author=entry_text.author,
            published=day(entry_text.published) or "",
            language=page.language,
        )
        robots = ", ".join(sorted(page.robots))  # the directives of the page apply to its text, too
        feed_page = document_page(
            DocumentContent(body=entry_text.html, facts=facts), page.url, "text/html", robots, MadeFrom.FEED
        )
        length = len(feed_page.once(self._extract).text)
        if length < LEAST_LENGTH or length <= length_to_exceed:
            return None
        self._count_statistic("feed/pages", 1)
        return feed_page

    def _pop(self, candidate: Candidate, url: str) -> EntryText | None:
        """Remove and return the text kept for a page, whose address is `url` after redirects.

        None if there is none, or if redirects led to another path, such as that of a login.
        """
        if not self._kept:
            return None
        for requested_url in dict.fromkeys((url, candidate.url, candidate.requested or url)):
            kept_entry = self._kept.pop(self._key(requested_url))
            if kept_entry:
                entry_url, text = kept_entry
                if _path(entry_url) == _path(url):
                    return text
                return None
        return None


def _memory(entry: tuple[str, EntryText]) -> int:
    """The bytes of an address and its text."""
    url, text = entry
    return sum(map(getsizeof, (url, text.html, text.title, text.author, text.published))) + OVERHEAD_BYTES


def _path(url: str) -> str:
    return address_of(url).path.rstrip("/")
