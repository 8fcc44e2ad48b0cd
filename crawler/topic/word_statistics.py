"""Word statistics, learned during a crawl: how many of the pages seen so far have a word.

A word is represented by its place, a number below PLACES that is a hash of its letters: memory does not grow with the
crawl, and all workers and runs agree. Two words may share a place; of 20,000 words, one in 14 does. Words that differ
only in traditional and simplified characters share a place on purpose, and so do the inflected forms of a word of the
topic (crawler/topic/stems.py).

The weight of a word is log((n + 1) / (d + 1/2)), where d of n pages have it. The first pages do not show yet which
words are common, so IMAGINED pages that have all stop words are counted before them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from crawler.page.simplified import simplified
from crawler.topic.page_translations import NO_ADDRESS, AddressKey

Numbers = NDArray[np.int32]
Values = NDArray[np.float64]


PLACES = 1 << 18
"""How many places there are; an array with a value for each takes 2 MB."""
ANCHOR, ADDRESS, NEAR, HOST = KINDS = range(4)
"""The kinds of words of a link. The number of a feature is the place of its word, plus PLACES times its kind."""
IMAGINED = 10
"""The number of imaginary pages, which have all stop words, before the first page."""
MOST_CACHED = 200_000
"""For how many words the places are cached; then the cache is cleared."""
LONGEST_WORD = 100
"""The most characters of a word that is cached, or shared with other workers."""
MOST_SHARED = 20_000
"""For how many words the counts are shared with other workers: the most frequent ones."""


class Vector(NamedTuple):
    """A text as a vector: the place of each different word, and its value, 1 + log(number of its occurrences)."""

    places: Numbers
    values: Values


@dataclass(frozen=True)
class FeatureCounts:
    """What links with each feature led to, see `Apprentice` in crawler/topic/link_scores.py."""

    features: Mapping[int, tuple[float, float]]
    """For each feature the sum of the relevance of the pages that links with it led to, and their weight."""
    good: float
    """The sum of the relevance of all pages."""
    bad: float
    """The sum of 1 - relevance of all pages."""


@dataclass(frozen=True, eq=False)
class KnownPage:
    """A remembered page: its words, and what is known about it."""

    vector: Vector
    number: int = -1
    """The number of the page in this run; -1 for a page of another worker or an earlier run."""
    word_score: float = 0.0
    """How much the page names the words of the topic, from 0 to 1 (`Keywords.score` in crawler/topic/keywords.py)."""
    is_example: bool = False
    """Whether the text of the page is an example of the topic, or a counterexample."""
    language: str = ""
    """A two-letter code; empty if the language is unknown."""
    address: AddressKey = NO_ADDRESS
    """The key by which its translations are found."""


class Pairs:
    """Rows of numbers, stored as pairs of row and number, so that numbers can be added to any row at any time.

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
        """For each row the sum of the values of its numbers; `values` are in the order of `numbers`."""
        return np.bincount(self.rows, values, rows).astype(np.float64)

    def sizes(self, rows: int) -> Values:
        """How many numbers each row has."""
        return np.bincount(self.rows, minlength=rows).astype(np.float64)

    def since(self, count: int, row: int) -> "Pairs":
        """The pairs after the first `count`; row `row` becomes row 0."""
        later = Pairs.__new__(Pairs)
        later._rows = self.rows[count:] - row
        later._numbers = self.numbers[count:]
        later._count = len(later._rows)
        return later

    def renumber(self, new_rows: Numbers) -> None:
        """Give each row its new number, and drop those whose new number is below 0."""
        rows = new_rows[self.rows]
        kept = rows >= 0
        count = int(np.count_nonzero(kept))
        self._rows[:count] = rows[kept]
        self._numbers[:count] = self.numbers[kept]
        self._count = count


