"""The aims of a crawl, one for each language, so that pages are compared with pages in their own language.

An aim is a vector of words, see crawler/topic/relevance.py; a `Subject` is an aim with its pages. A word is represented
by its place, a number (crawler/topic/word_statistics.py). The first language shares its aim with all languages in which
few pages were seen. Another language gets an aim of its own as soon as SHARE of the remembered pages are in it.

The topic is foreign to a language if pages in that language hardly contain the words of the topic, or of its examples;
all other languages are native. The aim of a foreign language is learned from the native languages:

    lesson     g - b + s, the vector from which the aim begins
    g, b       means of the pages in the language whose translations are on the topic (g), and off it (b): each page has
               the weight r in g and 1 - r in b, where r is the relevance of its translation. A page without a known
               translation has a quarter of these weights, and r is the relevance of the pages in native languages in
               its folder. The mean of few pages is shrunk.
    s          the words of the native languages' aims that also occur in the pages of the language, such as names
    words      words that are more frequent in the pages of g than in those of b, by the log-likelihood ratio of
               T. Dunning, "Accurate Methods for the Statistics of Surprise and Coincidence", Computational Linguistics
               1993. They replace the words of the topic.

This is relevance feedback by a comparable corpus, as in P. Sheridan and J. P. Ballerini, "Experiments in Multilingual
Information Retrieval Using the SPIDER System", SIGIR 1996. Relevance in such a language is multiplied by its trust
n / (n + 1), where n is the number of pages on the topic that were learned from; the words of s count as some more.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from typing import Self

import numpy as np

from crawler.topic.keywords import POWER
from crawler.topic.page_translations import Translations
from crawler.topic.relevance import LearnedWords, LikeCounts, PageStack, Subject, mean_of
from crawler.topic.word_statistics import PLACES, KnownPage, Values, Vector

SHARE = 0.01
"""The least share of the remembered pages in a language with an aim of its own."""
LEAST_PAGES = 3
"""The least number of pages in a language with an aim of its own."""
MOST_LANGUAGES = 4
"""At most this many languages have an aim of their own, beside the first one: each takes 6 MB."""
BEST_PAGES = 3
"""How many pages of a language decide whether the topic is foreign to it: those that name the topic most. If the topic
is given only in words, it is also the least number of pages that count as most like the aim of a language.
"""
FOREIGN = 0.7
"""The topic is foreign to a language if its clearness (`_Group.clearness`) is below this share of the highest."""
FEW_PAGES = 10
"""The relevance of a page's folder counts half if this many pages in its language are known, and it is native."""
LESSON_PAGES = 1.0
"""The number of pages with which g or b counts half, and with which the trust is one half."""
MOST_LEARNED = 10
"""The most words of a language that are learned in place of the words of the topic."""
LEAST_RATIO = 3.84
"""The least value of twice the log-likelihood ratio: 1 word in 20 reaches it by chance."""
TINY = 1e-12
"""Replaces 0 in logarithms."""
FOLDER_WEIGHT = 0.25
"""The weight in g and b of a page without a known translation."""
SHARED_PAGES = 10.0
"""For how many pages on the topic the words s count in the trust, if the language has all words of the native aims."""


@dataclass(frozen=True)
class TopicWord:
    """A word of the topic, or a word of similar meaning."""

    topic_word: str
    """The word of the topic: this word itself, or the word that it is similar to."""
    weight: float
    """The weight of the word of the topic, times the similarity."""
    place: int
    """The place of this word."""
    places: tuple[int, ...]
    """The places of its spellings (`spellings` in crawler/topic/keywords.py), or of its parts."""
    has_spellings: bool
    """Whether `places` are those of its spellings."""
    is_given: bool
    """Whether this word is the word of the topic itself."""


def word_vector(words: Iterable[TopicWord], weights: Values) -> Vector | None:
    """Words of a topic as a vector; all spellings of a word count the same, although some are rarer."""
    values: dict[int, float] = {}
    for word in words:
        for place in word.places:
            # Values are later multiplied by the weights of their places: each spelling then has the weight of the word.
            factor = weights[word.place] / weights[place] if word.has_spellings else 1.0
            values[place] = word.weight * float(factor)
    if values:
        places = np.fromiter(values, np.int32, len(values))
        return Vector(places=places, values=np.fromiter(values.values(), np.float64, len(values)))
    return None


