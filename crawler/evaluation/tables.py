"""Tables of text cells, which reports show as HTML and terminals as lines."""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple


class Table(NamedTuple):
    """Rows under heads; the columns with these heads hold text, the others numbers."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    texts: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def aligned(rows: Sequence[Sequence[str]], left: Container[int]) -> Iterator[str]:
    """The rows as lines with cells below each other, those of these columns to the left.

    The last cell of a row that is shorter than others may be of any width.

    >>> list(aligned([("a", "bees"), ("wasps", "7")], {0}))
    ['a      bees', 'wasps     7']
    """
    count = max(map(len, rows))
    wide = [row if len(row) == count else row[:-1] for row in rows]
    widths = [max(len(row[at]) for row in wide if at < len(row)) for at in range(count)]
    for row in rows:
        cells = enumerate(zip(row, widths, strict=False))
        yield "  ".join(cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in cells).rstrip()
