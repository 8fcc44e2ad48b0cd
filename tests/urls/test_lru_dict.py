"""A dictionary of limited weight: what was used least recently goes first."""

import pytest

from crawler.urls.lru_dict import LruDict


def filled(max_weight: int, weights: list[int]) -> tuple[LruDict[int, int], list[int]]:
    """A dictionary in which each weight was set by its place, and the keys that were dropped."""
    cache = LruDict[int, int](max_weight, weigh=int)
    dropped = [key for place, weight in enumerate(weights) for key, _ in cache.set(place, weight)]
    return cache, dropped


def test_as_much_is_kept_as_there_is_room_for() -> None:
    rows = [
        (10, [3, 3, 4], []),
        (9, [3, 3, 4], [0]),
        (10, [3, 3, 9], [0, 1]),
        (10, [3, 3, 11], [0, 1]),
        (0, [0, 0, 0], []),
        (0, [1, 1], [0]),
    ]
    for max_weight, weights, dropped in rows:
        cache, dropped_keys = filled(max_weight, weights)
        assert dropped_keys == dropped
        assert list(cache) == [key for key in range(len(weights)) if key not in dropped]
        assert cache.weight == sum(cache.values())


@pytest.mark.parametrize(("used", "dropped"), [(None, 0), (0, 1), (1, 0)])
def test_what_was_used_last_stays(used: int | None, dropped: int) -> None:
    cache = LruDict[int, str](2)
    cache.set(0, "a")
    cache.set(1, "b")
    assert (0 in cache, cache[0], cache.get(1)) == (True, "a", "b")  # reading is no use
    if used is not None:
        assert cache.use(used) == "ab"[used]
    assert [key for key, _ in cache.set(2, "c")] == [dropped]


def test_an_entry_that_is_set_again_is_weighed_again() -> None:
    cache, _ = filled(10, [3, 3])
    assert cache.set(0, 7) == []
    assert (list(cache), cache.weight) == ([1, 0], 10)
    assert cache.set(0, 8) == [(1, 3)]


def test_a_removed_entry_weighs_nothing() -> None:
    cache, _ = filled(10, [3, 4])
    assert (cache.pop(0), cache.pop(0), cache.use(0)) == (3, None, None)
    assert (len(cache), cache.weight) == (1, 4)
