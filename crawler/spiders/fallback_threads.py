"""Runs a second extraction method for pages about which the first is in doubt, in threads beside the crawl."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from crawler.extraction.extractor_fallback import is_doubtful
from crawler.page.page import Extraction, Page

THREADS = 4
"""How many pages the second method reads at the same time."""


class FallbackThreads:
    """Extracts pages about which the first method is in doubt; the result is kept for later callers of `page.once`."""

    def __init__(self, first: Callable[[Page], Extraction], extract: Callable[[Page], Extraction]) -> None:
        self._first = first
        self._extract = extract
        """Calls `first`, and the second method if `first` is in doubt."""
        self._threads = ThreadPoolExecutor(THREADS, "fallback")

    async def extract(self, page: Page) -> None:
        """Extract a page if the first method is in doubt."""
        # The whole text of a document is its main text, so there is nothing to be in doubt about.
        if page.document is None and is_doubtful(page.once(self._first)):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, page.once, self._extract)

    def close(self) -> None:
        """Extract no further pages."""
        self._threads.shutdown(wait=False, cancel_futures=True)
