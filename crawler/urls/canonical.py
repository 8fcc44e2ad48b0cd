"""One address for each page: removes the parameters of addresses that do not change the page (`Canonical`).

Such parameters name the advertisement that led to the page, or identify its reader. They are in the query, after a
semicolon in the path (`/a;jsessionid=0A12`), or a segment of the path in parentheses
(`/(S(4hqa0555fwsecu455xqckv45))/a.aspx`).
"""

import re
from collections.abc import Iterable

# A parameter after a segment of dots (`/..;a`) is kept: without it, `/..` would lead to another folder.
PATH_PARAMETER = re.compile(r"(?<!/\.)(?<!/\.\.);[^;/]*")
SEGMENT = re.compile(r"/\([^/]*\)(?=/)")
"""A segment in parentheses, with the slash before it."""
MOST_PARAMETERS = 100
"""Addresses with more parameters are not changed, because checking each takes a microsecond."""
FLAGS = re.IGNORECASE | re.ASCII
NEVER = r"(?!)"  # matches no text
# A reference to a group, or a group with a name. Expressions may not have them: they are joined into one expression,
# which changes the numbers of groups and could give two groups the same name.
GROUP_REFERENCE = re.compile(r"\\[1-9]|\(\?P|\(\?\(")


class Canonical:
    """A function that removes parameters from an address: empty ones, and those that match an expression of `ignored`.

    An expression without an equals sign must match the whole name of a parameter. An expression with an equals sign
    must match the whole `name=value`. Case is ignored. A segment in parentheses counts as a name.

    >>> canonical = Canonical(["utm_.*", "sid=[0-9a-f]{32}"])
    >>> canonical("http://example.com/a?sid=42&utm_source=feed")
    'http://example.com/a?sid=42'
    """

    def __init__(self, ignored: Iterable[str]) -> None:
        expressions = [_checked(expression) for expression in ignored]
        self._names = _any_of([expression for expression in expressions if "=" not in expression])
        self._pairs = _any_of([expression for expression in expressions if "=" in expression])

    def __call__(self, url: str) -> str:
        """The address without ignored and empty parameters; unchanged if it has very many."""
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
        if kept:
            return f"{path}?{kept}"
        return path

    def _kept(self, match: re.Match[str]) -> str:
        """A part of the path, such as `;a=1` or `/(a)`; empty if its parameter is ignored."""
        if self._ignores(match[0][1:]):  # the first character is a separator
            return ""
        return match[0]

    def _ignores(self, parameter: str) -> bool:
        if ";" in parameter or "&" in parameter:
            return False  # a server may read this as two parameters, the second of which may distinguish pages
        name = parameter.partition("=")[0]
        return bool(self._names.fullmatch(name) or self._pairs.fullmatch(parameter))


def _checked(expression: str) -> str:
    """The expression; raises a ValueError if it is wrong or cannot be joined with others."""
    try:
        re.compile(expression)
        re.compile(f"(?:{expression})")  # raises an error for flags, which only a whole expression may have
    except (re.error, OverflowError) as error:  # OverflowError: a repetition such as `a{99999999999}`
        raise ValueError(f"{expression!r} is not a regular expression for parameters: {error}.") from None
    if GROUP_REFERENCE.search(expression):
        raise ValueError(f"{expression!r} names groups or refers back to them, which no expression for parameters may.")
    return expression


def _any_of(expressions: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(expressions) or NEVER, FLAGS)