class Aims:
    """The aims by language, and the pages from which they are computed."""

    def __init__(self, translations: Translations) -> None:
        self.first = Subject()
        """The aim of the first language."""
        self.others: dict[str, Subject] = {}
        """The aims of other languages."""
        self.translations = translations
        self._lent: dict[int, Sequence[KnownPage]] = {}
        """The pages of other workers and of an earlier run, by worker number."""
        self._first_language = ""
        """The language of the first page whose language is known."""
        self._native_languages: frozenset[str] = frozenset()
        """The languages to which the topic is not foreign."""

    def of(self, language: str) -> Subject:
        """The aim of a language: its own, or that of the first language."""
        return self.others.get(language, self.first)

    def all(self) -> list[Subject]:
        """All aims, that of the first language first."""
        return [self.first, *self.others.values()]

    def compared_with(self, language: str) -> list[Subject]:
        """The aims with which pages in a language are compared: that of the language, and the first one unless the
        topic is foreign to the first language.
        """
        own = self.of(language)
        if own is self.first or self.first.lesson is not None:
            return [own]
        return [own, self.first]

    def add(self, page: KnownPage) -> bool:
        """Remember a page; returns whether its language now gets an aim of its own."""
        self._first_language = self._first_language or page.language
        subject = self.of(page.language)
        subject.pages.append(page)
        if subject is not self.first or not self._needs_aim(page.language):
            return False
        self._add_aim(page.language)
        return True

    def lend(self, worker_number: int, pages: Sequence[KnownPage]) -> None:
        """Learn from pages of another worker, or of an earlier run; they replace the pages lent before under this
        number.
        """
        self._lent[worker_number] = pages
        self.first.lent[worker_number] = list(pages)  # counted by `_needs_aim`, and then distributed
        # The languages in the order of their first pages.
        for language in dict.fromkeys(page.language for page in pages):
            self._first_language = self._first_language or language
            if self._needs_aim(language):
                self._add_aim(language)
        self._distribute_lent()

    def _needs_aim(self, language: str) -> bool:
        """Whether a language has no aim of its own yet, and enough pages for one."""
        if language in ("", self._first_language) or len(self.others) >= MOST_LANGUAGES:
            return False
        pages = self.first.known_pages()
        return sum(page.language == language for page in pages) >= max(LEAST_PAGES, SHARE * len(pages))

    def _add_aim(self, language: str) -> None:
        """Give a language an aim of its own."""
        first = self.first
        subject = Subject()
        subject.examples = first.examples
        subject.against = first.against
        subject.labelled = first.labelled
        pages = list(first.pages)
        first.pages.clear()
        self.others[language] = subject
        for page in pages:
            self.of(page.language).pages.append(page)
        self._distribute_lent()

    def _distribute_lent(self) -> None:
        """Give each aim the lent pages in its language."""
        for subject in self.all():
            subject.lent = {}
        for worker_number, pages in self._lent.items():
            for page in pages:
                self.of(page.language).lent.setdefault(worker_number, []).append(page)

    def learn(self, weights: Values, words: Sequence[TopicWord]) -> list[tuple[Subject, list[tuple[KnownPage, float]]]]:
        """Compute all aims again, with the weights of words; returns for each aim the pages of this run, with their
        likeness to it.
        """
        if not self.others:
            self.first.words = word_vector(words, weights)
            return [(self.first, self.first.learn(PageStack(self.first.known_pages(), weights)))]

        # The native languages: those to which the topic is not foreign.
        groups = [_Group(subject, weights) for subject in self.all()]
        highest_clearness = max(group.clearness(words) for group in groups)
        native = [group for group in groups if group.clearness(words) >= FOREIGN * highest_clearness]
        for group in native:
            group.take_words(words, groups)
        # Without examples, the pages of an aim are ranked by their word scores, which are comparable between languages.
        counts: dict[_Group, LikeCounts] = {}  # without counts, an aim computes them from the number of its pages
        if words and not self.first.examples:
            counts = dict(zip(groups, _like_counts(groups), strict=True))
        judged = [(group.subject, group.subject.learn(group.stack, counts.get(group))) for group in native]
        for subject, pages in judged:
            self._record_relevance(subject, pages)

        # The foreign languages, which learn from the native ones.
        languages = self._native_languages = frozenset(page.language for group in native for page in group.pages)
        for group in groups:
            if group not in native:
                group.take_lesson(self.translations, languages, [other.subject for other in native])
                group.add_words(words)
                judged.append((group.subject, group.subject.learn(group.stack)))
        return judged

    def is_foreign(self, language: str) -> bool:
        """Whether the topic is foreign to a language. Languages without an aim of their own count as foreign, except
        the first language and an unknown language.
        """
        if self.of(language) is self.first:
            return self.first.lesson is not None or language not in ("", self._first_language)
        return self.of(language).lesson is not None

    def of_translation(self, page: KnownPage) -> float | None:
        """The mean relevance of a page's translations into native languages; None if no translation is known."""
        return self.translations.relevance(page.address, self._other_native_languages(page.language))

    def of_folder(self, page: KnownPage) -> float:
        """The relevance of the pages in other native languages in a page's folder. The more pages the aim of the page's
        language has learned from, the less this relevance counts.
        """
        subject = self.of(page.language)
        is_foreign = self.is_foreign(page.language)
        if not page.language or not (self.others or is_foreign):
            return 0.0
        if not is_foreign:
            share = FEW_PAGES / (FEW_PAGES + len(subject.known_pages()))
        elif subject.lesson is not None:
            share = 1 - subject.trust
        else:
            share = 1.0
        return share * self.translations.of_folder(page.address, self._other_native_languages(page.language))

    def _other_native_languages(self, language: str) -> frozenset[str]:
        """The other languages to which the topic is not foreign."""
        return (self._native_languages or frozenset((self._first_language,))) - {language}

    def _record_relevance(self, subject: Subject, pages: Sequence[tuple[KnownPage, float]]) -> None:
        """Record the training relevance of pages, given with their likeness; their translations learn from it."""
        likeness = np.array([value for _, value in pages])
        word_scores = np.array([subject.word_score(page) for page, _ in pages])
        relevance_of_pages = subject.training_relevance(likeness, word_scores).tolist()
        for (page, _), relevance in zip(pages, relevance_of_pages, strict=True):
            self.translations.set_relevance(page.address, page.language, relevance)


