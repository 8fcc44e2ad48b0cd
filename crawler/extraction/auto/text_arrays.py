"""Reads the characters and words of many texts at once into arrays.

All texts are joined into one array of code points, with a line end after each text. A lookup table gives the kind of
each character, and prefix sums of a polynomial give the hash of each word, so that no loop runs over texts or words. A
hash is reduced to one of BUCKETS numbers, the bucket of the word, by which its weights are found.
"""

import re
import sys
import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from crawler.page.text import FULL_STOPS
from crawler.page.text import UNSPACED as UNSPACED_CHARACTERS

Ints = NDArray[np.int64]
KINDS = "other lower upper digit caseless unspaced space comma stop colon quote separator sign".split()
OTHER, LOWER, UPPER, DIGIT, CASELESS, UNSPACED, SPACE, COMMA, STOP, COLON, QUOTE, SEPARATOR, SIGN = range(len(KINDS))
_SIGNS_OF_KIND = {
    COMMA: ",;，、；،؛",
    STOP: "".join(FULL_STOPS),
    COLON: ":：",
    QUOTE: "\"'“”‘’„«»‹›「」『』《》()（）[]【】",
    SEPARATOR: "|｜/\\>→←·•●▪–—-_~",
    SIGN: "©®™$€£¥%#@+*=&",
}
_BMP = 0x10000
BUCKET_BITS = 15
BUCKETS = 1 << BUCKET_BITS
"""The number of buckets for words."""
# Odd numbers with irregular bits: the base of the polynomial, and a factor that mixes the bits of a hash.
_BASE = 0x9E3779B97F4A7C15
_MULTIPLIER = 0xD6E8FEB86659FD93
WHOLE = 0x5BD1
"""Is XORed with the bucket of a whole name, so that it differs from the bucket of the same word in a name."""
_IS_LETTER = np.array([kind in ("lower", "upper", "caseless", "unspaced") for kind in KINDS])


@dataclass(frozen=True, slots=True)
class Characters:
    """Statistics of the characters and words of many texts."""

    kinds: NDArray[np.floating]
    """How many characters of each kind each text has."""
    first: Ints
    """The kind of each text's first character."""
    last: Ints
    """The kind of each text's last character."""
    words: Ints
    """The bucket of each word: a run of letters and digits, or two neighbouring characters of an unspaced script."""
    owner: Ints
    """The index of the text of each word."""


@cache
def _tables() -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """The kind and the lower case of each character of the Basic Multilingual Plane."""
    # The kinds by Unicode's general categories, https://www.unicode.org/reports/tr44/#General_Category_Values.
    by_category = {"Ll": LOWER, "Lu": UPPER, "Lt": UPPER, "Nd": DIGIT, "Lo": CASELESS, "Lm": CASELESS, "Zs": SPACE}
    every = "".join(map(chr, range(_BMP)))
    kinds = np.array([by_category.get(category, OTHER) for category in map(unicodedata.category, every)], np.uint8)

    lower = np.arange(_BMP, dtype=np.uint16)
    for code in np.flatnonzero(kinds == UPPER).tolist():
        lower_case = every[code].lower()
        if len(lower_case) == 1:
            lower[code] = ord(lower_case)

    # Scripts without spaces, and signs, are kinds of their own.
    unspaced = np.zeros(_BMP, bool)
    unspaced[[match.start() for match in re.finditer(f"[{UNSPACED_CHARACTERS}]", every)]] = True
    kinds[unspaced & (kinds == CASELESS)] = UNSPACED
    for kind, characters in _SIGNS_OF_KIND.items():
        for character in characters:
            kinds[ord(character)] = kind
    kinds[[ord(space) for space in "\t\n\r "]] = SPACE
    return kinds, lower


