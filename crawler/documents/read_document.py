"""Reads a document of any of the types."""

from collections.abc import Callable
from dataclasses import replace

from crawler.documents.document import Document, DocumentError, Fault
from crawler.documents.document_type import DOCX, EPUB, ODT, OLE_MARK, PDF, ZIP, type_by_mark
from crawler.documents.package import Package


def _read_pdf(data: bytes) -> Document:
    from crawler.documents.pdf import read_pdf  # loads PDFium, which other documents do without

    return read_pdf(data)


def _read_docx(data: bytes) -> Document:
    from crawler.documents.docx import read_docx

    if data.startswith(OLE_MARK):  # an encrypted file is wrapped in another format
        raise DocumentError(Fault.ENCRYPTED)
    return read_docx(data)


def _read_odt(data: bytes) -> Document:
    from crawler.documents.odt import read_odt

    return read_odt(data)


def _read_epub(data: bytes) -> Document:
    from crawler.documents.epub import read_epub

    return read_epub(data)


READERS: dict[str, Callable[[bytes], Document]] = {PDF: _read_pdf, DOCX: _read_docx, ODT: _read_odt, EPUB: _read_epub}


PARTS = {"META-INF/container.xml": EPUB, "content.xml": ODT, "word/document.xml": DOCX, "[Content_Types].xml": DOCX}
"""The type of an archive by a file that it has; the first that it has counts."""


def type_of(data: bytes) -> str:
    """The type of a document; raises a DocumentError if it is none, or damaged."""
    media_type = type_by_mark(data)
    if media_type == ZIP:
        package = Package(data)
        media_type = next((PARTS[name] for name in PARTS if name in package), None)
    if media_type is None:
        raise DocumentError(Fault.BROKEN)
    return media_type


def read_document(data: bytes) -> Document:
    """The document in the bytes of a file; raises a DocumentError if it has no text for readers."""
    media_type = type_of(data)
    document = READERS[media_type](data)
    if not document.body.strip():
        raise DocumentError(Fault.LIMIT if document.is_cut else Fault.SCANNED)
    return replace(document, media_type=media_type)
