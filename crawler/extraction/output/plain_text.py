"""Writes the kept blocks of a page as readable text.

A paragraph is a line. The items of a list begin with "- " or their number; nested lists are indented. The short cells
of a table's row share a line, with the empty cells between them. Code keeps its lines and their indentation, without
the line numbers beside it. A long text that the page contains twice, for small screens or for print, is written once.

`unwrapped` joins paragraphs that a page has wrapped itself. Old pages end every line of about 60 to 80 characters with
a <br>; so do poems, addresses and lists, which must keep their lines. Lines count as wrapped if they are as full as
possible: the first word of the next line did not fit. In a poem a line is full once or twice by chance, in a wrapped
paragraph nearly always. Besides, nearly all lines of a wrapped paragraph end within a sentence. Headlines in sequence,
which have no full stop, are never joined.
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
MAX_DEPTH = 8  # nested lists that are indented; deeper ones are not indented further
MAX_COLUMNS = 60  # cells of a row that are read
MAX_ROWS = 1_000  # rows of a table that are read
HOLDERS = frozenset(("li", "td", "th", "pre"))
"""Items, cells and code, whose text is laid out. The holder of a text is the nearest of these elements around it, at
most MAX_ABOVE levels above.
"""
# Text in one of these elements has no holder above the element.
NEVER_IN_HOLDERS = frozenset("article body html main section table tbody tr ul ol dl form h1 h2 h3 h4 h5 h6".split())
# The most levels from a text to its holder. An item gets its mark only if the text is in the item itself, or in a child
# of it: deeper text in a list belongs to a card or a reader's comment.
MAX_ABOVE = 3
# The fewest characters of a line that is written only once. Shorter ones may be repeated on purpose. In Chinese half as
# many are enough.
LONG_LINE = 160
# The most characters of a cell, and of a row, whose cells share a line.
MAX_CELL = 120
MAX_ROW = 400

_element = attrgetter("element")


def plain(blocks: Sequence[Block], *, keeps_repeated: bool = False) -> str:
    """The text of some blocks of a page, which are in the order of the page.

    Long texts that are repeated, as in web pages for screens of two sizes, are written once unless `keeps_repeated`,
    which is for documents.
    """
    text = _Text(keeps_repeated=keeps_repeated)
    for element, run in groupby(blocks, _element):
        lines = text.new_lines(run)
        if lines:
            text.add(element, lines)
    text.end_open()
    return "\n".join(text.lines)


class _Text:
    """The lines so far, and the row or code that is open: its lines are added when it ends."""

    def __init__(self, *, keeps_repeated: bool) -> None:
        self.keeps_repeated = keeps_repeated
        self.lines: list[str] = []
        self.long_lines: set[str] = set()
        """The long lines so far; see `remember_long_line`."""
        self.holders: dict[etree._Element, etree._Element | None] = {}
        """The holders that were found for elements."""
        self.begun: set[etree._Element] = set()
        """The items whose first line has been added."""
        self.marks: dict[etree._Element, str] = {}
        """The marks of the items of lists."""
        self.depths: dict[etree._Element, int] = {}
        """How deeply the lists of the marked items are nested."""
        self.columns: dict[etree._Element | None, set[int]] = {}
        """The columns of each table that have text."""
        self.row: etree._Element | None = None
        """The open row."""
        self.cells: dict[etree._Element, list[str]] = {}
        """The lines of the cells of the open row."""
        self.pre: etree._Element | None = None
        """The open <pre>."""
        self.code: list[str] = []
        """The lines of the open <pre>."""
        self.parts: Counter[etree._Element] = Counter()
        """How many parts of each <pre> there were."""
        self.starts = ParagraphStarts()

    def new_lines(self, run: Iterable[Block]) -> list[str]:
        """The texts of some blocks, without long texts that were written before."""
        return [
            block.text for block in run if self.keeps_repeated or not remember_long_line(block.text, self.long_lines)
        ]

    def add(self, element: etree._Element, lines: list[str]) -> None:
        """Add adjacent lines of an element."""
        holder = self.holder(element)
        if holder is None:
            self.end_open()
            self.lines += self.unwrapped(element, lines)
        elif holder.tag == "li":
            self.end_open()
            lines = self.unwrapped(element, lines)
            if element is holder or element.getparent() is holder:
                lines[0] = self.mark(holder, lines[0]) + lines[0]
            self.lines += lines
        elif holder.tag == "pre":
            if holder is not self.pre:
                self.end_open()
                self.pre = holder
            self.code += lines
        else:
            row = holder.getparent()
            if row is None or row is not self.row:
                self.end_open()
                self.row = row
            self.cells.setdefault(holder, []).extend(self.unwrapped(element, lines))

    def unwrapped(self, element: etree._Element, lines: list[str]) -> list[str]:
        """The lines of an element, with paragraphs joined that the page has wrapped."""
        if len(lines) < LEAST_LINES:
            return lines
        return unwrapped(element, lines, self.starts)

    def end_open(self) -> None:
        """End the row or the code that is open."""
        if self.cells:
            self.lines += row_lines(self.row_cells())
            self.cells.clear()
            self.row = None
        elif self.pre is not None:
            self.parts[self.pre] += 1
            if self.parts[self.pre] <= MAX_PARTS:
                self.lines += listing(self.pre, self.code)
            else:
                self.lines += self.code
            self.code = []
            self.pre = None

    def row_cells(self) -> list[list[str]]:
        """The lines of the cells of the open row, with the empty cells between them whose columns have text."""
        row = self.row
        # Empty cells are looked for only if the row may have some.
        if row is None or len(self.cells) < 2 or not len(self.cells) < len(row) <= MAX_COLUMNS:
            return list(self.cells.values())
        table = next(islice(row.iterancestors("table"), 1), None)
        if table not in self.columns:
            self.columns[table] = _columns(table)
        row_cells = list(_cells_with_columns(row))
        last = max(at for at, (_, cell) in enumerate(row_cells) if cell in self.cells)
        cells = [(column, self.cells.get(cell, [])) for column, cell in row_cells[: last + 1]]
        return [lines for column, lines in cells if lines or column in self.columns[table]]

    def holder(self, element: etree._Element) -> etree._Element | None:
        """The item, cell or code that an element is, or that is at most `MAX_ABOVE` levels above it; None without
        one.
        """
        # The holder is stored for all elements on the way up. If none is found within MAX_ABOVE levels, nothing is
        # stored: a holder may still be near enough for the upper ones of these elements.
        passed = []
        ancestor: etree._Element | None = element
        for _ in range(MAX_ABOVE + 1):
            if ancestor is None or ancestor.tag in HOLDERS:
                break
            if ancestor.tag in NEVER_IN_HOLDERS:
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
        """What comes before a line of an item. Before its first line: the indent, and the mark unless the line begins
        with a mark of its own. Before later lines: nothing.
        """
        if item in self.begun:
            return ""
        self.begun.add(item)
        its_list = item.getparent()
        above = its_list.getparent() if its_list is not None else None
        depth = 0
        if above is not None:
            depth = min(self.depths.get(above, -1) + 1, MAX_DEPTH)
        self.depths[item] = depth
        if ITEM_MARK.match(line):
            return INDENT * depth
        if item not in self.marks:
            self.marks |= item_marks(item)
        return INDENT * depth + self.marks[item]


def item_marks(item: etree._Element) -> dict[etree._Element, str]:
    """The mark of each item of the list around this item: its number in an ordered list; otherwise the item's dash."""
    its_list = item.getparent()
    if its_list is None or its_list.tag != "ol":
        return {item: DASH}
    marks = {}
    number = _whole_number(its_list.get("start"), 1) - 1
    for child in its_list.iterchildren("li"):
        number = _whole_number(child.get("value"), number + 1)
        marks[child] = f"{number}. "
    return marks


