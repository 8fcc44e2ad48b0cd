"""The sections of a page's Markdown: the blocks between two headings, with all headings above them.

A heading in an item or a quote counts as a heading of the page, and the list or quote around it is replaced by its
contents. If there is neither text nor another heading below a heading, its section has the heading itself as text, so
that no heading is lost.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from crawler.contrib.index.cut_blocks import MOST_DEPTH, item_content, quote_content
from crawler.contrib.index.markdown_blocks import HEADING, BlockKind, MarkdownBlock, blocks, fence_after, items

LONGEST_HEADING = 300
"""The most characters of a heading in `headings`; a longer heading is also in the text of its section."""
_NESTED_HEADING = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)]|:)[ \t][ \t>]*){0,20}#{1,6}[ \t]")
"""A heading after any markers of quotes and items."""
_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|\[\^[^\]\s]{1,99}\]|`+|(?<!\s)\*+|\*+(?!\s)")
"""An escaped character, the mark of a footnote, or a mark of code or emphasis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingAnchor:
    """A heading of a page, and the fragment of an address that leads to it."""

    text: str
    anchor: str
    """Empty if the page has no anchor for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """The blocks between a heading and the next one."""

    headings: tuple[str, ...]
    """The title of the page, then the headings above the section, the nearest last."""
    anchor: str
    """The anchor of the nearest heading above that has one."""
    blocks: Sequence[MarkdownBlock]


@dataclass(slots=True)
class _OpenHeading:
    """A heading above the current block."""

    level: int
    """From 1 to 6; 0 for the title of the page."""
    text: str
    anchor: str
    block: MarkdownBlock | None
    """None for a title that is not in the Markdown."""


@dataclass
class _Outline:
    """The headings above the current block, and the blocks since the last heading."""

    anchors: _Anchors
    open: list[_OpenHeading]
    blocks: list[MarkdownBlock] = field(default_factory=list)

    def close(self, level: int) -> Iterator[PageSection]:
        """End the section before a heading of this level, and yield it unless it is empty."""
        heading = self.open[-1]
        has_nothing_below = not self.blocks and level <= heading.level
        if has_nothing_below and heading.block is not None:
            self.blocks.append(heading.block)
        if self.blocks:
            anchor = next((above.anchor for above in reversed(self.open) if above.anchor), "")
            headings = tuple(above.text for above in self.open if above.text)
            yield PageSection(headings=headings, anchor=anchor, blocks=self.blocks)
            self.blocks = []

    def begin(self, block: MarkdownBlock) -> Iterator[PageSection]:
        """End the section above a heading, and begin the one below it."""
        yield from self.close(block.level)
        while self.open[-1].level >= block.level:
            self.open.pop()
        text = heading_text(block.lines[0])
        heading = _OpenHeading(level=block.level, text=_shortened(text), anchor=self.anchors.take(text), block=block)
        self.open.append(heading)
        if len(text) > LONGEST_HEADING:
            self.blocks.append(block)


class _Anchors:
    """The anchors of headings, by the texts of the headings without spaces, in which HTML and Markdown may differ.

    The anchors for a text are ignored if the HTML has more or fewer headings with this text than the Markdown.
    """

    def __init__(self, anchors: Iterable[HeadingAnchor], texts: Iterable[str]) -> None:
        by_text = defaultdict[str, deque[str]](deque)
        for heading in anchors:
            by_text[_without_spaces(heading.text)].append(heading.anchor)
        counts = Counter(map(_without_spaces, texts))
        self._by_text = {
            text: anchors_of_text for text, anchors_of_text in by_text.items() if len(anchors_of_text) == counts[text]
        }

    def take(self, text: str) -> str:
        """Remove and return the anchor of the next heading with this text; empty if there is none."""
        anchors = self._by_text.get(_without_spaces(text))
        return anchors.popleft() if anchors else ""


def page_sections(markdown: str, title: str = "", anchors: Iterable[HeadingAnchor] = ()) -> Iterator[PageSection]:
    """The sections of a page, in order.

    >>> [section.headings for section in page_sections("# Bees\\n\\na\\n\\n## Dance\\n\\nb", "Bees")]
    [('Bees',), ('Bees', 'Dance')]
    """
    page_blocks = [*_unwrapped(markdown.split("\n"))]
    headings = [heading_text(block.lines[0]) for block in page_blocks if block.kind is BlockKind.HEADING]
    page_title = _OpenHeading(level=0, text=_shortened(title), anchor="", block=None)
    outline = _Outline(_Anchors(anchors, headings), [page_title])

    # A heading at the beginning that repeats the title is the title itself.
    begins_with_heading = bool(page_blocks) and page_blocks[0].kind is BlockKind.HEADING
    if begins_with_heading and _without_spaces(headings[0]) == _without_spaces(title):
        page_title.anchor = outline.anchors.take(headings[0])
        page_title.block = page_blocks.pop(0)

    for block in page_blocks:
        if block.kind is BlockKind.HEADING:
            yield from outline.begin(block)
        else:
            outline.blocks.append(block)
    yield from outline.close(0)  # below every heading's level: the page ends


def heading_text(line: str) -> str:
    r"""The text of a heading without markup.

    >>> heading_text("## The *waggle* dance\\_1 of `Apis` [bees](https://example.org)")
    'The waggle dance_1 of Apis bees'
    """
    text = HEADING.sub("", line, count=1)
    if not text.isalnum():  # a single word has no markup
        text = _MARKUP.sub(lambda match: match[1] or "", _LINK.sub(r"\1", text))
    return " ".join(text.split())


def _unwrapped(lines: list[str], depth: int = 0) -> Iterator[MarkdownBlock]:
    """The blocks of a page; a list or quote with a heading in it is replaced by the blocks in it."""
    for block in blocks(lines):
        if depth < MOST_DEPTH and block.kind in (BlockKind.LIST, BlockKind.QUOTE) and _holds_heading(block):
            for content in _contents(block):
                yield from _unwrapped(content, depth + 1)
        else:
            yield block


def _holds_heading(block: MarkdownBlock) -> bool:
    fence = ""
    lines = quote_content(block) if block.kind is BlockKind.QUOTE else block.lines
    for line in lines:
        if not fence and _NESTED_HEADING.match(line):
            return True
        fence = fence_after(line, fence)
    return False


def _contents(block: MarkdownBlock) -> Iterator[list[str]]:
    if block.kind is BlockKind.QUOTE:
        yield quote_content(block)
    else:
        yield from map(item_content, items(block))


def _shortened(text: str) -> str:
    if len(text) <= LONGEST_HEADING:
        return text
    return f"{text[: LONGEST_HEADING - 1]}…"


def _without_spaces(text: str) -> str:
    return "".join(text.split())
