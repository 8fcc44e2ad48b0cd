"""The reading order of the lines of a page.

Nearly all programs draw lines in reading order, so the order of drawing is kept. Where lines are drawn across two
columns, they are divided, and one column follows the other. The gutter is the space between two columns. A piece is
the words of a line without a wide gap between them.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil

from crawler.contrib.documents.pdf_lines import PdfLine, PdfPiece

LEAST_PIECES = 8
"""The least number of pieces in each column."""
MIDDLE = (0.3, 0.7)
"""The gutter is looked for between these two shares of the text's width."""
MAX_CROSSING = 0.25
"""The largest share of pieces that may cross the gutter, such as headings over both columns."""
LEAST_WIDTH = 0.6
"""Most pieces of a text are wider than this share of their column; the cells of a table are narrower."""
STEP = 3
"""Points between the x coordinates at which a gutter is looked for."""
MAX_DISORDER = 0.1
"""If a larger share of lines is drawn after a line below them, the order of drawing is not the reading order."""
MOST_DRAWN_ACROSS = 2
"""A page with more lines drawn across the gutter is drawn row by row; another page, one column after the other."""


def gutter(lines: Sequence[PdfLine]) -> float | None:
    """The x coordinate of the gutter between two columns of text; None if a page does not have two."""
    pieces = [piece for line in lines for piece in line.pieces]
    if len(pieces) < 2 * LEAST_PIECES:
        return None

    # The gutter is the middle of the x coordinates that the fewest pieces cross.
    left = min(piece.x0 for piece in pieces)
    right = max(piece.x1 for piece in pieces)
    first, last = (int(left + share * (right - left)) for share in MIDDLE)
    positions = range(first, last, STEP)
    crossings = _crossings(pieces, positions)
    least = min(crossings, default=len(pieces))  # no position: the text is too narrow for columns
    if least > MAX_CROSSING * len(pieces):
        return None
    candidates = [x for x, count in zip(positions, crossings, strict=True) if count == least]
    x = float(candidates[len(candidates) // 2])

    left_pieces = [piece for piece in pieces if piece.x1 <= x]
    right_pieces = [piece for piece in pieces if piece.x0 >= x]
    if _is_text(left_pieces) and _is_text(right_pieces):
        return x
    return None


def _crossings(pieces: Sequence[PdfPiece], positions: range) -> list[int]:
    """The number of pieces that cross each of these x coordinates."""
    # By how much the number changes from one position to the next; the last element collects changes right of all.
    changes = [0] * (len(positions) + 1)
    for piece in pieces:
        changes[_first_from(piece.x0, positions)] += 1
        changes[_first_from(piece.x1, positions)] -= 1
    return list(accumulate(changes[:-1]))


def _first_from(x: float, positions: range) -> int:
    """The index of the first position that is not left of x; the number of positions if all are."""
    return min(max(ceil((x - positions.start) / STEP), 0), len(positions))


def _is_text(pieces: Sequence[PdfPiece]) -> bool:
    """Whether pieces are text: there are enough, and most of them are nearly as wide as their column."""
    if len(pieces) < LEAST_PIECES:
        return False
    width = max(piece.x1 for piece in pieces) - min(piece.x0 for piece in pieces)
    wide = sum(piece.x1 - piece.x0 > LEAST_WIDTH * width for piece in pieces)
    return 2 * wide > len(pieces)


def in_order(lines: Sequence[PdfLine], gutter_x: float | None) -> list[PdfLine]:
    """The lines of a page in reading order; `gutter_x` is None if the page does not have two columns."""
    if gutter_x is None:
        # Lines above, and not beside, the line that is drawn before them.
        drawn_upwards = sum(
            after.y < before.y - before.size and after.x0 < before.x1 and before.x0 < after.x1
            for before, after in pairwise(lines)
        )
        if drawn_upwards > MAX_DISORDER * len(lines):
            return sorted(lines, key=lambda line: (round(line.y), line.x0))
        return list(lines)

    # A line of several pieces across the gutter is a row of both columns.
    drawn_across = sum(line.x0 < gutter_x < line.x1 and len(line.pieces) > 1 for line in lines)
    if drawn_across > MOST_DRAWN_ACROSS:
        halves = [half for line in lines for half in _halves(line, gutter_x)]
        return list(_by_columns(sorted(halves, key=lambda line: line.y), gutter_x))
    return list(lines)


def side(line: PdfLine, gutter_x: float) -> int:
    """Whether a line is left of the gutter (-1), right of it (1), or crosses it (0)."""
    return (line.x0 >= gutter_x) - (line.x1 <= gutter_x)


def _halves(line: PdfLine, gutter_x: float) -> Iterator[PdfLine]:
    """The parts of a line left and right of the gutter; the whole line if one of its pieces crosses the gutter."""
    sides = [
        [piece for piece in line.pieces if piece.x1 <= gutter_x],
        [piece for piece in line.pieces if piece.x0 >= gutter_x],
    ]
    if sum(map(len, sides)) < len(line.pieces):
        yield line
        return
    for pieces in filter(None, sides):
        yield line.with_pieces(tuple(pieces))


def _by_columns(lines: Sequence[PdfLine], gutter_x: float) -> Iterator[PdfLine]:
    """The lines of the left column before those of the right one; a line that crosses the gutter ends the columns above
    it. `lines` are from top to bottom.
    """
    left: list[PdfLine] = []
    right: list[PdfLine] = []
    for line in lines:
        if line.x0 < gutter_x < line.x1:
            yield from left
            yield from right
            yield line
            left = []
            right = []
        elif line.x1 <= gutter_x:
            left.append(line)
        else:
            right.append(line)
    yield from left
    yield from right
