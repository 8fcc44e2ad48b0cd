"""Paragraphs of a PDF file: which lines go on those before them, within a column and over the end of a page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from crawler.contrib.documents.pdf_columns import gutter, side
from crawler.contrib.documents.pdf_lines import PdfLine
from crawler.contrib.documents.pdf_tables import PdfTable
from crawler.contrib.documents.text_join import DIVIDED
from crawler.page.text import width

MARKS = "•◦▪■□●○‣⁃➢➤►▶✓❖∗\uf0a7\uf0b7\uf076\uf0d8"
"""Bullets, with those that fonts of symbols have in place of letters."""
BULLET = re.compile(rf"(?:[{MARKS}]|[-–—*·o](?=\s))\s*(?=\S)|[{MARKS}]$")
NUMBERED = re.compile(
    r"(?:\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\(?[ivx]{1,5}[.)]|\[\d{1,3}\]|[（(]?[一二三四五六七八九十]{1,3}[）)、])(?:\s+|$)"
)
ENDS = frozenset(".!?:。！？：；;…”\"')」』）")
LOOSE = 1.4
"""A line further below the one before, in usual distances, begins a paragraph."""
USUAL = 1.2  # ems from line to line where a size occurs once
INDENT = 0.8
"""Ems by which the first line of a paragraph begins further in."""
HANGING = 1.9
"""Ems from which on a single line that begins further in goes on the one above it."""
ROOM = 1.5
"""Ems that a line may end before the edge although the next word has room there."""
PLACE = 2
"""Points by which the beginnings of lines differ that are below each other."""
NARROW = 0.6
"""Share of a column's width that a narrower text in it has; shorter lines in a row are a list."""
RAGGED = 6
"""Ems by which its lines differ in width."""
NARROWEST = 20
"""Columns of a line in the narrowest column of a newspaper."""
TITLE, MOST_OF_TITLE = 1.15, 3
"""Size of a title to that of the text, and its most lines, which are broken where the words are best read."""
SMALL = 0.93
"""Size of notes at the foot of a page, to that of the text above them."""
NOTE = re.compile(r"(?:\d{1,3}|[*†‡§]{1,3})(?=\D)")


@dataclass
class LineGroup:
    """Lines that make up a paragraph, a heading, an item or a listing."""

    lines: list[PdfLine]
    gap: float
    """Ems between its first line and what is above it; a large number at the top of a page."""
    edge: float = 0.0
    """Where the lines of its column end at the right."""
    is_code: bool = False
    is_item: bool = False
    goes_on: bool = field(default=False)
    """Whether it ends as a line does in a paragraph."""

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
    """What is usual in a document."""

    size: float
    """The size of its text."""
    pitches: dict[float, float]
    """The usual distance from line to line, for each size."""

    def pitch(self, size: float) -> float:
        return self.pitches.get(size, USUAL * size)


def measured(pages: Iterable[Sequence[PdfLine]]) -> Measures:
    """The usual size of text, and the usual distances of its lines."""
    sizes: Counter[float] = Counter()
    distances: dict[float, Counter[float]] = defaultdict(Counter)
    for lines in pages:
        before: PdfLine | None = None
        for line in lines:
            sizes[line.size] += len(line.text) if not line.is_mono else len(line.text) // 4
            if before is not None and before.size == line.size and 0 < line.y - before.y < 2 * line.size:
                distances[line.size][round(line.y - before.y, 1)] += 1
            before = line
    size = sizes.most_common(1)[0][0] if sizes else 10.0
    return Measures(size, {size: counts.most_common(1)[0][0] for size, counts in distances.items()})


def groups_of(pages: Iterable[Sequence[PdfLine | PdfTable]], usual: Measures) -> Iterator[LineGroup | PdfTable]:
    """The groups of lines of a document, with tables between them; what goes on at the next page is one group."""
    open_group: LineGroup | None = None
    notes: list[LineGroup] = []
    for page in pages:
        body, feet = _without_notes(list(_groups_of_page(page, usual)), usual)
        for at, group in enumerate(body):
            if open_group is None or isinstance(group, PdfTable):
                pass
            elif at == 0 and _goes_over(open_group, group):
                open_group.lines += group.lines
                open_group.goes_on = group.goes_on
                continue
            if open_group is not None:
                yield open_group
                yield from notes
                open_group = None
                notes = []
            if isinstance(group, PdfTable):
                yield group
            else:
                open_group = group
        notes += feet
    if open_group is not None:
        yield open_group
    yield from notes