def _like_counts(groups: Sequence["_Group"]) -> list[LikeCounts]:
    """The counts for each group. Its pages most like the topic are those among the best pages of all groups together,
    but at least BEST_PAGES.
    """
    scored = [(group.subject.word_score(page), at) for at, group in enumerate(groups) for page in group.pages]
    total = LikeCounts.of(len(scored))
    best_pages_of_group = Counter(at for _, at in nlargest(total.like, scored))
    counts = [LikeCounts.of(len(group.pages)) for group in groups]
    return [replace(count, like=max(best_pages_of_group[at], BEST_PAGES)) for at, count in enumerate(counts)]


class _Group:
    """An aim, the pages in its language, and the words that they contain."""

    def __init__(self, subject: Subject, weights: Values) -> None:
        self.subject = subject
        self.pages = subject.known_pages()
        self.weights = weights
        self.stack = PageStack(self.pages, weights)
        self.is_met = np.zeros(PLACES, np.bool_)
        """Whether the pages contain the word of each place."""
        self.is_met[self.stack.places] = True

    def has_any(self, places: Sequence[int]) -> bool:
        """Whether pages in the language have any of these words."""
        return bool(self.is_met[list(places)].any())

    @cached_property
    def _likeness_to_examples(self) -> Values:
        return self.stack.likeness(self.subject.weigh_examples(self.weights))

    def clearness(self, words: Sequence[TopicWord]) -> float:
        """How clearly the pages in the language show the topic: how much the best of them name its words, or if it has
        no words, how similar they are to its examples.
        """
        if not self.pages:
            return 0.0
        scores = [page.word_score for page in self.pages] if words else self._likeness_to_examples.tolist()
        return sum(nlargest(BEST_PAGES, scores)) / BEST_PAGES

    def take_words(self, words: Sequence[TopicWord], groups: Sequence[Self]) -> None:
        """Aim at the words of the topic, except words that only pages in other languages contain; but at all words if
        that would leave none.
        """
        is_met_by_others = np.any([group.is_met for group in groups if group is not self], axis=0)
        own_topic_words = {
            word.topic_word
            for word in words
            if self.has_any(word.places) or not is_met_by_others[list(word.places)].any()
        }
        own = [word for word in words if word.topic_word in own_topic_words] or words
        self.subject.words = word_vector(own, self.weights)
        self.subject.lesson = None
        self.subject.learned_words = None
        self.subject.trust = 1.0

        # `KnownPage.word_score` is a mean over all words of the topic: this factor makes it a mean over these words.
        total_weight = sum(word.weight for word in words if word.is_given)
        own_weight = sum(word.weight for word in own if word.is_given)
        self.subject.word_scale = (total_weight / own_weight) ** (1 / POWER) if own_weight else 1.0

    def take_lesson(self, translations: Translations, languages: Collection[str], natives: Sequence[Subject]) -> None:
        """Aim at the lesson, see the head of this module; `natives` are the aims of the native `languages`."""
        # How much each page is on the topic, and off it.
        good: dict[int, float] = {}
        bad: dict[int, float] = {}
        addresses = {page.address.folder: page.address for page in self.pages}
        of_folders = {folder: translations.of_folder(key, languages) for folder, key in addresses.items()}
        for row, page in enumerate(self.pages):
            weight = 1.0
            relevance = translations.relevance(page.address, languages)
            if relevance is None:
                weight = FOLDER_WEIGHT
                relevance = of_folders[page.address.folder] or None  # 0 says that no relevant page is known
            if relevance is not None:
                good[row] = weight * relevance
                bad[row] = weight * (1 - relevance)
        self.subject.learned_words = self._words_of(good, bad)

        # The lesson, computed in place, as each array takes 2 MB.
        of_good = sum(good.values())
        of_bad = sum(bad.values())
        lesson = self.stack.mean(good)
        lesson *= of_good / (of_good + LESSON_PAGES)
        away = self.stack.mean(bad)
        away *= of_bad / (of_bad + LESSON_PAGES)
        lesson -= away
        shared = np.maximum.reduce([native.aim for native in natives])
        shared *= self.is_met
        lesson += shared

        evidence = of_good + SHARED_PAGES * float(shared @ shared)
        self.subject.lesson = lesson
        self.subject.trust = evidence / (evidence + LESSON_PAGES)
        self.subject.word_scale = 1.0

    def add_words(self, words: Sequence[TopicWord]) -> None:
        """Aim also at the words of the topic that pages in the language contain."""
        vector = word_vector([word for word in words if self.has_any(word.places)], self.weights)
        if vector is not None and self.subject.lesson is not None:
            self.subject.lesson += mean_of([vector], self.weights)

    def _words_of(self, good: Mapping[int, float], bad: Mapping[int, float]) -> LearnedWords | None:
        """The words that are significantly more frequent in pages on the topic than in others; None if there are none.

        Each page counts as on the topic by its share in `good`, and as off it by its share in `bad`.
        """
        of_good = np.zeros(PLACES)
        of_bad = np.zeros(PLACES)
        for row, share in good.items():
            words = self.pages[row].vector.places
            of_good[words] += share
            of_bad[words] += bad[row]
        all_good = sum(good.values())
        all_bad = sum(bad.values())
        met = np.flatnonzero(self.is_met)
        # Words that a larger share of the good pages contains than of the bad ones.
        places = met[of_good[met] * all_bad > of_bad[met] * all_good]
        ratios = log_likelihood(of_good[places], of_bad[places], all_good, all_bad)
        best = np.argsort(-ratios, kind="stable")[:MOST_LEARNED]
        learned = {int(places[at]): float(ratios[at]) for at in best if ratios[at] >= LEAST_RATIO}
        return LearnedWords(learned) if learned else None


def log_likelihood(good: Values, bad: Values, all_good: float, all_bad: float) -> Values:
    """Twice the log-likelihood ratio of words, given how many of `all_good` good pages, and how many of `all_bad` bad
    ones, contain each.
    """
    total = all_good + all_bad
    rows = good + bad
    cells = (
        (good, all_good, rows),
        (bad, all_bad, rows),
        (all_good - good, all_good, total - rows),
        (all_bad - bad, all_bad, total - rows),
    )
    return np.asarray(2 * sum(_surprise(count, row * column / total) for count, column, row in cells))


def _surprise(counts: Values, expected: Values) -> Values:
    """The terms of one cell of the table, one for each word: count * log(count / expected count)."""
    counts = np.maximum(counts, 0.0)  # rounding errors of sums of shares may make a difference negative
    return counts * np.log(np.maximum(counts, TINY) / np.maximum(expected, TINY))
