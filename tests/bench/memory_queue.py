"""The crawl without durable state: the topic spider over Scrapy's own scheduler, for comparison.

The spider, its parsing, the middlewares, the pipelines and the extensions are the crawler's own. The differences:

- Addresses are queued as requests in Scrapy's queue in memory (`scrapy.core.scheduler.Scheduler` with unchanged
  settings), and Scrapy's dupe filter knows which were seen; no query is made between the first page and the last. An
  address that was seen lately is left out before a request is made of it, as in the crawler; this is faster than
  Scrapy alone.
- A queued request keeps its first priority, as always in Scrapy's queue.
- The links of a page are queued as soon as it is read, not when it is committed.
- An item is written to the file of JSON lines at once, through Python's buffer and without a sync.
- Nothing is shared with other workers, and nothing survives a crash.

`-s SPIDER_MODULES=crawler.spiders,memory_queue -s SCHEDULER=memory_queue.MemoryScheduler` starts it, with this folder
on the path.
"""

import json
from collections.abc import Mapping
from typing import Self

from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred

from crawler import build_crawl as building
from crawler.build_crawl import SEED_PRIORITY, crawl_of
from crawler.frontier.frontier import Frontier
from crawler.frontier.page_result import AddressKind, Candidate, Lease, PageResult
from crawler.spiders.topic import TopicSpider


class MemoryFrontier(Frontier):
    """Hands what is found to Scrapy's scheduler, and writes what is stored."""

    scheduler: "MemoryScheduler"

    def __len__(self) -> int:
        return len(self.scheduler)

    def update_priorities(self, renewed: Mapping[str, int]) -> None:
        """Nothing: Scrapy's queue keeps the priority that a request came with."""

    def share_model(self, summary: str, learned: str) -> None:
        """Nothing: there is no later run."""

    def finish(self, lease_id: int, result: PageResult) -> bool:
        self.ended += 1
        for candidate in self._seen.new(result.links, {}):
            self.scheduler.add(candidate)
        if result.record is not None:
            self.pages += 1
            self.all_pages += 1
            self.scheduler.lines.write(json.dumps(result.record, ensure_ascii=False) + "\n")
        return True

    async def redirect(self, lease_id: int, candidate: Candidate) -> Lease | None:
        return Lease(lease_id, candidate, 0, 0)


building.Frontier = MemoryFrontier  # type: ignore[misc]


class MemoryScheduler(Scheduler):
    """Scrapy's scheduler, which begins with the seeds."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        scheduler, crawl = super().from_crawler(crawler), crawl_of(crawler)
        assert isinstance(crawl.frontier, MemoryFrontier)
        crawl.frontier.scheduler = scheduler
        scheduler.lines = crawl.session.pages.path.open("w", encoding="utf-8")
        scheduler.seeds = crawl.arguments.seeds
        return scheduler

    def open(self, spider: TopicSpider) -> Deferred[None] | None:
        opened = super().open(spider)
        for seed in self.seeds:
            self.add(Candidate(seed, SEED_PRIORITY, kind=AddressKind.SEED))
        return opened

    def add(self, candidate: Candidate) -> None:
        """Queue a candidate if it was never seen."""
        request = self.spider.request_for(Lease(0, candidate, 0, 0))
        request.dont_filter, request.priority = False, candidate.priority
        if self.enqueue_request(request):
            request.dont_filter = True  # its copies, after a retry or for robots.txt, are not new and wait all the same

    def close(self, reason: str) -> Deferred[None] | None:
        self.lines.close()
        return super().close(reason)
