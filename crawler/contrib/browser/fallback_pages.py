"""Recognizes the page that a single-page application shows for addresses that do not exist.

The server of such an application sends the same source for all addresses, called a frame here. The pages differ by
their paths, or by a route: a fragment such as `#/post/one`. The scripts of the frame show a page for any address. So
the frame is also rendered for a made-up address in the folder of the page in question. If the made-up address shows the
same text, and all links and images of the page, the page does not exist. Rendering the made-up address requests only
the data that the application looks up for this address. It is done only for pages with little text.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from urllib.parse import urlsplit

from crawler.page.missing_notice import is_longer_than_notices
from crawler.page.page import Extraction, Page
from crawler.page.text import fingerprint
from crawler.urls.address import address_of
from crawler.urls.parsing import route

MADE_UP = "no-such-page-7f3ac2"
"""The last part of a made-up address."""
MOST_MADE_UP = 5
"""Made-up addresses of a site that are rendered. There is one for each folder, as each may show a different page."""
MOST_FRAMES = 10_000
"""Sources of pages whose first path is remembered."""


@dataclass(frozen=True, slots=True)
class ShownParts:
    """The text, links and images that a page shows."""

    text: str | None
    """The fingerprint of its text; None if it has no letters or digits."""
    links: frozenset[str]
    """The links to other addresses."""
    images: frozenset[str]

    def are_among(self, other: ShownParts) -> bool:
        """Whether another page has the same text, and all these links and images."""
        return self.text == other.text and self.links <= other.links and self.images <= other.images


@dataclass
class FallbackPages:
    """The pages that applications show for addresses that do not exist, by site."""

    extract: Callable[[Page], Extraction]
    _frames: dict[tuple[str, bytes], str] = field(default_factory=dict)
    """The first path for which a source was sent, by site and digest of the source."""
    _parts_of_made_up: dict[str, ShownParts | None] = field(default_factory=dict)
    """What each made-up address shows; None if it could not be rendered."""
    _made_up_counts: Counter[str] = field(default_factory=Counter)
    """How many made-up addresses of each site were rendered."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a made-up address is rendered, so that pages of the same folder wait for it."""

    def note_frame(self, source: Page) -> bool:
        """Remember the source of a page; returns whether it is a frame: its page has a route, or another path of the
        site has the same source.
        """
        if route(source.url):
            return True
        path = urlsplit(source.url).path
        key = address_of(source.url).site, blake2b(source.body, digest_size=16).digest()
        if len(self._frames) < MOST_FRAMES:
            self._frames.setdefault(key, path)
        return self._frames.get(key, path) != path

    async def has(self, rendered: Page, render: Callable[[str], Awaitable[Page | None]]) -> bool:
        """Whether `rendered`, a page rendered from a frame, is the application's page for addresses that do not exist:
        it shows what a made-up address shows. `render` renders the frame at an address; it returns None if that fails.
        """
        text = rendered.once(self.extract).text
        url = made_up_address(rendered.url)
        if not url or is_longer_than_notices(text):
            return False
        site = address_of(url).site
        async with self._lock:
            if url not in self._parts_of_made_up and self._made_up_counts[site] < MOST_MADE_UP:
                self._made_up_counts[site] += 1
                made_up = await render(url)
                self._parts_of_made_up[url] = self._parts(made_up) if made_up is not None else None
        made_up_parts = self._parts_of_made_up.get(url)
        return made_up_parts is not None and self._parts(rendered).are_among(made_up_parts)

    def _parts(self, page: Page) -> ShownParts:
        links = frozenset(link.url for link in page.links if link.url != page.url)
        images = frozenset(image.url for image in page.images)
        return ShownParts(text=fingerprint(page.once(self.extract).text), links=links, images=images)


def made_up_address(url: str) -> str:
    """An address in the folder of a page, with a last part that no site has; empty for the first page of a host.

    >>> made_up_address("http://a.example/post/one/?v=2"), made_up_address("http://a.example/app/#/post/one")
    ('http://a.example/post/no-such-page-7f3ac2', 'http://a.example/app/#/post/no-such-page-7f3ac2')
    >>> made_up_address("http://a.example/?v=2")
    ''
    """
    document, _, _ = url.partition("#")
    page_route = route(url)
    if page_route:
        folder, _, _ = page_route.partition("?")[0].rstrip("/").rpartition("/")
        return f"{document}{folder}/{MADE_UP}"
    without_query = document.partition("?")[0].rstrip("/")
    if without_query.count("/") > len("//"):  # it has a path after the host
        return address_of(without_query).folder + MADE_UP
    return ""
