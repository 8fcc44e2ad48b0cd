"""Conditions on the fields of a page, such as `quality.words > 100 and not (language == 'zh' or title == null)`.

    condition   = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation    = "not" negation | "(" condition ")" | comparison
    comparison  = name sign value
    name        = word { "." word }                   a word may have hyphens: rights.uses.ai-train
    sign        = "==" | "=" | "!=" | "<" | "<=" | ">" | ">="
    value       = number | text in ' or " | null | true | false

Every condition is true or false: a field that is null, or of another type than the value, is different from it and
neither less nor greater. In a text a quotation mark is written twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from operator import ge, gt, le, lt
from typing import Any, NoReturn

from crawler.doors import Door, load
from crawler.errors import WrongUseError
from crawler.items import TYPES
from crawler.metadata.text_quality import OF_EXTRACTION
from crawler.translation.message import N_, Message
from crawler.translation.nearest import nearest

MOST_CHARACTERS = 10_000
MOST_LEVELS = 15
"""Levels of brackets and `not`: SQLite's parser has a stack of 100 symbols, of which a level may take five."""
MOST_COMPARISONS = 500
"""Comparisons of all conditions together: SQLite refuses an expression with 1,000 of them one within another."""
_EXACT = 2**53
"""Whole numbers up to this are exact in every database."""
_TOKEN = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))|(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<sign>[<>!=]=|[<>=])|(?P<bracket>[()])|(?P<name>[^\W\d][\w-]*(?:\.[\w-]+)*)"
)
_SPACE = re.compile(r"\s*")
_CONSTANTS = {"null": None, "true": True, "false": False}
VALUES_OF_TYPE = {str: N_("a text in quotation marks"), bool: N_("true or false")}
"""The values that a field of a type is compared with; a field of any other type is compared with a number."""
_WORDS = frozenset(("and", "or", "not", *_CONSTANTS))
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Comparison:
    """A field, or a part of one, compared with a value."""

    path: tuple[str, ...]
    sign: str
    value: Value
    source: str
    """The text that it was parsed from."""

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether the condition is true for a page with these values of its fields."""
        field_value = value_at(values, self.path)
        kind = _kind(field_value)
        is_same_kind = kind == _kind(self.value)
        if self.sign in ("==", "!="):
            is_equal = is_same_kind and field_value == self.value
            return is_equal == (self.sign == "==")
        return is_same_kind and kind in (float, str) and _ORDERS[self.sign](field_value, self.value)


@dataclass(frozen=True)
class Negation:
    """The opposite of a condition."""

    part: Condition
    source: str

    def holds(self, values: Mapping[str, Any]) -> bool:
        return not self.part.holds(values)


@dataclass(frozen=True)
class Junction:
    """Several conditions, of which all must hold, or at least one."""

    parts: tuple[Condition, ...]
    is_all: bool
    source: str

    def holds(self, values: Mapping[str, Any]) -> bool:
        parts_hold = (part.holds(values) for part in self.parts)
        if self.is_all:
            return all(parts_hold)
        return any(parts_hold)


Condition = Comparison | Negation | Junction


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """The parts of a condition that must all hold, so that it holds; the condition itself if it is no conjunction."""
    if isinstance(condition, Junction) and condition.is_all:
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition


def comparisons(condition: Condition) -> Iterator[Comparison]:
    """The comparisons of a condition, from left to right."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, Negation):
        yield from comparisons(condition.part)
    else:
        for part in condition.parts:
            yield from comparisons(part)


