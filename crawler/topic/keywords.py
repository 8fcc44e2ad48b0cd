"""Scores how strongly a text is about given words: frequency raises a word's score, and a few of the words are enough.

The strength of a word that occurs c times in a text of length l is c / (c + 1 + l / 400); an occurrence in the title
counts three times. Lengths are in words, or in characters for a keyword that is a phrase or in a script without spaces.
The score is the cube root of the mean of the cubed strengths: a page about one of five words is about the topic,
although less than a page about all.

A word of similar meaning counts in place of the word itself if its strength times its similarity is greater.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from types import MappingProxyType

from crawler.page.simplified import spelled_either_way
from crawler.page.text import is_unspaced
from crawler.topic.stems import Stems
from crawler.topic.topic import SimilarWords

NONE_SIMILAR: SimilarWords = MappingProxyType({})
WORD = re.compile(r"\w+")
HALF_LENGTH = 400
"""A word has the strength 1/2 in a text of length l if it occurs 1 + l / 400 times."""
TITLE_COUNTS = 3
"""How many occurrences in the text one in the title counts for."""
POWER = 3
"""The power of the mean over the words: the higher it is, the more the strongest words dominate."""


class Keywords:
    """Words with weights that are looked for in texts, and words of similar meaning, with similarities from 0 to 1."""

    def __init__(
        self, weights: Mapping[str, float], similar: SimilarWords = NONE_SIMILAR, languages: Collection[str] = ()
    ) -> None:
        self.weights = dict(weights)
        self.stems = Stems(self.weights, languages)
        self._similar = {word: similar.get(word, ()) for word in self.weights}
        others = (other for similar_words in self._similar.values() for other, _ in similar_words)
        self._spellings = {word: spellings(word) for word in (*self.weights, *others)}
        self._patterns = {word: spelled_either_way(word) for word, known in self._spellings.items() if not known}
        """The patterns of phrases and of words in scripts without spaces, which are looked for anywhere in a text, in
        simplified and in traditional characters.
        """

    def __bool__(self) -> bool:
        return bool(self.weights)

    def score(self, title: str, text: str) -> float:
        """How strongly a text is about the words, from 0 to 1."""
        in_text = self._occurrences(text)
        in_title = self._occurrences(title)
        strengths = {}
        for word, (count, length) in in_text.items():
            count_in_title, _ = in_title[word]
            strengths[word] = strength(count + TITLE_COUNTS * count_in_title, length)
        best = {
            word: max([strengths[word], *(strengths[other] * cosine for other, cosine in similar_words)])
            for word, similar_words in self._similar.items()
        }
        return self._mean(best)

    def _occurrences(self, text: str) -> dict[str, tuple[int, int]]:
        """How often each of the words occurs in a text, and the length of the text for this word (see the head)."""
        folded = text.casefold()
        whole_words = Counter(WORD.findall(folded))
        length = whole_words.total()
        occurrences = {}
        counts_with_forms = self.stems.counts_with_forms(whole_words) if self.stems else {}
        for word, spellings_of_word in self._spellings.items():
            if word in counts_with_forms:
                occurrences[word] = counts_with_forms[word], length
            elif spellings_of_word:
                occurrences[word] = sum(map(whole_words.__getitem__, spellings_of_word)), length
            else:
                occurrences[word] = len(self._patterns[word].findall(folded)), len(folded)
        return occurrences

    def _mean(self, strengths: Mapping[str, float]) -> float:
        total = sum(self.weights.values())
        powers = sum(weight * strengths[word] ** POWER for word, weight in self.weights.items())
        if total:
            return float((powers / total) ** (1 / POWER))
        return 0.0


def strength(count: float, length: float) -> float:
    """The strength of a word that occurs `count` times in a text of this length, in words or characters."""
    return count / (count + 1 + length / HALF_LENGTH)


def spellings(word: str) -> tuple[str, ...]:
    """The spellings that count as a word: if it is in ASCII, with and without a final s. Empty if the word is in a
    script without spaces, such as Chinese, or is not a single word. (Other inflections: crawler/topic/stems.py.)

    >>> spellings("bee"), spellings("bees"), spellings("bee hive")
    (('bee', 'bees'), ('bees', 'bee'), ())
    """
    if is_unspaced(word) or not WORD.fullmatch(word):
        return ()
    if not word.isascii():
        return (word,)
    if word.endswith("s"):
        return (word, word[:-1])
    return (word, word + "s")
