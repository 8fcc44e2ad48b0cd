"""The life cycle of the browser: started when first needed, replaced after many pages or a fault, ended when idle.

The browser has no network: its proxy is an address where nothing listens, and it resolves no host names. All requests
of a page are answered by the crawler (crawler.contrib.browser.page_load), or fail. Between the crawler and the browser
Playwright runs a process of its own, the driver. If the crawler or the driver ends for any reason, the browser loses
its pipe and ends as well.
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
    from playwright.async_api import Browser, BrowserContext, Playwright, ViewportSize

logger = logging.getLogger(__name__)

HEAP_MB = 256
"""The largest heap of the scripts of a page, in megabytes; a page that needs more crashes."""
MOST_BYTES_OF_PAGE = 700 * 1024 * 1024
"""The most bytes of memory of the process of a page, which includes more than the heap of its scripts."""
MOST_BYTES_OF_ALL = 1_200 * 1024 * 1024
"""The most bytes of memory of all processes of a browser and its driver. Blobs, caches and console messages are outside
the process of their page. The largest allowed page together with three ordinary ones stays below this limit.
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
REMOVED_ARGUMENTS = ("--disable-popup-blocking",)
"""Default arguments of Playwright that are removed: without this one, Chromium blocks the windows that pages open."""
VIEWPORT: ViewportSize = {"width": 1280, "height": 4000}
"""A high viewport, so that lists that grow when their end is visible show more at once."""
MOST_PAGES = 200
"""The most pages of one browser, which is then replaced, to free the memory that it leaks."""
CLOSE_SECONDS = 5.0
"""Time limit for closing a tab or a browser."""
START_SECONDS = 60.0
"""Time limit for starting a browser."""
OPEN_SECONDS = 15.0
"""Time limit for opening a tab."""
IDLE_SECONDS = 60.0
"""Time without a page after which the browser is ended."""
WATCH_SECONDS = 0.25
"""The interval at which memory is measured."""
MOST_FAILURES = 3
"""Consecutive failed starts after which the browser is not started again."""


class BrowserError(Exception):
    """The browser does not start."""


@dataclass
class RunningBrowser:
    """One browser process with its driver."""

    playwright: Playwright
    browser: Browser
    process: int
    """The id of the browser's main process."""
    driver: int
    """The id of the driver's process, which started the browser."""
    pages: int = 0
    """Pages for which it has opened a tab."""
    tabs: int = 0
    """Tabs that are open or being opened."""
    is_spent: bool = False
    """Whether it gets no further pages; it ends when its last tab is closed."""
    idle_since: float = 0.0
    """When a tab was closed last, by the clock of the event loop; 0 before the first."""
    watching: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def takes_pages(self) -> bool:
        """Whether it can be given another page."""
        return not self.is_spent and self.browser.is_connected()


