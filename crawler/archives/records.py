"""What readers find in a file: raw records, what is broken, what is no page."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from crawler.outcomes import Outcome
from crawler.page.page import Page

MAX_PAGE = 50 * 1024 * 1024
"""Bytes of a page, unpacked; a longer one is broken: pages are text, and a bomb must not take the memory."""
MAX_HEAD = 64 * 1024
"""Bytes of what stands before a page in an archive; of what is too long, so much is looked at to say what it is."""
MAX_STORED = MAX_PAGE + MAX_HEAD
"""Bytes of a page with the head it was sent with."""

NOTHING: Mapping[str, str] = MappingProxyType({})


class BrokenError(Exception):
    """Why a record cannot be read, in a few words."""


class NotHtmlError(Exception):
    """The media type of what is no web page."""


class InputError(Exception):
    """Why a file cannot be an input at all, in one sentence."""


class Broken(NamedTuple):
    """A record that cannot be read: where it stands, and why."""

    place: str
    why: str


class Skipped(NamedTuple):
    """A record that is no page, and why."""

    outcome: Outcome


@dataclass(frozen=True)
class Record:
    """A saved page, and what its archive says of it."""

    page: Page
    id: str = "null"
    """The record's id and address as JSON, character by character as they came."""
    url: str = "null"
    head: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Every other field that stands with the page, by lower-case name."""


class Raw(NamedTuple):
    """A record as it is stored, and the function that makes a page of it or raises BrokenError or NotHtmlError."""

    place: str
    decode: Callable[["Raw"], Record]
    data: bytes
    head: Mapping[str, str] = {}
    fault: str = ""
    """What is wrong with its length, if anything is."""


Found = Raw | Broken | Skipped


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
