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

from crawler.contrib.corpus.quality.word_splitting import LONGEST, cut
from crawler.page.text import EASTERN, dictionary

Array = np.ndarray[Any, np.dtype[Any]]

MOST_CACHED_WORDS = 50_000
"""The words of cached pieces after which the cache is emptied, before the next page."""
BREAK = "\x00"
"""The word at the end of each line; no text of a page has this character."""
ENGLISH_STOP_WORDS = tuple("the be to of and that have with".split())
"""The stop words of Gopher's rules."""
CHINESE_STOP_WORDS = tuple("的 年 在 月 是 和 日 了 於 · 為 有 被 人 中 为 他 與 後 也 而 由".split())
"""The stop words of FineWeb 2 for Chinese."""
_AFTER_ENGLISH = 1 + len(ENGLISH_STOP_WORDS)
STOP_WORDS = {"en": range(1, _AFTER_ENGLISH), "zh": range(_AFTER_ENGLISH, _AFTER_ENGLISH + len(CHINESE_STOP_WORDS))}
"""The word numbers of the stop words of each language; BREAK is number 0."""
# The kinds of words, as flags.
WORD = 1
"""The flag of what Gopher's rules count as a word: more than punctuation."""
LETTER = 2
"""The flag of words that have a letter."""
SENTENCE_END = 4
"""The flag of marks that end a sentence."""
MARK = 8
"""The flag of punctuation marks, which begin no sentence of C4."""
IS_ENGLISH = 16
"""The flag of the commonest English words that other languages do not have."""
KIND_BITS = 5
KIND_MASK = (1 << KIND_BITS) - 1
_ONLY_ENGLISH = frozenset("the and that with this from are have which their your you were been its by".split())
_PUNCTUATION = frozenset(
    "!/—”:％１〈&(、━\\【#%「」，】；+^]~“《„';’{|∶´[=-`*．（–？！：$～«〉,><》)?）。…@_.\"}►»।؟۔።‼‽⁇⁈⁉｡﹖﹗"
)
_SYMBOLS = frozenset("+=$<>|^~")
_SENTENCE_ENDS = frozenset(".!?。！？．؟۔।።‼‽⁇⁈⁉｡﹖﹗")
_LATIN_IN_CHINESE = re.compile(r"([a-zA-Z0-9]+(?:\.\d+)?%?)")


@dataclass(frozen=True)
class Words:
    """The words of a text, in order."""

    numbers: Array
    """A number for each word; equal words have the same number."""
    lengths: Array
    """The characters of each word."""
    kinds: Array
    """The flags WORD, LETTER, SENTENCE_END, MARK and IS_ENGLISH of each word."""
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
    is_word = not _PUNCTUATION.issuperset(word)
    return WORD * is_word | LETTER * has_letter | SENTENCE_END * (word in _SENTENCE_ENDS) | MARK * is_mark


class _WordNumbers(dict[str, int]):
    """The number of each word; a new word gets the next one when it is looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.facts = array("q")
        """The facts about each word, by its number: its length, with its flags in the lowest KIND_BITS."""
        for word in (BREAK, *ENGLISH_STOP_WORDS, *CHINESE_STOP_WORDS):
            self[word]  # looking it up gives it the next number

    def __missing__(self, word: str) -> int:
        self.facts.append(len(word) << KIND_BITS | _kind(word))
        return self.setdefault(word, len(self))

    def facts_of(self, numbers: Array) -> Array:
        """The lengths and flags of the words with these numbers."""
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
        if len(piece) <= LONGEST:  # MOST_CACHED_WORDS does not bound the size of a piece
            self[piece] = number
        return number

    def _enter(self, words: list[str]) -> int:
        """Add a piece with these words; returns its number."""
        self.parts.extend(map(self.words.__getitem__, words))
        self.starts.append(len(self.parts))  # where the next piece will begin
        return len(self.starts) - 2

    def numbers(self, pieces: Iterable[str]) -> Array:
        """The numbers of the words of pieces."""
        piece_numbers = np.fromiter(map(self.__getitem__, pieces), np.int64)
        # An array cannot grow while numpy has a view of it: these views end with the function.
        starts = np.frombuffer(self.starts, np.int64)
        parts = np.frombuffer(self.parts, np.int64)
        begins = starts[piece_numbers]
        counts = starts[piece_numbers + 1] - begins

        # The words of a piece are in `parts` one after another: add the index of each word in the result to the
        # distance between the beginnings of its piece in `parts` and in the result.
        ends = np.cumsum(counts)
        word_count = int(ends[-1]) if len(ends) else 0
        indexes = np.arange(word_count) + np.repeat(begins - (ends - counts), counts)
        return np.asarray(parts[indexes])


class _ThreadCache(threading.local):
    """The vocabulary of a thread."""

    def __init__(self) -> None:
        self.vocabulary = _Vocabulary()

    def with_room(self) -> _Vocabulary:
        """The vocabulary, which is replaced by an empty one if it is full."""
        if max(len(self.vocabulary.parts), len(self.vocabulary.words)) > MOST_CACHED_WORDS:
            self.vocabulary = _Vocabulary()
        return self.vocabulary


_CACHE = _ThreadCache()


def words_of(lines: Sequence[str], language: str | None) -> Words:
    """The words of the lines of a text."""
    vocabulary = _CACHE.with_room()
    cut_chinese = dictionary() if language == "zh" else None
    if cut_chinese is None:
        numbers = vocabulary.numbers(f" {BREAK} ".join([*lines, ""]).split())
    else:
        numbers = np.fromiter(map(vocabulary.words.__getitem__, _chinese_words(lines, cut_chinese)), np.int64)

    # Remove the breaks: how many are before a word is the index of its line.
    is_break = numbers == 0
    line_indexes = np.cumsum(is_break)[~is_break]
    numbers = numbers[~is_break]
    facts = vocabulary.words.facts_of(numbers)
    return Words(numbers=numbers, lengths=facts >> KIND_BITS, kinds=facts & KIND_MASK, lines=line_indexes)


def _chinese_words(lines: Iterable[str], cut_chinese: Callable[[str], list[str]]) -> Iterator[str]:
    """The words of lines by a dictionary, with a BREAK after each line.

    Pieces with marks that the dictionary leaves whole, such as `e-mail`, are cut at the marks; `3.14` and `5%` are not.
    """
    for line in lines:
        for word in cut_chinese(line):
            begins_with_chinese = word > EASTERN
            if begins_with_chinese or word.isalnum():
                yield word
            elif not word.isspace():
                yield from filter(None, _LATIN_IN_CHINESE.split(word))
        yield BREAK
