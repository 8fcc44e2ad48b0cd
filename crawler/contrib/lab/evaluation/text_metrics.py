"""Scores the text that a method extracts from a page against the gold text.

A token is a run of letters and digits in lower case, or a single Chinese, Japanese or Korean character. A page has
these scores:

- Shingle precision and recall: the share of the output's runs of four tokens (shingles) that are in the gold, and of
  the gold's runs that are in the output. A run that occurs n times in one text and m times in the other is shared
  min(n, m) times. The share of an empty text is undefined, and left out of averages. A set of pages has one F1,
  computed from the average precision and the average recall.
- Word F1: the F1 of precision and recall of single tokens, computed for each page; 0 if one of the two texts is empty.
- Grade, after Shi: "excellent" if the main text is extracted and the noise is gone; "good" if the main text is
  extracted and some noise is left; "medium" if the main text is nearly extracted and more noise is left; "poor"
  otherwise. The graders of the paper judged by eye. Here, the main text is extracted from a word recall of .9 on, and
  nearly extracted from .7 on. The noise is gone from a word precision of .9 on; some is left from .7 on, and more from
  .5 on.
- Rate, Shao's P: the bytes of extracted main text over the bytes of all main text. The paper does not say whether
  extracted noise is counted. Here it is not: only the bytes of shared tokens count.
- Leaves, after Yan: precision and recall of the leaves that a method extracts. For Yan, a leaf is a leaf tag. Here it
  is a line of the page (`crawler.page.blocks.Block`), so tags inside a line are not leaves. Most methods return a text
  instead of leaves. So a leaf counts as extracted if all its runs of four tokens are in the text; a leaf of fewer
  tokens, if it is a line of the text. By the same rule, a leaf is main text if it is in the gold.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from crawler.contrib.lab.evaluation.gold import GoldPage
from crawler.page.page import Page

CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
TOKEN = re.compile(rf"[{CJK}]|[^\W{CJK}]+")
SHINGLE = 4
"""Tokens of a shingle."""
GRADES = {"excellent": (0.9, 0.9), "good": (0.9, 0.7), "medium": (0.7, 0.5), "poor": (0.0, 0.0)}
"""The least word recall and precision of each grade, the best grade first."""
RIGHT = 0.9
"""A page counts as right if its word F1 is at least this."""

T = TypeVar("T", bound=Hashable)
Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeafCounts:
    """Counts of the leaves of a page."""

    both: int
    """Leaves of main text that were extracted."""
    extracted: int
    """All leaves that were extracted."""
    main: int
    """All leaves of main text."""


@dataclass(frozen=True, slots=True)
class TextScore:
    """The scores of a method's text."""

    shingle_precision: float | None
    shingle_recall: float | None
    precision: float
    """Word precision."""
    recall: float
    """Word recall."""
    f1: float
    """Word F1."""
    rate: float | None
    leaves: LeafCounts
    size: int
    """Bytes of the text."""

    @property
    def grade(self) -> str:
        """The page's grade after Shi."""
        return grade(self.precision, self.recall)

    @property
    def right(self) -> bool:
        """Whether the page counts as right."""
        return self.f1 >= RIGHT


class CountedText:
    """A text with its tokens and shingles, counted once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.words = Counter(self.tokens)
        self.shingles = shingles(self.tokens)

    @cached_property
    def lines(self) -> frozenset[Shingle]:
        """The tokens of each line that has fewer tokens than a shingle."""
        lines = (tuple(tokens(line)) for line in self.text.splitlines())
        return frozenset(line for line in lines if len(line) < SHINGLE)

    def holds(self, leaf: Counter[Shingle]) -> bool:
        """Whether this text contains a leaf, which is given by its shingles, at least one."""
        first = next(iter(leaf))
        if len(first) < SHINGLE:  # then `first` is the whole leaf
            return first in self.lines
        return all(shingle in self.shingles for shingle in leaf)


class PageScorer:
    """Scores the outputs of several methods for one gold page."""

    def __init__(self, page: GoldPage) -> None:
        self.gold = CountedText(page.gold)
        blocks = Page.from_html(page.html, page.url).blocks
        leaves = (shingles(tokens(block.text)) for block in blocks)
        self.leaves = [leaf for leaf in leaves if leaf]
        self.is_main = [self.gold.holds(leaf) for leaf in self.leaves]

    def score(self, output: str) -> TextScore:
        """The scores of the text that a method extracted from the page."""
        text = CountedText(output)
        shingle_precision, shingle_recall = precision_recall(text.shingles, self.gold.shingles)
        precision, recall = (share or 0.0 for share in precision_recall(text.words, self.gold.words))
        is_extracted = [text.holds(leaf) for leaf in self.leaves]
        both = sum(in_text and in_gold for in_text, in_gold in zip(is_extracted, self.is_main, strict=True))
        return TextScore(
            shingle_precision=shingle_precision,
            shingle_recall=shingle_recall,
            precision=precision,
            recall=recall,
            f1=f1(precision, recall),
            rate=rate(text.words, self.gold.words),
            leaves=LeafCounts(both=both, extracted=sum(is_extracted), main=sum(self.is_main)),
            size=size(output),
        )


def tokens(text: str) -> list[str]:
    """The tokens of a text, in order.

    >>> tokens("Bees, 2 bees: 蜜蜂!")
    ['bees', '2', 'bees', '蜜', '蜂']
    """
    return TOKEN.findall(text.lower())


def shingles(tokens: Sequence[str]) -> Counter[Shingle]:
    """The counts of the runs of four tokens; fewer tokens than four are one run."""
    if not tokens:
        return Counter()
    last = max(1, len(tokens) - SHINGLE + 1)
    return Counter(tuple(tokens[start : start + SHINGLE]) for start in range(last))


def precision_recall(output_parts: Counter[T], gold_parts: Counter[T]) -> tuple[float | None, float | None]:
    """The shares of the output that is in the gold, and of the gold that is in the output.

    Both are 1 if both texts are empty; otherwise the share of an empty text is None.
    """
    if not output_parts and not gold_parts:
        return 1.0, 1.0
    both = (output_parts & gold_parts).total()
    precision = both / output_parts.total() if output_parts else None
    recall = both / gold_parts.total() if gold_parts else None
    return precision, recall


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall.

    >>> f1(1.0, 0.5), f1(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    if precision + recall:
        return 2 * precision * recall / (precision + recall)
    return 0.0


def grade(precision: float, recall: float) -> str:
    """The best grade whose limits are both reached."""
    return next(name for name, least in GRADES.items() if recall >= least[0] and precision >= least[1])


def rate(words: Counter[str], gold: Counter[str]) -> float | None:
    """The bytes of extracted main text over the bytes of all main text; None if the gold has no tokens."""
    if gold:
        return _bytes(words & gold) / _bytes(gold)
    return None


def mean(values: Iterable[float | None]) -> float | None:
    """The average of the values that are not None; None if there are none."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def size(text: str) -> int:
    """The bytes of a text in UTF-8."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "replace"))


def _bytes(words: Counter[str]) -> int:
    return sum(size(word) * count for word, count in words.items())
