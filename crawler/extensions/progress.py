"""Shows progress: a live bar on a terminal, elsewhere a line in the log at intervals."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from crawler.build_crawl import Crawl, crawl_of
from crawler.command_line.terminal import REFRESH_SECONDS, byte_size, spell_out_log
from crawler.outcomes import Group
from crawler.translation.message import Message, first, localized, plural

if TYPE_CHECKING:
    from crawler.extensions.progress_bar import ProgressBar

logger = logging.getLogger(__name__)
DEFAULT_INTERVAL = 10.0
"""Seconds between two lines in the log if LOGSTATS_INTERVAL is 0, which switches off only Scrapy's own lines."""
MOST_HOSTS = 3
"""The most hosts that are named when only images are left to request."""


class CrawlProgress:
    """Starts and stops the bar or the log lines with the spider."""

    def __init__(self, crawl: Crawl, statistic: Callable[..., Any], interval: float) -> None:
        self.crawl = crawl
        self.frontier = crawl.frontier
        self._statistic = statistic
        """Returns a statistic of this worker by its name, or the default that is its second argument."""
        self.interval = interval
        """Seconds between two lines in the log."""
        self.bar: ProgressBar | None = None
        self._rate_at = 0.0
        """When the rate was last computed."""
        self._pages_at_rate = 0
        """How many pages were done then."""
        self.rate = 0.0
        """Pages per second."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        crawl = crawl_of(crawler)
        interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        progress = cls(crawl, crawler.stats.get_value, interval)
        crawler.signals.connect(progress.start, signals.spider_opened)
        crawler.signals.connect(progress.stop, signals.spider_closed)
        return progress

    def start(self) -> None:
        spell_out_log()  # the log goes to the terminal, and texts of the web may have control characters
        self.started = monotonic()
        self._rate_at = self.started
        if sys.stderr.isatty():
            self.show_bar()
            self.loop = create_looping_call(self.draw)
            self.loop.start(REFRESH_SECONDS)
        else:
            self.loop = create_looping_call(self.log)
            self.loop.start(self.interval or DEFAULT_INTERVAL, now=False)

    def stop(self) -> None:
        if self.loop.running:
            self.loop.stop()
        if self.bar is not None:
            self.bar.stop()

    def show_bar(self) -> None:
        """Draw the bar, and send the log through it."""
        from crawler.extensions.progress_bar import ProgressBar  # imports rich, which only a terminal needs

        self.bar = ProgressBar()
        self.bar.start()

    def draw(self) -> None:
        if self.bar is not None:
            done = self.frontier.all_pages
            # One more than known, so that the bar is not full while the last page is read.
            total = self.frontier.max_pages or done + len(self.frontier) - self.frontier.unlikely + 1
            self.bar.draw(localized(self.words()), done, total)

    def log(self) -> None:
        logger.info("%s", localized(self.words()))

    def statistic(self, name: str) -> int:
        """A statistic, summed over this worker and those that it has started."""
        return int(self._statistic(name, 0)) + self.crawl.statistic_of_others(name)

    def _outcomes(self, group: Group) -> int:
        """How many outcomes of a group these workers counted."""
        return self.crawl.counts.of(group).total() + self.crawl.outcomes_of_others(group)

    def _update_rate(self, pages: int) -> None:
        """Compute the rate since the last time; at most once a second for the bar, which is drawn more often."""
        now = monotonic()
        seconds = now - self._rate_at
        if seconds >= 1.0 or self.bar is None:
            self.rate = (pages - self._pages_at_rate) / max(seconds, 0.001)
            self._rate_at = now
            self._pages_at_rate = pages

    def _queued(self) -> Message:
        """How many addresses are queued, and how many of them wait as they are unlikely to lead to the topic."""
        values = {"n": str(len(self.frontier)), "unlikely": str(self.frontier.unlikely)}
        if self.frontier.unlikely:
            return Message("{n} queued, {unlikely} of them unlikely", values)
        return Message("{n} queued", values)

    def words(self) -> Message:
        """The progress in words: pages, queued addresses, the rate, bytes, and what was skipped or failed."""
        crawl = self.crawl
        harvest = crawl.harvest
        pages = crawl.pages
        self._update_rate(pages)
        words = plural(
            "{pages} page done, {queued}, {rate} pages/s, {size}, {skipped} skipped, {failed} failed",
            "{pages} pages done, {queued}, {rate} pages/s, {size}, {skipped} skipped, {failed} failed",
            pages,
            pages=pages,
            queued=self._queued(),
            rate=f"{self.rate:.1f}",
            size=byte_size(self.statistic("downloader/response_bytes")),
            skipped=self._outcomes(Group.SKIPPED),
            failed=self._outcomes(Group.FAILED),
        )

        images_left = self.frontier.images_left()
        if images_left:
            values = {"counts": words, "n": f"{len(self.frontier):,}", "hosts": first([*images_left], MOST_HOSTS)}
            words = Message("{counts}; all pages are done, {n} images left, of {hosts}", values)
        if self.frontier.is_paused:
            words = Message("{counts}, paused on the dashboard", {"counts": words})

        if crawl.topic.examples.has_topic and harvest.pages:
            words = Message("{counts}, harvest {share}", {"counts": words, "share": f"{harvest.share:.0%}"})
        images = self.statistic("images")
        noise = self.statistic("image_noise/skipped")
        if images or noise:
            values = {"counts": words, "images": images, "noise": noise}
            words = Message("{counts}, {images} images kept, {noise} noise", values)
        return words
