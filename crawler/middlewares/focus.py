"""The focus: a page teaches where more of its kind are, and what it leads to waits in that order."""

from collections.abc import AsyncIterator
from time import monotonic
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.http import Response

from crawler.spiders.links import Leads
from crawler.spiders.topic import spider_of

ASKED_AFTER = 1_000
"""Links of which other workers, or an earlier run, may have fetched some, or whose host was closed."""


class FocusMiddleware:
    """Takes the leads of a page out of what the spider yields: gives them priorities and hands them to the frontier.

    What waits is given new priorities as the crawl learns. What it learned is kept now and then, for later runs and
    for the other workers.
    """

    keeps_every = 20.0
    """Seconds."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.kept_at = monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """What the spider yields, without leads."""
        async for one in result:
            if isinstance(one, Leads):
                self.take(one)
            else:
                yield one

    def take(self, leads: Leads) -> None:
        """Have the page learned from, and its links wait."""
        spider = spider_of(self.crawler)
        focus, frontier = spider.focus, spider.frontier
        if leads.again:
            focus.seen_again(leads.address, leads.again)
        frontier.found(leads.lease, leads.pictured)
        if leads.new:
            priorities = focus.found(leads.address, leads.words)
            priced = zip(leads.new, priorities, strict=True)
            frontier.found(leads.lease, [candidate._replace(priority=number) for candidate, number in priced])
        if renewed := focus.renewed():
            frontier.reprice(renewed)
        if monotonic() - self.kept_at >= self.keeps_every:
            self.kept_at = monotonic()
            spider.focusing.tell(frontier)
            frontier.ask_after(focus.waiting_sample(ASKED_AFTER))
