"""The links and images of a page, with absolute addresses.

Some applications keep the position on a page in a parameter, not in a fragment: each heading links to its own id.

    <h2 id="hooks"><a href="/manual?id=hooks">Hooks</a></h2>

Such a parameter does not identify a page, so it is removed from links. Other applications find the page by a route, a
fragment such as `#/manual`. On a page that a browser has rendered, routes are part of the links' addresses; on other
pages they are only recorded, in `PageTargets.routes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from urllib.parse import parse_qsl

from lxml import etree

from crawler.page.blocks import ANCHORED, INLINE, ImageElement, LinkElement, PageContents
from crawler.page.text import fold_space
from crawler.urls.address import address_of
from crawler.urls.canonical import Canonical
from crawler.urls.parsing import ROUTES, absolute, route

# Attributes in which lazy-loading pages keep the address of an image, the most reliable first.
LAZY = (
    "data-src data-original data-lazy-src data-lazy data-lazyload data-original-src data-actualsrc data-echo data-url "
    "data-hi-res-src data-full-src data-img-src real_src zoomfile file"
).split()
# The most links that are read from a page, and the most images. No page written for people has more.
MAX_LINKS = 10_000
# Characters of all absolute addresses, each counted once: a long base address lengthens every relative one.
MAX_CHARACTERS = 2_000_000
MAX_SRCSET = 20_000  # characters
# Possessive quantifiers, because others would divide long white space in all possible ways.
# https://html.spec.whatwg.org/multipage/common-microsyntaxes.html#rules-for-parsing-dimension-values
PIXELS = re.compile(r"\s*+(\d{1,5})(?:\.\d+)?+\s*+(?:px)?+\s*+$")
SPACED = re.compile(r",\s+")
DESCRIPTOR = re.compile(r"(\d+(?:\.\d+)?)[wx]")
STYLE_SIZE = re.compile(r"(?:^|[;\s])(width|height)\s*:\s*(\d{1,5})(?:\.\d+)?\s*px", re.IGNORECASE)


MOST_PARAMETERS = 20
"""Parameters of a link from a heading to itself; links with more are not examined."""
MOST_LEVELS = 20
"""Elements around a link among which a heading is looked for."""
LEAST_SELF_LINKS = 5
"""If at least this many headings, and at least half of the headings with links, link to themselves by a parameter, each
of its values counts as a position on the page, even one that is not an id on it.
"""


@dataclass(slots=True)
class Link:
    """A link to another page."""

    url: str
    text: str
    title: str
    nofollow: bool
    has_image: bool
    """Whether there is an image in the link."""
    at: int
    """Index of the link's block, or of the next block if the link has no text."""
    _: KW_ONLY
    its_class: str = ""
    """The first class of the link's element or, if it has no class, of the element around it."""


@dataclass(slots=True)
class ImageLink:
    """An image on a page, and the link around it if there is one."""

    url: str
    target: str
    """The address that the image links to, or an empty string."""
    alt: str
    title: str
    anchor_text: str
    width: int | None
    height: int | None
    at: int
    """Index of its block, or of the next block."""
    element: etree._Element


@dataclass(frozen=True, slots=True)
class PageTargets:
    """The links and images of a page."""

    links: tuple[Link, ...]
    images: tuple[ImageLink, ...]
    cut: int
    """How many links and images were not read because there are too many."""
    routes: frozenset[str]
    """The addresses of links that differ from the page's address only in their route. Empty if the page is rendered:
    then these addresses are among `links`.
    """


def targets(contents: PageContents, base: str, url: str, reads_routes: bool) -> PageTargets:
    """The links and images of the page at `url`, with addresses made absolute from `base`. `reads_routes` is true for a
    rendered page, where routes are part of the addresses.
    """
    return _TargetReader(base, url, reads_routes).run(contents)


