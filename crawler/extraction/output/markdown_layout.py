"""Joins lines of Markdown into a document: finds its paragraphs, items, tables and quotes, and separates them.

Adjacent lines of the same table, code, heading or element make a part (`laid_out`). Each part is added to the document
(`_Document.add`) with the marks and indents of its scopes: the quotes, items and footnotes around it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby, zip_longest

from lxml import etree

from crawler.extraction.output.code_listing import MAX_PARTS, language, listing
from crawler.extraction.output.markdown_inline import TICKS
from crawler.extraction.output.plain_text import LEAST_LINES, ParagraphStarts, in_one, item_marks, paragraphs
from crawler.page.blocks import Block

# A table with more columns, or with longer cells, is not a table of data, but for layout.
MAX_COLUMNS = 60
MAX_CELL = 400  # characters of a line in a cell
MAX_CELL_LINES = 8
MAX_CELL_BELOW_HEADER = 4_000
"""Replaces MAX_CELL if the first row has only headers, as in tables of data. The longest cells seen have 1,000."""
NOTE_INDENT = 4  # spaces
# The marks of a list directly after another one: adjacent lists with the same marks would be one list.
OTHER_MARKS = str.maketrans("-.", "*)")
MAX_ROWS = 1_000  # rows that a cell may span
AFTER_ALL = -1
"""The key of the images that come after all lines."""


@dataclass(eq=False)
class Scope:
    """A quote, an item or a footnote around lines, which are indented or quoted."""

    element: etree._Element
    label: str = ""
    """The label of a footnote."""
    has_line: bool = False
    """Whether a line of the scope has been written: its mark is written only once."""

    @property
    def is_quote(self) -> bool:
        """Whether this is a quote."""
        return self.element.tag == "blockquote" and not self.label

    def follows(self, other: Scope) -> bool:
        """Whether both are definitions of one list, although in the tree the second one is in the first."""
        return self.element.tag == other.element.tag == "dd" and self.element.getparent() is other.element


@dataclass(eq=False)
class MarkdownTable:
    """A table, and the position of the walk in it."""

    is_layout: bool = False
    """Whether it is a table for layout: with another table, a heading, code or a long text in it."""
    row: int = -1
    column: int = 0
    cell: etree._Element | None = None
    """The open cell."""
    first_row: Counter[str] = field(default_factory=Counter)
    """How many cells of the first row have each tag, `td` or `th`."""
    spanned: dict[int, int] = field(default_factory=dict)
    """For each column with a cell that spans several rows, how many of these rows are left, with the current row."""
    cells: dict[tuple[int, int], list[MarkdownLine]] = field(default_factory=dict)
    """The lines of each cell, by row and column."""

    def begin_row(self) -> None:
        """Begin the next row."""
        if self.is_layout:
            return
        self.row += 1
        self.column = 0
        self.spanned = {column: rows - 1 for column, rows in self.spanned.items() if rows > 1}

    def begin_cell(self, cell: etree._Element) -> None:
        """Begin the next cell, in the next column into which no cell of an earlier row extends."""
        while self.column in self.spanned:
            self.column += 1
        self.cell = cell
        self.row = max(self.row, 0)
        if self.row == 0:
            self.first_row[cell.tag] += 1
        if self.column >= MAX_COLUMNS:
            self.is_layout = True

    def end_cell(self) -> None:
        """End the cell, after as many columns as it spans."""
        if self.cell is None:
            return
        columns = _span(self.cell.get("colspan"), MAX_COLUMNS)
        rows = _span(self.cell.get("rowspan"), MAX_ROWS)
        if rows > 1 and not self.is_layout:
            self.spanned |= dict.fromkeys(range(self.column, self.column + columns), rows)
        self.column += columns
        self.cell = None

    def add(self, line: MarkdownLine) -> None:
        """Add a line to the open cell. A heading, code or a long text in a cell makes the table one for layout."""
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
        """Whether this is a table of data: it has several rows and columns, and is not one for layout."""
        if self.is_layout:
            return False
        columns = {column for _, column in self.cells}
        rows = {row for row, _ in self.cells}
        return len(rows) > 1 and len(columns) > 1 and len(self.cells) > len(rows)


@dataclass(slots=True)
class MarkdownLine:
    """A kept block as a line of Markdown, with the elements around it."""

    text: str
    block: Block
    at: int
    """The block's index in the page."""
    scopes: tuple[Scope, ...]
    heading: etree._Element | None
    pre: etree._Element | None
    table: MarkdownTable | None
    breaks: int
    """How many <br> there are between the line and the one before; 2 if other elements are between them."""


