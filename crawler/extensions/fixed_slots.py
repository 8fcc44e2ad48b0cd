"""Hosts whose pace is set by hand keep it."""

from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler


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
