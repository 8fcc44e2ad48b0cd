"""Scrapy's scheduler over the frontier: requests go in and come out, candidates wait in between."""

from time import monotonic
from typing import Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import call_later

from crawler.items import PageItem
from crawler.spiders.topic import spider_of
from crawler.state.frontier import Candidate, Frontier


class FrontierScheduler(BaseScheduler):
    """Hands out the frontier's best candidate as a request, and ends its lease when nothing more can come of it.

    A request carries its candidate and lease in its meta. Retries and redirects are copies of it, so they give the
    lease back; the spider ends the lease of a request that brings no page; an item that left the pipeline, whichever
    way, ends the others.
    """

    def __init__(self, crawler: Crawler, frontier: Frontier) -> None:
        self.crawler = crawler
        self.frontier = frontier
        self._waking = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        scheduler = cls(crawler, spider_of(crawler).frontier)
        crawler.signals.connect(scheduler.page_stored, signals.item_scraped)
        crawler.signals.connect(scheduler.page_dropped, signals.item_dropped)
        crawler.signals.connect(scheduler.page_failed, signals.item_error)
        crawler.signals.connect(scheduler.page_failed, signals.spider_error)
        return scheduler

    def has_pending_requests(self) -> bool:
        """Whether the crawl would go on if everything on its way came back with nothing."""
        return self.frontier.pending

    def enqueue_request(self, request: Request) -> bool:
        """Let a request wait; a copy of one on its way takes over its lease and is kept as it is."""
        candidate: Candidate | None = request.meta.get("candidate")
        if candidate is None:
            known = self.frontier.know(request.url)
            return known and self.frontier.add(Candidate(request.url, request.priority), request)
        lease = request.meta.get("lease")
        if lease is None:
            return self.frontier.add(candidate)
        moved = candidate._replace(url=request.url, priority=request.priority)
        return self.frontier.give_back(lease, moved, request)

    def next_request(self) -> Request | None:
        """The next request, or None while every host with something to ask for is busy or resting."""
        lent = self.frontier.take(monotonic())
        if lent is None:
            self._wake_when_ready()
            return None
        request: Request = lent.load or self._request(lent.candidate)
        request.meta.update(candidate=lent.candidate, lease=lent.lease)
        return request

    def _request(self, candidate: Candidate) -> Request:
        spider = spider_of(self.crawler)
        callback = spider.parse_image if candidate.kind == "image" else spider.parse
        return Request(candidate.url, callback, errback=spider.failed, priority=candidate.priority, dont_filter=True)

    def page_stored(self, item: object, response: Response) -> None:
        self._finish(response, page=isinstance(item, PageItem))

    def page_dropped(self, response: Response) -> None:
        self._finish(response)

    def page_failed(self, response: Response) -> None:
        self.crawler.stats.inc_value("failed/error in the crawler, see the log")
        self._finish(response)

    def _finish(self, response: Response, page: bool = False) -> None:
        if response is not None and response.request is not None:
            self.frontier.finish(response.request.meta.get("lease", 0), page)

    def _wake_when_ready(self) -> None:
        """Have the engine ask again when a resting host is ready; its own heartbeat comes every 5 seconds only."""
        seconds = self.frontier.ready_in(monotonic())
        if seconds is not None and not self._waking:
            self._waking = True
            call_later(min(seconds + 0.001, 5.0), self._wake)

    def _wake(self) -> None:
        self._waking = False
        slot = self.crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()
