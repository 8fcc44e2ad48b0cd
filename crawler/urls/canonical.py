"""Which spellings of an address lead to the same page (`Canonical`).

Parameters that do not change the page are ignored: those that say which advertisement led to the page, or who reads it.
They are in the query, after a semicolon in the path (`/a;jsessionid=0A12`), or a segment of the path in parentheses
(`/(S(4hqa0555fwsecu455xqckv45))/a.aspx`).
"""

import re
from collections.abc import Iterable

# A segment of dots stays unchanged: without its parameter it would lead to another folder.
PATH_PARAMETER = re.compile(r"(?<!/\.)(?<!/\.\.);[^;/]*")
SEGMENT = re.compile(r"/\([^/]*\)(?=/)")
MOST_PARAMETERS = 100
"""Parameters of an address; one with more stays as it is, as each takes a microsecond."""
FLAGS = re.IGNORECASE | re.ASCII
NEVER = r"(?!)"
# The expressions are joined into one, which changes the numbers of groups and could make names clash.
GROUP_REFERENCE = re.compile(r"\\[1-9]|\(\?P|\(\?\(")


class Canonical:
    """The rule by which spellings of an address are the same page: `ignored` parameters do not distinguish pages.

    Each expression is matched, in full and ignoring case, against a parameter's name, or against `name=value` when it
    holds an equals sign; a segment in parentheses counts as a name.

    >>> canonical = Canonical(["utm_.*", "sid=[0-9a-f]{32}"])
    >>> canonical("http://example.com/a?sid=42&utm_source=feed")
    'http://example.com/a?sid=42'
    """

    def __init__(self, ignored: Iterable[str]) -> None:
        expressions = [_checked(expression) for expression in ignored]
        self._names = _any_of([expression for expression in expressions if "=" not in expression])
        self._pairs = _any_of([expression for expression in expressions if "=" in expression])

    def __call__(self, url: str) -> str:
        """The address without the ignored parameters."""
        if "?" not in url and ";" not in url and "/(" not in url:
            return url
        if sum(map(url.count, (";", "&", "/("))) > MOST_PARAMETERS:
            return url
        path, _, query = url.partition("?")
        if ";" in path:
            path = PATH_PARAMETER.sub(self._kept, path)
        if "/(" in path:
            path = SEGMENT.sub(self._kept, path)
        kept = "&".join([parameter for parameter in query.split("&") if parameter and not self._ignores(parameter)])
        return f"{path}?{kept}" if kept else path

    def _kept(self, match: re.Match[str]) -> str:
        if self._ignores(match[0][1:]):
            return ""
        return match[0]

    def _ignores(self, parameter: str) -> bool:
        if ";" in parameter or "&" in parameter:
            return False  # some servers read two parameters here, and the second may distinguish pages
        name = parameter.partition("=")[0]
        return bool(self._names.fullmatch(name) or self._pairs.fullmatch(parameter))


def _checked(expression: str) -> str:
    try:
        re.compile(expression)
        re.compile(f"(?:{expression})")  # where flags for the whole expression would be an error
    except (re.error, OverflowError) as error:
        raise ValueError(f"{expression!r} is not a regular expression for parameters: {error}.") from None
    if GROUP_REFERENCE.search(expression):
        raise ValueError(f"{expression!r} names groups or refers back to them, which no expression for parameters may.")
    return expression


def _any_of(expressions: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(expressions) or NEVER, FLAGS)
