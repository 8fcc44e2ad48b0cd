"""The sections of a page's Markdown: the blocks between two headings, with all headings above them.

A heading in an item or a quote counts as a heading of the page, and the list or quote around it is replaced by its
contents. A heading without anything below it is the text of its own section, so that no heading is lost.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from crawler.contrib.index.cut_blocks import MOST_DEPTH, item_content, quote_content
from crawler.contrib.index.markdown_blocks import HEADING, BlockKind, MarkdownBlock, blocks, fence_after, items

MOST_LETTERS = 300
"""Characters of a heading that each chunk repeats; a longer heading is also in the text of its section."""
_NESTED_HEADING = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)]|:)[ \t][ \t>]*){0,20}#{1,6}[ \t]")
_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|\[\^[^\]\s]{1,99}\]|`+|(?<!\s)\*+|\*+(?!\s)")


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
    """A heading above the current place."""

    level: int
    text: str
    anchor: str
    block: MarkdownBlock | None
    """None for a title that is not in the Markdown."""


@dataclass
class _Outline:
    """The headings above the current place, and the blocks since the last one."""

    anchors: _Anchors
    open: list[_OpenHeading]
    blocks: list[MarkdownBlock] = field(default_factory=list)

    def close(self, level: int) -> Iterator[PageSection]:
        """End the section before a heading of this level."""
        heading = self.open[-1]
        if not self.blocks and heading.block is not None and level <= heading.level:
            self.blocks.append(heading.block)
        if self.blocks:
            anchor = next((above.anchor for above in reversed(self.open) if above.anchor), "")
            headings = tuple(above.text for above in self.open if above.text)
            yield PageSection(headings=headings, anchor=anchor, blocks=self.blocks)
            self.blocks = []

    def begin(self, block: MarkdownBlock) -> Iterator[PageSection]:
        """Begin the section below a heading."""
        yield from self.close(block.level)
        while self.open[-1].level >= block.level:
            self.open.pop()
        text = heading_text(block.lines[0])
        heading = _OpenHeading(level=block.level, text=_shortened(text), anchor=self.anchors.take(text), block=block)
        self.open.append(heading)
        if len(text) > MOST_LETTERS:
            self.blocks.append(block)


class _Anchors:
    """The anchors of headings, by the letters of their texts.

    Anchors are ignored if the HTML and the Markdown do not have the same number of headings with these letters.
    """

    def __init__(self, anchors: Iterable[HeadingAnchor], texts: Iterable[str]) -> None:
        by_letters = defaultdict[str, deque[str]](deque)
        for heading in anchors:
            by_letters[_letters(heading.text)].append(heading.anchor)
        counts = Counter(map(_letters, texts))
        self._by_letters = {
            letters: anchors_of_letters
            for letters, anchors_of_letters in by_letters.items()
            if len(anchors_of_letters) == counts[letters]
        }

    def take(self, text: str) -> str:
        """Remove and return the anchor of the next heading with this text; empty if there is none."""
        anchors = self._by_letters.get(_letters(text))
        return anchors.popleft() if anchors else ""


def page_sections(markdown: str, title: str = "", anchors: Iterable[HeadingAnchor] = ()) -> Iterator[PageSection]:
    """The sections of a page, in order.

    >>> [section.headings for section in page_sections("# Bees\\n\\na\\n\\n## Dance\\n\\nb", "Bees")]
    [('Bees',), ('Bees', 'Dance')]
    """
    page_blocks = [*_opened(markdown.split("\n"))]
    headings = [heading_text(block.lines[0]) for block in page_blocks if block.kind is BlockKind.HEADING]
    page_title = _OpenHeading(level=0, text=_shortened(title), anchor="", block=None)
    outline = _Outline(_Anchors(anchors, headings), [page_title])
    if page_blocks and page_blocks[0].kind is BlockKind.HEADING and _letters(headings[0]) == _letters(title):
        page_title.anchor = outline.anchors.take(headings[0])
        page_title.block = page_blocks.pop(0)
    for block in page_blocks:
        if block.kind is BlockKind.HEADING:
            yield from outline.begin(block)
        else:
            outline.blocks.append(block)
    yield from outline.close(0)


def heading_text(line: str) -> str:
    r"""The text of a heading without markup.

    >>> heading_text("## The *waggle* dance\\_1 of `Apis` [bees](https://example.org)")
    'The waggle dance_1 of Apis bees'
    """
    text = HEADING.sub("", line, count=1)
    if not text.isalnum():
        text = _MARKUP.sub(lambda match: match[1] or "", _LINK.sub(r"\1", text))
    return " ".join(text.split())


def _opened(lines: list[str], depth: int = 0) -> Iterator[MarkdownBlock]:
    """The blocks of a page; a list or quote with a heading in it is replaced by the blocks in it."""
    for block in blocks(lines):
        if depth < MOST_DEPTH and block.kind in (BlockKind.LIST, BlockKind.QUOTE) and _holds_heading(block):
            for content in _contents(block):
                yield from _opened(content, depth + 1)
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
    if len(text) <= MOST_LETTERS:
        return text
    return f"{text[: MOST_LETTERS - 1]}…"


def _letters(text: str) -> str:
    return "".join(text.split())
