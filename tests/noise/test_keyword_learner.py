import pytest

from crawler.noise.keyword_learner import learned

LABELLED = [
    *[(["img", "ads", f"n{at}"], True) for at in range(20)],
    *[(["img", "banner", "photo"], True) for _ in range(10)],
    *[(["img", "photo", f"c{at}"], False) for at in range(60)],
]


def test_the_vector_tells_noise() -> None:
    vector = learned(LABELLED)
    verdicts = [vector.is_over(vector.score(words)) for words, _ in LABELLED]
    assert verdicts == [is_noise for _, is_noise in LABELLED]
    assert vector.weights["banner"] > vector.limit > vector.weights["photo"]


def test_weights_lie_between_0_and_1() -> None:
    weights = learned(LABELLED).weights.values()
    assert (min(weights), max(weights)) == (0.0, 1.0)


@pytest.mark.parametrize(("times", "known"), [(2, False), (3, True)])
def test_rare_words_are_left_out(times: int, known: bool) -> None:
    vector = learned([*LABELLED, *[(["seldom", "img"], True)] * times], least=3)
    assert ("seldom" in vector.weights) is known


def test_a_word_counts_once_a_link() -> None:
    assert learned([(words * 3, is_noise) for words, is_noise in LABELLED]) == learned(LABELLED)


@pytest.mark.parametrize(
    "labelled", [[], [(["a"], True)] * 3, [(["a"], True), (["b"], False)], [([], True), ([], False)]]
)
def test_nothing_to_learn(labelled: list[tuple[list[str], bool]]) -> None:
    assert learned(labelled).weights == {}


def test_no_difference() -> None:
    vector = learned([(["a"], True), (["a"], False)])
    assert vector.weights == {"a": 0.0}


def test_no_chance_is_in_it() -> None:
    assert learned(LABELLED) == learned(LABELLED)
    assert learned(LABELLED[::-1]).weights == pytest.approx(learned(LABELLED).weights, abs=1e-6)
