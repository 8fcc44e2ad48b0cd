"""A crawl never hangs without a word: it says what it waits for."""

import logging
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import create_looping_call

from crawler.crawl import Crawl, crawl_of
from crawler.translation.message import counted, printable
from crawler.urls.parsing import host

logger = logging.getLogger(__name__)

STALL_SECONDS = 30.0  # without any movement, until something is said; less where the limit is low
WORDS = 20  # are said, or more, before something is given up
LOOKS = 4  # in the time until something is said
TROUBLE_SECONDS = 10.0  # between two words about a database in trouble, or less


class StallWatch:
    """Looks now and then whether anything moved."""

    def __init__(self, crawl: Crawl, answers: Callable[[], int], limit: float) -> None:
        self.crawl = crawl
        self.answers = answers
        """How many answers came so far."""
        self.stall = min(STALL_SECONDS, limit / WORDS) if limit else STALL_SECONDS
        self.last = (-1, -1)
        self.every = min(max(self.stall, 0.4), 20.0) / LOOKS
        self.moved = self.said = self.troubled = self.looked = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        def answers() -> int:
            return int(crawler.stats.get_value("downloader/response_count", 0))

        watch = cls(crawl_of(crawler), answers, crawler.settings.getfloat("STALL_LIMIT"))
        crawler.signals.connect(watch.start, signals.spider_opened)
        crawler.signals.connect(watch.stop, signals.engine_stopped)
        return watch

    def start(self) -> None:
        self.moved = self.said = self.looked = monotonic()
        self.loop = create_looping_call(self.look)
        self.loop.start(self.every, now=False)

    def stop(self) -> None:
        if self.loop.running:
            self.loop.stop()

    def look(self) -> None:
        """Say what is waited for if nothing moved for a while."""
        now, frontier = monotonic(), self.crawl.frontier
        gap, self.looked = now - self.looked, now
        if gap > LOOKS * self.every:
            self.sleep(gap)
            return
        moves = frontier.ended, self.answers()
        if moves != self.last:
            self.last, self.moved = moves, now
        self.say(now)

    def sleep(self, gap: float) -> None:
        """Let the time in which this process was stopped count for nothing: nobody could have answered it."""
        self.moved += gap
        self.said += gap

    def say(self, now: float) -> None:
        """Say what is waited for, if it is time to."""
        trouble = self.crawl.session.committer.trouble
        if not self.due(now, trouble):
            return
        self.said = now
        if trouble:
            self.troubled = now
            logger.warning("Waiting: %s", trouble)
        else:
            logger.info("Nothing has moved for %.0f seconds. Waiting for %s", now - self.moved, self.waits_for(now))

    def due(self, now: float, trouble: str) -> bool:
        """Whether something is to be said: of trouble soon."""
        if trouble:
            return now - self.troubled >= min(self.stall, TROUBLE_SECONDS)
        return now - max(self.moved, self.said) >= self.stall

    def waits_for(self, now: float) -> str:
        """What the crawl waits for, in words."""
        frontier = self.crawl.frontier
        hosts = Counter(host(work.lease.candidate.url) for work in frontier.active)
        reasons = [
            f"{printable(name)} ({count} on the way, since {now - self.since(name):.0f} s)"
            for name, count in hosts.most_common(3)
        ]
        if len(hosts) > len(reasons):
            reasons.append(counted(len(hosts) - len(reasons), "more host"))
        if (seconds := frontier.ready_in(now)) is not None:
            reasons.append(f"the next turn of a host that rests, in {seconds:.0f} s")
        if frontier.held_by_others:
            held = counted(frontier.held_by_others, "address", "addresses")
            reasons.append(f"{held} that other workers hold")
        if not reasons and len(frontier):
            waiting = counted(len(frontier), "address", "addresses")
            reasons.append(f"hosts that rest or that another worker asks, with {waiting}")
        return ", ".join(reasons) or "the state to say what comes next"

    def since(self, name: str) -> float:
        """When the longest wait for a host began."""
        out = self.crawl.frontier.active
        return min(work.since for work in out if host(work.lease.candidate.url) == name)
