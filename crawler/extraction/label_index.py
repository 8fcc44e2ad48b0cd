"""An index of leaf labels that finds nearly the same label: the same tag, and texts a few edits apart.

Two texts are near when their edit distance D <= min(len) / 8, and up to 8 characters only when they are equal. Most
pairs are never compared, by the pigeonhole principle: cut a text that may be k edits away from another into k + 1
pieces, and one of the pieces stands in the other unchanged. So a text is compared only with those of which it holds a
piece.
"""

from collections import Counter
from functools import cache

from rapidfuzz.distance import Levenshtein

# Up to so many characters only equal texts are near; beyond, one edit is allowed for so many.
EXACT_LENGTH = 8
# Longer labels are found by what is equal alone: few of them are noise, and it is they that take time.
MAX_NEAR_LENGTH = 100
# Labels that are compared with one, those first with the most pieces in common; and labels that may share a piece
# before it says nothing. What is lost is noise that stays: it takes labels that are much alike and yet not near.
MOST_COMPARED = 2
MOST_SHARED = 8


class LabelIndex:
    """Labels, each found by what is nearly the same; to be added to, never to be taken from."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._texts: list[str] = []
        self._pieces: dict[str, dict[str, list[int]]] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, label: tuple[str, str]) -> bool:
        """Whether this very label is there."""
        return label in self._numbers

    def add(self, tag: str, text: str) -> int:
        """Add a label that is not there; its number."""
        number = self._numbers[tag, text] = len(self._texts)
        self._texts.append(text)
        if EXACT_LENGTH < len(text) <= MAX_NEAR_LENGTH:
            of_tag = self._pieces.setdefault(tag, {})
            for piece in _pieces(text):
                sharing = of_tag.setdefault(piece, [])
                if len(sharing) < MOST_SHARED:
                    sharing.append(number)
        return number

    def find(self, tag: str, text: str) -> int | None:
        """The number of the label that is equal, or else near, or None."""
        number = self._numbers.get((tag, text))
        if number is not None or tag not in self._pieces or not EXACT_LENGTH < len(text) <= MAX_NEAR_LENGTH:
            return number
        of_tag, least, most = self._pieces[tag], _shortest(len(text)), len(text) + len(text) // EXACT_LENGTH
        shared: Counter[int] = Counter()
        for length in _piece_lengths(len(text)):
            held = {text[start : start + length] for start in range(len(text) - length + 1)}
            for piece in of_tag.keys() & held:
                shared.update(other for other in of_tag[piece] if least <= len(self._texts[other]) <= most)
        ranked = sorted(shared, key=lambda other: (-shared[other], other))[:MOST_COMPARED]
        return next((other for other in ranked if is_near(text, self._texts[other])), None)


def is_near(one: str, other: str) -> bool:
    """Whether two texts are nearly the same.

    >>> is_near("12345678", "12345679"), is_near("123456789", "12345678X"), is_near("123456789", "1234567XY")
    (False, True, False)
    """
    shorter = min(len(one), len(other))
    allowed = shorter // EXACT_LENGTH if shorter > EXACT_LENGTH else 0
    if one == other or allowed == 0:
        return one == other
    return Levenshtein.distance(one, other, score_cutoff=allowed) <= allowed


def _pieces(text: str) -> list[str]:
    count = len(text) // EXACT_LENGTH + 1
    length = len(text) // count
    return [text[number * length : (number + 1) * length] for number in range(count)]


@cache
def _shortest(length: int) -> int:
    """The length of the shortest text that may be near one of this length."""
    return next(short for short in range(length * 8 // 9, length + 1) if length - short <= short // EXACT_LENGTH)


@cache
def _piece_lengths(length: int) -> tuple[int, ...]:
    """How long the pieces are of texts that may be near one of this length."""
    others = range(max(EXACT_LENGTH + 1, _shortest(length)), length + length // EXACT_LENGTH + 1)
    return tuple(sorted({other // (other // EXACT_LENGTH + 1) for other in others}))
