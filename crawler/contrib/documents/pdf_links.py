"""The links of a PDF page: its link annotations with a URI, with the text that each covers."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdf

MAX_ADDRESS = 2_083
"""The most bytes of an address, with the zero byte at its end; a longer one is left out."""
MAX_TEXT = 200
"""The most characters of the text of one link that are read."""


@dataclass(frozen=True, slots=True)
class PdfLink:
    """A link and the text that it covers."""

    url: str
    text: str


def page_links(document: Any, page: Any, text_page: Any) -> Iterator[PdfLink]:
    """The links of a page, in the order of the file; a link over two lines occurs twice."""
    at = ctypes.c_int(0)
    link = pdf.FPDF_LINK()
    while pdf.FPDFLink_Enumerate(page, at, link):
        url = _address(document, link)
        if url:
            yield PdfLink(url=url, text=_text(link, text_page))


def _address(document: Any, link: Any) -> str:
    """The address of a link; empty if the link does not have a URI, as within the file, or if the URI is too long."""
    action = pdf.FPDFLink_GetAction(link)
    if not action or pdf.FPDFAction_GetType(action) != pdf.PDFACTION_URI:
        return ""
    buffer = ctypes.create_string_buffer(MAX_ADDRESS)
    length = pdf.FPDFAction_GetURIPath(document, action, buffer, MAX_ADDRESS)
    if length <= MAX_ADDRESS:
        return buffer.value.decode("utf-8", "replace").strip()
    return ""


def _text(link: Any, text_page: Any) -> str:
    """The text that a link covers."""
    box = pdf.FS_RECTF()
    if not pdf.FPDFLink_GetAnnotRect(link, box):
        return ""
    buffer = (ctypes.c_ushort * MAX_TEXT)()  # PDFium writes UTF-16
    count = pdf.FPDFText_GetBoundedText(text_page, box.left, box.top, box.right, box.bottom, buffer, MAX_TEXT)
    units = bytes(buffer)[: 2 * min(count, MAX_TEXT)]
    return units.decode("utf-16-le", "replace").rstrip("\0")
