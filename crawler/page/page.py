"""A fetched page: bytes -> text -> one tree -> blocks, links, image links, each computed once, nothing mutated."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import dropwhile
from typing import Any, TypeVar, cast

from lxml import etree

from crawler.page.contents import Anchor, Block, Containers, ImageLink, Link, Picture, Targets, Walked, targets, walk
from crawler.page.decoding import decode, is_clean_utf8
from crawler.page.head import Head, read_head
from crawler.page.limits import Cut, bounded, is_deep
from crawler.page.text import fold_space
from crawler.urls.parsing import absolute

BOT = "winnow"
"""The name by which robots.txt, meta tags and headers may address this crawler."""

HTML_TYPES = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
MEDIA_TYPE = re.compile(r"[\s\"']*([\w.+-]{1,60}/[\w.+-]{1,60})", re.ASCII)
MAX_NEAR_TEXT = 200
MAX_BASE = 2083  # every relative link of the page is joined to it
# Possessive, so that no digit of a time alone is taken for an address.
REFRESH = re.compile(
    r"\s*(\d{1,6}+)[\d.]*+(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+['\"]?+([^'\"]+)", re.IGNORECASE | re.ASCII
)
# Directives that have a value after a colon, where other colons end a robot's name.
VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))

OF_HEADS = frozenset("title meta link base basefont bgsound script style noscript noframes template".split())
"""Elements that a head may have."""

REFUSALS = frozenset(("noindex", "nofollow", "none"))

PERMALINK = "¶"
"""What manuals write behind a heading to link to it."""

T = TypeVar("T")


@dataclass(frozen=True)
class Extraction:
    """The main text of a page, as one method sees it."""

    text: str
    title: str
    blocks: tuple[Block, ...] = ()
    """The blocks of the main text, in page order."""
    comments: str = ""
    """The readers' comments under it."""
    page_type: str = ""
    """article, forum, product, collection, listing, documentation or service; empty where it is not judged."""
    ended: Cut | None = None
    """The limit after which the page was not judged any more; None as a rule."""
    certainty: float | None = None
    """The F1 that the method expects of the text, from 0 to 1; None of a method or a text of which nothing is known."""


