"""The crawl without durable state: the topic spider over Scrapy's own scheduler, to compare with.

The spider, its parsing, the middlewares, the pipelines and the extensions are the crawler's own. What differs:

- addresses wait as requests in Scrapy's queue in memory (`scrapy.core.scheduler.Scheduler`, its settings unchanged),
  and what was seen is known by Scrapy's dupe filter; no database is asked between the first page and the last; an
  address seen lately is left out before a request is made of it, as the crawler does, which is faster than Scrapy is
  by itself;
- what waits keeps the priority that it was found with, as requests in Scrapy's queue do;
- a page's links wait as soon as it was read, not when it is committed;
- an item is written to the file of JSON lines at once, through Python's buffer and without a sync;
- nothing is shared with other workers and nothing survives a crash.

`-s SPIDER_MODULES=memory_queue -s SCHEDULER=memory_queue.MemoryScheduler` starts it, with this folder on the path.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Self

from scrapy import Request
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred

from crawler.spiders.topic import SEED_PRIORITY, TopicSpider, spider_of
from crawler.state.entries import Candidate
from crawler.state.frontier import NOTHING, Frontier, spelling
from crawler.state.seats import Seat


class MemoryFrontier(Frontier):
    """Hands what is found to Scrapy's scheduler, and writes what is stored."""

    scheduler: "MemoryScheduler"

    def __len__(self) -> int:
        return len(self.scheduler)

    def found(self, lease: int, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            if self._recent.add(spelling(candidate.url, candidate.kind)):
                self.scheduler.add(candidate)

    def taught(self, lease: int, kind: str, text: str) -> None:
        """Nothing: there is nobody to tell."""

    def reprice(self, renewed: Mapping[str, int]) -> None:
        """Nothing: Scrapy's queue keeps the priority that a request came with."""

    def learned(self, summary: str, learned: str) -> None:
        """Nothing: there is no later run."""

    def end(
        self,
        lease: int,
        outcome: str = "",
        record: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] = NOTHING,
    ) -> bool:
        self.ended += 1
        if record is not None:
            self.pages += 1
            self.all_pages += 1
            self.scheduler.lines.write(json.dumps(record, ensure_ascii=False) + "\n")
        return True

    async def move(self, lease: int, candidate: Candidate) -> int | None:
        return lease


class MemorySpider(TopicSpider):
    """The topic spider with a frontier in memory."""

    name = TopicSpider.name

    def set_up(self, crawler: Crawler, seat: Seat) -> None:
        super().set_up(crawler, seat)
        self.frontier = MemoryFrontier(self.frontier.keys, self.frontier.manners.pace, self.arguments.max_pages)


class MemoryScheduler(Scheduler):
    """Scrapy's scheduler, which begins with the seeds."""

    spider: MemorySpider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        scheduler = super().from_crawler(crawler)
        spider = spider_of(crawler)
        assert isinstance(spider, MemorySpider)
        scheduler.spider, spider.frontier.scheduler = spider, scheduler
        scheduler.lines = spider.seat.pages.path.open("w", encoding="utf-8")
        return scheduler

    def open(self, spider: MemorySpider) -> Deferred[None] | None:
        opened = super().open(spider)
        for seed in spider.seeds:
            self.add(Candidate(seed, SEED_PRIORITY, kind="seed"))
        return opened

    def add(self, candidate: Candidate) -> None:
        """Let a candidate wait, if it was never seen."""
        meta = {"candidate": candidate, "lease": 0}
        callback = self.spider.parse_image if candidate.kind == "image" else self.spider.parse
        request = Request(candidate.url, callback, meta=meta, errback=self.spider.failed, priority=candidate.priority)
        if self.enqueue_request(request):
            request.dont_filter = True  # its copies, after a retry or for robots.txt, are not new and wait all the same

    def close(self, reason: str) -> Deferred[None] | None:
        self.lines.close()
        return super().close(reason)
