"""The records of archives and other inputs, the pages in them, and the fields of their headers.

A reader yields a `Raw` for each record that may be a page, a `Skipped` for each other record, and a `Broken` for each
record that it cannot read. Decoding a `Raw` gives an `ArchiveRecord`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType

from crawler.errors import WrongUseError
from crawler.outcomes import Outcome
from crawler.page.page import Page

MAX_PAGE = 50 * 1024 * 1024
"""The most bytes of an unpacked page. A longer page counts as broken: a decompression bomb must not fill the memory."""
MAX_HEAD = 64 * 1024
"""The most bytes of a record's header, and of an HTTP header."""
MAX_STORED = MAX_PAGE + MAX_HEAD
"""The most bytes of a page with its HTTP header."""
EMPTY_LINE = re.compile(rb"\r?\n\r?\n")

NO_FIELDS: Mapping[str, str] = MappingProxyType({})


class BrokenError(Exception):
    """A record cannot be read; the message is a few words."""


class WalledError(Exception):
    """A record is a page of a service that blocks robots; the message is the service's name."""


class InputError(WrongUseError):
    """A file cannot be used as an input; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that cannot be read."""

    place: str
    """Where it is, as in `Raw`."""
    why: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is not a page."""

    outcome: Outcome


@dataclass(frozen=True)
class ArchiveRecord:
    """A saved page with the fields of its record."""

    page: Page
    id: str = "null"
    """The record's id as JSON text, so that a number in the input is a number in the output."""
    url: str = "null"
    """The record's address as JSON text: a string, or null if a line of JSON has none."""
    head: Mapping[str, str] = field(default_factory=lambda: NO_FIELDS)
    """The fields of the record's header, by lower-case name."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A record as it is stored, which may be decoded in another process.

    `record.decode(record)` returns its page, or raises a BrokenError, DocumentError, NotHtmlError or WalledError.
    """

    place: str
    """The file, and in an archive the byte or the line at which the record begins, as messages name it."""
    decode: Callable[["Raw"], ArchiveRecord]
    """A function of the format: a module's function, so that a record can be sent to another process."""
    data: bytes
    _: KW_ONLY
    head: Mapping[str, str] = field(default_factory=dict)
    """The fields of its header by lower-case name; of a single page, the values that its reader knows instead."""
    fault: str = ""
    """What is wrong with its length: a constant of `warc_and_tianwang`; empty if nothing is wrong."""


ReadResult = Raw | Broken | Skipped


def as_json(text: str) -> str:
    r"""Text as JSON that can be encoded in UTF-8, whatever it contains.

    >>> as_json("蜂"), as_json("\udcff")
    ('"蜂"', '"\\udcff"')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)


def fields_of(head: bytes) -> dict[str, str]:
    """The fields by lower-case name. The first field of a name counts. A line that begins with white space continues
    the line before it.
    >>> fields_of(b"version: 1.0\\r\\nUrl: http://a.example/\\r\\n b")
    {'version': '1.0', 'url': 'http://a.example/ b'}
    """
    fields: dict[str, str] = {}
    for line in re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines():
        name, _, value = _text(line).partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    return fields


def _text(line: bytes) -> str:
    """A header line as text: in UTF-8, or else in Latin-1, in which any bytes are valid."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")
