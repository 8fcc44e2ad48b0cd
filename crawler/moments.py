"""Moments as servers, sitemaps and feeds write them."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST = 100  # characters of one


def moment(text: str | None) -> float | None:
    """The seconds since 1970 of a date as HTTP, RSS, Atom or a sitemap has it; None for what is none.

    Without a zone it is in UTC, without a time it is the day's beginning.

    >>> moment("Thu, 01 Jan 1970 00:01:00 GMT"), moment("1970-01-01T01:01:00+01:00"), moment("1970-01-02"), moment("x")
    (60.0, 60.0, 86400.0, None)
    """
    text = (text or "").strip()[:MOST]
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
    return None
