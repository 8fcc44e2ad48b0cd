"""Reads EPUB files (EPUB 2 and 3): the chapters, each a page of XHTML, in the order of the spine.

META-INF/container.xml names the package document. Its manifest lists all files with their ids, and its spine the ids of
the chapters.
https://www.w3.org/TR/epub-33/#sec-package-doc
"""

import posixpath
import re
from html import escape
from urllib.parse import unquote

from lxml import etree

from crawler.contrib.documents.html_body import Body
from crawler.contrib.documents.package import Package, attribute, elements_named, local
from crawler.page.document import MAX_PAGES, DocumentContent, DocumentError, Facts, Fault
from crawler.page.page import Page

DROPPED_ELEMENTS = (
    "script",
    "style",
    "nav",
    "svg",
    "img",
    "picture",
    "audio",
    "video",
    "iframe",
    "object",
    "embed",
    "form",
)
KEPT_ATTRIBUTES = {"href": ("http://", "https://"), "colspan": ("",), "start": ("",), "value": ("",)}
"""Attributes that are kept if their values have one of these prefixes; the empty prefix allows any value."""
HIDING = re.compile(r"display\s*:\s*none", re.IGNORECASE)
CHAPTER_TYPES = frozenset(("application/xhtml+xml", "text/html", "application/xml", ""))
"""The media types of chapters in the manifest; a missing one is empty."""
MAX_AUTHORS = 10


def read_epub(data: bytes) -> DocumentContent:
    """The document in an EPUB file."""
    package = Package(data)
    container = package.xml("META-INF/container.xml")
    name = next((attribute(rootfile, "full-path") for rootfile in elements_named(container, "rootfile")), "")
    package_document = package.xml(name)
    encrypted_files = _encrypted_files(package)
    body = Body()
    chapters_read = 0
    chapters = _chapters(package_document, posixpath.dirname(name))
    for chapter in chapters[:MAX_PAGES]:
        if body.is_cut:
            break
        if chapter in encrypted_files:
            raise DocumentError(Fault.ENCRYPTED)
        if chapter in package:
            _add_chapter(package.read(chapter), body)
            chapters_read += 1
    if not chapters_read:
        raise DocumentError(Fault.BROKEN)
    is_cut = body.is_cut or len(chapters) > MAX_PAGES
    return DocumentContent(body=body.html(), facts=_facts(package_document), is_cut=is_cut)


def _encrypted_files(package: Package) -> frozenset[str]:
    """The names of the encrypted files. Often these are only fonts, which are not read."""
    root = package.xml_if_any("META-INF/encryption.xml")
    if root is None:
        return frozenset()
    return frozenset(unquote(attribute(reference, "URI")) for reference in elements_named(root, "CipherReference"))


def _chapters(package_document: etree._Element, folder: str) -> list[str]:
    """The names of the chapters' files, in reading order, without the table of contents (`nav`). Names in the manifest
    are relative to `folder`, which has the package document.
    """
    files: dict[str, str] = {}
    for item in elements_named(package_document, "item"):
        is_text = attribute(item, "media-type") in CHAPTER_TYPES and "nav" not in attribute(item, "properties").split()
        if is_text:
            files[attribute(item, "id")] = posixpath.normpath(
                posixpath.join(folder, unquote(attribute(item, "href").partition("#")[0]))
            )
    spine = [
        attribute(itemref, "idref")
        for itemref in elements_named(package_document, "itemref")
        if attribute(itemref, "linear") != "no"
    ]
    return [files[key] for key in dict.fromkeys(spine) if key in files]  # each chapter once


def _add_chapter(data: bytes, body: Body) -> None:
    """Add the text of a chapter without media, scripts, hidden elements, and attributes that are not kept."""
    page = Page(url="", body=data, content_type="application/xhtml+xml")
    part = next(page.root.iter("body"), None)
    if part is None:
        return
    for element in list(part.iter(etree.Element)):
        if (
            element.tag in DROPPED_ELEMENTS
            or element.get("hidden") is not None
            or HIDING.search(element.get("style", ""))
        ):
            _drop(element)
    for element in part.iter(etree.Element):
        for key, value in list(element.items()):
            if key not in KEPT_ATTRIBUTES or not str(value).startswith(KEPT_ATTRIBUTES[str(key)]):
                del element.attrib[key]
    text = "".join(map(str, part.itertext()))
    html = "".join(etree.tostring(child, encoding="unicode", method="html") for child in part)
    body.markup(escape(part.text or "") + html, text, sum(1 for _ in part.iter()))


def _drop(element: etree._Element) -> None:
    """Remove an element from its tree, but not the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    before = element.getprevious()
    if element.tail:
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _facts(package_document: etree._Element) -> Facts:
    """The facts in the metadata of a book."""
    texts_of_name: dict[str, list[str]] = {}
    for metadata in package_document.iterchildren("{*}metadata"):
        for element in metadata.iter():
            text = (element.text or "").strip()
            if text:
                texts_of_name.setdefault(local(element), []).append(text)
    first_texts = {name: texts[0] for name, texts in texts_of_name.items()}
    authors = "; ".join(texts_of_name.get("creator", ())[:MAX_AUTHORS])
    return Facts(
        title=first_texts.get("title", ""),
        author=authors,
        published=first_texts.get("date", ""),
        language=first_texts.get("language", ""),
    )
