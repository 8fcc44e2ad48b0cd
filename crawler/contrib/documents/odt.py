"""Reads ODT files (OpenDocument, ISO 26300): content.xml and meta.xml."""

from collections.abc import Iterator
from html import escape

from lxml import etree

from crawler.contrib.documents.html_body import Body, anchor
from crawler.contrib.documents.package import Package, attribute, found, local
from crawler.page.document import DocumentContent, DocumentError, Facts, Fault

SKIPPED = frozenset(
    "tracked-changes annotation annotation-end table-of-content alphabetical-index illustration-index table-index "
    "object-index user-index sequence-decls forms shape title desc".split()
)
"""What is no text of the document, or a list of what is in it."""
HOLDERS = frozenset("section list-header table-header-rows table-rows table-row-group text-box frame".split())
TITLES = {"Title": 1, "Subtitle": 2}


def read_odt(data: bytes) -> DocumentContent:
    """The document in an ODT file."""
    package = Package(data)
    manifest = package.xml_if_any("META-INF/manifest.xml")
    if manifest is not None and next(found(manifest, "encryption-data"), None) is not None:
        raise DocumentError(Fault.ENCRYPTED)
    root = package.xml("content.xml")
    body = Body()
    reader = _OdtReader(root)
    for text in root.iterfind("{*}body/{*}text"):
        reader.blocks(text, body)
    for note in reader.notes:
        reader.blocks(note, body)
    return DocumentContent(body=body.html(), facts=_facts(package), is_cut=body.is_cut)


class _OdtReader:
    def __init__(self, root: etree._Element) -> None:
        self.notes: list[etree._Element] = []
        """The texts of the notes, which follow the document."""
        self.bases = {
            attribute(style, "name"): attribute(style, "parent-style-name")
            for styles in root.iterchildren("{*}automatic-styles")
            for style in styles.iterchildren("{*}style")
        }
        self.hidden = {
            attribute(style, "name")
            for style in root.iterfind("{*}automatic-styles/{*}style")
            if any(attribute(one, "display") == "none" for one in style.iterchildren("{*}text-properties"))
        }

    def blocks(self, parent: etree._Element, body: Body) -> None:
        """Add the headings, paragraphs, lists and tables in an element."""
        for element in parent:
            if body.is_cut:
                return
            match local(element):
                case "h":
                    level = attribute(element, "outline-level")
                    body.heading(self.text(element), int(level) if level.isdigit() and len(level) < 3 else 1)
                case "p":
                    self.paragraph(element, body)
                case "list":
                    self.items(element, body, 0)
                case "table":
                    body.table(self.rows(element))
                case name if name in HOLDERS and not self.is_hidden(element):
                    self.blocks(element, body)

    def paragraph(self, element: etree._Element, body: Body) -> None:
        """Add a paragraph, and then those of the boxes of text in it."""
        style = attribute(element, "style-name")
        level = TITLES.get(style) or TITLES.get(self.bases.get(style, ""))
        if level:
            body.heading(self.text(element), level)
        else:
            body.paragraph(self.text(element))
        for frame in element.iterchildren("{*}frame"):
            self.blocks(frame, body)

    def items(self, element: etree._Element, body: Body, depth: int) -> None:
        """Add the items of a list and of the lists in it."""
        for item in element:
            if body.is_cut:
                return
            for one in item:
                match local(one):
                    case "list":
                        self.items(one, body, depth + 1)
                    case "h":
                        self.blocks([one], body)  # type: ignore[arg-type]
                    case "p":
                        body.item(self.text(one), depth)

    def is_hidden(self, element: etree._Element) -> bool:
        """Whether a paragraph, a section or a part of a paragraph is hidden, by itself or by its style."""
        return attribute(element, "display") == "none" or attribute(element, "style-name") in self.hidden

    def text(self, element: etree._Element) -> str:
        """The text of a paragraph as HTML, with its links; nothing of a hidden one."""
        return "" if self.is_hidden(element) else "".join(self.pieces(element))

    def pieces(self, element: etree._Element) -> Iterator[str]:
        yield escape(element.text or "", quote=False)
        for one in element:
            match local(one):
                case "s" | "tab":
                    yield " "
                case "line-break":
                    yield "<br>"
                case "a":
                    yield anchor(attribute(one, "href"), self.text(one))
                case "note":
                    self.notes += one.iterchildren("{*}note-body")
                case name if name not in SKIPPED and name != "frame" and not self.is_hidden(one):
                    yield from self.pieces(one)
            yield escape(one.tail or "", quote=False)

    def rows(self, table: etree._Element) -> Iterator[list[str]]:
        """The cells of a table as HTML; a table in a cell is text of it."""
        for row in found(table, "table-row"):
            if next((above for above in row.iterancestors("{*}table")), None) is table:
                yield [
                    " ".join(filter(None, (self.text(one) for one in found(cell, "p", "h"))))
                    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell")
                ]


def _facts(package: Package) -> Facts:
    meta = package.xml_if_any("meta.xml")
    if meta is None:
        return Facts()
    said = {local(one): (one.text or "").strip() for one in found(meta, *FACTS)}
    pages = next((attribute(one, "page-count") for one in found(meta, "document-statistic")), "")
    return Facts(
        title=said.get("title", ""),
        author=said.get("initial-creator") or said.get("creator", ""),
        published=said.get("creation-date") or said.get("date", ""),
        language=said.get("language", ""),
        pages=int(pages) if pages.isdigit() and len(pages) < 6 else None,
    )


FACTS = ("title", "initial-creator", "creator", "creation-date", "date", "language")
