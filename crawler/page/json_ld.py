"""The JSON documents in a script of JSON-LD, repaired where that is cheap."""

import json
import re
from typing import Any

MAX_MENDED = 50_000  # characters; a longer script is not repaired
MAX_DOCUMENTS = 10  # in one script

# Frequent errors in hand-written JSON: comments, commas before a bracket, escapes that do not exist.
_COMMENT = re.compile(r"""(?:^|(?<=[\s,{}\[\]"]))//[^\n"]{0,200}+$""", re.MULTILINE)
_LAST_COMMA = re.compile(r",\s*+(?=[}\]])")
_BAD_ESCAPE = re.compile(r'\\(?:u(?![0-9a-fA-F]{4})|(?!["\\/bfnrtu]))')
_JUNK = " \t\r\n;\ufeff"  # around documents
_BETWEEN = frozenset(f"{_JUNK},")  # between documents
_WRAPPED = re.compile(r"\s*+(?://|/\*)?+\s*+(?:<!\[CDATA\[|<!--)\s*+(?:\*/)?+")


def json_documents(script: str) -> list[Any]:
    """The JSON documents in a script; if it has none, those after repairing it."""
    documents = _parsed(script)
    if not documents and len(script) <= MAX_MENDED:
        documents = _parsed(_mended(script))
    return documents


def _parsed(text: str) -> list[Any]:
    """The JSON documents at the beginning of a text, up to the first error."""
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


def _mended(script: str) -> str:
    """The script without the frequent errors, and without CDATA or a comment around it."""
    wrapping = _WRAPPED.match(script)
    if wrapping:
        script = script[wrapping.end() :]
    for end in ("]]>", "-->"):
        script = script.strip(f"{_JUNK}/").removesuffix(end)
    script = _LAST_COMMA.sub("", _COMMENT.sub("", script))
    return _BAD_ESCAPE.sub(r"\\\\", script).rstrip(f"{_JUNK}/")
