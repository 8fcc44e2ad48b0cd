"""Backs off from hosts that answer 429, 503 or a wall against robots: they are paused, and the page is retried later.

A wall is a page that a service shows to robots in place of the requested one. It may stand in front of a whole host, or
of a few addresses; `count_wall` decides which is likely. Pauses of hosts whose robots.txt fails are in robots.py.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Self

from scrapy import Request
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from crawler.build_crawl import crawl_of, slot_of
from crawler.frontier.host_control import HOST_CLOSED, HostControl
from crawler.outcomes import Code, Outcome
from crawler.spiders.feed_texts import FeedTexts
from crawler.spiders.request_outcomes import REFUSED, REFUSED_TIMES, TOO_BUSY, Refusal, can_wait, wall_outcome
from crawler.urls.address import address_of

logger = logging.getLogger(__name__)

SHORTEST_SECONDS = 1.0  # the shortest pause, even if Retry-After asks for a shorter one
WALLED = "walled"  # in place of a status, in the statistics
WALLS_OF_NEW_HOST = 3
"""Walls in a row, sent with a status below 300, after which a host that has sent no page is considered walled."""
WALLS_OF_HOST = 20
"""Walls in a row after which a host that has also sent pages is considered walled. A captcha in front of a download is
a wall, but says nothing about other addresses.
"""


def retry_after(header: str, now: float) -> float | None:
    """The seconds that a Retry-After header asks for, or None if it cannot be parsed.

    It contains seconds or a date: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3

    >>> retry_after("120", 0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 20.0), retry_after("soon", 0)
    (120.0, 40.0, None)
    """
    if header.strip().isascii() and header.strip().isdigit():
        return float(header.strip()[:12])  # 12 digits, so that the time is finite
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None


class HostRestsError(IgnoreRequest):
    """The host of a request was paused while the request waited in the downloader; the request is queued again."""


class BackoffMiddleware:
    """Pauses a host that refuses requests: for as long as it asks, or twice as long each time if it does not say.

    A host that asks for too long a pause, or refuses too often, is closed. A wall is not passed on, so that nothing
    reads it as a robots.txt, list, page or image.
    """

    first_pause = 5.0
    """Seconds of the first pause of a host that does not ask for a time; each further pause is twice as long."""
    max_pauses = 5
    """Pauses in a row after which a host is closed; the last of them takes 80 seconds."""

    def __init__(
        self,
        hosts: HostControl,
        count: Callable[[str], None],
        limit: float,
        slot: Callable[[str], Slot | None] = lambda name: None,
        feeds: FeedTexts | None = None,
    ) -> None:
        self.hosts = hosts
        self.count = count
        self.limit = limit
        """The longest pause in seconds; a host that asks for more is closed."""
        self.slot = slot
        """Returns the downloader's slot for a host, if it has one."""
        self.feeds = feeds
        """The texts of pages that are known from feeds."""
        self.pauses: dict[str, tuple[int, float]] = {}
        """How many times in a row each refusing host was paused, and when its last pause ends."""
        self.answering_hosts: set[str] = set()
        """Hosts that have answered a request for a page without refusing it."""
        self.walls_in_a_row: Counter[str] = Counter()
        """How many walls in a row each host has sent as successful responses."""
        self.closed: set[str] = set()
        """Closed hosts, each of which is logged once; responses to requests already sent may still come."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        limit = crawler.settings.getfloat("BACKOFF_LIMIT")
        slot = partial(slot_of, crawler)
        return cls(crawl.frontier.hosts, crawler.stats.inc_value, limit, slot, crawl.reader.feeds)

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Pass a response, or return the request to retry it later; a refusal by the host also pauses or closes the
        host.

        Raises a Refusal for a wall that is not retried.
        """
        name = address_of(request.url).host
        wall = wall_outcome(response)

        # No refusal.
        if wall is None and response.status not in TOO_BUSY:
            self.walls_in_a_row.pop(name, None)
            if can_wait(request):
                self.answering_hosts.add(name)
            if self.pauses.pop(name, None):
                self.hosts.host_recovered(name)
            return response

        # A wall in front of a page whose text is known from a feed: the spider uses that text.
        if wall is not None and self.is_in_feed(request):
            raise Refusal(wall, response)
        # A wall in front of this address only.
        if wall is not None and self.count_wall(name, response):
            may_be_retried = True
            max_retries = 1
        # A refusal by the host, which is paused or closed.
        else:
            self.count(f"backoff/{response.status if wall is None else WALLED}")
            header = (response.headers.get("Retry-After") or b"").decode("latin-1")
            outcome = wall or Outcome(Code.HTTP_STATUS, str(response.status))
            may_be_retried = self.pause_or_close(name, outcome, retry_after(header, time.time()))
            max_retries = self.max_pauses
            self.withdraw(name)

        refusals = request.meta.get(REFUSED_TIMES, 0) + 1
        if not may_be_retried or refusals > max_retries or not can_wait(request):
            if wall is not None:
                raise Refusal(wall, response)
            return response
        retry = request.copy()
        retry.meta.update({REFUSED_TIMES: refusals, REFUSED: True})
        return retry

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Queue a request again that `withdraw` took out of the downloader."""
        if isinstance(exception, HostRestsError):
            return request.copy()
        return None

    def is_in_feed(self, request: Request) -> bool:
        """Whether the text of a page is known from a feed, so that the page need not be retried."""
        return self.feeds is not None and "lease" in request.meta and self.feeds.has(request.meta["lease"].candidate)

    def count_wall(self, name: str, wall: Response) -> bool:
        """Count a wall; returns whether it may be in front of its address only, and not of the whole host."""
        if wall.status >= 300:  # the host itself refuses
            return False
        self.walls_in_a_row[name] += 1
        walls_of_host = WALLS_OF_HOST if name in self.answering_hosts else WALLS_OF_NEW_HOST
        return self.walls_in_a_row[name] < walls_of_host and name not in self.pauses

    def withdraw(self, name: str) -> None:
        """Withdraw the requests to a host that wait in the downloader, as its pause has begun."""
        slot = self.slot(name)
        if slot is None:
            return
        for request, response in list(slot.queue):
            if address_of(request.url).host == name and can_wait(request):
                slot.queue.remove((request, response))
                response.errback(HostRestsError())

    def pause_or_close(self, name: str, outcome: Outcome, retry_after_seconds: float | None) -> bool:
        """Pause the host after an outcome, or close it; returns whether it may be requested again."""
        now = time.monotonic()
        pauses, until = self.pauses.get(name, (0, 0.0))
        is_new_pause = now >= until  # a response during a pause was requested before it, and does not extend it
        if is_new_pause:
            pauses += 1
            seconds = self.first_pause * 2 ** (pauses - 1)
            if retry_after_seconds is not None:
                seconds = max(retry_after_seconds, SHORTEST_SECONDS)
            until = now + seconds
            self.pauses[name] = pauses, until

        if until - now > self.limit or pauses > self.max_pauses:
            is_walled = outcome.code is Code.WALLED
            self.hosts.close(name, Outcome(Code.HOST_WALLED, outcome.detail) if is_walled else HOST_CLOSED)
            if name not in self.closed:
                self.closed.add(name)
                logger.warning(
                    "%s refuses (%s): no more requests are sent to it, and its addresses are given up",
                    name,
                    outcome.message,
                )
            return False
        if is_new_pause:
            logger.info("%s refuses (%s): it is paused for %.0f seconds", name, outcome.message, until - now)
        self.hosts.rest(name, until)
        return True
