"""Sentences with values for people, in English until a catalogue translates them."""

import re
from collections.abc import Mapping
from gettext import NullTranslations
from types import MappingProxyType
from typing import NamedTuple

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Marks that turn the direction of text act on the whole line of a terminal; HTML keeps them in <bdi>.
ON_A_TERMINAL = re.compile(CONTROL.pattern[:-1] + r"\u202a-\u202e\u2066-\u2069]")
DAY = 86_400
MOST_SECONDS = 1e12
NO_VALUES: Mapping[str, object] = MappingProxyType({})
ENGLISH = NullTranslations()


def N_(sentence: str) -> str:  # noqa: N802 - gettext's own name
    """Marks a sentence for the catalogues that is translated elsewhere."""
    return sentence


class Message(NamedTuple):
    """A sentence with places for its values: it is translated first, and the values are filled in then.

    >>> str(Message("redirected: {why}", {"why": Message("outside the scope")}))
    'redirected: outside the scope'
    >>> str(Message("there are {names}", {"names": ["bees", Message("wasps")]}))
    'there are bees, wasps'
    """

    sentence: str
    values: Mapping[str, object] = NO_VALUES
    """A message among them is translated, too; a list is joined."""
    plural: str = ""
    """The sentence where the value `n` is another number than 1."""

    def __str__(self) -> str:
        return self.translated(ENGLISH)

    def translated(self, translations: NullTranslations) -> str:
        """The sentence in the language of a catalogue, with its values."""
        values = {name: translated(value, translations) for name, value in self.values.items()}
        if self.plural:
            n = int(str(self.values["n"]))
            sentence, values["n"] = translations.ngettext(self.sentence, self.plural, n), f"{n:,}"
        else:
            sentence = translations.gettext(self.sentence) if self.sentence else ""
        return sentence.format(**values) if values else sentence


def translated(value: object, translations: NullTranslations) -> object:
    """A value in the language of a catalogue: messages translated, lists joined, all else as it is."""
    if isinstance(value, Message):
        return value.translated(translations)
    if isinstance(value, list | tuple):
        return translations.gettext(", ").join(str(translated(one, translations)) for one in value)
    return value


class MessageError(Exception):
    """An error whose message is one sentence for the user, with its values apart.

    >>> str(MessageError("{value} is wrong", value=3))
    '3 is wrong'
    """

    def __init__(self, sentence: str | Message, /, **values: object) -> None:
        self.message = sentence if isinstance(sentence, Message) else Message(sentence, values)
        super().__init__(str(self.message))


def plural(one: str, many: str, n: int, /, **values: object) -> Message:
    """The sentence for one thing, or for `{n}` of them.

    >>> [str(plural("{n} page", "{n} pages", count)) for count in (1, 2_000, 0)]
    ['1 page', '2,000 pages', '0 pages']
    """
    return Message(one, {**values, "n": n}, many)


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things, in English.

    >>> counted(1, "page"), counted(2_000, "page"), counted(0, "address", "addresses")
    ('1 page', '2,000 pages', '0 addresses')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def printable(text: str) -> str:
    """The text with control characters spelled out: a site must not write to the operator's terminal.

    >>> printable("\\x1b[2Jgone\\n\\x9b2J\\u202egone")
    '\\\\x1b[2Jgone\\n\\\\x9b2J\\\\u202egone'
    """
    return ON_A_TERMINAL.sub(_spelled_out, text)


def readable_json(line: bytes) -> bytes:
    """A line of JSON for a terminal: the same value, its control characters escaped.

    >>> print(readable_json('{"text": "bees\N{RIGHT-TO-LEFT OVERRIDE}"}'.encode()).decode())
    {"text": "bees\\u202e"}
    """
    return ON_A_TERMINAL.sub(lambda one: f"\\u{ord(one[0]):04x}", line.decode("utf-8", "replace")).encode()


def _spelled_out(character: re.Match[str]) -> str:
    code = ord(character[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def span(seconds: float) -> Message:
    """A span of time in the largest unit that it is two of.

    >>> [str(span(seconds)) for seconds in (-1, 119.9, 120, 7_200, 172_800, 1e12, float("nan"))]
    ['0 s', '119 s', '2 min', '2 h', '2 days', '11,574,074 days', '0 s']
    """
    whole = int(min(max(0.0, seconds), MOST_SECONDS))
    for sentence, length in ((N_("{n} days"), DAY), (N_("{n} h"), 3_600), (N_("{n} min"), 60)):
        if whole >= 2 * length:
            return Message(sentence, {"n": f"{whole // length:,}"})
    return Message("{n} s", {"n": f"{whole:,}"})
