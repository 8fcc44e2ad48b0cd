"""Reads PDF files with PDFium.

The lines of each page come from `pdf_lines`. `pdf_running_heads` and `pdf_contents` remove lines that are not text,
`pdf_columns` puts the others into reading order, and `pdf_tables` finds tables. `pdf_paragraphs` groups lines into
paragraphs, and `pdf_blocks` makes headings, paragraphs, items, listings and tables of the groups.
"""

import re
from itertools import chain

import pypdfium2 as pdfium
import pypdfium2.raw as pdf

from crawler.contrib.documents.html_body import Body
from crawler.contrib.documents.pdf_blocks import add_blocks, letters
from crawler.contrib.documents.pdf_columns import gutter, in_order, side
from crawler.contrib.documents.pdf_contents import without_contents
from crawler.contrib.documents.pdf_lines import PdfLine, PdfPage, PdfPageReader
from crawler.contrib.documents.pdf_links import MAX_TEXT as MAX_LINK_TEXT
from crawler.contrib.documents.pdf_paragraphs import groups_of, measured
from crawler.contrib.documents.pdf_running_heads import without_running_heads
from crawler.contrib.documents.pdf_tables import PdfTable, with_tables
from crawler.page.document import MAX_PAGES, MAX_TEXT, DocumentContent, DocumentError, Facts, Fault
from crawler.page.text import fold_space

MOST_OUTLINE = 5_000
"""Entries of an outline (the bookmarks of a file) that are read: an outline may contain itself."""
MAX_DEPTH = 6
"""Levels of an outline that are read."""
DATE = re.compile(r"(?:D:)?((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])")
"""The day of a date such as `D:20240520134500Z`: section 7.9.4 of ISO 32000."""
LEAST_LETTERS = 16
"""The least mean number of characters of a page, without running heads; a document with fewer consists of images."""


def read_pdf(data: bytes) -> DocumentContent:
    """The document in a PDF file."""
    try:
        file = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        is_locked = getattr(error, "err_code", None) in (pdf.FPDF_ERR_PASSWORD, pdf.FPDF_ERR_SECURITY)
        raise DocumentError(Fault.ENCRYPTED if is_locked else Fault.BROKEN) from None

    # Read the pages, and remove the lines that are not text.
    count = len(file)
    pages = _pages(file, min(count, MAX_PAGES))
    text_pages = without_running_heads(pages)
    if sum(len(line.text) for page in text_pages for line in page) < LEAST_LETTERS * len(pages):
        raise DocumentError(Fault.SCANNED)
    text_pages = [in_order(page, gutter(page)) for page in map(without_contents, text_pages)]

    # Find tables, paragraphs and headings.
    usual = measured(text_pages)
    pages_with_tables = [_with_tables(page) for page in text_pages]
    body = Body()
    add_blocks(body, groups_of(pages_with_tables, usual), usual, _outline(file))
    _add_links(body, pages)

    is_cut = body.is_cut or len(pages) < count or any(page.is_cut for page in pages)
    return DocumentContent(body=body.html(), facts=_facts(file, count), is_cut=is_cut)


def _pages(file: pdfium.PdfDocument, count: int) -> list[PdfPage]:
    """The first `count` pages, or fewer if these have more than MAX_TEXT characters; a damaged page is empty."""
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
    texts: dict[str, dict[str, None]] = {}
    for link in chain.from_iterable(page.links for page in pages):
        texts.setdefault(link.url, {})[link.text] = None
    for url, link_texts in texts.items():
        body.link(url, fold_space(" ".join(link_texts))[:MAX_LINK_TEXT])


def _with_tables(lines: list[PdfLine]) -> list[PdfLine | PdfTable]:
    """The lines of a page with its tables, each of which is within one column."""
    gutter_x = gutter(lines)
    if gutter_x is None:
        return with_tables(lines)
    lines_and_tables: list[PdfLine | PdfTable] = []
    part: list[PdfLine] = []
    for line in lines:
        if part and side(part[-1], gutter_x) != side(line, gutter_x):
            lines_and_tables += with_tables(part)
            part = []
        part.append(line)
    return lines_and_tables + with_tables(part)


def _outline(file: pdfium.PdfDocument) -> dict[str, int]:
    """The levels of the headings in the outline, by the `letters` of the headings. A heading that occurs at several
    levels has the topmost. If the outline is damaged, only the headings before the damage count.
    """
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
    """The facts in the metadata of a file with this number of pages."""

    def metadata(key: str) -> str:
        try:
            return str(file.get_metadata_value(key) or "")
        except (pdfium.PdfiumError, UnicodeDecodeError):
            return ""

    date = DATE.match(metadata("CreationDate"))
    published = "-".join(date.groups()) if date else ""
    return Facts(title=metadata("Title"), author=metadata("Author"), published=published, language="", pages=count)
