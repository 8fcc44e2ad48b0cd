"""Remembers the addresses that this worker has seen lately, so that it sends each of them to the database once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from crawler.frontier.page_result import AddressKind, Candidate

APART = frozenset((AddressKind.IMAGE, AddressKind.IMAGE_LINK))
"""Kinds of addresses that are remembered separately: an address seen as an image may be new as a link."""


class RecentNumbers:
    """A set of the numbers added last: at least the last `limit`, and fewer than twice as many.

    Numbers are added to a new set. When this set has `limit` numbers, it replaces the old one, which is forgotten.
    """

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
            self._old = self._new
            self._new = set()
        return True

    def clear(self) -> None:
        """Forget all numbers."""
        self._new = set()
        self._old = set()


class SeenAddresses(RecentNumbers):
    """The addresses seen last; images and pages behind an image are kept separately."""

    def of(self, urls: Iterable[str], kind: AddressKind = AddressKind.LINK) -> set[str]:
        """Those of the addresses that were seen as this kind."""
        return {url for url in urls if _hash(url, kind) in self}

    def new(self, links: Iterable[Candidate], priorities: Mapping[str, int]) -> Iterator[Candidate]:
        """Add links; yields links that are new, and links for which a sitemap or feed says when they changed.

        If `priorities` has a priority for a link, the link gets this newer one.
        """
        for link in links:
            if self.add(_hash(link.url, link.kind_as_seen)) or link.lastmod is not None:
                if link.has_learned_priority and link.url in priorities:
                    yield replace(link, priority=priorities[link.url])
                else:
                    yield link


def _hash(url: str, kind: AddressKind) -> int:
    """A hash of an address, which differs for the kinds that are remembered separately."""
    if kind in APART:
        return hash(f"{kind} {url}")
    return hash(url)
