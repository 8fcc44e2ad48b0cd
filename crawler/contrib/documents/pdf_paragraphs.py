"""The paragraphs of a PDF file: tells which lines continue the lines before them, in a column and over a page's end.

A pitch is the distance between the baselines of two consecutive lines of one text. A line is full if the first word of
the next line has no room between its end and the right edge of the text. A paragraph usually continues after a full
line. A table is already found, and ends the paragraph above it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from crawler.contrib.documents.pdf_columns import gutter, side
from crawler.contrib.documents.pdf_lines import PdfLine
from crawler.contrib.documents.pdf_tables import PdfTable
from crawler.contrib.documents.text_join import DIVIDED, MOST_DIVIDED
from crawler.page.text import width

BULLETS = "•◦▪■□●○‣⁃➢➤►▶✓❖∗\uf0a7\uf0b7\uf076\uf0d8"
"""Bullets, including those of symbol fonts, which are in the private use area."""
BULLET = re.compile(rf"(?:[{BULLETS}]|[-–—*·o](?=\s))\s*(?=\S)|[{BULLETS}]$")
"""The bullet at the beginning of an item, or a line that is only a bullet."""
NUMBERED = re.compile(
    r"(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]{1,5}[.)]|\[\d{1,3}\]|[（(]?[一二三四五六七八九十]{1,3}[）)、])(?:\s+|$)"
)
"""The number or letter at the beginning of an item."""
ENDS = frozenset(".!?:。！？：；;…”\"')」』）")
"""Characters at the end of a line after which its sentence probably does not continue."""
LOOSE = 1.4
"""A line begins a paragraph if it is further from the line above than this multiple of the usual pitch."""
USUAL_PITCH = 1.2
"""The pitch, in ems, in a size for which none was measured."""
SAME_SIZE = 0.06
"""The share by which the sizes of two lines of one text may differ."""
INDENT = 0.8
"""Ems, at least, by which the first line of a paragraph is indented."""
HANGING = 1.9
"""Ems. A second line that is indented by this much or more continues the first one; with less, it may begin a
paragraph.
"""
ROOM = 1.5
"""Ems. A line is full if the next word would end further right than this distance left of the right edge."""
MAX_NEXT_WORD = 30
"""Columns. A longer next word counts as this wide, so that a short line above it is not full: a word such as an address
may have a line of its own.
"""
LEFT_EDGE_STEP = 2
"""Points. Left edges are rounded to multiples of this; those of one text differ by one multiple at most."""
NARROW = 0.6
"""The least width of a narrower text within a column, as a share of the column's width. Lines that are narrower still
are a list.
"""
RAGGED = 6
"""Ems, at most, between the right edge of a narrower text and the end of a line that counts as ending there."""
LEAST_FULL = 20
"""Columns of the shortest line that may be full, as in the narrowest columns of newspapers."""
TITLE = 1.15
"""The size of a title is larger than this multiple of the usual size."""
MAX_TITLE_LINES = 3
"""The most lines of a title. They are broken by sense, so they need not be full."""
SMALL = 0.93
"""The largest size of notes at the foot of a page, as a multiple of the usual size."""
NOTE = re.compile(r"(?:\d{1,3}|[*†‡§]{1,3})(?=\D)")
"""The number or the mark at the beginning of a note."""
GAP_AT_TOP = 9.0
"""Ems. The gap above the first line of a page or column, which counts as large: nothing is directly above the line."""


@dataclass
class LineGroup:
    """Lines that make up a paragraph, a heading, an item or a listing."""

    lines: list[PdfLine]
    gap: float
    """Ems from the line above it to its first line; GAP_AT_TOP if no line is above it."""
    edge: float = 0.0
    """The right edge of the text in the group's column, by which lines are full or not."""
    is_code: bool = False
    is_item: bool = False

    @property
    def first(self) -> PdfLine:
        return self.lines[0]

    @property
    def size(self) -> float:
        return self.first.size

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True)
class Measures:
    """The usual measures of a document."""

    size: float
    """The size of most of its text."""
    pitches: dict[float, float]
    """The most frequent pitch of each size, in points."""

    def pitch(self, size: float) -> float:
        """The usual pitch of a size."""
        return self.pitches.get(size, USUAL_PITCH * size)


