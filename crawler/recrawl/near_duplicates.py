"""Finds pages that are nearly the same, with MinHash signatures of their texts (Broder 1997) and keys that index them.

A text is compared as the set of its shingles: all runs of `RUN` words in it. In scripts without spaces a run is
`UNSPACED_RUN` characters, about as long as four words of Chinese. The script of the first character of a run decides
which of the two it is. The similarity of texts with the sets A and B is Jaccard's, |A & B| / |A | B|.

This similarity is the probability that the least element under a random permutation of all shingles is the same in A as
in B. A signature consists of the least elements under `PERMUTATIONS` permutations, the last 16 bits of each (Li and
Koenig 2010): 256 bytes a page. Two different elements look equal with a probability of 1 in 65,536. The share of the
values in which two signatures agree estimates the similarity, with a standard error of .03 at .9 and of .04 at .5.

A band is `ROWS` adjacent values of a signature, and a key is a hash of them. Texts of similarity s share at least one
of `BANDS` keys with a probability of 1 - (1 - s^ROWS)^BANDS: .994 for s = .9, .74 for .8, .01 for .5.

Runs are hashed as polynomials modulo 2^64, all at once: if P(i) is the sum of c_j b^(j+1) over the characters j before
i, the hash of the run from s to e is (P(e) - P(s)) / b^(s+1), which does not depend on the text before it. The upper 32
bits of this hash, after mixing, are the shingle. A permutation multiplies it by an odd number and adds a number, modulo
2^32. None of these numbers needs to be secret: whoever wants two pages to look alike can give them the same text.

Only the first `LONGEST` characters are read. A text of fewer than `FEWEST` different shingles has no signature: it is
compared by its fingerprint, a hash of its letters, which is also its only key.

Texts are compared in an order of preference: a crawl compares them as they are stored, an export in the order that its
user chooses. Each is compared with the earlier ones that share a key with it, and is a copy of the most similar one if
their similarity is at least `NEAR`.
Only texts that are not copies are entered under their keys, at most `MOST_UNDER_A_KEY` under each. So every copy is
near to a text that is kept, no chain of similar texts joins two that differ, and the cost of a text does not depend on
how many others are similar to it.

There is one exception to the order: of near-duplicates on the same site, the page with the lower rank is the original.
The page that owns the text has the lowest rank (crawler/metadata/text_owner.py). If the page with the lower rank comes
later, it replaces the earlier page, whose copies are compared again. Ranks of different sites are not compared, so that
no page can claim a text from another site.

`copies_among` compares all texts of an export with each other. They may be in a file, which is then read in parts. In
memory, a text takes 4 bytes for each band and 40 more, and about 40 while a band is sorted; a text that shares keys
with others takes up to 100 more. `copies_of` compares texts with earlier ones only, not with each other. `place_texts`
compares a few new texts with the earlier ones of a database or dictionary. Each of these functions numbers the texts
that it compares, from 0 in the order of preference; `text`, `original` and `copy` are such numbers.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import shake_128
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from crawler.page.text import UNSPACED, page_words

RUN = 4  # words
UNSPACED_RUN = 7  # characters
FEWEST = 20  # shingles of a text with a signature
LONGEST = 200_000  # characters
PERMUTATIONS = 128
BANDS = 12
ROWS = 10  # values in a band
NEAR = 0.8
"""The similarity from which two pages are near-duplicates."""
MOST_UNDER_A_KEY = 20
"""The most texts that are entered under a key."""
GONE = -1
"""Stands for the number of an entered text that no longer exists: it is compared with nothing."""

Numbers = NDArray[np.int64]
UInt32s = NDArray[np.uint32]
UInt64s = NDArray[np.uint64]
TextNumbers = NDArray[np.int32]
Similarities = NDArray[np.float64]

_SPACE = 32
_SHINGLES_AT_ONCE = 4096  # their permutations take 2 MB
_SIGNATURES_AT_ONCE = 4096  # read from a file, 1 MB


def _pseudo_random(name: bytes, count: int, kind: str) -> UInt64s:
    """Pseudo-random numbers, the same on every machine and in every version of Python and numpy."""
    width = np.dtype(kind).itemsize
    return np.frombuffer(shake_128(name).digest(count * width), kind).astype(np.uint64)


_BASE = np.uint64(0x9E3779B97F4A7C15)  # b, an odd number, so that it has an inverse
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))
_MIX_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF_BITS = np.uint64(32)
_FACTORS = (_pseudo_random(b"factors", PERMUTATIONS, "<u4") | np.uint64(1)).astype(np.uint32)[:, None]
_SUMMANDS = _pseudo_random(b"summands", PERMUTATIONS, "<u4").astype(np.uint32)[:, None]
# The name of the numbers is part of all stored keys.
_BAND_FACTORS = _pseudo_random(b"places", BANDS * ROWS, "<u8").reshape(BANDS, ROWS)


def _unspaced() -> NDArray[np.bool_]:
    """For each code point, whether its script has no spaces; the last entry stands for all further code points."""
    # UNSPACED is the inside of a character class: characters and ranges.
    ranges = [(ord(first), ord(last or first)) for first, last in re.findall("(.)(?:-(.))?", UNSPACED)]
    table = np.zeros(max(last for _, last in ranges) + 2, np.bool_)
    for first, last in ranges:
        table[first : last + 1] = True
    return table


_UNSPACED = _unspaced()


def _powers(base: np.uint64, count: int) -> UInt64s:
    """The powers of a number with the exponents from 1 to `count`, modulo 2^64."""
    return _cached_powers(base, 1 << count.bit_length())[:count]


@cache  # for few values of `count`, as they are powers of two
def _cached_powers(base: np.uint64, count: int) -> UInt64s:
    return np.cumprod(np.full(count, base), dtype=np.uint64)


def _mixed(numbers: UInt64s) -> UInt64s:
    """The numbers with their bits mixed, so that the upper 32 bits of each depend on all its bits."""
    numbers = (numbers ^ (numbers >> _HALF_BITS)) * _MIX_FACTOR
    return numbers ^ (numbers >> _HALF_BITS)


def _runs(code_points: UInt32s) -> tuple[Numbers, Numbers]:
    """The starts and ends of the runs of a text in which every word is followed by a space.

    Each word is in one script, as `page_words` divides texts.
    """
    # The units of runs: words, and single characters of unspaced scripts.
    is_single = _UNSPACED[np.minimum(code_points, len(_UNSPACED) - 1)]
    is_start = is_single.copy()
    is_start[0] = True
    is_start[1:] |= code_points[:-1] == _SPACE
    is_start &= code_points != _SPACE
    starts = np.flatnonzero(is_start)
    starts_with_single = is_single[starts]
    # A word ends at the space before the next unit.
    ends = np.where(starts_with_single, starts + 1, np.append(starts[1:], len(code_points)) - 1)

    # The last unit of the run that begins with each unit; some runs would end after the text.
    last_units = np.arange(len(starts)) + np.where(starts_with_single, UNSPACED_RUN, RUN) - 1
    is_whole = last_units < len(starts)
    return starts[is_whole], ends[last_units[is_whole]]


def _shingles(text: str) -> UInt32s:
    """The different shingles of a text, as numbers of 32 bits."""
    words = page_words(text[:LONGEST])
    if not words:
        return np.empty(0, np.uint32)
    code_points = np.frombuffer(f"{' '.join(words)} ".encode("utf-32-le", "surrogatepass"), "<u4")
    starts, ends = _runs(code_points)

    # The sums P(i), and the hashes of the runs.
    sums = np.zeros(len(code_points) + 1, np.uint64)
    np.cumsum(code_points * _powers(_BASE, len(code_points)), out=sums[1:])
    hashes = (sums[ends] - sums[starts]) * _powers(_INVERSE, len(code_points))[starts]

    # Equal shingles are adjacent after sorting; the first of them is kept.
    shingles: UInt32s = np.sort((_mixed(hashes) >> _HALF_BITS).astype(np.uint32))
    if not len(shingles):
        return shingles
    is_first = np.append(True, shingles[1:] != shingles[:-1])
    different_shingles: UInt32s = shingles[is_first]
    return different_shingles


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
    for at in range(0, len(shingles), _SHINGLES_AT_ONCE):
        permuted = _FACTORS * shingles[at : at + _SHINGLES_AT_ONCE]
        permuted += _SUMMANDS
        np.minimum(least, permuted.min(axis=1), out=least)
    return least.astype("<u2").tobytes()  # keeps the last 16 bits


def _values(signature: bytes) -> NDArray[np.uint16]:
    """The values of a signature, numbers of 16 bits."""
    if len(signature) != 2 * PERMUTATIONS:
        raise ValueError(f"A signature has {2 * PERMUTATIONS} bytes, not {len(signature)}.")
    return np.frombuffer(signature, "<u2")


def similarity(first: bytes, second: bytes) -> float:
    """The similarity of two texts, from 0 to 1, by their signatures.

    >>> text = " ".join(map(str, range(400)))
    >>> similarity(signature(text), signature(text)), similarity(signature(text), signature(text[::-1]))
    (1.0, 0.0)
    """
    return float(_similarities(_values(first), _values(second)))


def _similarities(values: NDArray[np.uint16], others: NDArray[np.uint16]) -> Similarities:
    """The similarity of a signature to another one, or to each row of a table of signatures."""
    similarities: Similarities = (others == values).mean(axis=-1)
    return similarities


def band_keys(signature: bytes) -> list[int]:
    """The keys of a signature, signed 64-bit numbers; near-duplicates probably share at least one of them."""
    keys: list[int] = _keys(_values(signature)[: BANDS * ROWS].reshape(BANDS, ROWS), _BAND_FACTORS).tolist()
    return keys


def keys_of_band(signatures: NDArray[np.uint16], band: int) -> Numbers:
    """The keys that signatures, one in each row, have for one of the `BANDS`."""
    return _keys(signatures[:, band * ROWS : (band + 1) * ROWS], _BAND_FACTORS[band])


def _keys(bands: NDArray[np.uint16], factors: UInt64s) -> Numbers:
    """The key of each row of values. Each band has its own factors: equal values in two bands have different keys."""
    # 1 is added so that values of 0 count, too.
    return _mixed(((bands.astype(np.uint64) + np.uint64(1)) * factors).sum(axis=1)).view(np.int64)


def fingerprint_number(fingerprint: str) -> int:
    """A fingerprint as a signed 64-bit number.

    >>> fingerprint_number("00000000000000ff"), fingerprint_number("ffffffffffffffff")
    (255, -1)
    """
    return int.from_bytes(bytes.fromhex(fingerprint), "big", signed=True)


TextId = TypeVar("TextId", bound=Hashable)


@dataclass(frozen=True)
class ComparedText(Generic[TextId]):
    """A text in the form in which it is compared."""

    text_id: TextId
    signature: bytes | None
    """None for a text of fewer than `FEWEST` shingles."""
    fingerprint: str | None = None
    """Equal for texts with the same letters; None for a text without letters."""
    site: str = ""
    """`rank` is compared only with the ranks of texts with the same site."""
    rank: int = 0
    """Lowest for the original among near-duplicates of a site."""

    @cached_property
    def band_keys(self) -> list[int]:
        """The keys under which it is entered and looked up; of a text without a signature, its fingerprint."""
        if self.signature is not None:
            return list(dict.fromkeys(band_keys(self.signature)))
        if self.fingerprint:
            return [fingerprint_number(self.fingerprint)]
        return []


@dataclass(frozen=True)
class TextColumns:
    """Compared texts in columns, each text in a row."""

    signatures: NDArray[np.uint16]
    is_signed: NDArray[np.bool_]
    """Whether a text has a signature."""
    fingerprints: Numbers
    has_letters: NDArray[np.bool_]
    """Whether a text has a fingerprint."""
    sites: Numbers
    """A number for each site; ranks are compared only within a site."""
    ranks: Numbers
    """Lowest for the original among near-duplicates of a site."""

    def similarities(self, row: int, others: Numbers) -> Similarities:
        """The similarity of a text to others that share a key with it: 1 for texts with the same letters.

        All other texts that share a key have signatures.
        """
        similarities = np.ones(len(others))
        is_different = (self.fingerprints[others] != self.fingerprints[row]) | ~self.has_letters[others]
        if is_different.any():  # only then are signatures read, which may be in a file
            similarities[is_different] = _similarities(self.signatures[row], self.signatures[others[is_different]])
        return similarities

    def may_replace(self, later: int, earlier: int) -> bool:
        """Whether a text becomes the original of a near-duplicate that came before it."""
        return bool(self.sites[later] == self.sites[earlier] and self.ranks[later] < self.ranks[earlier])


@dataclass(frozen=True)
class _SharedKeys:
    """The keys that at least two texts have."""

    numbers: NDArray[np.int32]
    """A row for each text with the numbers of its keys, one column for each band and one for fingerprints. The number
    is -1 if no other text has the key.
    """
    sizes: Numbers
    """For each key, by its number, how many texts have it."""


class _EnteredInArrays:
    """The entered texts of an export, in arrays: only keys that texts share take memory."""

    def __init__(self, shared: _SharedKeys) -> None:
        self._numbers = shared.numbers
        self._room = np.minimum(shared.sizes, MOST_UNDER_A_KEY)
        """How many texts may be entered under each key."""
        self._starts = np.cumsum(self._room) - self._room
        """Index in `_entered` of the first text under each key."""
        self._counts = np.zeros(len(self._room), np.int8)
        """How many texts are entered under each key."""
        self._entered = np.empty(int(self._room.sum()), np.int32)

    def like(self, text: int) -> TextNumbers:
        """The entered texts that share a key with a text, each once, in the order of texts."""
        keys = self._keys_of(text)
        used = keys[self._counts[keys] > 0]
        if len(used):
            return np.unique(np.concatenate([self._under(key) for key in used]))
        return used

    def enter(self, text: int) -> None:
        """Enter a text under each of its keys that has room."""
        keys = self._keys_of(text)
        free = keys[self._counts[keys] < self._room[keys]]
        self._entered[self._starts[free] + self._counts[free]] = text
        self._counts[free] += 1

    def remove(self, text: int) -> None:
        """Remove a text from its keys."""
        for key in self._keys_of(text):
            kept = self._under(key)[self._under(key) != text]
            self._counts[key] = len(kept)
            self._under(key)[:] = kept  # `_under` now returns one text fewer

    def _keys_of(self, text: int) -> TextNumbers:
        keys: TextNumbers = self._numbers[text]
        return keys[keys >= 0]

    def _under(self, key: int) -> TextNumbers:
        start = self._starts[key]
        return self._entered[start : start + self._counts[key]]


class _EnteredInLists:
    """The entered texts when a few are compared, in lists; begins with the entries of earlier texts."""

    def __init__(self, texts: Sequence[ComparedText[Any]], entries: Iterable[tuple[int, int]]) -> None:
        self._texts = texts
        self.by_key: defaultdict[int, list[int]] = defaultdict(list)
        """The numbers of the entered texts, by key."""
        for key, text in entries:
            self.by_key[key].append(text)

    def like(self, text: int) -> TextNumbers:
        """The entered texts that share a key with a text, each once, in the order of texts."""
        others = {other for key in self._texts[text].band_keys for other in self.by_key.get(key, ())}
        return np.array(sorted(others - {GONE}), np.int32)

    def enter(self, text: int) -> None:
        """Enter a text under each of its keys that has room."""
        for key in self._texts[text].band_keys:
            if len(self.by_key[key]) < MOST_UNDER_A_KEY:
                self.by_key[key].append(text)

    def remove(self, text: int) -> None:
        """Remove a text from its keys."""
        for key in self._texts[text].band_keys:
            if text in self.by_key[key]:
                self.by_key[key].remove(text)


class _Originals:
    """Decides for one text after another whether it is an original, or of which original it is a copy."""

    def __init__(self, texts: TextColumns, order: Numbers, entered: _EnteredInArrays | _EnteredInLists) -> None:
        self._texts = texts
        self._order = order
        """The row of each text in `texts`, by the number of the text."""
        self._entered = entered
        self.originals = np.arange(len(order), dtype=np.int32)
        """The original of each text, or the text itself if it is no copy."""
        self.similarities = np.ones(len(order), np.float32)
        """The similarities of texts and their originals."""
        # The copies of an original are a linked list, the last copy first; -1 is its end.
        self._last_copies = np.full(len(order), -1, np.int32)
        self._copies_before = np.full(len(order), -1, np.int32)

    def decide(self, text: int) -> None:
        """Decide on a text; if it replaces an original, decide again on the copies of that original."""
        undecided = [text]
        while undecided:
            text = undecided.pop()
            original, similarity = self._most_similar(text)
            if similarity < NEAR:
                self._entered.enter(text)
            elif not self._texts.may_replace(self._order[text], self._order[original]):
                self._add_copy(original, text, similarity)
            else:  # the text replaces the original
                undecided += self._take_copies(original)
                self._entered.remove(original)
                self._entered.enter(text)
                self._add_copy(text, original, similarity)

    def compare(self, text: int) -> None:
        """Find the original of a text among the entered texts; the text itself is not entered."""
        original, similarity = self._most_similar(text)
        if similarity >= NEAR:
            self._add_copy(original, text, similarity)

    def _most_similar(self, text: int) -> tuple[int, float]:
        """The most similar entered text, the first of equally similar ones; the text itself and 0 if there is none."""
        others = self._entered.like(text)
        if not len(others):
            return text, 0.0
        similarities = self._texts.similarities(self._order[text], self._order[others])
        best = similarities.argmax()
        return int(others[best]), float(similarities[best])

    def _add_copy(self, original: int, copy: int, similarity: float) -> None:
        self.originals[copy] = original
        self.similarities[copy] = similarity
        self._copies_before[copy] = self._last_copies[original]
        self._last_copies[original] = copy

    def _take_copies(self, original: int) -> list[int]:
        """Take all copies away from an original, and return them, the last one first: `decide` pops them in order."""
        copies = []
        copy = int(self._last_copies[original])
        while copy >= 0:
            copies.append(copy)
            self.originals[copy] = copy
            self.similarities[copy] = 1
            copy = int(self._copies_before[copy])
        self._last_copies[original] = -1
        return copies


def copies_among(texts: TextColumns, order: Numbers, *, is_near: bool = True) -> tuple[Numbers, NDArray[np.float32]]:
    """For each row the row of its original, or itself if it is no copy; and how similar they are.

    `order` contains the rows that are compared, the preferred ones first. Unless `is_near`, only texts with the same
    letters are copies.
    """
    shared = _shared_keys(texts, order, BANDS if is_near else 0)
    decided = _Originals(texts, order, _EnteredInArrays(shared))
    for text in np.flatnonzero((shared.numbers >= 0).any(axis=1)).tolist():
        decided.decide(text)
    return _by_row(decided, order, len(texts.signatures))


def copies_of(texts: TextColumns, earlier: Numbers, new: Numbers) -> tuple[Numbers, NDArray[np.float32]]:
    """For each row the row of the earlier text that it is a copy of, or itself if there is none; and how similar they
    are.

    No two of the earlier rows may have the same letters. New rows are compared with the earlier rows, not with each
    other.
    """
    order = np.concatenate([earlier, new])
    shared = _shared_keys(texts, order, BANDS)
    entered = _EnteredInArrays(shared)
    decided = _Originals(texts, order, entered)
    for text in np.flatnonzero((shared.numbers >= 0).any(axis=1)).tolist():
        if text < len(earlier):
            entered.enter(text)
        else:
            decided.compare(text)
    return _by_row(decided, order, len(texts.signatures))


def _by_row(decided: _Originals, order: Numbers, count: int) -> tuple[Numbers, NDArray[np.float32]]:
    """The original of each of `count` rows, and how similar it is; `order` contains the rows of the decided texts."""
    originals = np.arange(count, dtype=np.int64)
    originals[order] = order[decided.originals]
    similarities = np.ones(count, np.float32)
    similarities[order] = decided.similarities
    return originals, similarities


def _shared_keys(texts: TextColumns, order: Numbers, band_count: int) -> _SharedKeys:
    """The shared keys of the first `band_count` bands, a column each, and of fingerprints in the last column."""
    numbers = np.full((len(order), band_count + 1), -1, np.int32)
    sizes: list[Numbers] = []
    key_count = 0
    for column in range(band_count + 1):
        if column < band_count:
            has_key = texts.is_signed
            keys = _keys_of_all(texts.signatures, column)
        else:
            has_key = texts.has_letters
            keys = texts.fingerprints
        texts_with_key = np.flatnonzero(has_key[order])
        keys = keys[order[texts_with_key]]

        # Texts that share a key are adjacent when the keys are sorted.
        by_key = np.argsort(keys, kind="stable")
        keys = keys[by_key]
        is_like_next = np.zeros(len(keys), np.bool_)
        is_like_next[:-1] = keys[1:] == keys[:-1]
        is_like_previous = np.roll(is_like_next, 1)  # the last value, which is always False, comes first
        is_shared = is_like_next | is_like_previous

        # Shared keys are numbered in their order: the first of the texts that share a key begins a new number.
        key_numbers = np.cumsum(is_like_next & ~is_like_previous, dtype=np.int32)[is_shared] - 1
        numbers[texts_with_key[by_key[is_shared]], column] = key_numbers + key_count
        sizes.append(np.bincount(key_numbers))
        key_count += len(sizes[-1])
    return _SharedKeys(numbers, np.concatenate(sizes))


def _keys_of_all(signatures: NDArray[np.uint16], band: int) -> Numbers:
    """The keys of signatures for a band. The signatures may be in a file, which is read in parts."""
    keys = np.empty(len(signatures), np.int64)
    for at in range(0, len(signatures), _SIGNATURES_AT_ONCE):
        keys[at : at + _SIGNATURES_AT_ONCE] = keys_of_band(signatures[at : at + _SIGNATURES_AT_ONCE], band)
    return keys


@dataclass(frozen=True)
class Placement(Generic[TextId]):
    """The result of comparing new texts with earlier ones."""

    originals: dict[TextId, TextId]
    """The original of each copy: of new texts, and of earlier ones that a new one replaces."""
    entries: list[tuple[int, TextId]]
    """The new entries: pairs of a key and the text that is entered under it."""


def place_texts(
    new: Sequence[ComparedText[TextId]],
    earlier: Sequence[ComparedText[TextId]],
    entries: Collection[tuple[int, TextId]],
) -> Placement[TextId]:
    """Compare new texts, in this order, with earlier ones and with each other.

    `entries` are all entries under the keys of the new texts. An entered text that is not among the earlier ones is
    gone: it counts towards `MOST_UNDER_A_KEY`, but is compared with nothing.
    """
    texts = [*earlier, *new]
    earlier_numbers = {text.text_id: number for number, text in enumerate(earlier)}
    before = [(key, earlier_numbers.get(text_id, GONE)) for key, text_id in entries]
    entered = _EnteredInLists(texts, before)
    decided = _Originals(_columns(texts), np.arange(len(texts)), entered)
    for number in range(len(earlier), len(texts)):
        decided.decide(number)
    originals = decided.originals.tolist()
    originals_of_copies = {
        texts[copy].text_id: texts[original].text_id for copy, original in enumerate(originals) if copy != original
    }
    # Only new entries are returned; the caller keeps the old ones, even those of earlier texts that were replaced.
    after = {(key, number) for key, entered_texts in entered.by_key.items() for number in entered_texts}
    return Placement(
        originals_of_copies, [(key, texts[number].text_id) for key, number in sorted(after.difference(before))]
    )


def _columns(texts: Sequence[ComparedText[TextId]]) -> TextColumns:
    """The texts as columns; a text without a signature has zeros in its place."""
    sites = {site: number for number, site in enumerate({text.site for text in texts})}
    signatures = b"".join(text.signature or bytes(2 * PERMUTATIONS) for text in texts)
    fingerprints = [fingerprint_number(text.fingerprint) if text.fingerprint else 0 for text in texts]
    return TextColumns(
        signatures=np.frombuffer(signatures, "<u2").reshape(len(texts), PERMUTATIONS),
        is_signed=np.array([text.signature is not None for text in texts]),
        fingerprints=np.array(fingerprints),
        has_letters=np.array([bool(text.fingerprint) for text in texts]),
        sites=np.array([sites[text.site] for text in texts]),
        ranks=np.array([text.rank for text in texts]),
    )
