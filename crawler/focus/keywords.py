"""How much a text is about some words: each counts more the oftener it stands there, and few suffice.

The strength of a word that stands c times in a text of l words is c / (c + 1 + l / 400); words in the title count three
times. Of all words, the mean of third powers is taken: a page about one of five words is about the topic, if less than
a page about all.
"""

import re
from collections import Counter
from collections.abc import Mapping

from crawler.page.text import is_unspaced

WHOLE = re.compile(r"\w+")
HALF_LENGTH = 400
"""Words of a text in which a word must stand once more to be as strong."""
TITLE_COUNTS = 3
POWER = 3
"""How much more the strong words tell than the others."""


class Keywords:
    """Words with weights, found in texts."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)
        self._forms = {word: forms(word) for word in self.weights}

    def __bool__(self) -> bool:
        return bool(self.weights)

    def named(self, title: str, text: str) -> float:
        """How much a text is about the words, from 0 to 1."""
        found, in_title = self._occurrences(text), self._occurrences(title)
        strength = {}
        for word, (count, length) in found.items():
            count += TITLE_COUNTS * in_title[word][0]
            strength[word] = count / (count + 1 + length / HALF_LENGTH)
        return self._mean(strength)

    def _occurrences(self, text: str) -> dict[str, tuple[int, int]]:
        """How often each of the words stands in a text, and in how many words; characters count where none divide."""
        folded = text.casefold()
        whole = Counter(WHOLE.findall(folded))
        length = whole.total()
        found = {}
        for word, spellings in self._forms.items():
            count = sum(map(whole.__getitem__, spellings)) if spellings else folded.count(word)
            found[word] = count, length if spellings else len(folded)
        return found

    def _mean(self, strength: Mapping[str, float]) -> float:
        total = sum(self.weights.values())
        powers = sum(weight * strength[word] ** POWER for word, weight in self.weights.items())
        return float((powers / total) ** (1 / POWER)) if total else 0.0


def forms(word: str) -> tuple[str, ...]:
    """The whole words that stand for a word, an English one with and without the plural's s; none where a word is no
    run of letters between others, as words of Chinese characters are not.
    """
    if is_unspaced(word) or not WHOLE.fullmatch(word):
        return ()
    if not word.isascii():
        return (word,)
    return (word, word[:-1]) if word.endswith("s") else (word, word + "s")
