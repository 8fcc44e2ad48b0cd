"""How reliable figures are: bootstrap intervals, tests between two methods, and corrections of the tests.

Pages of one host are alike, so the bootstrap draws hosts instead of pages: as many as there are, with replacement, 2000
times from the same seed. The interval holds the middle 95% of the figures. A page without a host counts as a separate
host. A single host gives no interval.

Two methods are compared on the same pages by

- the paired t-test on the word F1 of each page. The size of the effect is Cohen's d: the mean of the differences
  divided by their standard deviation. Without differences p is 1 and d is 0. If there is only one page, or all pages
  differ by the same amount, the deviation is 0 or undefined, and neither p nor d is defined.
- McNemar's exact test on the pages that only one of the two methods has right. If the methods are equally good, such a
  page is as likely to be the first method's as the second's. The two counts are the size of the effect.

Both tests assume independent pages, which pages of one host are not quite. Holm's correction is applied over all pairs
of methods of a set, separately for each test.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from crawler.contrib.lab.evaluation.text_metrics import TextScore

DRAWS = 2000
"""How often the bootstrap draws a sample of hosts."""
SEED = 2026
MIDDLE = (2.5, 97.5)
"""The percentiles at the ends of an interval."""
ROUNDING = 1e-9
"""A standard deviation up to this share of the largest difference is a rounding error, and counts as 0."""
AT_ONCE = 500
"""How many draws are computed at once; fewer need less memory with many hosts."""

Numbers: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """Two methods on the same pages."""

    first: str
    second: str
    difference: float
    """The mean difference in word F1; above 0 if the first method is better."""
    effect: float | None
    """Cohen's d."""
    t_test: float | None
    """The p-value of the t-test, after Holm's correction."""
    only_first: int
    """Pages that only the first method has right."""
    only_second: int
    """Pages that only the second method has right."""
    mcnemar: float
    """The p-value of McNemar's test, after Holm's correction."""


def intervals(scores: Sequence[TextScore], hosts: Sequence[str]) -> tuple[Interval | None, Interval | None]:
    """The 95% intervals of the shingle F1 and of the average word F1; None if there is only one host."""
    sums = _sums_by_host(scores, hosts)
    if len(sums) < 2:
        return None, None
    shingle_f1s = []
    word_f1s = []
    for draws in bootstrap_draws(len(sums), AT_ONCE):
        totals = draws @ sums
        # Each mean is a column of sums divided by the column of numbers that follows it, see `_sums_by_host`.
        precision, recall, word_f1 = (_quotient(totals[:, column], totals[:, column + 1]) for column in (0, 2, 4))
        shingle_f1s.append(_quotient(2 * precision * recall, precision + recall))
        word_f1s.append(word_f1)
    return middle_interval(np.concatenate(shingle_f1s)), middle_interval(np.concatenate(word_f1s))


def bootstrap_draws(count: int, at_once: int) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """The DRAWS draws of the bootstrap, `at_once` of them at a time.

    A row is one draw: for each of `count` hosts or sites, how often it was drawn.
    """
    generator = np.random.default_rng(SEED)
    for done in range(0, DRAWS, at_once):
        yield generator.multinomial(count, [1 / count] * count, size=min(at_once, DRAWS - done))


def middle_interval(values: Numbers) -> Interval:
    """The interval that holds the middle 95% of the values."""
    low, high = np.percentile(values, MIDDLE)
    return float(low), float(high)


def compare(scores: dict[str, Sequence[TextScore]]) -> list[MethodComparison]:
    """The comparisons of all pairs of methods, with p-values corrected for the number of pairs."""
    pairs = [_compared(first, second, scores) for first, second in combinations(scores, 2)]
    t_tests = holm([pair.t_test for pair in pairs])
    mcnemars = holm([pair.mcnemar for pair in pairs])
    return [
        # `holm` returns None only for None, and McNemar's test always has a p-value.
        replace(pair, t_test=t_test, mcnemar=1.0 if exact is None else exact)
        for pair, t_test, exact in zip(pairs, t_tests, mcnemars, strict=True)
    ]


def paired_t(differences: Sequence[float]) -> tuple[float | None, float | None]:
    """The p-value of a paired t-test, and Cohen's d."""
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return None, None
    if not values.any():
        return 1.0, 0.0
    mean = float(values.mean())
    spread = float(values.std(ddof=1))
    if spread <= ROUNDING * float(np.abs(values).max()):
        return None, None
    from scipy import stats

    effect = mean / spread
    return float(2 * stats.t.sf(abs(effect) * len(values) ** 0.5, len(values) - 1)), effect


def mcnemar(only_first: int, only_second: int) -> float:
    """The p-value of McNemar's exact test."""
    from scipy import stats  # imported here, because intervals do not need it

    count = only_first + only_second
    if count:
        return float(stats.binomtest(only_first, count).pvalue)
    return 1.0


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Holm's correction: each p-value is multiplied by the number of p-values that are not smaller.

    The result is at most 1, and at least the result for each smaller p-value.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    ranked = sorted((value, index) for index, value in enumerate(values) if value is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, index) in enumerate(ranked):
        largest = max(largest, min(1.0, value * (len(ranked) - rank)))
        corrected[index] = largest
    return corrected


def _compared(first: str, second: str, scores: dict[str, Sequence[TextScore]]) -> MethodComparison:
    """Two methods, with uncorrected p-values."""
    pairs = list(zip(scores[first], scores[second], strict=True))
    differences = [first_score.f1 - other.f1 for first_score, other in pairs]
    p, effect = paired_t(differences)
    only_first = sum(first_score.right and not other.right for first_score, other in pairs)
    only_second = sum(other.right and not first_score.right for first_score, other in pairs)
    mean = sum(differences) / len(differences) if differences else 0.0
    return MethodComparison(
        first=first,
        second=second,
        difference=mean,
        effect=effect,
        t_test=p,
        only_first=only_first,
        only_second=only_second,
        mcnemar=mcnemar(only_first, only_second),
    )


def _sums_by_host(scores: Sequence[TextScore], hosts: Sequence[str]) -> Numbers:
    """A row for each host with six columns: the sum and the number of shingle precisions, then of shingle recalls, then
    of word F1s.
    """
    sums: defaultdict[str | int, list[float]] = defaultdict(lambda: [0.0] * 6)
    for index, (score, host) in enumerate(zip(scores, hosts, strict=True)):
        row = sums[host or index]  # a page without a host has a row of its own
        for column, value in zip((0, 2, 4), (score.shingle_precision, score.shingle_recall, score.f1), strict=True):
            if value is not None:
                row[column] += value
                row[column + 1] += 1
    return np.asarray(list(sums.values()), dtype=np.float64)


def _quotient(numerators: Numbers, denominators: Numbers) -> Numbers:
    """The quotients; 0 where the denominator is 0."""
    return np.divide(numerators, denominators, out=np.zeros_like(numerators), where=denominators > 0)
