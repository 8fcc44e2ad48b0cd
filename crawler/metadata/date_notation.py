"""Parses dates in texts, as people and programs write them in the notations and languages of many countries."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

EARLIEST = date(1990, 1, 1)
"""The earliest possible date of publication."""
MAX_WORD = 24
"""How many characters before a date such as 1.2.24 are searched for the name of a program: it may be a version."""

_MONTHS = (  # the first letters of month names, four if three are not enough
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "janv fév mars avr mai juin juil août sept oct nov déc",
    "ene feb mär abr mei giu lug ago set out nov dic",
    "gen fev maa apr mag jun jul ago set okt nov dez",
    "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "янв фев мар апр мая июн июл авг сен окт ноя дек",
    "ιαν φεβ μαρ απρ μαΐ ιουν ιουλ αυγ σεπ οκτ νοε δεκ",
    "ιαν φεβ μάρ απρ μαϊ ιούν ιούλ αύγ σεπ οκτ νοέ δεκ",
    "oca şub mar nis may haz tem ağu eyl eki kas ara",
    "jan feb mar apr mei jun jul agu sep okt nov des",
    "січ лют бер кві тра чер лип сер вер жов лис гру",
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
)
_MONTH_OF = {name[:4]: month for names in _MONTHS for month, name in enumerate(names.split(), 1)}
# In the patterns of dates, y, m and d are the year, the month and the day.
_CLOCK = r"(?:T|\s)\s*(?P<time>\d{1,2}:\d\d(?::\d\d)?)(?:[.,]\d+)?\s*(?P<zone>Z|[+-]\d\d:?\d\d)?"
_NUMERIC = re.compile(
    rf"(?<!\d)(?P<y>\d{{4}})\s?[-/.年년]\s?(?P<m>\d{{1,2}})\s?[-/.月월]\s?(?P<d>\d{{1,2}})(?!\d)[日일]?(?:{_CLOCK})?"
)
_COMPACT = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?!\d)")
_DAY_FIRST = re.compile(r"(?<!\d)(?P<d>\d{1,2})(?P<sep>[./-])(?P<m>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)")
_SHORT_YEAR = re.compile(r"(?<![\d.])(?P<d>\d{1,2})\.\s?(?P<m>\d{1,2})\.\s?(?P<y>\d\d)(?![\d.])")
_FOUR_DIGITS = re.compile(r"\d(?:\D*\d){3}")
_OF_VERSION = re.compile(r"(?:\b(?!(?:Stand|Datum|Dne|Dnia|Den|Vom|Am)\b)[A-Z]\w*|\b(?:version|release|v))\s?$")
"""A word after which numbers are a version, as in "Django 3.2.25": "version" and the like, or any capitalised word
except some words that stand before dates.
"""
_HALF_DAY = re.compile(r"\d\s?[AP]M\b", re.IGNORECASE)
"""A time in American notation; the date beside it is then in American notation, too."""
_ASCTIME = r"(?:\d\d:\d\d:\d\d\s(?:[A-Z]{3,5}\s)?)?"
"""Time and zone before the year, as in "Mon Aug 3 08:53:20 2015"
(https://pubs.opengroup.org/onlinepubs/9699919799/functions/asctime.html).
"""
_MONTH_NAMED = re.compile(
    r"(?<!\w)(?:(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.|º)?[\s-](?:de\s)?(?P<name>[^\W\d_]{3,12})\.?,?[\s-](?:de\s)?"
    rf"|(?P<name2>[^\W\d_]{{3,12}})\.?\s{{1,2}}(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s{_ASCTIME})(?P<y>\d{{4}})(?!\d)"
)


def possible_day(year: int, month: int, day: int) -> str | None:
    """The date as YYYY-MM-DD; None if it does not exist, is before EARLIEST or more than two days in the future."""
    try:
        written = date(year, month, day)
    except ValueError:
        return None
    latest = datetime.now(UTC).date() + timedelta(days=2)
    if EARLIEST <= written <= latest:
        return written.isoformat()
    return None


def _with_time(day: str, clock: str | None, zone: str | None) -> str:
    """The date with its time; without it if the time is not valid or has no zone."""
    if not clock or not zone:
        return day
    hours, minutes, *seconds = clock.split(":")
    offset = "+00:00" if zone == "Z" else f"{zone[:3]}:{zone[-2:]}"
    try:
        return datetime.fromisoformat(f"{day}T{hours:0>2}:{minutes}:{''.join(seconds) or '00'}{offset}").isoformat()
    except ValueError:
        return day


def has_digits_of_a_date(text: str) -> bool:
    """Whether a text has at least four digits, as the shortest date has.

    >>> has_digits_of_a_date("1.2.24"), has_digits_of_a_date("On page 123")
    (True, False)
    """
    return _FOUR_DIGITS.search(text) is not None


def _numbers(text: str, day_first: bool) -> Iterator[tuple[int, int, int, re.Match[str]]]:
    """Year, month, day and match of everything in a text that looks like a date, the surest notation first."""
    if not has_digits_of_a_date(text):
        return

    # The year first, and the month by name.
    for match in _NUMERIC.finditer(text):
        yield int(match["y"]), int(match["m"]), int(match["d"]), match
    for match in _MONTH_NAMED.finditer(text):
        name = (match["name"] or match["name2"]).lower()
        month = _MONTH_OF.get(name[:4]) or _MONTH_OF.get(name[:3], 0)
        yield int(match["y"]), month, int(match["d"] or match["d2"]), match

    # Day and month before the year; a month above 12 is a day.
    day_first = day_first and not _HALF_DAY.search(text)
    for match in _DAY_FIRST.finditer(text):
        day = int(match["d"])
        month = int(match["m"])
        if month > 12:
            yield int(match["y"]), day, month, match
        elif match["sep"] == "." or day_first or day > 12 or day == month:
            yield int(match["y"]), month, day, match

    # Short notations.
    for match in _SHORT_YEAR.finditer(text):
        if _OF_VERSION.search(text[max(0, match.start() - MAX_WORD) : match.start()]):
            continue
        yield 2000 + int(match["y"]), int(match["m"]), int(match["d"]), match
    for match in _COMPACT.finditer(text):
        yield int(match["y"]), int(match["m"]), int(match["d"]), match


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a text."""

    day: str
    """As YYYY-MM-DD."""
    moment: str
    """The day, with its time if the text has a valid time with a zone."""
    start: int
    end: int


def dates(text: str, day_first: bool = True) -> Iterator[WrittenDate]:
    """The dates in a text, the surest notation first.

    3/4/2012 is in April if `day_first` is true and no time with AM or PM is in the text; otherwise it is ambiguous and
    not a date.
    """
    for year, month, day, match in _numbers(text, day_first):
        day_of_date = possible_day(year, month, day)
        if day_of_date:
            groups = match.groupdict()
            moment = _with_time(day_of_date, groups.get("time"), groups.get("zone"))
            yield WrittenDate(day=day_of_date, moment=moment, start=match.start(), end=match.end())


def parse(text: str, day_first: bool = True) -> str | None:
    """The first date in a text, with its time if the text has one with a zone.

    >>> parse("2024-05-06T10:15:00Z"), parse("发布时间：2012/3/4 10:20"), parse("March 4, 2012"), parse("2012-13-45")
    ('2024-05-06T10:15:00+00:00', '2012-03-04', '2012-03-04', None)
    """
    first_date = next(dates(text, day_first), None)
    if first_date is None:
        return None
    return first_date.moment
