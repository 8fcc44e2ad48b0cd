"""Reads documents that are no web pages: which responses are documents, and the page of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response

from crawler.documents.document import DocumentError
from crawler.documents.document_page import document_page
from crawler.documents.document_type import ENDINGS, ending, may_be_document, type_by_mark
from crawler.documents.process import DocumentProcess
from crawler.outcomes import Code, Outcome
from crawler.page.page import HTML_TYPES, media_type
from crawler.spiders.page_reader import header

if TYPE_CHECKING:
    from crawler.page.page import Page


MOST_WAITING = 96 * 1024 * 1024
"""Bytes of documents that wait to be read while the crawl goes on requesting: three of the largest."""


class DocumentReader:
    """Reads the documents of a crawl in a process of their own, one at a time, while the crawl goes on.

    Scrapy sends no requests while the responses in work have more bytes than a limit. `widen_limit` is called with the
    bytes by which this limit changes, so that documents do not count for it, up to a limit of their own.
    """

    def __init__(self, most_bytes: int, widen_limit: Callable[[int], None]) -> None:
        self._most_bytes, self._widen_limit = most_bytes, widen_limit
        self._waiting_bytes = 0
        self._process = DocumentProcess()
        self._thread = ThreadPoolExecutor(1, "documents")

    def largest(self, url: str) -> int | None:
        """How many bytes the response from an address may have if its ending is that of a document, else None."""
        return self._most_bytes if ending(url) in ENDINGS else None

    def is_wanted(self, headers: Headers, url: str) -> bool:
        """Whether a response with these headers may be a document."""
        declared = media_type(header(headers, "Content-Type"))
        return may_be_document(declared, url, header(headers, "Content-Disposition"))

    def is_document(self, response: Response) -> bool:
        """Whether a response is a document by its first bytes, whatever the server says."""
        declared = media_type(header(response.headers, "Content-Type"))
        if declared in HTML_TYPES or not declared or self.is_wanted(response.headers, response.url):
            return type_by_mark(response.body) is not None
        return False

    async def page(self, response: Response) -> Page | Outcome:
        """The page of a document, or why there is none."""
        loop, size = asyncio.get_running_loop(), len(response.body)
        self._add_waiting(size)
        try:
            document = await loop.run_in_executor(self._thread, self._process.read, response.body)
        except DocumentError as error:
            return Outcome(Code.UNREAD_DOCUMENT, error.fault)
        finally:
            self._add_waiting(-size)
        robots_header = header(response.headers, "X-Robots-Tag", "\n")
        return document_page(document, response.url, document.media_type, robots_header)

    def _add_waiting(self, size: int) -> None:
        widened = min(self._waiting_bytes, MOST_WAITING)
        self._waiting_bytes += size
        self._widen_limit(min(self._waiting_bytes, MOST_WAITING) - widened)

    def close(self) -> None:
        """End the process."""
        self._process.close()
        self._thread.shutdown(wait=False, cancel_futures=True)
