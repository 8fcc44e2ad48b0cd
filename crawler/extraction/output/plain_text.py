"""The kept blocks of a page as text that reads well.

A paragraph is a line. The items of a list begin with "- " or their number, those of a list in an item after spaces.
The short cells of a table's row share a line, with the empty ones between them. Code keeps its lines and their
indentation without the numbers beside it, and what a page holds twice, once more for small screens or for print, is
there once.

`unwrapped` puts paragraphs together that a page breaks into lines of its own. Old pages end every line of about 60 to
80 characters with a <br>; poems, addresses and lists do so, too, and must keep their lines. Lines are taken for broken
where they are as full as they can be: the next line's first word had no room on them. That is so by chance in a poem
once or twice, in a broken paragraph nearly always; and nearly all of its lines end within a sentence. Headlines in a
row, which have no full stop, are never a paragraph.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice, pairwise
from operator import attrgetter

from lxml import etree

from crawler.extraction.output.code_listing import MAX_PARTS, listing
from crawler.page.blocks import INLINE, SILENT, Block, joined
from crawler.page.text import EASTERN, FULL_STOPS, fold_space, has_full_stop, width

DASH = "- "
INDENT = "  "
MAX_DEPTH = 8  # of a list in others; deeper ones are no deeper
MAX_COLUMNS = 60
MAX_ROWS = 1_000
HOLDERS = frozenset(("li", "td", "th", "pre"))
# Above these there is no list item or cell that what stands below is the text of.
OUTSIDE = frozenset("article body html main section table tbody tr ul ol dl form h1 h2 h3 h4 h5 h6".split())
# Levels from a text to its cell or code; what lies deeper is laid out. An item is marked where it has the text itself,
# or the first element in it: what is deeper in a list is a card or a reader's comment.
REACH = 3
# A shorter line may well be said twice; in Chinese half as many characters say as much.
DOUBLE_LENGTH = 160
# Characters of a cell, and of a row, that is a line.
MAX_CELL = 120
MAX_ROW = 400

_element = attrgetter("element")


def plain(blocks: Sequence[Block], *, keeps_repeated: bool = False) -> str:
    """The text of these blocks, which are some of a page's and in its order.

    A web page has long texts twice for screens of two sizes; what a document says twice is to be read twice.
    """
    text = _Text(keeps_repeated=keeps_repeated)
    for element, run in groupby(blocks, _element):
        lines = text.unsaid(run)
        if lines:
            text.add(element, lines)
    text.end()
    return "\n".join(text.lines)


class _Text:
    def __init__(self, *, keeps_repeated: bool) -> None:
        self.keeps_repeated = keeps_repeated
        self.lines: list[str] = []
        self.long_lines: set[str] = set()
        self.holders: dict[etree._Element, etree._Element | None] = {}
        self.begun: set[etree._Element] = set()
        """The items that have a line."""
        self.marks: dict[etree._Element, str] = {}
        self.depths: dict[etree._Element, int] = {}
        """How deep in others the lists of the marked items are."""
        self.columns: dict[etree._Element | None, set[int]] = {}
        """The columns of each table that have text."""
        self.row: etree._Element | None = None
        self.cells: dict[etree._Element, list[str]] = {}
        self.pre: etree._Element | None = None
        self.code: list[str] = []
        self.parts: Counter[etree._Element] = Counter()
        self.starts = Starts()

    def unsaid(self, run: Iterable[Block]) -> list[str]:
        """The texts of some blocks, without what was there before in the same words."""
        return [
            block.text for block in run if self.keeps_repeated or not remember_long_line(block.text, self.long_lines)
        ]

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
        if len(lines) < LEAST_LINES:
            return lines
        return unwrapped(element, lines, self.starts)

    def end(self) -> None:
        """End the row or the code that is open."""
        if self.cells:
            self.lines += row_lines(self.row_cells())
            self.cells.clear()
            self.row = None
        elif self.pre is not None:
            self.parts[self.pre] += 1
            self.lines += listing(self.pre, self.code) if self.parts[self.pre] <= MAX_PARTS else self.code
            self.code = []
            self.pre = None

    def row_cells(self) -> list[list[str]]:
        """The lines of the cells of the row, with empty ones between them unless nothing is in their columns."""
        row = self.row
        if row is None or len(self.cells) < 2 or not len(self.cells) < len(row) <= MAX_COLUMNS:
            return list(self.cells.values())
        table = next(islice(row.iterancestors("table"), 1), None)
        if table not in self.columns:
            self.columns[table] = _columns(table)
        places = list(_places(row))
        last = max(at for at, (_, cell) in enumerate(places) if cell in self.cells)
        cells = [(column, self.cells.get(cell, [])) for column, cell in places[: last + 1]]
        return [lines for column, lines in cells if lines or column in self.columns[table]]

    def holder(self, element: etree._Element) -> etree._Element | None:
        """The item, cell or code that an element is or stands in, if it is not far."""
        passed = []
        ancestor: etree._Element | None = element
        for _ in range(REACH + 1):
            if ancestor is None or ancestor.tag in HOLDERS:
                break
            if ancestor.tag in OUTSIDE:
                ancestor = None
                break
            if ancestor in self.holders:
                ancestor = self.holders[ancestor]
                break
            passed.append(ancestor)
            ancestor = ancestor.getparent()
        else:
            return None
        for passed_element in passed:
            self.holders[passed_element] = ancestor
        return ancestor

    def mark(self, item: etree._Element, line: str) -> str:
        """What begins a line of an item: a dash or its number, if it is the first and has no mark of its own."""
        if item in self.begun:
            return ""
        self.begun.add(item)
        home = item.getparent()
        above = home.getparent() if home is not None else None
        self.depths[item] = depth = min(self.depths.get(above, -1) + 1, MAX_DEPTH) if above is not None else 0
        if MARKED.match(line):
            return INDENT * depth
        if item not in self.marks:
            self.marks |= item_marks(item)
        return INDENT * depth + self.marks[item]


def item_marks(item: etree._Element) -> dict[etree._Element, str]:
    """What begins each item of the list that this one is in: a dash, or its number where they are in order."""
    home = item.getparent()
    if home is None or home.tag != "ol":
        return {item: DASH}
    marks = {}
    number = _number(home.get("start"), 1) - 1
    for child in home.iterchildren("li"):
        number = _number(child.get("value"), number + 1)
        marks[child] = f"{number}. "
    return marks


def _number(value: str | None, otherwise: int) -> int:
    if value and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    return otherwise


def _columns(table: etree._Element | None) -> set[int]:
    """The columns of a table that have text in one of its rows."""
    rows = chain.from_iterable(part.iterchildren("tr") for part in chain([table], table)) if table is not None else ()
    cells = chain.from_iterable(map(_places, islice(rows, MAX_ROWS)))
    return {column for column, cell in cells if any(not piece.isspace() for piece in cell.itertext())}


def _places(row: etree._Element) -> Iterator[tuple[int, etree._Element]]:
    """The cells of a row with their columns."""
    column = 0
    for cell in islice(row.iterchildren("td", "th"), MAX_COLUMNS):
        yield column, cell
        column += max(1, _number(cell.get("colspan"), 1))


def remember_long_line(line: str, long_lines: set[str]) -> bool:
    """Remember a line if it is long; returns whether the page had it before."""
    if len(line) * 2 < DOUBLE_LENGTH or (len(line) < DOUBLE_LENGTH and line[0] < EASTERN):
        return False
    if line in long_lines:
        return True
    long_lines.add(line)
    return False


def row_lines(cells: list[list[str]]) -> list[str]:
    """The lines of a table's row: one of short cells, else those that the cells have."""
    if len(cells) > 1:
        texts = [" ".join(cell) for cell in cells]
        lengths = [len(text) for text in texts]
        if max(lengths) <= MAX_CELL and sum(lengths) <= MAX_ROW:
            return [" | ".join(texts).lstrip()]
    return [line for cell in cells for line in cell]


