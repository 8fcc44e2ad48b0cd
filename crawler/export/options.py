"""What is wanted of an export, as it is typed."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from crawler.reports.pages import LanguageOrSite
from crawler.urls.parsing import HOST, MAX_HOST

LANGUAGE = re.compile(r"[a-z]{2,3}")
PORT = re.compile(r":\d{1,5}$")
MOST_DIGITS = 7  # of a round; a date without hyphens has eight


class WishError(Exception):
    """Why something cannot be wanted, in one sentence."""


def places_of(given: Iterable[str]) -> tuple[LanguageOrSite, ...]:
    """The places that are named: a language, a site or host, or a site in a language.

    >>> places_of(["zh", "Example.org", "zh/example.org"])
    (Place(language='zh', site=''), Place(language='', site='example.org'), Place(language='zh', site='example.org'))
    """
    return tuple(map(_place, given))


def _place(given: str) -> LanguageOrSite:
    first, slash, second = given.strip().lower().partition("/")
    language, site = (first, second) if slash else (first, "") if LANGUAGE.fullmatch(first) else ("", first)
    bare = PORT.sub("", site).removeprefix("[").removesuffix("]")
    right = not site or (HOST.fullmatch(bare) is not None and len(bare) <= MAX_HOST)
    if not right or not (site or language) or (slash and not (site and LANGUAGE.fullmatch(language))):
        raise WishError(
            f"--where {given[:100]!r} is wrong; allowed are a language (zh), a site or host (example.org), or both "
            "(zh/example.org)"
        )
    return LanguageOrSite(language, site)


def since_of(given: str | None) -> int | str | None:
    """The number of a round, or a time in UTC.

    >>> since_of("3"), since_of("2026-11-22"), since_of("2026-11-22T01:00+02:00")
    (3, '2026-11-22T00:00:00+00:00', '2026-11-21T23:00:00+00:00')
    """
    if given is None:
        return None
    if given.isascii() and given.isdigit() and len(given) <= MOST_DIGITS and int(given) > 0:
        return int(given)
    try:
        time = datetime.fromisoformat(given)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        raise WishError(
            f"--since {given[:100]!r} is wrong; allowed are the number of a round, from 1, and a time such as "
            "2026-11-22 or 2026-11-22T13:00+01:00"
        ) from None
