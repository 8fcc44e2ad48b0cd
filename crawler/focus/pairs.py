"""Rows of numbers of any length, in two arrays that grow: the row of each number, and the number."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]
Values = NDArray[np.float64]


class Pairs:
    """Which numbers each row holds; a row may be added to at any time.

    >>> pairs = Pairs()
    >>> pairs.add(0, [2, 1])
    >>> pairs.add(2, [2])
    >>> worth = np.array([0.0, 1.0, 5.0])
    >>> pairs.sums(worth[pairs.numbers], 3).tolist()
    [6.0, 0.0, 5.0]
    """

    def __init__(self) -> None:
        self._rows = np.empty(1024, np.int32)
        self._numbers = np.empty(1024, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def rows(self) -> Numbers:
        """The row of each number."""
        return self._rows[: self._count]

    @property
    def numbers(self) -> Numbers:
        """The numbers, in the order in which they were added."""
        return self._numbers[: self._count]

    def add(self, row: int, numbers: list[int] | Numbers) -> None:
        """Add numbers to a row."""
        end = self._count + len(numbers)
        if end > len(self._rows):
            self._rows, self._numbers = (_longer(array, end) for array in (self._rows, self._numbers))
        self._rows[self._count : end] = row
        self._numbers[self._count : end] = numbers
        self._count = end

    def sums(self, values: Values, rows: int) -> Values:
        """For each row the sum of the values of its numbers, which are given in their order."""
        return np.bincount(self.rows, values, rows).astype(np.float64)

    def sizes(self, rows: int) -> Values:
        """How many numbers each row holds."""
        return np.bincount(self.rows, minlength=rows).astype(np.float64)

    def since(self, count: int, row: int) -> "Pairs":
        """What was added after the first `count` numbers, with that row as row 0."""
        later = Pairs.__new__(Pairs)
        later._rows, later._numbers = self.rows[count:] - row, self.numbers[count:]
        later._count = len(later._rows)
        return later

    def keep(self, new: Numbers) -> None:
        """Drop the rows whose new number is below 0, and give the others theirs."""
        rows = new[self.rows]
        kept = rows >= 0
        count = int(np.count_nonzero(kept))
        self._rows[:count], self._numbers[:count] = rows[kept], self.numbers[kept]
        self._count = count


def _longer(array: Numbers, size: int) -> Numbers:
    longer = np.empty(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer
