"""Renders one page: its source is given, the crawler fetches its parts, and the result of its scripts is returned."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.browser.chromium import BrowserError, Chromium
from crawler.browser.parts import PIXEL, Part, PartCache, Treatment

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Route

MOST_REQUESTS = 100
"""Parts of one page that are fetched."""
MOST_BYTES = 20_000_000
"""Bytes of them."""
FLOOD = 1_000
"""Requests of one page, refused ones included, after which it is given up."""
STABLE_SECONDS = 0.5
"""Seconds without a change after which a page is complete, if it waits for nothing."""
LOOK_SECONDS = 0.1
GRACE = 5.0
"""Seconds after the time of a page in which it must say what it is by then."""


class Fault(StrEnum):
    """Why a page cannot be rendered."""

    ENDLESS = "endless"
    """Its scripts do not let anybody else do anything."""
    CRASHED = "crashed"
    FLOOD = "flood"
    NO_BROWSER = "no_browser"


class RenderError(Exception):
    """A page cannot be rendered."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


@dataclass(frozen=True)
class Source:
    """A page as its server sent it."""

    url: str
    body: bytes
    content_type: str
    policy: str = ""
    """Its Content-Security-Policy, which may forbid scripts."""


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
    """Of a rendered page; the rest is left out."""


class Renderer:
    """Renders pages, each in a tab of its own."""

    def __init__(self, chromium: Chromium, parts: PartCache, options: RenderOptions) -> None:
        self.chromium, self.parts, self.options = chromium, parts, options
        self._tabs = asyncio.Semaphore(options.tabs)

    async def render(self, source: Source) -> str:
        """The page as HTML after its scripts have run; raises a RenderError."""
        async with self._tabs:
            try:
                async with self.chromium.tab() as context:
                    return await PageLoad(context, source, self.parts, self.options).html()
            except BrowserError:
                raise RenderError(Fault.NO_BROWSER) from None
            except RenderError:
                raise
            except Exception:  # the browser has ended, or the tab with it
                raise RenderError(Fault.CRASHED) from None


@cache
def page_functions() -> str:
    """The source of what is asked of a page."""
    return Path(__file__).with_name("page_functions.js").read_text(encoding="utf-8")


@dataclass
class PageLoad:
    """One page in its tab."""

    context: BrowserContext
    source: Source
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
    _answering: set[asyncio.Task[None]] = field(default_factory=set)
    _fault: asyncio.Future[Fault] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def html(self) -> str:
        """The page after its scripts have run."""
        await self.context.route("**/*", self._answer)
        page = await self.context.new_page()
        page.on("crash", lambda _: self._fail(Fault.CRASHED))
        self.context.on("page", self._close_window)
        limit = self.options.seconds + GRACE
        working = asyncio.ensure_future(self._work(page))
        try:
            await asyncio.wait((working, self._fault), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if self._fault.done():
                raise RenderError(self._fault.result())
            if not working.done():
                raise RenderError(Fault.ENDLESS)
            return working.result()
        finally:
            self.is_over = True
            working.add_done_callback(lambda done: done.cancelled() or done.exception())
            for task in (working, *self._answering):
                task.cancel()

    async def _work(self, page: Page) -> str:
        end = asyncio.get_running_loop().time() + self.options.seconds
        await page.goto(self.source.url, wait_until="commit", timeout=1_000 * (self.options.seconds + GRACE))
        world = await _world(self.context, page)
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
        last, since = None, now()
        while now() < end:
            await asyncio.sleep(LOOK_SECONDS)
            seen = await world.call("measure()")
            if self.pending or seen != last or not seen[1]:
                last, since = seen, now()
            elif now() - since >= STABLE_SECONDS:
                return

    async def _answer(self, route: Route) -> None:
        """Answer a request of the page, unless the tab is closed meanwhile: then nobody must wait for the answer."""
        if not self.is_over:
            answering = asyncio.ensure_future(self._answer_now(route))
            self._answering.add(answering)
            answering.add_done_callback(self._answering.discard)
            await asyncio.wait((answering,))
            if not answering.cancelled() and answering.exception() is None:
                return
        raise asyncio.CancelledError

    async def _answer_now(self, route: Route) -> None:
        self.asked += 1
        if self.asked > FLOOD:
            self._fail(Fault.FLOOD)
        request = route.request
        if request.is_navigation_request():
            await self._navigate(route)
            return
        body = request.post_data_buffer or b"" if request.method == "POST" else b""
        part = Part(request.url, self.source.url, request.resource_type, request.method, request.headers, body)
        match part.treatment:
            case Treatment.EMPTY:
                await route.fulfill(status=200, content_type="text/css", body="")
            case Treatment.PIXEL:
                await route.fulfill(status=200, content_type="image/gif", body=PIXEL)
            case Treatment.FETCH:
                await self._fetch(route, part)
            case _:
                await route.abort()

    async def _navigate(self, route: Route) -> None:
        """Give the browser the source; the page must not leave its address, and gets no frames."""
        if self.is_given or route.request.frame.parent_frame is not None:
            await route.abort("aborted")  # any other error would replace the page by one of the browser
            return
        self.is_given = True
        headers = {"content-type": self.source.content_type or "text/html"}
        headers |= {"content-security-policy": self.source.policy} if self.source.policy else {}
        await route.fulfill(status=200, headers=headers, body=self.source.body)

    async def _fetch(self, route: Route, part: Part) -> None:
        if self.fetched >= MOST_REQUESTS or self.size > MOST_BYTES:
            await route.abort()
            return
        self.fetched += 1
        self.pending += 1
        try:
            answer = await self.parts.get(part)
            if answer is None:
                await route.abort()
                return
            self.size += len(answer.body)
            await route.fulfill(status=answer.status, headers=answer.passed_headers, body=answer.body)
        finally:
            self.pending -= 1

    async def _close_window(self, window: Page) -> None:
        """Close a window that the page opens."""
        self.asked += 1
        if self.asked > FLOOD:
            self._fail(Fault.FLOOD)
        await _quietly(window.close())

    def _fail(self, fault: Fault) -> None:
        if not self._fault.done():
            self._fault.set_result(fault)


@dataclass(frozen=True)
class World:
    """A world of JavaScript beside that of the page: the same elements, but functions that the page cannot replace."""

    session: CDPSession
    id: int

    async def call(self, expression: str) -> Any:
        """The value of one of the functions in `page_functions.js`."""
        return await self._evaluate(f"winnow.{expression}")

    async def _evaluate(self, expression: str) -> Any:
        asked = {"expression": expression, "contextId": self.id, "returnByValue": True}
        found = await self.session.send("Runtime.evaluate", asked)
        if "exceptionDetails" in found:
            raise RenderError(Fault.CRASHED)
        return found["result"].get("value")


async def _world(context: BrowserContext, page: Page) -> World:
    session = await context.new_cdp_session(page)
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
