"""The tables of a PDF page: consecutive lines of several pieces that are below each other, with space between them."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from crawler.contrib.documents.pdf_lines import PdfLine, PdfPiece
from crawler.contrib.documents.text_join import joined

LEAST_ROWS = 3
"""The least number of rows with several cells; one less in a table of three or more columns."""
MOST_PITCH = 3.0
"""Ems between the baselines of two lines of a table."""
SPACE = 0.5
"""Ems of white space between two columns."""
APART = 1.5
"""The distance between the first and the last drawn line of a table, in lines, as a multiple of its lines."""
MOST_LINES = 500
"""Lines of a page in which tables are looked for; a page of more has no text for readers."""
MAX_COLUMNS = 30
PROSE = 45
"""Mean characters of the cells of a column of prose: two such columns are not a table."""


@dataclass(frozen=True, slots=True)
class PdfTable:
    """A table in the place of its first line."""

    rows: tuple[tuple[str, ...], ...]
    page: int
    y: float
    x0: float


@dataclass(frozen=True, slots=True)
class _Row:
    """The lines of one baseline."""

    y: float
    size: float
    pieces: tuple[PdfPiece, ...]
    lines: tuple[int, ...]
    """The places of its lines on the page."""


def with_tables(lines: Sequence[PdfLine]) -> list[PdfLine | PdfTable]:
    """The lines of a page or a column, where each table is in the place of its first line."""
    if not any(len(line.pieces) > 1 for line in lines) or len(lines) > MOST_LINES:
        return list(lines)
    tables: dict[int, PdfTable] = {}
    table_lines: set[int] = set()
    for rows in _runs(_rows(lines)):
        places = sorted(place for row in rows for place in row.lines)
        is_together = places[-1] - places[0] < APART * len(places)
        if is_together and _is_drawn_by_rows(rows, [lines[place] for place in places]):
            first = places[0]
            tables[first] = PdfTable(rows=_cells(rows), page=lines[first].page, y=rows[0].y, x0=rows[0].pieces[0].x0)
            table_lines.update(places)
    lines_and_tables: list[PdfLine | PdfTable] = []
    for at, line in enumerate(lines):
        if at in tables:
            lines_and_tables.append(tables[at])
        elif at not in table_lines:
            lines_and_tables.append(line)
    return lines_and_tables


def _rows(lines: Sequence[PdfLine]) -> list[_Row]:
    """The lines grouped by their baselines into rows, from top to bottom."""
    groups: list[list[int]] = []
    for at in sorted(range(len(lines)), key=lambda at: lines[at].y):
        last = lines[groups[-1][0]] if groups else None
        if last is not None and abs(lines[at].y - last.y) < 0.35 * last.size:
            groups[-1].append(at)
        else:
            groups.append([at])
    rows = []
    for group in groups:
        pieces = sorted((piece for at in group for piece in lines[at].pieces), key=lambda piece: piece.x0)
        first = lines[group[0]]
        is_code = all(lines[at].is_mono for at in group)
        if is_code:
            pieces = pieces[:1]
        rows.append(_Row(y=first.y, size=first.size, pieces=tuple(pieces), lines=tuple(group)))
    return rows


def _runs(rows: Sequence[_Row]) -> list[list[_Row]]:
    """The rows of each table: consecutive rows that share columns."""
    runs: list[list[_Row]] = []
    run: list[_Row] = []
    columns: list[tuple[float, float]] = []
    for row in rows:
        spans = [(piece.x0, piece.x1) for piece in row.pieces]
        if run:
            merged = _merged([*columns, *spans], SPACE * row.size)
            is_near = row.y - run[-1].y < MOST_PITCH * max(row.size, run[-1].size)
            if is_near and len(merged) >= max(2, min(len(columns), len(spans))) and _fits(spans, columns, row.size):
                run.append(row)
                columns = merged
                continue

        runs.append(run)
        run = []
        columns = []
        if _begins_table(row):
            run = [row]
            columns = spans
    runs.append(run)
    return list(filter(_is_table, map(_trimmed, runs)))


def _merged(spans: list[tuple[float, float]], space: float) -> list[tuple[float, float]]:
    """The intervals that the spans cover; spans with less than `space` between them are one interval."""
    intervals: list[tuple[float, float]] = []
    for x0, x1 in sorted(spans):
        if intervals and x0 < intervals[-1][1] + space:
            intervals[-1] = (intervals[-1][0], max(intervals[-1][1], x1))
        else:
            intervals.append((x0, x1))
    return intervals


def _begins_table(row: _Row) -> bool:
    """Whether a table may begin with a row: it has several pieces, and is not an item after its bullet or number."""
    return 2 <= len(row.pieces) <= MAX_COLUMNS and not (len(row.pieces) == 2 and len(row.pieces[0].text) <= 4)


def _fits(spans: Sequence[tuple[float, float]], columns: Sequence[tuple[float, float]], size: float) -> bool:
    """Whether a row belongs to a table with these columns: a row of one piece must begin where one of them does."""
    return len(spans) > 1 or any(abs(spans[0][0] - x0) < size and spans[0][1] < x1 + size for x0, x1 in columns)


def _trimmed(run: list[_Row]) -> list[_Row]:
    """A run without the rows of one piece at its end that begin where its first column does: they are paragraphs."""
    while run and len(run[-1].pieces) == 1 and abs(run[-1].pieces[0].x0 - run[0].pieces[0].x0) < run[-1].size:
        run = run[:-1]
    return run


def _is_table(run: Sequence[_Row]) -> bool:
    """Whether rows are a table: it has enough rows of several cells, and at most one column of prose."""
    several = [row for row in run if len(row.pieces) > 1]
    columns = _columns(run)
    if len(several) < LEAST_ROWS - (len(columns) > 2) or 3 * len(several) < len(run) or len(columns) < 2:
        return False
    long = 0
    for x0, x1 in columns:
        texts = [piece.text for row in several for piece in row.pieces if x0 <= piece.x0 <= x1]
        long += sum(map(len, texts)) > PROSE * len(texts)
    return long < 2


def _is_drawn_by_rows(run: Sequence[_Row], drawn: Sequence[PdfLine]) -> bool:
    """Whether lines were drawn row by row; two columns of text are drawn one after the other."""
    starts = [x0 for x0, _ in _columns(run)]
    order = [bisect_right(starts, piece.x0) for line in drawn for piece in line.pieces]
    changes = sum(before != after for before, after in pairwise(order))
    return changes >= sum(len(row.pieces) > 1 for row in run)


def _columns(run: Sequence[_Row]) -> list[tuple[float, float]]:
    """The left and right edges of the columns of a table."""
    return _merged([(piece.x0, piece.x1) for row in run for piece in row.pieces], 0)


def _cells(run: Sequence[_Row]) -> tuple[tuple[str, ...], ...]:
    """The cells of a table, where the further lines of a cell are joined to its first line."""
    columns = _columns(run)
    pitches = sorted(after.y - before.y for before, after in pairwise(run))
    tight = pitches[0] * 1.15 if pitches else 0.0
    is_loose = bool(pitches) and pitches[-1] > 1.3 * pitches[0]
    rows: list[list[list[str]]] = []
    last = 0.0
    for row in run:
        cells: list[list[str]] = [[] for _ in columns]
        for piece in row.pieces:
            column = max(at for at, (x0, _) in enumerate(columns) if x0 <= piece.x0)
            cells[column].append(piece.text)
        continues_row = not cells[0] or (is_loose and row.y - last <= tight and len(row.pieces) < len(columns))
        if rows and continues_row and row.y - last <= 1.6 * row.size:
            for cell, more in zip(rows[-1], cells, strict=True):
                cell += more
        else:
            rows.append(cells)
        last = row.y
    return tuple(tuple(joined(cell) for cell in cells) for cells in rows)
