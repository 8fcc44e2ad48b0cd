"""Archives in which a record is a head of `name: value` lines, an empty line, and as many bytes as the head says.

A length that is off must not cost the next records: what follows the data has to be the end of a record, else the data
reach to the next line with which a record begins.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from crawler.archives.compression import Hole
from crawler.archives.records import MAX_HEAD, MAX_STORED
from crawler.archives.stream import Stream

EMPTY_LINE = re.compile(rb"\r?\n\r?\n")
LENGTH = re.compile(r"\d{1,18}", re.ASCII)
AFTER = 80  # bytes behind the data that are looked at

OFF, CUT, LONG = "its length is off", "it is cut off", "it is too long"


class Layout(NamedTuple):
    """How a record begins, which field has its length, and what stands behind its data."""

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
    """What is no record, and where."""

    at: int
    why: str


def frames(stream: Stream, layout: Layout) -> Iterator[Frame | Fault]:
    """The records of an archive in order, and between them what is none."""
    while True:
        yield from _up_to_a_hole(stream, layout)
        hole = stream.hole
        if hole is None or not stream.resume():
            return
        yield Fault(stream.offset, hole_words(hole))


def hole_words(hole: Hole) -> str:
    """What is to be said of a hole."""
    return f"{hole.why}, at byte {hole.at:,} of the file"


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
    """The record that begins here; a Fault, and nothing read but what cannot begin one, when it is damaged."""
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
    """The fields by lower-case name, the first of each; a line that begins with white space goes on with the last one.

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
