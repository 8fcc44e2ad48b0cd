"""A scheduler whose requests survive the process: a crawl that was killed, stopped or lost power continues.

A request is done when its callback has ended, its items have passed the pipelines and its new requests are in the
table, that is, when the engine no longer counts it as in progress. A crash loses no request, and repeats only those
that were in progress or were done since the last commit. The project's own queues decide the order, but contain the
numbers of requests in the table instead of the requests.

Scrapy's JOBDIR does not have this property. Its queues on disk, in files or in SQLite, are opened again by the list in
`active.json`, which is written when a crawl is closed properly. Without it the queued requests are lost, but they stay
in the file of known requests, so that they are never queued again. tests/bench/durable_queues.py kills a crawl of 600
pages by SIGKILL up to 10 times, each time after 20 to 50 pages, and then lets it end (Scrapy 2.19):

    queue                          kills   pages never read   pages read twice
    JOBDIR, PickleLifoDiskQueue    1       569                1
    JOBDIR, PickleLifoSQLiteQueue  1       570                1
    this one                       10      0                  46

With JOBDIR, the run after the first kill ended at once, as its queue was empty.
"""

import logging
import pickle
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from scrapy import Request, Spider, signals
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.asyncio import create_looping_call
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.request import request_from_dict
from twisted.internet.defer import Deferred

from crawler.addon.feed_files import FeedFiles
from crawler.addon.request_table import RequestTable

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 0.1  # between two commits, at least
COMMIT_SHARE = 0.1  # the largest share of the time that commits may take: on a slow disk they are less frequent
PICKLE_ERRORS = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)
"""Errors for requests that cannot be stored."""
UNPICKLE_ERRORS = (pickle.UnpicklingError, AttributeError, ImportError, TypeError, ValueError, EOFError, LookupError)
"""Errors for stored requests that cannot be restored, for example after the code has changed."""


