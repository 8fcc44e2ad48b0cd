"""Lines of Markdown put together: which are a paragraph, an item, a row, a quote, and how much is between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from lxml import etree

from crawler.extraction.output.code_listing import MAX_PARTS, language, listing
from crawler.extraction.output.markdown_inline import TICKS
from crawler.extraction.output.plain_text import LEAST_LINES, Starts, in_one, item_marks, paragraphs
from crawler.page.blocks import Block

# A table has at least two rows and columns; what has more columns than this, or longer cells, is no table to read.
MAX_COLUMNS = 60
MAX_CELL = 400
MAX_CELL_LINES = 8
MAX_CELL_BELOW_HEADER = 4_000
"""Characters of a cell where a row of headers says that the table is one of data; the longest seen have 1,000."""
NOTE_INDENT = 4
# Lists with different marks are different lists.
OTHER_MARKS = str.maketrans("-.", "*)")
MAX_ROWS = 1_000  # that a cell is taken to reach down
AFTER_ALL = -1
"""The key of the images that come after all lines."""


@dataclass(eq=False)
class Indent:
    """A quote, an item or a footnote that lines stand in."""

    element: etree._Element
    label: str = ""
    """The label of a footnote."""
    is_begun: bool = False

    @property
    def is_quote(self) -> bool:
        """Whether it is a quote."""
        return self.element.tag == "blockquote" and not self.label

    def follows(self, other: Indent) -> bool:
        """Whether both are definitions of one list, of which the tree holds one in the other."""
        return self.element.tag == other.element.tag == "dd" and self.element.getparent() is other.element


@dataclass(eq=False)
class MarkdownTable:
    """A table, and where in it the walk is."""

    is_layout: bool = False
    """Whether it lays out the page: another table is in it, or a heading, or a long text."""
    row: int = -1
    column: int = 0
    cell: etree._Element | None = None
    first_row: Counter[str] = field(default_factory=Counter)
    """The tags of the cells in the first row."""
    spanned: dict[int, int] = field(default_factory=dict)
    """For how many more rows a column is taken by a cell above."""
    cells: dict[tuple[int, int], list[MarkdownLine]] = field(default_factory=dict)

    def begin_row(self) -> None:
        """The next row begins."""
        if self.is_layout:
            return
        self.row += 1
        self.column = 0
        self.spanned = {column: rows - 1 for column, rows in self.spanned.items() if rows > 1}

    def begin_cell(self, cell: etree._Element) -> None:
        """The next cell begins; those that reach down from above come before it."""
        while self.column in self.spanned:
            self.column += 1
        self.cell = cell
        self.row = max(self.row, 0)
        if self.row == 0:
            self.first_row[cell.tag] += 1
        if self.column >= MAX_COLUMNS:
            self.is_layout = True

    def end_cell(self) -> None:
        """The cell ends, after as many columns as it spans."""
        if self.cell is None:
            return
        columns = _span(self.cell.get("colspan"), MAX_COLUMNS)
        rows = _span(self.cell.get("rowspan"), MAX_ROWS)
        if rows > 1 and not self.is_layout:
            self.spanned |= dict.fromkeys(range(self.column, self.column + columns), rows)
        self.column += columns
        self.cell = None

    def add(self, line: MarkdownLine) -> None:
        """Add a line to the cell."""
        if self.cell is None:
            return
        lines = self.cells.setdefault((self.row, self.column), [])
        lines.append(line)
        has_header = self.first_row["th"] > 1 and not self.first_row["td"]
        most = MAX_CELL_BELOW_HEADER if has_header else MAX_CELL
        too_long = len(lines) > MAX_CELL_LINES or len(line.text) > most
        if too_long or line.heading is not None or line.pre is not None:
            self.is_layout = True

    @property
    def is_data(self) -> bool:
        """Whether it has rows and columns to be read as such."""
        if self.is_layout:
            return False
        firsts = [column for _, column in self.cells]
        rows = {row for row, _ in self.cells}
        return len(rows) > 1 and len(set(firsts)) > 1 and len(self.cells) > len(rows)


@dataclass(slots=True)
class MarkdownLine:
    """A kept block as a line of Markdown, and what it stands in."""

    text: str
    block: Block
    at: int
    """The block's index in the page."""
    scopes: tuple[Indent, ...]
    heading: etree._Element | None
    pre: etree._Element | None
    table: MarkdownTable | None
    breaks: int
    """How many <br> there are between it and the line before, 2 where there is more between."""


