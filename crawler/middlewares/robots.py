"""robots.txt, read as RFC 9309 says: what it forbids is not asked for, nor is anything when it cannot be read."""

import asyncio
from typing import Self

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from twisted.python.failure import Failure

from crawler.failures import NOT_PUBLIC, Refusal, reason
from crawler.page import BOT
from crawler.spiders.topic import TopicSpider
from crawler.urls import host, origin

MAX_SIZE = 512 * 1024  # RFC 9309 asks for 500 KiB at least
ROBOTS = "robots_txt"
"""Marks the requests for robots.txt itself in their meta."""

Answer = Protego | str
"""The rules, or why a host must be left alone."""


class RobotsMiddleware:
    """Fetches each host's robots.txt once, before its first page, and obeys it and its Crawl-delay."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl_delay_limit = crawler.settings.getfloat("CRAWL_DELAY_LIMIT")
        self.answers: dict[str, asyncio.Task[Answer]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is off")
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        if ROBOTS in request.meta:
            return None
        place = origin(request.url)
        if place not in self.answers:
            self.answers[place] = asyncio.ensure_future(self.ask(place))
        came_first = not self.answers[place].done()
        answer = await self.answers[place]
        if isinstance(answer, str):
            raise Refusal(answer)
        if not answer.can_fetch(request.url, BOT):
            raise Refusal("refused by robots.txt")
        # What was on its way before the host's pauses were known waits for its turn again.
        return request.copy() if came_first and answer.crawl_delay(BOT) else None

    async def ask(self, place: str) -> Answer:
        """The rules of a host, after its robots.txt or the failure to read it."""
        meta = {ROBOTS: True, "download_maxsize": MAX_SIZE}
        request = Request(f"{place}/robots.txt", NO_CALLBACK, meta=meta, priority=1000)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception:
            why = reason(Failure())
            return why if why == NOT_PUBLIC else f"robots.txt cannot be read: {why}"
        if response.status == 429 or response.status >= 500:
            return f"robots.txt cannot be read: {response.status}"
        rules = Protego.parse(response.body.decode("utf-8-sig", "ignore") if response.status < 300 else "")
        return self.slow_down(place, rules)

    def slow_down(self, place: str, rules: Protego) -> Answer:
        """The rules, after their Crawl-delay is taken to heart."""
        delay = rules.crawl_delay(BOT)
        if delay is None or delay <= 0:
            return rules
        if delay > self.crawl_delay_limit:
            return "robots.txt asks for longer pauses than CRAWL_DELAY_LIMIT"
        spider = self.crawler.spider
        assert isinstance(spider, TopicSpider)  # noqa: S101 - the project's only spider
        spider.frontier.slow(host(place + "/"), delay)
        return rules
