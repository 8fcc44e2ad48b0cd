"""Reads PDF files with PDFium.

The lines of each page come from `pdf_lines`, and its links from `pdf_links`. `pdf_running_heads` and `pdf_contents`
remove page numbers, tables of contents and the like, `pdf_columns` puts the other lines into reading order, and
`pdf_tables` finds tables. `pdf_paragraphs` groups lines into paragraphs, and `pdf_blocks` makes headings, paragraphs,
items, listings and tables of the groups.
"""

import re
from itertools import chain, islice

import pypdfium2 as pdfium
import pypdfium2.raw as pdf

from crawler.contrib.documents.html_body import Body
from crawler.contrib.documents.pdf_blocks import add_blocks, letters
from crawler.contrib.documents.pdf_columns import gutter, in_order, side
from crawler.contrib.documents.pdf_contents import without_contents
from crawler.contrib.documents.pdf_lines import PdfLine, PdfPage, PdfPageReader
from crawler.contrib.documents.pdf_links import MAX_TEXT as MAX_LINK_TEXT
from crawler.contrib.documents.pdf_paragraphs import groups_of, usual_measures
from crawler.contrib.documents.pdf_running_heads import without_running_heads
from crawler.contrib.documents.pdf_tables import PdfTable, with_tables
from crawler.page.document import MAX_PAGES, MAX_TEXT, DocumentContent, DocumentError, Facts, Fault
from crawler.page.text import fold_space

MAX_OUTLINE_ENTRIES = 5_000
"""The most entries of an outline (the bookmarks of a file) that are read. A faulty outline that contains itself has no
end.
"""
MAX_OUTLINE_LEVEL = 6
"""The lowest level of an outline that is read; 1 is the top."""
DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])")
"""The year, month and day of a date such as `D:20240520134500Z`: section 7.9.4 of ISO 32000."""
LEAST_CHARACTERS = 16
"""The least mean number of characters on a page, without running heads; a document with fewer consists of images."""


def read_pdf(data: bytes) -> DocumentContent:
    """The document in a PDF file."""
    try:
        file = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) in (pdf.FPDF_ERR_PASSWORD, pdf.FPDF_ERR_SECURITY)
        raise DocumentError(Fault.ENCRYPTED if is_locked else Fault.BROKEN) from None

    # Read the pages, remove running heads and tables of contents, and put the lines into reading order.
    page_count = len(file)
    pages = _pages(file, min(page_count, MAX_PAGES))
    text_pages = without_running_heads(pages)
    if sum(len(line.text) for page in text_pages for line in page) < LEAST_CHARACTERS * len(pages):
        raise DocumentError(Fault.SCANNED)
    text_pages = [in_order(page, gutter(page)) for page in map(without_contents, text_pages)]

    # Find tables, paragraphs and headings.
    usual = usual_measures(text_pages)
    pages_with_tables = [_with_tables(page) for page in text_pages]
    body = Body()
    add_blocks(body, groups_of(pages_with_tables, usual), usual, _outline(file))
    _add_links(body, pages)

    is_cut = body.is_cut or len(pages) < page_count or any(page.is_cut for page in pages)
    return DocumentContent(body=body.html(), facts=_facts(file, page_count), is_cut=is_cut)


def _pages(file: pdfium.PdfDocument, count: int) -> list[PdfPage]:
    """The first `count` pages; reading stops when they have more than MAX_TEXT characters. A damaged page is empty."""
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
    return read_pages


def _add_links(body: Body, pages: list[PdfPage]) -> None:
    """Add each address once, with the texts that lead to it."""
    texts_by_url: dict[str, dict[str, None]] = {}  # the inner dictionaries are sets that keep the order
    for link in chain.from_iterable(page.links for page in pages):
        texts_by_url.setdefault(link.url, {})[link.text] = None
    for url, link_texts in texts_by_url.items():
        body.link(url, fold_space(" ".join(link_texts))[:MAX_LINK_TEXT])


def _with_tables(lines: list[PdfLine]) -> list[PdfLine | PdfTable]:
    """The lines of a page with its tables.

    Tables are looked for among consecutive lines on one side of the gutter, so none spans two columns.
    """
    gutter_x = gutter(lines)
    if gutter_x is None:
        return with_tables(lines)
    lines_and_tables: list[PdfLine | PdfTable] = []
    lines_of_side: list[PdfLine] = []
    for line in lines:
        if lines_of_side and side(lines_of_side[-1], gutter_x) != side(line, gutter_x):
            lines_and_tables += with_tables(lines_of_side)
            lines_of_side = []
        lines_of_side.append(line)
    return lines_and_tables + with_tables(lines_of_side)


def _outline(file: pdfium.PdfDocument) -> dict[str, int]:
    """The level of each heading in the outline, by the heading's `letters`; 1 is the top.

    If several entries have the same letters, the topmost level counts. If the outline is damaged, only the entries
    before the damage count.
    """
    levels: dict[str, int] = {}
    try:
        for entry in islice(file.get_toc(max_depth=MAX_OUTLINE_LEVEL), MAX_OUTLINE_ENTRIES):
            key = letters(entry.get_title()[:500])  # no heading is as long
            if key:
                levels[key] = min(levels.get(key, MAX_OUTLINE_LEVEL), entry.level + 1)  # pypdfium2 counts from 0
    except (pdfium.PdfiumError, UnicodeDecodeError):
        return levels
    return levels


def _facts(file: pdfium.PdfDocument, page_count: int) -> Facts:
    """The facts in the metadata of a file."""

    def metadata(key: str) -> str:
        try:
            return str(file.get_metadata_value(key) or "")
        except (pdfium.PdfiumError, UnicodeDecodeError):
            return ""

    date = DATE.match(metadata("CreationDate"))
    published = "-".join(date.groups()) if date else ""
    return Facts(title=metadata("Title"), author=metadata("Author"), published=published, language="", pages=page_count)
