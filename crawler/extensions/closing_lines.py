"""The closing lines of a crawl: what was crawled, what was left out, where the items are, and how long it took."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import asdict
from time import monotonic
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.arguments import Render
from crawler.build_crawl import Crawl, crawl_of
from crawler.command_line.terminal import byte_size, printable
from crawler.doors import RENDERER_INSTALLATION
from crawler.outcomes import Code, Group, Outcome, Outcomes, ranked
from crawler.reports.saved_bytes import saved_bytes
from crawler.reports.waiting_links import links_behind_images, unlikely_links
from crawler.spiders.crawl_status import EndReason, OutcomeCounts
from crawler.store.batch.crawl_end import WaitingLinkCounts
from crawler.store.batch.rounds import RoundCounts
from crawler.translation.message import N_, Message, first, localized, plural
from crawler.urls.address import address_of
from crawler.urls.patterns import ANY_QUERY

logger = logging.getLogger(__name__)

MOST_EXAMPLES = 10  # addresses or hosts that are named in one line
MOST_SEEDS = 20  # failed seeds that are named, one a line, if all failed
MOST_PATTERNS = 5  # patterns of addresses not requested that are named in one line
NEEDS_LOGIN = frozenset((Outcome(Code.LOGIN_FORM), Outcome(Code.HTTP_STATUS, "401")))
"""Outcomes of seeds that only users with an account may read."""
STOPPED = N_("Stopped before the end.")
REASONS = {
    "closespider_timeout": N_("the time of CLOSESPIDER_TIMEOUT is up"),
    "closespider_timeout_no_item": N_("no item within CLOSESPIDER_TIMEOUT_NO_ITEM"),
    "closespider_pagecount": N_("CLOSESPIDER_PAGECOUNT responses were fetched"),
    "closespider_pagecount_no_item": N_("no item from CLOSESPIDER_PAGECOUNT_NO_ITEM responses"),
    "closespider_itemcount": N_("CLOSESPIDER_ITEMCOUNT items were made"),
    "closespider_errorcount": N_("CLOSESPIDER_ERRORCOUNT errors happened"),
    "memusage_exceeded": N_("more memory was used than MEMUSAGE_LIMIT_MB"),
}
"""Sentences for Scrapy's own reasons to stop early, from its extensions CloseSpider and MemoryUsage."""