def usual_measures(pages: Iterable[Sequence[PdfLine]]) -> Measures:
    """The usual size of text, and the usual pitches."""
    characters_of_size: Counter[float] = Counter()
    pitches_of_size: dict[float, Counter[float]] = defaultdict(Counter)
    for lines in pages:
        before: PdfLine | None = None
        for line in lines:
            # Code counts less, as the usual size is that of text.
            characters_of_size[line.size] += len(line.text) // 4 if line.is_mono else len(line.text)
            # Lines that are further apart are not lines of one text.
            if before is not None and before.size == line.size and 0 < line.y - before.y < 2 * line.size:
                pitches_of_size[line.size][round(line.y - before.y, 1)] += 1
            before = line
    usual_size = 10.0  # for a document without lines
    if characters_of_size:
        usual_size = characters_of_size.most_common(1)[0][0]
    pitches = {size: counts.most_common(1)[0][0] for size, counts in pitches_of_size.items()}
    return Measures(usual_size, pitches)


def groups_of(pages: Iterable[Sequence[PdfLine | PdfTable]], usual: Measures) -> Iterator[LineGroup | PdfTable]:
    """The groups of lines of a document, with tables between them; `pages` are in reading order.

    A group that continues on the next page is one group; the notes at the foot of a page follow its last group.
    """
    # The last group of a page waits for the next page, and the notes of the page wait until the group is complete.
    open_group: LineGroup | None = None
    notes: list[LineGroup] = []
    for page in pages:
        groups, page_notes = _without_notes(list(_groups_of_page(page, usual)), usual)
        for at, group in enumerate(groups):
            if (
                at == 0
                and open_group is not None
                and isinstance(group, LineGroup)
                and _continues_on_next_page(open_group, group)
            ):
                open_group.lines += group.lines
                continue

            if open_group is not None:
                yield open_group
                open_group = None
            yield from notes
            notes = []
            if isinstance(group, PdfTable):
                yield group
            else:
                open_group = group
        notes += page_notes

    if open_group is not None:
        yield open_group
    yield from notes


def _groups_of_page(page: Sequence[PdfLine | PdfTable], usual: Measures) -> Iterator[LineGroup | PdfTable]:
    """The groups of lines of a page, with its tables between them."""
    edges = Edges([line for line in page if isinstance(line, PdfLine)])
    group: LineGroup | None = None
    for at, line in enumerate(page):
        if isinstance(line, PdfTable):
            if group is not None:
                yield group
                group = None
            yield line
            continue
        after = page[at + 1] if at + 1 < len(page) else None
        if group is not None and _is_next(group, line, after if isinstance(after, PdfLine) else None, usual):
            group.lines.append(line)
        else:
            before = page[at - 1] if at else None
            if group is not None:
                yield group
            group = _new_group(line, before, edges.of(line), usual)
    if group is not None:
        yield group


def _new_group(line: PdfLine, before: PdfLine | PdfTable | None, edge: float, usual: Measures) -> LineGroup:
    """The group that a line begins; large letters are not code, whatever their font is."""
    gap = GAP_AT_TOP
    if isinstance(before, PdfLine) and line.y > before.y:
        gap = (line.y - before.y) / line.size
    is_item = _is_marked(line) or (not line.is_mono and NUMBERED.match(line.text) is not None)
    is_code = line.is_mono and not is_item and line.size < TITLE * usual.size
    return LineGroup([line], gap, edge, is_code, is_item)


def _is_marked(line: PdfLine) -> bool:
    """Whether a line begins with a bullet; in ASCII and a monospaced font, a hyphen or an asterisk is code instead."""
    return BULLET.match(line.text) is not None and not (line.is_mono and line.text.isascii())


