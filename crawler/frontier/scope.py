"""Which addresses a crawl follows: those of its seeds' hosts or sites, allowed, not denied, and not a trap."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from crawler.outcomes import Code, Outcome
from crawler.urls.parsing import ending, host, lies_in, repeats_itself, site

MOST_REPEATS = 3
"""How often a path segment may stand in an address: /a/b/a/b/a/b/a/b is a link that grows in circles."""
SCOPES: dict[str, Callable[[str], str]] = {"host": host, "site": site, "any": lambda url: ""}


@dataclass
class Scope:
    """The rules for links; `add_home` widens them by where a seed turned out to live."""

    kind: str = "site"
    allow: tuple[re.Pattern[str], ...] = ()
    deny: tuple[re.Pattern[str], ...] = ()
    max_length: int = 2083
    avoid: tuple[str, ...] = ()
    """Domains that are left out, with all that lies in them."""
    homes: set[str] = field(default_factory=set)

    def add_home(self, url: str) -> None:
        """Follow the host or site of this address too."""
        self.homes.add(SCOPES[self.kind](url))

    def refusal(self, url: str, page: bool = True) -> Outcome | None:
        """Why the address of a page, or of a sitemap, is not followed, or None when it is."""
        if SCOPES[self.kind](url) not in self.homes:
            return Outcome(Code.OUTSIDE_SCOPE)
        if self.avoid and lies_in(host(url), self.avoid):
            return Outcome(Code.AVOIDED_DOMAIN)
        if len(url) > self.max_length:
            return Outcome(Code.ADDRESS_TOO_LONG)
        return self._no_page(url) if page else None

    def refusals(self, urls: Iterable[str]) -> dict[str, Outcome]:
        """Why pages of these addresses are not followed, of those that are not."""
        return {url: why for url in urls if (why := self.refusal(url))}

    def _no_page(self, url: str) -> Outcome | None:
        if suffix := ending(url):
            return Outcome(Code.NOT_HTML, f".{suffix}")
        if repeats_itself(url, MOST_REPEATS):
            return Outcome(Code.PATH_REPEATS)
        if self.allow and not _any(self.allow, url):
            return Outcome(Code.OUTSIDE_ALLOW)
        if _any(self.deny, url):
            return Outcome(Code.INSIDE_DENY)
        return None


def _any(patterns: Iterable[re.Pattern[str]], url: str) -> bool:
    return any(pattern.search(url) for pattern in patterns)
