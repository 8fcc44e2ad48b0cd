"""How numbers and what sites say are put into words for people."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
DAY = 86_400
MOST_SECONDS = 1e12
NO_VALUES: Mapping[str, object] = MappingProxyType({})


class Message(NamedTuple):
    """A sentence with places for its values: who shows it translates the sentence first and fills in the values then.

    >>> str(Message("redirected: {why}", {"why": Message("outside the scope")}))
    'redirected: outside the scope'
    """

    sentence: str
    values: Mapping[str, object] = NO_VALUES

    def __str__(self) -> str:
        return self.sentence.format(**self.values) if self.values else self.sentence


class MessageError(Exception):
    """An error whose message is one sentence for the user, with its values apart.

    >>> str(MessageError("{value} is wrong", value=3))
    '3 is wrong'
    """

    def __init__(self, sentence: str | Message, /, **values: object) -> None:
        self.message = sentence if isinstance(sentence, Message) else Message(sentence, values)
        super().__init__(str(self.message))


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things.

    >>> counted(1, "page"), counted(2_000, "page"), counted(0, "address", "addresses")
    ('1 page', '2,000 pages', '0 addresses')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def printable(text: str) -> str:
    """The text with control characters spelled out: a site must not write to the operator's terminal.

    >>> printable("\\x1b[2Jgone\\n")
    '\\\\x1b[2Jgone\\n'
    """
    return CONTROL.sub(lambda character: f"\\x{ord(character[0]):02x}", text)


def largest_unit(seconds: float) -> tuple[int, str]:
    """How many of the largest unit that a span of time is two of.

    >>> [largest_unit(seconds) for seconds in (-1, 119.9, 120, 7_200, 172_800, float("nan"))]
    [(0, 's'), (119, 's'), (2, 'min'), (2, 'h'), (2, 'days'), (0, 's')]
    """
    whole = int(min(max(0.0, seconds), MOST_SECONDS))
    for unit, length in (("days", DAY), ("h", 3_600), ("min", 60)):
        if whole >= 2 * length:
            return whole // length, unit
    return whole, "s"


def span(seconds: float) -> str:
    """A span of time in the largest unit that it is two of.

    >>> [span(seconds) for seconds in (119.9, 172_800, 1e12)]
    ['119 s', '2 days', '11,574,074 days']
    """
    count, unit = largest_unit(seconds)
    return f"{count:,} {unit}"
