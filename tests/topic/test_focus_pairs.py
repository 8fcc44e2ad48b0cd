import numpy as np

from crawler.topic.word_statistics import Pairs

ROWS = [(0, [2, 1]), (2, [2]), (0, [0]), (3, []), (1, [1, 1])]
WORTH = np.array([10.0, 1.0, 5.0])


def filled(rows: list[tuple[int, list[int]]] = ROWS) -> Pairs:
    pairs = Pairs()
    for row, numbers in rows:
        pairs.add(row, numbers)
    return pairs


def held(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.rows.tolist(), pairs.numbers.tolist(), strict=True))


def test_sums_and_sizes() -> None:
    pairs = filled()
    assert len(pairs) == 6
    assert pairs.sums(WORTH[pairs.numbers], 5).tolist() == [16, 2, 5, 0, 0]
    assert pairs.sizes(5).tolist() == [3, 2, 1, 0, 0]


def test_none() -> None:
    assert Pairs().sums(np.zeros(0), 2).tolist() == Pairs().sizes(2).tolist() == [0, 0]
    assert Pairs().sums(np.zeros(0), 0).tolist() == []


def test_they_grow() -> None:
    for numbers in [[1] * 1023, [1] * 1024, [1] * 1025, [1] * 5_000]:
        pairs = filled()
        pairs.add(4, numbers)
        pairs.add(5, np.array(numbers, np.int32))
        assert held(pairs) == held(filled()) + [(4, 1)] * len(numbers) + [(5, 1)] * len(numbers)


def test_what_came_since() -> None:
    pairs = filled()
    mark = len(pairs)
    pairs.add(4, [0, 2])
    pairs.add(6, [1])
    assert held(pairs.since(mark, 4)) == [(0, 0), (0, 2), (2, 1)]
    assert held(pairs.since(len(pairs), 7)) == []


def test_what_is_kept() -> None:
    rows = [
        ([0, 1, 2, 3], held(filled())),
        ([-1, -1, -1, -1], []),
        ([-1, 0, 1, 2], [(1, 2), (0, 1), (0, 1)]),
        ([1, -1, 0, -1], [(1, 2), (1, 1), (0, 2), (1, 0)]),
    ]
    for new, kept in rows:
        pairs = filled()
        pairs.renumber(np.array(new, np.int32))
        assert held(pairs) == kept
        pairs.add(7, [1])
        assert held(pairs) == [*kept, (7, 1)]
