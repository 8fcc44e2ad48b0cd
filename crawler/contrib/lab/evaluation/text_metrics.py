"""The scores of a text that a method takes out of a page, against the gold text.

A token is a run of letters and digits, in lower case; a Chinese, Japanese or Korean character is one by itself. Of a
page there are

- shingle precision and recall: the shares of the runs of four tokens in the output that are in the gold, and in the
  gold that are in the output, each as often as it stands in both. Where a text is empty its share is undefined, and
  left out of averages; a set's F1 is that of its average precision and its average recall.
- word F1: the same of single tokens, of each page by itself; 0 where one of the two texts is empty.
- grade, after Shi: "excellent" main text taken out, noise gone; "good" some noise left; "medium" main text nearly taken
  out, more noise left; "poor" noise left or main text lost. The paper's graders went by eye. Here "taken out" is a word
  recall of .9, "nearly" of .7; noise is "gone" from a word precision of .9 on, "some" from .7, "more" from .5.
- rate, Shao's P: bytes of main text taken out over bytes of main text there are. The paper does not say whether noise
  taken out counts with the former. It is no main text, so here it does not: the bytes are those of shared tokens.
- leaves, after Yan, whose unit is the leaf tag: of the leaves that a method takes for main text, how many are, and of
  those that are, how many it takes. A leaf here is a line of the page (`crawler.page.blocks.Block`), so that tags
  inside a line are no leaves of their own. As most methods give a text and not leaves, one is taken for main text when
  each of its runs of four tokens is in that text, or, if it is shorter, when it is a line of it. The same rule on the
  gold says which are main text.
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
# Least word recall and precision of each grade, the best first.
GRADES = {"excellent": (0.9, 0.9), "good": (0.9, 0.7), "medium": (0.7, 0.5), "poor": (0.0, 0.0)}
RIGHT = 0.9  # the word F1 from which on a page counts as right

T = TypeVar("T", bound=Hashable)
Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeafCounts:
    """Leaves of a page, or of many."""

    both: int
    """Main text that was taken for it."""
    taken: int
    main: int


@dataclass(frozen=True, slots=True)
class TextScore:
    """The scores of a method's text."""

    shingle_precision: float | None
    shingle_recall: float | None
    precision: float
    recall: float
    f1: float
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
        """The tokens of the lines shorter than a shingle."""
        cut = (tuple(tokens(line)) for line in self.text.splitlines())
        return frozenset(line for line in cut if len(line) < SHINGLE)

    def holds(self, leaf: Counter[Shingle]) -> bool:
        """Whether a leaf, given by its shingles, lies in this text."""
        first = next(iter(leaf))
        if len(first) < SHINGLE:
            return first in self.lines
        return all(shingle in self.shingles for shingle in leaf)


class PageScorer:
    """Scores any number of outputs for one gold page."""

    def __init__(self, page: GoldPage) -> None:
        self.gold = CountedText(page.gold)
        blocks = Page.from_html(page.html, page.url).blocks
        self.leaves = [leaf for block in blocks if (leaf := shingles(tokens(block.text)))]
        self.main = [self.gold.holds(leaf) for leaf in self.leaves]

    def score(self, output: str) -> TextScore:
        """The score of what a method took out of the page."""
        text = CountedText(output)
        shingle_precision, shingle_recall = precision_recall(text.shingles, self.gold.shingles)
        precision, recall = (share or 0.0 for share in precision_recall(text.words, self.gold.words))
        is_taken = [text.holds(leaf) for leaf in self.leaves]
        both = sum(in_output and other for in_output, other in zip(is_taken, self.main, strict=True))
        return TextScore(
            shingle_precision=shingle_precision,
            shingle_recall=shingle_recall,
            precision=precision,
            recall=recall,
            f1=f1(precision, recall),
            rate=rate(text.words, self.gold.words),
            leaves=LeafCounts(both=both, taken=sum(is_taken), main=sum(self.main)),
            size=size(output),
        )


def tokens(text: str) -> list[str]:
    """The tokens of a text, in order.

    >>> tokens("Bees, 2 bees: 蜜蜂!")
    ['bees', '2', 'bees', '蜜', '蜂']
    """
    return TOKEN.findall(text.lower())


def shingles(tokens: Sequence[str]) -> Counter[Shingle]:
    """How often each run of four tokens is there; of fewer tokens, the one run that they are."""
    if not tokens:
        return Counter()
    last = max(1, len(tokens) - SHINGLE + 1)
    return Counter(tuple(tokens[start : start + SHINGLE]) for start in range(last))


def precision_recall(output_parts: Counter[T], gold_parts: Counter[T]) -> tuple[float | None, float | None]:
    """The share of what was found that was wanted, and the reverse; 1 where both are empty, None of nothing."""
    if not output_parts and not gold_parts:
        return 1.0, 1.0
    both = (output_parts & gold_parts).total()
    return both / output_parts.total() if output_parts else None, both / gold_parts.total() if gold_parts else None


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of the two.

    >>> f1(1.0, 0.5), f1(0.0, 0.0)
    (0.6666666666666666, 0.0)
    """
    if precision + recall:
        return 2 * precision * recall / (precision + recall)
    return 0.0


def grade(precision: float, recall: float) -> str:
    """The first grade whose limits both are reached."""
    return next(name for name, least in GRADES.items() if recall >= least[0] and precision >= least[1])


def rate(words: Counter[str], gold: Counter[str]) -> float | None:
    """The bytes of main text that were found over those there are; None where there are none."""
    if gold:
        return _bytes(words & gold) / _bytes(gold)
    return None


def mean(values: Iterable[float | None]) -> float | None:
    """The average of those that are defined; None where none is."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def size(text: str) -> int:
    """The bytes of a text in UTF-8."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "replace"))


def _bytes(words: Counter[str]) -> int:
    return sum(size(word) * count for word, count in words.items())
