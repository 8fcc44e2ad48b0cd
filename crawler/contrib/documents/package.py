"""Files of a ZIP archive within limits, and XML within limits: what DOCX, ODT and EPUB files are made of."""

import io
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from crawler.page.document import DocumentError, Fault

MAX_FILES = 20_000
"""Entries of an archive: a book has some hundred."""
MAX_FILE = 64 * 1024 * 1024
"""Bytes of one unpacked file: the text of the largest books has a tenth of it."""
MAX_TOTAL = 128 * 1024 * 1024
"""Bytes of all files that are unpacked."""
MAX_LEVELS = 200
"""Elements in each other: lxml refuses more than 256 anyway."""
DIRECTORY_MARK = b"PK\x01\x02"
"""Each entry of the directory begins with it: section 4.3.12 of the format,
https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT."""
ENCRYPTED = 1  # a flag of entries
BAD = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError)


class Package:
    """An archive, of which files are unpacked when they are asked for."""

    def __init__(self, data: bytes) -> None:
        # zipfile makes an object of each entry, which takes seconds if there are many.
        if data.count(DIRECTORY_MARK) > MAX_FILES:
            raise DocumentError(Fault.LIMIT)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except BAD:
            raise DocumentError(Fault.BROKEN) from None
        self._entries = {entry.filename: entry for entry in self._zip.infolist()}
        self._left = MAX_TOTAL

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """The bytes of a file; raises a DocumentError if it is not there, damaged or too large."""
        entry = self._entries.get(name)
        if entry is None:
            raise DocumentError(Fault.BROKEN)
        if entry.flag_bits & ENCRYPTED:
            raise DocumentError(Fault.ENCRYPTED)
        most = min(MAX_FILE, self._left)
        try:
            with self._zip.open(entry) as file:
                data = file.read(most + 1)  # what the entry says about its size may be a lie
        except BAD:
            raise DocumentError(Fault.BROKEN) from None
        if len(data) > most:
            raise DocumentError(Fault.LIMIT)
        self._left -= len(data)
        return data

    def xml(self, name: str) -> etree._Element:
        """The root of a file of XML."""
        return parsed_xml(self.read(name))

    def xml_if_any(self, name: str) -> etree._Element | None:
        """The root of a file of XML that a document may lack."""
        try:
            return self.xml(name)
        except DocumentError as error:
            if error.fault is not Fault.BROKEN:
                raise
            return None


def parsed_xml(data: bytes) -> etree._Element:
    """The root of XML in which no entity is resolved and nothing else is loaded."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        raise DocumentError(Fault.BROKEN) from None
    return root


def local(element: etree._Element) -> str:
    """The name of an element without its namespace; empty for what is no element."""
    tag = element.tag
    if isinstance(tag, str):
        return tag.rpartition("}")[2]
    return ""


def attribute(element: etree._Element, name: str) -> str:
    """The value of an attribute whatever its namespace is."""
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def elements_named(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The elements of these names in an element, in document order."""
    return (one for one in element.iter() if local(one) in names)
