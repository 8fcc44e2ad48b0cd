"""Finds which responses and files are documents, by their media type, their name and their first bytes.

The first bytes of a text file have no mark. Markdown has a media type
(https://www.rfc-editor.org/rfc/rfc7763#section-2), but most servers call it plain text.
"""

import re

from crawler.page.decoding import utf16
from crawler.page.page import media_type
from crawler.urls.address import address_of

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
ODT = "application/vnd.oasis.opendocument.text"
EPUB = "application/epub+zip"
ZIP = "application/zip"
"""The type of DOCX, ODT and EPUB files until the archive is opened."""
ENDINGS = {"pdf": PDF, "docx": DOCX, "odt": ODT, "epub": EPUB}
TYPES = frozenset((*ENDINGS.values(), "application/x-pdf"))
VAGUE = frozenset(("application/octet-stream", "binary/octet-stream", ZIP, "application/x-download", ""))
"""Types that servers declare for any file."""
PLAIN_TEXT = "text/plain"
MARKDOWN = "text/markdown"
TEXT_TYPES = {
    PLAIN_TEXT: PLAIN_TEXT,
    MARKDOWN: MARKDOWN,
    "text/x-markdown": MARKDOWN,
    "text/x-web-markdown": MARKDOWN,
    "message/rfc822": PLAIN_TEXT,
    "application/mbox": PLAIN_TEXT,
}
"""The types of text files that servers declare, each with the type as which such a file is read."""
MARKDOWN_ENDINGS = frozenset(("md", "markdown", "mkd", "mdown"))
SOURCE_ENDINGS = tuple(f".{ending}" for ending in (*sorted(MARKDOWN_ENDINGS), "txt", "rst", "adoc"))
"""Endings of the texts from which web pages are made."""
PAGE_ENDINGS = (".html", ".htm", ".xhtml")
TEXT_ENDINGS = MARKDOWN_ENDINGS | {"txt", "eml", "mbox"}
"""Endings of text files on disk."""
MARKDOWN_NAMES = frozenset(("llms.txt", "llms-full.txt"))
"""Files for language models, which are Markdown (https://llmstxt.org/#format)."""
PDF_MARK = b"%PDF-"
ZIP_MARK = b"PK\x03\x04"
# The first bytes of an OLE container, which holds an encrypted DOCX file.
OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
FILE_NAME = re.compile(rf"filename\*?\s*=[^;]{{0,1000}}\.(?:{'|'.join(ENDINGS)})[\"'\s]*(?:;|$)", re.IGNORECASE)
"""The file name of a document in a Content-Disposition header."""
HEAD = 1024
"""How many bytes at the beginning of a file tell its type; the mark of PDF must be among them."""
LOCKED_DOCX = "EncryptedPackage".encode("utf-16-le")
"""The name of the stream that has the content of an encrypted DOCX file (MS-OFFCRYPTO)."""


BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""https://mimesniff.spec.whatwg.org/#binary-data-byte"""
BYTE_ORDER_MARKS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")


def is_binary(body: bytes) -> bool:
    r"""Whether bytes are not text (https://mimesniff.spec.whatwg.org/#sniffing-a-mislabeled-binary-resource).

    >>> is_binary(b"\x89PNG\r\n\x1a\n"), is_binary("蜜蜂".encode("gb18030")), is_binary("<p>Bees".encode("utf-16-le"))
    (True, False, False)
    """
    if body.startswith(BYTE_ORDER_MARKS) or utf16(body, ""):
        return False
    return BINARY_BYTE.search(body[:HEAD]) is not None


def may_be_document(declared: str, url: str, disposition: str = "") -> bool:
    """Whether a response may be a document, by its declared media type; if that is one of the `VAGUE` types, by the
    file name in its address or its Content-Disposition.
    """
    if declared not in VAGUE:
        return declared in TYPES
    return ending(url) in ENDINGS or FILE_NAME.search(disposition) is not None


