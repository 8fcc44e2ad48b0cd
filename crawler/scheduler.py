"""Scrapy's scheduler over the frontier: addresses come out as requests, and what came of them goes into the ledger."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import call_later
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from crawler.conditional import NOT_MODIFIED, conditions
from crawler.middlewares.backoff import BEHIND
from crawler.spiders.topic import spider_of
from crawler.state.database import StateError
from crawler.state.entries import Lent
from crawler.state.workers import LEASE

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 0.25  # between two batches, unless the frontier runs low
HUNGRY_SECONDS = 0.02

last_words = object()
"""The signal that all which a crawl did is committed, and that what is still to be told goes with the last batch."""


class FrontierScheduler(BaseScheduler):
    """Hands out the frontier's best address as a request, and ends its lease when nothing more can come of it.

    A request carries its candidate and lease in its meta. Retries and redirects are copies of it, so they give the
    lease back; the spider ends the lease of a request that brings no page; an item that left the pipeline, whichever
    way, ends the others. A thread of its own commits what happened, a batch at a time.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.spider = spider_of(crawler)
        self.frontier, self.seat = self.spider.frontier, self.spider.seat
        self.thread = ThreadPoolExecutor(1, "ledger")
        self._waking = False
        self._hungry = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler.page_dropped, signals.item_dropped)
        crawler.signals.connect(scheduler.page_failed, signals.item_error)
        crawler.signals.connect(scheduler.page_failed, signals.spider_error)
        return scheduler

    def open(self, spider: object) -> None:
        """Begin to commit."""
        self.books = asyncio.ensure_future(self.keep_books())

    def close(self, reason: str) -> Deferred[None]:
        """Commit what is left, give back what is held, and leave the seat."""
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        self.seat.ledger.stopping = True
        self.books.cancel()
        await asyncio.wait([self.books])
        try:
            if not self.spider.broken:
                await self.commit(claim=False)
                self.spider.focusing.tell(self.frontier)
                self.crawler.signals.send_catch_log(last_words)
                await self.commit(claim=False)
                self.spider.tally = await self._in_thread(self.seat.tally)
                if dropped := self.seat.ledger.prices.dropped:
                    logger.warning("Links that keep an older priority, as too many had new ones: %d", dropped)
                await self._in_thread(self.seat.leave)
        except StateError as error:
            self.spider.broken = str(error)
        finally:
            self.seat.close()
            self.thread.shutdown()

    def has_pending_requests(self) -> bool:
        """Whether this worker or another has something to do, now or later."""
        return not self.frontier.over and not self.spider.broken

    def enqueue_request(self, request: Request) -> bool:
        """Let a copy of a request on its way wait for its turn again."""
        lease = request.meta.get("lease")
        behind = request.meta.pop(BEHIND, False)
        return lease is not None and self.frontier.give_back(lease, request, behind)

    def next_request(self) -> Request | None:
        """The next request, or None while every host with something to ask for is busy or resting."""
        lent = self.frontier.take(monotonic())
        if self.frontier.hungry:
            self._hungry.set()
        if lent is None:
            self._wake_when_ready()
            return None
        request: Request = lent.load or self._request(lent)
        request.meta.update(candidate=lent.candidate, lease=lent.lease)
        return request

    def _request(self, lent: Lent) -> Request:
        url, failed = lent.candidate.url, self.spider.failed
        if lent.candidate.kind == "image":
            meta = {"download_maxsize": self.spider.pictures.largest}
            return Request(url, self.spider.parse_image, errback=failed, dont_filter=True, meta=meta)
        asked = conditions(lent.known, self.spider.comparison.version)
        known = {"handle_httpstatus_list": [NOT_MODIFIED]} if asked else {}
        return Request(url, self.spider.parse, errback=failed, dont_filter=True, headers=asked, meta=known)

    async def keep_books(self) -> None:
        """Commit a batch now and then, until the crawl ends or the state is broken."""
        buried = monotonic()
        try:
            while True:
                await self.commit()
                if monotonic() - buried > LEASE / 6:
                    buried = monotonic()
                    if dead := await self._in_thread(self.seat.ledger.bury_dead):
                        logger.warning("Workers that gave no sign of life: %d; what they held is asked for again", dead)
                await self._until_hungry()
        except Exception as error:
            if not isinstance(error, StateError):
                logger.exception("The state cannot be kept")
            self.frontier.release()
            self.spider.give_up(str(error))

    async def commit(self, claim: bool = True) -> None:
        """Commit what happened, and take in what comes next."""
        batch = self.frontier.batch(monotonic())
        if not claim:
            batch.demand = None
        answer = await self._in_thread(self.seat.ledger.commit, batch)
        if answer.lost:
            logger.warning("This worker was taken for dead; it goes on as a new one")
            self.frontier.forget()
            self.frontier.sampled(*batch.samples)
            await self._in_thread(self.seat.renew)
            return
        self.frontier.absorb(answer, monotonic())
        self.spider.learn()
        self._wake()

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        """What the work brings; it is done to its end even when nobody waits for it any more."""
        loop, ledger = asyncio.get_running_loop(), self.seat.ledger
        too_late = loop.call_later(ledger.answers_within, ledger.hang_up)
        working = loop.run_in_executor(self.thread, work, *arguments)
        working.add_done_callback(lambda done: done.cancelled() or done.exception())  # somebody has looked at it
        try:
            return await asyncio.shield(working)
        finally:
            too_late.cancel()

    async def _until_hungry(self) -> None:
        await asyncio.sleep(HUNGRY_SECONDS)
        if not self.frontier.hungry:
            self._hungry.clear()
            try:
                await asyncio.wait_for(self._hungry.wait(), COMMIT_SECONDS)
            except TimeoutError:
                return

    def page_dropped(self, response: Response) -> None:
        self._end(response, "skipped/dropped")

    def page_failed(self, response: Response) -> None:
        why = "failed/error in the crawler, see the log"
        self.crawler.stats.inc_value(why)
        self._end(response, why)

    def _end(self, response: Response, why: str) -> None:
        # What could not be kept for want of room is asked for again by the next run.
        if response is not None and response.request is not None and not self.spider.broken:
            self.frontier.end(response.request.meta.get("lease", 0), why)

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
        slot = engine._slot if engine is not None else None
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()
