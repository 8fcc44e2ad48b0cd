"""The order of the lines of a page: as the file draws them, which nearly all programs do in reading order; one column
after the other where it draws lines across two of them.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil

from crawler.contrib.documents.pdf_lines import PdfLine, PdfPiece

LEAST_LINES = 8
"""The least lines of each column."""
MIDDLE = (0.3, 0.7)
"""Shares of the text's width between which the space between two columns is."""
CROSSING = 0.25
"""Share of the lines that may cross that space, such as headings over both columns."""
LEAST_WIDTH = 0.6
"""Share of its column's width that most lines of a text have; the cells of a table are shorter."""
STEP = 3  # points between the places that are tried
DISORDER = 0.1
"""Share of the lines that stand above the one before them, beyond which the drawn order says nothing."""


def gutter(lines: Sequence[PdfLine]) -> float | None:
    """Where the space between two columns of text is; None if a page does not have two."""
    pieces = [piece for line in lines for piece in line.pieces]
    if len(pieces) < 2 * LEAST_LINES:
        return None
    left = min(piece.x0 for piece in pieces)
    right = max(piece.x1 for piece in pieces)
    first, last = (int(left + share * (right - left)) for share in MIDDLE)
    crossings = _crossings(pieces, range(first, last, STEP))
    if not crossings or (least := min(crossings)) > CROSSING * len(pieces):
        return None
    places = [at for at, count in enumerate(crossings) if count == least]
    x = float(first + STEP * places[len(places) // 2])
    sides = [[piece for piece in pieces if piece.x1 <= x], [piece for piece in pieces if piece.x0 >= x]]
    return x if all(map(_is_text, sides)) else None


def _crossings(pieces: Sequence[PdfPiece], places: range) -> list[int]:
    """How many pieces cross each place."""
    changes = [0] * (len(places) + 1)
    for piece in pieces:
        begin, end = (min(max(ceil((x - places.start) / STEP), 0), len(places)) for x in (piece.x0, piece.x1))
        changes[begin] += 1
        changes[end] -= 1
    return list(accumulate(changes[:-1]))


def _is_text(pieces: Sequence[PdfPiece]) -> bool:
    """Whether pieces are lines of text, most of which are as wide as their column."""
    if len(pieces) < LEAST_LINES:
        return False
    width = max(piece.x1 for piece in pieces) - min(piece.x0 for piece in pieces)
    wide = sum(piece.x1 - piece.x0 > LEAST_WIDTH * width for piece in pieces)
    return 2 * wide > len(pieces)


def in_order(lines: Sequence[PdfLine], between: float | None) -> list[PdfLine]:
    """The lines in reading order, given where the space between two columns is."""
    if between is not None and sum(line.x0 < between < line.x1 and len(line.pieces) > 1 for line in lines) > 2:
        halves = [half for line in lines for half in _halves(line, between)]
        return list(_by_columns(sorted(halves, key=lambda line: line.y), between))
    if between is None:
        above = sum(
            after.y < before.y - before.size and after.x0 < before.x1 and before.x0 < after.x1
            for before, after in pairwise(lines)
        )
        if above > DISORDER * len(lines):
            return sorted(lines, key=lambda line: (round(line.y), line.x0))
    return list(lines)


def side(line: PdfLine, between: float) -> int:
    """Whether a line stands left of the space between two columns (-1), right of it (1), or crosses it (0)."""
    return (line.x0 >= between) - (line.x1 <= between)


def _halves(line: PdfLine, between: float) -> Iterator[PdfLine]:
    """A line that is drawn across two columns as one line in each."""
    sides = [
        [piece for piece in line.pieces if piece.x1 <= between],
        [piece for piece in line.pieces if piece.x0 >= between],
    ]
    if sum(map(len, sides)) < len(line.pieces):
        yield line
        return
    for side in filter(None, sides):
        yield line.of(tuple(side))


def _by_columns(lines: Sequence[PdfLine], between: float) -> Iterator[PdfLine]:
    """Lines from top to bottom, those of the left column before those of the right one; a line that crosses both ends
    the columns above it.
    """
    left: list[PdfLine] = []
    right: list[PdfLine] = []
    for line in lines:
        if line.x0 < between < line.x1:
            yield from left
            yield from right
            yield line
            left = []
            right = []
        else:
            (left if line.x1 <= between else right).append(line)
    yield from left
    yield from right
