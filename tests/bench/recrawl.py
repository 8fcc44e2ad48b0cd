"""How current a crawl keeps its copies: the recrawl rule against a fixed interval and the best possible intervals.

`python tests/bench/recrawl.py [--pages N] [--days N] [--budget N] [--factors]` simulates pages that are all fetched at
the start, and again when the rule says so. The rates of change have a long tail: some pages never change, the median of
the others changes once in 20 days, and some change many times a day. Three kinds of histories have these rates:

- poisson: changes come at random;
- bursty: they come five at a time on average, two hours apart;
- daily: they only come by day, on weekends a third as often.

For a share of the pages the server says when they last changed, for some of them wrongly. All columns have as many
fetches as the rule made:

- ours: crawler/recrawl/revisit_interval.py;
- fixed: the same interval for each page;
- best: the intervals with the greatest expected freshness for Poisson changes at known rates (Cho and Garcia-Molina
  2003). No crawl can know the rates; for the other two histories this is only a yardstick.

Freshness is the share of time and pages in which the copy is current. Age is how many hours ago the copy stopped being
current, on average over time and pages. To be fresh, a crawl should give up pages that change too often to be kept
current; for the age it should not.
"""

import argparse
import heapq
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from crawler.recrawl import revisit_interval
from crawler.recrawl.revisit_interval import DAY, HOUR, Bounds, CheckHistory, next_interval

Times = NDArray[np.float64]
NOW = 2e9
PAST = 400 * DAY  # before the first fetch, for what Last-Modified says
NEVER, MEDIAN, SPREAD = 0.25, 1 / (20 * DAY), 1.8
BURST, WITHIN = 5, 2 * HOUR
SAY, LIE = 0.5, 0.2  # shares: of pages with Last-Modified, and of these of wrong ones
Rule = Callable[[CheckHistory], float]


@dataclass(frozen=True)
class Pages:
    """Pages by the times of their changes, in seconds after the first fetch."""

    changes: list[Times]
    rates: Times
    last_modified: list[float | None]
    """The last change before the first fetch, as the server says it."""


@dataclass(frozen=True)
class Limits:
    """How long is simulated, and how many fetches a day there may be; 0 for any number."""

    span: float
    budget: int = 0
    is_elapsed: bool = False
    """Whether the rule is told the time since the last check instead of the interval that it gave."""


def rates_of(count: int, random: np.random.Generator) -> Times:
    rates = MEDIAN * np.exp(SPREAD * random.standard_normal(count))
    rates[random.random(count) < NEVER] = 0.0
    return rates


def poisson(rate: float, span: float, random: np.random.Generator) -> Times:
    return np.sort(random.uniform(-PAST, span, random.poisson(rate * (span + PAST))))


def bursty(rate: float, span: float, random: np.random.Generator) -> Times:
    starts = poisson(rate / BURST, span, random)
    sizes = random.geometric(1 / BURST, len(starts))
    parts = [start + np.cumsum(random.exponential(WITHIN, size)) for start, size in zip(starts, sizes, strict=True)]
    times = np.sort(np.concatenate(parts)) if parts else np.empty(0)
    return times[times < span]


