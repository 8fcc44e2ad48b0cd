"""The quality of the pages of a crawl, as a sample shows it: how some numbers are spread, what published rules keep,
and the best and the worst pages.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from crawler.contrib.corpus.quality import PUBLISHED, complete_quality
from crawler.contrib.corpus.quality.limits import Limit, broken
from crawler.contrib.corpus.views.corpus_pages import sampled_ids
from crawler.contrib.corpus.views.distributions import MEASURES, Distribution, spread
from crawler.metadata.text_quality import has_text_numbers
from crawler.store.database import in_chunks
from crawler.store.page_tables import page

SAMPLED = 10_000
MOST_MEASURED = 1_000
"""Pages whose numbers are computed where the crawl did not store them, which takes 4 s; the sample ends after these."""
BEGINNING = 240
"""Characters of a text that are shown."""
MOST_LANGUAGES = 8


@dataclass(frozen=True)
class Sample:
    """The numbers of some pages, each an array with a value for each page; nan where it is unknown."""

    ids: NDArray[np.int64]
    languages: NDArray[np.str_]
    numbers: Mapping[str, NDArray[np.float64]]
    keeps: Mapping[str, NDArray[np.bool_]]
    """Whether a page keeps to the rules, by the name of their set."""

    def of(self, language: str) -> "Sample":
        """The pages in a language; all without one."""
        if not language:
            return self
        mine = self.languages == language
        numbers, keeps = ({name: one[mine] for name, one in some.items()} for some in (self.numbers, self.keeps))
        return Sample(self.ids[mine], self.languages[mine], numbers, keeps)


@dataclass(frozen=True, slots=True)
class KeptShares:
    """The share of the pages of a language that published rules keep."""

    language: str
    """Empty for the pages of all languages."""
    pages: int
    kept: Mapping[str, float]
    """By the name of the set of rules."""
    kept_by_all: float


@dataclass(frozen=True, slots=True)
class CorpusQuality:
    """The quality of the pages of a crawl, or of those in a language."""

    language: str
    sampled: int
    """Pages that were looked at, without those that have no numbers."""
    is_sample: bool
    """Whether there are more pages."""
    kept: tuple[KeptShares, ...]
    numbers: tuple[Distribution, ...]


def corpus_quality(connection: Connection, crawl_id: int) -> dict[str, CorpusQuality]:
    """The quality of the pages of a crawl, and of those in each of the commonest languages, by language."""
    ids = sampled_ids(connection, crawl_id, SAMPLED + 1)
    sample, read = _sample(connection, ids[:SAMPLED])
    common = [language for language, _ in Counter(sample.languages.tolist()).most_common(MOST_LANGUAGES) if language]
    parts = {language: sample.of(language) for language in ("", *common)}
    kept = tuple(_kept(language, part) for language, part in parts.items() if len(part.ids))
    spreads = {
        language: [
            found
            for one in MEASURES
            if (found := spread(one, part.numbers[one.name], part.ids, part.languages)) is not None
        ]
        for language, part in parts.items()
    }
    shown = {place for some in spreads.values() for one in some for place, _ in (*one.best, *one.worst)}
    texts = _beginnings(connection, [*shown])
    return {
        language: CorpusQuality(
            language, len(part.ids), len(ids) > read, kept, tuple(one.told(texts) for one in spreads[language])
        )
        for language, part in parts.items()
    }


def _sample(connection: Connection, ids: Sequence[int]) -> tuple[Sample, int]:
    """The numbers of these pages, without those that have none; and how many of the pages were read."""
    rows = []
    read = measured = 0
    for start in range(0, len(ids), MOST_MEASURED):
        some = ids[start : start + MOST_MEASURED]
        pages = _stored_quality(connection, some)
        texts = _texts(connection, [number for number, _, quality in pages if not has_text_numbers(quality)])
        for number, language, stored in pages:
            completed = complete_quality({"quality": stored, "text": texts.get(number, ""), "language": language})
            numbers = completed["quality"]
            is_kept = [broken(_limits(rules, language or ""), numbers) is None for rules in PUBLISHED]
            rows.append((number, language or "", [numbers.get(one.name) for one in MEASURES], is_kept))
        read += len(some)
        measured += len(texts)
        if measured >= MOST_MEASURED:
            break
    rows.sort(key=lambda row: row[0])
    values = np.array([row[2] for row in rows], np.float64).reshape(-1, len(MEASURES))
    keeps = np.array([row[3] for row in rows], np.bool_).reshape(-1, len(PUBLISHED))
    sample = Sample(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.str_),
        {measure.name: values[:, at] for at, measure in enumerate(MEASURES)},
        {rules: keeps[:, at] for at, rules in enumerate(PUBLISHED)},
    )
    return sample, read


def _stored_quality(connection: Connection, ids: Sequence[int]) -> list[tuple[int, str | None, dict[str, Any]]]:
    """Id, language and stored numbers of pages."""
    wanted = select(page.c.id, page.c.language, page.c.quality).where(page.c.id.in_(ids), page.c.quality.is_not(None))
    return [(number, language, json.loads(quality)) for number, language, quality in connection.execute(wanted)]


def _texts(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    rows = connection.execute(select(page.c.id, page.c.text).where(page.c.id.in_(ids)))
    return {row.id: row.text for row in rows}


def _limits(rules: str, language: str) -> tuple[Limit, ...]:
    return PUBLISHED[rules].get(language, PUBLISHED[rules][""])


def _kept(language: str, part: Sample) -> KeptShares:
    every = np.all([*part.keeps.values()], axis=0)
    return KeptShares(language, len(part.ids), {name: _mean(one) for name, one in part.keeps.items()}, _mean(every))


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean())


def _beginnings(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """Title, address and beginning of the text of pages."""
    beginning = func.substr(page.c.text, 1, BEGINNING, type_=page.c.text.type)
    found = {}
    for some in in_chunks(ids):
        rows = select(page.c.id, page.c.title, page.c.url, beginning).where(page.c.id.in_(some))
        found.update({number: (title, url, text) for number, title, url, text in connection.execute(rows)})
    return found
