"""Reads DOCX files (Office Open XML): word/document.xml with its styles, numbering and notes.

https://ecma-international.org/publications-and-standards/standards/ecma-376/
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from itertools import takewhile

from lxml import etree

from crawler.contrib.documents.html_body import Body, anchor
from crawler.contrib.documents.package import Package, attribute, elements_named, local
from crawler.page.document import DocumentContent, Facts

HEADING = re.compile(r"(?:heading|überschrift|titre|título|标题|標題|見出し)\s*([1-9])", re.IGNORECASE)
"""The name of a style of headings, with its level."""
SKIPPED = frozenset(
    (
        "del",
        "moveFrom",
        "instrText",
        "delText",
        "Fallback",
        "sectPr",
        "pPr",
        "rPr",
        "drawing",
        "pict",
        "object",
        "tblPr",
        "txbxContent",
    )
)
"""Elements that are deleted, are alternatives of others, or hold no text. Text boxes are read after their paragraph."""
MOST_STYLES = 20
"""The most styles, each based on the next, that are followed to find a level."""
OFF = frozenset(("0", "false", "off"))
"""Values that switch a property such as `vanish` off; without a value, the property is on."""
TEXT_LEVEL = 9
"""The outline level of text that is not a heading; headings have 0 to 8, which are the levels 1 to 9 of this module."""


def read_docx(data: bytes) -> DocumentContent:
    """The document in a DOCX file."""
    package = Package(data)
    main = _main_file(package)
    root = package.xml(main)
    reader = _DocxReader(package, main)
    body = Body()
    document = next(elements_named(root, "body"), None)
    if document is not None:
        reader.blocks(document, body)
    reader.notes(body)
    return DocumentContent(body=body.html(), facts=_facts(package), is_cut=body.is_cut)


def _main_file(package: Package) -> str:
    """The name of the file that has the text."""
    relations = package.xml_if_any("_rels/.rels")
    if relations is None:
        return "word/document.xml"
    for relation in relations:
        if (relation.get("Type") or "").endswith("/officeDocument"):
            return (relation.get("Target") or "").lstrip("/")
    return "word/document.xml"


class _DocxReader:
    """Reads the text of a document, with the styles, links and notes to which it refers."""

    def __init__(self, package: Package, main: str) -> None:
        folder, _, name = main.rpartition("/")
        self.package = package
        self.folder = folder
        styles = package.xml_if_any(f"{folder}/styles.xml")
        self.levels = _heading_levels(styles)
        """The levels of headings, by the ids of their styles."""
        self.hidden_styles = frozenset(_hidden_styles(styles))
        self.links: dict[str | None, str] = {}
        """The addresses of links, by the ids of their relations."""
        relations = package.xml_if_any(f"{folder}/_rels/{name}.rels")
        if relations is not None:
            for relation in relations:
                if relation.get("TargetMode") == "External":
                    self.links[relation.get("Id")] = relation.get("Target", "")

    def blocks(self, parent: etree._Element, body: Body) -> None:
        """Add the paragraphs and tables in an element."""
        for element in parent:
            if body.is_cut:
                return
            match local(element):
                case "p":
                    self.paragraph(element, body)
                case "tbl":
                    body.table(self.rows(element))
                case "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" | "smartTag":
                    self.blocks(element, body)

    def paragraph(self, element: etree._Element, body: Body) -> None:
        """Add a heading, an item or a paragraph, by its style; then the text boxes in it."""
        text = "".join(self.pieces(element))
        style, level, is_item, depth = self.properties(element)
        if not is_contents(style) and style not in self.hidden_styles:
            if level:
                body.heading(text, level)
            elif is_item:
                body.item(text, depth)
            else:
                body.paragraph(text)
        for box in elements_named(element, "txbxContent"):
            ancestors = takewhile(lambda ancestor: ancestor is not element, box.iterancestors())
            if {"txbxContent", "Fallback"}.isdisjoint(map(local, ancestors)):  # a box in a box is read with the outer
                self.blocks(box, body)

    def properties(self, element: etree._Element) -> tuple[str, int, bool, int]:
        """The style of a paragraph, its level as a heading or 0, whether it is an item, and the depth of its list.

        An item has a number or bullet of its own, or by its style, such as ListBullet.
        """
        style = ""
        level = 0
        depth = 0
        is_item: bool | None = None  # unless the paragraph has a number or bullet of its own, its style decides
        for element_properties in element.iterchildren("{*}pPr"):
            for child in element_properties:
                match local(child):
                    case "pStyle":  # the first property, so an outline level of the paragraph itself counts more
                        style = attribute(child, "val")
                        level = self.levels.get(style, 0)
                    case "outlineLvl":
                        level = _level(attribute(child, "val"))
                    case "numPr":  # numId 0 removes the number that the style gives
                        is_item = not any(attribute(number, "val") == "0" for number in child.iterchildren("{*}numId"))
                        depths = (_number(attribute(ilvl, "val")) for ilvl in child.iterchildren("{*}ilvl"))
                        depth = next(depths, 0)
        if is_item is None:
            is_item = style.lower().startswith("list")
        return style, level, is_item, depth

    def is_hidden(self, run: etree._Element) -> bool:
        """Whether a run of text is hidden, by itself or by its style."""
        for properties in run.iterchildren("{*}rPr"):
            value_of_name = {local(child): attribute(child, "val") for child in properties}
            if "vanish" in value_of_name:
                return value_of_name["vanish"] not in OFF
            return value_of_name.get("rStyle") in self.hidden_styles
        return False

    def pieces(self, element: etree._Element) -> Iterator[str]:
        """The text of a paragraph as HTML, with its links."""
        for child in element:
            name = local(child)
            if name in SKIPPED or (name == "r" and self.is_hidden(child)):
                continue
            match name:
                case "t":
                    yield escape(child.text or "", quote=False)
                case "tab":
                    yield "\t"
                case "br" | "cr":
                    yield " " if attribute(child, "type") else "<br>"  # with a type, it begins a page or a column
                case "noBreakHyphen":
                    yield "-"
                case "hyperlink":
                    text = "".join(self.pieces(child))
                    yield anchor(self.links.get(attribute(child, "id"), ""), text)
                case _:
                    yield from self.pieces(child)

    def rows(self, table: etree._Element) -> Iterator[list[str]]:
        """The cells of a table as HTML; a table in a cell is part of the cell's text."""
        for row in table.iterchildren("{*}tr"):
            yield [
                " ".join("".join(self.pieces(paragraph)) for paragraph in elements_named(cell, "p"))
                for cell in elements_named(row, "tc")
                if next(cell.iterancestors("{*}tr"), None) is row
            ]

    def notes(self, body: Body) -> None:
        """Add footnotes and endnotes."""
        for name in ("footnotes", "endnotes"):
            root = self.package.xml_if_any(f"{self.folder}/{name}.xml")
            if root is None:
                continue
            for note in root:
                if not attribute(note, "type"):  # a note with a type is the line between the text and its notes
                    self.blocks(note, body)


