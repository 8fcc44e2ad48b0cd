"""Computes the relevance of pages by their similarity to the aim of a crawl, as in Rocchio's relevance feedback.

An aim is a vector of words: near to examples and to pages like them, far from other pages. Each language of a crawl may
have one, see crawler/topic/aims.py; a `Subject` is an aim with its pages. A word is represented by its place, a number
(crawler/topic/word_statistics.py).

    aim        e + l - u / 2, without negative values, of length 1
    e          mean of the vectors of the examples, in which a word has the value (1 + log of its count) times its
               weight in the vocabulary, less half of the mean of the counterexamples; for a topic given in words, the
               vector of those words is added; pages that people labelled are added, too
    l          mean of the remembered pages most like the aim so far: three of ten, at most 30
    u          mean of the half of the pages that is least like the aim
    likeness   of a page: the cosine of its vector and the aim
    bound      the likeness that separates the pages on the topic from the others: the geometric mean of the mean
               likeness of the pages of l and of u; as long as few pages are known, it is near FIRST_BOUND
    relevance  o / (1 + o), where o = (likeness / bound)^s: 1/2 at the bound; s is 2 at first, and grows with the pages

If the topic is given in words, l is the mean of the pages that name them most, and o is multiplied by
((n + 0.1) / m)^0.8: n is the page's word score, that is, how much it names the words (crawler/topic/keywords.py), and m
the geometric mean of the mean n + 0.1 of the pages of l and of those of u. So it makes little difference whether a
topic has one word, or ten of which each page names few. When the aim is computed again, all remembered pages are judged
again.
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from crawler.topic.keywords import POWER, strength
from crawler.topic.word_statistics import PLACES, KnownPage, Values, Vector

REMEMBERED = 500
"""How many pages of this run are remembered for each aim."""
FIRST_STEEPNESS = 2.0
"""The exponent s before any page is known."""
LIKE_SHARE = 0.3
MOST_LIKE = 30
UNLIKE_WEIGHT = 0.5
LABEL_WEIGHT = 2.0
"""The weight that labelled pages approach when there are very many."""
FEW_GOOD = 3
"""The number of labelled pages on the topic that have half of LABEL_WEIGHT."""
FEW_BAD = 10
"""The number of labelled pages off the topic that have half of LABEL_WEIGHT."""
FIRST_BOUND = 0.1
"""The bound of likeness before any page is known."""
FIRST_WORD_BOUND = 0.3
"""The bound m before any page is known."""
FIRST_PAGES = 50
"""The weight of the first bound, in pages."""
WORD_POWER = 0.8
ADDED_WORD_SCORE = 0.1
"""Added to word scores, because a page that names no word may still be about the topic."""
LEAST_BOUND = 0.1
"""The least bound, as a share of the mean likeness of the pages most like the aim."""

LEARNED_PAGES = 50
"""The number of pages after which the formula in the head counts as much as `_with_words`, if the topic has words."""
MORE_STEEPNESS = 6.0
"""By how much the exponent s grows at most: relevance is more certain when more pages were seen."""
STEEPNESS_PAGES = 500
"""The number of pages after which s has grown by half of MORE_STEEPNESS."""
NO_PLACES = np.empty(0, np.intp)
NO_VALUES: Values = np.empty(0)
WORDLESS_WEIGHT = 0.5
"""If the topic is given in words, the weight of likeness in `_with_words` for a page that names none of them."""


@dataclass(frozen=True, slots=True)
class LikeCounts:
    """How many pages count as most like the topic, and how many as least like it."""

    like: int
    unlike: int

    @classmethod
    def of(cls, pages: int) -> Self:
        """The counts for a number of pages."""
        return cls(like=min(MOST_LIKE, int(np.ceil(LIKE_SHARE * pages))), unlike=pages // 2)


@dataclass(frozen=True)
class LearnedWords:
    """The words of a language that were learned in place of the words of the topic."""

    weights: Mapping[int, float]
    """The weight of each word, by its place."""

    def score(self, vector: Vector) -> float:
        """How strongly a page is about the words, from 0 to 1, computed as in crawler/topic/keywords.py."""
        # The value of a word that occurs n times is 1 + log n.
        length = float(np.exp(vector.values - 1).sum())
        powers = 0.0
        for place, value in zip(vector.places.tolist(), vector.values.tolist(), strict=True):
            if place in self.weights:
                powers += self.weights[place] * strength(math.exp(value - 1), length) ** POWER
        return float((powers / sum(self.weights.values())) ** (1 / POWER))


class Subject:
    """An aim, and the pages from which it is computed."""

    def __init__(self, words: Vector | None = None) -> None:
        self.words = words
        """The words in which the topic was given."""
        self.pages: deque[KnownPage] = deque(maxlen=REMEMBERED)
        self.lent: dict[int, list[KnownPage]] = {}
        """Pages of other workers and of an earlier run, by worker number."""
        self.examples: list[Vector] = []
        self.against: list[Vector] = []
        self.labelled: list[tuple[KnownPage, bool]] = []
        """Pages that people labelled, and whether they are on the topic."""
        self.lesson: Values | None = None
        """For a language to which the topic is foreign: a vector that replaces the words, see crawler/topic/aims.py."""
        self.trust = 1.0
        """The factor of relevance, which is lower if a lesson comes from few pages."""
        self.learned_words: LearnedWords | None = None
        """The words of a foreign language that replace the words of the topic."""
        self.word_scale = 1.0
        """The factor of word scores, above 1 if some words of the topic do not count, because only pages in other
        languages contain them.
        """
        self.like: list[KnownPage] = []
        """The pages most like the aim."""
        self.unlike: list[KnownPage] = []
        """The pages least like the aim."""
        self.bound = FIRST_BOUND
        """The bound of likeness."""
        self.word_bound = FIRST_WORD_BOUND
        """The bound m of word scores."""
        self.aim = np.zeros(PLACES)
        self.weights = np.zeros(PLACES)
        """The weights of words in the vocabulary when the aim was computed."""

    def likeness(self, vector: Vector) -> float:
        """The cosine of a text's words and the aim."""
        weighted = vector.values * self.weights[vector.places]
        length = float(np.sqrt(weighted @ weighted))
        if length:
            return float(weighted @ self.aim[vector.places]) / length
        return 0.0

    def relevance(
        self, likeness: float | Values, word_score: float | Values | None = None, steepness: float = FIRST_STEEPNESS
    ) -> Values:
        """The relevance, from 0 to 1, that belongs to a likeness and, if it is given, to a word score."""
        odds = np.asarray(likeness / self.bound) ** steepness
        if word_score is not None:
            odds = odds * ((word_score + ADDED_WORD_SCORE) / self.word_bound) ** WORD_POWER
        return np.asarray(odds / (1 + odds))

    def training_relevance(self, likeness: Any, word_score: Any) -> Any:
        """The relevance of pages that the scores of links learn from. The words of the topic count as much when many
        pages are known as at first, unlike in `page_relevance`.
        """
        relevance = self.trust * self.relevance(likeness)
        if self.has_words:
            return _with_words(word_score, relevance)
        return relevance

    def page_relevance(self, likeness: Any, word_score: Any, pages: int) -> Any:
        """The relevance of pages after `pages` pages were seen. At first, the words of the topic decide."""
        steepness = FIRST_STEEPNESS + MORE_STEEPNESS * pages / (pages + STEEPNESS_PAGES)
        if not self.has_words:
            return self.trust * self.relevance(likeness, steepness=steepness)
        learned_share = pages / (pages + LEARNED_PAGES)
        learned = self.relevance(likeness, word_score, steepness)
        return (1 - learned_share) * self.training_relevance(likeness, word_score) + learned_share * learned

    @property
    def has_words(self) -> bool:
        """Whether there are words to look for in pages: those of the topic, or words learned in their place."""
        if self.lesson is None:
            return self.words is not None
        return self.learned_words is not None

    def word_score(self, page: KnownPage) -> float:
        """How much a page in the language of this aim names the words of the topic, or the words learned in their
        place.
        """
        if self.learned_words is not None:
            return max(page.word_score, self.learned_words.score(page.vector))
        return min(1.0, self.word_scale * page.word_score)

    def learn(self, stack: "PageStack", like_counts: LikeCounts | None = None) -> list[tuple[KnownPage, float]]:
        """Compute the aim again from the known pages (`stack`); returns the pages of this run, with their likeness.

        Without `like_counts`, they follow from the number of pages.
        """
        # The examples, with labels and words.
        examples = self.weigh_examples(stack.weights)
        if self.labelled:
            examples += self._labels()
        if self.lesson is not None:
            examples += self.lesson
        elif self.words is not None:
            examples += mean_of([self.words], self.weights)
        pages = stack.pages
        if not pages:
            self.aim = _unit(examples)
            return []

        # The rows of the pages most like the topic so far, and of those least like it. If the topic is given only in
        # words, word scores decide.
        if self.has_words and not self.examples:
            closeness = np.array([self.word_score(page) for page in pages])
        else:
            closeness = stack.likeness(_unit(examples + self.aim))
        order = np.argsort(-closeness, kind="stable")
        counts = like_counts or LikeCounts.of(len(pages))
        # Pages that are examples already count in e.
        like = [at for at in order.tolist() if closeness[at] > 0 and not pages[at].is_example]
        like = like[: counts.like]
        unlike = order[len(pages) - counts.unlike :].tolist()

        # The new aim, computed in place, as each array takes 2 MB.
        aim = examples
        aim += stack.mean(dict.fromkeys(like, 1.0))
        away = stack.mean(dict.fromkeys(unlike, 1.0))
        away *= UNLIKE_WEIGHT
        aim -= away
        self.aim = _unit(aim)

        # The bounds that follow from it.
        likeness = stack.likeness(self.aim)
        self.bound = _bound(likeness, like, unlike)
        self.like = [pages[at] for at in like]
        self.unlike = [pages[at] for at in unlike]
        if like:
            self.word_bound = bound_of_word_scores(map(self.word_score, self.like), map(self.word_score, self.unlike))
        # The known pages begin with those of this run.
        return list(zip(self.pages, likeness[: len(self.pages)].tolist(), strict=True))

    def weigh_examples(self, weights: Values) -> Values:
        """Set the weights of words; returns the mean of the examples, less half the mean of the counterexamples."""
        self.weights = weights
        mean = mean_of(self.examples, weights)
        if self.against:
            mean -= UNLIKE_WEIGHT * mean_of(self.against, weights)
        return mean

    def known_pages(self) -> list[KnownPage]:
        """The remembered pages, and those of other workers and an earlier run."""
        return [*self.pages, *chain(*self.lent.values())]

    def _labels(self) -> Values:
        """The vector that labelled pages add to the examples; its weight rises with their number to LABEL_WEIGHT."""
        good = [page.vector for page, is_on_topic in self.labelled if is_on_topic]
        bad = [page.vector for page, is_on_topic in self.labelled if not is_on_topic]
        good_share = len(good) / (len(good) + FEW_GOOD)
        bad_share = len(bad) / (len(bad) + FEW_BAD)
        towards = good_share * mean_of(good, self.weights)
        away = UNLIKE_WEIGHT * bad_share * mean_of(bad, self.weights)
        return np.asarray(LABEL_WEIGHT * (towards - away))