class _Document:
    """The document so far."""

    def __init__(self, images: dict[int, list[str]]) -> None:
        self.images = images
        self.out: list[str] = []
        self.last_line: MarkdownLine | None = None
        """The line whose scopes the last part has."""
        self.marks: dict[etree._Element, str] = {}
        """The marks of items."""
        self.lists_with_other_marks: set[etree._Element] = set()
        """The lists whose items have `OTHER_MARKS`."""
        self.starts = ParagraphStarts()
        self.parts: Counter[etree._Element | None] = Counter()
        """How many parts of each <pre> there were."""

    def add(self, part: list[str], line: MarkdownLine) -> None:
        """Add the lines of a part, in the scopes of `line`, which is one of them."""
        if not part:
            return
        between = self.between(line)
        first_indent = ""
        indent = ""
        for at, scope in enumerate(line.scopes):
            if scope.is_quote:
                first_indent += "> "
                indent += "> "
                continue
            if scope.has_line:
                first_indent += self.further_indent(scope)
            else:
                self.choose_other_marks(line.scopes[: at + 1])
                first_indent += self.mark(scope)
            indent += self.further_indent(scope)
            scope.has_line = True
        self.out.append(between)
        self.out.append("\n".join([first_indent + part[0], *(indent + text for text in part[1:])]))
        self.last_line = line

    def between(self, line: MarkdownLine) -> str:
        """The line breaks between the last part and one that begins with this line, with the marks of quotes."""
        before = self.last_line
        if before is None:
            return ""

        # No empty line comes before a new item of the same list, of a list in the last item, or of definitions.
        first_new = next((at for at, scope in enumerate(line.scopes) if not (scope.is_quote or scope.has_line)), None)
        if first_new is not None and not line.scopes[first_new].label:
            item = line.scopes[first_new].element
            items = [scope for scope in before.scopes if not scope.is_quote]
            is_in_same_list = any(scope.element.getparent() is item.getparent() for scope in items)
            outer = line.scopes[first_new - 1] if first_new > 0 else None  # the scope around the item
            is_nested = outer in items and outer is before.scopes[-1]
            is_definition = item.tag == "dd" and (
                before.block.tag == "dt" or any(item_scope.element.tag == "dd" for item_scope in items)
            )
            if is_in_same_list or is_nested or is_definition:
                return "\n"

        # The empty line has the marks of the scopes that continue, so that it does not end them.
        prefix = ""
        for earlier, other in zip(before.scopes, line.scopes, strict=False):
            if earlier is not other:
                break
            prefix += "> " if earlier.is_quote else self.further_indent(earlier)
        return f"\n{prefix.rstrip()}\n"

    def mark(self, scope: Scope) -> str:
        """The beginning of the first line of an item or a footnote."""
        if scope.label:
            return f"[^{scope.label}]: "
        item = scope.element
        if item not in self.marks:
            marks = {item: ":   "} if item.tag == "dd" else item_marks(item)
            if item.getparent() in self.lists_with_other_marks:
                marks = {element: mark.translate(OTHER_MARKS) for element, mark in marks.items()}
            self.marks |= marks
        return self.marks[item]

    def choose_other_marks(self, scopes: tuple[Scope, ...]) -> None:
        """Choose other marks for the list of the innermost item if another list is directly before it, as both would be
        read as one.
        """
        # The last part must be in an item in the same scopes.
        if self.last_line is None:
            return
        scopes_before = self.last_line.scopes[: len(scopes)]
        if len(scopes_before) < len(scopes) or scopes_before[:-1] != scopes[:-1]:
            return
        earlier = scopes_before[-1]
        item = scopes[-1]
        if {earlier.element.tag, item.element.tag} != {"li"} or earlier.label or item.label:
            return

        its_list = item.element.getparent()
        if its_list is None or its_list is earlier.element.getparent():
            return
        usual_sign = "." if its_list.tag == "ol" else "-"
        if self.mark(earlier)[-2] == usual_sign:  # a space follows the sign
            self.lists_with_other_marks.add(its_list)

    def further_indent(self, scope: Scope) -> str:
        """The indent of all lines of an item or a footnote but the first."""
        if scope.label:
            return " " * NOTE_INDENT
        return " " * len(self.mark(scope))

    def fenced(self, lines: list[MarkdownLine]) -> list[str]:
        """A part of a <pre> between fences."""
        pre = lines[0].pre
        self.parts[pre] += 1
        return fenced(lines, self.parts[pre] <= MAX_PARTS)

    def add_images(self, line: MarkdownLine) -> None:
        """Add the images that come before this line."""
        for image in self.images.pop(line.at, ()):
            self.add([image], line)


