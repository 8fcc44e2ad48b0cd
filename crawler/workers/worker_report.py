"""The report of a further worker to the process that started it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from crawler.topic.stop_rule import HarvestCounts


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The counts of a worker since it began, and the outcomes of the seeds and examples that it requested."""

    pages: int
    """Pages that it stored, or that are stored already and unchanged."""
    items: int
    """Pages that it wrote to the item file: those that are new or changed."""
    harvest: HarvestCounts
    statistics: Mapping[str, int]
    """The statistics that can be summed over workers."""
    seeds_answered: int
    seeds_failed: Mapping[str, str]
    """The outcomes of failed seeds, by address."""
    examples_failed: Mapping[str, str]
    walled: Mapping[str, str]
    """For each host behind a wall, the service that runs the wall."""
    busy: float = 0.0
    """The share of the last seconds in which it computed, or waited for a processor."""

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Self:
        """The report whose values were sent as JSON."""
        return cls(**{**values, "harvest": HarvestCounts(*values["harvest"])})