class ClosingLines:
    """Prints the result of a crawl on standard error, and in the log file if there is one."""

    def __init__(self, crawler: Crawler, crawl: Crawl) -> None:
        self.crawler = crawler
        self.crawl = crawl
        self.started = monotonic()
        self.reason: str = EndReason.FINISHED

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        closing = cls(crawler, crawl_of(crawler))
        crawler.signals.connect(closing.spider_closed, signals.spider_closed)
        crawler.signals.connect(closing.print_lines, signals.engine_stopped)
        return closing

    def spider_closed(self, reason: str) -> None:
        self.reason = reason

    def print_lines(self) -> None:
        """Print the closing lines, and log them if the log goes to a file."""
        for line in self.lines():
            print(printable(localized(line)), file=sys.stderr)
            if self.crawler.settings["LOG_FILE"]:
                logger.info("%s", line)

    def lines(self) -> list[Message]:
        """The closing lines."""
        crawl = self.crawl
        frontier = crawl.frontier
        status = crawl.status
        statistics = self.crawler.stats.get_stats()  # `LocalWorkers.add_up` has added those of the further workers
        pages = crawl.pages

        # How many pages were crawled.
        lines = [self._result(pages, statistics.get("downloader/response_bytes", 0))]
        total = max(pages, frontier.all_pages)
        if total > pages:
            lines.append(
                plural(
                    "With earlier runs and other workers: {n} page.",
                    "With earlier runs and other workers: {n} pages.",
                    total,
                )
            )
        lines += _rendered(statistics)
        if crawl.rendering is None and crawl.arguments.render is not Render.NEVER:
            lines += _not_rendered(statistics.get("render/missed", 0))
        pages_read_again = statistics.get("extractor_fallback/pages", 0)
        lines += _read_again(pages_read_again, statistics.get("extractor_fallback/failed", 0))

        # What was left out, and what failed.
        links = status.waiting_links or WaitingLinkCounts(0, 0)
        lines += _not_kept(crawl.counts, status.put_off, links.unlikely)
        lines += _still_queued(
            links.requestable(status.queued), links.behind_images, frontier.full, crawl.arguments.fresh
        )
        if crawl.is_fruitless:
            lines.append(Message("Every seed failed:"))
            for seed, outcome in list(status.seeds_failed.items())[:MOST_SEEDS]:
                lines.append(Message("  {url}: {why}", {"url": seed, "why": outcome.message}))
        elif status.seeds_failed:
            lines.append(Message("Seeds that failed: {seeds}.", {"seeds": _failed(status.seeds_failed)}))
        lines += _walled(status.walled)
        lines += _behind_login(status.seeds_failed)
        if Outcome(Code.NOT_PUBLIC) in crawl.counts.outcomes:
            lines.append(
                Message("To crawl hosts without a public address, set -s ALLOWED_PRIVATE_HOSTS=NAME,ADDRESS,NETWORK.")
            )

        # The topic, the round, and where the items and images are.
        lines += _topic(crawl)
        if status.round_counts is not None:
            lines.append(_round(crawl.session.committer.round.number, status.round_counts))
        path = str(crawl.session.pages.path)
        items = crawl.items
        # Items are called new if the file may also have older ones.
        is_new = total != items or status.round_counts is not None
        if is_new:
            lines.append(plural("{n} new item in {path}.", "{n} new items in {path}.", items, path=path))
        else:
            lines.append(plural("{n} item in {path}.", "{n} items in {path}.", items, path=path))
        images_path = ""
        if crawl.arguments.images:
            images_path = str(crawl.session.images.path)
        return lines + _images(statistics, images_path, is_new)

    def _result(self, pages: int, fetched_bytes: int) -> Message:
        """How many pages were crawled and how fast, after the reason if the crawl was stopped."""
        seconds = monotonic() - self.started
        result = plural(
            "{n} page crawled in {seconds} s ({rate} a second), {size} fetched.",
            "{n} pages crawled in {seconds} s ({rate} a second), {size} fetched.",
            pages,
            seconds=f"{seconds:.1f}",
            rate=f"{pages / seconds:.1f}",
            size=byte_size(fetched_bytes),
        )
        if self.reason == EndReason.FINISHED:
            return result
        return Message("{stopped} {rest}", {"stopped": self._why_stopped(), "rest": result})

    def _why_stopped(self) -> Message:
        """Why the crawl was stopped."""
        crawl = self.crawl
        if crawl.status.broken:
            return Message("Stopped: {why}.", {"why": crawl.status.broken})
        if self.reason == EndReason.DASHBOARD:
            return Message("Stopped on the dashboard.")
        if self.reason == EndReason.SHUTDOWN:
            return Message(STOPPED)
        if self.reason == EndReason.HARVEST:
            harvest = crawl.status.exhausted_at or crawl.harvest
            values = {"share": f"{harvest.share_lately:.0%}", "window": f"{harvest.last:,}"}
            values["condition"] = f"stop_when={crawl.arguments.stop_when}"
            why = Message("harvest {share} over the last {window} pages, under {condition}", values)
            return Message("Stopped: {why}.", {"why": why})
        return Message("Stopped: {why}.", {"why": Message(REASONS.get(self.reason, self.reason))})


def _not_kept(counts: OutcomeCounts, put_off: Outcomes, unlikely: int) -> list[Message]:
    """Why addresses brought nothing, and which were not requested."""
    lines = []
    skipped = counts.of(Group.SKIPPED)
    if skipped:
        lines.append(Message("Left out: {reasons}.", {"reasons": ranked(skipped)}))

    # A pattern that ends with any query stands for an endless part of a site.
    endless = Outcomes({pattern: count for pattern, count in put_off.items() if pattern.detail.endswith(ANY_QUERY)})
    count_of_patterns = {
        N_("Not requested, as addresses like these bring nothing ({n}): {patterns}."): put_off - endless,
        N_("Endless parts of sites, no longer requested ({n}): {patterns}."): endless,
    }
    for sentence, count_of_pattern in count_of_patterns.items():
        if count_of_pattern:
            most_frequent = dict(
                sorted(count_of_pattern.items(), key=lambda entry: (-entry[1], entry[0]))[:MOST_PATTERNS]
            )
            values = {"n": f"{count_of_pattern.total():,}", "patterns": ranked(Outcomes(most_frequent))}
            lines.append(Message(sentence, values))

    if unlikely:
        lines.append(unlikely_links(unlikely))
    failed = counts.of(Group.FAILED)
    if failed:
        lines.append(Message("Failed: {reasons}.", {"reasons": ranked(failed)}))
    return lines