@cache
def _powers(count: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The powers of the base and of its inverse, modulo 2**64."""
    inverse = pow(_BASE, -1, 1 << 64)
    powers = []
    for base in (_BASE, inverse):
        row = np.full(count, base, np.uint64)
        row[0] = 1
        powers.append(np.cumprod(row))
    return powers[0], powers[1]


@dataclass(frozen=True, slots=True)
class NameWords:
    """The words in the names of elements."""

    buckets: Ints
    """The bucket of each word, and of each whole name."""
    owner: Ints
    """For each bucket, the index of the text that it comes from."""


def read(texts: list[str]) -> Characters:
    """The characters and words of the texts."""
    codes, kinds, lengths = _codes(texts)
    ends = np.cumsum(lengths)
    owner = np.repeat(np.arange(len(texts)), lengths)  # the index of the text of each character
    flat_counts = np.bincount(owner * len(KINDS) + kinds, minlength=len(texts) * len(KINDS))
    counts = flat_counts.reshape(len(texts), len(KINDS)).astype(np.float32)
    counts[:, SPACE] -= 1  # the line end is not a character of the text
    # The last character is the one before the line end; an empty text has only the line end.
    last_indexes = np.where(lengths > 1, ends - 2, ends - 1)
    first = kinds[ends - lengths].astype(np.int64)
    last = kinds[last_indexes].astype(np.int64)
    starts, stops = _word_bounds(kinds)
    return Characters(
        kinds=counts, first=first, last=last, words=_Hashes(codes).buckets(starts, stops), owner=owner[starts]
    )


def read_names(texts: list[str]) -> NameWords:
    """The names in each text, whole and cut into words at hyphens, digits and capitals."""
    codes, kinds, lengths = _codes(texts)
    owner = np.repeat(np.arange(len(texts)), lengths)

    # The words: a word begins at a letter after another character, or at a capital after a small letter.
    is_letter = _IS_LETTER[kinds]
    begins = is_letter.copy()
    begins[1:] &= ~is_letter[:-1] | ((kinds[1:] == UPPER) & (kinds[:-1] == LOWER))
    is_last = is_letter[:-1] & (begins[1:] | ~is_letter[1:])  # the last character of all is a line end
    starts = np.flatnonzero(begins)
    stops = np.flatnonzero(is_last) + 1

    # The words and the whole names, in the order of their first characters.
    whole_starts, whole_stops = _runs(kinds != SPACE)
    hashes = _Hashes(codes)
    buckets = np.concatenate([hashes.buckets(starts, stops), hashes.buckets(whole_starts, whole_stops) ^ WHOLE])
    all_starts = np.concatenate([starts, whole_starts])
    order = np.argsort(all_starts, kind="stable")
    return NameWords(buckets=buckets[order], owner=owner[all_starts[order]])


def _codes(texts: list[str]) -> tuple[NDArray[np.uint16], NDArray[np.uint8], Ints]:
    """The lower-case characters of all texts, the kind of each, and the length of each text with its line end."""
    table, lower = _tables()
    encoding = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    codes = np.frombuffer("\n".join([*texts, ""]).encode(encoding, "surrogatepass"), np.uint32)
    # Indexes into the tables, computed once for two look-ups. Characters beyond the tables are read as the last one.
    codes = np.minimum(codes, _BMP - 1).astype(np.int64)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 1
    return lower[codes], table[codes], lengths


def _runs(inside: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Where runs of characters that are `inside` start and end. The last character of all, a line end, is not."""
    starts = inside.copy()
    starts[1:] &= ~inside[:-1]
    return np.flatnonzero(starts), np.flatnonzero(inside[:-1] & ~inside[1:]) + 1


def _word_bounds(kinds: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Where words start and end: runs of letters and digits, pairs in unspaced scripts."""
    is_word = (kinds >= LOWER) & (kinds <= CASELESS)  # LOWER, UPPER, DIGIT and CASELESS
    starts, stops = _runs(is_word)
    unspaced = np.flatnonzero(kinds == UNSPACED)
    if not len(unspaced):
        return starts, stops
    followed = kinds[unspaced + 1] == UNSPACED  # there is always a next character: every text ends with a line end
    starts = np.concatenate((starts, unspaced))
    stops = np.concatenate((stops, unspaced + 1 + followed))
    order = np.argsort(starts, kind="stable")
    return starts[order], stops[order]


class _Hashes:
    """Hashes parts of the joined texts, by the sums of a polynomial up to each character."""

    def __init__(self, codes: NDArray[np.uint16]) -> None:
        powers, self.inverses = _powers(1 << max(16, len(codes).bit_length()))
        self.sums = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum(codes * powers[: len(codes)], out=self.sums[1:])

    def buckets(self, starts: Ints, stops: Ints) -> Ints:
        """The buckets of the parts with these bounds."""
        # A difference of sums depends on the position of the part: the inverse power of the base removes it.
        hashes = (self.sums[stops] - self.sums[starts]) * self.inverses[starts]
        # The highest bits, by which the bucket is chosen, must depend on all others.
        hashes ^= hashes >> np.uint64(31)
        hashes *= np.uint64(_MULTIPLIER)
        return (hashes >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)