def text_type(content_type: str, url: str) -> str:
    """`text/plain` or `text/markdown` if a response is read as a text file, with the declared parameters; otherwise
    empty.

    A response with one of the `VAGUE` types is a text file only if it has a name of Markdown.

    >>> text_type("text/plain; charset=gbk", "https://a.example/bees.md"), text_type("", "https://a.example/b.md")
    ('text/markdown; charset=gbk', 'text/markdown')
    >>> text_type("text/plain", "https://a.example/bees"), text_type("text/html", "https://a.example/bees.md")
    ('text/plain', '')
    """
    declared = media_type(content_type)
    is_markdown = _is_markdown(file_name(url))
    if declared in VAGUE:
        return MARKDOWN if is_markdown else ""
    read_as = TEXT_TYPES.get(declared, "")
    if read_as == PLAIN_TEXT and is_markdown:
        read_as = MARKDOWN
    parameters = content_type.partition(";")[2]
    if read_as and parameters:
        return f"{read_as};{parameters}"
    return read_as


def text_type_of_file(path: str) -> str:
    """`text/plain` or `text/markdown` for a text file on disk, by its name; empty if it is not a text file.

    >>> text_type_of_file("a/bees.md"), text_type_of_file("llms.txt"), text_type_of_file("Of #1.TXT")
    ('text/markdown', 'text/markdown', 'text/plain')
    >>> text_type_of_file("thread.eml"), text_type_of_file("2025-May.mbox"), text_type_of_file("bees")
    ('text/plain', 'text/plain', '')
    """
    name = path.rpartition("/")[2].lower()
    if _is_markdown(name):
        return MARKDOWN
    if _ending(name) in TEXT_ENDINGS:
        return PLAIN_TEXT
    return ""


def _is_markdown(name: str) -> bool:
    return _ending(name) in MARKDOWN_ENDINGS or name in MARKDOWN_NAMES


def is_source_of(url: str, page_url: str) -> bool:
    """Whether the page at `page_url` was probably made from the text at `url`, judging by the names of both files.

    >>> page = "https://a.example/docs/dance.html"
    >>> is_source_of("https://a.example/_sources/dance.md.txt", page), is_source_of("https://a.example/wax.md", page)
    (True, False)
    >>> is_source_of("https://a.example/dance/index.md", "https://a.example/dance/")
    True
    >>> is_source_of("https://b.example/docs/dance.md", page)
    False
    """
    if not url.endswith(SOURCE_ENDINGS):
        return False
    source = address_of(url)
    page = address_of(page_url)
    folder, _, name = page.path.rpartition("/")
    if name:
        names = {_bare_name(name, PAGE_ENDINGS)}
    else:  # the index of a folder, whose text may also be named like the folder
        names = {"index", folder.rpartition("/")[2]}
    return source.host == page.host and _bare_name(source.name, SOURCE_ENDINGS) in names


def _bare_name(name: str, endings: tuple[str, ...]) -> str:
    """A file name without these endings and those of web pages."""
    while name.endswith((*endings, *PAGE_ENDINGS)):
        name = name.rpartition(".")[0]
    return name


def file_name(url: str) -> str:
    """The name of the file that an address names, in lower case.

    >>> file_name("https://a.example/b/Bees.PDF?c=d.e")
    'bees.pdf'
    """
    return address_of(url).name.lower()


def ending(url: str) -> str:
    """The ending of the file that an address names.

    >>> ending("https://a.example/b/Bees.PDF?c=d.e"), ending("https://a.example/b")
    ('pdf', '')
    """
    return _ending(file_name(url))


def _ending(name: str) -> str:
    _, dot, ending = name.rpartition(".")
    return ending if dot else ""


def type_by_mark(data: bytes) -> str | None:
    """The type of a document by its mark; None for anything else.

    An archive is only opened in the process that reads documents, as its directory may have any number of entries.
    """
    if PDF_MARK in data[:HEAD]:
        return PDF
    if data.startswith(OLE_MARK) and LOCKED_DOCX in data:
        return DOCX
    if data.startswith(ZIP_MARK):
        return ZIP
    return None