def _walled(services: Mapping[str, str]) -> list[Message]:
    """Which hosts are behind walls against robots, and what the user can do.

    >>> print(_walled({"a.example": "Anubis", "b.example": "Cloudflare"})[0])
    Behind walls against robots, which are not evaded: a.example (Anubis), b.example (Cloudflare).
    """
    if not services:
        return []
    named = list(services.items())[:MOST_EXAMPLES]
    hosts = [Message("{host} ({service})", {"host": host, "service": service}) for host, service in named]
    more = len(services) - len(named)
    if more:
        hosts.append(Message("and {n} more", {"n": f"{more:,}"}))
    return [
        Message("Behind walls against robots, which are not evaded: {hosts}.", {"hosts": hosts}),
        Message("Ask these sites for access, use a feed or an API of theirs, or log in if you have an account."),
    ]


def _behind_login(failed_seeds: Mapping[str, Outcome]) -> list[Message]:
    """Which hosts responded to a seed with a login form or 401, and what the user can do.

    >>> print(*_behind_login({"http://a.example/b": Outcome(Code.LOGIN_FORM)}), sep="\\n")
    Behind login forms: a.example.
    If you have an account, send its cookie or token: docs/how-to/login.md shows how.
    """
    hosts = dict.fromkeys(address_of(seed).host for seed, outcome in failed_seeds.items() if outcome in NEEDS_LOGIN)
    if not hosts:
        return []
    return [
        Message("Behind login forms: {hosts}.", {"hosts": first([*hosts], MOST_EXAMPLES)}),
        Message("If you have an account, send its cookie or token: docs/how-to/login.md shows how."),
    ]


def _rendered(counts: Mapping[str, Any]) -> list[Message]:
    """How many pages were rendered in a browser, and how many of them had more text or links afterwards.

    >>> print(*_rendered({"render/pages": 12, "render/gained": 9, "focus/pages": 300}))
    Rendered in a browser: 12 of 300 pages (4%); 9 of them had more text or links afterwards.
    """
    rendered = counts.get("render/pages", 0)
    if not rendered:
        return []
    pages = max(rendered, counts.get("focus/pages", 0))  # some rendered pages are refused before they are scored
    return [
        plural(
            "Rendered in a browser: {rendered} of {n} page ({share}); {gained} of them had more text or links "
            "afterwards.",
            "Rendered in a browser: {rendered} of {n} pages ({share}); {gained} of them had more text or links "
            "afterwards.",
            pages,
            rendered=f"{rendered:,}",
            share=f"{rendered / pages:.0%}",
            gained=f"{counts.get('render/gained', 0):,}",
        )
    ]


def _read_again(read: int, failed: int) -> list[Message]:
    """How many of the pages about whose text the extractor was in doubt the second extractor has read.

    >>> print(*_read_again(9, 1))
    The second extractor read 9 of 10 pages in doubt.
    """
    if not read + failed:
        return []
    return [
        plural(
            "The second extractor read {read} of {n} page in doubt.",
            "The second extractor read {read} of {n} pages in doubt.",
            read + failed,
            read=f"{read:,}",
        )
    ]


def _not_rendered(pages: int) -> list[Message]:
    """How many pages have no text because there is no browser, and how to install one.

    >>> [str(line)[:52] for line in _not_rendered(1_000)], _not_rendered(0)
    (['1,000 pages have no text without their scripts. To r'], [])
    """
    if not pages:
        return []
    return [
        plural(
            "{n} page has no text without its scripts. To read it, install Playwright and a browser ({installation}), "
            "and crawl again with -a refresh=all.",
            "{n} pages have no text without their scripts. To read them, install Playwright and a browser "
            "({installation}), and crawl again with -a refresh=all.",
            pages,
            installation=Message(RENDERER_INSTALLATION),
        )
    ]


def _round(number: int, counts: RoundCounts) -> Message:
    """The pages of a round, counted.

    >>> from crawler.store.batch.rounds import RoundCounts
    >>> str(_round(3, RoundCounts(changed=1, new=5, gone=0, unchanged=2_000, not_modified=98)))
    'Round 3: 1 page changed, 5 new, 0 gone, 2,000 unchanged (98 of them answered 304).'
    """
    values: dict[str, object] = {name: f"{count:,}" for name, count in asdict(counts).items()}
    values["round"] = f"{number:,}"
    # Each part gets a copy of the counts, as it then replaces one of them.
    if counts.noindex:
        values["gone"] = Message("{gone} gone, {noindex} noindex", dict(values))
    else:
        values["gone"] = Message("{gone} gone", dict(values))
    if counts.not_modified:
        values["unchanged"] = Message("{unchanged} unchanged ({not_modified} of them answered 304)", dict(values))
    else:
        values["unchanged"] = Message("{unchanged} unchanged", dict(values))
    return plural(
        "Round {round}: {n} page changed, {new} new, {gone}, {unchanged}.",
        "Round {round}: {n} pages changed, {new} new, {gone}, {unchanged}.",
        counts.changed,
        **values,
    )


