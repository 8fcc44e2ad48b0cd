"""What is read of a document: its text as a body of HTML, and what the file says about itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import NamedTuple

MAX_TEXT = 4_000_000
"""Characters of a document; the rest is left out, as that of a page is."""
MAX_BLOCKS = 40_000
"""Paragraphs, headings, items, listings and cells of a document."""
MAX_PAGES = 2_000
"""Pages of a PDF file, and files of a book, that are read."""


class Fault(StrEnum):
    """Why a document has no text."""

    BROKEN = "broken"
    """It is damaged, or another kind of file than its name or its server say."""
    ENCRYPTED = "encrypted"
    """It cannot be read without a password."""
    SCANNED = "scanned"
    """It has images of text alone, or nothing."""
    LIMIT = "limit"
    """It takes more time or memory than one document may."""


class DocumentError(Exception):
    """A document cannot be read."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class Facts(NamedTuple):
    """What a file says about itself; empty where it says nothing."""

    title: str = ""
    author: str = ""
    published: str = ""
    """ISO 8601."""
    language: str = ""
    pages: int | None = None


class Block(NamedTuple):
    """A stretch of text with its kind."""

    kind: str
    """heading, paragraph, item, code or table."""
    text: str = ""
    level: int = 0
    """Of a heading from 1, of an item from 0."""
    rows: tuple[tuple[str, ...], ...] = ()
    """The cells of a table."""


@dataclass(frozen=True)
class Document:
    """The text of a document as HTML, and what the file says about itself."""

    body: str
    facts: Facts
    is_cut: bool = False
    """Whether it is longer than what is read of a document."""

    @property
    def html(self) -> str:
        """A whole page; it has no links that the file does not have, and no scripts."""
        language = f' lang="{escape(self.facts.language)}"' if self.facts.language else ""
        title = escape(self.facts.title)
        return f"<!DOCTYPE html><html{language}><head><title>{title}</title></head><body>{self.body}</body></html>"


def body_of(blocks: Iterable[Block]) -> tuple[str, bool]:
    """The HTML of blocks, and whether some were left out because there are too many.

    >>> body_of([Block("heading", "Bees", 1), Block("item", "One"), Block("item", "Two"), Block("paragraph", "a < b")])
    ('<h1>Bees</h1>\\n<ul><li>One</li>\\n<li>Two</li>\\n</ul><p>a &lt; b</p>\\n', False)
    """
    found: list[str] = []
    length = count = depth = 0
    for block in blocks:
        length += len(block.text) + sum(len(cell) for row in block.rows for cell in row)
        count += 1 + sum(map(len, block.rows))
        if length > MAX_TEXT or count > MAX_BLOCKS:
            return "".join(found) + "</ul>" * depth, True
        wanted = min(block.level, depth) + 1 if block.kind == "item" else 0
        found.append("<ul>" * (wanted - depth) + "</ul>" * (depth - wanted) + _element(block) + "\n")
        depth = wanted
    return "".join(found) + "</ul>" * depth, False


def _element(block: Block) -> str:
    match block.kind:
        case "heading":
            level = min(max(block.level, 1), 6)
            return f"<h{level}>{escape(block.text)}</h{level}>"
        case "item":
            return f"<li>{escape(block.text)}</li>"
        case "code":
            return f"<pre>{escape(block.text)}</pre>"
        case "table":
            rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in block.rows)
            return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"
    return f"<p>{escape(block.text)}</p>"
