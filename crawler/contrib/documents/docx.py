"""Reads DOCX files (Office Open XML, ECMA-376): word/document.xml with its styles, numbering and notes."""

import re
from collections.abc import Iterator
from html import escape

from lxml import etree

from crawler.contrib.documents.html_body import Body, anchor
from crawler.contrib.documents.package import Package, attribute, elements_named, local
from crawler.page.document import DocumentContent, Facts

HEADING = re.compile(r"(?:heading|überschrift|titre|título|标题|標題|見出し)\s*([1-9])", re.IGNORECASE)
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
    )
)
"""What is deleted, said in another way beside it, or no text. Boxes of text are read after their paragraph."""
MOST_STYLES = 20
OFF = frozenset(("0", "false", "off"))
"""Values of properties that are not set."""


def read_docx(data: bytes) -> DocumentContent:
    """The document in a DOCX file."""
    package = Package(data)
    main = _main(package)
    root = package.xml(main)
    reader = _DocxReader(package, main)
    body = Body()
    for part in elements_named(root, "body"):
        reader.blocks(part, body)
        break
    reader.notes(body)
    return DocumentContent(body=body.html(), facts=_facts(package), is_cut=body.is_cut)


def _main(package: Package) -> str:
    """The name of the file that has the text."""
    relations = package.xml_if_any("_rels/.rels")
    for relation in relations if relations is not None else ():
        if (relation.get("Type") or "").endswith("/officeDocument"):
            return (relation.get("Target") or "").lstrip("/")
    return "word/document.xml"


class _DocxReader:
    """Reads the parts of a document that refer to each other."""

    def __init__(self, package: Package, main: str) -> None:
        folder, _, name = main.rpartition("/")
        self.package = package
        self.folder = folder
        styles = package.xml_if_any(f"{folder}/styles.xml")
        self.levels = _heading_levels(styles)
        self.hidden = frozenset(_hidden_styles(styles))
        relations = package.xml_if_any(f"{folder}/_rels/{name}.rels")
        self.links = {
            relation.get("Id"): relation.get("Target", "")
            for relation in (relations if relations is not None else ())
            if relation.get("TargetMode") == "External"
        }

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
        """Add a paragraph as what its style says it is; then those of the boxes of text in it."""
        text = "".join(self.pieces(element))
        style, level, is_item, depth = self.look(element)
        if not is_contents(style) and style not in self.hidden:
            if level:
                body.heading(text, level)
            elif is_item:
                body.item(text, depth)
            else:
                body.paragraph(text)
        for box in elements_named(element, "txbxContent"):
            around = {local(above) for above in box.iterancestors()} if box is not element else set()
            if not around & {"txbxContent", "Fallback"}:  # those in boxes are read with their boxes
                self.blocks(box, body)

    def look(self, element: etree._Element) -> tuple[str, int, bool, int]:
        """The style of a paragraph, the level of a heading, whether it is an item, and how deep that is in others."""
        style = ""
        level = 0
        depth = 0
        is_item = False
        for properties in element.iterchildren("{*}pPr"):
            for child in properties:
                match local(child):
                    case "pStyle":
                        style = attribute(child, "val")
                        level = level or self.levels.get(style, 0)
                    case "outlineLvl":
                        level = _level(attribute(child, "val"))
                    case "numPr":
                        is_item = not any(attribute(id_, "val") == "0" for id_ in child.iterchildren("{*}numId"))
                        depth = next((_number(attribute(at, "val")) for at in child.iterchildren("{*}ilvl")), 0)
        return style, level, is_item or style.lower().startswith("list"), min(depth, 8)

    def is_hidden(self, run: etree._Element) -> bool:
        """Whether a run of text is hidden, by itself or by its style."""
        for properties in run.iterchildren("{*}rPr"):
            value_of_name = {local(child): attribute(child, "val") for child in properties}
            if "vanish" in value_of_name:
                return value_of_name["vanish"] not in OFF
            return value_of_name.get("rStyle") in self.hidden
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
                    yield " " if attribute(child, "type") else "<br>"
                case "noBreakHyphen":
                    yield "-"
                case "hyperlink":
                    text = "".join(self.pieces(child))
                    yield anchor(self.links.get(attribute(child, "id"), ""), text)
                case _:
                    yield from self.pieces(child)

    def rows(self, table: etree._Element) -> Iterator[list[str]]:
        """The cells of a table as HTML; a table in a cell is text of it."""
        for row in table.iterchildren("{*}tr"):
            yield [
                " ".join("".join(self.pieces(paragraph)) for paragraph in elements_named(cell, "p"))
                for cell in elements_named(row, "tc")
                if next((above for above in cell.iterancestors("{*}tr")), None) is row
            ]

    def notes(self, body: Body) -> None:
        """Add footnotes and endnotes."""
        for name in ("footnotes", "endnotes"):
            root = self.package.xml_if_any(f"{self.folder}/{name}.xml")
            for note in root if root is not None else ():
                if not attribute(note, "type"):  # of lines that divide notes from the text
                    self.blocks(note, body)


def is_contents(style: str) -> bool:
    """Whether a style is that of a table of contents.

    >>> is_contents("TOC1"), is_contents("Heading1")
    (True, False)
    """
    return re.match(r"toc ?\d|verzeichnis ?\d|tableoffigures", style, re.IGNORECASE) is not None


def _hidden_styles(styles: etree._Element | None) -> Iterator[str]:
    """The ids of the styles of hidden text."""
    for style in styles.iterchildren("{*}style") if styles is not None else ():
        if any(attribute(vanish, "val") not in OFF for vanish in style.iterfind("{*}rPr/{*}vanish")):
            yield attribute(style, "styleId")


def _heading_levels(styles: etree._Element | None) -> dict[str, int]:
    """The level of each style of headings, by its id; a style has that of the one that it is based on."""
    levels: dict[str, int] = {}
    bases: dict[str, str] = {}
    for style in styles.iterchildren("{*}style") if styles is not None else ():
        key = attribute(style, "styleId")
        value_of_name = {local(child): attribute(child, "val") for child in style.iter()}
        name = value_of_name.get("name", "")
        match = HEADING.fullmatch(name)
        level = (
            int(match[1]) if match else 1 if name.lower() == "title" else _level(value_of_name.get("outlineLvl", ""))
        )
        if level:
            levels[key] = level
        if "basedOn" in value_of_name:
            bases[key] = value_of_name["basedOn"]
    for key in bases:
        base = key
        for _ in range(MOST_STYLES):  # they may name each other
            if base in levels or base not in bases:
                break
            base = bases[base]
        if base in levels:
            levels.setdefault(key, levels[base])
    return levels


def _level(value: str) -> int:
    """The level of a heading that an outline level says, which begins at 0; 9 is that of text."""
    number = _number(value, 9)
    return number + 1 if number < 9 else 0


def _number(value: str, otherwise: int = 0) -> int:
    if value.isascii() and value.isdigit() and len(value) < 5:
        return int(value)
    return otherwise


def _facts(package: Package) -> Facts:
    core = package.xml_if_any("docProps/core.xml")
    app = package.xml_if_any("docProps/app.xml")
    text_of_name = {local(child): (child.text or "").strip() for child in (core if core is not None else ())}
    pages = (
        next((_number((pages_element.text or "").strip()) for pages_element in elements_named(app, "Pages")), 0)
        if app is not None
        else 0
    )
    return Facts(
        title=text_of_name.get("title", ""),
        author=text_of_name.get("creator", ""),
        published=text_of_name.get("created", ""),
        language=text_of_name.get("language", ""),
        pages=pages or None,
    )
