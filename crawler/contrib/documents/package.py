"""Reads XML and other files in a ZIP archive, within limits: a DOCX, ODT or EPUB file is such an archive."""

import io
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from crawler.page.document import DocumentError, Fault

MAX_FILES = 20_000
"""The most entries of an archive: a book has some hundred."""
MAX_FILE = 64 * 1024 * 1024
"""The most bytes of one unpacked file: the text of the largest books is a tenth as long."""
MAX_TOTAL = 128 * 1024 * 1024
"""The most bytes of all files that are unpacked."""
DIRECTORY_MARK = b"PK\x01\x02"
"""The bytes with which each entry of the directory begins: section 4.3.12 of
https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT."""
ENCRYPTED = 1
"""The flag of an encrypted entry: section 4.4.4 of the same specification."""
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)
"""What zipfile raises for damaged archives."""


class Package:
    """An archive whose files are unpacked on request."""

    def __init__(self, data: bytes) -> None:
        # Checked first because zipfile makes an object of each entry, which takes seconds if there are many.
        if data.count(DIRECTORY_MARK) > MAX_FILES:
            raise DocumentError(Fault.LIMIT)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except ZIP_ERRORS:
            raise DocumentError(Fault.BROKEN) from None
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        self._bytes_left = MAX_TOTAL

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """The bytes of a file; raises a DocumentError if the file is missing, damaged, encrypted or too large."""
        entry = self._entries.get(name)
        if entry is None:
            raise DocumentError(Fault.BROKEN)
        if entry.flag_bits & ENCRYPTED:
            raise DocumentError(Fault.ENCRYPTED)
        limit = min(MAX_FILE, self._bytes_left)
        try:
            with self._zip.open(entry) as file:
                data = file.read(limit + 1)  # the size in the entry may be wrong
        except ZIP_ERRORS:
            raise DocumentError(Fault.BROKEN) from None
        if len(data) > limit:
            raise DocumentError(Fault.LIMIT)
        self._bytes_left -= len(data)
        return data

    def xml(self, name: str) -> etree._Element:
        """The root of an XML file."""
        return parsed_xml(self.read(name))

    def xml_if_any(self, name: str) -> etree._Element | None:
        """The root of an XML file; None if it is missing or damaged. Raises a DocumentError if it is encrypted or too
        large.
        """
        try:
            return self.xml(name)
        except DocumentError as error:
            if error.fault is not Fault.BROKEN:
                raise
            return None


def parsed_xml(data: bytes) -> etree._Element:
    """The root of an XML document, parsed without resolving entities or loading anything else."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise DocumentError(Fault.BROKEN) from None
    return root


def local(element: etree._Element) -> str:
    """The name of an element without its namespace; empty for a node that is not an element."""
    tag = element.tag
    if isinstance(tag, str):
        return tag.rpartition("}")[2]
    return ""


def attribute(element: etree._Element, name: str) -> str:
    """The value of an attribute in any namespace; empty if there is none."""
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def elements_named(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The element itself and its descendants with these names, in document order."""
    return (descendant for descendant in element.iter() if local(descendant) in names)
