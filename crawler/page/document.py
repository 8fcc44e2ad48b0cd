"""The content of a document: its text as HTML, and its metadata. Also the limits within which documents are read."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from html import escape

MAX_TEXT = 4_000_000
"""Characters of a document that are read."""
MAX_BLOCKS = 40_000
"""Paragraphs, headings, items, listings and cells of a document that are read."""
MAX_PAGES = 2_000
"""Pages of a PDF file, and files of a book, that are read."""

MAX_SECONDS = 30
"""Seconds of CPU time for one document. A PDF file of 2,000 pages takes half of it."""
MAX_WAIT = 120
"""Seconds of wall-clock time after which a document is given up. This limit matters on a busy machine, and on Windows,
where CPU time cannot be limited.
"""
MAX_MEMORY = 1024 * 1024 * 1024
"""Bytes of memory of the process that reads documents."""


class Fault(StrEnum):
    """Why a document has no text."""

    BROKEN = "broken"
    """The file is damaged, or of another type than its name or its server says."""
    ENCRYPTED = "encrypted"
    """The file cannot be read without a password."""
    SCANNED = "scanned"
    """The file contains only images of text, or nothing."""
    NO_SENTENCES = "no_sentences"
    """A text file is empty or contains no text for readers, but code or data."""
    LIMIT = "limit"
    """The file takes more time or memory than one document may."""


class DocumentError(Exception):
    """A document cannot be read."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Facts:
    """The metadata as a file has them, unchecked; missing fields are empty."""

    _: KW_ONLY
    title: str = ""
    author: str = ""
    published: str = ""
    """A date in ISO 8601, perhaps with a time."""
    language: str = ""
    pages: int | None = None


@dataclass(frozen=True)
class DocumentContent:
    """The text of a document as HTML, and its metadata."""

    body: str
    """The text, as the content of an HTML <body>."""
    facts: Facts
    is_cut: bool = False
    """Whether the document exceeds a limit and the rest is cut off."""
    media_type: str = ""

    @property
    def html(self) -> str:
        """The text as an HTML page."""
        language = ""
        if self.facts.language:
            language = f' lang="{escape(self.facts.language)}"'
        return f"<!DOCTYPE html><html{language}><head></head><body>{self.body}</body></html>"
