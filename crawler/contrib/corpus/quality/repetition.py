"""How much of a text is covered by its commonest and by its repeated sequences of words.

A place is the index of the word with which a sequence begins. A sequence of n words can be repeated only if its first
n - 1 words are. So the places of a text are first grouped by their pairs of words. For each longer sequence, only the
places whose shorter sequence occurs more than once are compared again; in prose these are few.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crawler.contrib.corpus.quality.words import Array, Words

TOPS = (2, 3, 4)
"""The lengths of the sequences whose commonest one is counted."""
REPEATED = (5, 6, 7, 8, 9, 10)
"""The lengths of the sequences whose repetitions are counted."""
MOST_WORDS = 100_000
"""The most words of a text that are read."""
PLACE_BITS = 17
"""The bits of a place: 2^17 is more than MOST_WORDS."""
FEW = 60
"""Python is faster than numpy for at most this many places; most pages have fewer repeated sequences of 4 words."""


@dataclass(frozen=True)
class NGrams:
    """Characters that sequences of n words cover, by n."""

    top: Mapping[int, int]
    """Characters of all occurrences of the commonest sequence of n words; of equally common ones, the first."""
    repeated: Mapping[int, int]
    """Characters of the sequences of n words that occurred before, from left to right without overlaps."""


@dataclass(frozen=True)
class _Groups:
    """The places where sequences of words begin, grouped by sequence."""

    places: Array
    """Sorted by sequence, and then by place."""
    starts: Array
    """The index in `places` at which each sequence's places begin."""
    counts: Array
    """How often each sequence occurs."""

    def shared(self) -> tuple[Array, Array]:
        """The places of sequences that occur more than once, and the numbers of these sequences."""
        is_shared = self.counts > 1
        numbers = np.repeat(np.arange(len(self.counts)), self.counts)
        kept = np.repeat(is_shared, self.counts)
        return self.places[kept], numbers[kept]


def n_grams(words: Words) -> NGrams:
    """The characters that the sequences of a text cover."""
    numbers = words.numbers[:MOST_WORDS]
    lengths = words.lengths[:MOST_WORDS]
    offsets = np.concatenate([[0], np.cumsum(lengths)])  # the characters of all words before each place
    top = dict.fromkeys(TOPS, 0)
    repeated = dict.fromkeys(REPEATED, 0)
    base = int(numbers.max(initial=0)) + 1
    places = np.arange(len(numbers))
    sequences = numbers  # a number for the sequence of n - 1 words at each place
    for n in range(2, REPEATED[-1] + 1):
        if n in repeated and len(places) <= FEW:
            order = np.argsort(places)
            return NGrams(top, repeated | _repeated_of_few(places[order], sequences[order], words, n))

        # Lengthen the sequences by a word, and group them. A sequence and its next word are combined into one number.
        fits = places + n <= len(numbers)
        places = places[fits]
        sequences = sequences[fits]
        groups = _grouped(places, sequences * base + numbers[places + n - 1])
        if n in top and len(numbers) >= n:
            top[n] = _top(groups, offsets, n)

        # Go on with the sequences that occur more than once.
        places, sequences = groups.shared()
        if n in repeated and len(places):
            repeated[n] = _covered(groups, offsets, n)
    return NGrams(top, repeated)


def _repeated_of_few(places: Array, sequences: Array, words: Words, first: int) -> dict[int, int]:
    """The characters of the sequences that occurred before, by n, from the length `first` on.

    The places are in order; `sequences` are the numbers of their sequences of `first` - 1 words.
    """
    # For each place, a row with its words and a row with their lengths; after the text, the last word stands in.
    word_count = min(len(words), MOST_WORDS)
    indexes = np.minimum(places[:, None] + np.arange(REPEATED[-1]), word_count - 1)
    words_from = words.numbers[indexes].tolist()
    lengths_from = words.lengths[indexes].tolist()
    place_list = places.tolist()
    candidates = [*enumerate(sequences.tolist())]
    covered = {}
    for n in range(first, REPEATED[-1] + 1):
        # Group the places by their sequence of one word more, and keep those that share it.
        groups: dict[tuple[int, int], list[int]] = {}
        for row, sequence in candidates:
            if place_list[row] + n <= word_count:
                groups.setdefault((sequence, words_from[row][n - 1]), []).append(row)
        shared = [group for group in groups.values() if len(group) > 1]
        candidates = sorted((row, number) for number, group in enumerate(shared) for row in group)

        # Count from left to right, continuing after each repetition.
        seen: set[int] = set()
        covered[n] = 0
        first_free = 0
        for row, sequence in candidates:
            place = place_list[row]
            if place >= first_free and sequence in seen:
                covered[n] += sum(lengths_from[row][:n])
                first_free = place + n
            elif place >= first_free:
                seen.add(sequence)
        if not candidates:
            break
    return covered


def _grouped(places: Array, sequences: Array) -> _Groups:
    """The places grouped by the number of the sequence at each place."""
    # Sorting numbers that hold sequence and place takes a third of the time that argsort of the sequences takes.
    packed = np.sort((sequences << PLACE_BITS) | places)
    ordered = packed >> PLACE_BITS
    begins = np.ones(len(packed), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    starts = np.flatnonzero(begins)
    ends = np.concatenate([starts[1:], [len(packed)]])
    return _Groups(packed & (1 << PLACE_BITS) - 1, starts, ends - starts)


def _top(groups: _Groups, offsets: Array, n: int) -> int:
    """The characters, with spaces, of all occurrences of the commonest sequence; of the first if none is repeated."""
    count = int(groups.counts.max(initial=1))
    first = int(groups.places[groups.starts[groups.counts == count]].min()) if count > 1 else 0
    return (int(offsets[first + n] - offsets[first]) + n - 1) * count


def _covered(groups: _Groups, offsets: Array, n: int) -> int:
    """The characters of the sequences that occurred before.

    From left to right, a sequence is covered if it began before at a place that was not skipped. Then the other places
    within it are skipped. Only places that are not the first of their sequence are visited.
    """
    # The places after the first of each sequence in order, and the first place of each.
    is_repeat = np.ones(len(groups.places), bool)
    is_repeat[groups.starts] = False
    repeats = groups.places[is_repeat]
    order = np.argsort(repeats)
    repeats = repeats[order]
    firsts = np.repeat(groups.places[groups.starts], groups.counts - 1)[order]

    places = repeats.tolist()
    first_places = firsts.tolist()
    following = np.searchsorted(repeats, repeats + n).tolist()
    skipped = bytearray(len(offsets))
    inside = b"\x01" * (n - 1)  # marks the places within a covered sequence
    # The first places of sequences, if the first place was skipped, but the sequence began again at a visited place.
    seen: set[int] = set()
    covered: list[int] = []
    at = 0
    while at < len(places):
        place = places[at]
        first = first_places[at]
        if not skipped[first] or first in seen:
            covered.append(place)
            skipped[place + 1 : place + n] = inside
            at = following[at]
        else:
            seen.add(first)
            at += 1
    begins = np.array(covered, np.int64)
    return int((offsets[begins + n] - offsets[begins]).sum())