class _TargetReader:
    def __init__(self, base: str, url: str, reads_routes: bool) -> None:
        self.base = base
        self.url = url
        self.own_url = url.partition("#")[0]
        """The address of the page without a fragment."""
        self.reads_routes = reads_routes
        self.routes: set[str] = set()
        self.positions: _Positions | None = None
        """Removes the parameter that keeps the position; None if the page has no such parameter."""
        self.links: list[Link] = []
        self.images: list[ImageLink] = []
        self.cut = 0
        """How many links and images were not read because there are too many."""
        self.characters = 0
        """Characters of the absolute addresses so far."""
        self._absolute_urls: dict[str, str | None] = {}
        self.image_anchors: dict[LinkElement, tuple[str, str]] = {}
        """The target and the text of each link with an image."""

    def run(self, contents: PageContents) -> PageTargets:
        # The headings decide first whether the page keeps the position in a parameter.
        headings = list(self.linked_headings(contents.link_elements))
        name = self.position_parameter(headings)
        if name:
            root = contents.containers.elements[0]
            self.positions = _Positions(self.url, name, root, headings)
        for anchor in contents.link_elements:
            self.add_link(anchor)
        for image in contents.image_elements[:MAX_LINKS]:
            self.add_image(image)
        self.cut += max(0, len(contents.image_elements) - MAX_LINKS)
        return PageTargets(
            links=tuple(self.links), images=tuple(self.images), cut=self.cut, routes=frozenset(self.routes)
        )

    def add_link(self, anchor: LinkElement) -> None:
        """Add an element as a link if it leads to another page. Its target is also remembered for the images in it."""
        url = self.counted_target(anchor.href)
        element = anchor.element
        if not url and not anchor.has_image:
            return

        text = element.get("alt", "") if element.tag == "area" else "".join(anchor.pieces)
        text = fold_space(text) if text else ""
        if anchor.has_image:
            self.image_anchors[anchor] = url or "", text

        if url:
            rel = element.get("rel")
            title = element.get("title")
            link = Link(
                url=url,
                text=text,
                title=fold_space(title) if title else "",
                nofollow=rel is not None and "nofollow" in rel.lower().split(),
                has_image=anchor.has_image,
                at=anchor.at,
                its_class=_class_of(element),
            )
            self.links.append(link)

    def linked_headings(self, anchors: Iterable[LinkElement]) -> Iterator[_LinkedHeading]:
        """The links in headings that have an id, if they lead to this page and have parameters."""
        path = self.url.partition("?")[0]
        for anchor in anchors:
            href = anchor.href or ""
            if "?" not in href or href.count("&") >= MOST_PARAMETERS:
                continue
            ids = _heading_ids(anchor.element)
            if not ids:
                continue
            url = self.page_address(href)
            if url is not None and url.partition("?")[0] == path:
                yield _LinkedHeading(ids=frozenset(ids), parameters=tuple(parse_qsl(url.partition("?")[2])))

    def position_parameter(self, headings: Iterable[_LinkedHeading]) -> str:
        """The name of the parameter by which a heading of the page links to itself; empty if there is none. The link's
        other parameters must be the page's.
        """
        page_parameters = parse_qsl(self.url.partition("?")[2])
        for heading in headings:
            for name, value in heading.parameters:
                if value not in heading.ids:
                    continue
                if _without_parameter(heading.parameters, name) == _without_parameter(page_parameters, name):
                    return name
        return ""

    def counted_target(self, href: str | None) -> str | None:
        """The absolute address that a link leads to; None for a position on this page. Beyond the limits it is None for
        any link, and the link is counted in `cut`.
        """
        if len(self.links) >= MAX_LINKS or self.characters >= MAX_CHARACTERS:
            if href is not None:
                self.cut += 1
            return None
        url = self.page_address(href) if href else None
        if url and self.positions is not None:
            return self.positions.page_of(url)
        return url

    def page_address(self, href: str) -> str | None:
        """The absolute address that a link leads to, None if it is not http or https. A fragment alone is a position on
        this page and gives None, except for a route if `reads_routes`.

        Without `reads_routes`, routes of this page are only recorded: `#/x` gives None, `page#/x` the page's address.
        """
        stripped = href.strip()
        is_fragment = stripped[:1] in ("", "#")
        if is_fragment and not stripped.startswith(ROUTES):
            return None

        url = self.absolute(href)
        own_route = route(stripped) if url == self.own_url and "#" in stripped else ""
        if own_route and self.reads_routes:
            return self.own_url + own_route
        if own_route:
            self.routes.add(self.own_url + own_route)
            self.characters += len(self.own_url + own_route)
        if is_fragment and not self.reads_routes:
            return None
        return url

    def absolute(self, href: str) -> str | None:
        """The absolute address without its fragment; each spelling is resolved once."""
        if href not in self._absolute_urls:
            self._absolute_urls[href] = absolute_url = absolute(self.base, href)
            self.characters += len(absolute_url or "")
        return self._absolute_urls[href]

    def add_image(self, image: ImageElement) -> None:
        """Add an image with the first of its possible addresses that is valid."""
        if self.characters >= MAX_CHARACTERS:
            self.cut += 1
            return
        element = image.element
        url = next(filter(None, map(self.absolute, _addresses(image))), None)
        if url is None:
            return

        target = ""
        anchor_text = ""
        if image.anchor is not None:
            target, anchor_text = self.image_anchors[image.anchor]
        alt = fold_space(element.get("alt", ""))
        title = fold_space(element.get("title", ""))
        width, height = _size(element)
        self.images.append(
            ImageLink(
                url=url,
                target=target,
                alt=alt,
                title=title,
                anchor_text=anchor_text,
                width=width,
                height=height,
                at=image.at,
                element=element,
            )
        )


@dataclass(frozen=True, slots=True)
class _LinkedHeading:
    """A link with parameters from a heading to its own page."""

    ids: frozenset[str]
    """The ids of the heading, of the link and of the elements between them."""
    parameters: tuple[tuple[str, str], ...]

    def values(self, name: str) -> set[str]:
        """The values of a parameter."""
        return {value for parameter, value in self.parameters if parameter == name}


