"""Recognises what an application shows for an address that does not exist, where its server sends one frame for all.

The source of a page is a frame if the server sends the very same for another path, or if routes are fragments. In a
browser, such a frame shows the page of any address. So it is rendered once more for an address that no site has, beside
the page in question: a page with the same text and no further links and images is not there. Only the data that the
application then looks for in vain is requested, and only where a page has little text.
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
"""The last part of an address that no site has."""
MOST_TRIALS = 5
"""Made-up addresses of a site; each of its folders may show something else."""
MOST_FRAMES = 10_000
"""Sources that are remembered."""


@dataclass(frozen=True, slots=True)
class ShownParts:
    """What a page shows."""

    text: str | None
    """The fingerprint of its text."""
    links: frozenset[str]
    """Without those to the page itself."""
    images: frozenset[str]

    def are_among(self, other: ShownParts) -> bool:
        """Whether another page has the same text, and all the links and images."""
        return self.text == other.text and self.links <= other.links and self.images <= other.images


@dataclass
class FallbackPages:
    """What applications show for addresses that do not exist."""

    extract: Callable[[Page], Extraction]
    _frames: dict[tuple[str, bytes], str] = field(default_factory=dict)
    """By site and digest of a source, the first path for which it was sent."""
    _shown: dict[str, ShownParts | None] = field(default_factory=dict)
    """What made-up addresses show; None where that is not known."""
    _trials: Counter[str] = field(default_factory=Counter)
    """The made-up addresses of each site."""
    _trying: asyncio.Lock = field(default_factory=asyncio.Lock)

    def is_frame(self, source: Page) -> bool:
        """Whether the source of a page is known to be that of other pages as well; it is remembered."""
        if route(source.url):
            return True
        path = urlsplit(source.url).path
        key = address_of(source.url).site, blake2b(source.body, digest_size=16).digest()
        if len(self._frames) < MOST_FRAMES:
            self._frames.setdefault(key, path)
        return self._frames.get(key, path) != path

    async def has(self, shown: Page, render: Callable[[str], Awaitable[Page | None]]) -> bool:
        """Whether a page that was made from a frame shows what a made-up address shows."""
        text = shown.once(self.extract).text
        url = made_up_address(shown.url)
        if not url or is_longer_than_notices(text):
            return False
        async with self._trying:
            if url not in self._shown and self._trials[address_of(url).site] < MOST_TRIALS:
                self._trials[address_of(url).site] += 1
                made_up = await render(url)
                self._shown[url] = self._parts(made_up) if made_up is not None else None
        of_made_up = self._shown.get(url)
        return of_made_up is not None and self._parts(shown).are_among(of_made_up)

    def _parts(self, page: Page) -> ShownParts:
        links = frozenset(link.url for link in page.links if link.url != page.url)
        images = frozenset(image.url for image in page.images)
        return ShownParts(text=fingerprint(page.once(self.extract).text), links=links, images=images)


def made_up_address(url: str) -> str:
    """An address beside that of a page, of a page that no site has; empty for the first page of a host.

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
