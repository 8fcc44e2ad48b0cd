"""Reads ODT files (OpenDocument): content.xml and meta.xml.

https://docs.oasis-open.org/office/OpenDocument/v1.3/

content.xml has the text and its automatic styles, which programs make of direct formatting; each is based on a named
style such as `Title`.
"""

from collections.abc import Iterator
from html import escape

from lxml import etree

from crawler.contrib.documents.html_body import Body, anchor
from crawler.contrib.documents.package import Package, attribute, elements_named, local
from crawler.page.document import DocumentContent, DocumentError, Facts, Fault

SKIPPED = frozenset(
    "tracked-changes annotation annotation-end table-of-content alphabetical-index illustration-index table-index "
    "object-index user-index sequence-decls forms shape title desc".split()
)
"""Elements that are not text of the document, or are lists of its contents."""
HOLDERS = frozenset("section list-header table-header-rows table-rows table-row-group text-box frame".split())
"""Elements that hold paragraphs, which are read like those of the text itself."""
TITLES = {"Title": 1, "Subtitle": 2}
"""The levels of the named styles that make a paragraph a heading."""
FACTS = ("title", "initial-creator", "creator", "creation-date", "date", "language")
"""The elements of meta.xml that are read."""


def read_odt(data: bytes) -> DocumentContent:
    """The document in an ODT file."""
    package = Package(data)
    manifest = package.xml_if_any("META-INF/manifest.xml")
    if manifest is not None and next(elements_named(manifest, "encryption-data"), None) is not None:
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
    """Reads the text of a document, with its automatic styles."""

    def __init__(self, root: etree._Element) -> None:
        self.notes: list[etree._Element] = []
        """The texts of the notes, which are added after the document."""
        self.bases = {
            attribute(style, "name"): attribute(style, "parent-style-name")
            for style in root.iterfind("{*}automatic-styles/{*}style")
        }
        """The name of the style on which an automatic style is based, by the name of the automatic style."""
        self.hidden_styles = {
            attribute(style, "name")
            for style in root.iterfind("{*}automatic-styles/{*}style")
            if any(
                attribute(properties, "display") == "none" for properties in style.iterchildren("{*}text-properties")
            )
        }
        """The names of the automatic styles of hidden text."""

    def blocks(self, parent: etree._Element, body: Body) -> None:
        """Add the headings, paragraphs, lists and tables in an element."""
        for element in parent:
            if body.is_cut:
                return
            match local(element):
                case "h":
                    outline_level = attribute(element, "outline-level")
                    is_number = outline_level.isdigit() and len(outline_level) < 3
                    body.heading(self.text(element), int(outline_level) if is_number else 1)
                case "p":
                    self.paragraph(element, body)
                case "list":
                    self.items(element, body, 0)
                case "table":
                    body.table(self.rows(element))
                case name if name in HOLDERS and not self.is_hidden(element):
                    self.blocks(element, body)

    def paragraph(self, element: etree._Element, body: Body) -> None:
        """Add a paragraph, or a heading by its style; then the text boxes in it."""
        style = attribute(element, "style-name")
        level = TITLES.get(style) or TITLES.get(self.bases.get(style, ""))
        if level:
            body.heading(self.text(element), level)
        else:
            body.paragraph(self.text(element))
        for frame in element.iterchildren("{*}frame"):
            self.blocks(frame, body)

    def items(self, element: etree._Element, body: Body, depth: int) -> None:
        """Add the items of a list and of the lists in it; `depth` is the number of lists around it."""
        for item in element:
            if body.is_cut:
                return
            for child in item:
                match local(child):
                    case "list":
                        self.items(child, body, depth + 1)
                    case "h":
                        self.blocks([child], body)  # type: ignore[arg-type] # blocks only iterates over its argument
                    case "p":
                        body.item(self.text(child), depth)

    def is_hidden(self, element: etree._Element) -> bool:
        """Whether a paragraph, a section or a part of a paragraph is hidden, by itself or by its style."""
        return attribute(element, "display") == "none" or attribute(element, "style-name") in self.hidden_styles

    def text(self, element: etree._Element) -> str:
        """The text of a paragraph as HTML, with its links; empty if the paragraph is hidden."""
        if self.is_hidden(element):
            return ""
        return "".join(self.pieces(element))

    def pieces(self, element: etree._Element) -> Iterator[str]:
        """The text of an element as HTML. The notes in it are added to `notes`."""
        yield escape(element.text or "", quote=False)
        for child in element:
            match local(child):
                case "s" | "tab":
                    yield " "
                case "line-break":
                    yield "<br>"
                case "a":
                    yield anchor(attribute(child, "href"), self.text(child))
                case "note":
                    self.notes += child.iterchildren("{*}note-body")
                # A text box in a frame is read after its paragraph.
                case name if name not in SKIPPED and name != "frame" and not self.is_hidden(child):
                    yield from self.pieces(child)
            yield escape(child.tail or "", quote=False)

    def rows(self, table: etree._Element) -> Iterator[list[str]]:
        """The cells of a table as HTML; a table in a cell is part of the cell's text."""
        for row in elements_named(table, "table-row"):
            if next(row.iterancestors("{*}table"), None) is table:
                yield [
                    " ".join(filter(None, (self.text(paragraph) for paragraph in elements_named(cell, "p", "h"))))
                    for cell in row.iterchildren("{*}table-cell", "{*}covered-table-cell")
                ]


def _facts(package: Package) -> Facts:
    """The facts in the metadata of a document."""
    meta = package.xml_if_any("meta.xml")
    if meta is None:
        return Facts()
    text_of_name = {local(fact): (fact.text or "").strip() for fact in elements_named(meta, *FACTS)}
    pages = next((attribute(statistic, "page-count") for statistic in elements_named(meta, "document-statistic")), "")
    return Facts(
        title=text_of_name.get("title", ""),
        author=text_of_name.get("initial-creator") or text_of_name.get("creator", ""),
        published=text_of_name.get("creation-date") or text_of_name.get("date", ""),
        language=text_of_name.get("language", ""),
        pages=int(pages) if pages.isdigit() and len(pages) < 6 else None,
    )