def mean_of(texts: Sequence[Vector], weights: Values) -> Values:
    """The mean vector of some texts, each of length 1."""
    mean = np.zeros(PLACES)
    for places, values in texts:
        weighted = values * weights[places]
        mean[places] += weighted / (np.sqrt(weighted @ weighted) or 1.0)
    mean /= max(1, len(texts))
    return mean


class PageStack:
    """The vectors of pages, each of length 1, as arrays of the place and the value of every word, page by page."""

    def __init__(self, pages: Sequence[KnownPage], weights: Values) -> None:
        self.pages = pages
        self.weights = weights
        sizes = np.array([len(page.vector.places) for page in pages], np.intp)
        self._ends = np.cumsum(sizes)
        self._starts = self._ends - sizes
        self._has_words = sizes > 0
        # In numpy's type of indices, as any other type would be converted each time.
        self.places = np.concatenate([NO_PLACES, *(page.vector.places for page in pages)]).astype(np.intp)
        values = np.concatenate([NO_VALUES, *(page.vector.values for page in pages)])
        values *= weights.take(self.places)
        lengths = np.sqrt(self._sums(values * values))
        values /= np.repeat(np.where(lengths > 0, lengths, 1.0), sizes)
        self._values = values

    def likeness(self, aim: Values) -> Values:
        """The cosine of each page and the aim."""
        return self._sums(self._values * aim.take(self.places))

    def mean(self, shares: Mapping[int, float]) -> Values:
        """The weighted mean of some of the pages; `shares` has their weights by row."""
        rows = sorted(shares)
        slices = [slice(self._starts[row], self._ends[row]) for row in rows]
        places = np.concatenate([NO_PLACES, *(self.places[part] for part in slices)])
        values = [self._values[part] * shares[row] for row, part in zip(rows, slices, strict=True)]
        mean = np.bincount(places, np.concatenate([NO_VALUES, *values]), PLACES).astype(np.float64, copy=False)
        mean /= sum(shares.values()) or 1.0
        return mean

    def _sums(self, values: Values) -> Values:
        """The sum of the values of each page."""
        sums = np.zeros(len(self.pages))
        # reduceat sums from each start to the next one, so that a page without words must have no start.
        sums[self._has_words] = np.add.reduceat(values, self._starts[self._has_words])
        return sums