class _Positions:
    """Removes the parameter `name`, which keeps the position on a page, from links of the page at `url`. `root` is the
    page's tree.
    """

    def __init__(self, url: str, name: str, root: etree._Element, headings: Sequence[_LinkedHeading]) -> None:
        self.origin = address_of(url).origin
        self.name = name
        self.without_position = Canonical([re.escape(name)])
        """Removes the parameter from an address."""
        self.own_page = self.without_position(url)
        self.ids = {element.get("id", "").casefold() for element in root.iter() if element.get("id")}
        with_links = {heading.ids for heading in headings}
        with_self_links = {heading.ids for heading in headings if heading.values(name) & heading.ids}
        self.is_always_position = len(with_self_links) >= max(LEAST_SELF_LINKS, len(with_links) / 2)
        """Whether every value of the parameter is a position on this page (`LEAST_SELF_LINKS`)."""

    def page_of(self, url: str) -> str | None:
        """The address of another page, without the parameter if it keeps a position there; None for a position on this
        page.
        """
        if "?" not in url or address_of(url).origin != self.origin:
            return url
        page = self.without_position(url)
        if page != self.own_page:
            return page
        if self.is_always_position:
            return None
        # A value that is an id on this page, ignoring case, is a position. Another value may name another page.
        values = [value.casefold() for name, value in parse_qsl(url.partition("?")[2]) if name == self.name]
        return None if self.ids.issuperset(values) else url


def _without_parameter(parameters: Iterable[tuple[str, str]], name: str) -> list[tuple[str, str]]:
    return [parameter for parameter in parameters if parameter[0] != name]


def _heading_ids(anchor: etree._Element) -> set[str]:
    """The ids of a link, of the heading around it and of the elements between them; none if it is in no heading."""
    ids = {anchor.get("id")}
    for element in islice(anchor.iterancestors(), MOST_LEVELS):
        ids.add(element.get("id"))
        if element.tag in ANCHORED:
            return {name for name in ids if name}
        if element.tag not in INLINE:
            break
    return set()


def _class_of(element: etree._Element) -> str:
    """The first class of a link, or else of the element around it; empty if neither has one."""
    classes = element.get("class")
    if not classes:
        parent = element.getparent()
        classes = parent.get("class") if parent is not None else None
    if classes:
        return (classes.split(None, 1) or [""])[0]
    return ""


def _addresses(image: ImageElement) -> Iterator[str]:
    """Possible addresses of an image, the most reliable first."""
    attributes = {str(name): str(value) for name, value in image.element.items()}
    for href in _stated_addresses(attributes, image.srcset):
        if href and href.lstrip()[:5].lower() != "data:":
            yield href


def _stated_addresses(attributes: dict[str, str], srcset: str) -> Iterator[str]:
    """The addresses of an image as its attributes have them, the most reliable first; some are empty. `src` comes late:
    it often has a placeholder until a script replaces it.
    """
    # A lazy-loading attribute may also contain a number or a flag.
    for name in LAZY:
        if name in attributes and ("." in attributes[name] or "/" in attributes[name]):
            yield attributes[name]
    yield _largest(attributes.get("data-srcset", ""))
    yield attributes.get("src", "")
    yield _largest(attributes.get("srcset", ""))
    yield _largest(srcset)


def _largest(srcset: str) -> str:
    """The address in a `srcset` with the largest width or density.

    https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute

    >>> _largest("small.jpg 480w, big.jpg 1080w"), _largest("one.jpg, two.jpg 2x")
    ('big.jpg', 'two.jpg')
    """
    if not srcset:
        return ""
    best = ""
    best_size = 0.0
    srcset = srcset[:MAX_SRCSET]
    # Addresses may contain commas, so only a comma before white space separates candidates. If there is no such comma,
    # any comma does.
    candidates = SPACED.split(srcset)
    if len(candidates) == 1:
        candidates = srcset.split(",")
    for candidate in candidates:
        url, *descriptors = candidate.strip(", ").split(None, 1) or [""]
        size_match = DESCRIPTOR.match(descriptors[0]) if descriptors else None
        size = float(size_match[1]) if size_match else 1.0
        if url and size > best_size:
            best = url
            best_size = size
    return best


def _size(element: etree._Element) -> tuple[int | None, int | None]:
    """Width and height in pixels, from the style or else from the attributes; None if neither gives them."""
    style = element.get("style")
    styled: dict[str, int] = {}
    if style:
        styled = {name.lower(): int(value) for name, value in STYLE_SIZE.findall(str(style))}
    width = styled.get("width", _pixels(element.get("width")))
    height = styled.get("height", _pixels(element.get("height")))
    return width, height


def _pixels(value: str | None) -> int | None:
    match = PIXELS.match(value) if value else None
    return int(match[1]) if match else None