def daily(rate: float, span: float, random: np.random.Generator) -> Times:
    """Changes between 8 and 20 o'clock, on two days of seven a third as many."""
    most = rate * 2 * 7 / (5 + 2 / 3)
    times = poisson(most, span, random)
    is_night = (times % DAY < 8 * HOUR) | (times % DAY > 20 * HOUR)
    is_rare = (times // DAY % 7 >= 5) & (random.random(len(times)) > 1 / 3)
    return times[~is_night & ~is_rare]


KINDS = {"poisson": poisson, "bursty": bursty, "daily": daily}


def last_modified_of(changes: Times, random: np.random.Generator) -> float | None:
    """What the server says about the last change before the first fetch; None if it says nothing."""
    if random.random() > SAY:
        return None
    if random.random() < LIE:
        return float(random.choice([0.0, 5 * DAY, -NOW]))  # now, in the future, in 1970
    before = changes[changes < 0]
    return float(before[-1]) if len(before) else -PAST


def pages_of(kind: str, count: int, span: float, seed: int) -> Pages:
    random = np.random.default_rng(seed)
    rates = rates_of(count, random)
    changes = [KINDS[kind](rate, span, random) for rate in rates]
    return Pages(changes, rates, [last_modified_of(times, random) for times in changes])


def fetched(pages: Pages, rule: Rule, limits: Limits) -> list[Times]:
    """The times at which each page is fetched; where there is a budget, the most overdue first."""
    gap = DAY / limits.budget if limits.budget else 0.0
    intervals = [0.0] * len(pages.rates)
    times: list[list[float]] = [[0.0] for _ in pages.rates]
    due = []
    for page, last_modified in enumerate(pages.last_modified):
        history = CheckHistory(NOW, 0, None, None if last_modified is None else NOW + last_modified)
        intervals[page] = rule(history)
        heapq.heappush(due, (intervals[page], page))
    free = 0.0
    while due:
        when, page = heapq.heappop(due)
        when = max(when, free)
        if when >= limits.span:
            break
        free = when + gap
        before = times[page][-1]
        last = np.searchsorted(pages.changes[page], when)
        changed = bool(last > np.searchsorted(pages.changes[page], before))
        interval = when - before if limits.is_elapsed else intervals[page]
        intervals[page] = rule(CheckHistory(NOW + when, interval, changed))
        times[page].append(when)
        heapq.heappush(due, (when + intervals[page], page))
    return [np.array(of) for of in times]


def at_intervals(intervals: Times, span: float, seed: int) -> list[Times]:
    """Fetches at fixed intervals, the first after a part of one drawn by chance; for infinity the one at 0 alone."""
    random = np.random.default_rng(seed)
    starts = intervals * random.random(len(intervals))
    return [
        np.concatenate([[0.0], np.arange(start, span, gap) if start < span else []])
        for start, gap in zip(starts, intervals, strict=True)
    ]


def best_intervals(rates: Times, number: float) -> Times:
    """The intervals for which `number` fetches a second give pages at these rates the greatest freshness.

    Freshness at rate L and f fetches a second is (1 - exp -r) / r, r = L / f. It gains (1 - (1 + r) exp -r) / L by f,
    which the best f makes the same m for all pages, and which is never above 1 / L: pages with L > 1 / m get none.
    """
    intervals = np.full(len(rates), np.inf)
    moving = rates[rates > 0]
    low, high = 0.0, float(1 / moving.min())
    for _ in range(100):
        middle = (low + high) / 2
        ratio = _ratio(middle * moving)
        low, high = (middle, high) if (moving / ratio).sum() > number else (low, middle)
    intervals[rates > 0] = _ratio(high * moving) / moving
    return intervals


def _ratio(gain: Times) -> Times:
    """The r with 1 - (1 + r) exp -r = gain, by bisection; infinity where there is none."""
    low, high = np.zeros(len(gain)), np.full(len(gain), 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        less = 1 - (1 + middle) * np.exp(-middle) < gain
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return np.where(gain < 1, high, np.inf)


@dataclass(frozen=True)
class Score:
    fetches: int
    freshness: float
    age: float


def score(pages: Pages, fetches: list[Times], span: float) -> Score:
    """What fetches are worth."""
    fresh = stale = 0.0
    for changes, times in zip(pages.changes, fetches, strict=True):
        ends = np.append(times[1:], span)
        after = np.append(changes, np.inf)[np.searchsorted(changes, times)]
        fresh += float(np.sum(np.minimum(after, ends) - times))
        stale += float(np.sum(np.maximum(0.0, ends - after) ** 2)) / 2
    whole = len(fetches) * span
    return Score(sum(map(len, fetches)) - len(fetches), fresh / whole, stale / whole / HOUR)


@dataclass(frozen=True)
class Row:
    """What a rule, a fixed interval and the best intervals came to with the same number of fetches."""

    ours: Score
    fixed: Score
    best: Score


def row(pages: Pages, rule: Rule, limits: Limits) -> Row:
    ours = score(pages, fetched(pages, rule, limits), limits.span)
    count = len(pages.rates)
    same = np.full(count, limits.span * count / ours.fetches)
    best = best_intervals(pages.rates, ours.fetches / limits.span)
    fixed, best_score = (score(pages, at_intervals(gaps, limits.span, 1), limits.span) for gaps in (same, best))
    return Row(ours, fixed, best_score)


COLUMNS = f"{'fixed':>8}{'best':>8}"
HEAD = f"{'':34}{'fetches':>9}   {'freshness: ours':>15}{COLUMNS}   {'age, hours: ours':>16}{COLUMNS}"


def line(name: str, of: Row) -> str:
    fresh = f"{of.ours.freshness:15.3f}{of.fixed.freshness:8.3f}{of.best.freshness:8.3f}"
    age = f"{of.ours.age:16.1f}{of.fixed.age:8.1f}{of.best.age:8.1f}"
    return f"{name:34}{of.ours.fetches:9,}   {fresh}   {age}"


@contextmanager
def with_numbers(**numbers: float) -> Iterator[None]:
    """The rule with other numbers than its own, for as long as this lasts."""
    before = {name: getattr(revisit_interval, name) for name in numbers}
    try:
        for name, number in numbers.items():
            setattr(revisit_interval, name, number)
        yield
    finally:
        for name, number in before.items():
            setattr(revisit_interval, name, number)


def compare(options: argparse.Namespace) -> None:
    """Print how the rule does on each kind of history, with and without a budget."""
    span, rule = options.days * DAY, partial(next_interval, bounds=Bounds())
    for kind in KINDS:
        pages = pages_of(kind, options.pages, span, options.seed)
        for budget in (0, options.budget, options.budget * 2 // 5):
            name = f"{kind}, {f'{budget:,} fetches a day' if budget else 'no budget'}"
            print(line(name, row(pages, rule, Limits(span, budget))), flush=True)


STEPS = ((0.5, 1.25), (0.5, 1.1), (0.6, 1.4), (0.7, 1.2), (0.8, 1.1), (0.3, 1.5), (0.5, 2.0))
BOUNDS = ((HOUR, 7), (HOUR, 14), (HOUR, 60), (DAY / 4, 30), (DAY, 30), (DAY, 14))  # the greater ones in days
STARTS = (("FIRST", 6), ("FIRST", 72), ("FIRST_LEAST", 1), ("FIRST_LEAST", 24))  # in hours
SHARES = (0.05, 0.2, 0.4)


def variants() -> Iterator[tuple[str, Rule, dict[str, float], bool]]:
    """Other rules: what they are called, the rule, its numbers, and whether it is told the elapsed time."""
    rule = partial(next_interval, bounds=Bounds())
    yield "as it is", rule, {}, False
    for down, up in STEPS:
        yield f"x {down} changed, x {up} not", rule, {"CHANGED": down, "UNCHANGED": up}, False
    for least, most in BOUNDS:
        bounded = partial(next_interval, bounds=Bounds(least, most * DAY))
        yield f"between {least / HOUR:.0f} hours and {most} days", bounded, {}, False
    for name, hours in STARTS:
        yield f"{name} = {hours} hours", rule, {name: hours * HOUR}, False
    for share in SHARES:
        yield f"AGE_SHARE = {share}", rule, {"AGE_SHARE": share}, False
    yield "no Last-Modified", rule, {"EARLIEST": 2 * NOW}, False
    yield "told the elapsed time", rule, {}, True


def study(options: argparse.Namespace) -> None:
    """Print what other factors, bounds and starts would do."""
    span = options.days * DAY
    for kind in ("poisson", "bursty"):
        pages = pages_of(kind, options.pages, span, options.seed)
        for budget in (0, options.budget):
            print(f"\n{kind}, {f'{budget:,} fetches a day' if budget else 'no budget'}")
            for name, rule, numbers, is_elapsed in variants():
                with with_numbers(**numbers):
                    print(line(name, row(pages, rule, Limits(span, budget, is_elapsed))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--budget", type=int, default=500, help="fetches a day, in the runs that have a limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--factors", action="store_true", help="what other factors, bounds and starts would do")
    options = parser.parse_args()
    started = time.perf_counter()
    print(f"{options.pages:,} pages, {options.days} days\n\n{HEAD}")
    (study if options.factors else compare)(options)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