def _groups_of_page(items: Sequence[PdfLine | PdfTable], usual: Measures) -> Iterator[LineGroup | PdfTable]:
    edges = Edges([item for item in items if isinstance(item, PdfLine)])
    group: LineGroup | None = None
    for at, item in enumerate(items):
        if isinstance(item, PdfTable):
            if group is not None:
                yield group
                group = None
            yield item
            continue
        after = items[at + 1] if at + 1 < len(items) else None
        if group is not None and _is_next(group, item, after if isinstance(after, PdfLine) else None, usual):
            group.lines.append(item)
        else:
            before = items[at - 1] if at else None
            if group is not None:
                yield group
            group = _begun(item, before, edges.of(item), usual)
        group.goes_on = _is_full(item, group.edge, None)
    if group is not None:
        yield group


def _begun(line: PdfLine, before: PdfLine | PdfTable | None, edge: float, usual: Measures) -> LineGroup:
    """The group that a line begins; large letters are not code, whatever their font is."""
    above = (line.y - before.y) / line.size if isinstance(before, PdfLine) and line.y > before.y else 9.0
    is_item = _is_marked(line) or (not line.is_mono and NUMBERED.match(line.text) is not None)
    is_code = line.is_mono and not is_item and line.size < TITLE * usual.size
    return LineGroup([line], above, edge, is_code, is_item)


def _is_marked(line: PdfLine) -> bool:
    """Whether a line begins with a bullet; in code, a hyphen or an asterisk is none."""
    return BULLET.match(line.text) is not None and not (line.is_mono and line.text.isascii())


class Edges:
    """Where the lines of a page end at the right, in each of its columns."""

    def __init__(self, lines: Sequence[PdfLine]) -> None:
        self._between = gutter(lines)
        sides: dict[int, list[PdfLine]] = defaultdict(list)
        for line in lines:
            sides[self._side(line)].append(line)
        self._columns = {side: _ColumnEdges(lines_of_side) for side, lines_of_side in sides.items()}

    def of(self, line: PdfLine) -> float:
        """The right edge of the text that a line stands in."""
        return self._columns[self._side(line)].of(line)

    def _side(self, line: PdfLine) -> int:
        if self._between is not None:
            return side(line, self._between)
        return 0


class _ColumnEdges:
    """The same for the lines of one column, and those of a narrower text within it, as a note in a box is."""

    def __init__(self, lines: Sequence[PdfLine]) -> None:
        self._parts: list[tuple[float, float]] = []
        self._narrow: dict[int, list[float]] = defaultdict(list)
        for line in sorted(lines, key=lambda line: line.x0):
            self._narrow[round(line.x0 / PLACE)].append(line.x1)
            if self._parts and line.x0 < self._parts[-1][1] - 2 * line.size:
                x0, x1 = self._parts[-1]
                self._parts[-1] = (x0, max(x1, line.x1))
            else:
                self._parts.append((line.x0, line.x1))

    def of(self, line: PdfLine) -> float:
        x0, x1 = next((part for part in reversed(self._parts) if part[0] <= line.x0), (line.x0, line.x1))
        place = round(line.x0 / PLACE)
        ends = [end for at in (place - 1, place, place + 1) for end in self._narrow.get(at, ())]
        own = max(ends, default=x1)
        is_text = sum(end > own - RAGGED * line.size for end in ends) > 1 and own - line.x0 > NARROW * (x1 - x0)
        return own if is_text else x1


def _is_next(group: LineGroup, line: PdfLine, after: PdfLine | None, usual: Measures) -> bool:
    """Whether a line belongs to the group of the line before it; `after` is the line below it."""
    last = group.lines[-1]
    pitch = usual.pitch(line.size)
    distance = line.y - last.y
    if distance < -0.5 * line.size:  # the top of another column
        return _starts_within(group, line)
    if _is_marked(line):
        return False
    if group.is_code and line.is_mono:
        return distance < 3 * pitch and line.size == last.size
    if distance > LOOSE * max(pitch, usual.pitch(last.size)) or abs(line.size - last.size) > 0.06 * last.size:
        return abs(distance) < 0.5 * line.size and line.x0 > last.x1  # the rest of its line
    if group.is_code or (line.is_mono and line.size < TITLE * usual.size):
        return _is_word_of_code(group, line)
    if line.is_bold != last.is_bold and (line.is_bold or len(group.lines) == 1) and _stands_alone(last, line, group):
        return False
    if NUMBERED.match(line.text) and (group.is_item or not last.text[-1:].islower()):
        return False
    if line.size > TITLE * usual.size and line.is_bold == last.is_bold and not group.is_item:
        return len(group.lines) < MOST_OF_TITLE
    if not _is_full(last, group.edge, line):
        return False
    return (line.is_bold and last.is_bold) or not _is_indented(group, line, after)


