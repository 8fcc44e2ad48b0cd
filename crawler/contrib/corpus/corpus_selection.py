"""Which pages an export keeps by `--where` and by the published rules of `--keep`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.contrib.corpus.quality import refused
from crawler.export.selection import Reason, Selection

if TYPE_CHECKING:
    from crawler.reports.condition import Condition


@dataclass(frozen=True)
class CorpusSelection(Selection):
    """What a page must be."""

    sets: tuple[str, ...] = ()
    """Published sets of rules."""

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.sets)

    @property
    def needs(self) -> list[str]:
        of_sets = ("quality", "language") if self.sets else ()
        return [*dict.fromkeys((*super().needs, *of_sets))]

    def refusal(self, conditions: Iterable[Condition], values: Mapping[str, Any]) -> Reason | None:
        return super().refusal(conditions, values) or self._broken_rule(values)

    def _broken_rule(self, values: Mapping[str, Any]) -> Reason | None:
        """The first rule of published sets that a page breaks."""
        numbers = values.get("quality") or {}
        for name in self.sets:
            if limit := refused(numbers, name, values.get("language")):
                return Reason(f"{name}: {limit}", numbers.get(limit.name), limit.bound)
        return None