class _Document:
    def __init__(self, images: dict[int, list[str]]) -> None:
        self.images = images
        self.out: list[str] = []
        self.before: MarkdownLine | None = None
        self.marks: dict[etree._Element, str] = {}
        self.others: set[etree._Element] = set()
        """The lists with other marks than usual."""
        self.starts = Starts()
        self.parts: Counter[etree._Element | None] = Counter()

    def add(self, part: list[str], line: MarkdownLine) -> None:
        """Add a part, which stands where this line of it does."""
        if not part:
            return
        between = self.between(line)
        first = rest = ""
        for at, scope in enumerate(line.scopes):
            if scope.is_quote:
                first = f"{first}> "
                rest = f"{rest}> "
                continue
            if not scope.is_begun:
                self.separate(line.scopes[: at + 1])
            first += self.space(scope) if scope.is_begun else self.mark(scope)
            rest += self.space(scope)
            scope.is_begun = True
        self.out.append(between)
        self.out.append("\n".join([(rest if at else first) + text for at, text in enumerate(part)]))
        self.before = line

    def between(self, line: MarkdownLine) -> str:
        """What is between the part before and one that begins with this line."""
        before = self.before
        if before is None:
            return ""
        fresh = next((at for at, scope in enumerate(line.scopes) if not (scope.is_quote or scope.is_begun)), None)
        if fresh is not None and not line.scopes[fresh].label:
            item = line.scopes[fresh].element
            items = [scope for scope in before.scopes if not scope.is_quote]
            in_list = any(scope.element.getparent() is item.getparent() for scope in items)
            below = fresh > 0 and line.scopes[fresh - 1] in items and line.scopes[fresh - 1] is before.scopes[-1]
            defined = item.tag == "dd" and (
                before.block.tag == "dt" or any(item_scope.element.tag == "dd" for item_scope in items)
            )
            if in_list or below or defined:
                return "\n"
        prefix = ""
        for earlier, other in zip(before.scopes, line.scopes, strict=False):
            if earlier is not other:
                break
            prefix += "> " if earlier.is_quote else self.space(earlier)
        return f"\n{prefix.rstrip()}\n"

    def mark(self, scope: Indent) -> str:
        """What an item or a footnote begins with."""
        if scope.label:
            return f"[^{scope.label}]: "
        item = scope.element
        if item not in self.marks:
            marks = {item: ":   "} if item.tag == "dd" else item_marks(item)
            is_other = item.getparent() in self.others
            self.marks |= (
                {element: mark.translate(OTHER_MARKS) for element, mark in marks.items()} if is_other else marks
            )
        return self.marks[item]

    def separate(self, scopes: tuple[Indent, ...]) -> None:
        """Give the list of the innermost item other marks if a list is directly before, as they would be one."""
        before = self.before.scopes[: len(scopes)] if self.before is not None else ()
        if len(before) < len(scopes) or before[:-1] != scopes[:-1]:
            return
        earlier = before[-1]
        other = scopes[-1]
        if {earlier.element.tag, other.element.tag} != {"li"} or earlier.label or other.label:
            return
        home = other.element.getparent()
        if home is None or home is earlier.element.getparent():
            return
        if self.mark(earlier)[-2] == ("." if home.tag == "ol" else "-"):
            self.others.add(home)

    def space(self, scope: Indent) -> str:
        """What the other lines of an item or a footnote begin with."""
        return " " * (NOTE_INDENT if scope.label else len(self.mark(scope)))

    def fenced(self, lines: list[MarkdownLine]) -> list[str]:
        """A part of a <pre> between fences."""
        self.parts[lines[0].pre] += 1
        return fenced(lines, self.parts[lines[0].pre] <= MAX_PARTS)

    def show_images(self, line: MarkdownLine) -> None:
        """Add the images that come before this line."""
        for image in self.images.pop(line.at, ()):
            self.add([image], line)


