"""Which pages an export keeps by `--where` and by the published rules of `--keep`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sqlalchemy import ColumnElement

from crawler.contrib.corpus.quality import broken_limit, complete_quality
from crawler.export.where_conditions import RemovalReason, Removed, Selection, Source
from crawler.metadata.text_quality import OF_EXTRACTION
from crawler.reports.condition import Condition, comparisons
from crawler.reports.stored_pages import StoredPage, StoredPages
from crawler.store.page_changes import ChangeOffset

QUALITY_COLUMNS = ("quality", "text", "language")
"""The columns from which a complete `quality` is computed."""


@dataclass(frozen=True)
class CorpusSelection(Selection):
    """The conditions and rules that a page must satisfy.

    Text numbers are the numbers in `quality` that are computed from the text; most crawls do not store them.
    """

    sets: tuple[str, ...] = ()
    """The names of the published sets of rules that a page must satisfy."""

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.sets)

    @property
    def needs(self) -> list[str]:
        of_sets = ("quality", "language") if self.sets else ()
        return [*dict.fromkeys((*super().needs, *of_sets))]

    @property
    def compares_text_numbers(self) -> bool:
        """Whether the selection needs text numbers."""
        return bool(self.sets) or len(self.stored_conditions) < len(self.conditions)

    @property
    def stored_conditions(self) -> tuple[Condition, ...]:
        return tuple(condition for condition in self.conditions if not _compares_text_numbers(condition))

    def refusal(self, conditions: Iterable[Condition], values: Mapping[str, Any]) -> RemovalReason | None:
        return super().refusal(conditions, values) or self._broken_rule(values)

    def _broken_rule(self, values: Mapping[str, Any]) -> RemovalReason | None:
        """The first rule of the published sets that a page breaks."""
        numbers = values.get("quality") or {}
        for name in self.sets:
            limit = broken_limit(numbers, name, values.get("language"))
            if limit is not None:
                return RemovalReason(rule=f"{name}: {limit}", value=numbers.get(limit.name), limit=limit.bound)
        return None


def _compares_text_numbers(condition: Condition) -> bool:
    """Whether a condition compares a text number, such as `quality.words`, and not only `quality.certainty`, which each
    crawl stores.
    """
    paths = [comparison.path for comparison in comparisons(condition)]
    return any(path[0] == "quality" and len(path) > 1 and path[1] not in OF_EXTRACTION for path in paths)


class PageSource(Protocol):
    """Pages that can be read several times."""

    def pages(
        self, columns: Sequence[str], removed: Removed | None = None, responses: bool = False
    ) -> Iterator[StoredPage]:
        """The pages, with these columns, and with their HTTP responses if `responses`. Excluded pages are added to
        `removed` if it is given.
        """


@dataclass(frozen=True)
class CorpusSource(Source):
    """The pages of crawls that an export may write, read from the database."""

    completes_quality: bool = False
    """Whether `quality` is completed with the numbers that the crawl did not store."""

    def changes(self, columns: Sequence[str], after: ChangeOffset) -> Iterator[StoredPage]:
        return self._completed(super().changes(self._read_columns(columns), after), columns)

    def stored(
        self,
        crawl: StoredPages,
        columns: Sequence[str],
        *,
        responses: bool = False,
        where: ColumnElement[bool] | None = None,
    ) -> Iterator[StoredPage]:
        pages = super().stored(crawl, self._read_columns(columns), responses=responses, where=where)
        return self._completed(pages, columns)

    def _read_columns(self, columns: Sequence[str]) -> Sequence[str]:
        return [*dict.fromkeys((*columns, *QUALITY_COLUMNS))] if self._completes(columns) else columns

    def _completes(self, columns: Sequence[str]) -> bool:
        return self.completes_quality and "quality" in columns

    def _completed(self, pages: Iterator[StoredPage], columns: Sequence[str]) -> Iterator[StoredPage]:
        if not self._completes(columns):
            return pages
        return (replace(page, values=complete_quality(page.values)) for page in pages)
