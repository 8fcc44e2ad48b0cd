"""The words of a text as arrays of numbers.

Pages share most of their words, so the pieces between spaces are cached with the numbers of their words: most pieces
cost one look-up. The cache is bounded, and each thread has its own. Chinese is cut by a dictionary if the extra
`chinese` is installed.
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
"""The words of cached pieces after which the cache is emptied, before the next page."""
BREAK = "\x00"
"""Separates lines; no text of a page has this character."""
ENGLISH = tuple("the be to of and that have with".split())
"""The stop words of Gopher's rules."""
CHINESE = tuple("的 年 在 月 是 和 日 了 於 · 為 有 被 人 中 为 他 與 後 也 而 由".split())
"""The stop words of FineWeb 2 for Chinese."""
STOP_WORDS = {"en": range(1, 1 + len(ENGLISH)), "zh": range(1 + len(ENGLISH), 1 + len(ENGLISH) + len(CHINESE))}
"""The word numbers of the stop words of each language; BREAK is number 0."""
WORD, LETTER, STOP, MARK, IS_ENGLISH = 1, 2, 4, 8, 16
"""The kinds of words, as flags: not only marks; has a letter; ends a sentence; is a punctuation mark; and is one of the
commonest English words that other languages do not have.
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
    """A number for each word; equal words have the same number."""
    lengths: Array
    """The characters of each word."""
    kinds: Array
    """The flags WORD, LETTER, STOP, MARK and IS_ENGLISH of each word."""
    lines: Array
    """The index of the line of each word."""

    def __len__(self) -> int:
        return len(self.numbers)

    def count(self, kind: int) -> int:
        """How many words have one of these flags."""
        return int(np.count_nonzero(self.kinds & kind))

    def stop_words(self, language: str | None) -> int:
        """How many different stop words occur: Chinese ones in Chinese, English ones in all other languages."""
        stop_words = STOP_WORDS.get(language or "", STOP_WORDS["en"])
        counts = np.bincount(self.numbers[self.numbers < stop_words.stop], minlength=stop_words.stop)
        return int(np.count_nonzero(counts[stop_words.start :]))


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
        """The length of each word, and its flags in the lowest bits."""
        for word in (BREAK, *ENGLISH, *CHINESE):
            self[word]

    def __missing__(self, word: str) -> int:
        self.facts.append(len(word) << KIND_BITS | _kind(word))
        return self.setdefault(word, len(self))

    def facts_of(self, numbers: Array) -> Array:
        """The lengths and flags of these words."""
        return np.asarray(np.frombuffer(self.facts, np.int64)[numbers])


class _Vocabulary(dict[str, int]):
    """The number of each piece of text without spaces; a new piece is cut into words when it is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.words = _WordNumbers()
        self.parts = array("q")
        """The numbers of the words of all pieces, one piece after another."""
        self.starts = array("q", [0])
        """The index in `parts` at which the words of each piece begin, and the end of the last."""
        self[BREAK] = self._enter([BREAK])

    def __missing__(self, piece: str) -> int:
        number = self._enter(cut(piece))
        if len(piece) <= LONGEST:
            self[piece] = number
        return number

    def _enter(self, words: list[str]) -> int:
        """Add a piece with these words; returns its number."""
        self.parts.extend(map(self.words.__getitem__, words))
        self.starts.append(len(self.parts))
        return len(self.starts) - 2

    def numbers(self, pieces: Iterable[str]) -> Array:
        """The numbers of the words of pieces."""
        piece_numbers = np.fromiter(map(self.__getitem__, pieces), np.int64)
        # An array cannot grow while numpy has a view of it: these views end with the function.
        starts = np.frombuffer(self.starts, np.int64)
        parts = np.frombuffer(self.parts, np.int64)
        begins = starts[piece_numbers]
        counts = starts[piece_numbers + 1] - begins
        ends = np.cumsum(counts)
        whole = int(ends[-1]) if len(ends) else 0
        places = np.arange(whole) + np.repeat(begins - ends + counts, counts)
        return np.asarray(parts[places])


class _ThreadCache(threading.local):
    """The vocabulary of a thread."""

    def __init__(self) -> None:
        self.vocabulary = _Vocabulary()

    def emptied_if_full(self) -> _Vocabulary:
        """The vocabulary, or a new one if it is full."""
        if max(len(self.vocabulary.parts), len(self.vocabulary.words)) > MOST:
            self.vocabulary = _Vocabulary()
        return self.vocabulary


_CACHE = _ThreadCache()


def words_of(lines: Sequence[str], language: str | None) -> Words:
    """The words of the lines of a text."""
    vocabulary = _CACHE.emptied_if_full()
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
    """The words of lines by a dictionary, with a BREAK after each line."""
    for line in lines:
        for word in cut(line):
            if word > EASTERN or word.isalnum():
                yield word
            elif not word.isspace():
                yield from filter(None, _LATIN_IN_CHINESE.split(word))
        yield BREAK
