"""How soon hosts answer is noted, for those who look at the crawl: the database is told now and then."""

from typing import Self

from scrapy import Request, signals
from scrapy.crawler import Crawler

from crawler.scheduler import last_words
from crawler.spiders.topic import spider_of
from crawler.urls import host


class HostTempo:
    """Hands on after how many seconds each answer came."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        tempo = cls(crawler)
        crawler.signals.connect(tempo.answered, signals.response_downloaded)
        crawler.signals.connect(tempo.end, last_words)
        return tempo

    def answered(self, request: Request) -> None:
        seconds = request.meta.get("download_latency")
        if seconds is not None:
            spider_of(self.crawler).frontier.answered(host(request.url), seconds)

    def end(self) -> None:
        """Have the rest told with the last batch."""
        spider_of(self.crawler).frontier.ear.last = True
