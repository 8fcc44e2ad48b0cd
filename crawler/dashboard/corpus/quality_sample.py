"""The quality of the pages of a crawl, as a sample shows it: how some numbers are spread, what published rules keep,
and the best and the worst pages.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from crawler.dashboard.corpus.corpus_pages import sampled_ids
from crawler.quality import PUBLISHED
from crawler.quality.limits import Limit, broken
from crawler.store.database import in_chunks
from crawler.store.page_tables import page
from crawler.translation.message import N_

SAMPLED = 10_000
EXAMPLES = 3
BEGINNING = 240
"""Characters of a text that are shown."""
MOST_LANGUAGES = 8
SHARES = tuple(n / 20 for n in range(21))
DOUBLED = (0.0, *(2.0**n for n in range(18)))
"""Edges of the bars of counts: 0, 1, 2, 4 and so on."""
FEWEST_EDGES = 5
OTHER = "other"
"""Stands for the languages without limits of their own, if they are more than a few."""
MOST_NAMED = 3


class Measure(NamedTuple):
    """A number by which people choose texts."""

    name: str
    title: str
    is_share: bool = True
    is_better_high: bool = True


MEASURES = (
    Measure("words", N_("Words"), is_share=False),
    Measure("stop_words", N_("Different stop words"), is_share=False),
    Measure("line_punct_ratio", N_("Lines that end with punctuation")),
    Measure("short_line_ratio", N_("Lines of at most 30 characters"), is_better_high=False),
    Measure("dup_line_frac", N_("Repeated lines"), is_better_high=False),
    Measure("top_2_gram_char_frac", N_("Text in the commonest pair of words"), is_better_high=False),
    Measure("dup_5_gram_char_frac", N_("Text in repeated sequences of 5 words"), is_better_high=False),
    Measure("c4_sentences", N_("Sentences that C4 counts"), is_share=False),
    Measure("third_line_length", N_("Characters of the third longest line"), is_share=False),
    Measure("han_frac", N_("Chinese characters")),
    Measure("certainty", N_("Certainty of the extraction")),
)
OPTIONAL = ("han_frac", "certainty")
"""Numbers that are left out where no page has them."""


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
class Bar:
    """The pages whose number lies between two values, the second not included."""

    least: float
    most: float
    pages: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit of a published rule, and the share of the pages that keep to it."""

    rules: str
    sign: str
    bound: float
    languages: tuple[str, ...]
    """The languages for which it is; empty for all, and `other` for those without limits of their own."""
    kept: float
    place: float
    """Where it lies among the bars, in bars from the left."""


@dataclass(frozen=True, slots=True)
class Example:
    """A page, and its number."""

    id: int
    value: float
    title: str
    url: str
    beginning: str
    """Of its text."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a number is spread over the pages of the sample."""

    name: str
    title: str
    is_share: bool
    pages: int
    """Those that have the number."""
    low: float
    """A tenth of the pages has at most this."""
    median: float
    high: float
    """A tenth of the pages has at least this."""
    bars: tuple[Bar, ...]
    thresholds: tuple[Threshold, ...]
    best: tuple[Example, ...]
    worst: tuple[Example, ...]


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
    sample = _sample(connection, ids[:SAMPLED])
    common = [language for language, _ in Counter(sample.languages.tolist()).most_common(MOST_LANGUAGES) if language]
    parts = {language: sample.of(language) for language in ("", *common)}
    kept = tuple(_kept(language, part) for language, part in parts.items() if len(part.ids))
    spreads = {
        language: [found for measure in MEASURES if (found := _spread(measure, part)) is not None]
        for language, part in parts.items()
    }
    shown = {place for some in spreads.values() for one in some for place, _ in (*one.best, *one.worst)}
    texts = _beginnings(connection, [*shown])
    return {
        language: CorpusQuality(
            language, len(part.ids), len(ids) > SAMPLED, kept, tuple(one.told(texts) for one in spreads[language])
        )
        for language, part in parts.items()
    }


def _sample(connection: Connection, ids: Sequence[int]) -> Sample:
    """The numbers of these pages, without those that have none."""
    rows = []
    for some in in_chunks(ids):
        wanted = select(page.c.id, page.c.language, page.c.quality).where(page.c.id.in_(some))
        for number, language, quality in connection.execute(wanted.where(page.c.quality.is_not(None))):
            numbers = json.loads(quality)
            is_kept = [broken(_limits(rules, language or ""), numbers) is None for rules in PUBLISHED]
            rows.append((number, language or "", [numbers.get(one.name) for one in MEASURES], is_kept))
    rows.sort(key=lambda row: row[0])
    values = np.array([row[2] for row in rows], np.float64).reshape(-1, len(MEASURES))
    keeps = np.array([row[3] for row in rows], np.bool_).reshape(-1, len(PUBLISHED))
    return Sample(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.str_),
        {measure.name: values[:, at] for at, measure in enumerate(MEASURES)},
        {rules: keeps[:, at] for at, rules in enumerate(PUBLISHED)},
    )


