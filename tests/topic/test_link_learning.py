import numpy as np
import pytest

from crawler.topic import link_scores
from crawler.topic.link_scores import PRIOR_LINKS, Apprentice
from crawler.topic.word_statistics import ADDRESS, ANCHOR, HOST, NEAR, PLACES, FeatureCounts, Pairs

BEES, CARS, NEWS = 1, 2, 3


def taught(*lessons: tuple[list[int], float]) -> Apprentice:
    learner = Apprentice()
    for features, relevance in lessons:
        learner.learn(features, relevance)
    return learner


def promises(learner: Apprentice, *links: list[int]) -> list[float]:
    pairs = Pairs()
    for row, features in enumerate(links):
        pairs.add(row, features)
    return learner.promise(pairs, len(links)).tolist()


def mean_of(sum_: float, weight: float, mean: float) -> float:
    return (sum_ + PRIOR_LINKS * mean) / (weight + PRIOR_LINKS)


def test_the_sorts_of_features_lie_apart() -> None:
    assert (ANCHOR, ADDRESS, NEAR, HOST) == (0, 1, 2, 3)
    learner = taught(([HOST * PLACES + PLACES - 1], 1.0))
    assert learner.shared().features == {4 * PLACES - 1: (1, 1)}


def test_nothing_known() -> None:
    assert Apprentice().mean() == 0.5
    assert promises(Apprentice(), [], [BEES]) == [0.5, 0.5]


def test_good_and_bad_in_balance() -> None:
    rows = [
        ([1.0], 1),
        ([0.0], 0),
        ([1.0, 1.0, 0.0], 2 / 3),
        ([1.0, 0.0], 1 / 2),
        ([1.0, *[0.0] * 4], 1 / 2),
        ([1.0, *[0.0] * 10], 1 / 2),
        ([1.0, *[0.0] * 20], 10 / 30),
        ([0.25] * 4, 1 / 2),
    ]
    for lessons, mean in rows:
        assert taught(*(([BEES], relevance) for relevance in lessons)).mean() == pytest.approx(mean)


def test_the_best_and_the_worst_feature() -> None:
    learner = taught(([BEES, NEWS], 1.0), ([CARS, NEWS], 0.0))
    mean = 1 / 2
    best, worst, both = mean_of(1, 1, mean), mean_of(0, 1, mean), mean_of(1, 2, mean)
    expected = [(best + mean) / 2, (worst + mean) / 2, (best + worst) / 2, both, (best + worst) / 2, mean]
    links = [BEES], [CARS], [BEES, CARS], [NEWS], [BEES, NEWS, CARS], []
    assert promises(learner, *links) == pytest.approx(expected)


def test_a_page_on_the_topic_counts_more_where_few_are() -> None:
    learner = taught(*[([CARS], 0.0)] * 4, ([BEES], 1.0))
    assert learner.shared().features[BEES] == pytest.approx((4, 4))
    assert taught(*[([CARS], 0.0)] * 50, ([BEES], 1.0)).shared().features[BEES] == pytest.approx((10, 10))


def test_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = taught(([BEES, NEWS], 1.0), ([CARS, NEWS], 0.0), ([CARS], 0.0))
    ledger = FeatureCounts({CARS: (0, 2), NEWS: (1, 2), BEES: (1, 1)}, 1, 2)
    assert learner.shared() == ledger
    monkeypatch.setattr(link_scores, "MOST_SHARED", 2)
    assert list(learner.shared().features) == [CARS, NEWS]


def test_an_earlier_run_goes_on() -> None:
    lessons = [([BEES], 1.0), ([CARS], 0.0)]
    learner = Apprentice()
    learner.resume(taught(*lessons).shared())
    assert learner.shared() == taught(*lessons).shared()
    assert promises(learner, [BEES], [CARS]) == promises(taught(*lessons), [BEES], [CARS])


def test_another_worker_is_heard_in_place_of_what_it_told_before() -> None:
    learner = taught(([BEES], 1.0))
    learner.take_over(2, FeatureCounts({CARS: (1e9, 1e9), BEES: (0, 7)}, 1e9, 7))
    learner.take_over(3, FeatureCounts({NEWS: (1, 2)}, 1, 1))
    learner.take_over(2, FeatureCounts({CARS: (0, 1)}, 0, 1))
    assert learner.shared() == FeatureCounts({BEES: (1, 1)}, 1, 0)
    mean = 2 / (2 + 2)
    assert learner.mean() == mean
    expected = [(mean_of(*sums, mean) + mean) / 2 for sums in [(1, 1), (0, 1), (1, 2)]]
    assert promises(learner, [BEES], [CARS], [NEWS]) == pytest.approx(expected)
    learner.take_over(2, FeatureCounts({}, 0, 0))
    learner.take_over(3, FeatureCounts({}, 0, 0))
    assert promises(learner, [BEES], [CARS]) == promises(taught(([BEES], 1.0)), [BEES], [CARS])


def test_extremes() -> None:
    learner = taught(*[([BEES], 1.0)] * 3, *[([CARS], 0.0)] * 3, *[([NEWS], 1.0)] * 2)
    mean = 5 / 8
    best, worst = learner.extremes(3, 5)
    values = {BEES: mean_of(3, 3, mean), CARS: mean_of(0, 3, mean)}
    assert dict(best) == dict(worst) == pytest.approx(values)
    assert [feature for feature, _ in best] == [BEES, CARS]
    assert [feature for feature, _ in worst] == [CARS, BEES]
    assert [[feature for feature, _ in some] for some in learner.extremes(2, 1)] == [[BEES], [CARS]]


def test_sums_never_pass_their_weights() -> None:
    learner, random = Apprentice(), np.random.default_rng(1)
    for relevance in [1.0, *random.random(3_000), *[1.0] * 500]:
        learner.learn([BEES], float(relevance))
    sum_, weight = learner.shared().features[BEES]
    assert 0 < sum_ <= weight
