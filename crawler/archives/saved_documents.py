"""Saved documents that are no web pages, read in a process of their own."""

from functools import cache
from importlib.util import find_spec

from crawler.archives.records import NotHtmlError
from crawler.documents.document_page import document_page
from crawler.documents.document_type import type_by_mark
from crawler.documents.process import DocumentProcess
from crawler.page.page import Page


@cache
def _process() -> DocumentProcess | None:
    """The process of this process; None without the package that reads PDF files."""
    return DocumentProcess() if find_spec("pypdfium2") is not None else None


def saved_document(body: bytes, url: str, robots_header: str = "") -> Page | None:
    """The page of a document, or None if the bytes are none; raises a DocumentError if it cannot be read, and a
    NotHtmlError without the extra `documents`.
    """
    kind, process = type_by_mark(body), _process()
    if kind is None:
        return None
    if process is None:
        raise NotHtmlError(kind)
    document = process.read(body)
    return document_page(document, url, document.media_type, robots_header)