class Edges:
    """The right edges of the text of a page, in each of its columns."""

    def __init__(self, lines: Sequence[PdfLine]) -> None:
        self._gutter_x = gutter(lines)
        sides: dict[int, list[PdfLine]] = defaultdict(list)
        for line in lines:
            sides[self._side(line)].append(line)
        self._columns = {side: _ColumnEdges(lines_of_side) for side, lines_of_side in sides.items()}

    def of(self, line: PdfLine) -> float:
        """The right edge of the text of which a line is part."""
        return self._columns[self._side(line)].of(line)

    def _side(self, line: PdfLine) -> int:
        if self._gutter_x is not None:
            return side(line, self._gutter_x)
        return 0


class _ColumnEdges:
    """The right edges of the text of one column, and of narrower texts within it, such as a note in a box."""

    def __init__(self, lines: Sequence[PdfLine]) -> None:
        self._spans: list[tuple[float, float]] = []
        """The left and right edges of texts beside each other, from left to right; each may cover narrower texts."""
        self._right_edges: dict[int, list[float]] = defaultdict(list)
        """The right edges of lines, by their left edge in steps of LEFT_EDGE_STEP."""
        for line in sorted(lines, key=lambda line: line.x0):
            self._right_edges[round(line.x0 / LEFT_EDGE_STEP)].append(line.x1)
            if self._spans and line.x0 < self._spans[-1][1] - 2 * line.size:
                x0, x1 = self._spans[-1]
                self._spans[-1] = (x0, max(x1, line.x1))
            else:
                self._spans.append((line.x0, line.x1))

    def of(self, line: PdfLine) -> float:
        """The right edge of the text of which a line is part."""
        x0, x1 = next((x0, x1) for x0, x1 in reversed(self._spans) if x0 <= line.x0)

        # Lines with the same left edge are a narrower text if it is wide enough and several of them end near its edge.
        step = round(line.x0 / LEFT_EDGE_STEP)
        right_edges = [edge for near in (step - 1, step, step + 1) for edge in self._right_edges.get(near, ())]
        narrow_edge = max(right_edges)
        near_edge = sum(edge > narrow_edge - RAGGED * line.size for edge in right_edges)
        if near_edge > 1 and narrow_edge - line.x0 > NARROW * (x1 - x0):
            return narrow_edge
        return x1


def _is_next(group: LineGroup, line: PdfLine, after: PdfLine | None, usual: Measures) -> bool:
    """Whether a line belongs to the group of the line before it; `after` is the line below it."""
    last = group.lines[-1]
    pitch = usual.pitch(line.size)
    distance = line.y - last.y
    if distance < -0.5 * line.size:  # the top of another column
        return _continues_at_top(group, line)
    if _is_marked(line):
        return False
    if group.is_code and line.is_mono:
        return distance < 3 * pitch and line.size == last.size  # empty lines are part of it
    if distance > LOOSE * max(pitch, usual.pitch(last.size)) or abs(line.size - last.size) > SAME_SIZE * last.size:
        return abs(distance) < 0.5 * line.size and line.x0 > last.x1  # another part of the same line of text
    if group.is_code or (line.is_mono and line.size < TITLE * usual.size):
        return _continues_in_other_font(group, line)

    # The line is at the usual distance, in the same size, and not code. A bold line after a plain one, or a plain line
    # after one bold line, may be a heading or the text below it.
    if line.is_bold != last.is_bold and (line.is_bold or len(group.lines) == 1) and _stands_alone(last, line, group):
        return False
    # A number after a word in lower case may be within a sentence, unless the lines before are an item.
    is_numbered = NUMBERED.match(line.text) is not None
    if is_numbered and (group.is_item or not last.text[-1:].islower()):
        return False
    if line.size > TITLE * usual.size and line.is_bold == last.is_bold and not group.is_item:
        return len(group.lines) < MAX_TITLE_LINES
    if not _is_full(last, group.edge, line):
        return False
    return (line.is_bold and last.is_bold) or not _is_indented(group, line, after)


def _stands_alone(last: PdfLine, line: PdfLine, group: LineGroup) -> bool:
    """Whether a bold and a plain line are a heading and a text, not one text in which bold words fill a line."""
    return not _is_full(last, group.edge, line) or last.text[-1:] in ENDS or line.text[:1].isupper()