LEAST_LINES = 4
# Columns of a full line; a Chinese character has two.
NARROWEST = 36
WIDEST = 120
# Lines differ by so much where the page was broken for letters of different widths.
SLACK = 0.12
# Shares of the line ends: within a sentence, and of those the ones at which there was no more room.
LEAST_WITHIN = 0.5
LEAST_FULL = 0.9
# A line that begins like this is one of a list: "Place: …", "l3:5:wait".
LABEL = re.compile(r"[^,.;，。；]{1,20}?[:：]")
MARKED = re.compile(
    r"[-–—*]\s|[•·‣・▪◦●○■□►▶◆◇★☆※✓✔]|[(（\[]?\d{1,3}[.)）\]、．](?!\d)|[①-⑳]|[一二三四五六七八九十]{1,3}、"
)
"""How the items of a list begin where the page writes their marks itself."""
FIRST_WORD = re.compile(r"\S{1,40}+")
STOPS = FULL_STOPS | frozenset(':：;；”’"」』）)!?…')


class Starts(dict[etree._Element, frozenset[str]]):
    """The lines in an element that have an empty one before them; all of it is read once for all of its runs."""

    def __missing__(self, element: etree._Element) -> frozenset[str]:
        self[element] = starts = _starts_of_paragraphs(element)
        return starts


