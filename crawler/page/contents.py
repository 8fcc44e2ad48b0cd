"""One walk over a page's tree: its blocks of text, its links and its image links.

A block is the text between two breaks of the line: the start or end of an element that is not inline, or a <br>. The
records are named tuples, not frozen dataclasses, because a page makes hundreds and a tuple is made five times as fast.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from crawler.page.joining import WITHIN_WORDS, joined
from crawler.page.text import fold_space
from crawler.urls.parsing import absolute

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label map mark nobr o:p output picture "
    "q rb rp rt rtc ruby s samp small source span strike strong sub sup time tt u var wbr".split()
)
# What is never read as text. <noscript> is: what stands there is what readers without scripts see. What stands in
# <noframes> and its kin is for browsers of another age, and in the tree it is markup that nobody has read.
SILENT = frozenset(
    "applet audio canvas head math noembed noframes object script select style svg template textarea title"
    " video".split()
)
# Elements besides <a> and <img> that link to pages or show pictures.
LEADING = frozenset(("frame", "iframe", "area", "input"))
# Where pages that load pictures late keep the address, the most telling first.
LAZY = (
    "data-src data-original data-lazy-src data-lazy data-lazyload data-original-src data-actualsrc data-echo data-url "
    "data-hi-res-src data-full-src data-img-src real_src zoomfile file"
).split()
# Links of a page, and pictures of a page, that are read: no page for readers has more.
MAX_LINKS = 10_000
MAX_SRCSET = 20_000  # characters
# Possessive: a value of blanks alone must not be tried in every way to divide them.
PIXELS = re.compile(r"\s*+(\d{1,5})(?:\.\d+)?+\s*+(?:px)?+\s*+$")
SPACED = re.compile(r",\s+")
DESCRIPTOR = re.compile(r"(\d+(?:\.\d+)?)[wx]")
STYLE_SIZE = re.compile(r"(?:^|[;\s])(width|height)\s*:\s*(\d{1,5})(?:\.\d+)?\s*px", re.IGNORECASE)


class Block(NamedTuple):
    """A stretch of text without a line break."""

    text: str
    tag: str
    linked: int
    """How many of its characters stand inside links."""
    element: etree._Element
    """The innermost element around it that is not inline."""


class Link(NamedTuple):
    """A link to another page."""

    url: str
    text: str
    title: str
    nofollow: bool
    pictured: bool
    """Whether there is a picture in it."""
    at: int
    """Index of the block it stands in, or of the next one where it has no text."""


class ImageLink(NamedTuple):
    """A picture on a page, and the link around it if there is one."""

    url: str
    target: str
    """Address the picture links to, or an empty string."""
    alt: str
    title: str
    anchor_text: str
    width: int | None
    height: int | None
    at: int
    """Index of the block it stands in, or of the next one."""
    element: etree._Element


class Containers(NamedTuple):
    """The elements that are not inline, in page order, in columns."""

    elements: list[etree._Element]
    parents: list[int]
    """Index of the container around it, -1 for the first."""
    starts: list[int]
    """Index of its first block."""
    ends: list[int]
    """Index of the first block after it."""
    tags: list[str]


class Walked(NamedTuple):
    """What one walk finds."""

    blocks: tuple[Block, ...]
    anchors: list["Anchor"]
    """What may be a link, in the order of their ends."""
    pictures: list["Picture"]
    """What may be a picture."""
    containers: Containers
    homes: list[int]
    """For each block, the index of the innermost container around it."""
    wraps: list[etree._Element | None]
    """For each block, the first inline element that begins in it."""


class Anchor:
    """An element that may lead to another page."""

    __slots__ = ("at", "element", "href", "pictured", "pieces")

    def __init__(self, element: etree._Element, href: str | None, at: int) -> None:
        self.element = element
        self.href = href
        self.at = at
        """Index of the block it stands in, or of the next one where it has no text."""
        self.pictured = False
        self.pieces: list[str] = []


class Picture(NamedTuple):
    """An element that may show a picture."""

    element: etree._Element
    srcset: str
    """What the elements before it in its <picture> offer."""
    anchor: Anchor | None
    at: int


class Targets(NamedTuple):
    """Where a page leads."""

    links: tuple[Link, ...]
    images: tuple[ImageLink, ...]
    cut: int
    """How many links and pictures were left because there are too many."""


def steps(root: etree._Element) -> Iterator[tuple[str, etree._Element, str]]:
    """Every "start" and "end" of an element that is read, and the "skipped" ones, each with the text that comes next.

    `walk` itself has these steps in it, for speed.
    """
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        is_silent = element.tag in SILENT
        if event == "end":
            yield "skipped" if is_silent else "end", element, (element.tail or "") if element is not root else ""
        elif is_silent:
            walker.skip_subtree()
        else:
            yield "start", element, (element.text or "") if element.tag != "iframe" else ""


def walk(root: etree._Element) -> Walked:
    """The blocks below `root`, the elements around them, and what may be links and pictures."""
    return _Walk().run(root)


def targets(walked: Walked, base: str) -> Targets:
    """The links and image links of a page, with addresses made absolute from `base`."""
    return _Targets(base).run(walked)


class _Walk:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.anchors: list[Anchor] = []
        self.pictures: list[Picture] = []
        self.pieces: list[str] = []
        self.linked = 0
        self.anchor: Anchor | None = None
        self.containers = Containers([], [], [], [], [])
        self.home = -1
        """Index of the innermost container."""
        self.homes: list[int] = []
        self.wrap: etree._Element | None = None
        self.wraps: list[etree._Element | None] = []
        self.srcset = ""
        self.after_link = -1
        """How many pieces the block had when a link in it ended."""

    def run(self, root: etree._Element) -> Walked:
        pieces, tags = self.pieces, self.containers.tags
        self.open_container(root, root.tag)
        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            tag = element.tag
            if tag in INLINE:
                text = self.enter(element, tag) if event == "start" else self.leave(element, tag)
            elif tag in SILENT:
                if event == "start":
                    walker.skip_subtree()
                    continue
                text = element.tail
            elif event == "start":
                self.open_container(element, tag)
                text = element.text if tag != "iframe" else None
            else:
                self.close_container()
                text = element.tail if element is not root else None
            # Most of the texts of a page are blanks between its elements, which only <pre> keeps at a line's start.
            if text and (pieces or not text.isspace() or tags[self.home] == "pre"):
                self.read(text)
            elif text and self.anchor is not None:
                self.anchor.pieces.append(text)
        self.close_anchor()
        self.close_container()
        return Walked(tuple(self.blocks), self.anchors, self.pictures, self.containers, self.homes, self.wraps)

    def open_container(self, element: etree._Element, tag: str) -> None:
        if self.pieces:
            self.close_block()
        elements, parents, starts, ends, tags = self.containers
        parents.append(self.home)
        self.home, self.wrap = len(elements), None
        elements.append(element)
        starts.append(len(self.blocks))
        ends.append(0)
        tags.append(tag)
        if tag in LEADING:
            self.lead(element, tag)

    def close_container(self) -> None:
        if self.pieces:
            self.close_block()
        self.containers.ends[self.home] = len(self.blocks)
        self.home, self.wrap = self.containers.parents[self.home], None

    def enter(self, element: etree._Element, tag: str) -> str | None:
        """Go into an inline element; its text comes back."""
        if self.wrap is None:
            self.wrap = element
        if tag == "a":
            self.close_anchor()  # a link in a link ends the outer one, as in browsers
            if self.after_link == len(self.pieces):
                self.pieces.append(" ")  # links side by side are never one word
            self.anchor = Anchor(element, element.get("href"), len(self.blocks))
        elif tag == "img":
            self.add_picture(element)
        elif tag == "source":
            self.srcset = self.srcset or element.get("srcset") or element.get("data-srcset") or ""
        elif tag in WITHIN_WORDS:
            self.pieces.append("")
        return element.text

    def leave(self, element: etree._Element, tag: str) -> str | None:
        """Go out of an inline element; the text after it comes back."""
        if tag == "a":
            if self.anchor is not None and self.anchor.element is element:
                self.close_anchor()
        elif tag == "picture":
            self.srcset = ""
        elif tag in WITHIN_WORDS:
            self.pieces.append("")
        return element.tail

    def lead(self, element: etree._Element, tag: str) -> None:
        """Note an element that leads elsewhere without any text."""
        if tag == "input":
            if element.get("type", "").lower() == "image":
                self.add_picture(element)
        else:
            self.anchors.append(Anchor(element, element.get("href" if tag == "area" else "src"), len(self.blocks)))

    def close_anchor(self) -> None:
        anchor, self.anchor = self.anchor, None
        if anchor is not None:
            self.anchors.append(anchor)
            self.after_link = len(self.pieces)

    def read(self, text: str) -> None:
        self.pieces.append(text)
        if self.anchor is not None:
            self.anchor.pieces.append(text)
            self.linked += len(text.strip())

    def close_block(self) -> None:
        home, pieces = self.home, self.pieces
        tag = self.containers.tags[home]
        text = _lines("".join(pieces)) if tag == "pre" else fold_space(joined(pieces))
        if text:
            self.blocks.append(Block(text, tag, min(self.linked, len(text)), self.containers.elements[home]))
            self.homes.append(home)
            self.wraps.append(self.wrap)
        pieces.clear()
        self.linked = 0
        self.after_link = -1

    def add_picture(self, element: etree._Element) -> None:
        self.pictures.append(Picture(element, self.srcset, self.anchor, len(self.blocks)))
        self.srcset = ""
        if self.anchor is not None:
            self.anchor.pictured = True


class _Targets:
    def __init__(self, base: str) -> None:
        self.base = base
        self.links: list[Link] = []
        self.images: list[ImageLink] = []
        self.cut = 0
        self.known: dict[str, str | None] = {}
        self.led: dict[Anchor, tuple[str, str]] = {}
        """Where anchors with a picture lead, and their text."""

    def run(self, walked: Walked) -> Targets:
        for anchor in walked.anchors:
            self.add_link(anchor)
        for picture in walked.pictures:
            self.add_image(picture)
        return Targets(tuple(self.links), tuple(self.images), self.cut)

    def add_link(self, anchor: Anchor) -> None:
        url, element = self.address(anchor.href), anchor.element
        if not url and not anchor.pictured:
            return
        text = element.get("alt", "") if element.tag == "area" else "".join(anchor.pieces)
        text = fold_space(text) if text else ""
        if anchor.pictured:
            self.led[anchor] = url or "", text
        if url:
            rel, title = element.get("rel"), element.get("title")
            nofollow = rel is not None and "nofollow" in rel.lower().split()
            self.links.append(Link(url, text, fold_space(title) if title else "", nofollow, anchor.pictured, anchor.at))

    def address(self, href: str | None) -> str | None:
        """Where a link leads, None for a place on the same page."""
        if len(self.links) >= MAX_LINKS:
            self.cut += href is not None
            return None
        if not href or href[0] == "#":
            return None
        if href not in self.known:  # menus stand on a page twice
            self.known[href] = absolute(self.base, href) if href.strip()[:1] not in ("", "#") else None
        return self.known[href]

    def add_image(self, picture: Picture) -> None:
        if len(self.images) >= MAX_LINKS:
            self.cut += 1
            return
        element = picture.element
        url = _source(element, self.base, picture.srcset)
        if url is None:
            return
        target, anchor_text = self.led[picture.anchor] if picture.anchor is not None else ("", "")
        alt, title = fold_space(element.get("alt", "")), fold_space(element.get("title", ""))
        width, height = _size(element)
        self.images.append(ImageLink(url, target, alt, title, anchor_text, width, height, picture.at, element))


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def _source(element: etree._Element, base: str, srcset: str) -> str | None:
    """Address of the picture itself, where `src` often holds a stand-in until a script swaps it."""
    for href in _addresses({str(name): str(value) for name, value in element.items()}, srcset):
        if href and href.lstrip()[:5].lower() != "data:" and (url := absolute(base, href)):
            return url
    return None


def _addresses(given: dict[str, str], srcset: str) -> Iterator[str]:
    """Where a picture may be, the most telling first."""
    for name in LAZY:
        if name in given and ("." in given[name] or "/" in given[name]):
            yield given[name]
    yield _largest(given.get("data-srcset", ""))
    yield given.get("src", "")
    yield _largest(given.get("srcset", ""))
    yield _largest(srcset)


def _largest(srcset: str) -> str:
    """The candidate with the largest width or density of a `srcset`.

    >>> _largest("small.jpg 480w, big.jpg 1080w"), _largest("one.jpg, two.jpg 2x")
    ('big.jpg', 'two.jpg')
    """
    if not srcset:
        return ""
    best, best_size = "", 0.0
    srcset = srcset[:MAX_SRCSET]
    for candidate in SPACED.split(srcset) if SPACED.search(srcset) else srcset.split(","):
        url, descriptor = (*candidate.strip(", ").split(None, 1), "", "")[:2]
        size = DESCRIPTOR.match(descriptor)
        value = float(size[1]) if size else 1.0
        if url and value > best_size:
            best, best_size = url, value
    return best


def _size(element: etree._Element) -> tuple[int | None, int | None]:
    """Width and height in pixels, the style before the attributes, None where neither says."""
    style = element.get("style")
    styled = {name.lower(): int(value) for name, value in STYLE_SIZE.findall(str(style))} if style else {}
    return tuple(styled.get(name, _pixels(element.get(name))) for name in ("width", "height"))  # type: ignore[return-value]


def _pixels(value: str | None) -> int | None:
    match = PIXELS.match(value) if value else None
    return int(match[1]) if match else None
