"""What one worker has done so far, as it tells the process that started it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from crawler.topic.stop_rule import HarvestCounts


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The counts of a worker since it began, and what became of the seeds and examples that it requested."""

    pages: int
    items: int
    harvest: HarvestCounts
    statistics: Mapping[str, int]
    """Scrapy's and our own, as far as they are sums."""
    seeds_answered: int
    seeds_failed: Mapping[str, str]
    """Outcomes, by address."""
    examples_failed: Mapping[str, str]
    walled: Mapping[str, str]
    """Services that put walls in front of hosts, by host."""
    busy: float = 0.0
    """The share of the last seconds in which it computed, or waited for a processor."""

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Self:
        """The report whose values were sent as JSON."""
        return cls(**{**values, "harvest": HarvestCounts(*values["harvest"])})
