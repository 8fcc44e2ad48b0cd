"""Logs what a crawl waits for when there is no progress, and trouble with the database."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from crawler.build_crawl import crawl_of
from crawler.command_line.terminal import printable
from crawler.frontier.frontier import Frontier
from crawler.translation.message import counted
from crawler.urls.address import address_of

logger = logging.getLogger(__name__)

STALL_SECONDS = 30.0
"""Seconds without progress after which a line is logged, and between further lines, unless STALL_LIMIT is low."""
LINES = 20
"""At least this many lines are logged before a request has hung for the seconds of STALL_LIMIT and is given up."""
CHECKS = 4
"""How many times progress is checked in the time after which a line is logged."""
TROUBLE_SECONDS = 10.0
"""The most seconds between two lines about trouble with the database."""


class StallWatch:
    """Checks regularly whether there was any progress, and logs what the crawl waits for if there was none."""

    def __init__(
        self, frontier: Frontier, trouble: Callable[[], str], answers: Callable[[], int], limit: float
    ) -> None:
        self.frontier = frontier
        self.trouble = trouble
        """Returns why the database cannot be written to; an empty string if it can."""
        self.answers = answers
        """Returns how many responses have come so far."""
        self.stall_seconds = STALL_SECONDS
        """Seconds without progress after which a line is logged."""
        if limit:
            self.stall_seconds = min(STALL_SECONDS, limit / LINES)
        self.last_progress = (-1, -1)
        """Ended leases and responses at the last check."""
        self.check_seconds = min(max(self.stall_seconds, 0.4), 20.0) / CHECKS
        """Seconds between two checks, from 0.1 to 5."""
        self.progress_at = 0.0
        self.logged_at = 0.0
        self.trouble_logged_at = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        def answers() -> int:
            responses = "downloader/response_count"
            return int(crawler.stats.get_value(responses, 0)) + crawl.statistic_of_others(responses)

        crawl = crawl_of(crawler)
        committer = crawl.session.committer
        limit = crawler.settings.getfloat("STALL_LIMIT")
        watch = cls(crawl.frontier, lambda: committer.trouble, answers, limit)
        crawler.signals.connect(watch.start, signals.spider_opened)
        crawler.signals.connect(watch.stop, signals.engine_stopped)
        return watch

    def start(self) -> None:
        self.progress_at = self.logged_at = monotonic()
        self.loop = create_looping_call(self.check)
        self.loop.start(self.check_seconds, now=False)

    def stop(self) -> None:
        if self.loop.running:
            self.loop.stop()

    def check(self) -> None:
        """Note whether there was progress, and log a line if one is due."""
        now = monotonic()
        progress = (self.frontier.ended, self.answers())
        if progress != self.last_progress or self.frontier.is_paused:
            self.last_progress = progress
            self.progress_at = now
        self.log_if_due(now)

    def log_if_due(self, now: float) -> None:
        """Log what the crawl waits for, if a line is due."""
        trouble = self.trouble()
        if not self.is_due(now, trouble):
            return
        self.logged_at = now
        if trouble:
            self.trouble_logged_at = now
            logger.warning("Waiting: %s", trouble)
        else:
            logger.info("No progress for %.0f seconds. Waiting for %s", now - self.progress_at, self.waits_for(now))

    def is_due(self, now: float, trouble: str) -> bool:
        """Whether a line is due; lines about trouble with the database come sooner."""
        if trouble:
            return now - self.trouble_logged_at >= min(self.stall_seconds, TROUBLE_SECONDS)
        return now - max(self.progress_at, self.logged_at) >= self.stall_seconds

    def waits_for(self, now: float) -> str:
        """What the crawl waits for, in words."""
        frontier = self.frontier
        hosts = Counter(address_of(work.lease.candidate.url).host for work in frontier.active)
        reasons = [
            f"{printable(name)} ({counted(count, 'request')} sent up to {now - self._oldest_sent_at(name):.0f} s ago)"
            for name, count in hosts.most_common(3)
        ]
        if len(hosts) > len(reasons):
            reasons.append(counted(len(hosts) - len(reasons), "more host"))
        seconds = frontier.queues.ready_in(now)
        if seconds is not None:
            reasons.append(f"a paused host, for {seconds:.0f} s more")
        if frontier.held_by_others:
            held = counted(frontier.held_by_others, "address", "addresses")
            reasons.append(f"{held} leased by other workers")
        if not reasons and len(frontier):
            waiting = counted(len(frontier), "address", "addresses")
            reasons.append(f"hosts that are paused or used by another worker, with {waiting}")
        return ", ".join(reasons) or "the next batch from the database"

    def _oldest_sent_at(self, name: str) -> float:
        """When the oldest active request to a host was sent."""
        active = self.frontier.active
        return min(work.since for work in active if address_of(work.lease.candidate.url).host == name)
