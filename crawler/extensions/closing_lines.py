"""The closing lines: in words, what was crawled, what was left out, where the items are, how long it took."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from rich.filesize import decimal
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.crawl import Crawl, crawl_of
from crawler.outcomes import Code, Group, Outcome
from crawler.reports.noise_figures import saved_bytes
from crawler.spiders.crawl_status import EndReason
from crawler.translation.message import counted, printable
from crawler.translation.outcome_messages import message, ranked

if TYPE_CHECKING:
    from crawler.store.rounds import RoundCounts

logger = logging.getLogger(__name__)

MOST_EXAMPLES = 10  # that failed and are named
REASONS = {"finished": "", "shutdown": "Stopped before the end. "}
"""Scrapy's own reasons to end, in words."""


class ClosingLines:
    """Says at the end how the crawl went, on standard error and in the log file if there is one."""

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self.crawler, self.crawl = crawler, crawl
        self.started = monotonic()
        self.reason = "finished"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        closing = cls(crawler, crawl_of(crawler))
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
        crawl, frontier, status = self.crawl, self.crawl.frontier, self.crawl.status
        counts = self.crawler.stats.get_stats()
        seconds, pages = monotonic() - self.started, frontier.pages
        stopped = REASONS.get(self.reason, f"Stopped: {_reason(crawl, self.reason)}. ")
        fetched = decimal(counts.get("downloader/response_bytes", 0))
        rate = f"{seconds:.1f} s ({pages / seconds:.1f} a second)"
        said = [f"{stopped}{counted(pages, 'page')} crawled in {rate}, {fetched} fetched."]
        total = max(pages, frontier.all_pages)
        if total > pages:
            said.append(f"With earlier runs and other workers: {counted(total, 'page')}.")
        for group, words in ((Group.SKIPPED, "Left out"), (Group.FAILED, "Failed")):
            if found := crawl.counts.of(group):
                said.append(f"{words}: {ranked(found)}.")
        if left := len(frontier):
            said.append(_rest(left, frontier.full, crawl.arguments.fresh))
        if crawl.is_fruitless:
            said += [
                "Every seed failed:",
                *(f"  {seed}: {message(outcome)}" for seed, outcome in list(status.seeds_failed.items())[:20]),
            ]
        if Outcome(Code.NOT_PUBLIC) in crawl.counts.outcomes:
            said.append("Hosts without a public address are opened by -s ALLOWED_PRIVATE_HOSTS=NAME,ADDRESS,NETWORK.")
        said += _topic(crawl)
        if status.round_counts is not None:
            said.append(_round(crawl.session.committer.round.number, status.round_counts))
        where, items = crawl.session.pages.path, frontier.items
        new = "" if total == items and status.round_counts is None else "new "
        said.append(f"{counted(items, f'{new}item')} in {where}.")
        return said + _pictures(counts, str(crawl.session.images.path) if crawl.arguments.images else "", new)


def _round(number: int, tally: RoundCounts) -> str:
    """The pages of a round, counted.

    >>> _round(3, RoundCounts(changed=1, new=5, gone=0, unchanged=2_000, not_modified=98))
    'Round 3: 1 page changed, 5 new, 0 gone, 2,000 unchanged (98 of them answered 304).'
    """
    same = f" ({tally.not_modified:,} of them answered 304)" if tally.not_modified else ""
    said = f"Round {number:,}: {counted(tally.changed, 'page')} changed, {tally.new:,} new, {tally.gone:,} gone"
    return f"{said}, {tally.unchanged:,} unchanged{same}."


def _reason(crawl: Crawl, reason: str) -> str:
    """Why the crawl ended before its end."""
    if crawl.status.broken:
        return crawl.status.broken
    if reason == EndReason.HARVEST:
        share, window = crawl.topic.exhausted_at or 0.0, crawl.topic.harvest.window
        return f"harvest {share:.0%} over the last {window:,} pages, under stop_when={crawl.arguments.stop_when}"
    return reason


def _topic(crawl: Crawl) -> list[str]:
    """Which share of the pages was on the topic, and what of the topic is not known."""
    said, topic = [], crawl.topic
    if crawl.status.examples_failed:
        said.append(f"Examples of the topic that taught nothing: {_failed(crawl.status.examples_failed)}.")
    if not topic.examples.say_something:
        said.append("The seeds hold no words, so every relevance is 0; -a topic=... says what the crawl is about.")
    elif topic.harvest.pages:
        said.append(topic.harvest.words())
    return said


def _failed(examples: Mapping[str, Outcome]) -> str:
    """Examples that failed and why, the first of many.

    >>> _failed({"http://a.example/": Outcome(Code.HTTP_STATUS, "404")})
    'http://a.example/ (404 Not Found)'
    """
    named = [f"{url} ({message(outcome)})" for url, outcome in list(examples.items())[:MOST_EXAMPLES]]
    more = len(examples) - len(named)
    return ", ".join([*named, *([f"and {more:,} more"] if more else [])])


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
    if chosen := counts.get("image_noise/audited", 0):
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
