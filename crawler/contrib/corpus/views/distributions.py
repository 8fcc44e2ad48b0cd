"""The distribution of a number over a sample of pages, with the published limits and the best and the worst pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from math import log2

import numpy as np
from numpy.typing import NDArray

from crawler.contrib.corpus.quality import PUBLISHED
from crawler.contrib.corpus.quality.limits import Limit
from crawler.translation.message import N_

EXAMPLES = 3
"""How many of the best pages, and of the worst, are shown."""
BARS_OF_SHARES = 20
EDGES_OF_SHARES = tuple(n / BARS_OF_SHARES for n in range(BARS_OF_SHARES + 1))
"""Edges of the bars of shares: 0, 0.05, 0.1 and so on to 1."""
EDGES_OF_COUNTS = (0.0, *(2.0**n for n in range(18)))
"""Edges of the bars of counts: 0, 1, 2, 4 and so on; only the edges that the values need are used."""
FEWEST_EDGES = 5
"""The fewest edges of the bars of counts, however small the values are."""
OTHER = "other"
"""Stands for all languages without limits of their own, if there are more than MOST_NAMED."""
MOST_NAMED = 3
"""The most languages without limits of their own that are named."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A number about texts that is shown."""

    name: str
    title: str
    _: KW_ONLY
    is_share: bool = True
    """Whether it is from 0 to 1; otherwise it is a count."""
    is_higher_better: bool = True


MEASURES = (
    Measure(name="words", title=N_("Words"), is_share=False),
    Measure(name="stop_words", title=N_("Different stop words"), is_share=False),
    Measure(name="line_punct_ratio", title=N_("Lines that end with punctuation")),
    Measure(name="short_line_ratio", title=N_("Lines of at most 30 characters"), is_higher_better=False),
    Measure(name="dup_line_frac", title=N_("Repeated lines"), is_higher_better=False),
    Measure(name="top_2_gram_char_frac", title=N_("Text in the commonest pair of words"), is_higher_better=False),
    Measure(name="dup_5_gram_char_frac", title=N_("Text in repeated sequences of 5 words"), is_higher_better=False),
    Measure(name="c4_sentences", title=N_("Sentences that C4 counts"), is_share=False),
    Measure(name="third_line_length", title=N_("Characters of the third longest line"), is_share=False),
    Measure(name="han_frac", title=N_("Chinese characters")),
    Measure(name="certainty", title=N_("Certainty of the extraction")),
)
OPTIONAL = ("han_frac", "certainty")
"""Numbers that are not shown if they are 0 on all pages."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The pages whose number is at least the first value and below the second; the last bar includes both."""

    least: float
    most: float
    pages: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit of a published rule, and the share of pages that satisfy it."""

    rules: str
    """The name of the set of rules."""
    sign: str
    bound: float
    languages: tuple[str, ...]
    """The languages that have this limit: empty for all, and `other` for languages without limits of their own."""
    kept: float
    place: float
    """The position of the limit, in bars from the left."""


@dataclass(frozen=True, slots=True)
class Example:
    """A page with its number."""

    id: int
    value: float
    title: str
    url: str
    beginning: str
    """The beginning of its text."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """The distribution of a number over the pages of the sample."""

    name: str
    title: str
    is_share: bool
    pages: int
    """How many pages have the number."""
    low: float
    """The first decile: a tenth of the pages have at most this value."""
    median: float
    high: float
    """The last decile: a tenth of the pages have at least this value."""
    bars: tuple[Bar, ...]
    thresholds: tuple[Threshold, ...]
    best: tuple[Example, ...]
    worst: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution before the texts of its examples are read."""

    measure: Measure
    values: NDArray[np.float64]
    """The values in ascending order."""
    bars: tuple[Bar, ...]
    thresholds: tuple[Threshold, ...]
    best: list[tuple[int, float]]
    worst: list[tuple[int, float]]
    """The ids of the example pages, and their values."""

    def with_texts(self, texts: Mapping[int, tuple[str, str, str]]) -> Distribution:
        """The distribution with its examples; `texts` has their titles, addresses and beginnings, by page id."""
        last = len(self.values) - 1
        low, median, high = (float(self.values[int(share * last)]) for share in (0.1, 0.5, 0.9))
        return Distribution(
            name=self.measure.name,
            title=self.measure.title,
            is_share=self.measure.is_share,
            pages=len(self.values),
            low=low,
            median=median,
            high=high,
            bars=self.bars,
            thresholds=self.thresholds,
            best=_examples(self.best, texts),
            worst=_examples(self.worst, texts),
        )


