"""What of a page's source is parsed: bounds that keep time and memory small, far above what pages have.

Of 5,000 pages of all kinds the largest has 15,800 elements with 39,000 attributes, and no tag more than 140 of them. A
parser's memory grows with both, its time also with the square of a tag's attributes. Where a tag starts depends on
scripts, comments and quotes, which are easily read otherwise than the parser does; so whatever looks like the start of
a tag is held to be one, wherever it stands.
"""

import re
from collections.abc import Callable
from itertools import islice

from lxml import etree

MAX_TAGS = 50_000  # starts of elements
MAX_ATTRIBUTES = 200_000  # of a page
CROWDED = 500  # attributes of one tag
MAX_LEVELS = 2_048  # where libxml2 ends a tree, and gives up the rest of the page
TOO_MANY = f"after {MAX_TAGS:,} tags or {MAX_ATTRIBUTES:,} attributes"
TOO_DEEP = f"after {MAX_LEVELS:,} elements in each other"
MARGIN = 8  # levels that differ by version, and by what stands around the page
LEAST = 3  # bytes of an attribute, among so many
# Bytes that are looked at more than once, as starts of tags may stand in each other. Pages need a hundred thousand.
PATIENCE = 20_000_000

# As in browsers: quotes count only after an equals sign, and that only after a name.
_ATTRIBUTE = rb"""[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?+|'[^']*+'?+|[^\s>"'][^\s>]*+)?+)?+"""
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rb"<([^\s/>]*+)(?:[\s/]++|%b)*+" % _ATTRIBUTE)
# The last group is there in a crowd alone.
_CROWD = re.compile(rb"<[^\s/>]*+(?:[\s/]*+%b){0,%d}+([\s/]*+%b)?+" % (_ATTRIBUTE, CROWDED, _ATTRIBUTE))
# All tags but those of most pages, which are passed over quickly.
_UNUSUAL = re.compile(
    rb"""<(?![a-zA-Z][\w:-]{0,30}+(?:\s++[^\s/>=<"']{1,60}+(?:=(?:"[^"]{0,500}+"|'[^']{0,500}+'|[^\s"'<>=]{1,500}+))?+)"""
    rb"""{0,12}+\s*+/?>)[a-zA-Z]"""
)
_START = re.compile(rb"<[a-zA-Z]")
# An end of these makes an element where it ends none.
_ELEMENT = re.compile(rb"<(?:[a-zA-Z]|/(?:[pP]|[bB][rR])\b)")


def bounded(source: bytes) -> tuple[bytes, str]:
    """The part of a source that is parsed, where tags that are crowded stand as text; why the rest is not, or nothing."""
    ends = []
    if source.count(b"<") > MAX_TAGS:
        ends = [tag.start() for tag in islice(_ELEMENT.finditer(source), MAX_TAGS, MAX_TAGS + 1)]
        source = source[: ends[0]] if ends else source
    source, is_whole = _without_crowds(source)
    if len(source) > LEAST * MAX_ATTRIBUTES and (end := _end_of_attributes(source)) is not None:
        source, is_whole = source[:end], False
    return source, "" if is_whole and not ends else TOO_MANY


def _without_crowds(source: bytes) -> tuple[bytes, bool]:
    """The source without tags that are crowded, and whether it is whole, not cut because that took too long."""
    kept: list[bytes] = []
    done = looked = 0
    for found in _UNUSUAL.finditer(source):
        start = found.start()
        tag = _matched(_CROWD, source, start)
        if tag[1] is not None:
            kept += [source[done:start], b"< "]
            done = start + 1
        looked += tag.end() - start
        if looked > PATIENCE:
            return b"".join([*kept, source[done:start]]), False
    return b"".join([*kept, source[done:]]) if kept else source, True


def _end_of_attributes(source: bytes) -> int | None:
    """Where a source has as many attributes as are parsed, if it has more."""
    # By their lengths alone the tags of most sources have not so many.
    return _end_of(source, lambda tag: min(CROWDED, (tag.end() - tag.start()) // LEAST)) and _end_of(source, _attributes)


def _end_of(source: bytes, count: Callable[[re.Match[bytes]], int]) -> int | None:
    total = looked = 0
    for found in _START.finditer(source):
        tag = _matched(_TAG, source, found.start())
        total, looked = total + count(tag), looked + tag.end() - tag.start()
        if total > MAX_ATTRIBUTES or looked > PATIENCE:
            return tag.start()
    return None


def _matched(pattern: re.Pattern[bytes], source: bytes, start: int) -> re.Match[bytes]:
    tag = pattern.match(source, start)
    assert tag is not None  # noqa: S101 - both patterns match whatever starts like a tag
    return tag


def _attributes(tag: re.Match[bytes]) -> int:
    return sum(1 for _ in _ATTRIBUTES.finditer(tag.string, tag.end(1), tag.end()))


def is_deep(root: etree._Element) -> bool:
    """Whether a tree ends where it does because it is too deep, so that the rest of the page is not in it."""
    element, levels = root, 1
    while levels < MAX_LEVELS and len(element):
        element, levels = element[-1], levels + 1
    return levels >= MAX_LEVELS - MARGIN
