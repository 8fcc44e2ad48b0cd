"""Obeys robots.txt (RFC 9309); nothing is requested from a host whose robots.txt fails.

A robots.txt is valid for a day (https://www.rfc-editor.org/rfc/rfc9309#section-2.4). After a 5xx response or a lost
connection the host is paused, and its addresses wait; the length and number of the pauses are the same as for busy
hosts (backoff.py). After the last pause, or at once if the host cannot be reached at all, its addresses are given up,
and robots.txt is not requested again for `failure_seconds`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http.request import NO_CALLBACK
from twisted.python.failure import Failure

from crawler.build_crawl import crawl_of
from crawler.frontier.host_control import HostControl
from crawler.middlewares.backoff import BackoffMiddleware
from crawler.outcomes import Code, Outcome
from crawler.rights.page_rights import NO_FILES, SiteFiles
from crawler.rights.robots_file import MAX_SIZE, RobotsFile, read_robots, readable_part
from crawler.spiders.request_outcomes import ONLY_PUBLIC, ROBOTS, SITE_FILES, TOO_BUSY, Refusal, can_wait, outcome_of
from crawler.urls.address import address_of
from crawler.urls.file_cache import DAY, Fetched, FileCache

logger = logging.getLogger(__name__)

MAX_KEPT = 5_000_000  # bytes of cached robots.txt; parsed rules take some 25 times as much memory
SHORTEST_DELAY_SECONDS = 0.001  # a shorter Crawl-delay makes no difference
SHORT_FAILURES = frozenset((Code.CONNECTION_LOST, Code.ANSWER_CUT))
"""Failures of hosts that can be reached. They may be over soon, so the host is paused and robots.txt requested again.
Timeouts are not included: they have already taken minutes.
"""
NO_RULES = read_robots(b"", "", "")
"""Stands for a robots.txt that does not exist, or is empty."""


@dataclass(frozen=True)
class ClosedHost:
    """Why a host must not be requested."""

    outcome: Outcome
    failures: int = 0
    """How many times in a row its robots.txt failed."""
    is_paused: bool = False
    """Whether the host is only paused: then its addresses wait, and are not given up."""


RobotsAnswer = RobotsFile | ClosedHost


class RobotsMiddleware:
    """Requests each host's robots.txt before its first page, and obeys it."""

    first_pause = BackoffMiddleware.first_pause
    """Seconds of the pause after the first failure; each further pause is twice as long."""
    max_pauses = BackoffMiddleware.max_pauses
    """Failures in a row for which the addresses of a host wait; after a further one, they are given up."""
    failure_seconds = 300.0
    """Seconds after the last failure for which robots.txt is not requested and the host's addresses are given up."""

    def __init__(
        self,
        crawler: Crawler,
        hosts: HostControl,
        crawl_delay_limit: float,
        take_in_sitemaps: Callable[[str, Sequence[str]], None] = lambda origin, urls: None,
    ) -> None:
        self.crawler = crawler
        self.hosts = hosts
        self.take_in_sitemaps = take_in_sitemaps
        """Called with the origin of a host and the sitemaps that its robots.txt names."""
        self.crawl_delay_limit = crawl_delay_limit
        self.answers: FileCache[str, RobotsAnswer] = FileCache(MAX_KEPT)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        crawl = crawl_of(crawler)
        crawl_delay_limit = crawler.settings.getfloat("CRAWL_DELAY_LIMIT")
        return cls(crawler, crawl.frontier.hosts, crawl_delay_limit, crawl.reader.lists.take_in)

    async def process_request(self, request: Request) -> Request | None:
        """Pass a request, refuse it, or queue it again."""
        if ROBOTS in request.meta:
            return None
        origin = address_of(request.url).origin
        name = address_of(request.url).host
        interval = self.hosts.interval(name)
        # For a request that may only go to a public address, robots.txt must not be fetched from a private host either.
        # The answer is then valid for such requests only, and cached under its own key. It is not needed if robots.txt
        # was fetched before for other requests.
        only_public = bool(request.meta.get(ONLY_PUBLIC)) and self.answers.last(origin) is None
        key = f"{origin} if it is public" if only_public else origin
        answer = await self.answers.get(key, partial(self.fetch, origin, only_public))
        if isinstance(answer, ClosedHost):
            if answer.is_paused and can_wait(request):
                return request.copy()
            raise Refusal(answer.outcome)
        if not answer.allows(request.url):
            raise Refusal(Outcome(Code.ROBOTS_FORBIDS))
        request.meta[SITE_FILES] = NO_FILES if answer is NO_RULES else SiteFiles(answer)
        # A request that was built before the Crawl-delay was known is queued again.
        if self.hosts.interval(name) > interval:
            return request.copy()
        return None

    async def fetch(self, origin: str, only_public: bool = False) -> Fetched[RobotsAnswer]:
        """The robots.txt of a host, or why the host must not be requested."""
        name = address_of(origin + "/").host
        clock = self.answers.clock
        meta = {ROBOTS: True, ONLY_PUBLIC: only_public}
        request = Request(f"{origin}/robots.txt", NO_CALLBACK, meta=meta, priority=1000)
        try:
            response = await self.crawler.engine.download_async(request)
        except Exception:
            why = outcome_of(Failure())
            return self.failed(origin, why, is_short=why.code in SHORT_FAILURES)

        # BackoffMiddleware has already paused a host that is too busy. This answer is not cached, so that robots.txt is
        # requested again before the first page after the pause. Requests that cannot wait are refused meanwhile.
        if response.status in TOO_BUSY and self.hosts.is_resting(name, clock()):
            paused = ClosedHost(Outcome(Code.HOST_CLOSED), self.failures(origin), is_paused=True)
            return Fetched(paused, 0, valid_until=clock())
        if response.status == 429 or response.status >= 500:
            why = Outcome(Code.HTTP_STATUS, str(response.status))
            # BackoffMiddleware has closed a host that is too busy and not paused: it refused too often, or for too
            # long.
            return self.failed(origin, why, is_short=response.status not in TOO_BUSY)

        body = readable_part(response.body) if response.status < 300 else b""  # after a 4xx, there are no rules
        if body and len(response.body) > len(body):
            logger.info("The robots.txt of %s is longer than %d bytes: the rest is not read", origin, MAX_SIZE)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        file = read_robots(body, f"{origin}/robots.txt", now) if body.strip() else NO_RULES
        self.take_in_sitemaps(origin, file.sitemaps)
        return Fetched(self.slow_down(name, file), len(body), clock() + DAY)

    def failed(self, origin: str, why: Outcome, is_short: bool) -> Fetched[RobotsAnswer]:
        """The answer for a host whose robots.txt cannot be read, which is why the host must not be requested.

        If the failure `is_short`, the host is paused and its addresses wait, `max_pauses` times at most. Otherwise its
        addresses are given up for `failure_seconds`.
        """
        failures = self.failures(origin) + 1
        is_paused = is_short and failures <= self.max_pauses
        seconds = self.first_pause * 2 ** (failures - 1) if is_paused else self.failure_seconds
        valid_until = self.answers.clock() + seconds
        outcome = why if why.code is Code.NOT_PUBLIC else Outcome(Code.ROBOTS_UNREADABLE, str(why))
        if is_paused:
            self.hosts.rest(address_of(origin + "/").host, valid_until)
            logger.info("%s: %s; it is requested again in %.0f seconds", origin, outcome.message, seconds)
        return Fetched(ClosedHost(outcome, failures, is_paused), 0, valid_until)

    def failures(self, origin: str) -> int:
        """How many times in a row the robots.txt of a host has failed."""
        answer = self.answers.last(origin)
        if isinstance(answer, ClosedHost):
            return answer.failures
        return 0

    def slow_down(self, name: str, file: RobotsFile) -> RobotsAnswer:
        """Apply the Crawl-delay of a robots.txt; returns the file, or why the host must not be requested."""
        delay = file.own.crawl_delay
        if delay is None or delay < SHORTEST_DELAY_SECONDS:
            return file
        if delay > self.crawl_delay_limit:
            return ClosedHost(Outcome(Code.CRAWL_DELAY_TOO_LONG))
        self.hosts.set_crawl_delay(name, delay)
        logger.info("%s asks for %g seconds between two requests (Crawl-delay in robots.txt)", name, delay)
        return file
