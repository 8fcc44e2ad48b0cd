"""A fetched page: bytes -> text -> one tree -> blocks, links, images. Each is computed once, when first needed."""

import re
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar, cast

from lxml import etree

from crawler.page.blocks import Block, Containers, ImageElement, LinkElement, PageContents, contents
from crawler.page.decoding import decode, is_clean_utf8
from crawler.page.head import REFRESH, Head, read_head, read_metas, robots_directives
from crawler.page.html_tree import MAX_BYTES, Cut, Parsed, parsed
from crawler.page.links import ImageLink, Link, PageTargets, targets
from crawler.page.owner_marks import Withheld
from crawler.page.text import fold_space
from crawler.urls.parsing import absolute

HTML_TYPES = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
FEED_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/feed+json"))
MAX_ALTERNATES = 100  # addresses of a page in other languages that are read
MEDIA_TYPE = re.compile(r"[\s\"']*([\w.+-]{1,60}/[\w.+-]{1,60})", re.ASCII)
MAX_NEAR_TEXT = 200  # characters
MAX_BASE = 2083  # characters of a base address, which becomes part of every relative link

T = TypeVar("T")


class PageType(StrEnum):
    """The type of a page, judged by its text. The members are in the order of the models' columns."""

    ARTICLE = "article"
    FORUM = "forum"
    PRODUCT = "product"
    COLLECTION = "collection"
    LISTING = "listing"
    DOCUMENTATION = "documentation"
    SERVICE = "service"


@dataclass(frozen=True)
class Extraction:
    """The main text of a page, extracted by one method."""

    text: str
    title: str
    blocks: tuple[Block, ...] = ()
    """The blocks of the main text, in page order."""
    _: KW_ONLY
    comments: str = ""
    """The readers' comments under the text."""
    page_type: str = ""
    """A PageType; empty if not judged."""
    ended: Cut | None = None
    """The limit that cut off the rest of the page, which was not judged; usually None."""
    certainty: float | None = None
    """The F1 that the method expects of the text, from 0 to 1; None if unknown."""
    method: str = ""
    """The name of the second method, if it extracted the text because the first method was in doubt; usually empty."""


class MadeFrom(StrEnum):
    """The source from which a page is made."""

    HTML = "html"
    """The HTML that its server sent."""
    RENDERED = "rendered"
    """The HTML after a browser has run its scripts."""
    FEED = "feed"
    """The text of its entry in a feed."""
    DOCUMENT = "document"
    """A file of another type, such as PDF."""


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """The checked metadata in a document or an entry of a feed."""

    media_type: str
    _: KW_ONLY
    title: str = ""
    author: str = ""
    published: str | None = None
    """Day, as in ISO 8601."""
    pages: int | None = None
    ended: Cut | None = None
    """The limit that cut off the rest of the file; usually None."""


