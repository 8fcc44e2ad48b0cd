"""Other forms of the topic's words, in languages whose words have many endings.

M. F. Porter, "Snowball: A Language for Stemming Algorithms", 2001. Two words are forms of one word if they have the
same stem. The language follows from the script, and for Latin letters from the languages to which the crawl is limited;
English has no stems here, as crawler/topic/keywords.py knows its plurals. Only words that begin like a word of the
topic are stemmed, because stemming a word takes 20 microseconds.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any
from unicodedata import name

from crawler.page.simplified import simplified

STEMMERS_BY_SCRIPT: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "CYRILLIC": ("russian", {"sr": "serbian"}),
    "GREEK": ("greek", {}),
    "ARMENIAN": ("armenian", {}),
    "ARABIC": ("arabic", {"fa": "persian"}),
    "DEVANAGARI": ("hindi", {"ne": "nepali"}),
    "TAMIL": ("tamil", {}),
    "HEBREW": ("", {"yi": "yiddish"}),
    "LATIN": (
        "",
        dict(
            word.split(":")
            for word in (
                "ca:catalan cs:czech da:danish de:german eo:esperanto es:spanish et:estonian eu:basque fi:finnish "
                "fr:french ga:irish hu:hungarian id:indonesian it:italian lt:lithuanian nl:dutch no:norwegian "
                "nb:norwegian pl:polish pt:portuguese ro:romanian sv:swedish tr:turkish"
            ).split()
        ),
    ),
}
"""For each script two things: the stemmer of its usual language, empty if there is none; and by language code, the
stemmers that are used instead if the crawl is limited to their languages.
"""
BEGINNING = 2
"""All forms of a word share at least this many letters at the beginning."""
LEAST_LETTERS = 4
"""Words with fewer letters have no other forms."""
MOST_CACHED = 10_000
"""How many stems each stemmer caches."""


class Stems:
    """Finds the word of the topic of which another word is a form."""

    def __init__(self, words: Iterable[str], languages: Collection[str] = ()) -> None:
        self._stemmers: dict[str, list[Callable[[str], str]]] = {}
        """The stemmers of the words of the topic, by the beginnings of the words."""
        self._words: dict[tuple[str, str], str] = {}
        """The words of the topic, by beginning and stem."""
        for word in words:
            beginning = _beginning(word)
            for stem in _stemmers(word, languages):
                self._stemmers.setdefault(beginning, []).append(stem)
                self._words.setdefault((beginning, stem(word)), word)

    def __bool__(self) -> bool:
        return bool(self._words)

    def folded(self, word: str) -> str:
        """The word of the topic of which this is a form; if there is none, the word itself in simplified characters."""
        if self._stemmers and len(word) >= LEAST_LETTERS:
            beginning = _beginning(word)
            for stem in self._stemmers.get(beginning, ()):
                topic_word = self._words.get((beginning, stem(word)))
                if topic_word is not None:
                    return topic_word
        return simplified(word)

    def counts_with_forms(self, counts: Mapping[str, int]) -> dict[str, int]:
        """How often each of the topic's words that have stems occurs, in all its forms."""
        count_of_word: dict[str, int] = dict.fromkeys(self._words.values(), 0)
        for word, count in counts.items():
            if _beginning(word) not in self._stemmers:
                continue
            topic_word = self.folded(word)
            if topic_word in count_of_word:
                count_of_word[topic_word] += count
        return count_of_word


def _stemmers(word: str, languages: Collection[str]) -> list[Callable[[str], str]]:
    """The stemmers of the languages that a word of the topic may be in; none if the word has no other forms."""
    if len(word) < LEAST_LETTERS or not word.isalpha():
        return []
    script, _, _ = name(word[0], "").partition(" ")  # a letter's name is "CYRILLIC SMALL LETTER A"
    usual, others = STEMMERS_BY_SCRIPT.get(script, ("", {}))
    stemmer_names = [others[code] for code in sorted(languages) if code in others] or [usual]
    if not stemmer_names[0]:
        return []
    import snowballstemmer  # late, as most crawls do not need it

    return [_cached(snowballstemmer.stemmer(language)) for language in stemmer_names]


def _cached(stemmer: Any) -> Callable[[str], str]:
    return lru_cache(maxsize=MOST_CACHED)(stemmer.stemWord)


def _beginning(word: str) -> str:
    """The first letters of a word, by which its stemmers are found; Russian texts often write е for ё."""
    return word[:BEGINNING].replace("ё", "е")