def _whole_number(value: str | None, default: int) -> int:
    if value and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    return default


def _columns(table: etree._Element | None) -> set[int]:
    """The columns of a table that have text in any of its rows."""
    if table is None:
        return set()
    # The rows of the table itself and of its <thead>, <tbody> and <tfoot>.
    rows = chain.from_iterable(part.iterchildren("tr") for part in chain([table], table))
    cells = chain.from_iterable(map(_cells_with_columns, islice(rows, MAX_ROWS)))
    return {column for column, cell in cells if any(not piece.isspace() for piece in cell.itertext())}


def _cells_with_columns(row: etree._Element) -> Iterator[tuple[int, etree._Element]]:
    """The cells of a row with their columns."""
    column = 0
    for cell in islice(row.iterchildren("td", "th"), MAX_COLUMNS):
        yield column, cell
        column += max(1, _whole_number(cell.get("colspan"), 1))


def remember_long_line(line: str, long_lines: set[str]) -> bool:
    """Remember a line if it is long; returns whether it was remembered before."""
    # Whether a line is Chinese is judged by its first character.
    if len(line) * 2 < LONG_LINE or (len(line) < LONG_LINE and line[0] < EASTERN):
        return False
    if line in long_lines:
        return True
    long_lines.add(line)
    return False


