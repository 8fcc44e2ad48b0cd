"""The words of a text as arrays of numbers.

A page repeats words that other pages had, so the pieces between spaces are remembered with the numbers of their words:
most pieces then cost one look-up. What is remembered is bounded, and each thread has its own. Chinese is cut by a
dictionary where the extra `chinese` is installed.
"""

import re
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawler.contrib.corpus.quality.splitting import LONGEST, cut
from crawler.page.text import EASTERN, dictionary

Array = np.ndarray[Any, np.dtype[Any]]

MOST = 50_000
"""Words of pieces that are remembered; at the next page after there are more, all are forgotten."""
BREAK = "\x00"
"""What stands between lines; no text of a page has this character."""
ENGLISH = tuple("the be to of and that have with".split())
"""The stop words of Gopher's rules."""
CHINESE = tuple("的 年 在 月 是 和 日 了 於 · 為 有 被 人 中 为 他 與 後 也 而 由".split())
"""The stop words of FineWeb 2 for Chinese."""
STOP_WORDS = {"en": range(1, 1 + len(ENGLISH)), "zh": range(1 + len(ENGLISH), 1 + len(ENGLISH) + len(CHINESE))}
"""The numbers of the stop words of a language."""
WORD, LETTER, STOP, MARK, IS_ENGLISH = 1, 2, 4, 8, 16
"""What a word is: more than marks, written with a letter, the end of a sentence, a mark of punctuation, and one of
those that stand in every English sentence and are no words of other languages.
"""
KIND_BITS = 5
_ONLY_ENGLISH = frozenset("the and that with this from are have which their your you were been its by".split())
_MARKS = frozenset(
    "!/—”:％１〈&(、━\\【#%「」，】；+^]~“《„';’{|∶´[=-`*．（–？！：$～«〉,><》)?）。…@_.\"}►»।؟۔።‼‽⁇⁈⁉｡﹖﹗"
)
_SYMBOLS = frozenset("+=$<>|^~")
_STOPS = frozenset(".!?。！？．؟۔।።‼‽⁇⁈⁉｡﹖﹗")
_LATIN_IN_CHINESE = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")


@dataclass(frozen=True)
class Words:
    """The words of a text, in order."""

    numbers: Array
    """The numbers of the same words in this text."""
    lengths: Array
    """Characters."""
    kinds: Array
    """The sums of WORD, LETTER, STOP, MARK and IS_ENGLISH."""
    lines: Array
    """The index of the line in which each stands."""

    def __len__(self) -> int:
        return len(self.numbers)

    def count(self, kind: int) -> int:
        """How many words are of a kind."""
        return int(np.count_nonzero(self.kinds & kind))

    def stop_words(self, language: str | None) -> int:
        """How many different stop words of a language there are; English ones for any other than Chinese."""
        wanted = STOP_WORDS.get(language or "", STOP_WORDS["en"])
        found = np.bincount(self.numbers[self.numbers < wanted.stop], minlength=wanted.stop)
        return int(np.count_nonzero(found[wanted.start :]))


def _kind(word: str) -> int:
    if word.isalpha():
        return WORD | LETTER | IS_ENGLISH * (word in _ONLY_ENGLISH)
    has_letter = any(map(str.isalpha, word))
    is_mark = not any(map(str.isalnum, word)) and word not in _SYMBOLS
    is_word = not _MARKS.issuperset(word)
    return WORD * is_word | LETTER * has_letter | STOP * (word in _STOPS) | MARK * is_mark


class _WordNumbers(dict[str, int]):
    """The number of each word; a new word gets the next one when it is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.facts = array("q")
        """For each word its length, and in the last bits its kind."""
        for word in (BREAK, *ENGLISH, *CHINESE):
            self[word]

    def __missing__(self, word: str) -> int:
        self.facts.append(len(word) << KIND_BITS | _kind(word))
        return self.setdefault(word, len(self))

    def facts_of(self, numbers: Array) -> Array:
        return np.asarray(np.frombuffer(self.facts, np.int64)[numbers])


class _Vocabulary(dict[str, int]):
    """The number of each piece of text without spaces; a new piece is cut into words when it is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.words = _WordNumbers()
        self.parts = array("q")
        """The words of one piece after another."""
        self.starts = array("q", [0])
        """Where the words of each piece begin, and those of the last end."""
        self[BREAK] = self._enter([BREAK])

    def __missing__(self, piece: str) -> int:
        number = self._enter(cut(piece))
        if len(piece) <= LONGEST:
            self[piece] = number
        return number

    def _enter(self, words: list[str]) -> int:
        self.parts.extend(map(self.words.__getitem__, words))
        self.starts.append(len(self.parts))
        return len(self.starts) - 2

    def numbers(self, pieces: Iterable[str]) -> Array:
        """The numbers of the words of pieces."""
        found = np.fromiter(map(self.__getitem__, pieces), np.int64)
        # Arrays cannot grow while numpy looks at them: the views end with this function.
        starts, parts = (np.frombuffer(one, np.int64) for one in (self.starts, self.parts))
        begins = starts[found]
        counts = starts[found + 1] - begins
        ends = np.cumsum(counts)
        whole = int(ends[-1]) if len(ends) else 0
        places = np.arange(whole) + np.repeat(begins - ends + counts, counts)
        return np.asarray(parts[places])


class _Memory(threading.local):
    def __init__(self) -> None:
        self.vocabulary = _Vocabulary()

    def usable(self) -> _Vocabulary:
        if max(len(self.vocabulary.parts), len(self.vocabulary.words)) > MOST:
            self.vocabulary = _Vocabulary()
        return self.vocabulary


_MEMORY = _Memory()


def words_of(lines: Sequence[str], language: str | None) -> Words:
    """The words of the lines of a text."""
    vocabulary = _MEMORY.usable()
    by_dictionary = dictionary() if language == "zh" else None
    if by_dictionary is None:
        numbers = vocabulary.numbers(" \x00 ".join([*lines, ""]).split())
    else:
        numbers = np.fromiter(map(vocabulary.words.__getitem__, _chinese(lines, by_dictionary)), np.int64)
    breaks = numbers == 0
    kept = ~breaks
    in_lines = np.cumsum(breaks)[kept]
    numbers = numbers[kept]
    facts = vocabulary.words.facts_of(numbers)
    return Words(numbers, facts >> KIND_BITS, facts & (1 << KIND_BITS) - 1, in_lines)


def _chinese(lines: Iterable[str], cut: Callable[[str], list[str]]) -> Iterator[str]:
    """The words of lines by a dictionary, and a BREAK after each line."""
    for line in lines:
        for word in cut(line):
            if word > EASTERN or word.isalnum():
                yield word
            elif not word.isspace():
                yield from filter(None, _LATIN_IN_CHINESE.split(word))
        yield BREAK