def is_contents(style: str) -> bool:
    """Whether a style is for the lines of a table of contents.

    >>> is_contents("TOC1"), is_contents("Heading1")
    (True, False)
    """
    return re.match(r"toc ?\d|verzeichnis ?\d|tableoffigures", style, re.IGNORECASE) is not None


def _hidden_styles(styles: etree._Element | None) -> Iterator[str]:
    """The ids of the styles of hidden text."""
    if styles is None:
        return
    for style in styles.iterchildren("{*}style"):
        if any(attribute(vanish, "val") not in OFF for vanish in style.iterfind("{*}rPr/{*}vanish")):
            yield attribute(style, "styleId")


def _heading_levels(styles: etree._Element | None) -> dict[str, int]:
    """The level of each style of headings, by its id; a style inherits the level of the style that it is based on."""
    if styles is None:
        return {}
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in styles.iterchildren("{*}style"):
        style_id = attribute(style, "styleId")
        value_of_name = {local(child): attribute(child, "val") for child in style.iter()}
        level = _level_of_style(value_of_name)
        if level:
            levels[style_id] = level
        if "basedOn" in value_of_name:
            bases[style_id] = value_of_name["basedOn"]

    for style_id in bases:
        base = style_id
        for _ in range(MOST_STYLES):  # styles may be based on each other in a cycle
            if base in levels or base not in bases:
                break
            base = bases[base]
        if base in levels:
            levels.setdefault(style_id, levels[base])
    return levels


def _level_of_style(value_of_name: Mapping[str, str]) -> int:
    """The level of a style by its name or its outline level; 0 if it is not a style of headings."""
    name = value_of_name.get("name", "")
    match = HEADING.fullmatch(name)
    if match:
        return int(match[1])
    if name.lower() == "title":
        return 1
    return _level(value_of_name.get("outlineLvl", ""))


def _level(value: str) -> int:
    """The level of a heading with this outline level; 0 for TEXT_LEVEL, or if the value is no number."""
    number = _number(value, TEXT_LEVEL)
    return number + 1 if number < TEXT_LEVEL else 0


def _number(value: str, otherwise: int = 0) -> int:
    """The value as a number if it has at most four decimal digits, or else `otherwise`."""
    if value.isascii() and value.isdigit() and len(value) < 5:
        return int(value)
    return otherwise


def _facts(package: Package) -> Facts:
    """The facts in the properties of a document."""
    text_of_name: dict[str, str] = {}
    core = package.xml_if_any("docProps/core.xml")
    if core is not None:
        text_of_name = {local(child): (child.text or "").strip() for child in core}

    pages = 0
    app = package.xml_if_any("docProps/app.xml")
    if app is not None:
        page_counts = (_number((element.text or "").strip()) for element in elements_named(app, "Pages"))
        pages = next(page_counts, 0)

    return Facts(
        title=text_of_name.get("title", ""),
        author=text_of_name.get("creator", ""),
        published=text_of_name.get("created", ""),
        language=text_of_name.get("language", ""),
        pages=pages or None,
    )
