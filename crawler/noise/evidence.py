"""What is counted of the pictures of a site, page by page; counts of many workers add up."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from crawler.noise.sighting import Sighting


@dataclass
class Evidence:
    """The counts of a site: the registrable domain of the pages that show the pictures."""

    pages: int = 0
    links: int = 0
    """How many pictures the pages show, each as often as it is there."""
    shown: Counter[str] = field(default_factory=Counter)
    """How many pages show each address (.redundancy)."""
    times: Counter[str] = field(default_factory=Counter)
    """For each word the sum of f, how often it stands in a link, over all links (.entropy)."""
    spread: Counter[str] = field(default_factory=Counter)
    """For each word the sum of f log f."""

    def see(self, sightings: Iterable[Sighting]) -> None:
        """Count one more page, by all its pictures."""
        self.pages += 1
        raise NotImplementedError

    def add(self, other: "Evidence") -> None:
        """Take in what was counted elsewhere, of other pages of the site."""
        raise NotImplementedError

    def record(self) -> str:
        """The counts as a line of text, for `Evidence.of`."""
        return json.dumps([self.pages, self.links, self.shown, self.times, self.spread], ensure_ascii=False)

    @classmethod
    def of(cls, record: str) -> "Evidence":
        """The counts of a record."""
        pages, links, *counts = json.loads(record)
        return cls(pages, links, *map(Counter, counts))