def _longer(array: Numbers, size: int) -> Numbers:
    longer = np.empty(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


class Vocabulary:
    """The places of words, and how many of the seen pages have a word of each place. (`folded`: see `_WordPlaces`.)"""

    def __init__(self, stop_words: Iterable[str] = (), folded: Callable[[str], str] = simplified) -> None:
        self.names: dict[int, str] = {}
        """The word last seen at each place, if it is not longer than LONGEST_WORD."""
        self._word_places = _WordPlaces(self.names, folded)
        self.pages = 0
        self.counts: Values = np.zeros(PLACES)
        """The number of pages with a word of each place."""
        self._others: dict[int, tuple[int, Numbers, Values]] = {}
        """For each other worker: the number of its pages; places of words; and the number of its pages with a word of
        each of these places.
        """
        self._stop_places = np.unique(np.array(self.places(stop_words), np.int32))

    def place(self, word: str) -> int:
        """The place of a word."""
        return self._word_places[word]

    def places(self, words: Iterable[str]) -> list[int]:
        """The places of words."""
        return list(map(self._word_places.__getitem__, words))

    def is_met(self, word: str) -> bool:
        """Whether a page seen by this worker, also in an earlier run, has the word or another word with its place."""
        return bool(self.counts[self.place(word)])

    def vector(self, words: Iterable[str]) -> Vector:
        """A text as a vector."""
        counts = Counter(words)
        places = np.fromiter(map(self._word_places.__getitem__, counts), np.int32, len(counts))
        return Vector(places=places, values=1 + np.log(np.fromiter(counts.values(), np.float64, len(counts))))

    def see(self, places: Numbers) -> None:
        """Count the words of one more page, each once."""
        self.pages += 1
        self.counts[places] += 1

    @property
    def all_pages(self) -> int:
        """The number of pages seen, also by other workers and earlier runs."""
        return self.pages + sum(pages for pages, _, _ in self._others.values())

    def weights(self) -> Values:
        """The weight of the word of each place, by the pages of all workers."""
        pages = self.pages + IMAGINED
        counts = self.counts.copy()
        counts[self._stop_places] += IMAGINED
        for more_pages, places, more_counts in self._others.values():
            pages += more_pages
            counts[places] += more_counts
        # In place, as each array takes 2 MB.
        counts += 0.5
        np.divide(pages + 1, counts, out=counts)
        return np.log(counts, out=counts)

    def shared(self) -> dict[str, float]:
        """The counts of the most frequent words, for other workers; words on a single page are omitted."""
        common = np.flatnonzero(self.counts > 1)
        common = common[np.argsort(-self.counts[common], kind="stable")][:MOST_SHARED]
        places_and_counts = zip(common.tolist(), self.counts[common].tolist(), strict=True)
        return {self.names[place]: count for place, count in places_and_counts if place in self.names}

    def resume(self, pages: int, pages_with_word: Mapping[str, float]) -> None:
        """Add the counts of an earlier run."""
        self.pages += pages
        self.counts += self._counts_by_place(pages, pages_with_word)

    def take_over(self, worker_number: int, pages: int, pages_with_word: Mapping[str, float]) -> None:
        """Use the counts of another worker, in place of those that it shared before."""
        counts = self._counts_by_place(pages, pages_with_word)
        places = np.flatnonzero(counts).astype(np.int32)
        self._others[worker_number] = pages, places, counts[places]

    def _counts_by_place(self, pages: int, pages_with_word: Mapping[str, float]) -> Values:
        """The number of pages with a word of each place."""
        counts = np.zeros(PLACES)
        for word, count in pages_with_word.items():
            counts[self.place(word)] += count
        # Words that share a place may together be on more pages than there are.
        return np.minimum(counts, pages)


class _WordPlaces(dict[str, int]):
    """A cache of the places of words, which is cleared when it is full; very long words are not cached.

    `folded` returns the form by which a word is hashed: words with the same form share a place.
    """

    def __init__(self, names: dict[int, str], folded: Callable[[str], str]) -> None:
        self.names = names
        self.folded = folded

    def __missing__(self, word: str) -> int:
        place = crc32(self.folded(word).encode("utf-8", "surrogatepass")) % PLACES
        if len(word) <= LONGEST_WORD:
            if len(self) >= MOST_CACHED:
                self.clear()
            self[word] = place
            self.names[place] = word
        return place
