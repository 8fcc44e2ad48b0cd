"""The date in the address of a page."""

import re

from crawler.metadata.date_notation import possible_day

MAX_URL = 2_000

_HOME = re.compile(
    r"[^/]+//[^/?#]+(?:/(?:[a-z]{2}(?:[-_][a-z]{2,4})?/?)?(?:(?:index|default|home)\.[a-z]{3,5})?)?(?:#|$)",
    re.IGNORECASE,
)
"""The front page of a site, or the front page in one language, such as /en/index.html."""
_NOT_PATH = re.compile(r"^[^/]*//[^/]*|[?#].*")
"""The parts of an address before and after its path."""
_YEAR = r"(?<!\d)(?P<year>(?:19|20)\d\d)"
_ALONE = r"(?![^/.])"
"""After a day that follows a slash, its segment must end. In /2019/08/10-tips/, 10 is a word of the title."""
_NOTATIONS = tuple(
    map(
        re.compile,
        (
            # 2024/5/6, 2024-5-6, 2024/0506 or 20240506, 202405/06, 6-5-2024
            rf"{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}}){_ALONE}",
            rf"{_YEAR}(?P<sign>[-_.])(?P<month>\d{{1,2}})(?P=sign)(?P<day>\d{{1,2}})(?!\d)",
            rf"{_YEAR}[-/_]?(?P<month>\d\d)[-_]?(?P<day>\d\d)(?!\d)",
            rf"{_YEAR}[-_]?(?P<month>\d\d)/(?P<day>\d\d){_ALONE}",
            r"(?<!\d)(?P<day>\d{1,2})(?P<sign>[-_.])(?P<month>\d{1,2})(?P=sign)(?P<year>20\d\d)(?!\d)",
        ),
    )
)
_MONTH = re.compile(r"/((?:19|20)\d\d)/(\d\d?)(?:/|$)")


def is_home(url: str) -> bool:
    """Whether an address is the front page of a site, or its front page in one language."""
    return _HOME.match(url[:MAX_URL]) is not None


def day_in(url: str) -> str | None:
    """The date in the path of an address.

    >>> [day_in(f"http://a.example/{path}") for path in ("2024/05/06/", "2024/0506/", "t20240506_1.html", "06-05-2024")]
    ['2024-05-06', '2024-05-06', '2024-05-06', '2024-05-06']
    """
    path = _path(url)
    matches = (match for notation in _NOTATIONS for match in notation.finditer(path))
    days = (possible_day(int(match["year"]), int(match["month"]), int(match["day"])) for match in matches)
    return next((day for day in days if day), None)


def month_in(url: str) -> str | None:
    """The year and month in the path of an address, as YYYY-MM."""
    month = _MONTH.search(_path(url))
    if month:
        return f"{month[1]}-{int(month[2]):02}"
    return None


def _path(url: str) -> str:
    return _NOT_PATH.sub("", url[:MAX_URL])
