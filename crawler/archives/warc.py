"""WARC (ISO 28500): the pages among the responses and resources that a crawler stored.

Neither warcio nor FastWARC is used: both end at the first damaged record, and hand a record that is cut off over as
whole. A file compressed as one and a file compressed record by record are read alike.
"""

import re
from collections.abc import Iterator

from crawler.archives.http_answer import page_of, page_of_body
from crawler.archives.records import (
    LONG,
    Broken,
    BrokenError,
    Fault,
    Layout,
    Raw,
    ReadResult,
    Record,
    Skipped,
    as_json,
    frames,
)
from crawler.archives.stream import Stream
from crawler.outcomes import Code, Outcome
from crawler.page.page import media_type

LAYOUT = Layout(b"WARC/", "content-length", re.compile(rb"\r?\n\r?\n|[\r\n]*(?:\Z|WARC/)"))
PAGES = frozenset(("response", "resource"))


def read(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The records of a WARC file."""
    for frame in frames(stream, LAYOUT):
        place = f"{name}: byte {frame.at:,}"
        if isinstance(frame, Fault):
            yield Broken(place, frame.why)
        elif (kind := frame.head.get("warc-type", "").lower()) in PAGES:
            yield Raw(place, record, frame.data, frame.head, frame.fault)
        elif frame.fault and frame.fault != LONG:
            yield Broken(place, frame.fault)
        else:
            yield Skipped(Outcome(Code.NO_RESPONSE, kind))


def record(raw: Raw) -> Record:
    """The page of one record."""
    head = raw.head
    # Some writers put the address in the brackets in which the standard's grammar has it.
    url = head.get("warc-target-uri", "").removeprefix("<").removesuffix(">")
    declared = head.get("content-type", "")
    if raw.fault and raw.fault != LONG:
        raise BrokenError(raw.fault)
    if head["warc-type"].lower() == "response" and media_type(declared) in ("application/http", ""):
        page = page_of(raw.data, url, whole=not raw.fault)
    else:
        page = page_of_body(raw.data, url, {"content-type": declared}, whole=not raw.fault)
    identifier = head.get("warc-record-id")
    return Record(page, "null" if identifier is None else as_json(identifier), as_json(url), head)
