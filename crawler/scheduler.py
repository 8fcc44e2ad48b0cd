"""Scrapy's scheduler over the frontier: addresses come out as requests, and results go into the ledger in batches."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import monotonic
from typing import Any, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.crawl import Crawl, crawl_of
from crawler.frontier.messages import Lease
from crawler.items import ImageItem, PageItem
from crawler.middlewares.backoff import BEHIND
from crawler.outcomes import Code, Outcome
from crawler.spiders.leases import lease_of, result_of
from crawler.spiders.topic import TopicSpider
from crawler.store.database import StateError
from crawler.store.workers import LEASE_SECONDS

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 0.25  # between two batches, unless the frontier runs low
HUNGRY_SECONDS = 0.02

before_last_commit = object()
"""The signal that all which a crawl did is committed, and that what is still to be told goes with the last batch."""
NUDGE = Request("data:,", dont_filter=True)
"""A request that is never sent: given to the engine, it has it ask for the next one."""


class FrontierScheduler(BaseScheduler):
    """Hands out the frontier's best address as a request, and ends its lease when nothing more can come of it.

    A request carries its lease in its meta. Retries and redirects are copies of it, so they give the lease back; the
    spider ends the lease of a request that brings no page; an item that left the pipeline, whichever way, ends the
    others. A thread of its own commits what happened, a batch at a time.
    """

    shares_every = 20.0
    """Seconds after which what was learned of the topic is kept for later runs and other workers."""

    def __init__(self, crawler: Crawler, crawl: Crawl, request_for: Callable[[Lease], Request]) -> None:
        self.crawler = crawler
        self.frontier, self.session, self.leases, self.status = (
            crawl.frontier,
            crawl.session,
            crawl.leases,
            crawl.status,
        )
        self.topic, self.learning = crawl.topic, crawl.learning
        self.request_for = request_for
        self.thread = ThreadPoolExecutor(1, "ledger")
        self.shared_at = monotonic()
        self._waking = False
        self._needs_batch = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not isinstance(crawler.spider, TopicSpider):
            raise TypeError("this scheduler serves the topic spider only")
        scheduler = cls(crawler, crawl_of(crawler), crawler.spider.request_for)
        crawler.signals.connect(scheduler.item_dropped, signals.item_dropped)
        crawler.signals.connect(scheduler.item_failed, signals.item_error)
        crawler.signals.connect(scheduler.page_failed, signals.spider_error)
        return scheduler

    def open(self, spider: object) -> None:
        """Begin to commit."""
        self.committing = asyncio.ensure_future(self.commit_loop())

    def close(self, reason: str) -> Deferred[None]:
        """Commit what is left, give back what is held, and leave the seat."""
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        self.session.committer.stopping = True
        self.committing.cancel()
        await asyncio.wait([self.committing])
        try:
            if not self.status.broken:
                await self.commit(claim=False)
                self.topic.tell(self.frontier)
                self.frontier.latency.last = True
                self.crawler.signals.send_catch_log(before_last_commit)
                await self.commit(claim=False)
                self.status.tally = await self._in_thread(self.session.tally)
                if dropped := self.session.committer.priority_updates.dropped:
                    logger.warning("Links that keep an older priority, as too many had new ones: %d", dropped)
                await self._in_thread(self.session.leave)
        except StateError as error:
            self.status.broken = str(error)
        finally:
            self.session.close()
            self.thread.shutdown()

    def has_pending_requests(self) -> bool:
        """Whether this worker or another has something to do, now or later."""
        return not self.frontier.over and not self.status.broken

    def enqueue_request(self, request: Request) -> bool:
        """Let a copy of a request on its way wait for its turn again."""
        if request is NUDGE:
            return True
        if "lease" not in request.meta:
            return False
        behind, lease = request.meta.pop(BEHIND, False), lease_of(request)
        if closed := self.frontier.closed(lease.candidate.url):
            self.leases.finish(lease, result_of(request, closed))
            return False
        return self.frontier.requeue(lease.id, request, behind)

    def next_request(self) -> Request | None:
        """The next request, or None while every host with something to ask for is busy or resting."""
        lease = self.frontier.take(monotonic())
        if self.frontier.needs_batch:
            self._needs_batch.set()
        if lease is None:
            self._wake_when_ready()
            return None
        request: Request = lease.load or self.request_for(lease)
        request.meta["lease"] = lease
        return request

    async def commit_loop(self) -> None:
        """Commit a batch now and then, until the crawl ends or the state is broken."""
        buried = monotonic()
        try:
            while True:
                self._share()
                await self.commit()
                if monotonic() - buried > LEASE_SECONDS / 6:
                    buried = monotonic()
                    if dead := await self._in_thread(self.session.committer.expire_silent_workers):
                        logger.warning("Workers that gave no sign of life: %d; what they held is asked for again", dead)
                await self._until_needed()
        except Exception as error:
            if not isinstance(error, StateError):
                logger.exception("The state cannot be kept")
            self.frontier.release()
            self.status.abort(str(error))

    def _share(self) -> None:
        """Have it kept now and then what was learned of the topic, and look up which links still wait."""
        if monotonic() - self.shared_at >= self.shares_every:
            self.shared_at = monotonic()
            self.topic.tell(self.frontier)
            self.topic.ask_after(self.frontier)

    async def commit(self, claim: bool = True) -> None:
        """Commit what happened, and take in what comes next."""
        batch = self.frontier.batch(monotonic())
        if not claim:
            batch.demand = None
        answer = await self._in_thread(self.session.committer.commit, batch)
        if answer.lost:
            logger.warning("This worker was taken for dead; it goes on as a new one")
            self.frontier.forget()
            self.frontier.add_samples(*batch.samples)
            await self._in_thread(self.session.renew)
            return
        news = self.frontier.apply_reply(answer, monotonic())
        if priorities := self.learning.hear(answer, news):
            self.frontier.update_priorities(priorities)
        self._wake()

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        """What the work brings; it is done to its end even when nobody waits for it any more."""
        loop, committer = asyncio.get_running_loop(), self.session.committer
        too_late = loop.call_later(committer.timeout_seconds, committer.break_connection)
        working = loop.run_in_executor(self.thread, work, *arguments)
        working.add_done_callback(lambda done: done.cancelled() or done.exception())  # somebody has looked at it
        try:
            return await asyncio.shield(working)
        finally:
            too_late.cancel()

    async def _until_needed(self) -> None:
        await asyncio.sleep(HUNGRY_SECONDS)
        if not self.frontier.needs_batch:
            self._needs_batch.clear()
            try:
                await asyncio.wait_for(self._needs_batch.wait(), COMMIT_SECONDS)
            except TimeoutError:
                return

    def item_dropped(self, item: object, response: Response) -> None:
        """End the lease of an item that a pipeline dropped."""
        self._end(response, item, Code.DROPPED)

    def item_failed(self, item: object, response: Response, failure: Failure) -> None:
        """End the lease of an item that a pipeline failed at, or was not through with in time."""
        self._end(response, item, Code.NEVER_ENDED if isinstance(failure.value, TimeoutError) else Code.CRAWLER_ERROR)

    def page_failed(self, response: Response) -> None:
        """End the lease of an answer that the spider failed at."""
        self._end(response, None, Code.CRAWLER_ERROR)

    def _end(self, response: Response, item: object, code: Code) -> None:
        """End the lease of what is not stored; where a page led is followed all the same."""
        request = response.request if response is not None else None
        # What could not be kept for want of room is asked for again by the next run.
        if request is None or "lease" not in request.meta or self.status.broken:
            return
        result = item.result if isinstance(item, PageItem | ImageItem) else result_of(request)
        outcome = Outcome(code)
        self.leases.finish(lease_of(request), replace(result, outcome=outcome, check=None, response=None))

    def _wake_when_ready(self) -> None:
        """Have the engine ask again when a resting host is ready; its own heartbeat comes every 5 seconds only."""
        seconds = self.frontier.ready_in(monotonic())
        if seconds is not None and not self._waking:
            self._waking = True
            call_later(min(seconds + 0.001, 5.0), self._wake_up)

    def _wake_up(self) -> None:
        self._waking = False
        self._wake()

    def _wake(self) -> None:
        engine = self.crawler.engine
        if engine is not None and engine.spider is not None:
            engine.crawl(NUDGE)
