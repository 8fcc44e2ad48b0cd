"""Blocks of Markdown packed into texts that are not over a size.

A block that is over the size alone is cut, each piece being Markdown of its kind: code at the ends of lines, between
fences again; a table between rows, below its head again; a list between items; a quote and an item between the blocks
in them; a paragraph between sentences. The continuation of an item stands without its indentation.
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
"""Lists and quotes in each other that are cut between their parts; deeper ones are cut as text."""
HEAD_ROWS = 2
"""The lines of a table above its rows: the names of the columns, and the dashes below."""


def packed_blocks(section: Iterable[MarkdownBlock], limit: float, count: CountTokens, depth: int = 0) -> Iterator[str]:
    """The blocks in texts of at most `limit` tokens."""
    parts = ((f"{block.text}\n\n", partial(_cut, block, limit, count, depth)) for block in section)
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
    """The lines of a quote without the signs before them."""
    return [QUOTE_MARK.sub("", line, count=1) for line in block.lines]


def _joined(parts: Sequence[str]) -> str:
    return "".join(parts).strip("\n")


def _cut(block: MarkdownBlock, limit: float, count: CountTokens, depth: int) -> Iterator[str]:
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
    if room < limit / 2:
        head, rows, room = [], [*head, *rows], limit
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
        yield piece if number else f"{mark}{piece}".replace("\n", f"\n{indent}")


def _cut_quote(block: MarkdownBlock, limit: float, count: CountTokens, depth: int) -> Iterator[str]:
    mark = count("> ")
    room = limit - mark
    if room < limit / 2:
        return cut_text(block.text, limit, count)
    pieces = packed_blocks(
        blocks(quote_content(block)), room, lambda text: count(text) + mark * text.count("\n"), depth + 1
    )
    return map(_quoted, pieces)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _without_indent(line: str, width: int) -> str:
    blanks = INDENT.match(line)
    return line[min(width, blanks.end() if blanks is not None else 0) :]
