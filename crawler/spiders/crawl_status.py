"""How a crawl goes as a whole: the results of its seeds, whether its state can still be kept, and its end."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum

from scrapy.crawler import Crawler

from crawler.outcomes import Outcome
from crawler.store.rounds import RoundCounts


class EndReason(StrEnum):
    """Why a crawl ends before the frontier is empty, beside Scrapy's own reasons."""

    STATE = "state"
    """What it would fetch now could not be kept."""
    HARVEST = "harvest"
    """Too few of the last pages were on the topic."""


@dataclass
class CrawlStatus:
    """The status of one crawl, told by its components and read by those that report it."""

    crawler: Crawler
    broken: str = ""
    """Why nothing more can be kept, in one sentence; empty as long as all is well."""
    seeds_answered: int = 0
    seeds_failed: dict[str, Outcome] = field(default_factory=dict)
    examples_failed: dict[str, Outcome] = field(default_factory=dict)
    """Examples of the topic that taught nothing."""
    tally: RoundCounts | None = None
    """The pages of the round, counted at the end; None in the first, where all are new."""
    _closing: asyncio.Future[None] | None = None

    def abort(self, why: str) -> None:
        """End the crawl, for this reason: what it would fetch now could not be kept."""
        if not self.broken:
            self.broken = why
            self.end(EndReason.STATE)

    def end(self, reason: EndReason) -> None:
        """End the crawl before the frontier is empty, once."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))