class DurableQueue(Scheduler):
    """Scrapy's scheduler with a table of requests, which also filters duplicates."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.crawl: Crawler = parts["crawler"]  # the attribute `crawler` of Scrapy's class may be None
        self.statistics = self.crawl.stats
        self.feeds = FeedFiles(self.crawl)
        self.dqdir = None  # no queues of JOBDIR
        self.mqclass = self._of_numbers(self.mqclass)
        self._smqclass = self._of_numbers(self._smqclass)
        self.table: RequestTable | None = None
        """None until it is open, and after it has failed."""
        self._number = 0
        """The number of the request that is being queued: the queues push it in place of the request."""
        self._in_memory: dict[int, Request] = {}
        """Queued requests that cannot be stored, by number."""
        self._in_progress: dict[Request, int] = {}
        """The numbers of requests that the engine has taken."""
        self._timer = create_looping_call(self._commit_in_time)
        self._next_commit = 0.0
        """The earliest time of the next commit."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """The scheduler; that of Scrapy for `scrapy parse`, `fetch`, `view` and `check`, which do not crawl: these
        commands replace `start` of the spider.
        """
        assert crawler.spidercls is not None  # noqa: S101 - Scrapy has set it
        if crawler.spidercls.start.__module__.startswith("scrapy.commands."):
            return Scheduler.from_crawler(crawler)  # type: ignore[return-value]
        return super().from_crawler(crawler)

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the table, and queue the requests that an earlier run has left in it."""
        opened = super().open(spider)
        path = Path(self.crawl.settings["WINNOW_DURABLE_QUEUE"], f"{quote(spider.name, safe='')}.db")
        try:
            self.table = RequestTable(path)
        except (OSError, sqlite3.Error) as error:
            self.feeds.append_only()  # another crawl may be writing these files
            logger.error("The durable queue %s cannot be used; another crawl may use it: %s", path, error)
            raise CloseSpider("durable_queue_failed") from None
        self._resume(self.table)
        self.crawl.signals.connect(self.feeds.flush, signals.item_scraped)
        self._timer.start(COMMIT_SECONDS, now=False)
        return opened

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request that is new, or that must not be filtered."""
        if self.table is None:
            return False
        fingerprint = self.crawl.request_fingerprinter.fingerprint(request)
        try:
            if not request.dont_filter and self.table.has(fingerprint):
                self.df.log(request, self.spider)
                return False
            data = self._data(request)
            self._number = self.table.add(fingerprint, data, is_filtered=not request.dont_filter)
        except sqlite3.Error as error:
            self._fail(error)
            return False
        if data is None:
            self._in_memory[self._number] = request
        self._mqpush(request)
        self.statistics.inc_value("scheduler/enqueued")
        return True

    def next_request(self) -> Request | None:
        """Take the next request, in the order of the project's queues; it is then in progress."""
        if self.table is None:
            return None
        number = self.mqs.pop()
        if not isinstance(number, int):  # the queues are empty
            return None
        request = self._in_memory.pop(number, None) or self._request(self.table.data(number))
        self._in_progress[request] = number
        self.statistics.inc_value("scheduler/dequeued")
        return request

    def has_earlier(self, request: Request) -> bool:
        """Whether an earlier run of this crawl has queued the request."""
        return self.table is not None and self.table.has_earlier(self.crawl.request_fingerprinter.fingerprint(request))

    def close(self, reason: str) -> Deferred[None] | None:
        """Commit, and delete the table of a finished crawl, so that the next start begins from scratch."""
        if self._timer.running:
            self._timer.stop()
        self._commit()
        if self.table is not None:
            waiting = self.table.count_waiting()
            if reason == "finished" and not waiting:
                self.table.delete()
            else:
                logger.info("%d requests wait in %s; the same command continues the crawl", waiting, self.table.path)
                self.table.close()
        return self.df.close(reason)

    def _resume(self, table: RequestTable) -> None:
        """Queue the requests in the table that are not done."""
        count = 0
        for number, data in table.waiting():
            self._number = number
            try:
                self._mqpush(self._request(data))
                count += 1
            except UNPICKLE_ERRORS as error:
                logger.error("A request in %s cannot be read, and stays there: %s", table.path, error)
                self.statistics.inc_value("winnow/requests_unreadable")
        if table.last_earlier_number:
            logger.info("Continuing with %s, in which %d requests wait", table.path, count)
            self.statistics.set_value("winnow/requests_resumed", count)
            self.feeds.append_only()
            self.crawl.signals.connect(self.feeds.cut_torn_lines, signals.spider_opened)

    def _of_numbers(self, queue_class: Any) -> Any:
        """A subclass of a class of queues that stores numbers in place of requests; None if `queue_class` is None."""
        if not queue_class:
            return None

        def push(queue: Any, request: Request) -> None:
            queue_class.push(queue, self._number)

        return type(queue_class.__name__, (queue_class,), {"push": push})

    def _data(self, request: Request) -> bytes | None:
        """The data from which the request can be restored; None if its callback is a lambda, for example."""
        try:
            return pickle.dumps(request.to_dict(spider=self.spider), protocol=4)
        except PICKLE_ERRORS as error:
            if not self.statistics.get_value("winnow/requests_in_memory"):
                logger.warning("Kept only in memory; further ones are only counted: %s (%s)", request, error)
            self.statistics.inc_value("winnow/requests_in_memory")
            return None

    def _request(self, data: bytes) -> Request:
        return request_from_dict(pickle.loads(data), spider=self.spider)  # noqa: S301 - written by _data

    def _commit_in_time(self) -> None:
        """Commit, unless commits have taken more than `COMMIT_SHARE` of the time."""
        started = time.monotonic()
        if started >= self._next_commit:
            self._commit()
            took = time.monotonic() - started
            self._next_commit = started + took / COMMIT_SHARE

    def _commit(self) -> None:
        """Sync the exported items to the disk, then commit which requests are done and which are new."""
        if self.table is None or self.crawl.engine is None or self.crawl.engine._slot is None:
            return
        in_progress = self.crawl.engine._slot.inprogress
        done = [request for request in self._in_progress if request not in in_progress]
        try:
            if done:
                self.feeds.flush(to_disk=True)
            self.table.commit(self._in_progress.pop(request) for request in done)
        except (OSError, sqlite3.Error) as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        """Stop the crawl, as nothing can be saved any more; the next start repeats what is not committed."""
        logger.error("The durable queue cannot be written to, the crawl stops: %s", error)
        if self.table is not None and self.crawl.engine is not None:
            self.table.close()
            self.table = None
            deferred_from_coro(self.crawl.engine.close_spider_async(reason="durable_queue_failed"))


class StartRequests(BaseSpiderMiddleware):
    """Drops requests of `start()` that an earlier run of the crawl has queued, even those that must not be filtered:
    `start()` yields its requests in every run.
    """

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for start_item in start:
            scheduler = None
            if self.crawler.engine:
                scheduler = self.crawler.engine.scheduler
            has_earlier = getattr(scheduler, "has_earlier", None)  # Scrapy's scheduler has no such method
            if not (isinstance(start_item, Request) and has_earlier is not None and has_earlier(start_item)):
                yield start_item
