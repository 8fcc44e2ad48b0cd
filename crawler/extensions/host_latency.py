"""Records the latencies of hosts, and keeps AutoThrottle from changing delays that the user has set for a host."""

from __future__ import annotations

from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler

from crawler.build_crawl import crawl_of
from crawler.frontier.host_control import HostControl
from crawler.urls.address import address_of


class LatencyRecorder:
    """Passes the latency of each response to the frontier."""

    def __init__(self, hosts: HostControl) -> None:
        self.hosts = hosts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        recorder = cls(crawl_of(crawler).frontier.hosts)
        crawler.signals.connect(recorder.record, signals.response_downloaded)
        return recorder

    def record(self, request: Request) -> None:
        seconds = request.meta.get("download_latency")
        if seconds is not None:
            self.hosts.record_answer(address_of(request.url).host, seconds)


class FixedSlots:
    """Keeps AutoThrottle from changing the delays of hosts in DOWNLOAD_SLOTS."""

    def __init__(self, hosts: frozenset[str]) -> None:
        self.hosts = hosts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        fixed = cls(frozenset(crawler.settings.getdict("DOWNLOAD_SLOTS")))
        crawler.signals.connect(fixed.keep_delay, signals.request_reached_downloader)
        return fixed

    def keep_delay(self, request: Request) -> None:
        if request.meta.get("download_slot") in self.hosts:
            request.meta["autothrottle_dont_adjust_delay"] = True
