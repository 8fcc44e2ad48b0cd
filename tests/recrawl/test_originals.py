"""Copies among many texts by their signatures: the same pairs as one by one, the preferred text stays."""

import random

import numpy as np
import pytest

from crawler.recrawl.near_duplicates import BANDS, MOST_OF_A_BAND, NEAR, PERMUTATIONS, bands, keys_of_band
from crawler.recrawl.originals import originals

ENOUGH = -(-PERMUTATIONS * NEAR // 1)  # places that agree


def drawn(seed: int) -> list[int]:
    return [random.Random(f"{seed}-{place}").randrange(1 << 16) for place in range(PERMUTATIONS)]


def like(signature: list[int], agreeing: int, seed: int = 99) -> list[int]:
    """A signature that agrees with another in so many places, the first ones."""
    other = drawn(seed)
    return [one if place < agreeing else other[place] ^ (one == other[place]) for place, one in enumerate(signature)]


def found(signatures: list[list[int]], order: list[int] | None = None) -> list[int]:
    rows = np.array(signatures, np.uint16).reshape(-1, PERMUTATIONS)
    return originals(rows, np.array(order if order is not None else range(len(rows)), np.int64))[0].tolist()


@pytest.mark.parametrize(("agreeing", "expected"), [(PERMUTATIONS, 0), (ENOUGH, 0), (ENOUGH - 1, 1)])
def test_near_is_from_the_limit_on(agreeing: float, expected: int) -> None:
    first = drawn(1)
    assert found([first, like(first, int(agreeing))])[1] == expected


def test_how_similar_they_are() -> None:
    first = drawn(1)
    _, alike = originals(np.array([first, like(first, 112), drawn(2)], np.uint16), np.arange(3))
    assert alike.tolist() == [1, 112 / PERMUTATIONS, 1]


@pytest.mark.parametrize(
    ("order", "expected"),
    [([0, 1, 2, 3], [0, 0, 2, 0]), ([3, 2, 1, 0], [3, 3, 2, 3]), ([1, 2], [0, 1, 2, 3]), ([], [0, 1, 2, 3])],
)
def test_the_preferred_one_is_the_original(order: list[int], expected: list[int]) -> None:
    assert found([drawn(1), like(drawn(1), 120), drawn(2), drawn(1)], order) == expected


def test_a_chain_is_not_one_group() -> None:
    """Each is near the next, the last is not near the first: it stays, as a copy must be near to what stays."""
    first = drawn(1)
    second = like(first, 110)
    third = second[:]
    third[:20] = drawn(50)[:20]
    assert np.mean(np.array(first) == np.array(third)) < NEAR < np.mean(np.array(second) == np.array(third))
    assert found([first, second, third]) == [0, 0, 2]
    assert found([first, second, third], [1, 0, 2]) == [1, 1, 1]


def test_many_that_share_a_key_and_are_not_copies() -> None:
    """Only the first texts are entered under a key; a copy of one of them is found."""
    box = drawn(1)[:10]
    rows = [box + drawn(seed)[10:] for seed in range(2, MOST_OF_A_BAND + 12)]
    copy = [*rows[3][:125], 1, 2, 3]
    assert found([*rows, copy]) == [*range(len(rows)), 3]


def test_nothing_is_compared_with_nothing() -> None:
    assert found([]) == []
    assert found([drawn(1)]) == [0]


def test_keys_are_those_of_a_crawl() -> None:
    rows = np.array([drawn(1), drawn(2)], "<u2")
    for row, signature in enumerate(rows):
        keys = bands(signature.tobytes())
        assert [keys_of_band(rows, band)[row] for band in range(BANDS)] == keys
