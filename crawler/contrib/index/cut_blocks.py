"""Packs blocks of Markdown into texts of limited size.

A block that is larger than the limit is cut so that each piece is Markdown of the same kind: code at the ends of lines,
each piece in fences; a table between rows, each piece with the head; a list between items; a quote and an item between
the blocks in them; a paragraph between sentences. The continuation of an item is written without its indentation.

The parts that each piece repeats, such as fences or a head, reduce the room for its contents. If less than half of the
limit is left, the block is cut as plain text instead; a table is still cut between rows, but its head is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from crawler.contrib.index.chunk_size import CountTokens
from crawler.contrib.index.cut_text import Part, cut_line, cut_text, packed
from crawler.contrib.index.markdown_blocks import (
    INDENT,
    MARKER,
    QUOTE_MARK,
    BlockKind,
    MarkdownBlock,
    blocks,
    fence_after,
    items,
)

MOST_DEPTH = 8
"""Levels of nested lists and quotes that are cut between their parts; deeper ones are cut as text."""
HEAD_ROWS = 2
"""The lines of a table above its rows: the names of the columns, and the delimiter row."""


def packed_blocks(
    neighbouring_blocks: Iterable[MarkdownBlock], limit: float, count: CountTokens, depth: int = 0
) -> Iterator[str]:
    """Texts of at most `limit` tokens that are made of these blocks.

    `depth` is the number of lists and quotes around the blocks.
    """
    parts = ((f"{block.text}\n\n", partial(_cut, block, limit, count, depth)) for block in neighbouring_blocks)
    return packed(parts, limit, count, _joined)


def item_content(lines: Sequence[str]) -> list[str]:
    """The lines of an item without its marker and its indentation.

    >>> item_content(["- a", "  b", "    c"])
    ['a', 'b', '  c']
    """
    marker = MARKER.match(lines[0])
    width = 0 if marker is None else marker.end()
    return [lines[0][width:], *(_without_indent(line, width) for line in lines[1:])]


def quote_content(block: MarkdownBlock) -> list[str]:
    """The lines of a quote without their quote marks."""
    return [QUOTE_MARK.sub("", line, count=1) for line in block.lines]


def _joined(parts: Sequence[str]) -> str:
    return "".join(parts).strip("\n")


def _cut(block: MarkdownBlock, limit: float, count: CountTokens, depth: int) -> Iterator[str]:
    """The pieces of a block that is larger than the limit."""
    if depth < MOST_DEPTH:
        match block.kind:
            case BlockKind.CODE:
                return _cut_code(block, limit, count)
            case BlockKind.TABLE:
                return _cut_table(block, limit, count)
            case BlockKind.LIST:
                return _cut_list(block, limit, count, depth)
            case BlockKind.QUOTE:
                return _cut_quote(block, limit, count, depth)
    return cut_text(block.text, limit, count)


def _cut_code(block: MarkdownBlock, limit: float, count: CountTokens) -> Iterator[str]:
    opening = block.lines[0]
    fence = fence_after(opening, "")
    # Code without a closing fence ends with the page.
    is_closed = len(block.lines) > 1 and not fence_after(block.lines[-1], fence)
    code = block.lines[1:-1] if is_closed else block.lines[1:]
    room = limit - count(f"{opening}\n{fence}\n")
    if room < limit / 2:
        return cut_text(block.text, limit, count)
    parts = ((f"{line}\n", partial(cut_line, line, room, count)) for line in code)
    return (f"{opening}\n{_joined([lines])}\n{fence}" for lines in packed(parts, room, count, _joined))


def _cut_table(block: MarkdownBlock, limit: float, count: CountTokens) -> Iterator[str]:
    head = [f"{line}\n" for line in block.lines[:HEAD_ROWS]]
    rows = [f"{line}\n" for line in block.lines[HEAD_ROWS:]]
    room = limit - count("".join(head))
    if room < limit / 2:  # the head is not repeated
        rows = [*head, *rows]
        head = []
        room = limit
    # The pieces of a cut row get no head, so they may fill the limit.
    parts: Iterable[Part] = ((row, partial(cut_text, row, limit, count)) for row in rows)
    return packed(parts, room, count, lambda run: _joined([*head, *run]))


def _cut_list(block: MarkdownBlock, limit: float, count: CountTokens, depth: int) -> Iterator[str]:
    parts = ((_lines(item), partial(_cut_item, item, limit, count, depth)) for item in items(block))
    return packed(parts, limit, count, _joined)


def _cut_item(item: Sequence[str], limit: float, count: CountTokens, depth: int) -> Iterator[str]:
    """The pieces of an item; the first has its marker."""
    marker = MARKER.match(item[0])
    mark = "" if marker is None else marker[0]
    room = limit - count(mark)
    if room < limit / 2:
        yield from cut_text(_lines(item), limit, count)
        return
    indent = " " * len(mark)
    pieces = packed_blocks(blocks(item_content(item)), room, count, depth + 1)
    for number, piece in enumerate(pieces):
        if number == 0:
            yield f"{mark}{piece}".replace("\n", f"\n{indent}")
        else:
            yield piece


def _cut_quote(block: MarkdownBlock, limit: float, count: CountTokens, depth: int) -> Iterator[str]:
    mark_tokens = count("> ")
    room = limit - mark_tokens
    if room < limit / 2:
        return cut_text(block.text, limit, count)

    def count_quoted(text: str) -> float:
        """The tokens of a text with a quote mark on each line but one, whose mark is subtracted from the room."""
        return count(text) + mark_tokens * text.count("\n")

    return map(_quoted, packed_blocks(blocks(quote_content(block)), room, count_quoted, depth + 1))


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _without_indent(line: str, width: int) -> str:
    blanks = INDENT.match(line)
    indent = 0 if blanks is None else blanks.end()
    return line[min(width, indent) :]
