"""Runs the second method of pages in doubt in threads, so that the crawl goes on meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from crawler.extraction.extractor_fallback import is_doubtful
from crawler.page.page import Extraction, Page

THREADS = 4
"""Pages that the second method reads at a time."""


class FallbackThreads:
    """Extracts pages of which the first method is in doubt; later callers of `page.once` find the result."""

    def __init__(self, first: Callable[[Page], Extraction], extract: Callable[[Page], Extraction]) -> None:
        self._first, self._extract = first, extract
        """`extract` calls `first`, and the second method if that is in doubt."""
        self._threads = ThreadPoolExecutor(THREADS, "fallback")

    async def extract(self, page: Page) -> None:
        """Extract a page if the first method is in doubt."""
        if page.document is None and is_doubtful(page.once(self._first)):
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, page.once, self._extract)

    def close(self) -> None:
        """Begin no further page."""
        self._threads.shutdown(wait=False, cancel_futures=True)
