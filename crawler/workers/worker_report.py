"""What one worker has done so far, as it tells the process that started it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from crawler.topic.stop_rule import HarvestCounts

if TYPE_CHECKING:
    from crawler.build_crawl import Crawl

NOT_SUMMED = ("log_count/", "memusage/", "focus/")
"""Statistics that are of one process only, or computed of sums."""

MOST_NAMED = 20
"""Seeds and examples that failed, the first of many."""


class WorkerReport(NamedTuple):
    """The counts of a worker since it began, and what became of the seeds and examples that it requested."""

    pages: int = 0
    items: int = 0
    harvest: HarvestCounts = HarvestCounts()
    statistics: Mapping[str, int] = {}
    """Scrapy's and our own, as far as they are sums."""
    seeds_answered: int = 0
    seeds_failed: Mapping[str, str] = {}
    """Outcomes, by address."""
    examples_failed: Mapping[str, str] = {}

    @classmethod
    def of(cls, crawl: Crawl, statistics: Mapping[str, Any]) -> Self:
        """The report of this worker."""
        status = crawl.status
        return cls(
            crawl.frontier.pages,
            crawl.frontier.items,
            crawl.topic.harvest.counts,
            {name: count for name, count in statistics.items() if type(count) is int and _is_sum(name)},
            status.seeds_answered,
            {url: str(outcome) for url, outcome in islice(status.seeds_failed.items(), MOST_NAMED)},
            {url: str(outcome) for url, outcome in islice(status.examples_failed.items(), MOST_NAMED)},
        )

    @classmethod
    def of_list(cls, values: list[Any]) -> Self:
        """The report whose values were sent as JSON."""
        report = cls(*values)
        return report._replace(harvest=HarvestCounts(*report.harvest))


def _is_sum(name: str) -> bool:
    return not name.startswith(NOT_SUMMED) and not name.endswith("_max")
