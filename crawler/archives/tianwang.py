"""The raw page format of Tianwang (Web InfoMall), version 1.0, in which CWT200G was stored.

A file is a row of records: a head of `name: value` lines from `version` to `length`, an empty line, `length` bytes of
DATA, an empty line. Between them stand `url` and usually `origin`, `date` and `ip`; other names are kept. DATA is what
the server answered, and where there is an `unzip-length`, a zlib stream of it.

Lengths are often off. A record is good all the same when its end shows: DATA then reach to the next line that begins
with `version: `, a zlib stream ends where it ends, and at the end of a file the page closes itself with </html>.
"""

import re
import zlib
from collections.abc import Iterator

from crawler.archives.http_answer import page_of, unpack
from crawler.archives.records import (
    CUT,
    LONG,
    MAX_STORED,
    Broken,
    BrokenError,
    Fault,
    Layout,
    Raw,
    ReadResult,
    Record,
    as_json,
    frames,
)
from crawler.archives.stream import Inflate, Stream

# The first line of the next record may be damaged, too.
LAYOUT = Layout(b"version: ", "length", re.compile(rb"[\r\n]*(?:version: |\Z)|[\r\n]+[^\n]{1,40}\nurl: "))
# The first records of a file may be damaged, too.
BEGINNING = re.compile(rb"^version: .*\n(?:.+\n){0,20}?url: |\A\s*version: ", re.MULTILINE)
CLOSING_TAG = b"</html>"


def read(stream: Stream, name: str) -> Iterator[ReadResult]:
    """The records of a file in the raw page format."""
    for frame in frames(stream, LAYOUT):
        place = f"{name}: byte {frame.at:,}"
        if isinstance(frame, Fault):
            yield Broken(place, frame.why)
        else:
            yield Raw(place, record, frame.data, frame.head, frame.fault)


def record(raw: Raw) -> Record:
    """The page of one record."""
    url = raw.head.get("url", "")
    answer = raw.data
    if "unzip-length" in raw.head and raw.fault != LONG:
        answer = unzipped(answer)
    elif raw.fault == CUT and not answer.rstrip().lower().endswith(CLOSING_TAG):
        raise BrokenError(raw.fault)
    whole = raw.fault != LONG and len(answer) <= MAX_STORED
    return Record(page_of(answer, url, whole), "null", as_json(url), raw.head)


def unzipped(data: bytes) -> bytes:
    """DATA inflated, at most one byte more than a page may have; what stands behind the stream is not part of it."""
    if data.startswith(b"HTTP/"):  # the field is there, but nothing was compressed
        return data
    try:
        return unpack(data, Inflate(zlib.MAX_WBITS), MAX_STORED)
    except EOFError:
        raise BrokenError("the zlib data are cut off") from None
    except zlib.error as error:
        raise BrokenError(f"the zlib data are damaged ({error})") from None
