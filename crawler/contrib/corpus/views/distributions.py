"""How a number of the pages of a sample is spread, with the published limits and the best and the worst pages."""

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
SHARES = tuple(n / 20 for n in range(21))
DOUBLED = (0.0, *(2.0**n for n in range(18)))
"""Edges of the bars of counts: 0, 1, 2, 4 and so on."""
FEWEST_EDGES = 5
OTHER = "other"
"""Stands for the languages without limits of their own, if they are more than a few."""
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Measure:
    """A number by which people choose texts."""

    name: str
    title: str
    _: KW_ONLY
    is_share: bool = True
    is_better_high: bool = True


MEASURES = (
    Measure(name="words", title=N_("Words"), is_share=False),
    Measure(name="stop_words", title=N_("Different stop words"), is_share=False),
    Measure(name="line_punct_ratio", title=N_("Lines that end with punctuation")),
    Measure(name="short_line_ratio", title=N_("Lines of at most 30 characters"), is_better_high=False),
    Measure(name="dup_line_frac", title=N_("Repeated lines"), is_better_high=False),
    Measure(name="top_2_gram_char_frac", title=N_("Text in the commonest pair of words"), is_better_high=False),
    Measure(name="dup_5_gram_char_frac", title=N_("Text in repeated sequences of 5 words"), is_better_high=False),
    Measure(name="c4_sentences", title=N_("Sentences that C4 counts"), is_share=False),
    Measure(name="third_line_length", title=N_("Characters of the third longest line"), is_share=False),
    Measure(name="han_frac", title=N_("Chinese characters")),
    Measure(name="certainty", title=N_("Certainty of the extraction")),
)
OPTIONAL = ("han_frac", "certainty")
"""Numbers that are left out where no page has them."""


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
    """The beginning of its text."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How a number is spread over the pages of the sample."""

    name: str
    title: str
    is_share: bool
    pages: int
    """How many pages have the number."""
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
class Spread:
    """A distribution, of whose examples the ids and values are known."""

    measure: Measure
    values: NDArray[np.float64]
    """The values in ascending order."""
    bars: tuple[Bar, ...]
    thresholds: tuple[Threshold, ...]
    best: list[tuple[int, float]]
    worst: list[tuple[int, float]]

    def told(self, texts: Mapping[int, tuple[str, str, str]]) -> Distribution:
        """The distribution with the titles, addresses and beginnings of its examples."""
        values = self.values
        measure = self.measure
        low, median, high = (float(values[int(share * (len(values) - 1))]) for share in (0.1, 0.5, 0.9))
        best, worst = (
            tuple(Example(number, value, *texts[number]) for number, value in some if number in texts)
            for some in (self.best, self.worst)
        )
        facts = (measure.name, measure.title, measure.is_share, len(values), low, median, high)
        return Distribution(*facts, self.bars, self.thresholds, best, worst)


def spread(
    measure: Measure, numbers: NDArray[np.float64], ids: NDArray[np.int64], languages: NDArray[np.str_]
) -> Spread | None:
    """How a number of these pages is spread; None if no page has it."""
    known = ~np.isnan(numbers)
    values = numbers[known]
    ids = ids[known]
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
    thresholds = tuple(_thresholds(measure, values, languages[known]))
    return Spread(measure=measure, values=np.sort(values), bars=bars, thresholds=thresholds, best=best, worst=worst)


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
            kept = float((theirs >= limit.bound if limit.sign == ">=" else theirs <= limit.bound).mean())
            named = () if len(whose) == len(groups) else tuple(_named(whose, languages[others]))
            yield Threshold(
                rules=rules,
                sign=limit.sign,
                bound=limit.bound,
                languages=named,
                kept=kept,
                place=_place(measure, limit.bound),
            )


def _named(languages: Sequence[str], others: NDArray[np.str_]) -> Iterator[str]:
    """The languages for which a limit is; those without limits of their own by name if they are few."""
    for language in languages:
        names = [language] if language else np.unique(others).tolist()
        yield from names if len(names) <= MOST_NAMED and all(names) else [OTHER]
