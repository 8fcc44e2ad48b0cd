"""WARC (ISO 28500) and Tianwang's raw pages: archives whose records have a header with their length.

The head of a record consists of `name: value` lines and an empty line, and says how many bytes of data follow. A wrong
length must not cost the next records: unless the end of a record follows the data, they reach to the next line with
which a record begins.

In a WARC file, the pages are among the responses and resources that a crawler stored. Neither warcio nor FastWARC is
used: both stop at the first damaged record, and return a record that is cut off as if it were complete. The file may be
compressed as a whole or record by record.
https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/

Version 1.0 of the raw page format of Tianwang (Web InfoMall) is the format of CWT200G. The head begins with `version`
and ends with `length`; between them are `url` and usually `origin`, `date` and `ip`; other names are kept. The data are
the server's response, compressed by zlib if there is an `unzip-length`. Lengths are often wrong: a zlib stream has its
own end, and the last page of a file is complete if it ends with </html>.
"""

import re
import zlib
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace

from crawler.contrib.bulk.archives.http_answer import page_of, page_of_body, unpack
from crawler.contrib.bulk.archives.records import (
    EMPTY_LINE,
    MAX_HEAD,
    MAX_STORED,
    ArchiveRecord,
    Broken,
    BrokenError,
    Raw,
    ReadResult,
    Skipped,
    as_json,
    fields_of,
)
from crawler.contrib.bulk.archives.stream import Inflate, Stream
from crawler.outcomes import Code, Outcome
from crawler.page.page import media_type

LENGTH = re.compile(r"\d{1,18}", re.ASCII)
CHECKED_BYTES = 80  # after the data, where the end of the record must be

WRONG_LENGTH = "its length is off"
CUT_OFF = "it is cut off"
TOO_LONG = "it is too long"


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """The bytes with which a record begins, the field with its length, and the bytes that may follow its data."""

    mark: bytes
    length: str
    end: re.Pattern[bytes]


WARC = RecordLayout(mark=b"WARC/", length="content-length", end=re.compile(rb"\r?\n\r?\n|[\r\n]*(?:\Z|WARC/)"))
WARC_PAGES = frozenset(("response", "resource"))
# The first line of the next record may be damaged, too.
TIANWANG = RecordLayout(
    mark=b"version: ", length="length", end=re.compile(rb"[\r\n]*(?:version: |\Z)|[\r\n]+[^\n]{1,40}\nurl: ")
)
# The first records of a file may be damaged, too.
TIANWANG_BEGINNING = re.compile(rb"^version: .*\n(?:.+\n){0,20}?url: |\A\s*version: ", re.MULTILINE)
CLOSING_TAG = b"</html>"


@dataclass(frozen=True, slots=True)
class Frame:
    """A record: its place, its fields by lower-case name, its data, and what is wrong with its length."""

    place: str
    head: dict[str, str]
    data: bytes
    _: KW_ONLY
    fault: str = ""


def frames(stream: Stream, layout: RecordLayout, name: str) -> Iterator[Frame | Broken]:
    """The records of an archive in order, and the faults between them."""
    while True:
        yield from _up_to_a_hole(stream, layout, name)
        hole = stream.hole
        if hole is None or not stream.resume():
            return
        yield Broken(place=f"{name}: byte {stream.offset:,}", why=str(hole))


def _up_to_a_hole(stream: Stream, layout: RecordLayout, name: str) -> Iterator[Frame | Broken]:
    """The records up to the end or the next hole, and the faults between them."""
    is_reported = stream.offset > 0  # after a hole, the rest of its record is not reported again
    while True:
        at = stream.offset
        if stream.skip_to(layout.mark) and not is_reported:
            yield Broken(place=f"{name}: byte {at:,}", why=f"{stream.offset - at:,} bytes are no record")
        if not stream.peek(1):
            return
        at = stream.offset
        record = _record(stream, layout, f"{name}: byte {at:,}")
        if record is None:  # a hole cut it off, and is reported itself
            return
        yield record
        is_reported = isinstance(record, Broken)
        if is_reported and stream.offset == at:
            stream.skip(len(layout.mark))


