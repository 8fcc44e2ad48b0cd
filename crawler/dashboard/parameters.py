"""What may stand behind the question mark of an address: read, checked, and told to whoever asks (.openapi)."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from crawler.dashboard.request import RefusedError
from crawler.translation.message import Message

Given = Mapping[str, Any]
MOST_LETTERS = 500
MOST_WHOLE = 2**63 - 1


class Parameter(NamedTuple):
    """One value that a view may be given."""

    name: str
    default: str | int | float | bool | None
    """What it is where it is not given; it also tells the kind."""
    about: str
    allowed: tuple[str, ...] = ()
    """All values there are; any if this is empty."""
    kind: type[Any] | None = None
    """Where the default does not tell it."""
    most: int = MOST_LETTERS
    """Letters that it may have."""

    @property
    def type(self) -> type[Any]:
        """The kind of value."""
        return self.kind or type(self.default)


def read(parameters: Sequence[Parameter], given: Mapping[str, str]) -> dict[str, Any]:
    """The values of all parameters; a RefusedError for one that is wrong.

    >>> read([Parameter("page", 1, "which page"), Parameter("site", "", "of which site")], {"page": "3"})
    {'page': 3, 'site': ''}
    """
    return {one.name: _value(one, given[one.name]) if given.get(one.name) else one.default for one in parameters}


def _value(parameter: Parameter, text: str) -> Any:
    try:
        if len(text) > parameter.most or "\0" in text:  # which PostgreSQL knows in no text
            raise ValueError
        value = text if parameter.type is str else _number(parameter.type, text)
        if parameter.allowed and value not in parameter.allowed:
            raise ValueError
    except ValueError:
        names = {int: "a whole number", float: "a number", bool: "yes or no", str: "a text that is not so long"}
        allowed = ", ".join(parameter.allowed) or Message(names[parameter.type])
        what = "{name} is wrong; allowed is {allowed}"
        raise RefusedError(HTTPStatus.BAD_REQUEST, what, name=parameter.name, allowed=allowed) from None
    return value


def _number(kind: type[Any], text: str) -> bool | int | float:
    if kind is bool:
        return {"yes": True, "no": False}[text] if text in ("yes", "no") else bool(int(text))
    if not text.isascii() or "_" in text:
        raise ValueError
    number = kind(text)
    if not abs(number) <= MOST_WHOLE:  # as neither what is endless nor what is no number is
        raise ValueError
    return number if kind is float else int(number)