def _topic(crawl: Crawl) -> list[Message]:
    """The share of pages on the topic, and which examples of the topic are missing."""
    lines = []
    topic = crawl.topic
    failed = crawl.status.examples_failed
    if failed:
        lines.append(
            Message("Examples of the topic that could not be used: {examples}.", {"examples": _failed(failed)})
        )
    if not topic.examples.has_topic and not crawl.is_fruitless:
        lines.append(Message("The seeds contain no words, so every relevance is 0; set the topic with -a topic=..."))
    elif crawl.harvest.pages:
        lines.append(crawl.harvest.words())
    return lines


def _failed(outcomes: Mapping[str, Outcome]) -> list[Message]:
    """The first failed examples or seeds with their outcomes, and how many others there are.

    >>> print(*_failed({"http://a.example/": Outcome(Code.HTTP_STATUS, "404")}))
    http://a.example/ (404 Not Found)
    """
    failed = list(outcomes.items())
    named = [Message("{url} ({why})", {"url": url, "why": why.message}) for url, why in failed[:MOST_EXAMPLES]]
    more = len(failed) - len(named)
    if more:
        named.append(Message("and {n} more", {"n": f"{more:,}"}))
    return named


def _images(counts: Mapping[str, Any], path: str, is_new: bool = False) -> list[Message]:
    """How many images this run kept, where they are listed, and how much skipping noise saved.

    `path` is empty if no images were requested. If `is_new`, there may be older images, and these are called new.

    >>> print(_images({"images": 1, "images/bytes": 1_000, "image_noise/skipped": 3, "image_noise/links": 1}, "a")[0])
    Images: 1 kept, listed in a; 2 skipped as noise, about 2.0 kB not downloaded (estimated).
    >>> print(_images({"image_noise/skipped": 2}, "a")[0])
    Images: none kept; 2 skipped as noise, bytes saved unknown, as no image was downloaded.
    >>> print(*_images({}, "a", is_new=True))
    New images: none kept.
    """
    lines = []
    links = counts.get("image_noise/links", 0)
    if path:
        kept = counts.get("images", 0)
        size = counts.get("images/bytes", 0)
        figures = Message("none kept")
        if kept:
            figures = Message("{n} kept, listed in {path}", {"n": f"{kept:,}", "path": path})
        skipped = counts.get("image_noise/skipped", 0) - links  # the statistic also counts pages behind noise
        if skipped:
            saved = saved_bytes(skipped, kept, size)
            saved_figure = Message("bytes saved unknown, as no image was downloaded")
            if saved is not None:
                saved_figure = Message("about {size} not downloaded (estimated)", {"size": byte_size(saved)})
            values = {"kept": figures, "n": f"{skipped:,}", "saved": saved_figure}
            figures = Message("{kept}; {n} skipped as noise, {saved}", values)
        if is_new:
            lines.append(Message("New images: {figures}.", {"figures": figures}))
        else:
            lines.append(Message("Images: {figures}.", {"figures": figures}))

    if links:
        lines.append(
            plural(
                "{n} link not followed: behind images that are noise.",
                "{n} links not followed: behind images that are noise.",
                links,
            )
        )

    chosen = counts.get("image_noise/audited", 0)
    if chosen:
        lines.append(
            plural(
                "{chosen} skipped images or links chosen for the audit, {n} image downloaded; winnow noise report "
                "shows the error rate.",
                "{chosen} skipped images or links chosen for the audit, {n} images downloaded; winnow noise report "
                "shows the error rate.",
                counts.get("image_noise/fetched", 0),
                chosen=f"{chosen:,}",
            )
        )
    return lines


def _still_queued(left: int, behind_images: int, full: bool, fresh: bool) -> list[Message]:
    """How many addresses and how many links behind images are still queued, and how to continue the crawl.

    >>> print(*_still_queued(2, 0, full=False, fresh=True))
    2 addresses were still queued when the crawl was stopped; the same command without fresh=yes continues the crawl.
    >>> print(*_still_queued(0, 1_000, full=True, fresh=False))
    1,000 links behind images were not judged yet; a larger max_pages judges them, and follows none behind noise.
    """
    if full:
        why = Message("max_pages was reached")
        command = Message("a larger max_pages")
    else:
        why = Message("the crawl was stopped")
        command = Message("the same command")
    if fresh:
        command = Message("{command} without fresh=yes", {"command": command})

    lines = []
    if left:
        lines.append(
            plural(
                "{n} address was still queued when {why}; {command} continues the crawl.",
                "{n} addresses were still queued when {why}; {command} continues the crawl.",
                left,
                why=why,
                command=command,
            )
        )
    if behind_images:
        lines.append(links_behind_images(behind_images, command))
    return lines
