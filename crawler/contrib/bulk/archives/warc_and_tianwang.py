"""WARC (ISO 28500) and Tianwang's raw pages: archives whose records have a header with their length.

A head is `name: value` lines and an empty line; as many bytes of data follow as the head says. A wrong length must not
cost the next records: what follows the data has to be the end of a record, else the data reach to the next line with
which a record begins.

Of WARC files, the pages are among the responses and resources that a crawler stored. Neither warcio nor FastWARC is
used: both end at the first damaged record, and hand a record that is cut off over as whole. A file compressed as one
and a file compressed record by record are read alike.

The raw page format of Tianwang (Web InfoMall), version 1.0, is that in which CWT200G was stored. A head has the lines
from `version` to `length`, between them `url` and usually `origin`, `date` and `ip`; other names are kept. The data are
what the server answered, and where there is an `unzip-length`, a zlib stream of it. Lengths are often off: a zlib
stream ends where it ends, and at the end of a file a page is whole where it closes itself with </html>.
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
AFTER = 80  # bytes after the data that are checked

OFF = "its length is off"
CUT = "it is cut off"
LONG = "it is too long"


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """How the records of a format begin, which field has the length, and what follows the data."""

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
    """A record: its place, its fields by lower-case name, its data, and what is wrong with their length."""

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
    reported = stream.offset > 0  # after a hole, the rest of its record is not reported again
    while True:
        at = stream.offset
        if stream.skip_to(layout.mark) and not reported:
            yield Broken(place=f"{name}: byte {at:,}", why=f"{stream.offset - at:,} bytes are no record")
        if not stream.peek(1):
            return
        at = stream.offset
        record = _record(stream, layout, f"{name}: byte {at:,}")
        if record is None:  # a hole cut it off, and is reported itself
            return
        yield record
        reported = isinstance(record, Broken)
        if reported and stream.offset == at:
            stream.skip(len(layout.mark))


def _record(stream: Stream, layout: RecordLayout, place: str) -> Frame | Broken | None:
    """The record that begins here; Broken if its header is damaged; None if a hole cuts it off."""
    head = stream.peek(MAX_HEAD)
    again = head.find(b"\n" + layout.mark)
    empty = EMPTY_LINE.search(head, 0, len(head) if again < 0 else again + 1)
    if empty is None:
        if again < 0 and stream.hole is not None and len(head) < MAX_HEAD:
            return None
        return Broken(place=place, why="its head has no end")
    fields = fields_of(head[: empty.start()])
    if not LENGTH.fullmatch(fields.get(layout.length, "")):
        return Broken(place=place, why=f"its head has no {layout.length}")
    stream.skip(empty.end())
    return _data(stream, layout, Frame(place=place, head=fields, data=b""), int(fields[layout.length]))


def _data(stream: Stream, layout: RecordLayout, frame: Frame, length: int) -> Frame | None:
    """The frame with its data; None if they end in a hole."""
    if length <= MAX_STORED and stream.matches(layout.end, length, AFTER):
        data = stream.take(length)
        rest = stream.peek(AFTER)
        stream.skip(len(rest) - len(rest.lstrip(b"\r\n")))
        return replace(frame, data=data)
    size = stream.find(layout.mark, MAX_STORED)
    if size is not None:
        return replace(frame, data=stream.take(size), fault=OFF)
    rest = stream.peek(MAX_STORED + 1)
    if len(rest) > MAX_STORED:
        stream.skip_to(layout.mark)
        return replace(frame, data=rest[:MAX_HEAD], fault=LONG)
    if stream.hole is not None:
        return None
    stream.skip(len(rest))
    return replace(frame, data=rest, fault=CUT if len(rest) < length else OFF)


def read_warc(stream: Stream, name: str) -> Iterator[ReadResult]:
    for frame in frames(stream, WARC, name):
        if isinstance(frame, Broken):
            yield frame
        elif (kind := frame.head.get("warc-type", "").lower()) in WARC_PAGES:
            yield Raw(place=frame.place, decode=warc_record, data=frame.data, head=frame.head, fault=frame.fault)
        elif frame.fault and frame.fault != LONG:
            yield Broken(place=frame.place, why=frame.fault)
        else:
            yield Skipped(Outcome(Code.NO_RESPONSE, kind))


def warc_record(raw: Raw) -> ArchiveRecord:
    head = raw.head
    # Some writers put the address in brackets, as the standard's grammar does.
    url = head.get("warc-target-uri", "").removeprefix("<").removesuffix(">")
    declared = head.get("content-type", "")
    if raw.fault and raw.fault != LONG:
        raise BrokenError(raw.fault)
    if head["warc-type"].lower() == "response" and media_type(declared) in ("application/http", ""):
        page = page_of(raw.data, url, whole=not raw.fault)
    else:
        page = page_of_body(raw.data, url, {"content-type": declared}, whole=not raw.fault)
    identifier = head.get("warc-record-id")
    return ArchiveRecord(page, "null" if identifier is None else as_json(identifier), as_json(url), head)


def read_tianwang(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The records of a file in the raw page format."""
    for frame in frames(stream, TIANWANG, name):
        if isinstance(frame, Broken):
            yield frame
        else:
            yield Raw(place=frame.place, decode=tianwang_record, data=frame.data, head=frame.head, fault=frame.fault)


def tianwang_record(raw: Raw) -> ArchiveRecord:
    url = raw.head.get("url", "")
    answer = raw.data
    if "unzip-length" in raw.head and raw.fault != LONG:
        answer = unzipped(answer)
    elif raw.fault == CUT and not answer.rstrip().lower().endswith(CLOSING_TAG):
        raise BrokenError(raw.fault)
    whole = raw.fault != LONG and len(answer) <= MAX_STORED
    return ArchiveRecord(page_of(answer, url, whole), "null", as_json(url), raw.head)


def unzipped(data: bytes) -> bytes:
    """DATA decompressed, up to one byte more than a page may have; bytes after the stream are ignored."""
    if data.startswith(b"HTTP/"):  # the field exists, but nothing was compressed
        return data
    try:
        return unpack(data, Inflate(zlib.MAX_WBITS), MAX_STORED)
    except EOFError:
        raise BrokenError("the zlib data are cut off") from None
    except zlib.error as error:
        raise BrokenError(f"the zlib data are damaged ({error})") from None