def bound_of_word_scores(like: Iterable[float], unlike: Iterable[float]) -> float:
    """The bound m, given the word scores of the pages most like the topic and of the pages least like it."""
    mean_of_like = _mean(list(like)) + ADDED_WORD_SCORE
    mean_of_unlike = _mean(list(unlike)) + ADDED_WORD_SCORE
    return float(np.sqrt(mean_of_like * mean_of_unlike))


def _mean(numbers: Sequence[float]) -> float:
    """The mean of numbers; 0 if there are none."""
    return sum(numbers) / max(1, len(numbers))


def _bound(likeness: Values, like: list[int], unlike: list[int]) -> float:
    """The bound of likeness, given the rows of the pages most like the aim and least like it."""
    near = float(likeness[like].mean()) if like else 0.0
    far = float(likeness[unlike].mean()) if unlike else 0.0
    count = len(likeness)
    bound = (count * float(np.sqrt(near * far)) + FIRST_PAGES * FIRST_BOUND) / (count + FIRST_PAGES)
    return max(bound, LEAST_BOUND * near)


def _unit(vector: Values) -> Values:
    """The vector without negative values, of length 1."""
    unit = np.maximum(vector, 0.0)
    unit /= float(np.sqrt(unit @ unit)) or 1.0
    return unit


def _with_words(word_score: Any, relevance: Any) -> Any:
    """The relevance of a page mainly by its word score: more if the page is also similar to the aim (`relevance`), and
    at most half of that if it names no word.
    """
    return np.maximum(np.maximum(word_score, np.sqrt(word_score * relevance)), WORDLESS_WEIGHT * relevance)