@dataclass(frozen=True, eq=False)
class Page:
    """A fetched page. Every part can be read, whatever the bytes are; a part that they lack is empty or None."""

    url: str
    body: bytes
    content_type: str = ""
    robots_header: str = ""
    """The X-Robots-Tag headers, one a line."""
    document: DocumentFacts | None = None
    """The metadata of the document or feed entry that the page is made from; None for a web page. All text of a page
    made from a document or feed entry is main text.
    """
    made_from: MadeFrom = MadeFrom.HTML
    _once: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    """The results of `once`, by function."""

    @classmethod
    def from_html(cls, html: str | bytes, url: str = "", content_type: str = "") -> "Page":
        """A page from its HTML as text, or as bytes with the type that their server declared."""
        if isinstance(html, bytes):
            return cls(url=url, body=html, content_type=content_type)
        return cls(url=url, body=html.encode("utf-8", "replace"), content_type="text/html; charset=utf-8")

    def once(self, compute: Callable[["Page"], T]) -> T:
        """The result of `compute` for this page, computed at the first call and cached."""
        if compute not in self._once:
            self._once[compute] = compute(self)
        return cast(T, self._once[compute])

    @property
    def _source(self) -> bytes:
        return self.body[:MAX_BYTES]

    @cached_property
    def _is_clean(self) -> bool:
        """Whether the source can be parsed as it is, without decoding it."""
        return is_clean_utf8(self._source, self.content_type)

    @cached_property
    def _decoded(self) -> tuple[str, str]:
        """The source as text, and its encoding."""
        if self._is_clean:
            return (self._source.decode(), "utf-8")
        return decode(self._source, self.content_type)

    @property
    def html(self) -> str:
        """The first `MAX_BYTES` of the page's source, as text."""
        return self._decoded[0]

    @property
    def usable_html(self) -> str:
        """The page's source without the text that its owner marks as not to be used."""
        if self.withheld.parts:
            return etree.tostring(self.root, encoding="unicode", method="html")
        return self.html

    @property
    def encoding(self) -> str:
        """The encoding in which the source was read."""
        if self._is_clean:  # known without decoding it
            return "utf-8"
        return self._decoded[1]

    @cached_property
    def _parsed(self) -> Parsed:
        return parsed(self._source if self._is_clean else self.html.encode("utf-8", "replace"))

    @cached_property
    def root(self) -> etree._Element:
        """The tree; a lone <html> for a page without any element."""
        return self._parsed.root

    @property
    def withheld(self) -> Withheld:
        """The text that the owner of the page marks as not to be used, which is not in the tree."""
        return self._parsed.withheld

    @cached_property
    def ended(self) -> Cut | None:
        """The limit that cut off the rest of the source, which was not parsed; usually None."""
        if len(self.body) > MAX_BYTES:
            return Cut.BYTES
        return self._parsed.ended

    @cached_property
    def _all_metadata_elements(self) -> list[etree._Element]:
        """The elements that may contain metadata, in page order, found in one walk."""
        return list(self.root.iter("base", "link", "meta", "script", "time", "title"))

    def metadata_elements(self, tag: str) -> Iterator[etree._Element]:
        """The elements with this tag, one of base, link, meta, script, time and title, in page order."""
        return (element for element in self._all_metadata_elements if element.tag == tag)

    @cached_property
    def base(self) -> str:
        """The address against which the page's relative links are resolved."""
        for element in self.metadata_elements("base"):
            href = element.get("href")
            if href:
                base = absolute(self.url, href)
                if base and len(base) <= MAX_BASE:
                    return base
                return self.url
        return self.url

    @cached_property
    def _contents(self) -> PageContents:
        return contents(self.root)

    @cached_property
    def _targets(self) -> PageTargets:
        return targets(self._contents, self.base, self.url, self.made_from is MadeFrom.RENDERED)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The stretches of text, in page order."""
        return self._contents.blocks

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links to other pages, in page order."""
        return self._targets.links

    @cached_property
    def images(self) -> tuple[ImageLink, ...]:
        """The images, in page order."""
        return self._targets.images

    @cached_property
    def link_elements(self) -> list[LinkElement]:
        """Possible links, from which `links` are made."""
        return self._contents.link_elements

    @cached_property
    def image_elements(self) -> list[ImageElement]:
        """Possible images, from which `images` are made."""
        return self._contents.image_elements

    @cached_property
    def containers(self) -> Containers:
        """The block-level elements."""
        return self._contents.containers

    @cached_property
    def homes(self) -> list[int]:
        """For each block, the index in `containers` of the innermost container around it."""
        return self._contents.homes

    @cached_property
    def wraps(self) -> list[etree._Element | None]:
        """For each block, the first inline element that begins in it."""
        return self._contents.wraps

    @property
    def routes(self) -> frozenset[str]:
        """The addresses of links that differ from the page's only in their route, a fragment such as `#/manual` by
        which the page's scripts show another page. Empty for a rendered page, which has them among its `links`.
        """
        return self._targets.routes

    @property
    def cut(self) -> int:
        """How many links and images were not read because the page has too many."""
        return self._targets.cut

    def near_text(self, link: Link | ImageLink) -> str:
        """The text around a link or an image, or the next text after it; at most 200 characters."""
        if link.at < len(self.blocks):
            return self.blocks[link.at].text[:MAX_NEAR_TEXT]
        return ""

    @cached_property
    def title(self) -> str:
        """The text of <title>."""
        for element in self.metadata_elements("title"):
            parent = element.getparent()
            if parent is None or parent.tag != "svg":  # the title of a drawing is not the page's
                return fold_space("".join(map(str, element.itertext())))
        return ""

    @cached_property
    def head(self) -> Head:
        """The elements that describe the page."""
        return read_head(self._all_metadata_elements)

    @cached_property
    def language(self) -> str:
        """The language that the page declares, as written; empty if it declares none."""
        return self.root.get("lang") or self.root.get("xml:lang") or self.meta.get("content-language", "")

    @cached_property
    def meta(self) -> dict[str, str]:
        """The contents of meta tags by name, from `read_metas`. For titles, dates and authors, use `head`."""
        return read_metas(self.metadata_elements("meta"))

    @cached_property
    def canonical(self) -> str | None:
        """The canonical address that the page declares."""
        for element in self.metadata_elements("link"):
            if "canonical" in element.get("rel", "").lower().split() and (href := element.get("href")):
                return absolute(self.base, href)
        return None

    @cached_property
    def alternates(self) -> dict[str, str]:
        """The addresses of the page in other languages, by language tag."""
        url_of_language: dict[str, str] = {}
        for element in self.metadata_elements("link"):
            tag = element.get("hreflang")
            href = element.get("href")
            # With a medium, e.g. print, it is another form of the page.
            is_alternate = "alternate" in element.get("rel", "").lower().split() and not element.get("media")
            if is_alternate and tag and href and len(url_of_language) < MAX_ALTERNATES:
                url = absolute(self.base, href)
                if url:
                    url_of_language.setdefault(tag, url)
        return url_of_language

    @cached_property
    def next_part(self) -> str | None:
        """The address of the next part of a list or a text in several parts, as the page declares it."""
        for element in self.metadata_elements("link"):
            if "next" in element.get("rel", "").lower().split() and (href := element.get("href")):
                return absolute(self.base, href)
        return None

    @cached_property
    def feed(self) -> str | None:
        """The address of the first feed that the page declares."""
        for element in self.metadata_elements("link"):
            is_alternate = "alternate" in element.get("rel", "").lower().split()
            is_feed = element.get("type", "").lower() in FEED_TYPES
            if is_alternate and is_feed and (href := element.get("href")):
                return absolute(self.base, href)
        return None

    @cached_property
    def robots(self) -> frozenset[str]:
        """The page's directives for robots in its meta tags and headers, such as noindex and nofollow."""
        return robots_directives(self.meta, self.robots_header)

    @cached_property
    def refresh(self) -> tuple[int, str] | None:
        """The seconds after which the page redirects its readers, and the address; None if it does not."""
        match = REFRESH.match(self.meta.get("refresh", ""))
        if match is None:
            return None
        seconds, href = match.groups()
        url = absolute(self.base, href)
        return (int(seconds), url) if url else None


def media_type(content_type: str) -> str:
    """The media type in a Content-Type header; empty if it declares none.

    >>> media_type('"Text/HTML", text/html; charset=x'), media_type("*/*")
    ('text/html', '')
    """
    match = MEDIA_TYPE.match(content_type)
    return match[1].lower() if match else ""


class NotHtmlError(Exception):
    """A file is neither a web page nor a document that can be read; the message is its media type."""


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a response is a web page, by its declared type or, without one, by its first bytes."""
    declared = media_type(content_type)
    if declared:
        return declared in HTML_TYPES
    head = body[:1024].lower()
    return b"<html" in head or b"<!doctype html" in head or b"<head" in head or b"<body" in head
