"""Conditions on the fields of a page, such as `quality.words > 100 and not (language == 'zh' or title == null)`.

    condition   = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation    = "not" negation | "(" condition ")" | comparison
    comparison  = name sign value
    name        = word { "." word }                   a word may have hyphens: rights.uses.ai-train
    sign        = "==" | "=" | "!=" | "<" | "<=" | ">" | ">="
    value       = number | text in ' or " | null | true | false

Every condition is true or false: a field that is null, or of another type than the value, is different from it and
neither less nor greater. Words may be upper-case: `NOT`. A text contains its own quotation mark doubled: `'bee''s'`.
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
"""The most levels of brackets and `not`, with the outermost level: SQLite's parser has a stack of 100 symbols, of which
a level may take five.
"""
MOST_COMPARISONS = 500
"""The most comparisons of all conditions of an export together, checked in crawler/export/where_conditions.py: SQLite
refuses expressions nested 1,000 deep.
"""
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
    """The parts of a condition that `and` joins; the condition itself if no `and` joins it."""
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
    """Parse a condition; raises a WrongUseError if it is malformed or names no field.

    >>> condition_of("relevance > 0.5 and language != 'zh'").holds({"relevance": 0.6, "language": "en"})
    True
    """
    return _Parser(text).parse()


def _kind(value: Any) -> type:
    """The type of a value; float for every number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float
    return type(value)


class _Parser:
    """Reads a condition from left to right, with a method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise WrongUseError("a condition may have {most} characters at most", most=f"{MOST_CHARACTERS:,}")
        self.text = text.encode("utf-8", "replace").decode()  # without lone surrogates, which no database stores
        self.at = self._after_space(0)
        """Where the next token begins."""
        self.last_end = 0
        """Where the last token ends."""
        self.levels = 0
        """How many levels are open."""

    def parse(self) -> Condition:
        """The condition of the whole text."""
        condition = self.condition()
        if self.at < len(self.text):
            self.refuse()
        return condition

    def condition(self) -> Condition:
        self._open_level()
        condition = self._joined("or", lambda: self._joined("and", self.negation))
        self.levels -= 1
        return condition

    def _open_level(self) -> None:
        self.levels += 1
        if self.levels > MOST_LEVELS:
            raise WrongUseError("a condition may have {most} levels of brackets and not at most", most=MOST_LEVELS)

    def _joined(self, word: str, read_part: Callable[[], Condition]) -> Condition:
        """The next parts, which a word joins: `and` or `or`; a single part is returned as it is."""
        begin = self.at
        parts = [read_part()]
        while self._skip("name", word):
            parts.append(read_part())
        if len(parts) == 1:
            return parts[0]
        return Junction(tuple(parts), is_all=word == "and", source=self._source_since(begin))

    def negation(self) -> Condition:
        begin = self.at
        if self._skip("name", "not"):
            self._open_level()
            negation = Negation(self.negation(), self._source_since(begin))
            self.levels -= 1
            return negation
        if self._skip("bracket", "("):
            inner = self.condition()
            if not self._skip("bracket", ")"):
                self.refuse()
            return inner
        return self.comparison()

    def comparison(self) -> Comparison:
        begin = self.at
        kind, name = self._next()
        if kind != "name" or name.lower() in _WORDS:
            self.refuse(begin)
        path = _field_path(name)
        kind, sign = self._next()
        if kind != "sign":
            self.refuse(self.last_end - len(sign))
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
        self.last_end = token.end()
        self.at = self._after_space(self.last_end)
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
        return self.text[begin : self.last_end]

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
    """The words of a field's name, e.g. "quality.words" -> ("quality", "words").

    Raises a WrongUseError if there is no such field, and a MissingPartError for a number of `quality` if the part of
    Winnow that computes it is not installed.
    """
    path = tuple(name.split("."))
    field = path[0]
    if field not in TYPES:
        raise _unknown(name, field, list(TYPES))
    part = ".".join(path[1:])
    if field == "quality" and part and part not in OF_EXTRACTION:
        numbers = load(Door.QUALITY, "names")  # imports numpy, which the other conditions do not need
        if part not in numbers:
            raise _unknown(name, part, list(numbers), prefix="quality.")
    if part and TYPES[field] is not dict:
        raise WrongUseError("the field {name} has no parts", name=field)
    return path


def _unknown(name: str, wrong_part: str, names: list[str], prefix: str = "") -> WrongUseError:
    """The error for an unknown field. It proposes the most similar one of `names`, with the prefix before it."""
    near = nearest(wrong_part, names)
    if "name" in near.values:  # otherwise no name is similar
        near = Message(near.sentence, {"name": f"{prefix}{near.values['name']}"})
    return WrongUseError("there is no field {name}; {near}", name=repr(name[:100]), near=near)


def _check_types(name: str, path: tuple[str, ...], sign: str, value: Value) -> None:
    """Raise a WrongUseError if the type of a field does not fit a value or its sign."""
    field_type = TYPES[path[0]]
    if value is None or isinstance(value, bool):
        if sign not in ("==", "!="):
            raise WrongUseError("{name} can only be compared with null, true and false by == and !=", name=name)
        if value is None:
            return
    if path[0] == "quality" and len(path) > 1:
        field_type = float
    elif len(path) > 1:
        return  # the parts of other fields may be of any type
    if field_type in (list, dict):
        raise WrongUseError("{name} has no single value; only null can be compared with it", name=name)
    # A field that is neither bool nor str is a number.
    if (field_type is bool) != isinstance(value, bool) or (field_type is str) != isinstance(value, str):
        allowed_values = Message(VALUES_OF_TYPE.get(field_type, N_("a number")))
        raise WrongUseError("{name} is to be compared with {wanted}", name=name, wanted=allowed_values)
