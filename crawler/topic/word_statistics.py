"""Word statistics, learned as the crawl goes: how many of the pages seen so far have a word?

A word is known by its place, a number below PLACES that is a hash of its letters: memory does not grow with the crawl,
and all workers and runs agree. Two words may share a place; of 20,000 words, one in 14 does.

The weight of a word is log((n + 1) / (d + 1/2)), where d of n pages have it. The first pages tell nothing of common
words yet: IMAGINED pages that have all stop words come before them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]
Values = NDArray[np.float64]


PLACES = 1 << 18
"""How many places there are."""
ANCHOR, ADDRESS, NEAR, HOST = SORTS = range(4)
"""Where a link has a word. The number of a feature is the place of its word, plus PLACES times its sort."""
IMAGINED = 10
"""Pages that are taken to have been seen before the first."""
MOST_KNOWN = 200_000
"""Words whose places are remembered; those of others are worked out again."""
LONGEST = 100
"""Letters of a word that is remembered."""
MOST_TOLD = 20_000
"""Words whose counts are told to others: the commonest."""


class Vector(NamedTuple):
    """A text by its words: the place of each, once, and 1 + log of how often it stands there."""

    places: Numbers
    times: Values


@dataclass(frozen=True)
class FeatureCounts:
    """What features led to: the sum of relevance and the weight of each, and how much of the topic and of the rest."""

    features: Mapping[int, tuple[float, float]]
    good: float
    bad: float


@dataclass(frozen=True, eq=False)
class KnownPage:
    """A page that is remembered, by the words in it."""

    vector: Vector
    number: int = -1
    """Of a page of this run; another worker's, or an earlier run's, has none."""
    named: float = 0.0
    """How much it is about the words that the topic was given in."""
    is_example: bool = False


class Pairs:
    """Which numbers each row holds; a row may be added to at any time.

    >>> pairs = Pairs()
    >>> pairs.add(0, [2, 1])
    >>> pairs.add(2, [2])
    >>> worth = np.array([0.0, 1.0, 5.0])
    >>> pairs.sums(worth[pairs.numbers], 3).tolist()
    [6.0, 0.0, 5.0]
    """

    def __init__(self) -> None:
        self._rows = np.empty(1024, np.int32)
        self._numbers = np.empty(1024, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> Numbers:
        """The row of each number."""
        return self._rows[: self._count]

    @property
    def numbers(self) -> Numbers:
        """The numbers, in the order in which they were added."""
        return self._numbers[: self._count]

    def add(self, row: int, numbers: list[int] | Numbers) -> None:
        """Add numbers to a row."""
        end = self._count + len(numbers)
        if end > len(self._rows):
            self._rows, self._numbers = (_longer(array, end) for array in (self._rows, self._numbers))
        self._rows[self._count : end] = row
        self._numbers[self._count : end] = numbers
        self._count = end

    def sums(self, values: Values, rows: int) -> Values:
        """For each row the sum of the values of its numbers, which are given in their order."""
        return np.bincount(self.rows, values, rows).astype(np.float64)

    def sizes(self, rows: int) -> Values:
        """How many numbers each row holds."""
        return np.bincount(self.rows, minlength=rows).astype(np.float64)

    def since(self, count: int, row: int) -> "Pairs":
        """What was added after the first `count` numbers, with that row as row 0."""
        later = Pairs.__new__(Pairs)
        later._rows, later._numbers = self.rows[count:] - row, self.numbers[count:]
        later._count = len(later._rows)
        return later

    def keep(self, new: Numbers) -> None:
        """Drop the rows whose new number is below 0, and give the others theirs."""
        rows = new[self.rows]
        kept = rows >= 0
        count = int(np.count_nonzero(kept))
        self._rows[:count], self._numbers[:count] = rows[kept], self.numbers[kept]
        self._count = count


def _longer(array: Numbers, size: int) -> Numbers:
    longer = np.empty(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


class Vocabulary:
    """The places of words, and in how many pages those stand that were seen."""

    def __init__(self, stop_words: Iterable[str] = ()) -> None:
        self.names: dict[int, str] = {}
        """The word last seen at a place."""
        self._known = _WordPlaces(self.names)
        self.pages = 0
        self.counts: Values = np.zeros(PLACES)
        """In how many pages a word of each place stands."""
        self._others: dict[int, tuple[int, Numbers, Values]] = {}
        self._imagined = np.zeros(PLACES)
        self._imagined[self.places(stop_words)] = IMAGINED

    def place(self, word: str) -> int:
        """The place of a word."""
        return self._known[word]

    def places(self, words: Iterable[str]) -> list[int]:
        """The places of words."""
        return list(map(self._known.__getitem__, words))

    def is_met(self, word: str) -> bool:
        """Whether a word stood in any of the pages seen here, as far as is known: its place may be another's too."""
        return bool(self.counts[self.place(word)])

    def vector(self, words: Iterable[str]) -> Vector:
        """A text by its words."""
        times = Counter(words)
        places = np.fromiter(map(self._known.__getitem__, times), np.int32, len(times))
        return Vector(places, 1 + np.log(np.fromiter(times.values(), np.float64, len(times))))

    def see(self, places: Numbers) -> None:
        """Count the words of one more page, each once."""
        self.pages += 1
        self.counts[places] += 1

    def weights(self) -> Values:
        """How much a word of each place tells, by all that was seen."""
        pages, counts = self.pages + IMAGINED, self.counts + self._imagined
        for more_pages, places, more_counts in self._others.values():
            pages += more_pages
            counts[places] += more_counts
        return np.log((pages + 1) / (counts + 0.5))

    def told(self) -> dict[str, float]:
        """The counts of the commonest words, for others; what only one page holds is not worth telling."""
        common = np.flatnonzero(self.counts > 1)
        common = common[np.argsort(-self.counts[common], kind="stable")][:MOST_TOLD]
        return {self.names[place]: float(self.counts[place]) for place in common.tolist() if place in self.names}

    def go_on(self, pages: int, told: Mapping[str, float]) -> None:
        """Take in what an earlier run counted."""
        self.pages += pages
        self.counts += self._counted(pages, told)

    def hear(self, seat: int, pages: int, told: Mapping[str, float]) -> None:
        """Take in what another worker counted, in place of what it told before."""
        counts = self._counted(pages, told)
        places = np.flatnonzero(counts).astype(np.int32)
        self._others[seat] = pages, places, counts[places]

    def _counted(self, pages: int, told: Mapping[str, float]) -> Values:
        """In how many of so many pages a word of each place stands."""
        counts = np.zeros(PLACES)
        for word, count in told.items():
            counts[self.place(word)] += count
        return np.minimum(counts, pages)


class _WordPlaces(dict[str, int]):
    """The places of the words that were met; of very many words, and of very long ones, they are worked out again."""

    def __init__(self, names: dict[int, str]) -> None:
        self.names = names

    def __missing__(self, word: str) -> int:
        found = crc32(word.encode("utf-8", "surrogatepass")) % PLACES
        if len(word) <= LONGEST:
            if len(self) >= MOST_KNOWN:
                self.clear()
            self[word] = found
            self.names[found] = word
        return found
