"""The words that a crawl has learned: those of its topic, and those of links that led to it or away from it.

Each worker has learned its own, and says how many pages it learned from; together a word weighs the mean of its
weights, each as many times as its worker saw pages.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_WORDS = 40
LONGEST = 60
"""Characters of a word that are shown."""

Weights = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class LearnedWords:
    """Words with their weights, the weightiest first."""

    workers: int
    topic: Weights = ()
    good: Weights = ()
    bad: Weights = ()
    broken: int = 0
    """Summaries that could not be read."""
    let_go: int = 0
    """Links that were priced no more because too many waited."""


def learned_words(summaries: Iterable[str]) -> LearnedWords:
    """What the workers that left these summaries have learned together."""
    read = [_read(summary) for summary in summaries]
    known = [one for one in read if one is not None]
    lists = {name: _together(known, name) for name in ("topic", "good", "bad")}
    let_go = int(sum(_number(one.get("let_go")) for one in known))
    return LearnedWords(len(known), **lists, broken=len(read) - len(known), let_go=let_go)


def _read(summary: str) -> Mapping[str, Any] | None:
    try:
        found = json.loads(summary)
    except (ValueError, TypeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _together(summaries: list[Mapping[str, Any]], name: str) -> Weights:
    shares = [_number(one.get("pages")) for one in summaries]
    if not any(shares):
        shares = [1.0] * len(shares)
    sums: defaultdict[str, float] = defaultdict(float)
    for one, share in zip(summaries, shares, strict=True):
        for word, weight in _pairs(one.get(name)):
            sums[word] += weight * share / sum(shares)
    # What a link that led away weighs is below 0, or not: by its size it tells as much.
    ranked = sorted(sums.items(), key=lambda entry: (-abs(entry[1]), entry[0]))
    return tuple(entry for entry in ranked[:MOST_WORDS] if entry[1])


def _pairs(given: Any) -> Iterator[tuple[str, float]]:
    """Words and weights, of a mapping or of pairs; what is neither is left out."""
    entries = given.items() if isinstance(given, dict) else given if isinstance(given, list) else ()
    for entry in entries:
        if isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], str):
            yield entry[0][:LONGEST], _number(entry[1])


def _number(value: Any) -> float:
    """A number that can be added up; 0 for all else."""
    try:
        found = float(value) if isinstance(value, int | float) else 0.0
    except OverflowError:
        return 0.0
    return found if math.isfinite(found) else 0.0