def _limits(rules: str, language: str) -> tuple[Limit, ...]:
    return PUBLISHED[rules].get(language, PUBLISHED[rules][""])


def _kept(language: str, part: Sample) -> KeptShares:
    every = np.all([*part.keeps.values()], axis=0)
    return KeptShares(language, len(part.ids), {name: _mean(one) for name, one in part.keeps.items()}, _mean(every))


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean())


class _Spread(NamedTuple):
    """A distribution, of whose examples the ids and values are known."""

    measure: Measure
    values: NDArray[np.float64]
    """In order."""
    bars: tuple[Bar, ...]
    thresholds: tuple[Threshold, ...]
    best: list[tuple[int, float]]
    worst: list[tuple[int, float]]

    def told(self, texts: Mapping[int, tuple[str, str, str]]) -> Distribution:
        """The distribution with the titles, addresses and beginnings of its examples."""
        values, measure = self.values, self.measure
        low, median, high = (float(values[int(share * (len(values) - 1))]) for share in (0.1, 0.5, 0.9))
        best, worst = (
            tuple(Example(number, value, *texts[number]) for number, value in some if number in texts)
            for some in (self.best, self.worst)
        )
        facts = (measure.name, measure.title, measure.is_share, len(values), low, median, high)
        return Distribution(*facts, self.bars, self.thresholds, best, worst)


def _spread(measure: Measure, part: Sample) -> _Spread | None:
    """How a number is spread; None if no page has it."""
    known = ~np.isnan(part.numbers[measure.name])
    values, ids = part.numbers[measure.name][known], part.ids[known]
    if not len(values) or (measure.name in OPTIONAL and not values.max()):
        return None
    edges = np.array(SHARES if measure.is_share else _doubled(values.max()))
    counts, _ = np.histogram(np.clip(values, 0, edges[-1]), edges)
    bars = tuple(Bar(*ends, count) for ends, count in zip(pairwise(edges.tolist()), counts.tolist(), strict=True))
    # Of equal ones the first: ids are in order, and so are the results of stable sorting.
    lowest, highest = (
        [(int(ids[at]), float(values[at])) for at in np.argsort(ordered, kind="stable")[:EXAMPLES]]
        for ordered in (values, -values)
    )
    best, worst = (highest, lowest) if measure.is_better_high else (lowest, highest)
    thresholds = tuple(_thresholds(measure, values, part.languages[known]))
    return _Spread(measure, np.sort(values), bars, thresholds, best, worst)


def _doubled(most: float) -> Sequence[float]:
    """The edges of the bars of a count, up to the one with the largest value.

    >>> _doubled(9)
    (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
    """
    return DOUBLED[: max(FEWEST_EDGES, sum(edge <= most for edge in DOUBLED) + 1)]


def _place(measure: Measure, value: float) -> float:
    """Where a value lies among the bars, in bars from the left.

    >>> _place(MEASURES[0], 64), _place(MEASURES[2], 0.125)
    (7.0, 2.5)
    """
    if measure.is_share:
        return 20 * value
    return 1 + log2(value) if value >= 1 else value


def _thresholds(measure: Measure, values: NDArray[np.float64], languages: NDArray[np.str_]) -> Iterator[Threshold]:
    """The published limits of a number for the languages of the pages."""
    for rules, limits in PUBLISHED.items():
        own = [language for language in limits if language and (languages == language).any()]
        masks = {language: languages == language for language in own}
        others = ~np.isin(languages, own)
        groups = {**masks, **({"": others} if others.any() else {})}
        found: dict[Limit, list[str]] = {}
        for language in groups:
            for limit in limits[language]:
                if limit.name == measure.name:
                    found.setdefault(limit, []).append(language)
        for limit, whose in found.items():
            theirs = values[np.any([groups[language] for language in whose], axis=0)]
            kept = _mean(theirs >= limit.bound if limit.sign == ">=" else theirs <= limit.bound)
            named = () if len(whose) == len(groups) else tuple(_named(whose, languages[others]))
            yield Threshold(rules, limit.sign, limit.bound, named, kept, _place(measure, limit.bound))


def _named(languages: Sequence[str], others: NDArray[np.str_]) -> Iterator[str]:
    """The languages for which a limit is; those without limits of their own by name if they are few."""
    for language in languages:
        names = [language] if language else np.unique(others).tolist()
        yield from names if len(names) <= MOST_NAMED and all(names) else [OTHER]


def _beginnings(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[str, str, str]]:
    """Title, address and beginning of the text of pages."""
    beginning = func.substr(page.c.text, 1, BEGINNING, type_=page.c.text.type)
    found = {}
    for some in in_chunks(ids):
        rows = select(page.c.id, page.c.title, page.c.url, beginning).where(page.c.id.in_(some))
        found.update({number: (title, url, text) for number, title, url, text in connection.execute(rows)})
    return found
