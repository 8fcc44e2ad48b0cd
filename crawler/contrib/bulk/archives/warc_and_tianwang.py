"""WARC (ISO 28500) and Tianwang's raw pages: archives whose records have a header with their length.

The head of a record consists of `name: value` lines and an empty line, and says how many bytes of data follow. A wrong
length must not cost the next records. So if the end of a record does not follow after that many bytes, the length is
ignored: the data reach to the next line with which a record begins. A hole is a damaged part of a compressed file (see
`stream`); it cuts off a record.

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

from crawler.contrib.bulk.archives.http_response import page_of, page_of_body, unpack
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
from crawler.contrib.bulk.archives.stream import ZLIB_BITS, Inflate, Stream
from crawler.outcomes import Code, Outcome
from crawler.page.page import media_type

LENGTH = re.compile(r"\d{1,18}", re.ASCII)
CHECKED_BYTES = 80
"""The bytes after the data in which the end of the record must be found."""
BYTES_OF_TOO_LONG = MAX_HEAD
"""The bytes that are kept of a record that is too long: its HTTP header tells the type of the page."""

# Faults of a record's length.
WRONG_LENGTH = "its length is off"
CUT_OFF = "it is cut off"
TOO_LONG = "it is too long"


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """What is different in the two formats."""

    mark: bytes
    """The bytes with which a record begins."""
    length_field: str
    """The field with the length of the data."""
    end: re.Pattern[bytes]
    """What follows the data if their length is right."""


WARC = RecordLayout(mark=b"WARC/", length_field="content-length", end=re.compile(rb"\r?\n\r?\n|[\r\n]*(?:\Z|WARC/)"))
WARC_PAGES = frozenset(("response", "resource"))
"""The types of records that may be pages."""
# The second alternative of `end` is for a next record whose first line is damaged.
TIANWANG = RecordLayout(
    mark=b"version: ", length_field="length", end=re.compile(rb"[\r\n]*(?:version: |\Z)|[\r\n]+[^\n]{1,40}\nurl: ")
)
TIANWANG_BEGINNING = re.compile(rb"^version: .*\n(?:.+\n){0,20}?url: |\A\s*version: ", re.MULTILINE)
"""Identifies a file of the format by its first bytes, even if its first records are damaged."""
CLOSING_TAG = b"</html>"


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as a file has it."""

    place: str
    """The file, and the byte at which the record begins, as messages name it."""
    head: dict[str, str]
    """The fields of its header, by lower-case name."""
    data: bytes
    _: KW_ONLY
    fault: str = ""
    """A fault of its length; empty if there is none."""


def _stored_records(stream: Stream, layout: RecordLayout, name: str) -> Iterator[StoredRecord | Broken]:
    """The records of an archive in order, and what is broken between them."""
    while True:
        yield from _records_to_hole(stream, layout, name)
        hole = stream.hole
        if hole is None:
            return
        stream.resume()
        yield Broken(place=f"{name}: byte {stream.offset:,}", why=str(hole))


def _records_to_hole(stream: Stream, layout: RecordLayout, name: str) -> Iterator[StoredRecord | Broken]:
    """The records up to the end or the next hole, and what is broken between them."""
    was_broken = stream.offset > 0  # after a hole, the rest of the damaged record is not reported again
    while True:
        # Skip bytes that are not part of a record. After a broken record they are its rest, and not reported again.
        start = stream.offset
        if stream.skip_to(layout.mark) and not was_broken:
            yield Broken(
                place=f"{name}: byte {start:,}", why=f"{stream.offset - start:,} bytes are not part of a record"
            )
        if not stream.peek(1):
            return

        start = stream.offset
        record = _record(stream, layout, f"{name}: byte {start:,}")
        if record is None:  # a hole cut it off, and is reported itself
            return
        yield record
        was_broken = isinstance(record, Broken)
        if was_broken and stream.offset == start:
            stream.skip(len(layout.mark))  # so that this record is not found again


