"""The targets of an erasure: pages by their addresses, and hosts by their names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func, or_, true

from crawler.errors import WrongUseError
from crawler.urls.address import address_of
from crawler.urls.canonical import Canonical
from crawler.urls.parsing import absolute

SCHEME = re.compile(r"https?://", re.IGNORECASE)
MOST_SHOWN = 100
"""Characters of a wrong target that a message repeats."""
MOST_HOSTS = 100
"""The most hosts in a condition: SQLite allows expressions of depth 1,000 (https://sqlite.org/limits.html)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureTargets:
    """The pages and hosts that are to be erased."""

    pages: frozenset[str]
    """Canonical addresses."""
    hosts: frozenset[str]
    """Names, with the port unless it is the default."""
    canonical: Canonical
    """Returns the canonical spelling of an address."""

    @property
    def all(self) -> frozenset[str]:
        """The pages and the hosts."""
        return self.pages | self.hosts

    def target_of(self, url: object) -> str | None:
        """The target that an address belongs to; None if it is not to be erased."""
        if not isinstance(url, str):
            return None
        canonical = self.canonical(url)
        if canonical in self.pages:
            return canonical
        host = address_of(url).host
        return host if host in self.hosts else None

    def covers(self, url: object) -> bool:
        """Whether an address is to be erased."""
        return self.target_of(url) is not None

    def may_be_in(self, *columns: ColumnElement[Any]) -> ColumnElement[bool]:
        """A condition that finds all rows with a target in one of these columns, and possibly other rows."""
        hosts = self.hosts.union(address_of(page).host for page in self.pages)
        if len(hosts) > MOST_HOSTS:
            return true()
        texts = [func.lower(column) for column in columns]
        return or_(*(text.contains(host, autoescape=True) for text in texts for host in sorted(hosts)))


def erasure_targets(texts: Iterable[str], canonical: Canonical) -> ErasureTargets:
    """Parse addresses and names of hosts; raises a WrongUseError.

    >>> targets = erasure_targets(["http://Example.org/a?utm=1", "www.Example.org:8000"], Canonical(["utm"]))
    >>> sorted(targets.all)
    ['http://example.org/a', 'www.example.org:8000']
    """
    pages = set[str]()
    hosts = set[str]()
    for text in texts:
        is_page = SCHEME.match(text) is not None
        url = absolute("", text if is_page else f"https://{text}/")
        if url is None or not (is_page or address_of(url).path == "/"):
            raise WrongUseError(
                "{value} is wrong; allowed are addresses of pages (https://example.org/page) and names of hosts "
                "(example.org, 127.0.0.1:8000)",
                value=repr(text[:MOST_SHOWN]),
            )
        if is_page:
            pages.add(canonical(url))
        else:
            hosts.add(address_of(url).host)
    return ErasureTargets(pages=frozenset(pages), hosts=frozenset(hosts), canonical=canonical)