@dataclass(frozen=True, eq=False)
class Page:
    """A page as it was fetched; whatever its bytes are, its parts are there, empty at worst."""

    url: str
    body: bytes
    content_type: str = ""
    robots_header: str = ""
    """The X-Robots-Tag headers, one a line."""
    _once: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_html(cls, html: str, url: str = "") -> "Page":
        """The page of text that is already decoded."""
        return cls(url, html.encode("utf-8", "replace"), "text/html; charset=utf-8")

    def once(self, compute: Callable[["Page"], T]) -> T:
        """What `compute` makes of this page, computed at the first call and kept for the next ones."""
        if compute not in self._once:
            self._once[compute] = compute(self)
        return cast(T, self._once[compute])

    @cached_property
    def _is_clean(self) -> bool:
        return is_clean_utf8(self.body, self.content_type)

    @cached_property
    def _decoded(self) -> tuple[str, str]:
        return (self.body.decode(), "utf-8") if self._is_clean else decode(self.body, self.content_type)

    @property
    def html(self) -> str:
        """The page's source as text."""
        return self._decoded[0]

    @property
    def encoding(self) -> str:
        """The encoding the source was read in."""
        return "utf-8" if self._is_clean else self._decoded[1]

    @cached_property
    def _parsed(self) -> tuple[etree._Element, Cut | None]:
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
        source, ended = bounded(self.body if self._is_clean else self.html.encode("utf-8", "replace"))
        try:
            root = etree.fromstring(source, parser)
        except (etree.XMLSyntaxError, ValueError):
            root = None
        if root is None:
            return etree.Element("html"), ended
        # What stands after </html> becomes a second root, which browsers show with the first.
        for late in list(root.itersiblings(etree.Element)):
            root.append(late)
        _open_body(root)
        _silence_permalinks(root)
        return root, ended or (Cut.DEPTH if is_deep(root) else None)

    @cached_property
    def root(self) -> etree._Element:
        """The tree; a lone <html> for a page without any element."""
        return self._parsed[0]

    @cached_property
    def ended(self) -> Cut | None:
        """The limit after which its source was not read any more; None as a rule."""
        return self._parsed[1]

    @cached_property
    def base(self) -> str:
        """The address that the page's relative links start from."""
        for element in self.root.iter("base"):
            if href := element.get("href"):
                base = absolute(self.url, href)
                return base if base and len(base) <= MAX_BASE else self.url
        return self.url

    @cached_property
    def _walked(self) -> Walked:
        return walk(self.root)

    @cached_property
    def _targets(self) -> Targets:
        return targets(self._walked, self.base)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The stretches of text, in page order."""
        return self._walked.blocks

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links to other pages, in page order."""
        return self._targets.links

    @cached_property
    def images(self) -> tuple[ImageLink, ...]:
        """The pictures, in page order."""
        return self._targets.images

    @cached_property
    def anchors(self) -> list[Anchor]:
        """What may be a link: all that `links` are made of."""
        return self._walked.anchors

    @cached_property
    def pictures(self) -> list[Picture]:
        """What may be a picture: all that `images` are made of."""
        return self._walked.pictures

    @cached_property
    def containers(self) -> Containers:
        """The elements that are not inline."""
        return self._walked.containers

    @cached_property
    def homes(self) -> list[int]:
        """For each block, the index of the innermost container around it."""
        return self._walked.homes

    @cached_property
    def wraps(self) -> list[etree._Element | None]:
        """For each block, the first inline element that begins in it."""
        return self._walked.wraps

    @property
    def cut(self) -> int:
        """How many links and pictures were not read because the page has too many."""
        return self._targets.cut

    def near_text(self, link: Link | ImageLink) -> str:
        """The text a link or a picture stands in, or the next text after it; at most 200 characters."""
        return self.blocks[link.at].text[:MAX_NEAR_TEXT] if link.at < len(self.blocks) else ""

    @cached_property
    def title(self) -> str:
        """The text of <title>."""
        for element in self.root.iter("title"):
            if (parent := element.getparent()) is None or parent.tag != "svg":
                return fold_space("".join(map(str, element.itertext())))
        return ""

    @cached_property
    def head(self) -> Head:
        """The elements that say something about the page."""
        return read_head(self.root)

    @cached_property
    def language(self) -> str:
        """The language the page declares, as it writes it."""
        return self.root.get("lang") or self.root.get("xml:lang") or self.meta.get("content-language", "")

    @cached_property
    def meta(self) -> dict[str, str]:
        """The meta tags by lower-case name, property or http-equiv; the first of each, robots' joined."""
        found: dict[str, str] = {}
        robots: dict[str, list[str]] = {}
        for element in self.root.iter("meta"):
            name = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
            content = element.get("content")
            if not name or content is None:
                continue
            if name in ("robots", BOT):
                robots.setdefault(name, []).append(content)
            # Without scripts a page may send its readers away; what it says in its own text is kept all the same.
            elif name != "refresh" or next(element.iterancestors("noscript"), None) is None:
                found.setdefault(name, content)
        return found | {name: ",".join(contents) for name, contents in robots.items()}

    @cached_property
    def canonical(self) -> str | None:
        """The address the page gives as its own."""
        for element in self.root.iter("link"):
            if "canonical" in element.get("rel", "").lower().split() and (href := element.get("href")):
                return absolute(self.base, href)
        return None

    @cached_property
    def robots(self) -> frozenset[str]:
        """What the page asks of robots, from its meta tags and headers, such as noindex and nofollow."""
        asked = [self.meta.get("robots", ""), self.meta.get(BOT, "")]
        asked += [_addressed_to_us(line) for line in self.robots_header.splitlines()]
        words = {word.strip().lower() for words in asked for word in words.split(",")}
        words |= REFUSALS.intersection(" ".join(words).split())  # some pages put spaces between them
        if "none" in words:
            words |= {"noindex", "nofollow"}
        return frozenset(words - {""})

    @cached_property
    def refresh(self) -> tuple[int, str] | None:
        """After how many seconds the page sends its reader on, and where to."""
        match = REFRESH.match(self.meta.get("refresh", ""))
        url = absolute(self.base, match[2]) if match else None
        return (int(match[1]), url) if match and url else None


def _open_body(root: etree._Element) -> None:
    """Move what stands in a head into the body, from the first element on that belongs in no head.

    Browsers do so; libxml2 does it for the elements that were there before HTML 5.
    """
    late = [one for head in root.findall("head") for one in dropwhile(lambda one: one.tag in OF_HEADS, head)]
    if not late:
        return
    if (body := root.find("body")) is None:
        body = etree.SubElement(root, "body")
    late[-1].tail = (late[-1].tail or "") + (body.text or "") or None
    body.text = None
    body[:0] = late


def _silence_permalinks(root: etree._Element) -> None:
    """Take the text out of links that are nothing but this mark."""
    for link in root.iter("a"):
        if (text := link.text) and PERMALINK in text and text.strip() == PERMALINK and not len(link):
            link.text = None


def _addressed_to_us(header: str) -> str:
    """The directives of one X-Robots-Tag header, none when it speaks to another robot.

    >>> _addressed_to_us("noindex, nofollow"), _addressed_to_us("otherbot: noindex"), _addressed_to_us("winnow: none")
    ('noindex, nofollow', '', 'none')
    """
    name, colon, rest = header.partition(":")
    if not colon or "," in name or name.strip().lower() in VALUED:
        return header
    return rest.strip() if name.strip().lower() == BOT else ""


def media_type(content_type: str) -> str:
    """The type a Content-Type header declares, empty when it declares none.

    >>> media_type('"Text/HTML", text/html; charset=x'), media_type("*/*")
    ('text/html', '')
    """
    match = MEDIA_TYPE.match(content_type)
    return match[1].lower() if match else ""


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a response is a web page, by its declared type or, without one, by its first bytes."""
    declared = media_type(content_type)
    if declared:
        return declared in HTML_TYPES
    head = body[:1024].lower()
    return b"<html" in head or b"<!doctype html" in head or b"<head" in head or b"<body" in head