def unwrapped(element: etree._Element, lines: list[str], starts: Starts) -> list[str]:
    """The paragraphs of these lines, which follow each other in an element; the lines where they are none."""
    parts = paragraphs(element, lines, starts)
    if not parts:
        return lines
    return [in_one(lines[part.start : part.stop]) for part in parts]


def paragraphs(element: etree._Element, lines: list[str], starts: Starts) -> list[range]:
    """Which of these lines make up each paragraph; nothing where the page did not break them."""
    widths = list(map(width, lines))
    full = max(widths)
    if not NARROWEST <= full <= WIDEST:
        return []
    ends = range(len(lines) - 1)
    is_full = [widths[at] + _first_width(lines[at + 1]) > full * (1 - SLACK) for at in ends]
    within = [_is_within(lines[at], lines[at + 1]) for at in ends]
    both = sum(is_broken and other for is_broken, other in zip(is_full, within, strict=True))
    if both < LEAST_WITHIN * len(ends) or both < LEAST_FULL * sum(within) or not any(map(has_full_stop, lines)):
        return []
    apart = starts[element]
    begun = [at + 1 for at in ends if lines[at + 1] in apart or not (within[at] or is_full[at])]
    return [range(start, end) for start, end in pairwise([0, *begun, len(lines)])]


def _first_width(line: str) -> int:
    """How many columns more it takes to begin this line on the one before."""
    if line[0] >= EASTERN:
        return 2
    word = FIRST_WORD.match(line)
    return 1 + len(word[0]) if word else 1


def _is_within(line: str, after: str) -> bool:
    """Whether the end of a line is within a sentence that goes on in the next one."""
    last = line[-1]
    first = after[0]
    if last in STOPS or LABEL.match(after) or MARKED.match(after):
        return False
    return first.islower() or (first >= EASTERN and last >= EASTERN) or last in ",，、"


def _starts_of_paragraphs(element: etree._Element) -> frozenset[str]:
    """The lines in an element that have an empty one before them."""
    starts: list[str] = []
    pieces: list[str] = []
    breaks = 0

    def end_line() -> None:
        nonlocal breaks
        text = fold_space(joined(pieces)) if pieces else ""
        if text:
            if breaks > 1:
                starts.append(text)
            breaks = 0
        pieces.clear()

    walker = etree.iterwalk(element, events=("start", "end"))
    for event, descendant in walker:
        if event == "start":
            if descendant.tag in SILENT:
                walker.skip_subtree()
                continue
            if descendant is not element and descendant.tag not in INLINE:
                end_line()
                breaks += 1 if descendant.tag == "br" else 2
                walker.skip_subtree()  # its lines are its own
                continue
            text = descendant.text
        else:
            text = descendant.tail if descendant is not element else None
        if text:
            pieces.append(text)
    end_line()
    return frozenset(starts)


def in_one(lines: list[str]) -> str:
    """Lines as one; there is no space between two of Chinese or Japanese."""
    text = [lines[0]]
    for before, line in pairwise(lines):
        if not (before[-1] >= EASTERN and line[0] >= EASTERN):
            text.append(" ")
        text.append(line)
    return "".join(text)
