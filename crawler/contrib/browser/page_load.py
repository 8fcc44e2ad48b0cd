"""Renders one page: its source is given, the crawler fetches its parts, and the result of its scripts is returned."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.contrib.browser.chromium import BrowserError, Chromium
from crawler.contrib.browser.parts import PIXEL, PagePart, PartAnswer, PartCache, Treatment
from crawler.spiders.other_pages import RenderFault
from crawler.urls.address import address_of

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page

MOST_REQUESTS = 100
"""Parts of one page that are fetched."""
MOST_BYTES = 20_000_000
"""Bytes of them."""
FLOOD = 1_000
"""Requests of one page, refused ones included, after which it is given up."""
MOST_STORED = 10_000_000
"""Bytes that a page may keep in the databases and caches of its origin. They are in the memory of the browser, which
has no folder of its own."""
STABLE_SECONDS = 0.5
"""Seconds without a change after which a page is complete, if it waits for nothing."""
LOOK_SECONDS = 0.1
GRACE = 5.0
"""Seconds after the time of a page in which it must say what it is by then."""


class RenderError(Exception):
    """A page cannot be rendered."""

    def __init__(self, fault: RenderFault) -> None:
        super().__init__(str(fault))
        self.fault = fault


@dataclass(frozen=True)
class PageSource:
    """A page as its server sent it."""

    url: str
    body: bytes
    content_type: str
    policy: str = ""
    """Its Content-Security-Policy, which may forbid scripts."""
    is_public: bool = True
    """Whether it is from a public address."""


@dataclass(frozen=True)
class RenderOptions:
    """How pages are rendered."""

    seconds: float = 30.0
    """For one page; then it is taken as it is."""
    tabs: int = 4
    """Pages at the same time."""
    scrolls: int = 0
    """How often a page is scrolled to its end."""
    clicks_more: bool = False
    """Whether a button for more of a list or text is pressed."""
    most_characters: int = 10_000_000
    """The characters of a rendered page that are read; the rest is left out."""


class Renderer:
    """Renders pages, each in a tab of its own."""

    def __init__(self, chromium: Chromium, parts: PartCache, options: RenderOptions) -> None:
        self.chromium = chromium
        self.parts = parts
        self.options = options
        self._tabs = asyncio.Semaphore(options.tabs)
        self._repeating = asyncio.Lock()

    async def render(self, source: PageSource) -> str:
        """The page as HTML after its scripts have run; raises a RenderError.

        When a browser ends, nobody knows which of its pages is the cause. Each is rendered once more, one at a time.
        """
        html = await self._attempt(source)
        if html is None:
            async with self._repeating:
                html = await self._attempt(source)
        if html is None:
            raise RenderError(RenderFault.CRASHED)
        return html

    async def _attempt(self, source: PageSource) -> str | None:
        """The page after its scripts have run; None if the browser has ended meanwhile."""
        async with self._tabs:
            try:
                async with self.chromium.tab() as context:
                    return await PageLoad(context, source, self.parts, self.options).html()
            except BrowserError:
                raise RenderError(RenderFault.NO_BROWSER) from None
            except RenderError:
                raise
            except Exception:  # Playwright has errors of many kinds for a browser that has ended
                return None


@cache
def page_functions() -> str:
    """The source of what is asked of a page."""
    return Path(__file__).with_name("page_functions.js").read_text(encoding="utf-8")


@dataclass
class PageLoad:
    """One page in its tab."""

    context: BrowserContext
    source: PageSource
    parts: PartCache
    options: RenderOptions
    is_given: bool = False
    """Whether the browser has the source."""
    is_over: bool = False
    pending: int = 0
    """Parts that are being fetched."""
    asked: int = 0
    fetched: int = 0
    size: int = 0
    """Bytes of the parts."""
    requested_urls: set[str] = field(default_factory=set)
    foreign_hosts: set[str] = field(default_factory=set)
    """The hosts of other sites that were requested for it."""
    _answering: set[asyncio.Task[None]] = field(default_factory=set)
    _fault: asyncio.Future[RenderFault] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def html(self) -> str:
        """The page after its scripts have run."""
        page = await self.context.new_page()
        page.on("crash", lambda _: self._fail(RenderFault.CRASHED))
        self.context.on("page", self._close_window)
        session = await self._intercepting_session(page)
        limit = self.options.seconds + GRACE
        working = asyncio.ensure_future(self._work(page, session))
        try:
            await asyncio.wait((working, self._fault), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if self._fault.done():
                raise RenderError(self._fault.result())
            if not working.done():
                raise RenderError(RenderFault.ENDLESS)
            return working.result()
        finally:
            self.is_over = True
            working.add_done_callback(lambda done: done.cancelled() or done.exception())
            for task in (working, *self._answering):
                task.cancel()

    async def _intercepting_session(self, page: Page) -> CDPSession:
        """A session of the page in which each of its requests waits for an answer."""
        session = await self.context.new_cdp_session(page)
        session.on("Fetch.requestPaused", lambda event: self._begin_answer(PausedRequest(session, event)))
        await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        await session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        quota = {"origin": address_of(self.source.url).origin, "quotaSize": MOST_STORED}
        await session.send("Storage.overrideQuotaForOrigin", quota)
        return session

    async def _work(self, page: Page, session: CDPSession) -> str:
        end = asyncio.get_running_loop().time() + self.options.seconds
        await page.goto(self.source.url, wait_until="commit", timeout=1_000 * (self.options.seconds + GRACE))
        world = await _world(session)
        await self._settle(world, end)
        for _ in range(self.options.scrolls):
            await world.call("scroll()")
            await self._settle(world, end)
        if self.options.clicks_more and await world.call("clickMore()"):
            await self._settle(world, end)
        return str(await world.call(f"serialize({self.options.most_characters})"))

    async def _settle(self, world: World, end: float) -> None:
        """Wait until the page waits for nothing and does not change any more, or its time is up."""
        now = asyncio.get_running_loop().time
        last = None
        since = now()
        while now() < end:
            await asyncio.sleep(LOOK_SECONDS)
            seen = await world.call("measure()")
            if self.pending or seen != last or not seen[1]:
                last = seen
                since = now()
            elif now() - since >= STABLE_SECONDS:
                return

    def _begin_answer(self, request: PausedRequest) -> None:
        """Answer a request of the page, unless it is over."""
        if self.is_over:
            return
        self._count_request()
        answering = asyncio.ensure_future(self._answer(request))
        self._answering.add(answering)
        answering.add_done_callback(self._end_answer)

    def _end_answer(self, answering: asyncio.Task[None]) -> None:
        self._answering.discard(answering)
        if not answering.cancelled():
            answering.exception()  # the page does not wait for the answer any more

    async def _answer(self, request: PausedRequest) -> None:
        if request.is_navigation:
            await self._navigate(request)
            return
        part = request.part(self.source, self.foreign_hosts, is_repeated=request.url in self.requested_urls)
        self.requested_urls.add(request.url)
        match part.treatment:
            case Treatment.EMPTY:
                await request.fulfill(PartAnswer(200, {"content-type": "text/css"}, b""))
            case Treatment.PIXEL:
                await request.fulfill(PartAnswer(200, {"content-type": "image/gif"}, PIXEL))
            case Treatment.FETCH:
                await self._fetch(request, part)
            case _:
                await request.fail()

    async def _navigate(self, request: PausedRequest) -> None:
        """Give the browser the source; the page must not leave its address, and gets no frames."""
        if self.is_given:
            await request.fail("Aborted")  # any other error would replace the page by one of the browser
            return
        self.is_given = True
        headers = {"content-type": self.source.content_type or "text/html"}
        headers |= {"content-security-policy": self.source.policy} if self.source.policy else {}
        await request.fulfill(PartAnswer(200, headers, self.source.body))

    async def _fetch(self, request: PausedRequest, part: PagePart) -> None:
        if self.fetched >= MOST_REQUESTS or self.size > MOST_BYTES:
            await request.fail()
            return
        self.fetched += 1
        self.pending += 1
        try:
            answer = await self.parts.get(part)
            if answer is None:
                await request.fail()
                return
            self.size += len(answer.body)
            await request.fulfill(PartAnswer(answer.status, answer.passed_headers, answer.body))
        finally:
            self.pending -= 1

    async def _close_window(self, window: Page) -> None:
        """Close a window that the page opens."""
        self._count_request()
        await _quietly(window.close())

    def _count_request(self) -> None:
        self.asked += 1
        if self.asked > FLOOD:
            self._fail(RenderFault.FLOOD)

    def _fail(self, fault: RenderFault) -> None:
        if not self._fault.done():
            self._fault.set_result(fault)


@dataclass(frozen=True)
class PausedRequest:
    """A request that waits in the browser: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/.

    The browser itself checks which answers from other origins a page may read, and sends preflights for it. Routes of
    Playwright would allow everything: they add the headers of CORS to each answer that lacks them.
    """

    session: CDPSession
    event: Mapping[str, Any]

    @property
    def is_navigation(self) -> bool:
        """Whether its answer would be a document, in the tab or in a frame."""
        return bool(self.event["resourceType"] == "Document")

    @property
    def url(self) -> str:
        return str(self.event["request"]["url"])

    def part(self, source: PageSource, foreign_hosts: set[str], *, is_repeated: bool) -> PagePart:
        """What is requested for a page."""
        request = self.event["request"]
        headers = {name.lower(): value for name, value in request["headers"].items()}
        return PagePart(
            url=self.url,
            page=source.url,
            kind=self._kind(headers),
            method=request["method"],
            headers=headers,
            body=b"".join(b64decode(entry.get("bytes", "")) for entry in request.get("postDataEntries", ())),
            is_of_public_page=source.is_public,
            is_repeated=is_repeated,
            foreign_hosts=foreign_hosts,
        )

    def _kind(self, headers: Mapping[str, str]) -> str:
        """What it is loaded as; to Chromium, prefetched pages and streams of events are data like any other."""
        if "prefetch" in headers.get("sec-purpose", headers.get("purpose", "")):
            return "prefetch"
        if headers.get("accept") == "text/event-stream":
            return "eventsource"
        return str(self.event["resourceType"]).lower()

    async def fulfill(self, answer: PartAnswer) -> None:
        """Give the browser an answer."""
        parameters = {
            "requestId": self.event["requestId"],
            "responseCode": answer.status,
            "responseHeaders": [{"name": name, "value": value} for name, value in answer.headers.items()],
            "body": b64encode(answer.body).decode(),
        }
        await self.session.send("Fetch.fulfillRequest", parameters)

    async def fail(self, reason: str = "Failed") -> None:
        """Let the request fail."""
        await self.session.send("Fetch.failRequest", {"requestId": self.event["requestId"], "errorReason": reason})


@dataclass(frozen=True)
class World:
    """A world of JavaScript beside that of the page: the same elements, but functions that the page cannot replace."""

    session: CDPSession
    id: int

    async def call(self, expression: str) -> Any:
        """The value of one of the functions in `page_functions.js`."""
        return await self._evaluate(f"winnow.{expression}")

    async def _evaluate(self, expression: str) -> Any:
        parameters = {"expression": expression, "contextId": self.id, "returnByValue": True}
        answer = await self.session.send("Runtime.evaluate", parameters)
        if "exceptionDetails" in answer:
            raise RenderError(RenderFault.CRASHED)
        return answer["result"].get("value")


async def _world(session: CDPSession) -> World:
    tree = await session.send("Page.getFrameTree")
    frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "winnow"}
    created = await session.send("Page.createIsolatedWorld", frame)
    world = World(session, created["executionContextId"])
    await world._evaluate(f"{page_functions()};0")
    return world


async def _quietly(closing: Awaitable[None]) -> None:
    try:
        await closing
    except Exception:
        return