def _record(stream: Stream, layout: RecordLayout, place: str) -> Frame | Broken | None:
    """The record that begins here; Broken if its header is damaged; None if a hole cuts it off."""
    head = stream.peek(MAX_HEAD)
    next_record = head.find(b"\n" + layout.mark)
    end = len(head) if next_record < 0 else next_record + 1
    empty = EMPTY_LINE.search(head, 0, end)
    if empty is None:
        if next_record < 0 and stream.hole is not None and len(head) < MAX_HEAD:
            return None
        return Broken(place=place, why="its head has no end")
    fields = fields_of(head[: empty.start()])
    if not LENGTH.fullmatch(fields.get(layout.length, "")):
        return Broken(place=place, why=f"its head has no {layout.length}")
    stream.skip(empty.end())
    return _data(stream, layout, Frame(place=place, head=fields, data=b""), int(fields[layout.length]))


def _data(stream: Stream, layout: RecordLayout, frame: Frame, length: int) -> Frame | None:
    """The frame with its data; None if they end in a hole."""
    if length <= MAX_STORED and stream.matches(layout.end, length, CHECKED_BYTES):
        data = stream.take(length)
        rest = stream.peek(CHECKED_BYTES)
        stream.skip(len(rest) - len(rest.lstrip(b"\r\n")))
        return replace(frame, data=data)

    # The length is wrong.
    size = stream.find(layout.mark, MAX_STORED)
    if size is not None:
        return replace(frame, data=stream.take(size), fault=WRONG_LENGTH)
    rest = stream.peek(MAX_STORED + 1)
    if len(rest) > MAX_STORED:
        stream.skip_to(layout.mark)
        return replace(frame, data=rest[:MAX_HEAD], fault=TOO_LONG)
    if stream.hole is not None:
        return None
    stream.skip(len(rest))
    return replace(frame, data=rest, fault=CUT_OFF if len(rest) < length else WRONG_LENGTH)


def read_warc(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The records of a WARC file."""
    for frame in frames(stream, WARC, name):
        if isinstance(frame, Broken):
            yield frame
            continue
        kind = frame.head.get("warc-type", "").lower()
        if kind in WARC_PAGES:
            yield Raw(place=frame.place, decode=warc_record, data=frame.data, head=frame.head, fault=frame.fault)
        elif frame.fault and frame.fault != TOO_LONG:
            yield Broken(place=frame.place, why=frame.fault)
        else:
            yield Skipped(Outcome(Code.NO_RESPONSE, kind))


def warc_record(raw: Raw) -> ArchiveRecord:
    """The page in a record of a WARC file."""
    head = raw.head
    # Some writers put the address in brackets, as the grammar of WARC 1.0 does.
    # https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.0/
    url = head.get("warc-target-uri", "").removeprefix("<").removesuffix(">")
    declared = head.get("content-type", "")
    if raw.fault and raw.fault != TOO_LONG:
        raise BrokenError(raw.fault)
    if head["warc-type"].lower() == "response" and media_type(declared) in ("application/http", ""):
        page = page_of(raw.data, url, whole=not raw.fault)
    else:
        page = page_of_body(raw.data, url, {"content-type": declared}, whole=not raw.fault)
    identifier = head.get("warc-record-id")
    return ArchiveRecord(page, "null" if identifier is None else as_json(identifier), as_json(url), head)


def read_tianwang(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The records of a file in Tianwang's raw page format."""
    for frame in frames(stream, TIANWANG, name):
        if isinstance(frame, Broken):
            yield frame
        else:
            yield Raw(place=frame.place, decode=tianwang_record, data=frame.data, head=frame.head, fault=frame.fault)


def tianwang_record(raw: Raw) -> ArchiveRecord:
    """The page in a record of Tianwang's raw page format."""
    url = raw.head.get("url", "")
    response = raw.data
    if "unzip-length" in raw.head and raw.fault != TOO_LONG:
        response = unzipped(response)
    elif raw.fault == CUT_OFF and not response.rstrip().lower().endswith(CLOSING_TAG):
        raise BrokenError(raw.fault)
    whole = raw.fault != TOO_LONG and len(response) <= MAX_STORED
    return ArchiveRecord(page_of(response, url, whole), "null", as_json(url), raw.head)


def unzipped(data: bytes) -> bytes:
    """The content of zlib data, at most one byte more than MAX_STORED; bytes after the stream are ignored."""
    if data.startswith(b"HTTP/"):  # the field exists, but nothing was compressed
        return data
    try:
        return unpack(data, Inflate(zlib.MAX_WBITS), MAX_STORED)
    except EOFError:
        raise BrokenError("the zlib data are cut off") from None
    except zlib.error as error:
        raise BrokenError(f"the zlib data are damaged ({error})") from None
