"""Obeys robots.txt (RFC 9309); nothing is requested from a host whose robots.txt fails."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Self

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from twisted.python.failure import Failure

from crawler.build_crawl import crawl_of
from crawler.middlewares.robots_rules import rules_of, sitemaps_of
from crawler.outcomes import Code, Outcome
from crawler.page.head import BOT
from crawler.rights.page_rights import SiteFiles
from crawler.rights.robots_file import MAX_SIZE, RobotsFile, read_robots
from crawler.spiders.request_outcomes import ROBOTS, SITE_FILES, TOO_BUSY, Refusal, can_wait, outcome_of
from crawler.urls.parsing import host, origin

if TYPE_CHECKING:
    from crawler.frontier.host_control import HostControl

logger = logging.getLogger(__name__)

MAX_KEPT = 5_000_000  # bytes of cached robots.txt; parsed rules take 20 to 40 times as much memory
SHORTEST_DELAY = 0.001  # seconds: a shorter Crawl-delay makes no difference
WEIGHT = 100  # bytes that each entry counts for, in addition to its robots.txt


@dataclass(frozen=True)
class RobotsRules:
    """The rules of a host, and what its robots.txt says about the use of pages."""

    rules: Protego
    file: RobotsFile | None = None
    """None if there is no robots.txt, or it is empty."""


RobotsAnswer = RobotsRules | Outcome | None
"""The rules, or why a host must not be requested, or None if it was too busy to answer."""


class RobotsCache:
    """A cache of the robots.txt of the hosts used last, limited by size."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self.most = most
        self.weight = 0
        self._kept: OrderedDict[str, tuple[RobotsRules | Outcome, int]] = OrderedDict()

    def get(self, place: str) -> RobotsAnswer:
        """The entry of a host, or None if it is not in the cache."""
        if place not in self._kept:
            return None
        self._kept.move_to_end(place)
        return self._kept[place][0]

    def keep(self, place: str, answer: RobotsRules | Outcome, size: int) -> None:
        """Add an entry of so many bytes, and drop the least recently used ones."""
        self._kept[place] = answer, size + WEIGHT
        self.weight += size + WEIGHT
        while self.weight > self.most and len(self._kept) > 1:
            _, (_, weight) = self._kept.popitem(last=False)
            self.weight -= weight


class RobotsMiddleware:
    """Requests each host's robots.txt before its first page, and obeys it."""

    def __init__(
        self,
        crawler: Crawler,
        hosts: HostControl,
        crawl_delay_limit: float,
        take_in_sitemaps: Callable[[str, Sequence[str]], None] = lambda place, urls: None,
    ) -> None:
        self.crawler, self.hosts, self.take_in_sitemaps = crawler, hosts, take_in_sitemaps
        self.crawl_delay_limit = crawl_delay_limit
        self.answers = RobotsCache()
        self.asked: dict[str, asyncio.Task[RobotsAnswer]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        crawl, most = crawl_of(crawler), crawler.settings.getfloat("CRAWL_DELAY_LIMIT")
        return cls(crawler, crawl.frontier.hosts, most, crawl.reader.lists.take_in)

    async def process_request(self, request: Request) -> Request | None:
        """Pass a request, refuse it, or queue it again."""
        if ROBOTS in request.meta:
            return None
        place = origin(request.url)
        pause = self.hosts.interval(host(request.url))
        answer = self.answers.get(place)
        came_first = answer is None
        if answer is None:
            if place not in self.asked:
                self.asked[place] = asyncio.ensure_future(self.ask(place))
            answer = await self.asked[place]
        if answer is None and can_wait(request):
            return request.copy()
        if answer is None:
            raise Refusal(Outcome(Code.HOST_CLOSED))
        if isinstance(answer, Outcome):
            raise Refusal(answer)
        if not answer.rules.can_fetch(request.url, BOT):
            raise Refusal(Outcome(Code.ROBOTS_FORBIDS))
        request.meta[SITE_FILES] = SiteFiles(answer.file)
        # A request that was built before the Crawl-delay was known is queued again.
        return request.copy() if came_first and (answer.rules.crawl_delay(BOT) or 0) > pause else None

    async def ask(self, place: str) -> RobotsAnswer:
        """The rules of a host, from the cache or its robots.txt."""
        try:
            answer, size = await self.fetch(place)
            if answer is not None:
                self.answers.keep(place, answer, size)
            return answer
        finally:
            del self.asked[place]

    async def fetch(self, place: str) -> tuple[RobotsAnswer, int]:
        """The rules of a host, or why it must not be requested; and the size of its robots.txt."""
        request = Request(f"{place}/robots.txt", NO_CALLBACK, meta={ROBOTS: True}, priority=1000)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception:
            why = outcome_of(Failure())
            return (why if why.code is Code.NOT_PUBLIC else Outcome(Code.ROBOTS_UNREADABLE, str(why))), 0
        if response.status in TOO_BUSY and self.hosts.rests(host(place + "/"), monotonic()):
            return None, 0
        if response.status == 429 or response.status >= 500:
            why = Outcome(Code.HTTP_STATUS, str(response.status))
            return Outcome(Code.ROBOTS_UNREADABLE, str(why)), 0
        body = response.body[:MAX_SIZE] if response.status < 300 else b""
        if len(response.body) > len(body) > 0:
            logger.info("The robots.txt of %s is longer than %d bytes: the rest is not read", place, MAX_SIZE)
        text = body.decode("utf-8-sig", "ignore")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        file = read_robots(text, body, f"{place}/robots.txt", now) if body.strip() else None
        self.take_in_sitemaps(place, sitemaps_of(text))
        rules = self.slow_down(host(place + "/"), rules_of(text))
        return (rules if isinstance(rules, Outcome) else RobotsRules(rules, file)), len(body)

    def slow_down(self, name: str, rules: Protego) -> Protego | Outcome:
        """Apply the Crawl-delay of rules; returns the rules, or why the host must not be requested."""
        delay = rules.crawl_delay(BOT)
        if delay is None or delay < SHORTEST_DELAY:
            return rules
        if delay > self.crawl_delay_limit:
            return Outcome(Code.CRAWL_DELAY_TOO_LONG)
        self.hosts.slow(name, delay)
        logger.info("%s asks for %g seconds between two requests (Crawl-delay in robots.txt)", name, delay)
        return rules
