"""Reads the JSON documents in a JSON-LD script of a page. Frequent errors in hand-written JSON are repaired."""

import json
import re
from typing import Any

MAX_REPAIRED = 50_000  # characters; a longer script is not repaired
MAX_DOCUMENTS = 10  # documents of one script that are read

# The errors that are repaired: comments, commas before a closing bracket, and backslashes that begin no escape.
_COMMENT = re.compile(r"""(?:^|(?<=[\s,{}\[\]"]))//[^\n"]{0,200}+$""", re.MULTILINE)
_LAST_COMMA = re.compile(r",\s*+(?=[}\]])")
# A backslash that begins no escape. The group has the pairs before it: each pair is an escape, as in `c:\\user`.
_STRAY_BACKSLASH = re.compile(r'(?<!\\)((?>(?:\\\\)*))\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_JUNK = " \t\r\n;\ufeff"  # around documents
_BETWEEN = frozenset(f"{_JUNK},")  # between documents
_WRAPPING_START = re.compile(r"\s*+(?://|/\*)?+\s*+(?:<!\[CDATA\[|<!--)\s*+(?:\*/)?+")


def json_documents(script: str) -> list[Any]:
    """The JSON documents in a script. If the script does not begin with one, it is repaired and read again."""
    documents = _parsed(script)
    if not documents and len(script) <= MAX_REPAIRED:
        documents = _parsed(_repaired(script))
    return documents


def _parsed(text: str) -> list[Any]:
    """The JSON documents at the beginning of a text, up to the first error or `MAX_DOCUMENTS`."""
    decoder = json.JSONDecoder(strict=False)  # line breaks in strings are common
    documents: list[Any] = []
    text = text.strip(_JUNK)
    at = 0
    try:
        while at < len(text) and len(documents) < MAX_DOCUMENTS:
            document, at = decoder.raw_decode(text, at)
            documents.append(document)
            while text[at : at + 1] in _BETWEEN:
                at += 1
    except (ValueError, RecursionError):
        pass
    return documents


def _repaired(script: str) -> str:
    """The script without these errors, and without CDATA or an HTML comment around it."""
    wrapping_start = _WRAPPING_START.match(script)
    if wrapping_start:
        script = script[wrapping_start.end() :]
    for end in ("]]>", "-->"):  # may follow slashes, as in `//]]>`
        script = script.strip(f"{_JUNK}/").removesuffix(end)
    script = _LAST_COMMA.sub("", _COMMENT.sub("", script))
    return _STRAY_BACKSLASH.sub(r"\1\\\\", script).rstrip(f"{_JUNK}/")
