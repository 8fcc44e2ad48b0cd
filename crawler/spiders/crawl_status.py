"""The status of a crawl: request outcomes, the results of its seeds, and whether the crawl is to end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import compress
from typing import TYPE_CHECKING, TypeVar

from scrapy.crawler import Crawler

from crawler.frontier.seen_addresses import SeenAddresses
from crawler.outcomes import Code, Group, Outcome, Outcomes, of_group
from crawler.topic.stop_rule import HarvestCounts

if TYPE_CHECKING:
    from crawler.store.batch.crawl_end import WaitingLinkCounts
    from crawler.store.batch.rounds import RoundCounts

T = TypeVar("T")

MOST_OUTCOMES = 100
"""The most outcomes of a group that are counted individually: a server may invent a media type for each page."""
MOST_WALLED = 1_000
"""The most hosts that are remembered as behind a wall. A wall is a page that a service, such as a bot check, shows to
robots instead of the real pages.
"""
MOST_REMEMBERED = 200_000
"""How many unfollowed addresses are remembered, so that each is counted only once."""
OTHERS = {
    Group.SKIPPED: Outcome(Code.OTHER_REASONS),
    Group.FAILED: Outcome(Code.OTHER_FAILURES),
    Group.PUT_OFF: Outcome(Code.UNPRODUCTIVE),  # its detail is a pattern of addresses; without one, all other patterns
}
"""The outcome under which outcomes of a group beyond `MOST_OUTCOMES` are counted together. The other groups always have
few different outcomes.
"""


class OutcomeCounts:
    """Counts outcomes, and each address that is not followed once."""

    def __init__(self, count_statistic: Callable[[str, int], None]) -> None:
        self.outcomes = Outcomes()
        self.nofollowed = SeenAddresses(MOST_REMEMBERED)
        """Addresses that links with nofollow lead to; other links to them may be followed."""
        self.left_out = SeenAddresses(MOST_REMEMBERED)
        """Addresses to which no link is followed."""
        self._count_statistic = count_statistic

    def of(self, group: Group) -> Outcomes:
        """The counts of one group."""
        return of_group(self.outcomes, group)

    def among_left_out(self, urls: Sequence[str]) -> set[str]:
        """The addresses among these that were already counted as not followed."""
        # A single expression that runs in C, because it is called with most links of each page.
        return set(compress(urls, map(self.left_out.__contains__, map(hash, urls))))

    def leave_out(self, url: str, outcome: Outcome) -> None:
        """Count an address that is not followed, once for all links to it."""
        if self.left_out.add(hash(url)):
            self.count(outcome)

    def mark_nofollow(self, url: str) -> None:
        """Count a link with nofollow, once for each address; another page may link to the address without nofollow."""
        if self.nofollowed.add(hash(url)):
            self.count(Outcome(Code.NOFOLLOW))

    def count(self, outcome: Outcome, by: int = 1) -> None:
        """Count an outcome `by` times; outcomes of a group beyond `MOST_OUTCOMES` are counted together."""
        if not by:
            return
        if outcome not in self.outcomes and len(self.of(outcome.code.group)) >= MOST_OUTCOMES:
            outcome = OTHERS[outcome.code.group]
        self.outcomes[outcome] += by
        self._count_statistic(outcome.key, by)


ENDING_CHECK_SECONDS = 0.25
"""Time between two checks whether the crawl is ending."""


class EndingError(Exception):
    """The crawl ended before a page was read. Its lease ends with the session, and the next run requests it again."""


before_last_commit = object()
"""The signal that the scheduler sends when all results are committed. What its receivers add is in the last batch."""


class EndReason(StrEnum):
    """Why a crawl ends. Scrapy has further reasons of its own."""

    FINISHED = "finished"
    """Nothing is left to do. Scrapy gives this reason."""
    SHUTDOWN = "shutdown"
    """A signal stopped it. Scrapy gives this reason."""
    STORE_FAILED = "state"  # as in Scrapy's statistic `finish_reason`
    """Pages can no longer be stored."""
    HARVEST = "harvest"
    """Too few of the last pages were on the topic."""
    DASHBOARD = "dashboard"
    """Somebody stopped it on the dashboard."""


@dataclass
class CrawlStatus:
    """The status of one crawl: the parts of the crawl set it, and its reports read it."""

    crawler: Crawler
    broken: str = ""
    """Why pages can no longer be stored, in one sentence; empty if they can."""
    seeds_answered: int = 0
    """How many seeds were read."""
    seeds_failed: dict[str, Outcome] = field(default_factory=dict)
    """Seeds that could not be read, with the outcomes."""
    examples_failed: dict[str, Outcome] = field(default_factory=dict)
    """Examples of the topic that could not be read, with the outcomes."""
    walled: dict[str, str] = field(default_factory=dict)
    """The service that puts a wall in front of each host, for the first `MOST_WALLED` hosts."""
    round_counts: RoundCounts | None = None
    """Counts of the pages of the round, at the end; None in the first round, where all are new."""
    queued: int = 0
    """How many addresses are queued at the end."""
    waiting_links: WaitingLinkCounts | None = None
    """How many links wait at the end: links unlikely to lead to the topic, and links that are only an image."""
    put_off: Outcomes = field(default_factory=Outcomes)
    """How many addresses are not requested because addresses of the same pattern brought nothing, at the end: one
    outcome for each pattern.
    """
    exhausted_at: HarvestCounts | None = None
    """The harvest that was so low that the crawl ended; None if the crawl ended for another reason."""
    _closing: asyncio.Future[None] | None = None
    """Closes the spider; None until `end` is called."""

    def note_wall(self, host: str, service: str) -> None:
        """Remember that a host is behind a wall against robots."""
        if len(self.walled) < MOST_WALLED:
            self.walled.setdefault(host, service)

    def abort(self, why: str) -> None:
        """End the crawl because pages can no longer be stored, for this reason."""
        if not self.broken:
            self.broken = why
            self.end(EndReason.STORE_FAILED)

    def end(self, reason: str) -> None:
        """End the crawl before the frontier is empty, once."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))

    @property
    def is_ending(self) -> bool:
        """Whether the crawl is ending, so that no further request is sent."""
        slot = self.crawler.engine._slot
        return slot is None or slot.closing is not None

    async def unless_ending(self, work: Coroutine[None, None, T]) -> T:
        """The result of work that may take long; cancels it and raises an EndingError if the crawl ends first."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await asyncio.wait((task,), timeout=ENDING_CHECK_SECONDS)
            if not task.done() and self.is_ending:
                task.cancel()
                await asyncio.wait((task,))
                raise EndingError
        return task.result()
