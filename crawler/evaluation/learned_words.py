"""The words that a crawl has learned: those of its topic, and those of links that led to it or away from it.

Each worker has learned its own, and says how many pages it learned from; together a word weighs the mean of its
weights, each as many times as its worker saw pages.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
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
    let_go: int = 0
    """Links that were priced no more because too many waited."""


def learned_words(summaries: Iterable[str]) -> LearnedWords:
    """What the workers that left these summaries have learned together."""
    known = [json.loads(summary) for summary in summaries]
    lists = {name: _together(known, name) for name in ("topic", "good", "bad")}
    return LearnedWords(len(known), **lists, let_go=sum(one["let_go"] for one in known))


def _together(summaries: list[Mapping[str, Any]], name: str) -> Weights:
    shares = [one["pages"] for one in summaries]
    if not any(shares):
        shares = [1] * len(shares)
    sums: defaultdict[str, float] = defaultdict(float)
    for one, share in zip(summaries, shares, strict=True):
        for word, weight in one[name]:
            sums[word[:LONGEST]] += weight * share / sum(shares)
    # What a link that led away weighs is below 0, or not: by its size it tells as much.
    ranked = sorted(sums.items(), key=lambda entry: (-abs(entry[1]), entry[0]))
    return tuple(entry for entry in ranked[:MOST_WORDS] if entry[1])
