"""Reads a document of any of the types. The reader of a type is imported only when a document has this type."""

from collections.abc import Callable
from dataclasses import replace

from crawler.contrib.documents.package import Package
from crawler.page.document import DocumentContent, DocumentError, Fault
from crawler.page.document_type import DOCX, EPUB, ODT, OLE_MARK, PDF, ZIP, type_by_mark
from crawler.page.page import media_type


def _read_pdf(data: bytes) -> DocumentContent:
    from crawler.contrib.documents.pdf import read_pdf

    return read_pdf(data)


def _read_docx(data: bytes) -> DocumentContent:
    from crawler.contrib.documents.docx import read_docx

    if data.startswith(OLE_MARK):  # an encrypted DOCX file is wrapped in Microsoft's older format
        raise DocumentError(Fault.ENCRYPTED)
    return read_docx(data)


def _read_odt(data: bytes) -> DocumentContent:
    from crawler.contrib.documents.odt import read_odt

    return read_odt(data)


def _read_epub(data: bytes) -> DocumentContent:
    from crawler.contrib.documents.epub import read_epub

    return read_epub(data)


def _read_text_file(data: bytes, content_type: str) -> DocumentContent:
    from crawler.contrib.documents.text.text_file import read_text_file

    return read_text_file(data, content_type)


READERS: dict[str, Callable[[bytes], DocumentContent]] = {
    PDF: _read_pdf,
    DOCX: _read_docx,
    ODT: _read_odt,
    EPUB: _read_epub,
}
"""The reader of each type except text files."""

TYPES_BY_FILE = {
    "META-INF/container.xml": EPUB,
    "content.xml": ODT,
    "word/document.xml": DOCX,
    "[Content_Types].xml": DOCX,
}
"""The type of a ZIP archive, by the first of these files that the archive has."""


def type_of(data: bytes) -> str:
    """The type of a document by its bytes; raises a DocumentError if they are not a document, or damaged."""
    document_type = type_by_mark(data)
    if document_type == ZIP:
        package = Package(data)
        document_type = next((TYPES_BY_FILE[name] for name in TYPES_BY_FILE if name in package), None)
    if document_type is None:
        raise DocumentError(Fault.BROKEN)
    return document_type


def read_document(data: bytes, content_type: str = "") -> DocumentContent:
    """The document in the bytes of a file; raises a DocumentError if it cannot be read or has no text for readers.

    `content_type` is the type of a text file (see `text_type`), and empty for other documents: their bytes show it.
    """
    if content_type:
        document_type = media_type(content_type)
        document = _read_text_file(data, content_type)
    else:
        document_type = type_of(data)
        document = READERS[document_type](data)
    if not document.body.strip():
        if document.is_cut:
            raise DocumentError(Fault.LIMIT)
        raise DocumentError(Fault.NO_SENTENCES if content_type else Fault.SCANNED)
    return replace(document, media_type=document_type)