def _record(stream: Stream, layout: RecordLayout, place: str) -> StoredRecord | Broken | None:
    """The record that begins here; Broken if its header is damaged; None if a hole cuts it off."""
    head = stream.peek(MAX_HEAD)
    next_record = head.find(b"\n" + layout.mark)
    end = len(head) if next_record < 0 else next_record + 1
    empty_line = EMPTY_LINE.search(head, 0, end)
    if empty_line is None:
        if next_record < 0 and stream.hole is not None and len(head) < MAX_HEAD:
            return None
        return Broken(place=place, why="its head has no end")
    fields = fields_of(head[: empty_line.start()])
    length = fields.get(layout.length_field, "")
    if not LENGTH.fullmatch(length):
        return Broken(place=place, why=f"its head has no {layout.length_field}")
    stream.skip(empty_line.end())
    return _with_data(stream, layout, StoredRecord(place=place, head=fields, data=b""), int(length))


def _with_data(stream: Stream, layout: RecordLayout, record: StoredRecord, length: int) -> StoredRecord | None:
    """The record with its data, which the stream has next; None if a hole cuts them off."""
    if length <= MAX_STORED and stream.matches(layout.end, length, CHECKED_BYTES):
        data = stream.take(length)
        after = stream.peek(CHECKED_BYTES)
        stream.skip(len(after) - len(after.lstrip(b"\r\n")))  # empty lines
        return replace(record, data=data)

    # The length is wrong: the data reach to the next record, or to the end of the file.
    size = stream.find(layout.mark, MAX_STORED)
    if size is not None:
        return replace(record, data=stream.take(size), fault=WRONG_LENGTH)
    rest = stream.peek(MAX_STORED + 1)
    if len(rest) > MAX_STORED:
        stream.skip_to(layout.mark)
        return replace(record, data=rest[:BYTES_OF_TOO_LONG], fault=TOO_LONG)
    if stream.hole is not None:
        return None
    stream.skip(len(rest))
    return replace(record, data=rest, fault=CUT_OFF if len(rest) < length else WRONG_LENGTH)


def read_warc(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The records of a WARC file."""
    for record in _stored_records(stream, WARC, name):
        if isinstance(record, Broken):
            yield record
            continue
        warc_type = record.head.get("warc-type", "").lower()
        if warc_type in WARC_PAGES:
            yield Raw(place=record.place, decode=warc_record, data=record.data, head=record.head, fault=record.fault)
        elif record.fault and record.fault != TOO_LONG:
            yield Broken(place=record.place, why=record.fault)
        else:
            yield Skipped(Outcome(Code.NO_RESPONSE, warc_type))


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
        page = page_of(raw.data, url, is_whole=not raw.fault)
    else:
        page = page_of_body(raw.data, url, {"content-type": declared}, is_whole=not raw.fault)
    record_id = head.get("warc-record-id")
    json_id = as_json(record_id) if record_id is not None else "null"
    return ArchiveRecord(page, id=json_id, url=as_json(url), head=head)


def read_tianwang(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The records of a file in Tianwang's raw page format."""
    for record in _stored_records(stream, TIANWANG, name):
        if isinstance(record, Broken):
            yield record
        else:
            yield Raw(
                place=record.place, decode=tianwang_record, data=record.data, head=record.head, fault=record.fault
            )


def tianwang_record(raw: Raw) -> ArchiveRecord:
    """The page in a record of Tianwang's raw page format."""
    url = raw.head.get("url", "")
    response = raw.data
    # A zlib stream has its own end, so that a wrong length does not matter.
    if "unzip-length" in raw.head and raw.fault != TOO_LONG:
        response = unzipped(response)
    elif raw.fault == CUT_OFF and not response.rstrip().lower().endswith(CLOSING_TAG):
        raise BrokenError(raw.fault)
    is_whole = raw.fault != TOO_LONG and len(response) <= MAX_STORED
    return ArchiveRecord(page_of(response, url, is_whole), url=as_json(url), head=raw.head)


def unzipped(data: bytes) -> bytes:
    """The content of zlib data, at most one byte more than MAX_STORED; bytes after the stream are ignored."""
    if data.startswith(b"HTTP/"):  # the field exists, but nothing was compressed
        return data
    try:
        return unpack(data, Inflate(ZLIB_BITS), MAX_STORED)
    except EOFError:
        raise BrokenError("the zlib data are cut off") from None
    except zlib.error as error:
        raise BrokenError(f"the zlib data are damaged ({error})") from None
