"""Which addresses a crawl follows: those on the hosts or sites of its seeds, if allowed, not denied and not a trap."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import repeat

from crawler.outcomes import Code, Outcome
from crawler.urls.parsing import ending, host, lies_in, repeats_itself, site

MOST_REPEATS = 3
"""How often one path segment may occur in an address: links like /a/b/a/b/a/b/a/b grow without end."""


class ScopeKind(StrEnum):
    """Which links are followed."""

    HOST = "host"
    """Those to the hosts of the seeds."""
    SITE = "site"
    """Those to their registrable domains."""
    ANY = "any"


SCOPES: dict[ScopeKind, Callable[[str], str]] = {
    ScopeKind.HOST: host,
    ScopeKind.SITE: site,
    ScopeKind.ANY: lambda url: "",
}


@dataclass
class Scope:
    """The rules for links; `add_home` adds the host or site that a seed was redirected to."""

    kind: ScopeKind = ScopeKind.SITE
    allow: tuple[re.Pattern[str], ...] = ()
    deny: tuple[re.Pattern[str], ...] = ()
    max_length: int = 2083
    avoid: tuple[str, ...] = ()
    """Domains that are left out, with their subdomains."""
    documents: frozenset[str] = frozenset()
    """Endings of addresses that are followed although these are no web pages."""
    homes: set[str] = field(default_factory=set)

    def add_home(self, url: str) -> None:
        """Follow the host or site of this address too."""
        self.homes.add(SCOPES[self.kind](url))

    def refusal(self, url: str, page: bool = True) -> Outcome | None:
        """Why an address of a page or sitemap is not followed, or None if it is followed."""
        return self.refusals([url], page).get(url)

    def refusals(self, urls: Sequence[str], page: bool = True) -> dict[str, Outcome]:
        """The addresses of pages or sitemaps that are not followed, each with the reason."""
        found = {}
        for url, home in zip(urls, list(map(SCOPES[self.kind], urls)), strict=True):
            if home not in self.homes:
                found[url] = Outcome(Code.OUTSIDE_SCOPE)
            elif self.avoid and lies_in(host(url), self.avoid):
                found[url] = Outcome(Code.AVOIDED_DOMAIN)
            elif len(url) > self.max_length:
                found[url] = Outcome(Code.ADDRESS_TOO_LONG)
        left = [url for url in urls if url not in found] if page else []
        repeats = list(map(repeats_itself, left, repeat(MOST_REPEATS)))
        for url, suffix, is_repeating in zip(left, list(map(ending, left)), repeats, strict=True):
            if why := self._no_page(url, suffix, is_repeating):
                found[url] = why
        return found

    def _no_page(self, url: str, suffix: str | None, is_repeating: bool) -> Outcome | None:
        if suffix and suffix not in self.documents:
            return Outcome(Code.NOT_HTML, f".{suffix}")
        if is_repeating:
            return Outcome(Code.PATH_REPEATS)
        if self.allow and not _any(self.allow, url):
            return Outcome(Code.OUTSIDE_ALLOW)
        if _any(self.deny, url):
            return Outcome(Code.INSIDE_DENY)
        return None


def _any(patterns: Iterable[re.Pattern[str]], url: str) -> bool:
    return any(pattern.search(url) for pattern in patterns)