def _continues_in_other_font(group: LineGroup, line: PdfLine) -> bool:
    """Whether a line of code continues a paragraph, or a line of text continues a line of code: words of code within a
    sentence may fill a line.
    """
    last = group.lines[-1]
    if line.is_mono:
        is_within_sentence = last.text[-1:] not in ENDS and _is_full(last, group.edge, line)
        return is_within_sentence and not _is_indented(group, line, None) and len(line.pieces) == 1
    return len(group.lines) == 1 and not group.is_item and line.text[:1].islower() and _is_full(last, group.edge, line)


def _is_indented(group: LineGroup, line: PdfLine, after: PdfLine | None) -> bool:
    """Whether the left edge of a line shows that it begins a paragraph: it is indented more, or less, than the line or
    lines before it.
    """
    size = line.size
    if len(group.lines) > 1:
        return abs(line.x0 - group.lines[-1].x0) > INDENT * size
    if group.is_item:
        return line.x0 < group.first.x0 - INDENT * size / 2
    indent = line.x0 - group.first.x0
    if indent < INDENT * size:
        return False
    # This may be the second line of a paragraph with a hanging first line, such as a term or a numbered heading: then
    # the line below it is indented, too.
    if after is not None and after.size == size and 0 < after.y - line.y < LOOSE * USUAL_PITCH * size:
        return after.x0 < line.x0 - INDENT * size / 2
    return indent < HANGING * size and group.first.text[-1:] in ENDS


def _is_full(line: PdfLine, edge: float, after: PdfLine) -> bool:
    """Whether a line has no room for the first word of the line `after` it, or ends with a divided word."""
    text = line.text
    if DIVIDED.search(text[-MOST_DIVIDED:]) and after.text[:1].islower():
        return True
    if width(text) < LEAST_FULL:
        return False
    letter_width = (line.x1 - line.x0) / max(1, width(text))
    next_word = width(after.text.split(" ", 1)[0])
    if after.text[:1] >= "\u2e80":  # a line can end after any Chinese character, which is as wide as two letters
        next_word = 2
    return line.x1 + (min(next_word, MAX_NEXT_WORD) + 1) * letter_width > edge - ROOM * line.size


def _continues_at_top(group: LineGroup, line: PdfLine) -> bool:
    """Whether a line at the top of another column or page continues the paragraph before it."""
    last = group.lines[-1]
    if group.is_code or line.is_mono or abs(line.size - group.size) > SAME_SIZE * group.size:
        return False
    if line.is_bold != last.is_bold or not _is_full(last, group.edge, line):
        return False
    if BULLET.match(line.text) or last.text[-1:] in ENDS:
        return False
    begins_item = line.text[:1].isupper() and NUMBERED.match(line.text) is not None  # such as "A."
    return not begins_item or last.text[-1:] in ",-"  # a comma or a hyphen shows that the sentence continues


def _continues_on_next_page(group: LineGroup, next_group: LineGroup) -> bool:
    """Whether the first group of the next page continues a group."""
    if group.is_code and next_group.is_code:
        return group.size == next_group.size
    return not next_group.is_item and _continues_at_top(group, next_group.first)


def _without_notes(
    groups: list[LineGroup | PdfTable], usual: Measures
) -> tuple[list[LineGroup | PdfTable], list[LineGroup]]:
    """The groups of a page without the notes at its foot, and the notes."""
    # Find the first of the groups in small letters at the foot.
    first_note = len(groups)
    while first_note:
        group = groups[first_note - 1]
        if not isinstance(group, LineGroup) or group.size > SMALL * usual.size or group.is_code:
            break
        first_note -= 1

    # The first note begins with a number or a mark; groups above it are not notes.
    notes = [group for group in groups[first_note:] if isinstance(group, LineGroup)]
    while notes and not NOTE.match(notes[0].text):
        first_note += 1
        notes = notes[1:]
    if not first_note:  # the whole page is in small letters
        return groups, []
    return groups[:first_note], notes
