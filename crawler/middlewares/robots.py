"""robots.txt, read as RFC 9309 says: what it forbids is not asked for, nor is anything when it cannot be read."""

import asyncio
import logging
from time import monotonic
from typing import Self

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from twisted.python.failure import Failure

from crawler.failures import NOT_PUBLIC, Refusal, reason
from crawler.page import BOT
from crawler.spiders.topic import spider_of
from crawler.state.frontier import Frontier
from crawler.urls import host, origin

logger = logging.getLogger(__name__)

MAX_SIZE = 512 * 1024  # so much of it is read; RFC 9309 asks for 500 KiB at least
ROBOTS = "robots_txt"
"""Marks the requests for robots.txt itself in their meta."""

TOO_BUSY = (429, 503)

Answer = Protego | str | None
"""The rules, or why a host must be left alone, or None when it was too busy to say."""


class RobotsMiddleware:
    """Fetches each host's robots.txt once, before its first page, and obeys it and its Crawl-delay."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl_delay_limit = crawler.settings.getfloat("CRAWL_DELAY_LIMIT")
        self.answers: dict[str, asyncio.Task[Answer]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        return cls(crawler)

    @property
    def frontier(self) -> Frontier:
        spider = spider_of(self.crawler)
        return spider.frontier

    async def process_request(self, request: Request) -> Request | None:
        """Let a request pass, refuse it, or have it wait for its turn again."""
        if ROBOTS in request.meta:
            return None
        place = origin(request.url)
        if place not in self.answers:
            self.answers[place] = asyncio.ensure_future(self.ask(place))
        asked = self.answers[place]
        came_first = not asked.done()
        answer = await asked
        if answer is None:
            if self.answers.get(place) is asked:
                del self.answers[place]
            return request.copy()
        if isinstance(answer, str):
            raise Refusal(answer)
        if not answer.can_fetch(request.url, BOT):
            raise Refusal("refused by robots.txt")
        # What was on its way before the host's pauses were known comes too early.
        return request.copy() if came_first and answer.crawl_delay(BOT) else None

    async def ask(self, place: str) -> Answer:
        """The rules of a host, after its robots.txt or the failure to read it."""
        request = Request(f"{place}/robots.txt", NO_CALLBACK, meta={ROBOTS: True}, priority=1000)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception:
            why = reason(Failure())
            return why if why == NOT_PUBLIC else f"robots.txt cannot be read: {why}"
        if response.status in TOO_BUSY and self.frontier.rests(host(place + "/"), monotonic()):
            return None
        if response.status == 429 or response.status >= 500:
            return f"robots.txt cannot be read: {response.status}"
        text = response.body[:MAX_SIZE].decode("utf-8-sig", "ignore") if response.status < 300 else ""
        return self.slow_down(host(place + "/"), Protego.parse(text))

    def slow_down(self, name: str, rules: Protego) -> Answer:
        """The rules, after their Crawl-delay is taken to heart."""
        delay = rules.crawl_delay(BOT)
        if delay is None or delay <= 0:
            return rules
        if delay > self.crawl_delay_limit:
            return "robots.txt asks for longer pauses than CRAWL_DELAY_LIMIT"
        self.frontier.slow(name, delay)
        logger.info("%s asks for %g seconds between two requests (Crawl-delay in robots.txt)", name, delay)
        return rules
