"""The pages of saved documents, which are files other than web pages."""

from crawler.doors import Door, load
from crawler.errors import MissingPartError
from crawler.page.document_page import document_page
from crawler.page.document_type import TEXT_TYPES, text_type, type_by_mark
from crawler.page.page import NotHtmlError, Page, media_type


def saved_document(body: bytes, url: str, robots_header: str, content_type: str) -> Page | None:
    """The page of a document, or None if the bytes are no document; raises a DocumentError if it cannot be read, and a
    NotHtmlError if no reader for it is installed.

    Text files are recognized by the declared type, or by the name if that is vague; other documents by their first
    bytes.
    """
    kind = None
    text_kind = ""
    if media_type(content_type) not in TEXT_TYPES:
        kind = type_by_mark(body)
    if kind is None:
        text_kind = text_type(content_type, url)
    if kind is None and not text_kind:
        return None
    reader = "file" if kind else "text"
    try:
        read_saved = load(Door.DOCUMENTS, reader)
    except MissingPartError:
        raise NotHtmlError(kind or text_kind) from None
    document = read_saved(body, text_kind)
    return document_page(document, url, document.media_type, robots_header)
