"""The order in which TopicFocus chooses the pages of a web, without a crawl around it."""

from collections.abc import Iterator, Sequence

from orders import Waiting
from webs import Read, Web

from crawler.topic.focus import TopicFocus
from crawler.topic.link_scores import FocusOptions
from crawler.topic.link_table import LinkContext
from crawler.topic.topic import Topic


class Driver:
    """Shows pages to TopicFocus and queues their links with its priorities, as the spider and its middleware do."""

    def __init__(self, seeds: Sequence[str], manner: FocusOptions, topic: str = "") -> None:
        self.focus = TopicFocus(Topic.of(topic), manner)
        self.waiting = Waiting(seeds)
        self.teaching = frozenset() if topic else frozenset(seeds)

    def take(self, url: str, page: Read) -> float:
        """Show a page to TopicFocus, and queue its links with their priorities; returns the page's relevance."""
        if url in self.teaching:
            self.focus.learn_example(page.text)
        self.focus.name_translations(url, page.translations)
        relevance = self.focus.learn_page(url, page.title, page.text, page.language)
        leads = [LinkContext(url, anchor, near=near) for url, anchor, near in page.links]
        seen_again, new = ([lead for lead in leads if (lead.url in self.waiting) is seen] for seen in (True, False))
        self.focus.see_again(url, seen_again)
        for lead, priority in zip(new, self.focus.queue_links(url, new), strict=True):
            self.waiting.put(lead.url, priority)
        for queued_url, priority in self.focus.renew_if_due().items():
            if queued_url in self.waiting.priority:
                self.waiting.put(queued_url, priority)
        return relevance


def focused(web: Web, seeds: Sequence[str], manner: FocusOptions, topic: str = "") -> Iterator[str]:
    """The addresses as TopicFocus ranks them, renewed after every page."""
    driver = Driver(seeds, manner, topic)
    for url in driver.waiting:
        yield url
        driver.take(url, web.pages[url])
