"""A text as the rules of all sets read it: its lines and its words."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from crawler.contrib.corpus.quality.words import Array, Words, words_of

MOST_CHARACTERS = 1_000_000
"""The most characters of a text that are read. A longer text has over 100,000 words, which Gopher's rules refuse."""


@dataclass(frozen=True)
class MeasuredText:
    """A text as the rules read it."""

    text: str
    language: str | None
    lines: list[str]
    """The lines that are not blank."""
    words: Words

    @classmethod
    def of(cls, text: str, language: str | None) -> Self:
        text = text[:MOST_CHARACTERS]
        lines = [line for line in text.split("\n") if line and not line.isspace()]
        return cls(text, language, lines, words_of(lines, language))

    @cached_property
    def lengths(self) -> Array:
        """The characters of each line."""
        return np.fromiter(map(len, self.lines), np.int64, len(self.lines))

    @cached_property
    def codes(self) -> Array:
        """The code points of the lines, one after another."""
        return np.frombuffer("".join(self.lines).encode("utf-32-le", "surrogatepass"), np.uint32)


def ratio(part: float, whole: float) -> float:
    """The part as a share of the whole, rounded to four digits; 0 if the whole is 0."""
    return round(part / whole, 4) if whole else 0.0


def repeated(texts: list[str]) -> tuple[int, int]:
    """How many of these texts repeat an earlier one, and how many characters the repetitions have.

    >>> repeated(["a", "bee", "bee", "bee"])
    (2, 6)
    """
    if len(set(texts)) == len(texts):
        return 0, 0
    seen: set[str] = set()
    repetitions = 0
    characters = 0
    for text in texts:
        if text in seen:
            repetitions += 1
            characters += len(text)
        seen.add(text)
    return repetitions, characters
