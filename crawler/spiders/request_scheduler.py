"""Scrapy's scheduler on top of the frontier: it turns leases into requests, and commits results in batches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import monotonic
from typing import Any

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from crawler.build_crawl import NUDGE, Crawl, crawl_of, wake_engine
from crawler.errors import StateError
from crawler.frontier.batch import Batch, Control
from crawler.frontier.page_result import Lease, PageResult
from crawler.items import ImageItem, PageItem
from crawler.outcomes import Code, Outcome
from crawler.page.text import one_line
from crawler.spiders.crawl_status import EndReason, before_last_commit
from crawler.spiders.request_outcomes import REFUSED, lease_of, result_of
from crawler.spiders.topic import TopicSpider
from crawler.store.heartbeats import LEASE_SECONDS
from crawler.workers.local_workers import LocalWorkers

logger = logging.getLogger(__name__)

COMMIT_SECONDS = 0.25  # between two batches, unless the frontier needs one sooner
LEAST_COMMIT_SECONDS = 0.02  # between two batches, at least
EXPIRY_SECONDS = LEASE_SECONDS / 6  # between two checks for workers that have died
MOST_REASON = 100  # characters of the reason that a pipeline gives for dropping an item
LEAST_COUNT_SECONDS = 1.0  # between two counts of the links that wait because they are unlikely to lead to the topic
COUNT_SHARE = 0.02
"""The largest share of the time of all workers that these counts may take."""


class FrontierScheduler(BaseScheduler):
    """Turns the best lease of the frontier into a request, and ends the leases of items that were dropped or failed.

    A request carries its lease in its meta. A retry is a copy of the request, and queues the lease again. The spider
    ends the leases of requests that bring no item, the last pipeline those of items. The commit loop runs in the event
    loop; all work on the database is done in one thread.
    """

    share_seconds = 20.0
    """Seconds after which the topic model is shared with other workers again."""

    def __init__(self, crawler: Crawler, crawl: Crawl, request_for: Callable[[Lease], Request]) -> None:
        self.crawler = crawler
        self.frontier = crawl.frontier
        self.session = crawl.session
        self.leases = crawl.leases
        self.status = crawl.status
        self.topic = crawl.topic
        self.learning = crawl.learning
        self.request_for = request_for
        self.thread = ThreadPoolExecutor(1, "committer")
        self.shared_at = monotonic()
        """When the topic model was last shared."""
        self.next_count_at = monotonic()
        """When the unlikely links are counted next."""
        self.control = ""
        """The command that a user has given the workers of this crawl on the dashboard; empty if there is none."""
        self.workers = LocalWorkers(crawler, crawl)
        self._waking: asyncio.TimerHandle | None = None
        """The timer that wakes the engine when the next host may be requested."""
        self._needs_batch = asyncio.Event()
        """Set when the frontier needs a batch before COMMIT_SECONDS have passed."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BaseScheduler:  # type: ignore[override]
        try:
            crawl = crawl_of(crawler)
        except NotConfigured:  # another spider, or a single page of `scrapy fetch`
            return Scheduler.from_crawler(crawler)
        assert isinstance(crawler.spider, TopicSpider)  # noqa: S101 - no other spider has a crawl
        scheduler = cls(crawler, crawl, crawler.spider.request_for)
        crawler.signals.connect(scheduler.item_dropped, signals.item_dropped)
        crawler.signals.connect(scheduler.item_failed, signals.item_error)
        crawler.signals.connect(scheduler.page_failed, signals.spider_error)
        return scheduler

    def open(self, spider: object) -> None:
        """Start the commit loop and the further workers of this machine."""
        self.committing = asyncio.ensure_future(self.commit_loop())
        self.workers.start()

    def close(self, reason: str) -> Deferred[None]:
        """Stop the further workers, commit what is left, return all leases, and leave the session."""
        return deferred_from_coro(self._close())

    async def _close(self) -> None:
        """Close the crawl, as `close` describes."""
        await self.workers.stop()
        self.session.committer.stopping = True
        self.committing.cancel()
        await asyncio.wait([self.committing])
        self.status.queued = len(self.frontier)  # if the database cannot be read any more
        try:
            if not self.status.broken:
                # First all results; then, in one more batch, what they changed: the topic model, latencies and samples.
                await self.commit(claim=False)
                self.topic.share(self.frontier)
                self.frontier.hosts.latency.is_last = True  # the latencies are reported now, though none are due
                self.crawler.signals.send_catch_log(before_last_commit)
                await self.commit(claim=False)

                # The counts for the closing lines, before the session ends. The addresses of requests that were cut off
                # are queued again, and count.
                self.status.queued = await self._in_thread(self.session.return_leases)
                self.status.round_counts = await self._in_thread(self.session.round_counts)
                self.status.put_off = await self._in_thread(self.session.put_off_counts)
                self.status.waiting_links = await self._in_thread(self.session.count_waiting_links)
                dropped = self.session.committer.priority_updates.dropped
                if dropped:
                    logger.warning("Links with an outdated priority, as too many priorities changed: %d", dropped)
                await self._in_thread(self.session.leave)
        except StateError as error:
            self.status.broken = str(error)
        finally:
            self.workers.add_up()
            self.session.close()
            self.thread.shutdown()

    def has_pending_requests(self) -> bool:
        """Whether the crawl has something left to do, for this worker or another one, now or later."""
        return not self.frontier.over and not self.status.broken

    def enqueue_request(self, request: Request) -> bool:
        """Queue the address of a retried request again; returns whether it was queued.

        If its host refused the request (`REFUSED`), the address waits until the host answers another request.
        """
        if request is NUDGE:  # only wakes the engine; False would be logged as a dropped request
            return True
        if "lease" not in request.meta:
            return False
        is_refused = request.meta.pop(REFUSED, False)
        lease = lease_of(request)
        outcome_of_closed_host = self.frontier.hosts.outcome_if_closed(lease.candidate.url)
        if outcome_of_closed_host is not None:
            self.leases.finish(lease, result_of(request, outcome_of_closed_host))
            return False
        return self.frontier.requeue(lease.id, request, is_refused)

    def next_request(self) -> Request | None:
        """The next request, or None while all hosts with queued addresses are busy or paused."""
        lease = self.frontier.take(monotonic())
        if self.frontier.needs_batch:
            self._needs_batch.set()
        if lease is None:
            self._wake_when_ready()
            return None
        try:
            request: Request = lease.request or self.request_for(lease)
        except Exception:
            # Scrapy would only log it, and a lease that never ends would keep the crawl from ending.
            logger.exception("The request for %s cannot be created", lease.candidate.url)
            self.leases.finish(lease, PageResult(Outcome(Code.CRAWLER_ERROR)))
            self._wake()
            return None
        request.meta["lease"] = lease
        return request

    async def commit_loop(self) -> None:
        """Commit batches until the crawl ends or the database fails."""
        last_expiry = monotonic()
        try:
            while True:
                self._share_if_due()
                await self.commit()
                self._obey()
                await self._count_links()
                if monotonic() - last_expiry > EXPIRY_SECONDS:
                    last_expiry = monotonic()
                    expired_count = await self._in_thread(self.session.committer.expire_silent_workers)
                    if expired_count:
                        logger.warning(
                            "Workers without a heartbeat have expired: %d; the addresses they had leased are "
                            "requested again",
                            expired_count,
                        )
                await self._until_needed()
        except Exception as error:
            if not isinstance(error, StateError):
                logger.exception("Batches cannot be committed")
            self.frontier.release()
            self.status.abort(str(error))

    async def _count_links(self) -> None:
        """Count the links that wait because they are unlikely, at most for `COUNT_SHARE` of the time of all workers."""
        begin = monotonic()
        # Unless the plan limits tries, which are requests for unlikely links, no link waits.
        if not self.session.plan.limits_tries or begin < self.next_count_at:
            return
        await self._in_thread(self.session.count_waiting_links)
        end = monotonic()
        seconds_between = max(LEAST_COUNT_SECONDS, (end - begin) / COUNT_SHARE)
        # Each worker counts: the more there are, the less often each does.
        self.next_count_at = end + seconds_between * self.frontier.limits.workers

    def _obey(self) -> None:
        """Pause, resume or end the crawl, as `control` says."""
        is_paused = self.control is Control.PAUSED
        if is_paused != self.frontier.is_paused:
            self.frontier.is_paused = is_paused
            # A worker that another worker of this machine has started leaves it to that one to log this.
            if self.session.plan.shared_files is None:
                logger.info("Paused on the dashboard" if is_paused else "Resumed on the dashboard")
            self._wake()
        if self.control is Control.STOPPING:
            self.status.end(EndReason.DASHBOARD)

    def _share_if_due(self) -> None:
        """If the topic model is due to be shared, share it, and ask which links are still queued."""
        if monotonic() - self.shared_at >= self.share_seconds:
            self.shared_at = monotonic()
            self.topic.share(self.frontier)
            self.topic.ask_after(self.frontier)

    async def commit(self, claim: bool = True) -> None:
        """Commit a batch and apply its reply; without `claim`, the batch claims no addresses."""
        batch = self.frontier.batch(monotonic())
        if not claim:
            batch.demand = None
        reply = await self._in_thread(self.session.committer.commit, batch)
        if reply.lost:
            await self._continue_without_leases(batch, reply.committed)
            return

        self.control = reply.control
        updates = self.frontier.apply_reply(reply, monotonic())
        priorities = self.learning.apply(reply, updates)
        if self.frontier.over and not self.frontier.full:
            # Before the crawl ends, some of the unlikely links are requested after all: their priorities rise.
            raised_priorities = self.topic.focus.let_unlikely_through()
            priorities |= raised_priorities
            self.frontier.over = not raised_priorities
        if priorities:
            self.frontier.update_priorities(priorities)
        self._wake()

    async def _continue_without_leases(self, batch: Batch, is_committed: bool) -> None:
        """Continue after the reply to a batch was lost, or after this worker expired before its batch was committed.

        In both cases other workers may have taken over its leases.
        """
        if is_committed:
            logger.warning(
                "The connection was lost during a commit; the addresses leased by this worker are requested again"
            )
        else:
            logger.warning("This worker was considered dead; it continues as a new one")
        self.frontier.forget(is_committed)
        if not is_committed:
            self.frontier.add_samples(*batch.samples)  # for the next batch
        await self._in_thread(self.session.rejoin, not is_committed)

    async def _in_thread(self, work: Any, *arguments: Any) -> Any:
        """Do work in the thread, and return its result; the work is finished even if the caller is cancelled.

        The database connection of work that takes longer than the committer's `timeout_seconds` is closed, so that the
        work fails.
        """
        loop = asyncio.get_running_loop()
        committer = self.session.committer
        timeout = loop.call_later(committer.timeout_seconds, committer.break_connection)
        future = loop.run_in_executor(self.thread, work, *arguments)
        # If the caller is cancelled, nobody awaits the future, and asyncio would report an exception as not retrieved.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.shield(future)
        finally:
            timeout.cancel()

    async def _until_needed(self) -> None:
        """Wait until a batch is needed: at least LEAST_COMMIT_SECONDS, and then at most COMMIT_SECONDS more."""
        await asyncio.sleep(LEAST_COMMIT_SECONDS)
        if not self.frontier.needs_batch:
            self._needs_batch.clear()
            try:
                await asyncio.wait_for(self._needs_batch.wait(), COMMIT_SECONDS)
            except TimeoutError:
                return

    def item_dropped(self, item: object, response: Response, exception: Exception) -> None:
        """End the lease of an item that a pipeline dropped."""
        self._end(response, item, Code.DROPPED, one_line(str(exception))[:MOST_REASON] or type(exception).__name__)

    def item_failed(self, item: object, response: Response, failure: Failure) -> None:
        """End the lease of an item on which a pipeline failed or timed out."""
        code = Code.NEVER_ENDED if isinstance(failure.value, TimeoutError) else Code.CRAWLER_ERROR
        self._end(response, item, code)

    def page_failed(self, response: Response) -> None:
        """End the lease of a response on which the spider failed."""
        self._end(response, None, Code.CRAWLER_ERROR)

    def _end(self, response: Response, item: object, code: Code, detail: str = "") -> None:
        """End a lease without storing anything; the links in the result of the item are followed nevertheless."""
        request = response.request if response is not None else None
        # If the database failed, the lease ends with the session, and the next run requests the address again.
        if request is None or "lease" not in request.meta or self.status.broken:
            return
        result = item.result if isinstance(item, PageItem | ImageItem) else result_of(request)
        outcome = Outcome(code, detail)
        self.leases.finish(lease_of(request), replace(result, outcome=outcome, check=None, response=None))

    def _wake_when_ready(self) -> None:
        """Wake the engine when a paused host may be requested; the engine itself checks only every 5 seconds."""
        seconds = self.frontier.queues.ready_in(monotonic())
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        if seconds is not None:
            self._waking = asyncio.get_running_loop().call_later(seconds, self._wake)

    def _wake(self) -> None:
        wake_engine(self.crawler)
