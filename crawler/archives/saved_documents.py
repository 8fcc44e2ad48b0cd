"""Saved documents that are no web pages, read in a process of their own."""

from functools import cache
from importlib.util import find_spec

from crawler.archives.records import NotHtmlError
from crawler.documents.document_page import document_page
from crawler.documents.document_type import TEXT_TYPES, text_type, type_by_mark
from crawler.documents.process import DocumentProcess
from crawler.page.page import Page, media_type


@cache
def _process() -> DocumentProcess:
    """The process of this process."""
    return DocumentProcess()


def saved_document(body: bytes, url: str, robots_header: str, content_type: str) -> Page | None:
    """The page of a document, or None if the bytes are none; raises a DocumentError if it cannot be read, and a
    NotHtmlError for other than text files without the extra `documents`.

    The type is the one that is declared, by which alone text files are told, whatever their first bytes are.
    """
    kind = None if media_type(content_type) in TEXT_TYPES else type_by_mark(body)
    text_kind = "" if kind else text_type(content_type, url)
    if kind is None and not text_kind:
        return None
    if kind is not None and find_spec("pypdfium2") is None:
        raise NotHtmlError(kind)
    document = _process().read(body, text_kind)
    return document_page(document, url, document.media_type, robots_header)
