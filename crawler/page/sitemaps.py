"""The addresses that a sitemap or a feed lists, and dates as servers, sitemaps and feeds write them."""

import time
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import NamedTuple

from lxml import etree

from crawler.urls.parsing import absolute

SITEMAPS = frozenset(("urlset", "sitemapindex"))
LISTS = SITEMAPS | {"rss", "rdf", "feed"}
# For each kind of entry, the elements that say when its page changed; the first one present is used.
DATES = {"url": ("lastmod",), "item": ("pubdate", "date", "modified"), "entry": ("updated", "modified", "published")}
ENTRIES = frozenset(("url", "sitemap", "item", "entry"))
MAX_ADDRESSES = 50_000  # bytes of a list, as the sitemap protocol limits it
MAX_TAGS = 500_000  # `<` characters of a list that are parsed
MAX_MEMBERS = 100  # gzipped files in a row
NOTHING: Mapping[str, float] = MappingProxyType({})


class Listing(NamedTuple):
    """The addresses of pages and of further sitemaps in a list."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    cut: bool = False
    """Whether it was longer than the limit, or could be decompressed only in part."""
    is_feed: bool = False
    lastmods: Mapping[str, float] = NOTHING
    """When pages last changed, if that is given and possible, in seconds since 1970."""


def listing(body: bytes, url: str, max_size: int) -> Listing | None:
    """The content of a sitemap, sitemap index, RSS or Atom feed; None if `body` is none of these."""
    body, cut = _unzipped(body, max_size)
    if body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"<":
        return None
    *kept, rest = body.split(b"<", MAX_TAGS + 1)
    if len(kept) > MAX_TAGS:
        body, cut = b"<".join(kept), True
    del kept, rest
    parser = etree.XMLParser(recover=True, resolve_entities=False, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None or _name(root) not in LISTS:
        return None
    pages: dict[str, None] = {}
    sitemaps: dict[str, None] = {}
    lastmods: dict[str, float] = {}
    now, left = time.time(), MAX_ADDRESSES
    for entry in root.iter(etree.Element):
        if (kind := _name(entry)) not in ENTRIES:
            continue
        hrefs, when = _read(entry, kind)
        for address in filter(None, (absolute(url, href) for href in hrefs[:left])):
            (sitemaps if kind == "sitemap" else pages)[address] = None
            if when is not None and when <= now:
                lastmods[address] = max(when, lastmods.get(address, when))
        left -= len(hrefs)
        if left < 0:
            cut = True
            break
    return Listing(tuple(pages), tuple(sitemaps), cut, _name(root) not in SITEMAPS, lastmods)


def _read(entry: etree._Element, kind: str) -> tuple[list[str], float | None]:
    """The addresses of an entry, and when its page changed, if given."""
    hrefs = []
    said: dict[str, str | None] = {}
    for element in entry.iterchildren(etree.Element):
        name = _name(element)
        if name in DATES.get(kind, ()):
            said[name] = element.text
        elif href := _address(element, name, kind):
            hrefs.append(href)
    dates = (moment(said[name]) for name in DATES.get(kind, ()) if name in said and hrefs)
    return hrefs, next((when for when in dates if when is not None), None)


def _unzipped(body: bytes, max_size: int) -> tuple[bytes, bool]:
    """The body, decompressed if it is gzipped, as sitemaps often are, and whether some of it is missing."""
    if body[:2] != b"\x1f\x8b":
        return body, False
    unpacked = b""
    try:
        for _ in range(MAX_MEMBERS):  # a file may consist of several parts
            if body[:2] != b"\x1f\x8b" or len(unpacked) >= max_size:
                return unpacked, False
            unpacker = zlib.decompressobj(wbits=31)
            unpacked += unpacker.decompress(body, max_size - len(unpacked))
            if not unpacker.eof:
                return unpacked, True
            body = unpacker.unused_data
    except zlib.error:
        return unpacked, True
    return unpacked, body[:2] == b"\x1f\x8b"


def _name(element: etree._Element) -> str:
    """The element's name without its namespace, or without an undeclared prefix."""
    return str(element.tag).rpartition("}")[2].rpartition(":")[2].lower()


def _address(element: etree._Element, name: str, inside: str) -> str | None:
    """The address in a <loc> of a sitemap, a <link> of an RSS item or the alternate <link> of an Atom entry."""
    if len(element):
        return None  # an unknown entity in it
    if name == "loc" and inside in ("url", "sitemap"):
        return element.text
    if name == "link" and inside == "item":
        return element.text or element.get("href")
    if name == "link" and inside == "entry" and element.get("rel", "alternate") == "alternate":
        return element.get("href")
    return None


MOST = 100  # characters of one


def moment(text: str | None) -> float | None:
    """The seconds since 1970 of a date in HTTP, RSS, Atom or a sitemap; None if it is not a date.

    Without a zone it is in UTC, without a time it is the day's beginning.

    >>> moment("Thu, 01 Jan 1970 00:01:00 GMT"), moment("1970-01-01T01:01:00+01:00"), moment("1970-01-02"), moment("x")
    (60.0, 60.0, 86400.0, None)
    """
    text = (text or "").strip()[:MOST]
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
    return None
