"""`Focus(topic)`: chooses the next link, for a frontier of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import nlargest
from pathlib import Path

from crawler.api.document import Document, clean
from crawler.arguments import ARGUMENTS
from crawler.frontier.scope import Scope, ScopeKind
from crawler.topic.focus import TopicFocus
from crawler.topic.link_contexts import is_image_link, link_contexts, links_by_address
from crawler.topic.link_table import LinkContext
from crawler.topic.page_translations import named_translations
from crawler.topic.priorities import SCALE
from crawler.topic.topic import Topic
from crawler.urls.parsing import absolute

EXAMPLE_PRIORITY = SCALE  # above all links, whose score is below 1: the examples of a topic are fetched first
DIGITS = 4  # of relevance


class Focus:
    """The relevance of pages, and a queue of links with the most promising first; it learns from each page.

    `topic` is words, a sentence, a list of them, or a TOML file, as in `winnow crawl -a topic=`. `follow` is a
    function that decides which addresses may be queued; by default all.

    >>> focus = Focus("honey bees")
    >>> links = "<a href=/cars>Fast cars</a> <a href=/queen>The queen of the bees</a>"
    >>> focus.read("https://example.org/", f"<p>Honey bees dance in the dark of the hive.</p>{links}")
    0.6918
    >>> focus.score("https://example.org/queen"), focus.score("https://example.org/cars")
    (0.732, 0.497)
    >>> focus.take(), focus.take(10)
    (['https://example.org/queen'], ['https://example.org/cars'])
    """

    def __init__(self, topic: str | Path | Iterable[str], follow: Callable[[str], bool] | None = None) -> None:
        if not isinstance(topic, str | Path):
            topic = " ".join(topic)
        self._topic: Topic = ARGUMENTS["topic"].read(str(topic))  # type: ignore[assignment]
        self._follow = follow
        self._learner = TopicFocus(self._topic)
        self._priorities = dict.fromkeys([*self._topic.example_urls, *self._topic.against_urls], EXAMPLE_PRIORITY)
        """The queued addresses with their priorities."""
        self._known = set(self._priorities)
        """All addresses that were queued or read."""
        # In the scope ANY, the home of every address is the empty string.
        self._scope = Scope(ScopeKind.ANY, avoid=self._topic.avoid, homes={""})

    def add(self, urls: Iterable[str]) -> None:
        """Queue addresses that were not found on a page: seeds, or those of a sitemap."""
        addresses = dict.fromkeys(absolute("", url) for url in urls)
        new = [address for address in addresses if address is not None and address not in self._known]
        self._queue("", [LinkContext(url=address, anchor="") for address in new])

    def read(self, url: str, page: str | bytes | Document) -> float:
        """The relevance of a page to the topic, from 0 to 1; its links are queued.

        `url` is the address that was requested. After a redirect, pass a Document, which knows its own address.
        """
        url = absolute("", url) or url
        document = page if isinstance(page, Document) else clean(page, url)

        # The topic learns from the page.
        if url in {*self._topic.example_urls, *self._topic.against_urls}:
            self._learner.learn_example(document.text, is_on_topic=url in self._topic.example_urls)
        self._learner.name_translations(url, named_translations(document._page))
        relevance = round(self._learner.learn_page(url, document.title, document.text, document.language or ""), DIGITS)

        # Its links are queued, and the other queued links are scored again.
        self._known |= {url, document.url}
        for address in (url, document.url):
            self._priorities.pop(address, None)
        self._add_links(url, document)
        for address, priority in self._learner.renew_if_due().items():
            if address in self._priorities:  # not yet taken
                self._priorities[address] = priority
        return relevance

    def take(self, count: int = 1) -> list[str]:
        """The most promising queued links, best first. No address is returned twice, or after its page was read."""
        best = nlargest(count, self._priorities, key=self._priorities.__getitem__)
        for url in best:
            del self._priorities[url]
        return best

    def score(self, url: str) -> float | None:
        """How promising a queued link is, from 0 to 1; None if it is not queued."""
        priority = self._priorities.get(absolute("", url) or url)
        if priority is None:
            return None
        return priority / SCALE

    def _add_links(self, url: str, document: Document) -> None:
        """Queue the new links of a page; for its known links, the page is one more piece of evidence."""
        page = document._page
        if "nofollow" in page.robots:
            return
        links_of_address = links_by_address(link for link in page.links if not (link.nofollow or is_image_link(link)))
        refused = self._scope.refusals(list(links_of_address))
        known = {}
        new = {}
        for address, links in links_of_address.items():
            if address in refused or (self._follow is not None and not self._follow(address)):
                continue
            if address in self._known:
                known[address] = links
            else:
                new[address] = links
        self._learner.see_again(url, link_contexts(page, known, near=False))
        self._queue(url, link_contexts(page, new))

    def _queue(self, shown_on: str, links: Sequence[LinkContext]) -> None:
        """Queue the new links of the page at `shown_on`, which is empty for addresses that were not found on a page."""
        urls = [link.url for link in links]
        self._priorities.update(zip(urls, self._learner.queue_links(shown_on, links), strict=True))
        self._known.update(urls)
