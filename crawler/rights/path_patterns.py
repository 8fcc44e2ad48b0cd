"""Patterns of paths as in robots.txt (RFC 9309): `*` is any text, `$` the end; they match from the beginning."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar
from urllib.parse import quote

MAX_PATTERN = 2_000
"""Characters of a pattern; a longer one matches nothing."""
MAX_STARS = 50
"""Stars of a pattern; one with more matches nothing. A path is compared with all patterns of a site, up to once for
each training crawler.
"""
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_AFTER_HOST = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*+://[^/?#]*+")


class PathPattern(NamedTuple):
    """A pattern, divided at its stars."""

    text: str
    pieces: tuple[str, ...]
    is_whole: bool
    """Whether it must match to the end of the path."""

    @classmethod
    def of(cls, text: str) -> "PathPattern":
        """The pattern that is written as this text.

        >>> PathPattern.of("/a/*.jpg$").matches("/a/b/c.jpg"), PathPattern.of("/a/*.jpg$").matches("/a/b.jpg?c")
        (True, False)
        """
        spelled = normal(text) if len(text) <= MAX_PATTERN and text.count("*") <= MAX_STARS else "\n"
        is_whole = spelled.endswith("$")
        return cls(text, tuple(spelled.removesuffix("$").split("*")), is_whole)

    def matches(self, path: str) -> bool:
        """Whether a path in its normal form matches: each piece is taken where it is found first."""
        first, *others = self.pieces
        if not path.startswith(first):
            return False
        if not others:
            return not self.is_whole or len(path) == len(first)
        at = len(first)
        last = others.pop() if self.is_whole else ""
        for piece in others:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        return len(path) - len(last) >= at and path.endswith(last)


def normal(text: str) -> str:
    """A path or pattern in one spelling: only characters that need an escape have one, in upper case.

    >>> normal("/%7ebees/%2f/\u871c")
    '/~bees/%2F/%E8%9C%9C'
    """
    if not text.isascii():
        text = quote(text, safe="".join(map(chr, range(33, 127))) + " ", errors="replace")
    return _ESCAPE.sub(_shortest, text) if "%" in text else text


def _shortest(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()


@lru_cache(maxsize=256)
def path_of(url: str) -> str:
    """The path and the query of an address, in the spelling in which patterns are compared.

    >>> path_of("http://a.example"), path_of("http://a.example/b?c#d")
    ('/', '/b?c')
    """
    host = _AFTER_HOST.match(url)
    path = (url[host.end() :] if host else url).partition("#")[0]
    return normal(path if path.startswith("/") else f"/{path}")


T = TypeVar("T")


def longest(rules: Iterable[tuple[PathPattern, T]], path: str) -> list[T]:
    """The rules with the longest pattern that matches; several if they are equally long."""
    found: list[T] = []
    best = -1
    for pattern, rule in rules:
        length = len(pattern.text)
        if length >= best and pattern.matches(path):
            if length > best:
                found, best = [], length
            found.append(rule)
    return found
