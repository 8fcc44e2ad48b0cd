"""The pages of saved documents: files that are no web pages."""

from crawler.doors import Door, load
from crawler.errors import MissingPartError
from crawler.page.document_page import document_page
from crawler.page.document_type import TEXT_TYPES, text_type, type_by_mark
from crawler.page.page import NotHtmlError, Page, media_type


def saved_document(body: bytes, url: str, robots_header: str, content_type: str) -> Page | None:
    """The page of a document, or None if the bytes are none; raises a DocumentError if it cannot be read, and a
    NotHtmlError if nothing is installed that reads it.

    The type is the one that is declared, by which alone text files are told, whatever their first bytes are.
    """
    kind = None if media_type(content_type) in TEXT_TYPES else type_by_mark(body)
    text_kind = "" if kind else text_type(content_type, url)
    if kind is None and not text_kind:
        return None
    try:
        read_saved = load(Door.DOCUMENTS, "file" if kind else "text")
    except MissingPartError:
        raise NotHtmlError(kind or text_kind) from None
    document = read_saved(body, text_kind)
    return document_page(document, url, document.media_type, robots_header)
