"""JSON lines: each line is an object with the page's source as `html`, its address as `url` and any value as `id`."""

import json
from collections.abc import Iterator
from typing import Any

from crawler.contrib.bulk.archives.records import MAX_PAGE, ArchiveRecord, Broken, BrokenError, Raw, ReadResult, as_json
from crawler.contrib.bulk.archives.stream import Stream
from crawler.page.page import Page

MAX_LINE = 2 * MAX_PAGE  # bytes; escaped Chinese is twice as long as in UTF-8
BOM = b"\xef\xbb\xbf"


def read(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The lines of a file that are not blank."""
    number = 0
    while True:
        number += 1
        line = stream.line(MAX_LINE)
        place = f"{name}: line {number:,}"
        if line is None:
            yield Broken(place=place, why=f"the line is longer than {MAX_LINE:,} bytes")
        elif stream.hole is not None and not line.endswith(b"\n"):  # a damaged part of the file cuts the line off
            yield Broken(place=place, why=str(stream.hole))
            stream.resume()
            stream.line(MAX_LINE)  # the rest of the line
        elif not line:
            return
        elif line.removeprefix(BOM).strip():
            yield Raw(place=place, decode=record, data=line.removeprefix(BOM))


def record(raw: Raw) -> ArchiveRecord:
    """The page of one line; its id, which may be any value, is passed on."""
    page_id = ""
    try:
        members = json.loads(raw.data.decode(), parse_constant=_refuse)
        if isinstance(members, dict):
            page_id = _to_json(members.get("id"))  # here, as it raises a RecursionError if the id is nested too deeply
    except UnicodeDecodeError as error:
        raise BrokenError(f"not UTF-8 at byte {error.start:,}") from None
    except json.JSONDecodeError as error:
        raise BrokenError(f"not JSON: {error.msg} at character {error.pos + 1:,}") from None
    except RecursionError:  # its own message depends on the version of Python
        raise BrokenError("its JSON is nested too deeply") from None
    except ValueError as error:
        raise BrokenError(f"not JSON: {error}") from None
    if not isinstance(members, dict):
        raise BrokenError("not JSON: Expecting '{' at character 1")

    html = members.get("html")
    url = members.get("url")
    if not isinstance(html, str):
        raise BrokenError('"html" is no text' if "html" in members else 'there is no "html"')
    if not isinstance(url, str | None):
        raise BrokenError('"url" is no text')
    body = html.encode("utf-8", "replace")
    if len(body) > MAX_PAGE:
        raise BrokenError(f"the page is longer than {MAX_PAGE:,} bytes")
    page = Page(url=(url or "").encode("utf-8", "replace").decode(), body=body, content_type="text/html; charset=utf-8")
    return ArchiveRecord(page, id=page_id, url=_to_json(url))


def _to_json(value: Any) -> str:
    """A value as JSON that can be encoded in UTF-8."""
    if isinstance(value, str):
        return as_json(value)
    return json.dumps(value, allow_nan=False)


def _refuse(name: str) -> None:
    """Raise a ValueError for NaN and infinities, which JSON lacks. https://www.rfc-editor.org/rfc/rfc8259#section-6"""
    raise ValueError(f"{name} is no number")
