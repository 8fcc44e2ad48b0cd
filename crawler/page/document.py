"""What is read of a document: its text as a body of HTML, and what the file says about itself."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from html import escape

MAX_TEXT = 4_000_000
"""Characters of a document; the rest is left out, as that of a page is."""
MAX_BLOCKS = 40_000
"""Paragraphs, headings, items, listings and cells of a document."""
MAX_PAGES = 2_000
"""Pages of a PDF file, and files of a book, that are read."""

MAX_SECONDS = 30
"""Seconds of CPU time for one document, of which a PDF file of 2,000 pages takes half."""
MAX_WAIT = 120
"""Seconds until a document is given up on a busy machine, or on Windows, where only these are limited."""
MAX_MEMORY = 1024 * 1024 * 1024
"""Bytes of the process that reads documents."""


class Fault(StrEnum):
    """Why a document has no text."""

    BROKEN = "broken"
    """It is damaged, or another kind of file than its name or its server say."""
    ENCRYPTED = "encrypted"
    """It cannot be read without a password."""
    SCANNED = "scanned"
    """It has images of text alone, or nothing."""
    NO_SENTENCES = "no_sentences"
    """It is a text file that is no text for readers, such as code or data, or empty."""
    LIMIT = "limit"
    """It takes more time or memory than one document may."""


class DocumentError(Exception):
    """A document cannot be read."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says about itself; empty where it says nothing."""

    _: KW_ONLY
    title: str = ""
    author: str = ""
    published: str = ""
    """ISO 8601."""
    language: str = ""
    pages: int | None = None


@dataclass(frozen=True)
class DocumentContent:
    """The text of a document as HTML, and what the file says about itself."""

    body: str
    facts: Facts
    is_cut: bool = False
    """Whether it is longer than what is read of a document."""
    media_type: str = ""

    @property
    def html(self) -> str:
        """A whole page."""
        language = f' lang="{escape(self.facts.language)}"' if self.facts.language else ""
        return f"<!DOCTYPE html><html{language}><head></head><body>{self.body}</body></html>"
