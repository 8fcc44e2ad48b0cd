"""Which pages an export keeps by `--where`, and the list of what it removes, with the reasons.

A value of `--where` is a condition on the fields of a page, or a place: a language, a site or host, or both. A page
must meet all conditions and be of one of the places.

For `bees.csv` the list is `bees.removed.jsonl`: a line for each removed page, with the first condition or rule that it
does not meet, and one for each page that `--dedupe` removed or shortened. Pages of other places are not listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Self

from sqlalchemy import ColumnElement

from crawler.atomic_files import AtomicFile
from crawler.errors import WrongUseError
from crawler.export.formats import FORMATS, compression_of, endings_of
from crawler.reports.condition import MOST_COMPARISONS, Condition, comparisons, condition_of, conjuncts, value_at
from crawler.reports.condition_sql import divided
from crawler.reports.stored_pages import LanguageOrSite, PageFilter, StoredPage, StoredPages, place_of
from crawler.store.output_files import json_line
from crawler.store.page_changes import ChangeOffset
from crawler.translation.message import Message, first, plural

MOST_NAMED = 10
"""The most rules that the closing line names, first those that removed the most pages."""
ENDING = ".removed.jsonl"
"""The ending of the name of the list."""
_CONDITION_SIGN = re.compile(r"[\s<>=!()]")
"""A character that is in each condition, and in no place."""


@dataclass(frozen=True)
class RemovalReason:
    """Why a page is removed."""

    rule: str
    """The condition as it was written, or the name of another rule."""
    value: Any
    """What the page has."""
    limit: Any
    """What the rule compares it with."""
    copy_of: str | None = None
    """The address of the page that is kept in its place."""
    copy_in: str | None = None
    """Where the kept page is, if it is not in this export."""


@dataclass(frozen=True)
class Selection:
    """The conditions that a page of an export must meet."""

    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, conditions: Iterable[Condition], **values: Any) -> Self:
        """The selection of pages that meet all these conditions; `values` are the other fields of the class."""
        return cls(tuple(part for condition in conditions for part in conjuncts(condition)), **values)

    def __bool__(self) -> bool:
        return bool(self.conditions)

    @property
    def needs(self) -> list[str]:
        """The fields that the conditions compare."""
        all_comparisons = (comparison for condition in self.conditions for comparison in comparisons(condition))
        return [*dict.fromkeys(comparison.path[0] for comparison in all_comparisons)]

    @property
    def stored_conditions(self) -> tuple[Condition, ...]:
        """The conditions on stored values of pages; a subclass also has conditions on computed values."""
        return self.conditions

    def refusal(self, conditions: Iterable[Condition], values: Mapping[str, Any]) -> RemovalReason | None:
        """The first of these conditions that a page does not meet, as a reason; None if it meets all.

        If a condition has several comparisons, the reason has the value and the limit of the first one.
        """
        for condition in conditions:
            if not condition.holds(values):
                comparison = next(comparisons(condition))
                return RemovalReason(
                    rule=condition.source, value=value_at(values, comparison.path), limit=comparison.value
                )
        return None


@dataclass
class Removed:
    """Counts the pages that are removed, and lists them in a file if there is one."""

    file: AtomicFile | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """How many pages each rule removed."""
    shortened: int = 0
    """Pages that stay without some of their paragraphs."""
    paragraphs: int = 0
    """Paragraphs that were removed from these pages."""

    def add(self, url: str, reason: RemovalReason) -> None:
        """Count a page that is removed."""
        self.counts[reason.rule] += 1
        self._write(url, reason)

    def shorten(self, url: str, reason: RemovalReason, paragraphs: int) -> None:
        """Count paragraphs that are removed from a page that stays."""
        self.shortened += 1
        self.paragraphs += paragraphs
        self._write(url, reason)

    def _write(self, url: str, reason: RemovalReason) -> None:
        if self.file is not None:
            values = {"rule": reason.rule, "value": reason.value, "limit": reason.limit}
            if reason.copy_of is not None:
                values["copy_of"] = reason.copy_of
            if reason.copy_in is not None:
                values["copy_in"] = reason.copy_in
            self.file.write(json_line({"url": url, **values}))

    def finish(self) -> None:
        if self.file is not None:
            self.file.finish()

    def discard(self) -> None:
        if self.file is not None:
            self.file.discard()

    def words(self) -> Iterator[Message]:
        """How many pages each rule removed, and where they are listed."""
        if self.counts:
            rules = first([f"{rule} ({count:,})" for rule, count in self.counts.most_common()], MOST_NAMED)
            count = self.counts.total()
            yield plural("{n} page removed, by: {rules}.", "{n} pages removed, by: {rules}.", count, rules=rules)
        if self.shortened:
            paragraphs = plural("{n} repeated paragraph", "{n} repeated paragraphs", self.paragraphs)
            yield plural(
                "{paragraphs} removed from {n} page that stays.",
                "{paragraphs} removed from {n} pages that stay.",
                self.shortened,
                paragraphs=paragraphs,
            )
        if self.file is not None and (self.counts or self.shortened):
            yield Message("{path} lists what was removed, and why.", {"path": self.file.shown})


def removed_list_path(output: str) -> str:
    """The path of the list of removed pages, beside the output.

    >>> removed_list_path("a/bees.jsonl.gz"), removed_list_path("pages/")
    ('a/bees.removed.jsonl', 'pages.removed.jsonl')
    """
    path = PurePath(output)
    name = path.name[: len(path.name) - len(compression_of(path.name))]
    endings = [ending for format in FORMATS for ending in endings_of(format) if name.lower().endswith(ending)]
    if endings:
        name = name[: len(name) - len(endings[0])]
    return str(path.with_name(name + ENDING))


def where_of(text: str) -> Condition | LanguageOrSite:
    """Parse a condition, or a language, a site or host, or both; raises a WrongUseError.

    >>> where_of("zh"), where_of("depth < 3").source
    (LanguageOrSite(language='zh', site=''), 'depth < 3')
    """
    if _CONDITION_SIGN.search(text):
        return condition_of(text)
    return place_of(text)


def check_size(wheres: Iterable[Condition | LanguageOrSite]) -> None:
    """Raise a WrongUseError if there are more conditions and places than a database can read."""
    count = 0
    for where in wheres:
        if isinstance(where, LanguageOrSite):
            count += 1
        else:
            count += len([*comparisons(where)])
    if count > MOST_COMPARISONS:
        raise WrongUseError(
            "conditions may have {most} comparisons at most, all together, and these have {n}",
            most=MOST_COMPARISONS,
            n=f"{count:,}",
        )


@dataclass(frozen=True)
class Source:
    """The pages of crawls that an export may write; they can be read several times."""

    crawls: Sequence[StoredPages]
    filter: PageFilter
    selection: Selection = field(default_factory=Selection)

    def pages(
        self, columns: Sequence[str], removed: Removed | None = None, responses: bool = False
    ) -> Iterator[StoredPage]:
        """The pages that match the filter and meet the conditions, with these columns. Pages that match the filter only
        are added to `removed` if it is given.
        """
        for crawl in self.crawls:
            yield from self._pages_of_crawl(crawl, columns, removed, responses)

    def changes(self, columns: Sequence[str], after: ChangeOffset) -> Iterator[StoredPage]:
        """The changes of the only crawl after an offset, with these columns."""
        return self.crawls[0].changes(columns, after)

    def stored(
        self,
        crawl: StoredPages,
        columns: Sequence[str],
        *,
        responses: bool = False,
        where: ColumnElement[bool] | None = None,
    ) -> Iterator[StoredPage]:
        """The pages of a crawl that match the filter and the condition, with these columns; a subclass in
        contrib/corpus adds computed values.
        """
        return crawl.pages(columns, self.filter, responses, where)

    def _pages_of_crawl(
        self, crawl: StoredPages, columns: Sequence[str], removed: Removed | None, responses: bool
    ) -> Iterator[StoredPage]:
        selection = self.selection
        if not selection:
            yield from self.stored(crawl, columns, responses=responses)
            return
        # The database checks the conditions that SQL can express; the other conditions are checked here.
        in_sql, other_conditions = divided(selection.conditions, crawl.dialect)

        # The pages that the database leaves out, read only to list them.
        if in_sql is not None and removed is not None:
            for page in crawl.pages(["url", *selection.needs], self.filter, where=~in_sql):
                reason = selection.refusal(selection.stored_conditions, page.values)
                if reason is not None:  # otherwise the page has changed since the query
                    removed.add(page.values["url"], reason)

        # The pages that the database selects.
        needed_columns = [*dict.fromkeys(("url", *selection.needs, *columns))]
        for page in self.stored(crawl, needed_columns, responses=responses, where=in_sql):
            reason = selection.refusal(other_conditions, page.values)
            if reason is None:
                yield page
            elif removed is not None:
                removed.add(page.values["url"], reason)
