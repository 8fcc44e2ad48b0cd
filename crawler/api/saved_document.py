"""The pages of saved documents, which are files other than web pages."""

from crawler.doors import Door, load
from crawler.errors import MissingPartError
from crawler.page.document_page import document_page
from crawler.page.document_type import TEXT_TYPES, text_type, type_by_mark
from crawler.page.page import NotHtmlError, Page, media_type


def saved_document(body: bytes, url: str, robots_header: str, content_type: str) -> Page | None:
    """The page of a document, or None if the bytes are not a document.

    Raises a DocumentError if it cannot be read, and a NotHtmlError if no reader for it is installed. Text files are
    recognized by the declared type, or by the name if the type is vague; other documents by their first bytes.
    """
    file_type = None
    text_file_type = ""
    if media_type(content_type) not in TEXT_TYPES:
        file_type = type_by_mark(body)
    if file_type is None:
        text_file_type = text_type(content_type, url)
    if file_type is None and not text_file_type:
        return None
    try:
        read_saved = load(Door.DOCUMENTS, "file" if file_type else "text")
    except MissingPartError:
        raise NotHtmlError(file_type or text_file_type) from None
    # For a file, the type is empty: the reader finds it itself, and more exactly, because it looks into archives.
    document = read_saved(body, text_file_type)
    return document_page(document, url, document.media_type, robots_header)
