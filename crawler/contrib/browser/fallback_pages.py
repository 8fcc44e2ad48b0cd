"""Recognizes the page that a single-page application shows for addresses that do not exist.

The server of such an application sends the same source, called a frame here, for all paths, or its routes are fragments
of one address. In a browser, the frame shows the page of any address. So it is also rendered for a made-up address in
the folder of the page in question: if that shows the same text, and all its links and images, the page does not exist.
This requests only the data that the application looks up for the made-up address, and is done only for pages with
little text.
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
MOST_TRIALS = 5
"""Made-up addresses of a site that are tried; each folder may show a different page."""
MOST_FRAMES = 10_000
"""Sources whose first path is remembered."""


@dataclass(frozen=True, slots=True)
class ShownParts:
    """The text, links and images that a page shows."""

    text: str | None
    """The fingerprint of its text."""
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
    _shown: dict[str, ShownParts | None] = field(default_factory=dict)
    """What each made-up address shows; None if it could not be rendered."""
    _trials: Counter[str] = field(default_factory=Counter)
    """How many made-up addresses of each site were tried."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def note_frame(self, source: Page) -> bool:
        """Remember the source of a page; returns whether it is known to be the source of other pages as well."""
        if route(source.url):
            return True
        path = urlsplit(source.url).path
        key = address_of(source.url).site, blake2b(source.body, digest_size=16).digest()
        if len(self._frames) < MOST_FRAMES:
            self._frames.setdefault(key, path)
        return self._frames.get(key, path) != path

    async def has(self, shown: Page, render: Callable[[str], Awaitable[Page | None]]) -> bool:
        """Whether a page that was rendered from a frame shows what a made-up address shows."""
        text = shown.once(self.extract).text
        url = made_up_address(shown.url)
        if not url or is_longer_than_notices(text):
            return False
        async with self._lock:
            if url not in self._shown and self._trials[address_of(url).site] < MOST_TRIALS:
                self._trials[address_of(url).site] += 1
                made_up = await render(url)
                self._shown[url] = self._parts(made_up) if made_up is not None else None
        made_up_parts = self._shown.get(url)
        return made_up_parts is not None and self._parts(shown).are_among(made_up_parts)

    def _parts(self, page: Page) -> ShownParts:
        links = frozenset(link.url for link in page.links if link.url != page.url)
        images = frozenset(image.url for image in page.images)
        return ShownParts(text=fingerprint(page.once(self.extract).text), links=links, images=images)


def made_up_address(url: str) -> str:
    """An address in the folder of a page that does not exist on any site; empty for the first page of a host.

    >>> made_up_address("http://a.example/post/one/?v=2"), made_up_address("http://a.example/app/#/post/one")
    ('http://a.example/post/no-such-page-7f3ac2', 'http://a.example/app/#/post/no-such-page-7f3ac2')
    >>> made_up_address("http://a.example/?v=2")
    ''
    """
    document, _, _ = url.partition("#")
    name = route(url)
    if name:
        return f"{document}{name.partition('?')[0].rstrip('/').rpartition('/')[0]}/{MADE_UP}"
    path = document.partition("?")[0].rstrip("/")
    if path.count("/") > len("//"):
        return address_of(path).folder + MADE_UP
    return ""
