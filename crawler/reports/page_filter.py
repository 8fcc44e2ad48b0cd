"""Which pages of a crawl are wanted: new, changed or gone ones, of a relevance, a language or a site."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from crawler.urls.parsing import HOST, MAX_HOST, lies_in

NEW, CHANGED, GONE = ONLY = ("new", "changed", "gone")
LANGUAGE = re.compile(r"[a-z]{2,3}")
PORT = re.compile(r":\d{1,5}$")
MOST_DIGITS = 7  # of a round; a date without hyphens has eight


class LanguageOrSite(NamedTuple):
    """A language, a site or host, or a site in a language."""

    language: str = ""
    site: str = ""

    def holds(self, name: str) -> bool:
        """Whether a host is the site or lies in it; with a port it is to be the very one."""
        return not self.site or (name == self.site if ":" in self.site else lies_in(name, [self.site]))


@dataclass(frozen=True)
class PageFilter:
    """Which pages of a crawl are wanted; without anything all that are not gone."""

    only: str = ""
    """new, changed or gone: of those that became so in the last round, or since."""
    since: int | str | None = None
    """A round, or a time in UTC as ISO 8601: what became new or changed in it or later."""
    min_relevance: float = 0.0
    places: tuple[LanguageOrSite, ...] = ()


def place_of(text: str) -> LanguageOrSite:
    """What is typed: a language, a site or host, or a site in a language; else a ValueError.

    >>> place_of("zh"), place_of("zh/Example.org")
    (LanguageOrSite(language='zh', site=''), LanguageOrSite(language='zh', site='example.org'))
    """
    first, slash, second = text.strip().lower().partition("/")
    language, site = (first, second) if slash else (first, "") if LANGUAGE.fullmatch(first) else ("", first)
    bare = PORT.sub("", site).removeprefix("[").removesuffix("]")
    right = not site or (HOST.fullmatch(bare) is not None and len(bare) <= MAX_HOST)
    if not right or not (site or language) or (slash and not (site and LANGUAGE.fullmatch(language))):
        raise ValueError(
            f"{text[:100]!r} is wrong; allowed are a language (zh), a site or host (example.org), or both "
            "(zh/example.org)"
        )
    return LanguageOrSite(language, site)


def since_of(text: str) -> int | str:
    """What is typed: the number of a round, or a time, which comes back in UTC; else a ValueError.

    >>> since_of("3"), since_of("2026-11-22"), since_of("2026-11-22T01:00+02:00")
    (3, '2026-11-22T00:00:00+00:00', '2026-11-21T23:00:00+00:00')
    """
    if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS and int(text) > 0:
        return int(text)
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise ValueError(
            f"{text[:100]!r} is wrong; allowed are the number of a round, from 1, and a time such as "
            "2026-11-22 or 2026-11-22T13:00+01:00"
        ) from None
