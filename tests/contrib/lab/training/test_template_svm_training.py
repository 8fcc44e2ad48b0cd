import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from crawler.contrib.lab.training.examples import TooFewError
from crawler.contrib.lab.training.template_svm import (
    BlockSample,
    BlockScore,
    TrainedSvm,
    _balanced,
    fit,
    samples,
    train,
)
from crawler.extraction.methods.template_svm import LabelShares, Svm, block_counts, features
from crawler.page.page import Page

PROSE = "The bees dance in the dark of the hive to say where the flowers are."
MENU = "<a href=/a>All the news of today</a>"


def sample(main: bool, place: int = 0, host: str = "a.example", length: int = 1) -> BlockSample:
    return BlockSample(host, place, length, LabelShares(0.9 if main else 0.1, 0, 0, 0, 0 if main else 0.5), main)


def some(hosts: int, each: int = 1) -> list[BlockSample]:
    return [sample(main, n, f"{h}.example") for h in range(hosts) for n in range(each) for main in (True, False)]


def test_numpy_decides_as_scikit_learn_does() -> None:
    for cost in [1.0, 1_000.0]:
        for gamma in [1.0, 4.0, 256.0]:
            chance = np.random.default_rng(1)
            rows = chance.random((400, 5))
            truth = np.array([row[0] + chance.normal(0, 0.2) > row[4] for row in rows])
            svm = fit(rows, truth, cost, gamma)
            theirs = SVC(C=cost, gamma=gamma).fit(rows, truth)
            others = chance.random((2_000, 5))
            np.testing.assert_allclose(svm.decide(others), theirs.decision_function(others), rtol=0, atol=1e-9)


def test_a_block_is_main_text_when_most_of_it_is_in_the_gold() -> None:
    rows = [
        (PROSE, [True, False]),
        ("The bees dance in the hive.", [False, False]),
        (f"{PROSE} All the news of today", [True, True]),
        ("The bees dance in the dark of the hive to say", [True, False]),
    ]
    for gold, main in rows:
        page = Page.from_html(f"<div>{PROSE}</div><div>{MENU}</div><div>The bees dance</div>", "http://a.example/")
        found = samples([(page, gold)])
        assert [one.main for one in found] == main
        assert [one.features for one in found] == features(block_counts(page))[2:4]
        assert (found[0].host, found[0].page, found[0].length) == ("a.example", 0, len(PROSE))


@pytest.mark.parametrize("count", [1, 2, 10])
def test_pages_are_seen_with_and_without_what_their_host_has_in_common(count: int) -> None:
    pages = [
        Page.from_html(f"<div>{MENU}</div><div>{PROSE} {chr(0x4E00 + n) * 20}</div>", f"http://a.example/{n}")
        for n in range(count)
    ]
    found = samples((page, PROSE) for page in pages)
    whole, clean = ([one for one in found if one.page % 2 == view] for view in (0, 1))
    assert [one.page // 2 for one in whole] == [n for n in range(count) for _ in range(2)]
    assert [one.page // 2 for one in clean] == (list(range(count)) if count > 1 else [])
    assert all(one.features.text > 0.9 for one in clean)
    assert max(one.features.text for one in whole) < 0.9


def test_as_many_are_drawn_of_each_kind_and_one_a_page() -> None:
    found = [sample(True, n // 5) for n in range(20)] + [sample(False, n) for n in range(30)]
    drawn = _balanced(found, random.Random(1))
    assert Counter(one.main for one in drawn) == {True: 4, False: 4}
    assert max(Counter((one.main, one.page) for one in drawn).values()) == 1


def test_long_blocks_are_drawn_more_often() -> None:
    found = [sample(True, n, length=length) for n in range(300) for length in (1, 9)]
    drawn = _balanced(found + [sample(False, n) for n in range(300)], random.Random(1))
    assert 240 < sum(one.length == 9 for one in drawn) < 295


@pytest.mark.parametrize(("hosts", "enough"), [(3, False), (4, True)])
def test_folds_want_as_many_hosts(hosts: int, enough: bool) -> None:
    if enough:
        trained = train(some(hosts, 5), fit, 4, 1)
        assert (trained.score.f1, trained.hosts, trained.blocks, trained.main, trained.drawn) == (1.0, 4, 40, 20, 20)
        assert (trained.svm.decide(np.array([sample(True).features, sample(False).features])) > 0).tolist() == [1, 0]
    else:
        with pytest.raises(TooFewError, match=r"^4 folds .* 3$"):
            train(some(hosts, 5), fit, 4, 1)


@pytest.mark.parametrize("kind", [True, False])
def test_one_kind_alone_teaches_nothing(kind: bool) -> None:
    with pytest.raises(TooFewError):
        train([one for one in some(20) if one.main is kind], fit, 10, 1)


def test_an_svm_with_too_many_vectors_is_not_chosen() -> None:
    def made(size: int) -> Svm:
        return Svm(np.zeros((size, 5)), np.zeros(size), 1.0, 1.0)

    with pytest.raises(TooFewError, match="support vectors"):
        train(some(20), lambda *_, **__: made(601), 10, 1)
    assert len(train(some(20), lambda *_, **__: made(600), 10, 1).svm.vectors) == 600


@pytest.mark.parametrize(("size", "errs", "cost"), [(400, False, 1_000.0), (400, True, 1.0), (599, True, 1.0)])
def test_of_those_as_good_as_the_best_the_smallest_is_chosen(size: int, errs: bool, cost: float) -> None:
    """The one with the highest C is the smallest; where it takes everything for main text, it is not as good."""

    def fitted(rows: np.ndarray, main: np.ndarray, cost: float, gamma: float) -> Svm:
        last = cost == 1_000.0
        vectors = np.tile(sample(True).features, (size if last else 600, 1))
        weights = np.zeros(len(vectors))
        weights[0] = 2.0
        return Svm(vectors, weights, gamma * 10, 1.0 if last and errs else -1.0)

    assert train(some(20), fitted, 10, 1).cost == cost


def test_the_score_is_of_blocks_that_were_held_out() -> None:
    """An SVM that takes everything for main text finds all of it, and half of what it finds is noise."""
    always = Svm(np.zeros((1, 5)), np.zeros(1), 1.0, 1.0)
    trained: TrainedSvm = train(some(20), lambda *_, **__: always, 10, 1)
    assert trained.score == BlockScore(0.5, 1.0, pytest.approx(2 / 3))


def test_a_part_is_not_judged_by_what_it_taught() -> None:
    """An SVM that knows by heart what it was taught knows nothing of other hosts."""

    def heart(rows: np.ndarray, main: np.ndarray, cost: float, gamma: float) -> Svm:
        return Svm(rows, np.where(main, 1.0, 0.0), 1e9, -0.5)

    found = [replace(one, features=LabelShares(n, 0, 0, 0, 0)) for n, one in enumerate(some(20))]
    assert train(found, heart, 10, 1).score == BlockScore(0.0, 0.0, 0.0)


@pytest.mark.long
def test_a_seed_decides_what_is_drawn() -> None:
    chance = np.random.default_rng(1)
    found = [
        BlockSample(f"{n % 30}.example", n, 1, LabelShares(*chance.random(5)), bool(chance.random() < 0.5))
        for n in range(200)
    ]
    found = [replace(one, features=one.features._replace(text=float(one.main))) for one in found]
    one, again, other = (train(found, fit, 10, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.svm.vectors, again.svm.vectors)
    assert not np.array_equal(one.svm.vectors, other.svm.vectors)
