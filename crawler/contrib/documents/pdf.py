"""Reads PDF files by PDFium."""

import re
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdf

from crawler.contrib.documents.html_body import Body
from crawler.contrib.documents.pdf_blocks import add_blocks, letters
from crawler.contrib.documents.pdf_columns import gutter, in_order, side
from crawler.contrib.documents.pdf_contents import without_contents
from crawler.contrib.documents.pdf_frame import without_frames
from crawler.contrib.documents.pdf_lines import PdfLine, PdfPage, PdfPageReader
from crawler.contrib.documents.pdf_links import MAX_TEXT as MAX_LINK_TEXT
from crawler.contrib.documents.pdf_paragraphs import groups_of, measured
from crawler.contrib.documents.pdf_tables import PdfTable, with_tables
from crawler.page.document import MAX_PAGES, MAX_TEXT, DocumentContent, DocumentError, Facts, Fault
from crawler.page.text import fold_space

MOST_OUTLINE = 5_000
"""Entries of an outline, which may name itself."""
MAX_DEPTH = 6
DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])")
LEAST_LETTERS = 16
"""Mean letters of a page of a document that is more than images, without what stands on each page."""


def read_pdf(data: bytes) -> DocumentContent:
    """The document in a PDF file."""
    try:
        file = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) in (pdf.FPDF_ERR_PASSWORD, pdf.FPDF_ERR_SECURITY)
        raise DocumentError(Fault.ENCRYPTED if is_locked else Fault.BROKEN) from None
    count = len(file)
    pages, read = _pages(file, min(count, MAX_PAGES))
    kept = without_frames(pages)
    if sum(len(line.text) for page in kept for line in page) < LEAST_LETTERS * len(pages):
        raise DocumentError(Fault.SCANNED)
    lines = [in_order(page, gutter(page)) for page in map(without_contents, kept)]
    usual = measured(lines)
    with_rows = [list(_with_tables(page)) for page in lines]
    body = Body()
    add_blocks(body, groups_of(with_rows, usual), usual, _outline(file))
    _add_links(body, pages)
    is_cut = body.is_cut or read < count or any(page.is_cut for page in pages)
    return DocumentContent(body=body.html(), facts=_facts(file, count), is_cut=is_cut)


def _pages(file: pdfium.PdfDocument, count: int) -> tuple[list[PdfPage], int]:
    """The lines of the pages, up to as much text as is read; and how many pages were read. One that is damaged is
    empty.
    """
    reader = PdfPageReader()
    read_pages = list[PdfPage]()
    length = 0
    for number in range(count):
        if length > MAX_TEXT:
            break
        try:
            page = file[number]
        except pdfium.PdfiumError:
            read_pages.append(PdfPage([], 0.0))
            continue
        read_pages.append(reader.read(page, number))
        page.close()
        length += sum(len(line.text) for line in read_pages[-1].lines)
    return read_pages, len(read_pages)


def _add_links(body: Body, pages: list[PdfPage]) -> None:
    """Add each address once, with the texts that lead to it."""
    texts: dict[str, dict[str, None]] = {}
    for link in chain.from_iterable(page.links for page in pages):
        texts.setdefault(link.url, {})[link.text] = None
    for url, link_texts in texts.items():
        body.link(url, fold_space(" ".join(link_texts))[:MAX_LINK_TEXT])


def _with_tables(lines: list[PdfLine]) -> list[PdfLine | PdfTable]:
    """The lines of a page with its tables, which stand within one column."""
    between = gutter(lines)
    if between is None:
        return with_tables(lines)
    lines_and_tables: list[PdfLine | PdfTable] = []
    part: list[PdfLine] = []
    for line in lines:
        if part and side(part[-1], between) != side(line, between):
            lines_and_tables += with_tables(part)
            part = []
        part.append(line)
    return lines_and_tables + with_tables(part)


def _outline(file: pdfium.PdfDocument) -> dict[str, int]:
    """The levels of the headings in the outline, by their letters; a heading of several levels has the highest."""
    levels: dict[str, int] = {}
    try:
        for at, entry in enumerate(file.get_toc(max_depth=MAX_DEPTH)):
            if at >= MOST_OUTLINE:
                break
            key = letters(entry.get_title()[:500])
            if key:
                levels[key] = min(levels.get(key, MAX_DEPTH), entry.level + 1)
    except (pdfium.PdfiumError, UnicodeDecodeError):
        return levels
    return levels


def _facts(file: pdfium.PdfDocument, count: int) -> Facts:
    def said(read: Callable[[], Any]) -> str:
        try:
            return str(read() or "")
        except (pdfium.PdfiumError, UnicodeDecodeError):
            return ""

    date = DATE.match(said(partial(file.get_metadata_value, "CreationDate")))
    published = "-".join(date.groups()) if date else ""
    title, author = (said(partial(file.get_metadata_value, key)) for key in ("Title", "Author"))
    return Facts(title=title, author=author, published=published, language="", pages=count)
