"""Reads the documents of a crawl: tells which responses are documents, and returns the page of each.

A document is a text file, or a PDF, DOCX, ODT or EPUB file. In the names below, a "file" is a document of one of these
four formats, and not a text file. The first bytes of a file show its format; a text file is known by its declared type
or its name alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from scrapy.http import Headers, Response

from crawler.contrib.documents.process import DocumentProcess
from crawler.outcomes import Code, Outcome
from crawler.page.document import DocumentError
from crawler.page.document_page import document_page
from crawler.page.document_type import ENDINGS, ending, may_be_document, text_type, type_by_mark
from crawler.page.page import HTML_TYPES, Page, is_html, media_type
from crawler.spiders.page_reader import header

MOST_WAITING = 96 * 1024 * 1024
"""Bytes of documents that may wait to be read while the crawl sends further requests: three of the largest size."""


class DocumentReader:
    """Reads the documents of a crawl in a process of their own, one at a time, while the crawl continues.

    Scrapy sends no requests while the responses being processed have more bytes than a limit. Documents that wait to be
    read must not stop it, so the limit is widened by their bytes, but at most by MOST_WAITING. `widen_limit` is called
    with the number of bytes by which the limit must change, which may be negative.
    """

    def __init__(self, most_bytes: int, widen_limit: Callable[[int], None], *, reads_files: bool) -> None:
        self._most_bytes = most_bytes
        self._widen_limit = widen_limit
        self._reads_files = reads_files
        """Whether PDF, DOCX, ODT and EPUB files are read; text files always are."""
        self._waiting_bytes = 0
        self._process = DocumentProcess()
        self._thread = ThreadPoolExecutor(1, "documents")

    def max_bytes(self, url: str) -> int | None:
        """The most bytes of the response from an address with the suffix of a file. None for other addresses, whose
        limit is Scrapy's usual one.
        """
        if self._reads_files and ending(url) in ENDINGS:
            return self._most_bytes
        return None

    def is_wanted(self, headers: Headers, url: str) -> bool:
        """Whether a response with these headers may be a document, so that its body is downloaded."""
        return bool(text_type(header(headers, "Content-Type"), url)) or self._may_be_file(headers, url)

    def is_document(self, response: Response) -> bool:
        """Whether a response is a text file by its type, or a file by its first bytes."""
        return self._is_file(response) or bool(self._text_type(response))

    def may_be_page(self, response: Response) -> bool:
        """Whether a response that is not a document may still be a web page: its headers declare a document, possibly
        by mistake.
        """
        return self._may_be_file(response.headers, response.url)

    def _is_file(self, response: Response) -> bool:
        """Whether a response is a file by its first bytes, and its headers allow it."""
        declared = media_type(header(response.headers, "Content-Type"))
        # The first bytes also show a file that is declared as HTML, or not at all.
        is_possible = declared in HTML_TYPES or not declared or self._may_be_file(response.headers, response.url)
        return self._reads_files and is_possible and type_by_mark(response.body) is not None

    def _may_be_file(self, headers: Headers, url: str) -> bool:
        declared = media_type(header(headers, "Content-Type"))
        return self._reads_files and may_be_document(declared, url, header(headers, "Content-Disposition"))

    def _text_type(self, response: Response) -> str:
        """The type by which a response is read as a text file; empty if it is not one."""
        content_type = header(response.headers, "Content-Type")
        is_page = not media_type(content_type) and is_html("", response.body)
        if is_page:
            return ""
        return text_type(content_type, response.url)

    async def page(self, response: Response) -> Page | Outcome:
        """The page of a document, or the outcome if it cannot be read."""
        loop = asyncio.get_running_loop()
        size = len(response.body)
        self._add_waiting(size)
        try:
            content_type = "" if self._is_file(response) else self._text_type(response)
            document = await loop.run_in_executor(self._thread, self._process.read, response.body, content_type)
        except DocumentError as error:
            return Outcome(Code.UNREAD_DOCUMENT, error.fault)
        finally:
            self._add_waiting(-size)
        robots_header = header(response.headers, "X-Robots-Tag", "\n")
        return document_page(document, response.url, document.media_type, robots_header)

    def _add_waiting(self, size: int) -> None:
        """Add `size` to the bytes that wait to be read, and change Scrapy's limit to match. A document's size is
        subtracted, as a negative `size`, once it is read.
        """
        widened_before = min(self._waiting_bytes, MOST_WAITING)
        self._waiting_bytes += size
        self._widen_limit(min(self._waiting_bytes, MOST_WAITING) - widened_before)

    def close(self) -> None:
        """End the process."""
        self._process.close()
        self._thread.shutdown(wait=False, cancel_futures=True)
