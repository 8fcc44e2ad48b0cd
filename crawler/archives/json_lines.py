"""JSON lines: one object a line, with the page's source as `html`, its address as `url` and any value as `id`."""

import json
import re
from collections.abc import Iterator
from typing import Any

from crawler.archives.records import MAX_PAGE, Broken, BrokenError, Raw, ReadResult, Record
from crawler.archives.stream import Stream
from crawler.page.page import Page

MAX_LINE = 2 * MAX_PAGE  # escaped Chinese is twice as long as in UTF-8
SPACE = re.compile(r"[ \t\r\n]*")
BOM = b"\xef\xbb\xbf"


def read(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The lines of a file that are not blank."""
    number = 0
    while True:
        number += 1
        line = stream.line(MAX_LINE)
        place = f"{name}: line {number:,}"
        if line is None:
            yield Broken(place, f"the line is longer than {MAX_LINE:,} bytes")
        elif stream.hole is not None and not line.endswith(b"\n"):
            yield Broken(place, str(stream.hole))
            stream.resume()
            stream.line(MAX_LINE)  # the rest of the line
        elif not line:
            return
        elif line.removeprefix(BOM).strip():
            yield Raw(place, record, line.removeprefix(BOM))


def record(raw: Raw) -> Record:
    try:
        members = _members(raw.data.decode())
    except UnicodeDecodeError as error:
        raise BrokenError(f"not UTF-8 at byte {error.start:,}") from None
    except json.JSONDecodeError as error:
        raise BrokenError(f"not JSON: {error.msg} at character {error.pos + 1:,}") from None
    except (ValueError, RecursionError) as error:
        raise BrokenError(f"not JSON: {error}") from None
    html, _ = members.get("html", (None, ""))
    url, address = members.get("url", (None, "null"))
    if not isinstance(html, str):
        raise BrokenError('"html" is no text' if "html" in members else 'there is no "html"')
    if not isinstance(url, str | None):
        raise BrokenError('"url" is no text')
    body = html.encode("utf-8", "replace")
    if len(body) > MAX_PAGE:
        raise BrokenError(f"the page is longer than {MAX_PAGE:,} bytes")
    page = Page((url or "").encode("utf-8", "replace").decode(), body, "text/html; charset=utf-8")
    return Record(page, members.get("id", (None, "null"))[1], address)


def _members(text: str) -> dict[str, tuple[Any, str]]:
    """An object's values by name, each with its source text, which keeps what parsing loses: 1.10, 1e999, \ud800."""
    members: dict[str, tuple[Any, str]] = {}
    at = _pass(text, 0, "{")
    if text[at : at + 1] == "}":
        return _ended(text, at, members)
    while True:
        name, end = DECODER.raw_decode(text, at)
        if not isinstance(name, str):
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        start = _pass(text, end, ":")
        value, end = DECODER.raw_decode(text, start)
        members[name] = value, text[start:end]
        at = _space(text, end)
        if text[at : at + 1] == "}":
            return _ended(text, at, members)
        at = _pass(text, at, ",")


def _ended(text: str, at: int, members: dict[str, tuple[Any, str]]) -> dict[str, tuple[Any, str]]:
    if (end := _space(text, at + 1)) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return members


def _pass(text: str, at: int, sign: str) -> int:
    """The position after a character and the white space around it."""
    at = _space(text, at)
    if text[at : at + 1] != sign:
        raise json.JSONDecodeError(f"Expecting '{sign}'", text, at)
    return _space(text, at + 1)


def _space(text: str, at: int) -> int:
    return SPACE.match(text, at).end()  # type: ignore[union-attr] # it matches anywhere


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _number(_: str) -> int:
    """Numbers keep their source text, so that their size does not matter."""
    return 0


DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=_number, parse_float=_number)