def laid_out(lines: list[MarkdownLine], images: dict[int, list[str]]) -> str:
    """The lines as a document. `images` has the images before each block, by the block's index, and those AFTER_ALL."""
    document = _Document(images)
    written: set[MarkdownTable] = set()
    data_tables = {table for table in {line.table for line in lines} if table is not None and table.is_data}
    parts = [list(group) for _, group in groupby(lines, lambda line: _unit(line, data_tables))]
    for part, next_part in zip_longest(parts, parts[1:]):
        unit = _unit(part[0], data_tables)
        if _is_label_of_code(part, next_part):
            continue
        heading = part[0].heading
        if isinstance(unit, MarkdownTable):
            for line in part:
                document.add_images(line)
            # A table is written once, also if there is text between its rows.
            if unit not in written:
                document.add(table_rows(unit), part[0])
                written.add(unit)
        elif part[0].pre is not None:
            document.add_images(part[0])
            document.add(document.fenced(part), part[0])
        elif heading is not None:
            document.add_images(part[0])
            text = " ".join(line.text for line in part)
            document.add([f"{'#' * int(heading.tag[1])} {text}"], part[0])
        else:
            for paragraph in _paragraphs(part, images):
                document.add_images(paragraph[0])
                document.add(_text(paragraph, document.starts), paragraph[0])
    last_images = images.get(AFTER_ALL, ()) if lines else ()
    for image in last_images:
        document.add([image], lines[-1])
    return "".join(document.out)


def _is_label_of_code(part: list[MarkdownLine], next_part: list[MarkdownLine] | None) -> bool:
    """Whether a part is only the language of the code in the next part, which the fence of the code names."""
    if len(part) > 1 or part[0].pre is not None or next_part is None:
        return False
    pre = next_part[0].pre
    return pre is not None and part[0].text.lower() == language(pre)


def _unit(line: MarkdownLine, data_tables: set[MarkdownTable]) -> object:
    """The data table, code, heading or element of a line: adjacent lines with the same unit are one part."""
    if line.table is not None and line.table in data_tables:
        return line.table
    if line.pre is not None:
        return line.pre
    if line.heading is None:
        return line.block.element
    return line.heading


def _paragraphs(lines: list[MarkdownLine], images: dict[int, list[str]]) -> Iterator[list[MarkdownLine]]:
    """The lines of an element by paragraphs: one begins after an empty line, another element or an image."""
    paragraph: list[MarkdownLine] = []
    for line in lines:
        if paragraph and (line.breaks != 1 or line.at in images or line.at != paragraph[-1].at + 1):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    yield paragraph


def _text(lines: list[MarkdownLine], starts: ParagraphStarts) -> list[str]:
    """The lines of a paragraph. Lines that the page has only wrapped are joined. A backslash at the end of each line
    but the last one is a line break of Markdown.
    """
    texts = [line.text for line in lines]
    if len(lines) >= LEAST_LINES:
        plain_texts = [line.block.text for line in lines]
        parts = paragraphs(lines[0].block.element, plain_texts, starts)
        if parts:
            texts = [in_one(texts[part.start : part.stop]) for part in parts]
    return [f"{text}\\" for text in texts[:-1]] + texts[-1:]


def fenced(lines: list[MarkdownLine], is_read: bool) -> list[str]:
    """Code between fences that are longer than any ticks in it. If `is_read`, its whole <pre> is read for its
    indentation and its language.
    """
    pre = lines[0].pre
    assert pre is not None  # noqa: S101 - these are lines of code
    texts = [line.block.text for line in lines]
    name = ""
    if is_read:
        texts = listing(pre, texts)
        name = language(pre)
    code = "\n".join(texts).split("\n")
    if not any(code):
        return []
    longest = max((len(ticks) for line in code for ticks in TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{name}", *code, fence]


def table_rows(table: MarkdownTable) -> list[str]:
    """The rows of a table; the first one is its head."""
    text_of_cell = {position: " ".join(line.text for line in lines) for position, lines in table.cells.items()}
    columns = 1 + max(column for _, column in text_of_cell)
    rows = []
    for _, positions_in_row in groupby(sorted(text_of_cell), key=lambda position: position[0]):
        cells = [""] * columns
        for row, column in positions_in_row:
            text = text_of_cell[row, column]
            if text.startswith("\\|"):  # a pipe at the start of a line is already escaped
                text = text[1:]
            cells[column] = text.replace("|", "\\|")
        rows.append(f"| {' | '.join(cells)} |")
    return [rows[0], f"|{' --- |' * columns}", *rows[1:]]


def _span(value: str | None, most: int) -> int:
    """The number of rows or columns that a cell spans, by an attribute; at most `most`."""
    if value and value.isascii() and value.isdigit() and len(value) < 6:
        return min(max(int(value), 1), most)
    return 1