def _examples(pages: list[tuple[int, float]], texts: Mapping[int, tuple[str, str, str]]) -> tuple[Example, ...]:
    """The examples with these ids and values; a page that is not in `texts` was erased in the meantime."""
    examples = []
    for page_id, value in pages:
        if page_id in texts:
            title, url, beginning = texts[page_id]
            examples.append(Example(id=page_id, value=value, title=title, url=url, beginning=beginning))
    return tuple(examples)


def spread(
    measure: Measure, numbers: NDArray[np.float64], ids: NDArray[np.int64], languages: NDArray[np.str_]
) -> Spread | None:
    """The distribution of a number over these pages; None if no page has it, or if it is optional and always 0."""
    is_known = ~np.isnan(numbers)
    values = numbers[is_known]
    ids = ids[is_known]
    if not len(values) or (measure.name in OPTIONAL and not values.max()):
        return None

    # Values outside the edges are counted in the outer bars.
    edges = np.array(EDGES_OF_SHARES if measure.is_share else _edges_of_counts(values.max()))
    counts, _ = np.histogram(np.clip(values, 0, edges[-1]), edges)
    bounds = pairwise(edges.tolist())
    bars = tuple(Bar(least, most, count) for (least, most), count in zip(bounds, counts.tolist(), strict=True))

    # The examples. Of equal values the first pages are chosen: ids are in order, and the sort is stable.
    lowest, highest = (
        [(int(ids[at]), float(values[at])) for at in np.argsort(ordered, kind="stable")[:EXAMPLES]]
        for ordered in (values, -values)
    )
    best, worst = (highest, lowest) if measure.is_higher_better else (lowest, highest)
    thresholds = tuple(_thresholds(measure, values, languages[is_known]))
    return Spread(measure=measure, values=np.sort(values), bars=bars, thresholds=thresholds, best=best, worst=worst)


def _edges_of_counts(largest: float) -> Sequence[float]:
    """The edges of the bars of a count, up to the bar with the largest value.

    >>> _edges_of_counts(9)
    (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
    """
    edges_up_to_largest = sum(edge <= largest for edge in EDGES_OF_COUNTS)
    return EDGES_OF_COUNTS[: max(FEWEST_EDGES, edges_up_to_largest + 1)]


def _bars_from_left(measure: Measure, value: float) -> float:
    """The position of a value, in bars from the left.

    >>> _bars_from_left(MEASURES[0], 64), _bars_from_left(MEASURES[2], 0.125)
    (7.0, 2.5)
    """
    if measure.is_share:
        return BARS_OF_SHARES * value
    if value < 1:
        return value
    return 1 + log2(value)


def _thresholds(measure: Measure, values: NDArray[np.float64], languages: NDArray[np.str_]) -> Iterator[Threshold]:
    """The published limits of a number for the languages of the pages."""
    for rules, limits in PUBLISHED.items():
        # Which pages have the limits of their language, and which the limits for all others.
        own = [language for language in limits if language and (languages == language).any()]
        groups = {language: languages == language for language in own}
        others = ~np.isin(languages, own)
        if others.any():
            groups[""] = others

        # Languages may share a limit.
        languages_by_limit: dict[Limit, list[str]] = {}
        for language in groups:
            for limit in limits[language]:
                if limit.name == measure.name:
                    languages_by_limit.setdefault(limit, []).append(language)

        for limit, limit_languages in languages_by_limit.items():
            limited_values = values[np.any([groups[language] for language in limit_languages], axis=0)]
            if limit.sign == ">=":
                is_kept = limited_values >= limit.bound
            else:
                is_kept = limited_values <= limit.bound
            is_for_all = len(limit_languages) == len(groups)
            yield Threshold(
                rules=rules,
                sign=limit.sign,
                bound=limit.bound,
                languages=() if is_for_all else tuple(_shown_languages(limit_languages, languages[others])),
                kept=float(is_kept.mean()),
                place=_bars_from_left(measure, limit.bound),
            )


def _shown_languages(languages: Sequence[str], others: NDArray[np.str_]) -> Iterator[str]:
    """The names of these languages; "" stands for the other languages of the sample, which are named if few."""
    for language in languages:
        names = [language] if language else np.unique(others).tolist()
        # Pages whose language is unknown have the name "", which cannot be shown.
        if len(names) <= MOST_NAMED and all(names):
            yield from names
        else:
            yield OTHER
