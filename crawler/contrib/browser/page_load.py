"""Renders a page: the browser gets its source, the crawler fetches its parts, and the resulting HTML is returned.

The browser pauses each request of the page. The first request, for the page itself, is answered with its source; other
requests are for parts, and are answered according to the kind of part (.parts). The page is complete when it has
stopped changing and waits for no part. Then it is scrolled and clicked, as the options say, and written as HTML.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.contrib.browser.chromium import BrowserError, Chromium
from crawler.contrib.browser.parts import PIXEL, PagePart, PartAnswer, PartCache, Treatment
from crawler.spiders.document_and_browser_interfaces import RenderFault
from crawler.urls.address import address_of

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page

MOST_REQUESTS = 100
"""The most parts of a page that are fetched."""
MOST_BYTES = 20_000_000
"""When the fetched parts of a page have more bytes than this, no further part is fetched."""
FLOOD = 1_000
"""Requests of a page, including refused ones, after which the page fails."""
MOST_STORED = 10_000_000
"""The most bytes that a page may store in the databases and caches of its origin, which the browser keeps in memory."""
STABLE_SECONDS = 0.5
"""Time without changes after which a page counts as complete if it waits for no part."""
MEASURE_SECONDS = 0.1
"""The interval at which a page is measured, to notice when it stops changing."""
GRACE_SECONDS = 5.0
"""Time after the time limit of a page within which its HTML must be returned."""


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
    """Whether it was fetched from a public IP address."""


@dataclass(frozen=True)
class RenderOptions:
    """How pages are rendered."""

    seconds: float = 30.0
    """Time limit of a page, after which its HTML is read as it is."""
    tabs: int = 4
    """Pages that are rendered at the same time."""
    scrolls: int = 0
    """How often a page is scrolled to its end."""
    clicks_more: bool = False
    """Whether a button that shows more of a list or a text is clicked."""
    most_characters: int = 10_000_000
    """Characters of a rendered page after which it is cut."""


class Renderer:
    """Renders pages, each in a separate tab."""

    def __init__(self, chromium: Chromium, parts: PartCache, options: RenderOptions) -> None:
        self.chromium = chromium
        self.parts = parts
        self.options = options
        self._tabs = asyncio.Semaphore(options.tabs)
        self._second_attempt = asyncio.Lock()

    async def render(self, source: PageSource) -> str:
        """The HTML of a page after its scripts have run; raises a RenderError.

        When a browser crashes, all its open pages are lost, and the page that caused the crash is not known. So each
        lost page is rendered once more, one at a time.
        """
        html = await self._attempt(source)
        if html is None:
            async with self._second_attempt:
                html = await self._attempt(source)
        if html is None:
            raise RenderError(RenderFault.CRASHED)
        return html

    async def _attempt(self, source: PageSource) -> str | None:
        """The HTML of a page after its scripts have run; None if the browser crashed."""
        async with self._tabs:
            try:
                async with self.chromium.tab() as context:
                    return await PageLoad(context, source, self.parts, self.options).html()
            except BrowserError:
                raise RenderError(RenderFault.NO_BROWSER) from None
            except RenderError:
                raise
            except Exception:  # Playwright raises many kinds of errors if the browser has ended
                return None


@cache
def page_functions() -> str:
    """The JavaScript that is evaluated in a page."""
    return Path(__file__).with_name("page_functions.js").read_text(encoding="utf-8")


@dataclass
class PageLoad:
    """One page in its tab."""

    context: BrowserContext
    source: PageSource
    parts: PartCache
    options: RenderOptions
    is_source_sent: bool = False
    """Whether the browser got the source."""
    is_over: bool = False
    """Whether `html` has ended, so that requests are no longer answered."""
    pending: int = 0
    """Parts that are being fetched."""
    requests: int = 0
    """Requests of the page, and windows that it opened."""
    fetched: int = 0
    """Parts that were fetched."""
    part_bytes: int = 0
    """Bytes of the parts that were fetched."""
    requested_urls: set[str] = field(default_factory=set)
    """The addresses of the parts that the page has requested."""
    foreign_hosts: set[str] = field(default_factory=set)
    """The hosts of other sites that the page has requested."""
    _answering: set[asyncio.Task[None]] = field(default_factory=set)
    """The tasks that are answering requests."""
    _fault: asyncio.Future[RenderFault] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Set when the page cannot be rendered any more."""

    async def html(self) -> str:
        """The HTML of the page after its scripts have run; raises a RenderError."""
        page = await self.context.new_page()
        page.on("crash", lambda _: self._fail(RenderFault.CRASHED))
        self.context.on("page", self._close_window)
        session = await self._intercepting_session(page)
        limit = self.options.seconds + GRACE_SECONDS
        working = asyncio.ensure_future(self._load(page, session))
        try:
            await asyncio.wait((working, self._fault), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if self._fault.done():
                raise RenderError(self._fault.result())
            if not working.done():
                raise RenderError(RenderFault.ENDLESS)
            return working.result()
        finally:
            self.is_over = True
            working.add_done_callback(_ignore_exception)
            for task in (working, *self._answering):
                task.cancel()

    async def _intercepting_session(self, page: Page) -> CDPSession:
        """A session of the page that pauses each of its requests until it is answered."""
        session = await self.context.new_cdp_session(page)
        session.on("Fetch.requestPaused", lambda event: self._begin_answer(PausedRequest(session, event)))
        await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        await session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        quota = {"origin": address_of(self.source.url).origin, "quotaSize": MOST_STORED}
        await session.send("Storage.overrideQuotaForOrigin", quota)
        return session

    async def _load(self, page: Page, session: CDPSession) -> str:
        """Load the page, scroll and click as the options say, and return its HTML."""
        end = asyncio.get_running_loop().time() + self.options.seconds
        milliseconds = 1_000 * (self.options.seconds + GRACE_SECONDS)
        await page.goto(self.source.url, wait_until="commit", timeout=milliseconds)
        world = await _world(session)
        await self._settle(world, end)
        for _ in range(self.options.scrolls):
            await world.call("scroll()")
            await self._settle(world, end)
        if self.options.clicks_more and await world.call("clickMore()"):
            await self._settle(world, end)
        return str(await world.call(f"serialize({self.options.most_characters})"))

    async def _settle(self, world: World, end: float) -> None:
        """Wait until the page is complete, but at most until the time `end` of the event loop."""
        now = asyncio.get_running_loop().time
        last_measure = None
        stable_since = now()
        while now() < end:
            await asyncio.sleep(MEASURE_SECONDS)
            measure = await world.call("measure()")
            _, is_source_read = measure
            if self.pending or measure != last_measure or not is_source_read:
                last_measure = measure
                stable_since = now()
            elif now() - stable_since >= STABLE_SECONDS:
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
        _ignore_exception(answering)  # the page no longer waits for the answer

    async def _answer(self, request: PausedRequest) -> None:
        """Answer a request of the page by its kind."""
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
        """Answer the first navigation with the source; abort others, which would leave the page or load a frame."""
        if self.is_source_sent:
            await request.fail("Aborted")  # any other error would replace the page by an error page
            return
        self.is_source_sent = True
        headers = {"content-type": self.source.content_type or "text/html"}
        if self.source.policy:
            headers["content-security-policy"] = self.source.policy
        await request.fulfill(PartAnswer(200, headers, self.source.body))

    async def _fetch(self, request: PausedRequest, part: PagePart) -> None:
        """Answer a request with a part that the crawler fetches, within the limits of a page."""
        if self.fetched >= MOST_REQUESTS or self.part_bytes > MOST_BYTES:
            await request.fail()
            return
        self.fetched += 1
        self.pending += 1
        try:
            answer = await self.parts.get(part)
            if answer is None:
                await request.fail()
                return
            self.part_bytes += len(answer.body)
            await request.fulfill(PartAnswer(answer.status, answer.passed_headers, answer.body))
        finally:
            self.pending -= 1

    async def _close_window(self, window: Page) -> None:
        """Close a window that the page opens."""
        self._count_request()
        with suppress(Exception):
            await window.close()

    def _count_request(self) -> None:
        """Count a request or a window; the page fails if there are too many."""
        self.requests += 1
        if self.requests > FLOOD:
            self._fail(RenderFault.FLOOD)

    def _fail(self, fault: RenderFault) -> None:
        if not self._fault.done():
            self._fault.set_result(fault)


@dataclass(frozen=True)
class PausedRequest:
    """A request that is paused in the browser: https://chromedevtools.github.io/devtools-protocol/tot/Fetch/.

    The browser itself checks which answers from other origins a page may read, and sends preflight requests for that.
    Playwright's routes would allow all, because they add the missing CORS headers to each answer.
    """

    session: CDPSession
    event: Mapping[str, Any]

    @property
    def is_navigation(self) -> bool:
        """Whether it loads a document, in the tab or in a frame."""
        return bool(self.event["resourceType"] == "Document")

    @property
    def url(self) -> str:
        return str(self.event["request"]["url"])

    def part(self, source: PageSource, foreign_hosts: set[str], *, is_repeated: bool) -> PagePart:
        """The request as a part of a page."""
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
        """What it is loaded as: Chromium's resource type, except for prefetched pages and event streams, which Chromium
        does not distinguish from other data.
        """
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
    """An isolated JavaScript world: it has the elements of the page, but functions that the page cannot replace."""

    session: CDPSession
    id: int

    async def call(self, expression: str) -> Any:
        """The value of a call of a function in `page_functions.js`, e.g. `call("scroll()")`."""
        return await self._evaluate(f"winnow.{expression}")

    async def _evaluate(self, expression: str) -> Any:
        parameters = {"expression": expression, "contextId": self.id, "returnByValue": True}
        answer = await self.session.send("Runtime.evaluate", parameters)
        if "exceptionDetails" in answer:
            raise RenderError(RenderFault.CRASHED)
        return answer["result"].get("value")


async def _world(session: CDPSession) -> World:
    """A new isolated world in the page, with the functions of `page_functions.js`."""
    tree = await session.send("Page.getFrameTree")
    frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "winnow"}
    created = await session.send("Page.createIsolatedWorld", frame)
    world = World(session, created["executionContextId"])
    await world._evaluate(f"{page_functions()};0")  # the value 0, as functions cannot be returned
    return world


def _ignore_exception(task: asyncio.Task[Any]) -> None:
    """Read the exception of a task that has ended, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