def value_at(values: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    """The value of a field or of a part of it; None if there is no such part."""
    part: Any = values
    for name in path:
        if not isinstance(part, Mapping):
            return None
        part = part.get(name)
    return part


def condition_of(text: str) -> Condition:
    """Parse a condition; raises a WrongUseError in one sentence.

    >>> condition_of("relevance > 0.5 and language != 'zh'").holds({"relevance": 0.6, "language": "en"})
    True
    """
    return _Parser(text).whole()


def _kind(value: Any) -> type:
    """The type of a value; float for every number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float
    return type(value)


class _Parser:
    """Reads a condition from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise WrongUseError("a condition may have {most} characters at most", most=f"{MOST_CHARACTERS:,}")
        self.text = text.encode("utf-8", "replace").decode()  # without lone surrogates, which no database stores
        self.at = self._after_space(0)
        """Where the next token begins."""
        self.ended = 0
        """Where the last token ends."""
        self.levels = 0
        """How many brackets and `not` are open."""

    def whole(self) -> Condition:
        """The condition of the whole text."""
        condition = self.condition()
        if self.at < len(self.text):
            self.refuse()
        return condition

    def condition(self) -> Condition:
        self.levels += 1
        if self.levels > MOST_LEVELS:
            raise WrongUseError("a condition may have {most} levels of brackets and not at most", most=MOST_LEVELS)
        condition = self._joined("or", lambda: self._joined("and", self.negation))
        self.levels -= 1
        return condition

    def _joined(self, word: str, read_part: Callable[[], Condition]) -> Condition:
        """The next parts that a word joins, or the only part."""
        begin = self.at
        parts = [read_part()]
        while self._skip("name", word):
            parts.append(read_part())
        if len(parts) == 1:
            return parts[0]
        return Junction(tuple(parts), word == "and", self._source_since(begin))

    def negation(self) -> Condition:
        begin = self.at
        if self._skip("name", "not"):
            self.levels += 1
            if self.levels > MOST_LEVELS:
                raise WrongUseError("a condition may have {most} levels of brackets and not at most", most=MOST_LEVELS)
            negation = Negation(self.negation(), self._source_since(begin))
            self.levels -= 1
            return negation
        if self._skip("bracket", "("):
            inner = self.condition()
            if not self._skip("bracket", ")"):
                self.refuse()
            return inner
        return self.comparison(begin)

    def comparison(self, begin: int) -> Comparison:
        kind, name = self._next()
        if kind != "name" or name.lower() in _WORDS:
            self.refuse(begin)
        path = _field_path(name)
        kind, sign = self._next()
        if kind != "sign":
            self.refuse(self.ended - len(sign))
        value = self._value()
        if sign == "=":
            sign = "=="
        _check_types(name, path, sign, value)
        return Comparison(path, sign, value, self._source_since(begin))

    def _value(self) -> Value:
        begin = self.at
        kind, word = self._next()
        if kind == "text":
            if "\0" in word:  # which PostgreSQL refuses, and no page has
                self.refuse(begin)
            return word[1:-1].replace(word[0] * 2, word[0])
        if kind == "number":
            number = float(word)
            if not isfinite(number):
                self.refuse(begin)
            if number.is_integer() and abs(number) <= _EXACT:
                return int(number)
            return number
        if kind != "name" or word.lower() not in _CONSTANTS:
            self.refuse(begin)
        return _CONSTANTS[word.lower()]

    def _next(self) -> tuple[str, str]:
        """Read the next token; returns its kind and its text."""
        token = _TOKEN.match(self.text, self.at)
        if token is None:
            self.refuse()
        self.ended = token.end()
        self.at = self._after_space(self.ended)
        return str(token.lastgroup), token[0]

    def _skip(self, kind: str, word: str) -> bool:
        """Read the next token if it is this one; returns whether it was."""
        token = _TOKEN.match(self.text, self.at)
        if token is None or token.lastgroup != kind or token[0].lower() != word:
            return False
        self._next()
        return True

    def _after_space(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        assert space is not None  # noqa: S101 - the expression matches an empty text, too
        return space.end()

    def _source_since(self, begin: int) -> str:
        """The text from a position to the end of the last token."""
        return self.text[begin : self.ended]

    def refuse(self, at: int | None = None) -> NoReturn:
        """Raise a WrongUseError that shows the text at a position, by default that of the next token."""
        if at is None:
            at = self.at
        rest = self.text[at : at + 40]
        if not rest:
            raise WrongUseError("the condition {value} is not complete", value=repr(self.text[-100:]))
        raise WrongUseError(
            "the condition cannot be read at {value}; an example is quality.words > 100 and language == 'zh'",
            value=repr(rest),
        )


def _field_path(name: str) -> tuple[str, ...]:
    """The parts of a field's name; raises a WrongUseError if there is no such field, and a MissingPartError if it is a
    number of `quality` that needs a part of Winnow that is not installed.
    """
    path = tuple(name.split("."))
    if path[0] not in TYPES:
        raise _unknown(name, path[0], list(TYPES))
    number = ".".join(path[1:])
    if path[0] == "quality" and number and number not in OF_EXTRACTION:
        numbers = load(Door.QUALITY, "names")  # imports numpy, which the other conditions do not need
        if number not in numbers:
            raise _unknown(name, number, list(numbers), "quality.")
    if len(path) > 1 and TYPES[path[0]] is not dict:
        raise WrongUseError("the field {name} has no parts", name=path[0])
    return path


def _unknown(name: str, part: str, names: list[str], before: str = "") -> WrongUseError:
    near = nearest(part, names)
    if "name" in near.values:  # otherwise the sentence names no field
        near = Message(near.sentence, {"name": f"{before}{near.values['name']}"})
    return WrongUseError("there is no field {name}; {near}", name=repr(name[:100]), near=near)


def _check_types(name: str, path: tuple[str, ...], sign: str, value: Value) -> None:
    """Raise a WrongUseError if a field can never be compared with a value."""
    kind = TYPES[path[0]]
    if value is None or isinstance(value, bool):
        if sign not in ("==", "!="):
            raise WrongUseError("{name} can only be compared with null, true and false by == and !=", name=name)
        if value is None:
            return
    if path[0] == "quality" and len(path) > 1:
        kind = float
    elif len(path) > 1:
        return  # the parts of other fields may be of any type
    if kind in (list, dict):
        raise WrongUseError("{name} has no single value; only null can be compared with it", name=name)
    # A field that is neither of these two types is a number.
    if (kind is bool) != isinstance(value, bool) or (kind is str) != isinstance(value, str):
        kind_of_value = Message(VALUES_OF_TYPE.get(kind, N_("a number")))
        raise WrongUseError("{name} is to be compared with {wanted}", name=name, wanted=kind_of_value)
