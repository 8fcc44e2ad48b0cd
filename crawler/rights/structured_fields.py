"""Dictionaries of structured fields, as far as usage preferences need them
(https://www.rfc-editor.org/rfc/rfc9651#section-3.2).

A dictionary is read strictly: if it has an error anywhere, nothing in it counts. Its grammar has no recursion, so one
regular expression without backtracking can match a member. Repeated groups are atomic, not possessive: Python before
3.11.5 matches too much with possessive ones (https://github.com/python/cpython/issues/106052).
"""

import re

MAX_FIELD = 20_000
"""Characters of a field that is parsed; a longer one is an error."""

_KEY = r"[a-z*][a-z0-9_\-.*]*+"
_STRING = r'"(?>(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"'
_WORD = r"[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*+"
_NUMBER = r"-?+(?:[0-9]{1,12}\.[0-9]{1,3}(?![0-9])|[0-9]{1,15}+(?![0-9.]))"
_DATE = r"@-?+[0-9]{1,15}+(?![0-9.])"
_BYTES = r":[A-Za-z0-9+/=]*+:"
_DISPLAY = r'%"(?>(?:[\x20\x21\x23\x24\x26-\x7e]|%[0-9a-f]{2})*)"'
_BARE = rf"(?:{_STRING}|{_WORD}|{_NUMBER}|{_DATE}|{_BYTES}|{_DISPLAY}|\?[01])"
_PARAMETERS = rf"(?>(?:;\x20*+{_KEY}(?:={_BARE})?)*)"
_ITEM = rf"{_BARE}{_PARAMETERS}"
_INNER_LIST = rf"\(\x20*+(?>(?:{_ITEM}(?>(?:\x20++{_ITEM})*)\x20*+)?)\){_PARAMETERS}"
_MEMBER = re.compile(rf"({_KEY})(?:=(?:({_BARE}){_PARAMETERS}|{_INNER_LIST})|{_PARAMETERS})")
_COMMA = re.compile(r"[ \t]*+,[ \t]*+")
_IS_TOKEN = re.compile(_WORD)


class FieldError(ValueError):
    """A text is not a dictionary, or it is too long."""


def tokens(text: str) -> dict[str, str]:
    """The members of a dictionary whose values are tokens, by key. Of equal keys the last one counts, even if its value
    is not a token. A text that is not a dictionary raises a FieldError.

    >>> tokens("train-ai=y;why=?1, search=n, ai-use, x=(a b)")
    {'train-ai': 'y', 'search': 'n'}
    >>> tokens('search=n, search="n"')
    {}
    """
    if len(text) > MAX_FIELD:
        raise FieldError("too long")
    tokens_by_key: dict[str, str] = {}
    text = text.strip(" ")
    at = 0
    while at < len(text):
        member = _MEMBER.match(text, at)
        if member is None:
            raise FieldError(f"no member at {at}")
        key = member[1]
        value = member[2] or ""  # empty for an inner list, or without a value
        at = member.end()
        tokens_by_key.pop(key, None)
        if _IS_TOKEN.fullmatch(value):
            tokens_by_key[key] = value

        if at == len(text):
            break
        comma = _COMMA.match(text, at)
        if comma is None or comma.end() == len(text):
            raise FieldError(f"no comma, or no member after it, at {at}")
        at = comma.end()
    return tokens_by_key
