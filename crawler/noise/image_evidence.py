"""An image as a page shows it (`Sighting`), and the counts of all images of a site (`Evidence`).

Counts grow page by page, and those of many workers are added. Counting is exact, and the order of pages and of
additions does not matter, as long as a site has at most MOST_COUNTED different words and addresses. Beyond that the
rarest half is dropped, and `dropped` says how many counts were. A word or address that was seen once has the
entropy 0 and the redundancy of one page, nearly as if it were unknown, so only words and addresses that become frequent
slowly are underestimated.
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
    read: Callable[[], tuple[float, ...]] = field(default=tuple, repr=False)
    """Computes the features, which are needed for few images of a page: most were seen before."""

    @cached_property
    def features(self) -> tuple[float, ...]:
        """The features of the image on its page (crawler.noise.image_features); empty if the page is not known."""
        return self.read()

    def alone(self) -> "Sighting":
        """The sighting without its features and the parsed page that computes them, which needs far more memory."""
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
        texts = (self.url, self.target, self.page, self.alt, self.title, self.anchor_text, self.size)
        written = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
        return f"{written[:-1]},[{_numbers_as_json(self.features)}]]"

    @classmethod
    def of(cls, record: str) -> "Sighting":
        """The sighting that `record` wrote."""
        *texts, (width, height), numbers = json.loads(record)
        url, target, page, alt, title, anchor_text = texts
        read = partial(tuple, list(map(float, numbers)))
        return cls(
            url=url,
            target=target,
            page=page,
            alt=alt,
            title=title,
            anchor_text=anchor_text,
            size=(width, height),
            read=read,
        )


def _numbers_as_json(features: tuple[float, ...]) -> str:
    """Numbers as JSON, separated by commas, with six digits, which are more than the model needs.

    >>> _numbers_as_json((0.0, 3.0, 0.6931471805599453))
    '0,3,0.693147'
    """
    # There are millions of numbers: one pattern for those of an image takes a quarter of the time.
    return ",".join(["%.6g"] * len(features)) % features


MOST_COUNTED = 5_000  # different words, and as many different addresses, that are counted for a site


@dataclass
class Evidence:
    """The counts of a site: the registrable domain of the pages that show the images."""

    pages: int = 0
    links: int = 0
    """How many images the pages show, counting repetitions."""
    shown: Counter[str] = field(default_factory=Counter)
    """How many pages show each address, folded (li2006.fold)."""
    times: Counter[str] = field(default_factory=Counter)
    """For each word the sum of f, the number of its occurrences in a link, over all links (formula 4 of Li 2006)."""
    spread: dict[str, float] = field(default_factory=dict)
    """For each word the sum of f log f, if it is not 0."""
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
        self.shown.update(addresses)
        self.times.update(words_of_page)
        self._drop_rare()

    def add(self, other: "Evidence") -> None:
        """Add counts from other pages of the site."""
        self.pages += other.pages
        self.links += other.links
        self.dropped += other.dropped
        self.shown.update(other.shown)
        self.times.update(other.times)
        for word, sum_ in other.spread.items():
            self.spread[word] = self.spread.get(word, 0.0) + sum_
        self._drop_rare()

    def record(self) -> str:
        """The counts as a line of text, for `Evidence.of`."""
        counts = [self.pages, self.links, self.shown, self.times, self.spread, self.dropped]
        return json.dumps(counts, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def of(cls, record: str) -> "Evidence":
        """The counts that `record` wrote."""
        pages, links, shown, times, spread, dropped = json.loads(record)
        return cls(pages=pages, links=links, shown=Counter(shown), times=Counter(times), spread=spread, dropped=dropped)

    def _count_repeated(self, words: tuple[str, ...]) -> None:
        """Add f log f of the words that occur in a link more than once: it is 0 for the others."""
        for word, times in Counter(words).items():
            if times > 1:
                self.spread[word] = self.spread.get(word, 0.0) + times * log(times)

    def _drop_rare(self) -> None:
        """Drop the rarest addresses and words if the site has too many."""
        if len(self.shown) > MOST_COUNTED:
            self.dropped += _drop_rarest_half(self.shown)
        if len(self.times) > MOST_COUNTED:
            self.dropped += _drop_rarest_half(self.times)
            self.spread = {word: sum_ for word, sum_ in self.spread.items() if word in self.times}


def _drop_rarest_half(counts: Counter[str]) -> int:
    """Drop the rarest half of the entries; returns the sum of their counts."""
    rarest = sorted(counts, key=lambda entry: (-counts[entry], entry))[MOST_COUNTED // 2 :]
    return sum(map(counts.pop, rarest))
