"""How soon hosts answer is noted, for those who look at the crawl: the database is told now and then.

Hosts whose pace is set by hand keep it.
"""

from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler

from crawler.crawl import crawl_of
from crawler.frontier.frontier import Frontier
from crawler.urls.parsing import host


class LatencyRecorder:
    """Hands on after how many seconds each answer came."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        tempo = cls(crawl_of(crawler).frontier)
        crawler.signals.connect(tempo.answered, signals.response_downloaded)
        return tempo

    def answered(self, request: Request) -> None:
        seconds = request.meta.get("download_latency")
        if seconds is not None:
            self.frontier.answered(host(request.url), seconds)


class FixedSlots:
    """Has AutoThrottle leave alone the hosts that DOWNLOAD_SLOTS speaks of, whatever is asked of them."""

    def __init__(self, hosts: frozenset[str]) -> None:
        self.hosts = hosts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        fixed = cls(frozenset(crawler.settings.getdict("DOWNLOAD_SLOTS")))
        crawler.signals.connect(fixed.keep_pace, signals.request_reached_downloader)
        return fixed

    def keep_pace(self, request: Request) -> None:
        if request.meta.get("download_slot") in self.hosts:
            request.meta["autothrottle_dont_adjust_delay"] = True
