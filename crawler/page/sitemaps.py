"""Reads the lists of pages that sites publish: sitemaps, feeds and llms.txt. Also reads dates as servers, sitemaps and
feeds write them.

Sitemaps follow https://www.sitemaps.org/protocol.html. News sitemaps also have the title of each page and the date of
its publication. Feeds are RSS, Atom or JSON Feed; some contain the texts of their pages.
"""

import json
import re
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from lxml import etree

from crawler.page.feed_entries import FEED_ENTRIES, EntryText, json_text, local_name, xml_text
from crawler.page.html_tree import start_of
from crawler.page.llms_list import is_llms_list, listed_pages
from crawler.page.text import fold_space
from crawler.urls.address import address_of
from crawler.urls.parsing import absolute

SITEMAPS = frozenset(("urlset", "sitemapindex"))
LISTS = SITEMAPS | {"rss", "rdf", "feed"}
# For each kind of entry, the elements with the time of its page's last change; the first one present is used.
DATES = {
    "url": ("lastmod", "publication_date"),
    "item": ("pubdate", "date", "modified"),
    "entry": ("updated", "modified", "published"),
}
ENTRIES = FEED_ENTRIES | {"url", "sitemap"}
MAX_ADDRESSES = 50_000  # of a list; the limit of the sitemap protocol
MAX_CHARACTERS = 10_000_000  # of all absolute addresses: a long address of the list lengthens relative ones
MAX_TAGS = 500_000  # `<` characters of a list that are parsed
MAX_ATTRIBUTES = 200_000
MAX_ENTITIES = 100_000  # entities that XML does not predefine
GZIP_MARK = b"\x1f\x8b"
MAX_MEMBERS = 100  # gzip members of one file (https://www.rfc-editor.org/rfc/rfc1952#section-2.2)
MAX_TITLE = 300  # characters
MAX_TRANSLATIONS = 20  # of a page
JSON_FEED = "https://jsonfeed.org/version/"
# The parts of an XML list that take memory in its tree: for each kind, a byte that every such part contains, the
# pattern of a part, and how many parts are parsed. The pattern is used only if the byte occurs more often than the
# limit.
LIMITS = {
    b"<": (re.compile(b"<"), MAX_TAGS),
    b"=": (re.compile(rb"=\s*[\"']"), MAX_ATTRIBUTES),
    b"&": (re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);|#)"), MAX_ENTITIES),
}


@dataclass(frozen=True, slots=True)
class Listing:
    """The addresses of pages and of further sitemaps in a list: a sitemap, a feed or an llms.txt."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    _: KW_ONLY
    is_cut: bool = False
    """Whether the list exceeded a limit, or could be decompressed only in part."""
    is_feed: bool = False
    lastmods: Mapping[str, float] = field(default_factory=dict)
    """When pages last changed, in seconds since 1970, if the list says so; times in the future are left out."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of pages, if the list has them."""
    texts: Mapping[str, EntryText] = field(default_factory=dict)
    """The texts of pages, if the list is a feed that contains them."""
    translations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The addresses of each page in other languages, if a sitemap has them and is on the page's own site."""


@dataclass(slots=True)
class SitemapEntry:
    """An entry of a list."""

    hrefs: list[str]
    """The addresses as written; an entry of an Atom feed may have several."""
    _: KW_ONLY
    changed: float | None = None
    """When its page changed, in seconds since 1970, if the list says so."""
    title: str = ""
    is_sitemap: bool = False
    text: EntryText | None = None
    translations: Sequence[str] = ()
    """The addresses of its page in other languages."""


