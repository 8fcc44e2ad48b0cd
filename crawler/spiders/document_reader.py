"""Reads documents that are no web pages: which responses are documents, and the page of each."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from scrapy.http import Headers, Response

from crawler.documents.document import DocumentError
from crawler.documents.document_page import document_page
from crawler.documents.document_type import ENDINGS, ending, may_be_document, type_of
from crawler.documents.process import DocumentProcess
from crawler.outcomes import Code, Outcome
from crawler.page.page import HTML_TYPES, media_type
from crawler.spiders.page_reader import header

if TYPE_CHECKING:
    from crawler.page.page import Page


class DocumentReader:
    """Reads the documents of a crawl in a process of their own, one at a time, while the crawl goes on."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._process = DocumentProcess()
        self._thread = ThreadPoolExecutor(1, "documents")

    def largest(self, url: str) -> int | None:
        """How many bytes the response from an address may have if its ending is that of a document, else None."""
        return self._most_bytes if ending(url) in ENDINGS else None

    def is_wanted(self, headers: Headers, url: str) -> bool:
        """Whether a response with these headers may be a document."""
        declared = media_type(header(headers, "Content-Type"))
        return may_be_document(declared, url, header(headers, "Content-Disposition"))

    def type_of(self, response: Response) -> str | None:
        """The type of the document in a response; None if it is none, whatever the server says."""
        declared = media_type(header(response.headers, "Content-Type"))
        if declared in HTML_TYPES or not declared or self.is_wanted(response.headers, response.url):
            return type_of(response.body)
        return None

    async def page(self, response: Response, kind: str) -> Page | Outcome:
        """The page of a document of this type, or why there is none."""
        loop = asyncio.get_running_loop()
        try:
            document = await loop.run_in_executor(self._thread, self._process.read, response.body, kind)
        except DocumentError as error:
            return Outcome(Code.UNREAD_DOCUMENT, error.fault)
        return document_page(document, response.url, kind, header(response.headers, "X-Robots-Tag", "\n"))

    def close(self) -> None:
        """End the process."""
        self._process.close()
        self._thread.shutdown(wait=False, cancel_futures=True)
