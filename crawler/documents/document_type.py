"""Which files are documents, by what their server and their address say, and by their first bytes."""

import io
import re
import zipfile
from urllib.parse import urlsplit

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
ENDINGS = {"pdf": PDF, "docx": DOCX, "odt": ODT, "epub": EPUB}
TYPES = frozenset((*ENDINGS.values(), "application/x-pdf"))
VAGUE = frozenset(("application/octet-stream", "binary/octet-stream", "application/zip", "application/x-download", ""))
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


def type_of(data: bytes) -> str | None:
    """The type of a document by its bytes; None for anything else."""
    if PDF_MARK in data[:HEAD]:
        return PDF
    if data.startswith(OLE_MARK):
        return DOCX if LOCKED_DOCX in data else None
    if not data.startswith(ZIP_MARK):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            names = file.NameToInfo
            if "META-INF/container.xml" in names:
                return EPUB
            if "content.xml" in names:
                return ODT
            return DOCX if "word/document.xml" in names or "[Content_Types].xml" in names else None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return _type_of_damaged(data)


def _type_of_damaged(data: bytes) -> str | None:
    """The type of a file whose end, where ZIP files have their directory, is missing."""
    head = data[:HEAD]
    if EPUB.encode() in head:
        return EPUB
    if ODT.encode() in head:
        return ODT
    return DOCX if b"[Content_Types].xml" in head or b"word/" in head else None