def listing(body: bytes, url: str, max_size: int) -> Listing | None:
    """The content of a sitemap, sitemap index, feed or llms.txt; None if `body` is none of these. A compressed list is
    unpacked up to `max_size` bytes.
    """
    body, is_cut = _unzipped(body, max_size)
    if is_llms_list(body, url):
        pages = listed_pages(body.decode("utf-8", "replace"))
        page_entries = (SitemapEntry(hrefs=[page.href], title=fold_space(page.title)) for page in pages)
        return _listed(page_entries, url, is_cut, is_feed=False)

    # JSON Feed.
    first_byte = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first_byte == b"{":
        if max(map(body.count, (b"{", b"["))) > MAX_ADDRESSES:  # parsing would take too much memory
            return None
        json_entries = _json_entries(body)
        if json_entries is None:
            return None
        return _listed(json_entries, url, is_cut, is_feed=True)
    if first_byte != b"<":
        return None

    # XML, up to the limits of a tree.
    length = len(body)
    for key, (pattern, limit) in LIMITS.items():
        if body.count(key) > limit:
            body = body[: start_of(pattern, limit, body)]
    is_cut = is_cut or len(body) < length
    parser = etree.XMLParser(recover=True, resolve_entities=False, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    if root is None or local_name(root) not in LISTS:
        return None

    elements = ((element, local_name(element)) for element in root.iter(etree.Element))
    entries = (_entry(element, kind) for element, kind in elements if kind in ENTRIES)
    return _listed(entries, url, is_cut, is_feed=local_name(root) not in SITEMAPS)


def _listed(entries: Iterable[SitemapEntry], url: str, is_cut: bool, is_feed: bool) -> Listing:
    """The list at an address, with its entries up to the limits."""
    pages: dict[str, None] = {}
    sitemaps: dict[str, None] = {}
    lastmods: dict[str, float] = {}
    titles: dict[str, str] = {}
    texts: dict[str, EntryText] = {}
    translations: dict[str, tuple[str, ...]] = {}

    now = time.time()
    addresses_left = MAX_ADDRESSES
    characters_left = MAX_CHARACTERS
    for entry in entries:
        addresses = (absolute(url, href) for href in entry.hrefs[:addresses_left] if characters_left >= 0)
        for address in filter(None, addresses):
            if entry.is_sitemap:
                sitemaps[address] = None
            else:
                pages[address] = None
            characters_left -= len(address)
            if entry.changed is not None and entry.changed <= now:
                lastmods[address] = max(entry.changed, lastmods.get(address, entry.changed))
            if entry.title:
                titles.setdefault(address, entry.title)
            if entry.text is not None:
                texts.setdefault(address, entry.text)
            if entry.translations and address_of(address).site == address_of(url).site:
                others = (absolute(url, href) for href in entry.translations)
                translations[address] = tuple(other for other in others if other and other != address)
        addresses_left -= len(entry.hrefs)
        if addresses_left < 0 or characters_left < 0:
            is_cut = True
            break

    return Listing(
        pages=tuple(pages),
        sitemaps=tuple(sitemaps),
        is_cut=is_cut,
        is_feed=is_feed,
        lastmods=lastmods,
        titles=titles,
        texts=texts,
        translations=translations,
    )


def _entry(entry: etree._Element, kind: str) -> SitemapEntry:
    """An entry of an XML list."""
    hrefs = []
    translations: list[str] = []
    text_of_name: dict[str, str | None] = {}
    for element in _parts(entry):
        name = local_name(element)
        if name == "link" and kind == "url":
            # https://developers.google.com/search/docs/specialty/international/localized-versions#sitemap
            href = element.get("href")
            if href and element.get("hreflang") and len(translations) < MAX_TRANSLATIONS:
                translations.append(href)
        elif name == "title" or name in DATES.get(kind, ()):
            text_of_name.setdefault(name, element.text)
        else:
            address = _address(element, name, kind)
            if address:
                hrefs.append(address)
    changed = None
    if hrefs:  # without an address, the date is not needed
        changed = _first_moment(text_of_name.get(name) for name in DATES.get(kind, ()))
    title = fold_space((text_of_name.get("title") or "")[:MAX_TITLE])
    text = xml_text(entry) if kind in FEED_ENTRIES else None
    return SitemapEntry(
        hrefs=hrefs, changed=changed, title=title, is_sitemap=kind == "sitemap", text=text, translations=translations
    )


def _parts(entry: etree._Element) -> Iterator[etree._Element]:
    """The children of an entry; the <news:news> of a news sitemap is replaced by its children."""
    for element in entry.iterchildren(etree.Element):
        if local_name(element) == "news":
            yield from element.iterchildren(etree.Element)
        else:
            yield element


def _json_entries(body: bytes) -> Iterable[SitemapEntry] | None:
    """The entries of a JSON feed; None if `body` is not one."""
    try:
        feed = json.loads(body, parse_int=len, parse_float=len)  # numbers are not needed, and int() refuses long ones
    except (ValueError, RecursionError):
        return None
    if not isinstance(feed, dict) or not str(feed.get("version")).startswith(JSON_FEED):
        return None
    items = feed.get("items")
    if isinstance(items, list):
        return (_json_entry(item) for item in items if isinstance(item, dict))
    return ()


def _json_entry(item: Mapping[str, Any]) -> SitemapEntry:
    texts = {name: text for name, text in item.items() if isinstance(text, str)}
    href = texts.get("url") or texts.get("external_url")
    changed = _first_moment(texts.get(name) for name in ("date_modified", "date_published"))
    title = fold_space(texts.get("title", "")[:MAX_TITLE])
    return SitemapEntry(hrefs=[href] if href else [], changed=changed, title=title, text=json_text(item))


def _first_moment(dates: Iterable[str | None]) -> float | None:
    return next((when for when in map(moment, dates) if when is not None), None)


def _unzipped(body: bytes, max_size: int) -> tuple[bytes, bool]:
    """The body, decompressed if it is gzipped, as sitemaps often are; and whether some of it is missing."""
    if body[:2] != GZIP_MARK:
        return body, False
    unpacked = b""
    try:
        for _ in range(MAX_MEMBERS):
            if body[:2] != GZIP_MARK or len(unpacked) >= max_size:  # decompress() takes 0 as no limit
                break
            decompressor = zlib.decompressobj(wbits=31)  # gzip
            unpacked += decompressor.decompress(body, max_size - len(unpacked))
            if not decompressor.eof:
                return unpacked, True
            body = decompressor.unused_data
    except zlib.error:
        return unpacked, True
    return unpacked, body[:2] == GZIP_MARK


def _address(element: etree._Element, name: str, kind: str) -> str | None:
    """The address in a <loc> of a sitemap, a <link> of an RSS item or the alternate <link> of an Atom entry. `kind` is
    the local name of the entry around the element.
    """
    if len(element):
        return None  # an entity that is not resolved
    if name == "loc" and kind in ("url", "sitemap"):
        return element.text
    if name == "link" and kind == "item":
        return element.text or element.get("href")
    if name == "link" and kind == "entry" and element.get("rel", "alternate") == "alternate":
        return element.get("href")
    return None


MAX_DATE = 100  # characters


def moment(text: str | None) -> float | None:
    """The seconds since 1970 of a date in HTTP, RSS, Atom or a sitemap; None if it is not a date.

    A date without a zone is read as UTC, a date without a time as the beginning of the day.

    >>> moment("Thu, 01 Jan 1970 00:01:00 GMT"), moment("1970-01-01T01:01:00+01:00"), moment("1970-01-02"), moment("x")
    (60.0, 60.0, 86400.0, None)
    """
    try:
        date = _date(text)
        if date is not None:
            return date.timestamp()
        return None
    except (ValueError, OverflowError):
        return None


def day(text: str) -> str | None:
    """The day of a date in HTTP, RSS, Atom or a sitemap, in its own time zone, as ISO 8601; None if it is not a date.

    >>> day("Thu, 02 May 2024 00:30:00 +0200"), day("2024-05-02"), day("x")
    ('2024-05-02', '2024-05-02', None)
    """
    date = _date(text)
    if date is not None:
        return date.date().isoformat()
    return None


def _date(text: str | None) -> datetime | None:
    text = (text or "").strip()[:MAX_DATE]
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            date = read(text)
            if date.tzinfo:
                return date
            return date.replace(tzinfo=UTC)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
    return None
