"""Which pages are nearly the same: MinHash signatures of their texts (Broder 1997), and keys to look them up by.

A text is the set of its shingles: of the runs of `RUN` words in it. Scripts without spaces have characters instead of
words, and runs of `UNSPACED_RUN`, which are six of the pairs that .text makes: four words of Chinese are about as long.
The first character of a run decides. Of texts with the sets A and B, the similarity is Jaccard's, |A & B| / |A | B|.

With that probability a permutation of all shingles has the same least element in A as in B. The signature keeps the
least elements of `PERMUTATIONS`, of each its last 16 bits (Li and Koenig 2010): 256 bytes a page, and elements that
differ look alike once in 65,536 times. The share of places in which two signatures agree is the similarity, give or
take a standard error of .03 where that is .9, of .04 where it is .5.

A key stands for a band of `ROWS` places that agree. Texts of similarity s share one of `BANDS` keys with a probability
of 1 - (1 - s^ROWS)^BANDS: .994 for s = .9, .74 for .8, .01 for .5.

Runs are hashed as polynomials modulo 2^64, all at once: with P(i) the sum of c_j b^j over the characters j before i,
the run from s to e has (P(e) - P(s)) / b^s, whatever stands before it. A permutation multiplies by an odd number and
adds another. No number here is secret: who wants two pages to look alike could give them one text as well.

Only the first `LONGEST` characters are read, and a text of fewer than `FEWEST` different shingles has no signature.
"""

import re
from functools import cache
from hashlib import shake_128

import numpy as np
from numpy.typing import NDArray

from crawler.page.text import UNSPACED, page_words

RUN, UNSPACED_RUN = 4, 7
FEWEST = 20
LONGEST = 200_000
PERMUTATIONS = 128
BANDS, ROWS = 12, 10
NEAR = 0.8
"""The similarity from which two pages are near-duplicates."""
MOST_OF_A_BAND = 20
"""The most texts that are entered under a key."""

Numbers = NDArray[np.int64]
Halves = NDArray[np.uint32]
Wholes = NDArray[np.uint64]

_SPACE = 32
_AT_ONCE = 4096  # shingles, for which all permutations need 2 MB


def _drawn(name: bytes, count: int, kind: str) -> NDArray[np.uint64]:
    """Pseudo-random numbers, the same on every machine and in every version of Python and numpy."""
    width = np.dtype(kind).itemsize
    return np.frombuffer(shake_128(name).digest(count * width), kind).astype(np.uint64)


_BASE = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_FACTORS = (_drawn(b"factors", PERMUTATIONS, "<u4") | np.uint64(1)).astype(np.uint32)[:, None]
_SUMMANDS = _drawn(b"summands", PERMUTATIONS, "<u4").astype(np.uint32)[:, None]
_PLACES = _drawn(b"places", BANDS * ROWS, "<u8").reshape(BANDS, ROWS)


def _unspaced() -> NDArray[np.bool_]:
    """For each character up to the last of the scripts without spaces, and one more, whether it is in one of them."""
    ranges = [(ord(first), ord(last or first)) for first, last in re.findall("(.)(?:-(.))?", UNSPACED)]
    table = np.zeros(max(last for _, last in ranges) + 2, np.bool_)
    for first, last in ranges:
        table[first : last + 1] = True
    return table


_UNSPACED = _unspaced()


def _powers(base: np.uint64, count: int) -> Wholes:
    return _powers_up_to(base, 1 << count.bit_length())[:count]


@cache
def _powers_up_to(base: np.uint64, count: int) -> Wholes:
    return np.cumprod(np.full(count, base), dtype=np.uint64)


def _mixed(numbers: Wholes) -> Wholes:
    """The numbers with their bits mixed."""
    numbers = (numbers ^ (numbers >> _HALF)) * _MIX
    return numbers ^ (numbers >> _HALF)


def _runs(codes: Halves) -> tuple[Numbers, Numbers]:
    """The starts and ends of the runs of a text, in which every word ends with a space."""
    is_single = _UNSPACED[np.minimum(codes, len(_UNSPACED) - 1)]
    is_start = is_single.copy()
    is_start[0] = True
    is_start[1:] |= codes[:-1] == _SPACE
    is_start &= codes != _SPACE
    starts = np.flatnonzero(is_start)
    singles = is_single[starts]
    ends = np.where(singles, starts + 1, np.append(starts[1:], len(codes)) - 1)
    lasts = np.arange(len(starts)) + np.where(singles, UNSPACED_RUN, RUN) - 1
    is_whole = lasts < len(starts)
    return starts[is_whole], ends[lasts[is_whole]]


def _shingles(text: str) -> Halves:
    """The different shingles of a text, as numbers of 32 bits."""
    words = page_words(text[:LONGEST])
    if not words:
        return np.empty(0, np.uint32)
    codes = np.frombuffer(f"{' '.join(words)} ".encode("utf-32-le", "surrogatepass"), "<u4")
    starts, ends = _runs(codes)
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum(codes * _powers(_BASE, len(codes)), out=sums[1:])
    hashes = (sums[ends] - sums[starts]) * _powers(_INVERSE, len(codes))[starts]
    found = np.sort((_mixed(hashes) >> _HALF).astype(np.uint32))
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def signature(text: str) -> bytes | None:
    """The signature of a text, or None if the text is too short.

    >>> len(signature("Bees dance in the dark of the hive, " + " ".join(map(str, range(30)))))
    256
    >>> signature("Bees dance in the dark of the hive.")
    """
    shingles = _shingles(text)
    if len(shingles) < FEWEST:
        return None
    least = np.full(PERMUTATIONS, np.iinfo(np.uint32).max, np.uint32)
    for at in range(0, len(shingles), _AT_ONCE):
        permuted = _FACTORS * shingles[at : at + _AT_ONCE]
        permuted += _SUMMANDS
        np.minimum(least, permuted.min(axis=1), out=least)
    return least.astype("<u2").tobytes()  # the last 16 bits


def _places(signature: bytes) -> NDArray[np.uint16]:
    if len(signature) != 2 * PERMUTATIONS:
        raise ValueError(f"A signature has {2 * PERMUTATIONS} bytes, not {len(signature)}.")
    return np.frombuffer(signature, "<u2")


def similarity(one: bytes, other: bytes) -> float:
    """The similarity of two texts, from 0 to 1, by their signatures.

    >>> text = " ".join(map(str, range(400)))
    >>> similarity(signature(text), signature(text)), similarity(signature(text), signature(text[::-1]))
    (1.0, 0.0)
    """
    return float(np.mean(_places(one) == _places(other)))


def bands(signature: bytes) -> list[int]:
    """The keys of a signature, signed 64-bit numbers; near-duplicates share at least one of them."""
    keys: list[int] = _keys(_places(signature)[: BANDS * ROWS].reshape(BANDS, ROWS), _PLACES).tolist()
    return keys


def keys_of_band(signatures: NDArray[np.uint16], band: int) -> Numbers:
    """The keys that signatures, one in each row, have for one of the `BANDS`."""
    return _keys(signatures[:, band * ROWS : (band + 1) * ROWS], _PLACES[band])


def _keys(rows: NDArray[np.uint16], places: Wholes) -> Numbers:
    return _mixed(((rows.astype(np.uint64) + np.uint64(1)) * places).sum(axis=1)).view(np.int64)
