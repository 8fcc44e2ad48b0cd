"""The lists that a site names in its robots.txt and in its pages: sitemaps and feeds.

They are requested before links. Their pages are scored like links, so that pages on the topic come before the rest of a
large sitemap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from crawler.frontier.page_result import AddressKind, Candidate, FoundBy
from crawler.frontier.scope import Scope
from crawler.outcomes import Code, Outcome
from crawler.page.page import Page
from crawler.topic.link_table import LinkContext
from crawler.urls.address import address_of
from crawler.urls.parsing import absolute

if TYPE_CHECKING:
    from crawler.spiders.crawl_status import OutcomeCounts
    from crawler.spiders.topic_tracker import TopicTracker

LIST_PRIORITY = 5_000
"""A priority below the seeds and above all links."""
MOST_LISTS = 20
"""The most sitemaps that are read of one robots.txt, and the most lists of a site that are read because other lists
name them. A list that the user gave may name more.
"""
MOST_FEEDS = 3
"""The most feeds of a site that are read: a blog may have a feed for the comments on each post."""


@dataclass
class NamedLists:
    """Selects the lists that sites name, each once."""

    scope: Scope
    topic: TopicTracker
    counts: OutcomeCounts
    are_followed: bool
    """Whether lists are requested: not if the depth of the crawl is limited, as the depth of their pages is unknown."""
    _sitemaps: dict[str, Sequence[str]] = field(default_factory=dict)
    """The sitemaps in the robots.txt of each host, until a page of the host is read."""
    _feeds: Counter[str] = field(default_factory=Counter)
    """How many feeds of each site are read."""
    _known: set[str] = field(default_factory=set)
    """The addresses of lists that were selected."""

    def take_in(self, origin: str, sitemaps: Sequence[str]) -> None:
        """Remember the sitemaps that the robots.txt of a host names."""
        if self.are_followed and sitemaps:
            self._sitemaps[origin] = sitemaps

    def of(self, page: Page) -> Iterator[Candidate]:
        """The sitemaps of the page's host and the feed of the page, if they are new."""
        if not self.are_followed:
            return
        origin = address_of(page.url).origin
        sitemaps = filter(None, (absolute(f"{origin}/", url) for url in self._sitemaps.pop(origin, ())))
        for number, address in enumerate(sitemaps_first(sitemaps)):
            if number < MOST_LISTS:
                yield from self._candidate(address, FoundBy.SITEMAP)
            elif self.scope.refusal(address, page=False) is None:
                self.counts.leave_out(address, Outcome(Code.LISTS_CUT))
        if page.feed and page.feed not in self._known and self._feeds[address_of(page.feed).site] < MOST_FEEDS:
            self._feeds[address_of(page.feed).site] += 1
            yield from self._candidate(page.feed, FoundBy.FEED)

    def scored(self, url: str, pages: Sequence[Candidate], titles: Mapping[str, str]) -> tuple[Candidate, ...]:
        """The pages that the list at `url` names, with priorities by their titles or the words of their addresses."""
        contexts = [LinkContext(url=page.url, anchor=titles.get(page.url) or words_of(page.url)) for page in pages]
        return self.topic.score_new(url, pages, contexts)

    def _candidate(self, url: str, via: FoundBy) -> Iterator[Candidate]:
        """The candidate for a list; none if it was selected before or is out of scope."""
        if url not in self._known and self.scope.refusal(url, page=False) is None:
            self._known.add(url)
            yield Candidate(url, LIST_PRIORITY, kind=AddressKind.LIST, via=via)


def sitemaps_first(urls: Iterable[str]) -> list[str]:
    """Addresses of lists, sitemaps first: a site may also name a feed for each tag, but only its sitemap has all pages.

    >>> sitemaps_first(("http://sitemap.example/tags/bees.xml", "http://sitemap.example/Sitemap-1.xml"))
    ['http://sitemap.example/Sitemap-1.xml', 'http://sitemap.example/tags/bees.xml']
    """
    return sorted(urls, key=_is_named_as_sitemap, reverse=True)


def _is_named_as_sitemap(url: str) -> bool:
    address = address_of(url)
    return "sitemap" in f"{address.path}?{address.query}".lower()


def words_of(url: str) -> str:
    """The words in the last part of an address.

    >>> words_of("http://a.example/2024/05/honey-bees_dance.html")
    'honey bees dance'
    """
    name = unquote(address_of(url).path).rstrip("/").rpartition("/")[2]
    return " ".join(name.partition(".")[0].replace("-", " ").replace("_", " ").split())
