"""Patterns of paths as in robots.txt (https://www.rfc-editor.org/rfc/rfc9309#section-2.2.2).

A pattern matches from the beginning of a path. `*` stands for any text, and a `$` at the end for the end of the path.
`%2A` and `%24` are the characters `*` and `$` themselves, in a pattern and in a path.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar
from urllib.parse import quote_from_bytes

MAX_WORK = 20_000_000
"""Comparisons of characters that one path may cost with all patterns of a file, in the worst case; 20 ms."""
NOT_COMPARED = "more patterns than can be compared with this address"
"""The text of the evidence for patterns that were not compared."""
_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_RESERVED = ":/?#[]@!$&'()*+,;="
_NEEDS_NO_ESCAPE = re.compile(f"[{re.escape(_UNRESERVED + _RESERVED)}%]*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNESCAPED = frozenset(_UNRESERVED + "*$")
_STARS = re.compile(r"\*+")
_HOST = re.compile(r"\A[a-zA-Z][a-zA-Z0-9+.-]*+://[^/?#]*+")


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pattern, divided at its stars."""

    pieces: tuple[str, ...]
    is_whole: bool
    """Whether it ends with `$`: it must match to the end of the path."""
    length: int
    """How many characters it has, including `*` and `$`. The longest pattern is the most specific one."""

    @classmethod
    def of(cls, text: str | bytes) -> "PathPattern":
        """The pattern that is written as this text.

        >>> PathPattern.of("/a/*.jpg$").matches("/a/b/c.jpg"), PathPattern.of("/a/*.jpg$").matches("/a/b.jpg?c")
        (True, False)
        """
        spelled = _escaped(text)
        is_whole = spelled.endswith("$")
        pieces = tuple(map(_unescaped, _STARS.split(spelled.removesuffix("$"))))
        return cls(pieces=pieces, is_whole=is_whole, length=sum(map(len, pieces)) + spelled.count("*") + is_whole)

    def matches(self, path: str) -> bool:
        """Whether a path in its normal form matches. Each piece is searched from the end of the piece before it."""
        first = self.pieces[0]
        last = self.pieces[-1]
        if not path.startswith(first):
            return False
        if len(self.pieces) == 1:
            return not self.is_whole or len(path) == len(first)
        at = len(first)
        for piece in self.pieces[1:-1]:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        if self.is_whole:
            return path.endswith(last, at)
        return path.find(last, at) >= 0


def normal(text: str | bytes) -> str:
    """A path in its normal form: only characters that need an escape have one, in upper case.

    >>> normal("/%7ebees/%2f/\u871c")
    '/~bees/%2F/%E8%9C%9C'
    """
    return _unescaped(_escaped(text))


def _escaped(text: str | bytes) -> str:
    """A path with an escape for each character that needs one; escapes that it has already are kept."""
    if isinstance(text, str):
        text = text.encode("utf-8", "replace")
    spelled = text.decode("latin-1")
    if _NEEDS_NO_ESCAPE.fullmatch(spelled):
        return spelled
    return quote_from_bytes(text, _RESERVED + "%")


def _unescaped(text: str) -> str:
    if "%" in text:
        return _ESCAPE.sub(_shortest, text)
    return text


def _shortest(escape: re.Match[str]) -> str:
    """The character of an escape if it needs none, otherwise the escape in upper case."""
    character = chr(int(escape[1], 16))
    if character in _UNESCAPED:
        return character
    return escape[0].upper()


@lru_cache(maxsize=256)
def path_of(url: str) -> str:
    """The path and the query of an address, in the spelling in which patterns are compared.

    >>> path_of("http://a.example"), path_of("http://a.example/b?c#d")
    ('/', '/b?c')
    """
    path = _HOST.sub("", url, count=1).partition("#")[0]
    if not path.startswith("/"):
        path = f"/{path}"
    return normal(path)


class HasPattern(Protocol):
    """A rule for the paths that a pattern matches."""

    @property
    def pattern(self) -> PathPattern: ...


RuleType = TypeVar("RuleType", bound=HasPattern)


def matching(rules: Iterable[RuleType], path: str, otherwise: RuleType) -> Iterator[RuleType]:
    """The rules that match a path, in their order. If comparing may take too long, `otherwise` replaces the other
    rules.

    The work is estimated for the worst case, in which all pieces but the first are compared at each character of the
    path.
    """
    work = 0
    for rule in rules:
        pattern = rule.pattern
        first = pattern.pieces[0]
        if not path.startswith(first):
            continue
        if len(pattern.pieces) > 1:
            work += (pattern.length - len(first)) * len(path)
            if work > MAX_WORK:
                yield otherwise
                return
        if pattern.matches(path):
            yield rule
