"""Addresses that are known to be on a topic, and how many of them a crawl found."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawler.urls.parsing import absolute

if TYPE_CHECKING:
    from crawler.reports.pages import FetchedPage

COMMENT = "#"


@dataclass(frozen=True, slots=True)
class Recall:
    """How much of the truth a crawl found."""

    addresses: int
    """Those of the truth."""
    met: int
    """Those of them that were stored."""
    agreed: int
    """Stored pages that are on the topic by the truth and by their relevance."""
    missed: int
    """Those that are by the truth alone."""
    on_topic: int
    """Stored pages that are by their relevance."""

    @property
    def recall(self) -> float:
        """The share of the truth that was stored."""
        return self.met / self.addresses


class Truth(NamedTuple):
    """Addresses that are on the topic, each in the one spelling that `same` gives it."""

    addresses: frozenset[str]
    same: Callable[[str], str]
    faults: tuple[int, ...]
    """The numbers of lines that hold no address."""

    def search(self) -> "Search":
        """A new search for these addresses."""
        return Search(self)


class Search:
    """What was met of a truth so far."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._met: set[str] = set()
        self._agreed = self._missed = 0

    @property
    def count(self) -> int:
        """How many addresses were met."""
        return len(self._met)

    def take(self, page: "FetchedPage", on_topic: bool) -> None:
        """Take a page, which is known by the address that was asked for as well."""
        met = {self._truth.same(url) for url in {page.url, page.requested_url}} & self._truth.addresses
        if met:
            self._met |= met
            self._agreed += on_topic
            self._missed += not on_topic

    def found(self, on_topic: int) -> Recall:
        """What was met of it by a crawl with so many pages on the topic."""
        return Recall(len(self._truth.addresses), self.count, self._agreed, self._missed, on_topic)


def truth_of(lines: Iterable[str], same: Callable[[str], str]) -> Truth:
    """The addresses of lines, one in each; blank lines and comments hold none.

    >>> truth_of(["http://a.example", "# bees", "", "HTTP://A.example:80/", "bees"], str)[::2]
    (frozenset({'http://a.example/'}), (5,))
    """
    addresses, faults = set(), []
    for number, line in enumerate(lines, 1):
        words = line.strip()
        if not words or words.startswith(COMMENT):
            continue
        address = absolute("http://nowhere.invalid/", words) if "://" in words else None
        if address is None:
            faults.append(number)
        else:
            addresses.add(same(address))
    return Truth(frozenset(addresses), same, tuple(faults))