def laid_out(lines: list[MarkdownLine], images: dict[int, list[str]]) -> str:
    """The lines as a document, with the images before the blocks whose indexes they have."""
    document = _Document(images)
    written: set[MarkdownTable] = set()
    units = {table: table for table in {line.table for line in lines} if table is not None and table.is_data}
    parts = [list(group) for _, group in groupby(lines, lambda line: _unit(line, units))]
    for number, part in enumerate(parts, 1):
        unit = _unit(part[0], units)
        if _is_label(part, parts[number : number + 1]):
            continue
        if isinstance(unit, MarkdownTable):
            for line in part:
                document.show_images(line)
            # Text between its rows does not begin it anew.
            if unit not in written:
                document.add(table_rows(unit), part[0])
                written.add(unit)
        elif part[0].pre is not None:
            document.show_images(part[0])
            document.add(document.fenced(part), part[0])
        elif (heading := part[0].heading) is not None:
            document.show_images(part[0])
            text = " ".join(line.text for line in part)
            document.add([f"{'#' * int(heading.tag[1])} {text}"], part[0])
        else:
            for paragraph in _paragraphs(part, images):
                document.show_images(paragraph[0])
                document.add(_text(paragraph, document.starts), paragraph[0])
    for image in images.get(AFTER_ALL, ()) if lines else ():
        document.add([image], lines[-1])
    return "".join(document.out)


def _is_label(part: list[MarkdownLine], after: list[list[MarkdownLine]]) -> bool:
    """Whether a part is only the language of the code in the part after it, which the code's fence names."""
    if len(part) > 1 or part[0].pre is not None or not after or (pre := after[0][0].pre) is None:
        return False
    return part[0].text.lower() == language(pre)


def _unit(line: MarkdownLine, tables: dict[MarkdownTable, MarkdownTable]) -> object:
    """What lines are put together by."""
    if line.table is not None and line.table in tables:
        return line.table
    if line.pre is not None:
        return line.pre
    if line.heading is None:
        return line.block.element
    return line.heading


def _paragraphs(lines: list[MarkdownLine], images: dict[int, list[str]]) -> Iterator[list[MarkdownLine]]:
    """The lines of an element by paragraphs: what has an empty line, another element or an image before it is one."""
    paragraph: list[MarkdownLine] = []
    for line in lines:
        if paragraph and (line.breaks != 1 or line.at in images or line.at != paragraph[-1].at + 1):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    yield paragraph


def _text(lines: list[MarkdownLine], starts: Starts) -> list[str]:
    """The lines of a paragraph; a backslash keeps them apart, unless the page has only broken it."""
    texts = [line.text for line in lines]
    if len(lines) >= LEAST_LINES:
        plain = [line.block.text for line in lines]
        parts = paragraphs(lines[0].block.element, plain, starts)
        if parts:
            texts = [in_one(texts[part.start : part.stop]) for part in parts]
    return [f"{text}\\" for text in texts[:-1]] + texts[-1:]


def fenced(lines: list[MarkdownLine], is_read: bool) -> list[str]:
    """Code between fences that are longer than any in it, indented if all of its <pre> is read for it."""
    pre = lines[0].pre
    assert pre is not None  # noqa: S101 - these are lines of code
    texts = [line.block.text for line in lines]
    code = "\n".join(listing(pre, texts) if is_read else texts).split("\n")
    if not any(code):
        return []
    longest = max((len(ticks) for line in code for ticks in TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language(pre) if is_read else ''}", *code, fence]


def table_rows(table: MarkdownTable) -> list[str]:
    """A table's rows, the first as its head."""
    texts = {place: " ".join(line.text for line in lines) for place, lines in table.cells.items()}
    columns = 1 + max(column for _, column in texts)
    rows = []
    for _, group in groupby(sorted(texts), key=lambda place: place[0]):
        cells = [""] * columns
        for place in group:
            # At the start of a line a sign is escaped already.
            cells[place[1]] = texts[place].removeprefix("\\" * texts[place].startswith("\\|")).replace("|", "\\|")
        rows.append(f"| {' | '.join(cells)} |")
    return [rows[0], f"|{' --- |' * columns}", *rows[1:]]


def _span(value: str | None, most: int) -> int:
    number = int(value) if value and value.isascii() and value.isdigit() and len(value) < 6 else 1
    return min(max(number, 1), most)
