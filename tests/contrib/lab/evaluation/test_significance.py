import math
from collections.abc import Sequence

import pytest
from missing import need

from crawler.contrib.lab.evaluation.significance import compare, holm, intervals, mcnemar, paired_t
from crawler.contrib.lab.evaluation.text_metrics import LeafCounts, TextScore

need("scipy")


def scores(f1s: Sequence[float]) -> list[TextScore]:
    """Scores whose figures are all the same number."""
    return [TextScore(f1, f1, f1, f1, f1, f1, LeafCounts(1, 1, 1), 1) for f1 in f1s]


def test_paired_t() -> None:
    rows = [
        # With two degrees of freedom p = 1 - t / sqrt(t^2 + 2), and t = 2 sqrt(3).
        ([1.0, 2.0, 3.0], 1 - math.sqrt(12 / 14), 2.0),
        ([-1.0, -2.0, -3.0], 1 - math.sqrt(12 / 14), -2.0),
        # With one, p = 1 - 2 atan(t) / pi, and t = 3.
        ([1.0, 2.0], 1 - 2 * math.atan(3) / math.pi, 3 / math.sqrt(2)),
        ([1.0, -1.0], 1.0, 0.0),
        ([0.0, 0.0, 0.0], 1.0, 0.0),
        ([0.3], None, None),
        ([], None, None),
        ([0.1, 0.1, 0.1], None, None),
        ([0.1 + 0.2, 0.3, 0.3], None, None),  # rounding is no spread
    ]
    for differences, p, effect in rows:
        found = paired_t(differences)
        assert found == ((p, effect) if p is None else pytest.approx((p, effect)))


def test_paired_t_with_a_certain_outcome_is_no_error() -> None:
    p, effect = paired_t([1.0, 1.0 + 1e-6] * 5_000)
    assert p == 0.0
    assert effect is not None
    assert effect > 1e5


def test_mcnemar_is_a_fair_coin() -> None:
    rows = [(0, 0, 1), (0, 1, 1), (3, 3, 1), (0, 5, 2 / 32), (5, 0, 2 / 32), (1, 5, 14 / 64), (0, 6, 2 / 64)]
    for only_first, only_second, p in rows:
        assert mcnemar(only_first, only_second) == pytest.approx(p)


def test_holm() -> None:
    rows = [
        ([], []),
        ([None], [None]),
        ([0.03], [0.03]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.02, 0.021], [0.04, 0.04]),  # never below a smaller one
        ([0.6, 0.7], [1.0, 1.0]),
        ([None, 0.01, None, 0.04], [None, 0.02, None, 0.04]),
    ]
    for values, corrected in rows:
        assert holm(values) == pytest.approx(corrected)


def test_methods_are_compared_two_by_two() -> None:
    good, fair, none = scores([1.0, 0.95, 0.9, 0.9]), scores([0.9, 0.8, 0.8, 0.9]), scores([0.0] * 4)
    found = {(one.first, one.second): one for one in compare({"good": good, "fair": fair, "none": none})}
    assert list(found) == [("good", "fair"), ("good", "none"), ("fair", "none")]
    pair = found["good", "fair"]
    assert pair.difference == pytest.approx((0.1 + 0.15 + 0.1 + 0) / 4)
    assert (pair.only_first, pair.only_second) == (2, 0)
    alone = paired_t([one.f1 - other.f1 for one, other in zip(good, fair, strict=True)])
    assert pair.effect == alone[1]
    assert alone[0] is not None
    assert pair.t_test == pytest.approx(alone[0])  # the largest of the three stays as it is
    assert found["good", "none"].mcnemar == pytest.approx(3 * 2 / 16)


def test_a_method_and_its_like_do_not_differ() -> None:
    same = scores([0.5, 0.7])
    (pair,) = compare({"one": same, "other": same})
    assert (pair.difference, pair.effect, pair.t_test, pair.mcnemar) == (0, 0, 1, 1)
    (single,) = compare({"one": scores([0.5]), "other": scores([1.0])})
    assert (single.effect, single.t_test, single.only_second, single.mcnemar) == (None, None, 1, 1)
    assert compare({"one": same}) == []


def test_intervals_draw_hosts() -> None:
    two = intervals(scores([1.0] * 20 + [0.0] * 20), ["a"] * 20 + ["b"] * 20)
    assert two == ((0, 1), (0, 1))  # a quarter of the draws has one host twice
    many = intervals(scores([1.0, 0.0] * 20), [str(number) for number in range(40)])
    nowhere = intervals(scores([1.0, 0.0] * 20), [""] * 40)
    assert many == nowhere  # a page without a host is one of its own
    (low, high), _ = many
    # The binomial distribution of 40 hosts: 2.5% are below 14, 97.5% up to 26.
    assert (low, high) == pytest.approx((14 / 40, 26 / 40), abs=0.03)
    assert many == intervals(scores([1.0, 0.0] * 20), [str(number) for number in range(40)])


def test_intervals_of_what_has_none() -> None:
    assert intervals(scores([1.0, 0.5]), ["a", "a"]) == (None, None)
    assert intervals([], []) == (None, None)
    assert intervals(scores([0.5, 0.5]), ["a", "b"]) == ((0.5, 0.5), (0.5, 0.5))
    empty = [TextScore(None, 0.0, 0.0, 0.0, 0.0, 0.0, LeafCounts(0, 0, 1), 0)] * 3
    assert intervals(empty, ["a", "b", "c"]) == ((0, 0), (0, 0))
