"""The closing lines: in words, what was crawled, what was left out, where the items are, how long it took."""

import logging
import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any, Self

from rich.filesize import decimal
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.spiders.topic import spider_of
from crawler.wording import counted, printable, reason_words

logger = logging.getLogger(__name__)

REASONS = {"finished": "", "shutdown": "Stopped before the end. "}


class ClosingLines:
    """Says at the end how the crawl went, on standard error and in the log file if there is one."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.started = monotonic()
        self.reason = "finished"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        closing = cls(crawler)
        crawler.signals.connect(closing.spider_closed, signals.spider_closed)
        crawler.signals.connect(closing.say, signals.engine_stopped)
        return closing

    def spider_closed(self, reason: str) -> None:
        self.reason = reason

    def say(self) -> None:
        for line in self.lines():
            print(printable(line), file=sys.stderr)
            if self.crawler.settings["LOG_FILE"]:
                logger.info(line)

    def lines(self) -> list[str]:
        """The closing lines."""
        spider = spider_of(self.crawler)
        refused = spider.frontier.refused
        counts = self.crawler.stats.get_stats() | {f"skipped/{why}": count for why, count in refused.items()}
        seconds, pages = monotonic() - self.started, spider.frontier.pages
        if spider.broken:
            self.reason = spider.broken
        stopped = REASONS.get(self.reason, f"Stopped: {self.reason}. ")
        fetched = decimal(counts.get("downloader/response_bytes", 0))
        rate = f"{seconds:.1f} s ({pages / seconds:.1f} a second)"
        said = [f"{stopped}{counted(pages, 'page')} crawled in {rate}, {fetched} fetched."]
        total = max(pages, spider.frontier.all_pages)
        if total > pages:
            said.append(f"With earlier runs and other workers: {counted(total, 'page')}.")
        for group, words in (("skipped", "Left out"), ("failed", "Failed")):
            if found := _counted(counts, group):
                said.append(f"{words}: {found}.")
        if left := len(spider.frontier):
            why = "max_pages was reached" if spider.frontier.full else "the crawl was stopped"
            said.append(
                f"{counted(left, 'address', 'addresses')} still waited when {why}; the same command goes on there."
            )
        if spider.seeds_failed and not spider.seeds_answered:
            said += [
                "Every seed failed:",
                *(f"  {seed}: {reason_words(why)}" for seed, why in list(spider.seeds_failed.items())[:20]),
            ]
        if "skipped/address is not public" in counts:
            said.append("Hosts without a public address are opened by -s ALLOWED_PRIVATE_HOSTS=NAME,ADDRESS,NETWORK.")
        where = spider.seat.pages.path
        if not spider.topic.weights:
            said.append("The seeds hold no words, so every relevance is 0; -a topic=... says what the crawl is about.")
        said.append(f"{counted(pages, 'item' if total == pages else 'new item')} in {where}.")
        if spider.arguments.images:
            pictures = counts.get("images", 0)
            said.append(f"{counted(pictures, 'picture')} listed in {spider.seat.images.path}.")
        return said


def _counted(counts: Mapping[str, Any], group: str) -> str:
    """What was counted in a group, the most frequent first."""
    found = {key.partition("/")[2]: n for key, n in counts.items() if key.startswith(f"{group}/")}
    return ", ".join(f"{reason_words(why)} ({n:,})" for why, n in sorted(found.items(), key=lambda entry: -entry[1]))
