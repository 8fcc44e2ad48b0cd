"""The life of the browser: started at first need, renewed after many pages or a fault, ended when idle.

It has no network: its proxy is an address where nothing listens, and it resolves no name. Whatever a page asks for is
answered by its crawler (crawler.contrib.browser.page_load), or it is not answered. If the crawler or the driver that
Playwright puts between the two ends in whatever way, the browser loses its pipe and ends as well.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.contrib.browser.installed import has_own_browser, system_browser
from crawler.contrib.browser.processes import is_renderer, kill, memory_of, own_child_above, process_tree

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

logger = logging.getLogger(__name__)

HEAP_MB = 256
"""Memory of the scripts of a page, in megabytes; a page that wants more crashes."""
MOST_OF_PAGE = 700 * 1024 * 1024
"""Bytes of memory of the process of a page, in which there is more than what its scripts have on their heap."""
MOST_OF_ALL = 1_200 * 1024 * 1024
"""Bytes of memory of all processes of a browser and of its driver. Blobs, caches and messages to the console are not in
the process of their page. The largest page that is allowed and three ordinary ones need less.
"""
ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--proxy-server=socks5://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",  # no address is exempt from the proxy
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    f"--js-flags=--max-old-space-size={HEAP_MB}",
)
UNWANTED = ("--disable-popup-blocking",)
"""Arguments of Playwright that pages must not have the use of."""
MOST_PAGES = 200
"""Pages after which the browser is renewed: what it leaks goes with it."""
PATIENCE = 5.0
"""Seconds in which a tab or a browser must close."""
START_SECONDS = 60.0
OPEN_SECONDS = 15.0
IDLE_SECONDS = 60.0
"""Seconds without a page after which the browser ends."""
WATCH_SECONDS = 0.25
MOST_FAILURES = 3
"""Failed starts in a row after which there is no further attempt."""


class BrowserError(Exception):
    """The browser does not start."""


@dataclass
class RunningBrowser:
    """One browser process with its driver."""

    playwright: Playwright
    browser: Browser
    process: int
    """The id of its first process."""
    driver: int
    """The id of the driver's process, which has started that one."""
    pages: int = 0
    tabs: int = 0
    is_spent: bool = False
    """Whether it gets no further pages."""
    idle_since: float = 0.0
    watching: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def can_take(self) -> bool:
        """Whether it may get another page."""
        return not self.is_spent and self.browser.is_connected()


class Chromium:
    """Gives tabs, each in a profile of its own without anything from earlier pages."""

    def __init__(self, user_agent: str) -> None:
        self.user_agent = user_agent
        self.started = 0
        """How many times a browser was started."""
        self._running: RunningBrowser | None = None
        self._starting = asyncio.Lock()
        self._failures = 0
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def is_broken(self) -> bool:
        """Whether the browser did not start several times in a row."""
        return self._failures >= MOST_FAILURES

    @asynccontextmanager
    async def tab(self) -> AsyncIterator[BrowserContext]:
        """A fresh profile for one page; it is deleted afterwards."""
        running, context = await self._opened()
        running.pages += 1
        running.is_spent = running.is_spent or running.pages >= MOST_PAGES
        try:
            yield context
        finally:
            await self._close(running, context)
            running.tabs -= 1
            running.idle_since = asyncio.get_running_loop().time()
            if not running.tabs and not running.can_take:
                self._end(running)

    async def close(self) -> None:
        """End the browser."""
        if self._running is not None:
            self._end(self._running)
        if self._ending:
            await asyncio.wait(self._ending)

    async def _opened(self) -> tuple[RunningBrowser, BrowserContext]:
        """A browser with a new profile; a browser that opens none is replaced once."""
        for is_last in (False, True):
            running = await self._available()
            running.tabs += 1  # it must not end meanwhile
            try:
                opening = running.browser.new_context(
                    user_agent=self.user_agent,
                    viewport={
                        "width": 1280,
                        "height": 4000,
                    },  # lists that grow when their end is seen show more at once
                    accept_downloads=False,
                    service_workers="block",
                )
                return running, await asyncio.wait_for(opening, OPEN_SECONDS)
            except Exception:
                running.tabs -= 1
                running.is_spent = True
                if is_last:
                    raise
        raise BrowserError

    async def _available(self) -> RunningBrowser:
        async with self._starting:
            if self._running is not None and not self._running.can_take:
                if not self._running.tabs:
                    self._end(self._running)
                self._running = None
            if self._running is None:
                if self.is_broken:
                    raise BrowserError
                try:
                    self._running = await asyncio.wait_for(_started(), START_SECONDS)
                except Exception as error:
                    self._failures += 1
                    logger.warning("The browser does not start: %s", (str(error).strip() or "timeout").splitlines()[0])
                    raise BrowserError from error
                self._failures = 0
                self.started += 1
                self._running.watching = asyncio.ensure_future(self._watch(self._running))
            return self._running

    async def _close(self, running: RunningBrowser, context: BrowserContext) -> None:
        """Close a tab; a browser in which that takes too long gets no further pages."""
        try:
            await asyncio.wait_for(context.close(), PATIENCE)
        except Exception:
            running.is_spent = True

    async def _watch(self, running: RunningBrowser) -> None:
        """End the tabs that take too much memory, and the browser when nobody needs it."""
        loop = asyncio.get_running_loop()
        while running.browser.is_connected():
            await asyncio.sleep(WATCH_SECONDS)
            if running.tabs:
                _end_what_is_too_large(running)
            elif running.idle_since and loop.time() - running.idle_since > IDLE_SECONDS:
                running.is_spent = True
                self._end(running)
                return

    def _end(self, running: RunningBrowser) -> None:
        """End a browser in the background, once."""
        if self._running is running:
            self._running = None
        task = asyncio.ensure_future(_ended(running))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _started() -> RunningBrowser:
    from playwright.async_api import async_playwright

    playwright = await async_playwright().start()
    program = None if has_own_browser() else system_browser()
    try:
        browser = await playwright.chromium.launch(
            args=[*ARGUMENTS],
            ignore_default_args=[*UNWANTED],
            chromium_sandbox=hasattr(os, "geteuid") and os.geteuid() != 0,  # it does not run for root
            handle_sigint=False,  # the crawl ends in order, and closes it then
            handle_sigterm=False,
            handle_sighup=False,
            executable_path=program,
        )
        session = await browser.new_browser_cdp_session()
        information = await session.send("SystemInfo.getProcessInfo")
        first = next(process for process in information["processInfo"] if process["type"] == "browser")
        process = int(first["id"])
        return RunningBrowser(playwright, browser, process, own_child_above(process))
    except BaseException:
        with suppress(Exception):
            await asyncio.wait_for(playwright.stop(), PATIENCE)
        raise


async def _ended(running: RunningBrowser) -> None:
    """Close a browser and its driver, by force if need be."""
    running.is_spent = True
    if running.watching is not None:
        running.watching.cancel()
    try:
        await asyncio.wait_for(running.browser.close(), PATIENCE)
    except Exception:
        kill((running.process,))
    try:
        await asyncio.wait_for(running.playwright.stop(), PATIENCE)
    except Exception:
        kill((running.driver,))


def _end_what_is_too_large(running: RunningBrowser) -> None:
    """End the pages whose process has too much memory, and the whole browser if all its processes have."""
    memory = {process: memory_of(process) for process in process_tree(running.driver)}
    if sum(memory.values()) > MOST_OF_ALL:
        running.is_spent = True
        kill(process for process in memory if process != running.driver)  # which then notices and is ended in order
        return
    kill(process for process, size in memory.items() if size > MOST_OF_PAGE and is_renderer(process))
