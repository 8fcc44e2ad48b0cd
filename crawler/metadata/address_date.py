"""The date in the address of a page."""

import re

from crawler.metadata.date_notation import checked

MAX_URL = 2_000

# The address of a site, or of its pages in one language.
_HOME = re.compile(
    r"[^/]+//[^/?#]+(?:/(?:[a-z]{2}(?:[-_][a-z]{2,4})?/?)?(?:(?:index|default|home)\.[a-z]{3,5})?)?(?:#|$)",
    re.IGNORECASE,
)
_NOT_PATH = re.compile(r"^[^/]*//[^/]*|[?#].*")
_YEAR_FIRST = re.compile(
    r"(?<!\d)((?:19|20)\d\d)(?:(?P<s>[-/_.])(\d{1,2})(?P=s)(\d{1,2})|[-/_]?(\d\d)[-/_]?(\d\d))(?!\d)"
)
_DAY_FIRST = re.compile(r"(?<!\d)(\d{1,2})(?P<s>[-_.])(\d{1,2})(?P=s)(20\d\d)(?!\d)")
_MONTH = re.compile(r"/((?:19|20)\d\d)/(\d\d?)(?:/|$)")


def is_home(url: str) -> bool:
    """Whether an address is that of a site, or of its pages in one language."""
    return _HOME.match(url[:MAX_URL]) is not None


def day_in(url: str) -> str | None:
    """The date in the path of an address.

    >>> [day_in(f"http://a.example/{path}") for path in ("2024/05/06/", "2024/0506/", "t20240506_1.html", "06-05-2024")]
    ['2024-05-06', '2024-05-06', '2024-05-06', '2024-05-06']
    """
    path = _path(url)
    found = [(year, month or m, day or d) for year, _, month, day, m, d in _YEAR_FIRST.findall(path)]
    found += [(year, month, day) for day, _, month, year in _DAY_FIRST.findall(path)]
    known = (checked(int(year), int(month), int(day)) for year, month, day in found)
    return next((day for day in known if day), None)


def month_in(url: str) -> str | None:
    """The year and month in the path of an address, as YYYY-MM."""
    month = _MONTH.search(_path(url))
    return f"{month[1]}-{int(month[2]):02}" if month else None


def _path(url: str) -> str:
    return _NOT_PATH.sub("", url[:MAX_URL])
