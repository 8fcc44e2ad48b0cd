"""Remembers the addresses that this worker has seen lately."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from crawler.frontier.page_result import AddressKind, Candidate

APART = frozenset((AddressKind.IMAGE, AddressKind.IMAGE_LINK))
"""Kinds of addresses that are remembered separately from links."""


class RecentNumbers:
    """A set of the numbers added last: at least `limit`, at most twice as many."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._new: set[int] = set()
        self._old: set[int] = set()

    def __contains__(self, number: int) -> bool:
        return number in self._new or number in self._old

    def add(self, number: int) -> bool:
        """Add a number; returns whether it is new."""
        if number in self:
            return False
        self._new.add(number)
        if len(self._new) >= self.limit:
            self._new, self._old = set(), self._new
        return True

    def clear(self) -> None:
        """Forget all numbers."""
        self._new = set()
        self._old = set()


class SeenAddresses(RecentNumbers):
    """The addresses seen last; images and pages behind an image are kept separately."""

    def of(self, urls: Iterable[str], sort: AddressKind = AddressKind.LINK) -> set[str]:
        """The subset of the addresses that was seen as this kind."""
        return {url for url in urls if _hash(url, sort) in self}

    def new(self, links: Iterable[Candidate], priorities: Mapping[str, int]) -> Iterator[Candidate]:
        """Links that are new, or that a sitemap or feed says have changed, with their latest priorities."""
        for link in links:
            if self.add(_hash(link.url, link.sort)) or link.lastmod is not None:
                priority = priorities.get(link.url) if link.has_learned_priority else None
                yield link if priority is None else replace(link, priority=priority)


def _hash(url: str, sort: AddressKind) -> int:
    """A hash of an address of this kind."""
    return hash(f"{sort} {url}" if sort in APART else url)
