"""What a crawl is about, and how much a text is about it: a plain score of keywords."""

import re
from collections import Counter
from math import log

from crawler.text import is_unspaced, words

WHOLE = re.compile(r"\w+")

# How often a word must stand in a text of this many words to count half: once more for every further such length.
HALF_LENGTH = 400
TITLE_COUNTS = 3
LEARNED_WORDS = 40
LEARNED_PAGES = 10
# Words that tell nothing of a topic: the commonest of English, and bigrams with a Chinese particle.
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does each even for from had "
    "has have he her his how i if in into is it its just like made make many may more most my new no not now of on "
    "one only or other our out over said same she should so some such than that the their them then there these they "
    "this those through to too two under up us use very was we well were what when where which while who will with "
    "would you your".split()
)
PARTICLES = re.compile("[的了是在和有不我他她它这那就也都而及与或一个们等被把对于为以之其中]")


class Topic:
    """Keywords with weights, given by the user or learned from the seeds' own text."""

    def __init__(self, given: str = "") -> None:
        self.given = bool(given)
        self._counts: Counter[str] = Counter()
        named = words(given)
        self._weigh(dict.fromkeys([word for word in named if word not in STOP_WORDS] or named, 1.0))
        self._learned = 0

    def learn(self, text: str) -> None:
        """Take the words of a seed's text as the topic, unless the user gave one."""
        if self.given or self._learned >= LEARNED_PAGES:
            return
        self._learned += 1
        self._counts.update(filter(_tells, words(text)))
        self._weigh({word: log(1 + count) for word, count in self._counts.most_common(LEARNED_WORDS)})

    def _weigh(self, weights: dict[str, float]) -> None:
        self.weights = weights
        self._forms = {word: _forms(word) for word in weights}

    def relevance(self, title: str, text: str) -> float:
        """How much a text is about the topic, from 0 to 1."""
        found, in_title = self._occurrences(text), self._occurrences(title)
        strength = {}
        for word, (count, length) in found.items():
            count += TITLE_COUNTS * in_title[word][0]
            strength[word] = count / (count + 1 + length / HALF_LENGTH)
        return self._share(strength)

    def mentioned(self, text: str) -> float:
        """Which share of the topic's words a few words hold, such as a link's anchor text, from 0 to 1."""
        return self._share({word: float(count > 0) for word, (count, _) in self._occurrences(text).items()})

    def _occurrences(self, text: str) -> dict[str, tuple[int, int]]:
        """How often each of the topic's words stands in a text, and in how many words; pairs count as words."""
        folded = text.casefold()
        whole = Counter(WHOLE.findall(folded))
        length = whole.total()
        return {
            word: (sum(map(whole.__getitem__, forms)), length) if forms else (folded.count(word), len(folded))
            for word, forms in self._forms.items()
        }

    def _share(self, strength: dict[str, float]) -> float:
        total = sum(self.weights.values())
        return sum(weight * strength[word] for word, weight in self.weights.items()) / total if total else 0.0


def _tells(word: str) -> bool:
    if word.isascii():
        return len(word) > 2 and word not in STOP_WORDS and not word.isdigit()
    return not PARTICLES.search(word)


def _forms(word: str) -> tuple[str, ...]:
    """The whole words that stand for a word, an English one with and without the plural's s; none where a word is no
    run of letters between others, as pairs of Chinese characters are not.
    """
    if is_unspaced(word) or not WHOLE.fullmatch(word):
        return ()
    if not word.isascii():
        return (word,)
    return (word, word[:-1]) if word.endswith("s") else (word, word + "s")
