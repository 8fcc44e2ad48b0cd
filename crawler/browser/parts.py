"""The parts of a page that its browser asks for: which are fetched, and the answers that are remembered."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from crawler.urls.parsing import site

PIXEL = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c000000000100010000020144003b")
"""A transparent GIF image of one pixel."""
SCRIPTS, DATA = frozenset(("script",)), frozenset(("xhr", "fetch"))
MOST_POSTED = 64_000
"""Bytes; what a page sends to ask for data is smaller."""
MOST_KEPT = 64_000_000
"""Bytes of answers that are remembered."""
WEIGHT = 500
"""Bytes that each of them counts for in addition."""
SENT_HEADERS = frozenset("accept authorization content-type x-requested-with referer origin x-csrf-token".split())
"""Headers of a page's scripts that are sent, beside those whose names begin with `x-`."""
MOST_HEADER = 4_000
PASSED_HEADERS = ("content-type", "access-control-")
"""Beginnings of the names of headers that a page gets to see: what allows scripts to read an answer."""


class Treatment(Enum):
    """What happens to a request for a part of a page."""

    FETCH = "fetch"
    EMPTY = "empty"
    """It is answered with nothing."""
    PIXEL = "pixel"
    REFUSE = "refuse"


@dataclass(frozen=True)
class Part:
    """A request for a part of a page."""

    url: str
    page: str
    """The address of the page."""
    kind: str
    """What it is loaded as: script, fetch, image and so on."""
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def treatment(self) -> Treatment:
        """How the request is treated; only scripts and data are fetched.

        >>> Part("https://a.example/x", "https://b.example/", "fetch", "POST").treatment
        <Treatment.REFUSE: 'refuse'>
        """
        if self.kind == "stylesheet":
            return Treatment.EMPTY
        if self.kind == "image":
            return Treatment.PIXEL
        if not self.url.startswith(("http://", "https://")):
            return Treatment.REFUSE
        if self.method == "GET" and self.kind in SCRIPTS | DATA:
            return Treatment.FETCH
        is_own = site(self.url) == site(self.page)
        if self.method == "POST" and self.kind in DATA and is_own and len(self.body) <= MOST_POSTED:
            return Treatment.FETCH
        return Treatment.REFUSE

    @property
    def sent_headers(self) -> dict[str, str]:
        """Those of its headers that are sent."""
        return {
            name: value
            for name, value in self.headers.items()
            if (name in SENT_HEADERS or name.startswith("x-")) and len(value) <= MOST_HEADER
        }


@dataclass(frozen=True)
class PartAnswer:
    """The answer to a request for a part."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def passed_headers(self) -> dict[str, str]:
        """Those of its headers that the page gets."""
        return {name: value for name, value in self.headers.items() if name.startswith(PASSED_HEADERS)}

    @property
    def may_be_kept(self) -> bool:
        """Whether the same address may be answered with it again."""
        return self.status == 200 and "no-store" not in self.headers.get("cache-control", "")


Fetch = Callable[[Part], Awaitable[PartAnswer | None]]
"""Fetches a part; returns None if it is refused or fails."""


class PartCache:
    """Scripts and data by their addresses, so that the pages of a site cost few requests; the least recently used are
    dropped.
    """

    def __init__(self, fetch: Fetch, most: int = MOST_KEPT) -> None:
        self._fetch, self.most = fetch, most
        self.weight = 0
        self._kept: OrderedDict[str, PartAnswer] = OrderedDict()
        self._asked: dict[str, asyncio.Task[PartAnswer | None]] = {}

    async def get(self, part: Part) -> PartAnswer | None:
        """The answer to a request, sent once for all pages that ask for the same at the same time."""
        if part.method != "GET" or "authorization" in part.headers:
            return await self._fetch(part)
        if part.url in self._kept:
            self._kept.move_to_end(part.url)
            return self._kept[part.url]
        if part.url not in self._asked:
            self._asked[part.url] = asyncio.ensure_future(self._ask(part))
        return await asyncio.shield(self._asked[part.url])

    async def _ask(self, part: Part) -> PartAnswer | None:
        try:
            answer = await self._fetch(part)
        finally:
            del self._asked[part.url]
        if answer is not None and answer.may_be_kept and len(answer.body) < self.most // 4:
            self._kept[part.url] = answer
            self.weight += len(answer.body) + WEIGHT
            while self.weight > self.most:
                _, dropped = self._kept.popitem(last=False)
                self.weight -= len(dropped.body) + WEIGHT
        return answer
