"""The blocks of Markdown: headings, paragraphs, and whole tables, lists, quotes and code.

This module reads the Markdown that crawler/extraction/output writes, where code is in fences, headings begin with #,
and special characters in texts are escaped. In other Markdown, indented code, underlined headings and HTML are read as
paragraphs. The patterns follow https://spec.commonmark.org/0.31.2/, with tables, definitions and footnotes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

MARKER = re.compile(r" {0,3}(?:[-+*]|\d{1,9}[.)]|:|\[\^[^\]\s]{1,99}\]:)(?:[ \t]+|$)")
"""The marker of an item, a definition or a footnote, at the start of a line."""
HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
QUOTE_MARK = re.compile(r" {0,3}> ?")
FENCE = re.compile(r"[ \t]*(?:(?:[-+*]|\d{1,9}[.)]|:)[ \t]+){0,20}(?P<fence>`{3,}(?=[^`]*$)|~{3,})")
"""A line that begins code, possibly after the markers of items."""
CLOSING_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*$")
BLOCK_START = re.compile("|".join(pattern.pattern for pattern in (HEADING, FENCE, QUOTE_MARK, MARKER)))
"""A line that ends the paragraph before it, even without an empty line between them."""
DELIMITERS = frozenset("|:- \t")
"""The characters of the delimiter row, which is below the head of a table."""
INDENT = re.compile(r"[ \t]*")
LEAST_INDENT = 2
"""The least indentation of a line that continues an item."""


class BlockKind(StrEnum):
    """The kinds of blocks."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    TABLE = "table"
    LIST = "list"
    QUOTE = "quote"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownBlock:
    """A block, without the empty lines around it."""

    kind: BlockKind
    lines: tuple[str, ...]
    first_line: int
    """The index of the block's first line in the text."""

    @property
    def text(self) -> str:
        """Its Markdown."""
        return "\n".join(self.lines)

    @property
    def level(self) -> int:
        """The level of a heading, from 1 to 6; 0 for other blocks."""
        marks = HEADING.match(self.lines[0])
        return 0 if marks is None else len(marks[1])


def blocks(lines: list[str]) -> Iterator[MarkdownBlock]:
    """The blocks of a text with these lines.

    >>> [block.kind.value for block in blocks(["# Bees", "They dance.", "", "- a", "- b", "```", "# c", "```"])]
    ['heading', 'paragraph', 'list', 'code']
    """
    start = 0
    while start < len(lines):
        if not lines[start].strip():
            start += 1
            continue
        kind = _kind(lines, start)
        end = _ENDS[kind](lines, start)
        next_start = end
        while not lines[end - 1].strip():  # a list may end with empty lines, which are no part of it
            end -= 1
        yield MarkdownBlock(kind=kind, lines=tuple(lines[start:end]), first_line=start)
        start = next_start


def items(block: MarkdownBlock) -> Iterator[list[str]]:
    """The lines of each item of a block of the kind `LIST`; a definition or a footnote is an item, too."""
    item: list[str] = []
    content_indent = 1  # at first, only a marker without indentation begins an item, after the term of a definition
    fence = ""
    for line in block.lines:
        # A marker that is indented as far as the content of the item belongs to a list within the item.
        marker = None if fence else MARKER.match(line)
        if marker is not None and _indent(line) < content_indent:
            if item:
                yield item
            item = []
            content_indent = marker.end()
        item.append(line)
        fence = fence_after(line, fence)
    yield item


def fence_after(line: str, fence: str) -> str:
    """The fence of the code block that is open after a line; empty if none is open."""
    if fence:
        closing = CLOSING_FENCE.match(line)
        return "" if closing is not None and closing["fence"].startswith(fence) else fence
    opening = FENCE.match(line)
    return "" if opening is None else opening["fence"]


def _kind(lines: list[str], at: int) -> BlockKind:
    """The kind of the block that begins at this line."""
    line = lines[at]
    if MARKER.match(line):
        return BlockKind.LIST
    if FENCE.match(line):
        return BlockKind.CODE
    if HEADING.match(line):
        return BlockKind.HEADING
    if QUOTE_MARK.match(line):
        return BlockKind.QUOTE
    following = lines[at + 1] if at + 1 < len(lines) else ""
    if "|" in line and _is_delimiter_row(following):
        return BlockKind.TABLE
    return BlockKind.LIST if _is_definition(following) else BlockKind.PARAGRAPH


def _is_delimiter_row(line: str) -> bool:
    return "|" in line and "-" in line and DELIMITERS.issuperset(line)


def _is_definition(line: str) -> bool:
    return line.startswith(":") and MARKER.match(line) is not None


def _end_of_heading(lines: list[str], start: int) -> int:
    return start + 1


def _end_of_paragraph(lines: list[str], start: int) -> int:
    end = start + 1
    while end < len(lines) and lines[end].strip() and not BLOCK_START.match(lines[end]):
        end += 1
    return end


def _end_of_quote(lines: list[str], start: int) -> int:
    end = start + 1
    while end < len(lines) and QUOTE_MARK.match(lines[end]):
        end += 1
    return end


def _end_of_table(lines: list[str], start: int) -> int:
    end = start + 2  # after the head and the delimiter row
    while end < len(lines) and "|" in lines[end] and not BLOCK_START.match(lines[end]):
        end += 1
    return end


def _end_of_code(lines: list[str], start: int) -> int:
    fence = fence_after(lines[start], "")
    end = start + 1
    while end < len(lines) and fence:
        fence = fence_after(lines[end], fence)
        end += 1
    return end


def _end_of_list(lines: list[str], start: int) -> int:
    """The index after a list, which continues with items, indented lines, and further lines of a paragraph.

    A further line of a paragraph need not be indented: https://spec.commonmark.org/0.31.2/#lazy-continuation-line
    """
    fence = fence_after(lines[start], "")
    end = start + 1
    while end < len(lines):
        line = lines[end]
        is_inside = fence or not line.strip() or MARKER.match(line) or _indent(line) >= LEAST_INDENT
        if not is_inside and (not lines[end - 1].strip() or BLOCK_START.match(line)):
            break
        fence = fence_after(line, fence)
        end += 1
    return end


def _indent(line: str) -> int:
    blanks = INDENT.match(line)
    return 0 if blanks is None else blanks.end()


_ENDS = {
    BlockKind.HEADING: _end_of_heading,
    BlockKind.PARAGRAPH: _end_of_paragraph,
    BlockKind.TABLE: _end_of_table,
    BlockKind.LIST: _end_of_list,
    BlockKind.QUOTE: _end_of_quote,
    BlockKind.CODE: _end_of_code,
}
"""The functions that return the index after a block, by its kind."""
