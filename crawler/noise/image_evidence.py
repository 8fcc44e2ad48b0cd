"""An image as a page shows it (`Sighting`), and the counts of all images of a site (`Evidence`).

Counts grow page by page, and `Evidence.add` adds up the counts of several workers. As long as a site has at most
MOST_COUNTED different words, and as many addresses, the counts are exact: the order of pages and additions does not
matter. Beyond that, the rarest half is dropped. This changes little for a rare word or address: one that was seen once
has the entropy 0 and the redundancy of one page, nearly as if it were unknown. Only words and addresses that become
frequent slowly are underestimated.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import log

from crawler.noise.li2006 import description, fold

MOST_TEXT = 300  # characters that are kept of each text beside an image


@dataclass(frozen=True, eq=False)
class Sighting:
    """An image on a page, with everything that may show whether it is noise; the image itself was not downloaded."""

    url: str
    target: str
    """The target of the link around it, or an empty string."""
    page: str
    alt: str = ""
    title: str = ""
    anchor_text: str = ""
    size: tuple[int | None, int | None] = (None, None)
    """Width and height in pixels, according to the page."""
    compute_features: Callable[[], tuple[float, ...]] = field(default=tuple, repr=False)
    """Computes `features` at their first use: only a few images of a page need them, as most were judged before."""

    @cached_property
    def features(self) -> tuple[float, ...]:
        """The features of the image on its page (crawler.noise.image_features); empty if the page is not known."""
        return self.compute_features()

    def alone(self) -> "Sighting":
        """A copy without the features. It does not keep the parsed page in memory, from which they are computed."""
        return Sighting(
            url=self.url,
            target=self.target,
            page=self.page,
            alt=self.alt,
            title=self.title,
            anchor_text=self.anchor_text,
            size=self.size,
        )

    def record(self) -> str:
        """The sighting as a line of text, for `Sighting.of`."""
        values = (self.url, self.target, self.page, self.alt, self.title, self.anchor_text, self.size)
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        return f"{text[:-1]},[{_numbers_as_json(self.features)}]]"  # the features are the last value

    @classmethod
    def of(cls, record: str) -> "Sighting":
        """The sighting that `record` wrote."""
        *texts, (width, height), numbers = json.loads(record)
        url, target, page, alt, title, anchor_text = texts
        return cls(
            url=url,
            target=target,
            page=page,
            alt=alt,
            title=title,
            anchor_text=anchor_text,
            size=(width, height),
            compute_features=partial(tuple, list(map(float, numbers))),
        )


def _numbers_as_json(features: tuple[float, ...]) -> str:
    """Features as JSON numbers, separated by commas, with six digits: the model needs fewer.

    >>> _numbers_as_json((0.0, 3.0, 0.6931471805599453))
    '0,3,0.693147'
    """
    # There are millions of numbers: one pattern for those of an image takes a quarter of the time.
    return ",".join(["%.6g"] * len(features)) % features


MOST_COUNTED = 5_000  # different words that are counted for a site, and different addresses


@dataclass
class Evidence:
    """The counts of a site: the registrable domain of the pages that show the images."""

    pages: int = 0
    links: int = 0
    """How many images the pages show, counting repetitions."""
    pages_by_address: Counter[str] = field(default_factory=Counter)
    """How many pages show each address, folded (li2006.fold)."""
    word_counts: Counter[str] = field(default_factory=Counter)
    """For each word T of formula 4 of Li 2006: the sum over all links of f, which is how often the link's description
    has the word.
    """
    repetitions: dict[str, float] = field(default_factory=dict)
    """For each word S of formula 4, the sum of f log f. Words without an entry have the sum 0: no link repeats them."""
    dropped: int = 0
    """The sum of the counts of rare words and addresses that were dropped because the site has too many."""

    def see(self, sightings: Iterable[Sighting]) -> None:
        """Count the images of one more page."""
        self.pages += 1
        addresses: set[str] = set()
        words_of_page: list[str] = []
        for sighting in sightings:
            self.links += 1
            addresses.add(fold(sighting.url))
            words = description(sighting)
            words_of_page += words
            if len(set(words)) < len(words):
                self._count_repeated(words)
        self.pages_by_address.update(addresses)
        self.word_counts.update(words_of_page)
        self._drop_rare()

    def add(self, other: "Evidence") -> None:
        """Add counts from other pages of the site."""
        self.pages += other.pages
        self.links += other.links
        self.dropped += other.dropped
        self.pages_by_address.update(other.pages_by_address)
        self.word_counts.update(other.word_counts)
        for word, sum_ in other.repetitions.items():
            self.repetitions[word] = self.repetitions.get(word, 0.0) + sum_
        self._drop_rare()

    def record(self) -> str:
        """The counts as a line of text, for `Evidence.of`."""
        counts = [self.pages, self.links, self.pages_by_address, self.word_counts, self.repetitions, self.dropped]
        return json.dumps(counts, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def of(cls, record: str) -> "Evidence":
        """The counts that `record` wrote."""
        pages, links, pages_by_address, word_counts, repetitions, dropped = json.loads(record)
        return cls(
            pages=pages,
            links=links,
            pages_by_address=Counter(pages_by_address),
            word_counts=Counter(word_counts),
            repetitions=repetitions,
            dropped=dropped,
        )

    def _count_repeated(self, words: tuple[str, ...]) -> None:
        """Add f log f of the words that a link repeats."""
        for word, times in Counter(words).items():
            if times > 1:
                self.repetitions[word] = self.repetitions.get(word, 0.0) + times * log(times)

    def _drop_rare(self) -> None:
        """Drop the rarest addresses and words if the site has too many."""
        if len(self.pages_by_address) > MOST_COUNTED:
            self.dropped += _drop_rarest_half(self.pages_by_address)
        if len(self.word_counts) > MOST_COUNTED:
            self.dropped += _drop_rarest_half(self.word_counts)
            self.repetitions = {word: sum_ for word, sum_ in self.repetitions.items() if word in self.word_counts}


def _drop_rarest_half(counts: Counter[str]) -> int:
    """Drop the rarest half of the entries; returns the sum of their counts."""
    rarest = sorted(counts, key=lambda entry: (-counts[entry], entry))[MOST_COUNTED // 2 :]
    return sum(map(counts.pop, rarest))
