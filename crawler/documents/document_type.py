"""Which files are documents, by what their server and their address say, and by their first bytes."""

import re
from urllib.parse import urlsplit

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
ZIP = "application/zip"
"""The type of DOCX, ODT and EPUB files until somebody looks into them."""
ENDINGS = {"pdf": PDF, "docx": DOCX, "odt": ODT, "epub": EPUB}
TYPES = frozenset((*ENDINGS.values(), "application/x-pdf"))
VAGUE = frozenset(("application/octet-stream", "binary/octet-stream", ZIP, "application/x-download", ""))
"""Types that servers declare for any file."""
PDF_MARK, ZIP_MARK, OLE_MARK = b"%PDF-", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FILE_NAME = re.compile(rf"filename\*?\s*=[^;]{{0,1000}}\.(?:{'|'.join(ENDINGS)})[\"'\s]*(?:;|$)", re.IGNORECASE)
HEAD = 1024
"""Bytes before which the mark of a PDF file is."""
LOCKED_DOCX = "EncryptedPackage".encode("utf-16-le")


def may_be_document(declared: str, url: str, disposition: str = "") -> bool:
    """Whether a response may be a document, by its declared type, or if that says nothing by the name of its file, in
    its address or its Content-Disposition.
    """
    if declared not in VAGUE:
        return declared in TYPES
    return ending(url) in ENDINGS or FILE_NAME.search(disposition) is not None


def ending(url: str) -> str:
    """The ending of the file that an address names.

    >>> ending("https://a.example/b/Bees.PDF?c=d.e"), ending("https://a.example/b")
    ('pdf', '')
    """
    try:
        name = urlsplit(url).path.rpartition("/")[2]
    except ValueError:
        return ""
    return name.rpartition(".")[2].lower() if "." in name else ""


def type_by_mark(data: bytes) -> str | None:
    """The type of a document by its mark; None for anything else.

    An archive is not opened: its directory may have any number of entries. The process that reads documents does so.
    """
    if PDF_MARK in data[:HEAD]:
        return PDF
    if data.startswith(OLE_MARK):
        return DOCX if LOCKED_DOCX in data else None
    return ZIP if data.startswith(ZIP_MARK) else None
