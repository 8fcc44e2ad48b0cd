"""The tables of a PDF page: consecutive rows whose pieces are below each other, in columns with space between them.

A row is the lines of one baseline. A piece is the part of a line between two wide gaps, and becomes a cell or a part of
one. A run is consecutive rows with the same columns; it is a table unless it is too short, or prose in columns.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from crawler.contrib.documents.pdf_lines import PdfLine, PdfPiece
from crawler.contrib.documents.text_join import joined

LEAST_ROWS = 3
"""The least number of rows with several cells, in a table of two columns; one less if there are more columns."""
MOST_PITCH = 3.0
"""The most ems between the baselines of two rows of a table."""
SPACE = 0.5
"""The fewest ems of white space between two columns."""
MOST_BETWEEN = 1.5
"""A run is no table if other lines are drawn between its lines, so that together they are this many times its own."""
MOST_LINES = 500
"""Tables are searched for on pages with at most this many lines; a page with more has no text for readers."""
MAX_COLUMNS = 30
PROSE = 45
"""A column is prose if its cells have more characters than this on average; two such columns are not a table."""


@dataclass(frozen=True, slots=True)
class PdfTable:
    """The cells of a table, by rows."""

    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """The lines of one baseline."""

    y: float
    size: float
    pieces: tuple[PdfPiece, ...]
    line_indexes: tuple[int, ...]
    """The indexes of its lines among those given to `with_tables`."""


def with_tables(lines: Sequence[PdfLine]) -> list[PdfLine | PdfTable]:
    """The lines of a page or a column, where each table is in the place of its first line."""
    if not any(len(line.pieces) > 1 for line in lines) or len(lines) > MOST_LINES:
        return list(lines)
    tables: dict[int, PdfTable] = {}
    table_lines: set[int] = set()
    for rows in _table_runs(_rows(lines)):
        indexes = sorted(at for row in rows for at in row.line_indexes)
        first = indexes[0]
        is_together = indexes[-1] - first < MOST_BETWEEN * len(indexes)
        if is_together and _is_drawn_by_rows(rows, [lines[at] for at in indexes]):
            tables[first] = PdfTable(rows=_cells(rows))
            table_lines.update(indexes)
    lines_and_tables: list[PdfLine | PdfTable] = []
    for at, line in enumerate(lines):
        if at in tables:
            lines_and_tables.append(tables[at])
        elif at not in table_lines:
            lines_and_tables.append(line)
    return lines_and_tables


def _rows(lines: Sequence[PdfLine]) -> list[_Row]:
    """The lines grouped by their baselines into rows, from top to bottom; baselines may differ a little."""
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
            pieces = pieces[:1]  # a row of one piece: the wide gaps of code do not separate cells
        rows.append(_Row(y=first.y, size=first.size, pieces=tuple(pieces), line_indexes=tuple(group)))
    return rows


def _table_runs(rows: Sequence[_Row]) -> list[list[_Row]]:
    """The runs of rows that look like tables."""
    runs: list[list[_Row]] = []
    run: list[_Row] = []
    columns: list[tuple[float, float]] = []
    for row in rows:
        spans = [(piece.x0, piece.x1) for piece in row.pieces]
        if run:
            merged = _merged([*columns, *spans], SPACE * row.size)
            is_near = row.y - run[-1].y < MOST_PITCH * max(row.size, run[-1].size)
            # The row leaves the columns apart: at least two, and as many as the row or the run has.
            keeps_columns = len(merged) >= max(2, min(len(columns), len(spans)))
            if is_near and keeps_columns and _fits(spans, columns, row.size):
                run.append(row)
                columns = merged
                continue

        runs.append(run)  # an empty run is no table
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
    """Whether a table may begin with a row: it has several pieces, and is not just a bullet or number and its item."""
    return 2 <= len(row.pieces) <= MAX_COLUMNS and not (len(row.pieces) == 2 and len(row.pieces[0].text) <= 4)


def _fits(spans: Sequence[tuple[float, float]], columns: Sequence[tuple[float, float]], size: float) -> bool:
    """Whether a row may continue a table with these columns: it has several pieces, or its only piece begins where a
    column does and does not end further right.
    """
    return len(spans) > 1 or any(abs(spans[0][0] - x0) < size and spans[0][1] < x1 + size for x0, x1 in columns)


def _trimmed(run: list[_Row]) -> list[_Row]:
    """A run without the rows at its end that are one piece in the first column: they are paragraphs below the table."""
    while run and len(run[-1].pieces) == 1 and abs(run[-1].pieces[0].x0 - run[0].pieces[0].x0) < run[-1].size:
        run = run[:-1]
    return run


def _is_table(run: Sequence[_Row]) -> bool:
    """Whether a run is a table: it has enough rows of several cells, at least a third of all its rows, and at most one
    column of prose.
    """
    rows_of_cells = [row for row in run if len(row.pieces) > 1]
    columns = _columns(run)
    least_rows = LEAST_ROWS
    if len(columns) > 2:
        least_rows -= 1
    if len(rows_of_cells) < least_rows or 3 * len(rows_of_cells) < len(run) or len(columns) < 2:
        return False
    columns_of_prose = 0
    for x0, x1 in columns:
        texts = [piece.text for row in rows_of_cells for piece in row.pieces if x0 <= piece.x0 <= x1]
        columns_of_prose += sum(map(len, texts)) > PROSE * len(texts)
    return columns_of_prose < 2


def _is_drawn_by_rows(run: Sequence[_Row], run_lines: Sequence[PdfLine]) -> bool:
    """Whether a run is drawn row by row, so that the column changes within each row; two columns of text are drawn one
    after the other. `run_lines` are the lines of the run in the order of the page, which usually is that of drawing.
    """
    starts = [x0 for x0, _ in _columns(run)]
    column_numbers = [bisect_right(starts, piece.x0) for line in run_lines for piece in line.pieces]
    changes = sum(before != after for before, after in pairwise(column_numbers))
    return changes >= sum(len(row.pieces) > 1 for row in run)


def _columns(run: Sequence[_Row]) -> list[tuple[float, float]]:
    """The left and right edges of the columns of a table."""
    return _merged([(piece.x0, piece.x1) for row in run for piece in row.pieces], 0)


def _cells(run: Sequence[_Row]) -> tuple[tuple[str, ...], ...]:
    """The cells of a table.

    A row close below another continues it if its first cell is empty. In a table in which some rows are further apart
    than others, a row at about the least distance also continues the row above if it has fewer cells than columns.
    """
    columns = _columns(run)
    pitches = [after.y - before.y for before, after in pairwise(run)]
    least_pitch = min(pitches, default=0.0)
    has_space_between_rows = max(pitches, default=0.0) > 1.3 * least_pitch
    rows: list[list[list[str]]] = []
    last_y = 0.0
    for row in run:
        cells: list[list[str]] = [[] for _ in columns]
        for piece in row.pieces:
            column = max(at for at, (x0, _) in enumerate(columns) if x0 <= piece.x0)
            cells[column].append(piece.text)
        pitch = row.y - last_y
        is_close = has_space_between_rows and pitch <= 1.15 * least_pitch
        continues_row = not cells[0] or (is_close and len(row.pieces) < len(columns))
        if rows and continues_row and pitch <= 1.6 * row.size:
            for cell, further_texts in zip(rows[-1], cells, strict=True):
                cell += further_texts
        else:
            rows.append(cells)
        last_y = row.y
    return tuple(tuple(joined(cell) for cell in cells) for cells in rows)
