"""The closing lines: in words, what was crawled, what was left out, where the items are, how long it took."""

import logging
import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any, Self

from rich.filesize import decimal
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.spiders.topic import TopicSpider, spider_of
from crawler.state.rounds import Tally
from crawler.state.verdicts import saved_bytes
from crawler.wording import counted, printable, ranked_reasons, reason_words

logger = logging.getLogger(__name__)

MOST_REASONS = 10  # that are named, of those something was left out for
MOST_EXAMPLES = 10  # that failed and are named
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
            said.append(_rest(left, spider.frontier.full, spider.arguments.fresh))
        if spider.fruitless:
            said += [
                "Every seed failed:",
                *(f"  {seed}: {reason_words(why)}" for seed, why in list(spider.seeds_failed.items())[:20]),
            ]
        if "skipped/address is not public" in counts:
            said.append("Hosts without a public address are opened by -s ALLOWED_PRIVATE_HOSTS=NAME,ADDRESS,NETWORK.")
        said += _focus(spider)
        if spider.tally is not None:
            said.append(_round(spider.seat.ledger.round.number, spider.tally))
        where, items = spider.seat.pages.path, spider.frontier.items
        new = "" if total == items and spider.tally is None else "new "
        said.append(f"{counted(items, f'{new}item')} in {where}.")
        return said + _pictures(counts, str(spider.seat.images.path) if spider.arguments.images else "", new)


def _round(number: int, tally: Tally) -> str:
    """What became of the pages of a round.

    >>> _round(3, Tally(changed=1, new=5, gone=0, unchanged=2_000, not_modified=98))
    'Round 3: 1 page changed, 5 new, 0 gone, 2,000 unchanged (98 of them answered 304).'
    """
    same = f" ({tally.not_modified:,} of them answered 304)" if tally.not_modified else ""
    said = f"Round {number:,}: {counted(tally.changed, 'page')} changed, {tally.new:,} new, {tally.gone:,} gone"
    return f"{said}, {tally.unchanged:,} unchanged{same}."


def _focus(spider: TopicSpider) -> list[str]:
    """Which share of the pages was on the topic, and what of the topic is not known."""
    said, examples = [], spider.examples
    if examples.failed:
        said.append(f"Examples of the topic that taught nothing: {_failed(examples.failed)}.")
    if not examples.say_something:
        said.append("The seeds hold no words, so every relevance is 0; -a topic=... says what the crawl is about.")
    elif spider.harvest.pages:
        said.append(spider.harvest.words())
    return said


def _failed(examples: Mapping[str, str]) -> str:
    """Examples that failed and why, the first of many.

    >>> _failed({"http://a.example/": "404 Not Found"})
    'http://a.example/ (404 Not Found)'
    """
    named = [f"{url} ({reason_words(why)})" for url, why in list(examples.items())[:MOST_EXAMPLES]]
    more = len(examples) - len(named)
    return ", ".join([*named, *([f"and {more:,} more"] if more else [])])


def _counted(counts: Mapping[str, Any], group: str) -> str:
    """What was counted in a group, the most frequent first."""
    found = {key.partition("/")[2]: n for key, n in counts.items() if key.startswith(f"{group}/")}
    return ranked_reasons(found, MOST_REASONS)


def _pictures(counts: Mapping[str, Any], path: str, new: str = "") -> list[str]:
    """How many pictures this run kept, where they are listed if they were wanted, what it saved to skip the others.

    >>> _pictures({"images": 1, "images/bytes": 1_000, "image_noise/skipped": 3, "image_noise/links": 1}, "a")[0]
    'Pictures: 1 kept, listed in a; 2 skipped as noise, about 2.0 kB not downloaded (estimated).'
    >>> _pictures({"image_noise/skipped": 2}, "a")[0]
    'Pictures: none kept; 2 skipped as noise, bytes saved unknown, as nothing was downloaded.'
    >>> _pictures({}, "a", new="new ")
    ['New pictures: none kept.']
    """
    lines, links = [], counts.get("image_noise/links", 0)
    if path:
        kept, size = counts.get("images", 0), counts.get("images/bytes", 0)
        said = f"{new}pictures: ".capitalize() + (f"{kept:,} kept, listed in {path}" if kept else "none kept")
        if skipped := counts.get("image_noise/skipped", 0) - links:
            saved, unknown = saved_bytes(skipped, kept, size), "bytes saved unknown, as nothing was downloaded"
            known = unknown if saved is None else f"about {decimal(saved)} not downloaded (estimated)"
            said += f"; {skipped:,} skipped as noise, {known}"
        lines.append(f"{said}.")
    if links:
        lines.append(f"{counted(links, 'link')} not followed: behind pictures that are noise.")
    if chosen := counts.get("image_noise/chosen", 0):
        fetched = f"{counted(counts.get('image_noise/fetched', 0), 'picture')} downloaded"
        said = f"{chosen:,} of the noise chosen to be fetched all the same, {fetched}"
        lines.append(f"{said}; scrapy noise report has the error rate.")
    return lines


def _rest(left: int, full: bool, fresh: bool) -> str:
    """That addresses still wait, and how the crawl goes on there.

    >>> _rest(2, full=False, fresh=True)
    '2 addresses still waited when the crawl was stopped; the same command without fresh=yes goes on there.'
    """
    why = "max_pages was reached" if full else "the crawl was stopped"
    how = "a larger max_pages" if full else "the same command"
    without = " without fresh=yes" if fresh else ""
    return f"{counted(left, 'address', 'addresses')} still waited when {why}; {how}{without} goes on there."
