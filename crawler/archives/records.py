"""The records that readers find in a file, and the reader of archives whose records have a head with their length.

A head is `name: value` lines and an empty line; as many bytes of data follow as the head says. A wrong length must not
cost the next records: what follows the data has to be the end of a record, else the data reach to the next line with
which a record begins.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from crawler.archives.stream import Stream
from crawler.outcomes import Outcome
from crawler.page.page import Page

MAX_PAGE = 50 * 1024 * 1024
"""Bytes of an unpacked page; a longer one is broken: a bomb must not take the memory."""
MAX_HEAD = 64 * 1024
"""Bytes of what stands before a page in an archive; also how much is read of a record that is too long."""
MAX_STORED = MAX_PAGE + MAX_HEAD
"""Bytes of a page with the head it was sent with."""

NOTHING: Mapping[str, str] = MappingProxyType({})


class BrokenError(Exception):
    """A record cannot be read; the message is a few words."""


class NotHtmlError(Exception):
    """A record is no web page; the message is its media type."""


class InputError(Exception):
    """A file cannot be an input at all; the message is one sentence."""


class Broken(NamedTuple):
    """A record that cannot be read."""

    place: str
    why: str


class Skipped(NamedTuple):
    """A record that is no page."""

    outcome: Outcome


@dataclass(frozen=True)
class Record:
    """A saved page with the fields of its archive."""

    page: Page
    id: str = "null"
    """The record's id and address as JSON, character by character as they came."""
    url: str = "null"
    head: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """All fields of the archive, by lower-case name."""


class Raw(NamedTuple):
    """A record as it is stored; `decode` makes a page of it or raises BrokenError or NotHtmlError."""

    place: str
    decode: Callable[["Raw"], Record]
    data: bytes
    head: Mapping[str, str] = {}
    fault: str = ""
    """What is wrong with its length."""


ReadResult = Raw | Broken | Skipped


def as_json(text: str) -> str:
    r"""Text as JSON that can be written in UTF-8, whatever is in it.

    >>> as_json("蜂"), as_json("\udcff")
    ('"蜂"', '"\\udcff"')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)


EMPTY_LINE = re.compile(rb"\r?\n\r?\n")
LENGTH = re.compile(r"\d{1,18}", re.ASCII)
AFTER = 80  # bytes behind the data that are looked at

OFF, CUT, LONG = "its length is off", "it is cut off", "it is too long"


class Layout(NamedTuple):
    """How the records of a format begin, which field has the length, and what follows the data."""

    mark: bytes
    length: str
    end: re.Pattern[bytes]


class Frame(NamedTuple):
    """A record: its place, its fields by lower-case name, its data, and what is wrong with their length."""

    at: int
    head: dict[str, str]
    data: bytes
    fault: str = ""


class Fault(NamedTuple):
    """Bytes that are no record."""

    at: int
    why: str


def frames(stream: Stream, layout: Layout) -> Iterator[Frame | Fault]:
    """The records of an archive in order, and the faults between them."""
    while True:
        yield from _up_to_a_hole(stream, layout)
        hole = stream.hole
        if hole is None or not stream.resume():
            return
        yield Fault(stream.offset, str(hole))


def _up_to_a_hole(stream: Stream, layout: Layout) -> Iterator[Frame | Fault]:
    reported = stream.offset > 0  # behind a hole, what is left of its record is not reported again
    while True:
        at = stream.offset
        if stream.skip_to(layout.mark) and not reported:
            yield Fault(at, f"{stream.offset - at:,} bytes are no record")
        if not stream.peek(1):
            return
        at = stream.offset
        found = _record(stream, layout)
        if found is None:  # a hole cut it off, and is reported itself
            return
        yield found
        reported = isinstance(found, Fault)
        if reported and stream.offset == at:
            stream.skip(len(layout.mark))


def _record(stream: Stream, layout: Layout) -> Frame | Fault | None:
    """The record that begins here; a Fault when its head is damaged; None when a hole cuts it off."""
    at = stream.offset
    head = stream.peek(MAX_HEAD)
    again = head.find(b"\n" + layout.mark)
    empty = EMPTY_LINE.search(head, 0, len(head) if again < 0 else again + 1)
    if empty is None:
        if again < 0 and stream.hole is not None and len(head) < MAX_HEAD:
            return None
        return Fault(at, "its head has no end")
    fields = fields_of(head[: empty.start()])
    if not LENGTH.fullmatch(fields.get(layout.length, "")):
        return Fault(at, f"its head has no {layout.length}")
    stream.skip(empty.end())
    return _data(stream, layout, Frame(at, fields, b""), int(fields[layout.length]))


def _data(stream: Stream, layout: Layout, frame: Frame, length: int) -> Frame | None:
    """The frame with its data; None when they end in a hole."""
    if length <= MAX_STORED and stream.matches(layout.end, length, AFTER):
        data = stream.take(length)
        rest = stream.peek(AFTER)
        stream.skip(len(rest) - len(rest.lstrip(b"\r\n")))
        return frame._replace(data=data)
    size = stream.find(layout.mark, MAX_STORED)
    if size is not None:
        return frame._replace(data=stream.take(size), fault=OFF)
    rest = stream.peek(MAX_STORED + 1)
    if len(rest) > MAX_STORED:
        stream.skip_to(layout.mark)
        return frame._replace(data=rest[:MAX_HEAD], fault=LONG)
    if stream.hole is not None:
        return None
    stream.skip(len(rest))
    return frame._replace(data=rest, fault=CUT if len(rest) < length else OFF)


def fields_of(head: bytes) -> dict[str, str]:
    """The fields by lower-case name, the first of each name; a line after white space continues the last one.

    >>> fields_of(b"version: 1.0\\r\\nUrl: http://a.example/\\r\\n b")
    {'version': '1.0', 'url': 'http://a.example/ b'}
    """
    fields: dict[str, str] = {}
    for line in re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines():
        name, _, value = _text(line).partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    return fields


def _text(line: bytes) -> str:
    """The text of a header line, whatever bytes it holds."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")