class Chromium:
    """Opens tabs, each in a separate profile without data from earlier pages."""

    def __init__(self, user_agent: str) -> None:
        self.user_agent = user_agent
        self.started = 0
        """How many times a browser was started."""
        self._running: RunningBrowser | None = None
        self._starting = asyncio.Lock()
        self._failures = 0
        """Failed starts since the last successful one."""
        self._ending: set[asyncio.Task[None]] = set()
        """The tasks that are ending browsers."""

    @property
    def is_broken(self) -> bool:
        """Whether the browser failed to start several times in a row."""
        return self._failures >= MOST_FAILURES

    @asynccontextmanager
    async def tab(self) -> AsyncIterator[BrowserContext]:
        """A fresh profile for one page; it is deleted afterwards."""
        running, context = await self._open()
        running.pages += 1
        running.is_spent = running.is_spent or running.pages >= MOST_PAGES
        try:
            yield context
        finally:
            await self._close(running, context)
            running.tabs -= 1
            running.idle_since = asyncio.get_running_loop().time()
            if not running.tabs and not running.takes_pages:
                self._end(running)

    async def close(self) -> None:
        """End the browser."""
        if self._running is not None:
            self._end(self._running)
        if self._ending:
            await asyncio.wait(self._ending)

    async def _open(self) -> tuple[RunningBrowser, BrowserContext]:
        """A new profile, and the browser that has it; if a browser cannot open a profile, another browser is tried."""
        try:
            return await self._open_once()
        except BrowserError:
            raise
        except Exception:
            return await self._open_once()

    async def _open_once(self) -> tuple[RunningBrowser, BrowserContext]:
        """A new profile, and the browser that has it; a browser that cannot open a profile gets no further pages."""
        running = await self._available()
        running.tabs += 1  # so that it is not ended in the meantime
        try:
            opening = running.browser.new_context(
                user_agent=self.user_agent,
                viewport=VIEWPORT,
                accept_downloads=False,
                service_workers="block",
            )
            return running, await asyncio.wait_for(opening, OPEN_SECONDS)
        except Exception:
            running.tabs -= 1
            running.is_spent = True
            raise

    async def _available(self) -> RunningBrowser:
        """The running browser, or a new one if it cannot take another page; raises a BrowserError."""
        async with self._starting:
            if self._running is not None and not self._running.takes_pages:
                if not self._running.tabs:  # otherwise it ends with its last tab
                    self._end(self._running)
                self._running = None

            if self._running is None:
                if self.is_broken:
                    raise BrowserError
                try:
                    self._running = await asyncio.wait_for(_start(), START_SECONDS)
                except Exception as error:
                    self._failures += 1
                    logger.warning("The browser does not start: %s", (str(error).strip() or "timeout").splitlines()[0])
                    raise BrowserError from error
                self._failures = 0
                self.started += 1
                self._running.watching = asyncio.ensure_future(self._watch(self._running))
            return self._running

    async def _close(self, running: RunningBrowser, context: BrowserContext) -> None:
        """Close a tab; if that fails or takes too long, the browser gets no further pages."""
        try:
            await asyncio.wait_for(context.close(), CLOSE_SECONDS)
        except Exception:
            running.is_spent = True

    async def _watch(self, running: RunningBrowser) -> None:
        """End the tabs that use too much memory, and the browser when it is idle."""
        loop = asyncio.get_running_loop()
        while running.browser.is_connected():
            await asyncio.sleep(WATCH_SECONDS)
            if running.tabs:
                _end_too_large(running)
            elif running.idle_since and loop.time() - running.idle_since > IDLE_SECONDS:
                running.is_spent = True
                self._end(running)
                return

    def _end(self, running: RunningBrowser) -> None:
        """End a browser in the background."""
        if self._running is running:
            self._running = None
        task = asyncio.ensure_future(_shut_down(running))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _start() -> RunningBrowser:
    """Start a browser with its driver."""
    from playwright.async_api import async_playwright

    playwright = await async_playwright().start()
    program = None if has_own_browser() else system_browser()
    try:
        browser = await playwright.chromium.launch(
            args=[*ARGUMENTS],
            ignore_default_args=[*REMOVED_ARGUMENTS],
            chromium_sandbox=hasattr(os, "geteuid") and os.geteuid() != 0,  # the sandbox does not work for root
            handle_sigint=False,  # the crawl closes the browser when it ends
            handle_sigterm=False,
            handle_sighup=False,
            executable_path=program,
        )
        session = await browser.new_browser_cdp_session()
        information = await session.send("SystemInfo.getProcessInfo")
        main = next(process for process in information["processInfo"] if process["type"] == "browser")
        process = int(main["id"])
        return RunningBrowser(playwright, browser, process, driver=own_child_above(process))
    except BaseException:
        with suppress(Exception):
            await asyncio.wait_for(playwright.stop(), CLOSE_SECONDS)
        raise


async def _shut_down(running: RunningBrowser) -> None:
    """Close a browser and its driver, by force if necessary."""
    running.is_spent = True
    if running.watching is not None:
        running.watching.cancel()
    try:
        await asyncio.wait_for(running.browser.close(), CLOSE_SECONDS)
    except Exception:
        kill((running.process,))
    try:
        await asyncio.wait_for(running.playwright.stop(), CLOSE_SECONDS)
    except Exception:
        kill((running.driver,))


def _end_too_large(running: RunningBrowser) -> None:
    """Kill the processes of pages that use too much memory, or the whole browser if its processes together do."""
    memory = {process: memory_of(process) for process in process_tree(running.driver)}
    if sum(memory.values()) > MOST_BYTES_OF_ALL:
        running.is_spent = True
        # The driver stays: it notices that the browser is gone, and `_shut_down` ends it.
        kill(process for process in memory if process != running.driver)
        return
    kill(process for process, size in memory.items() if size > MOST_BYTES_OF_PAGE and is_renderer(process))
