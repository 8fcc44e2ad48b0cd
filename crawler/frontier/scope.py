"""The scope of a crawl: it follows addresses on the hosts or sites of its seeds, unless its rules exclude them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from crawler.outcomes import Code, Outcome
from crawler.urls.address import Address, address_of
from crawler.urls.parsing import lies_in, repeats_itself

MOST_REPEATS = 3
"""A path segment may occur this often in an address: relative links can grow without end, as in `/a/b/a/b/a/b/a/b`."""


class ScopeKind(StrEnum):
    """Which links are followed."""

    HOST = "host"
    """Links to the hosts of the seeds."""
    SITE = "site"
    """Links to their registrable domains."""
    ANY = "any"


SCOPES: dict[ScopeKind, Callable[[Address], str]] = {
    ScopeKind.HOST: attrgetter("host"),
    ScopeKind.SITE: attrgetter("site"),
    ScopeKind.ANY: lambda address: "",
}


@dataclass
class Scope:
    """The rules for links; `add_home` adds a host or site whose addresses are followed."""

    kind: ScopeKind = ScopeKind.SITE
    allow: tuple[re.Pattern[str], ...] = ()
    deny: tuple[re.Pattern[str], ...] = ()
    max_length: int = 2083
    """The most characters of an address."""
    avoid: tuple[str, ...] = ()
    """Excluded domains, with their subdomains."""
    documents: frozenset[str] = frozenset()
    """Endings of addresses of documents, which are followed although they are not web pages."""
    homes: set[str] = field(default_factory=set)
    """The hosts or sites that are followed."""

    def add_home(self, url: str) -> None:
        """Follow the addresses of this address's host or site, too."""
        self.homes.add(SCOPES[self.kind](address_of(url)))

    def refusal(self, url: str, page: bool = True) -> Outcome | None:
        """Why an address is not followed; None if it is followed.

        With `page=False`, as for a sitemap or feed, the rules of `_refusal_of_page` do not apply.
        """
        address = address_of(url)
        if SCOPES[self.kind](address) not in self.homes:
            return Outcome(Code.OUTSIDE_SCOPE)
        if self.avoid and lies_in(address.host, self.avoid):
            return Outcome(Code.AVOIDED_DOMAIN)
        if len(url) > self.max_length:
            return Outcome(Code.ADDRESS_TOO_LONG)
        if page:
            return self._refusal_of_page(url, address.ending)
        return None

    def refusals(self, urls: Iterable[str]) -> dict[str, Outcome]:
        """The addresses of pages that are not followed, each with the reason."""
        reasons = ((url, self.refusal(url)) for url in urls)
        return {url: reason for url, reason in reasons if reason is not None}

    def _refusal_of_page(self, url: str, ending: str | None) -> Outcome | None:
        if ending and ending not in self.documents:
            return Outcome(Code.NOT_HTML, f".{ending}")
        if repeats_itself(url, MOST_REPEATS):
            return Outcome(Code.PATH_REPEATS)
        if self.allow and not _any(self.allow, url):
            return Outcome(Code.OUTSIDE_ALLOW)
        if _any(self.deny, url):
            return Outcome(Code.INSIDE_DENY)
        return None


def _any(patterns: Iterable[re.Pattern[str]], url: str) -> bool:
    return any(pattern.search(url) for pattern in patterns)
