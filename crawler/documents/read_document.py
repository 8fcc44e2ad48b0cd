"""Reads a document of any of the types."""

from collections.abc import Callable

from crawler.documents.document import Document, DocumentError, Fault
from crawler.documents.document_type import DOCX, EPUB, ODT, OLE_MARK, PDF


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


def read_document(data: bytes, media_type: str) -> Document:
    """The document in the bytes of a file; raises a DocumentError if it has no text for readers."""
    document = READERS[media_type](data)
    if not document.body.strip():
        raise DocumentError(Fault.LIMIT if document.is_cut else Fault.SCANNED)
    return document