def _stands_alone(last: PdfLine, line: PdfLine, group: LineGroup) -> bool:
    """Whether bold and plain lines are a heading and its text, rather than bold words that fill a line by chance."""
    return not _is_full(last, group.edge, line) or last.text[-1:] in ENDS or line.text[:1].isupper()


def _is_word_of_code(group: LineGroup, line: PdfLine) -> bool:
    """Whether a line is only by chance all in the font of code, or not, within a paragraph."""
    last = group.lines[-1]
    if line.is_mono:
        within = last.text[-1:] not in ENDS and _is_full(last, group.edge, line)
        return within and not _is_indented(group, line, None) and len(line.pieces) == 1
    return len(group.lines) == 1 and not group.is_item and line.text[:1].islower() and _is_full(last, group.edge, line)


def _is_indented(group: LineGroup, line: PdfLine, after: PdfLine | None) -> bool:
    """Whether a line begins a paragraph by its place: it begins further in or further out than the lines before it."""
    size = line.size
    if len(group.lines) > 1:
        return abs(line.x0 - group.lines[-1].x0) > INDENT * size
    if group.is_item:
        return line.x0 < group.first.x0 - INDENT * size / 2
    inside = line.x0 - group.first.x0
    if inside < INDENT * size:
        return False
    # The second line of a paragraph whose first one hangs out, as that of a term or of a numbered heading does.
    is_near = after is not None and 0 < after.y - line.y < LOOSE * USUAL * size and after.size == size
    if after is not None and is_near:
        return after.x0 < line.x0 - INDENT * size / 2
    return inside < HANGING * size and group.first.text[-1:] in ENDS


def _is_full(line: PdfLine, edge: float, after: PdfLine | None) -> bool:
    """Whether a line ends where there was no room for the next word."""
    text = line.text
    if after is not None and DIVIDED.search(text[-70:]) and after.text[:1].islower():
        return True
    if width(text) < NARROWEST:
        return False
    letter = (line.x1 - line.x0) / max(1, width(text))
    word = width(after.text.split(" ", 1)[0]) if after is not None else 8
    if after is not None and after.text[:1] >= "\u2e80":
        word = 2
    return line.x1 + (min(word, 30) + 1) * letter > edge - ROOM * line.size


def _starts_within(group: LineGroup, line: PdfLine) -> bool:
    """Whether a line at the top of another column or page goes on the paragraph before it."""
    last = group.lines[-1].text
    if group.is_code or line.is_mono or abs(line.size - group.size) > 0.06 * group.size:
        return False
    if line.is_bold != group.lines[-1].is_bold or not _is_full(group.lines[-1], group.edge, line):
        return False
    if BULLET.match(line.text) or last[-1:] in ENDS:
        return False
    return not line.text[:1].isupper() or last[-1:] in ",-" or not NUMBERED.match(line.text)


def _goes_over(group: LineGroup, after: LineGroup) -> bool:
    """Whether a group goes on in the first one of the next page."""
    if group.is_code and after.is_code:
        return group.size == after.size
    return not after.is_item and _starts_within(group, after.first)


def _without_notes(
    groups: list[LineGroup | PdfTable], usual: Measures
) -> tuple[list[LineGroup | PdfTable], list[LineGroup]]:
    """The groups of a page without the notes at its foot, and these."""
    at = len(groups)
    while at:
        group = groups[at - 1]
        if not isinstance(group, LineGroup) or group.size > SMALL * usual.size or group.is_code:
            break
        at -= 1
    notes = groups[at:]
    while notes and isinstance(notes[0], LineGroup) and not NOTE.match(notes[0].text):
        at = at + 1
        notes = notes[1:]
    if not at:
        return groups, []
    return groups[:at], [group for group in notes if isinstance(group, LineGroup)]
