"""The quality of the pages of a crawl, estimated from a sample: the distributions of some numbers, the shares of pages
that published rules keep, and the best and the worst pages.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from crawler.contrib.corpus.quality import PUBLISHED, complete_quality
from crawler.contrib.corpus.quality.limits import Limit, first_broken
from crawler.contrib.corpus.views.corpus_pages import sampled_ids
from crawler.contrib.corpus.views.distributions import MEASURES, Distribution, Spread, spread
from crawler.metadata.text_quality import has_text_numbers
from crawler.store.database import in_chunks
from crawler.store.page_tables import page

SAMPLED = 10_000
"""The most pages of the sample."""
MOST_MEASURED = 1_000
"""The sample ends after this many pages whose numbers the crawl did not store: computing the numbers of so many
takes about 4 s.
"""
BEGINNING = 240
"""The most characters of a text that are shown."""
MOST_LANGUAGES = 8


@dataclass(frozen=True)
class Sample:
    """The numbers of some pages, as arrays with a value for each page; NaN stands for an unknown value."""

    ids: NDArray[np.int64]
    languages: NDArray[np.str_]
    numbers: Mapping[str, NDArray[np.float64]]
    keeps: Mapping[str, NDArray[np.bool_]]
    """Whether each page satisfies a set of rules, by the name of the set."""

    def of(self, language: str) -> "Sample":
        """The pages in a language; all pages if it is empty."""
        if not language:
            return self
        is_in_language = self.languages == language
        return Sample(
            ids=self.ids[is_in_language],
            languages=self.languages[is_in_language],
            numbers={name: values[is_in_language] for name, values in self.numbers.items()},
            keeps={name: values[is_in_language] for name, values in self.keeps.items()},
        )


@dataclass(frozen=True, slots=True)
class _MeasuredPage:
    """A page of a sample."""

    id: int
    language: str
    """Empty if it is unknown."""
    values: list[float | None]
    """The values of MEASURES, in their order."""
    is_kept: list[bool]
    """Whether it satisfies each of the PUBLISHED sets of rules, in their order."""


@dataclass(frozen=True, slots=True)
class KeptShares:
    """The share of the pages of a language that published rules keep."""

    language: str
    """Empty for the pages of all languages."""
    pages: int
    kept: Mapping[str, float]
    """The share by the name of the set of rules."""
    kept_by_all: float


@dataclass(frozen=True, slots=True)
class CorpusQuality:
    """The quality of the pages of a crawl, or of those in a language."""

    language: str
    sampled: int
    """Pages of the sample that have numbers."""
    is_sample: bool
    """Whether the corpus has more pages than the sample."""
    kept: tuple[KeptShares, ...]
    numbers: tuple[Distribution, ...]


def corpus_quality(connection: Connection, crawl_id: int) -> dict[str, CorpusQuality]:
    """The quality of the pages of a crawl, and of those in each of the commonest languages, by language."""
    ids = sampled_ids(connection, crawl_id, SAMPLED + 1)  # one more shows that the corpus is larger
    sample, pages_read = _sample(connection, ids[:SAMPLED])
    common = [language for language, _ in Counter(sample.languages.tolist()).most_common(MOST_LANGUAGES) if language]
    parts = {language: sample.of(language) for language in ("", *common)}
    kept = tuple(_kept(language, part) for language, part in parts.items() if len(part.ids))
    spreads = {language: _spreads(part) for language, part in parts.items()}

    # Read the texts of all examples at once.
    all_spreads = chain.from_iterable(spreads.values())
    example_ids = {page_id for each_spread in all_spreads for page_id, _ in (*each_spread.best, *each_spread.worst)}
    texts = _beginnings(connection, [*example_ids])
    return {
        language: CorpusQuality(
            language=language,
            sampled=len(part.ids),
            is_sample=len(ids) > pages_read,
            kept=kept,
            numbers=tuple(each_spread.with_texts(texts) for each_spread in spreads[language]),
        )
        for language, part in parts.items()
    }


def _spreads(part: Sample) -> list[Spread]:
    """The distributions, still without texts, of the numbers that some of these pages have."""
    spreads = (spread(measure, part.numbers[measure.name], part.ids, part.languages) for measure in MEASURES)
    return [each_spread for each_spread in spreads if each_spread is not None]


def _sample(connection: Connection, ids: Sequence[int]) -> tuple[Sample, int]:
    """The numbers of these pages, and how many of the pages were read; pages without numbers are left out."""
    pages: list[_MeasuredPage] = []
    pages_read = 0
    measured = 0
    for start in range(0, len(ids), MOST_MEASURED):
        chunk = ids[start : start + MOST_MEASURED]
        stored_quality = _stored_quality(connection, chunk)
        texts = _texts(connection, [page_id for page_id, _, quality in stored_quality if not has_text_numbers(quality)])
        for page_id, language, quality in stored_quality:
            completed = complete_quality({"quality": quality, "text": texts.get(page_id, ""), "language": language})
            numbers = completed["quality"]
            pages.append(
                _MeasuredPage(
                    id=page_id,
                    language=language or "",
                    values=[numbers.get(measure.name) for measure in MEASURES],
                    is_kept=[first_broken(_limits(rules, language or ""), numbers) is None for rules in PUBLISHED],
                )
            )
        pages_read += len(chunk)
        measured += len(texts)
        if measured >= MOST_MEASURED:
            break

    # Arrays with a row for each page. The two-dimensional ones keep their columns if there are no pages.
    pages.sort(key=lambda measured_page: measured_page.id)
    values = np.array([measured_page.values for measured_page in pages], np.float64).reshape(-1, len(MEASURES))
    is_kept = np.array([measured_page.is_kept for measured_page in pages], np.bool_).reshape(-1, len(PUBLISHED))
    sample = Sample(
        ids=np.array([measured_page.id for measured_page in pages], np.int64),
        languages=np.array([measured_page.language for measured_page in pages], np.str_),
        numbers={measure.name: values[:, column] for column, measure in enumerate(MEASURES)},
        keeps={rules: is_kept[:, column] for column, rules in enumerate(PUBLISHED)},
    )
    return sample, pages_read


def _stored_quality(connection: Connection, ids: Sequence[int]) -> list[tuple[int, str | None, dict[str, Any]]]:
    """The id, language and stored numbers of these pages, without pages that have none."""
    query = select(page.c.id, page.c.language, page.c.quality).where(page.c.id.in_(ids), page.c.quality.is_not(None))
    return [(page_id, language, json.loads(quality)) for page_id, language, quality in connection.execute(query)]


def _texts(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    rows = connection.execute(select(page.c.id, page.c.text).where(page.c.id.in_(ids)))
    return {row.id: row.text for row in rows}


def _limits(rules: str, language: str) -> tuple[Limit, ...]:
    return PUBLISHED[rules].get(language, PUBLISHED[rules][""])


def _kept(language: str, part: Sample) -> KeptShares:
    is_kept_by_all = np.all([*part.keeps.values()], axis=0)
    return KeptShares(
        language=language,
        pages=len(part.ids),
        kept={name: _mean(is_kept) for name, is_kept in part.keeps.items()},
        kept_by_all=_mean(is_kept_by_all),
    )


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean())


def _beginnings(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """The title, address and beginning of the text of these pages, by id."""
    beginning = func.substr(page.c.text, 1, BEGINNING, type_=page.c.text.type)
    beginnings = {}
    for chunk in in_chunks(ids):
        query = select(page.c.id, page.c.title, page.c.url, beginning).where(page.c.id.in_(chunk))
        for page_id, title, url, text in connection.execute(query):
            beginnings[page_id] = (title, url, text)
    return beginnings