def row_lines(cells: list[list[str]]) -> list[str]:
    """The lines of a table's row: one line if its cells are short, otherwise the lines of its cells."""
    if len(cells) > 1:
        texts = [" ".join(cell) for cell in cells]
        lengths = [len(text) for text in texts]
        if max(lengths) <= MAX_CELL and sum(lengths) <= MAX_ROW:
            return [" | ".join(texts).lstrip()]
    return [line for cell in cells for line in cell]


LEAST_LINES = 4
"""The fewest adjacent lines that a page may have wrapped."""
# Columns of a full line; a Chinese character has two.
NARROWEST = 36
WIDEST = 120
# The share of the full width by which wrapped lines may be shorter, because letters have different widths on screen.
SLACK = 0.12
# Of all line ends, the least share that are full and within a sentence.
LEAST_WITHIN = 0.5
# Of the line ends within a sentence, the least share that are full.
LEAST_FULL = 0.9
# The beginning of a line that is an item of a list: "Place: …", "l3:5:wait".
LABEL = re.compile(r"[^,.;，。；]{1,20}?[:：]")
ITEM_MARK = re.compile(
    r"[-–—*]\s|[•·‣・▪◦●○■□►▶◆◇★☆※✓✔]|[(（\[]?\d{1,3}[.)）\]、．](?!\d)|[①-⑳]|[一二三四五六七八九十]{1,3}、"
)
"""The beginning of an item whose mark is written in the page's text."""
FIRST_WORD = re.compile(r"\S{1,40}+")
STOPS = FULL_STOPS | frozenset(':：;；”’"」』）)!?…')


class ParagraphStarts(dict[etree._Element, frozenset[str]]):
    """A cache of `_starts_of_paragraphs`: an element is read once for all of its runs of lines."""

    def __missing__(self, element: etree._Element) -> frozenset[str]:
        self[element] = starts = _starts_of_paragraphs(element)
        return starts


def unwrapped(element: etree._Element, lines: list[str], starts: ParagraphStarts) -> list[str]:
    """The paragraphs of adjacent lines of an element; the lines themselves if the page has not wrapped them."""
    parts = paragraphs(element, lines, starts)
    if not parts:
        return lines
    return [in_one(lines[part.start : part.stop]) for part in parts]


def paragraphs(element: etree._Element, lines: list[str], starts: ParagraphStarts) -> list[range]:
    """The lines of each paragraph, as ranges of indexes; empty if the page has not wrapped these lines."""
    widths = list(map(width, lines))
    full_width = max(widths)
    if not NARROWEST <= full_width <= WIDEST:
        return []

    # Whether the lines are wrapped. The end of a line is full if the first word of the next line did not fit there.
    ends = range(len(lines) - 1)
    is_full = [widths[at] + _first_word_width(lines[at + 1]) > full_width * (1 - SLACK) for at in ends]
    is_within = [_is_within_sentence(lines[at], lines[at + 1]) for at in ends]
    full_within = sum(full and within for full, within in zip(is_full, is_within, strict=True))
    if (
        full_within < LEAST_WITHIN * len(ends)
        or full_within < LEAST_FULL * sum(is_within)
        or not any(map(has_full_stop, lines))
    ):
        return []

    # A paragraph begins where the page separates it, or after a short line at the end of a sentence.
    starts_of_paragraphs = starts[element]
    firsts = [at + 1 for at in ends if lines[at + 1] in starts_of_paragraphs or not (is_within[at] or is_full[at])]
    return [range(first, end) for first, end in pairwise([0, *firsts, len(lines)])]


def _first_word_width(line: str) -> int:
    """The columns that the first word of a line would take at the end of the line before, with a space."""
    if line[0] >= EASTERN:
        return 2
    word = FIRST_WORD.match(line)
    return 1 + len(word[0]) if word else 1


def _is_within_sentence(line: str, after: str) -> bool:
    """Whether the end of a line is within a sentence that continues in the next line."""
    last = line[-1]
    first = after[0]
    if last in STOPS or LABEL.match(after) or ITEM_MARK.match(after):
        return False
    return first.islower() or (first >= EASTERN and last >= EASTERN) or last in ",，、"


def _starts_of_paragraphs(element: etree._Element) -> frozenset[str]:
    """The lines of an element that follow an empty line or another element."""
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
                walker.skip_subtree()  # its lines are in another run
                continue
            text = descendant.text
        else:
            text = descendant.tail if descendant is not element else None
        if text:
            pieces.append(text)
    end_line()
    return frozenset(starts)


def in_one(lines: list[str]) -> str:
    """Lines joined by spaces, except between two lines of Chinese or Japanese."""
    text = [lines[0]]
    for before, line in pairwise(lines):
        if not (before[-1] >= EASTERN and line[0] >= EASTERN):
            text.append(" ")
        text.append(line)
    return "".join(text)
