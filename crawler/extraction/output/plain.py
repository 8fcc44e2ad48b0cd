"""The kept blocks of a page as text that reads well.

A paragraph is a line. The items of a list begin with "- ", numbered ones too, the short cells of a table's row share a
line, code keeps its lines and their indentation without the numbers beside it, and what a page holds twice, once more
for small screens or for print, is there once. Where a page breaks its lines itself, with a <br> at the end of each,
they are put together again (`crawler.extraction.output.line_breaks`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from lxml import etree

from crawler.extraction.output.inline import MAX_PARTS, listing
from crawler.extraction.output.line_breaks import LEAST_LINES, MARKED, Starts, unwrapped
from crawler.page.contents import EASTERN, Block

DASH = "- "
HOLDERS = frozenset(("li", "td", "th", "pre"))
# Above these there is no list item or cell that what stands below is the text of.
OUTSIDE = frozenset("article body html main section table tbody tr ul ol dl form h1 h2 h3 h4 h5 h6".split())
# Levels from a text to its cell or code; what lies deeper is laid out. An item is marked where it has the text itself,
# or the first element in it: what is deeper in a list is a card or a reader's comment.
REACH = 3
# A shorter line may well be said twice; in Chinese half as many characters say as much.
DOUBLE_LENGTH = 160
# Characters of a cell, and of a row, that is a line.
MAX_CELL, MAX_ROW = 120, 400

_element = attrgetter("element")


def plain(blocks: Sequence[Block]) -> str:
    """The text of these blocks, which are some of a page's and in its order."""
    text = _Text()
    for element, run in groupby(blocks, _element):
        if lines := text.unsaid(run):
            text.add(element, lines)
    text.end()
    return "\n".join(text.lines)


class _Text:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.said: set[str] = set()
        self.holders: dict[etree._Element, etree._Element | None] = {}
        self.begun: set[etree._Element] = set()
        """The items that have a line."""
        self.row: etree._Element | None = None
        self.cells: dict[etree._Element, list[str]] = {}
        self.pre: etree._Element | None = None
        self.code: list[str] = []
        self.parts: Counter[etree._Element] = Counter()
        self.starts = Starts()

    def unsaid(self, run: Iterable[Block]) -> list[str]:
        """The texts of some blocks, without what was there before in the same words."""
        return [block.text for block in run if not is_said(block.text, self.said)]

    def add(self, element: etree._Element, lines: list[str]) -> None:
        """Add the texts that follow each other in an element."""
        holder = self.holder(element)
        if holder is None:
            self.end()
            self.lines += self.unwrapped(element, lines)
        elif holder.tag == "li":
            self.end()
            lines = self.unwrapped(element, lines)
            if element is holder or element.getparent() is holder:
                lines[0] = self.mark(holder, lines[0]) + lines[0]
            self.lines += lines
        elif holder.tag == "pre":
            if holder is not self.pre:
                self.end()
                self.pre = holder
            self.code += lines
        else:
            row = holder.getparent()
            if row is None or row is not self.row:
                self.end()
                self.row = row
            self.cells.setdefault(holder, []).extend(self.unwrapped(element, lines))

    def unwrapped(self, element: etree._Element, lines: list[str]) -> list[str]:
        """The lines of an element, those of a paragraph that the page broke as one."""
        return lines if len(lines) < LEAST_LINES else unwrapped(element, lines, self.starts)

    def end(self) -> None:
        """End the row or the code that is open."""
        if self.cells:
            self.lines += row_lines(list(self.cells.values()))
            self.cells.clear()
            self.row = None
        elif self.pre is not None:
            self.parts[self.pre] += 1
            self.lines += listing(self.pre, self.code) if self.parts[self.pre] <= MAX_PARTS else self.code
            self.code, self.pre = [], None

    def holder(self, element: etree._Element) -> etree._Element | None:
        """The item, cell or code that an element is or stands in, if it is not far."""
        passed = []
        found: etree._Element | None = element
        for _ in range(REACH + 1):
            if found is None or found.tag in HOLDERS:
                break
            if found.tag in OUTSIDE:
                found = None
                break
            if found in self.holders:
                found = self.holders[found]
                break
            passed.append(found)
            found = found.getparent()
        else:
            return None
        for one in passed:
            self.holders[one] = found
        return found

    def mark(self, item: etree._Element, line: str) -> str:
        """What begins a line of an item: a dash, if it is the first and has no mark of its own."""
        if item in self.begun:
            return ""
        self.begun.add(item)
        return "" if MARKED.match(line) else DASH


def is_said(line: str, said: set[str]) -> bool:
    """Whether a long line was said before; it is from now on."""
    if len(line) * 2 < DOUBLE_LENGTH or (len(line) < DOUBLE_LENGTH and line[0] < EASTERN):
        return False
    if line in said:
        return True
    said.add(line)
    return False


def row_lines(cells: list[list[str]]) -> list[str]:
    """The lines of a table's row: one of short cells, else those that the cells have."""
    if len(cells) > 1:
        texts = [" ".join(cell) for cell in cells]
        lengths = [len(text) for text in texts]
        if max(lengths) <= MAX_CELL and sum(lengths) <= MAX_ROW:
            return [" | ".join(texts)]
    return [line for cell in cells for line in cell]
