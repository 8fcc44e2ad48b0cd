"""The aim by hand: words of weight 1 unless it is said, so that vectors are counts of words."""

from math import log, sqrt

import numpy as np
import pytest

from crawler.topic.relevance import FIRST_BOUND, FIRST_PAGES, MOST_LIKE, REMEMBERED, UNLIKE_WEIGHT, PageStack, Subject
from crawler.topic.word_statistics import PLACES, KnownPage, Values, Vector

BEES, WAX, CARS, ROADS, NEWS = range(5)
ONES = np.ones(PLACES)


def vector(*places: int, times: float = 1.0) -> Vector:
    return Vector(np.array(places, np.int32), np.full(len(places), times))


def page(*places: int, number: int = 0, named: float = 0.0, is_example: bool = False) -> KnownPage:
    return KnownPage(vector(*places), number, named, is_example)


def subject(
    examples: list[Vector],
    pages: list[KnownPage] | None = None,
    *,
    against: list[Vector] | None = None,
    words: bool = False,
) -> Subject:
    made = Subject(vector(BEES) if words else None)
    made.examples += examples
    made.against += against or []
    made.pages.extend(pages or [])
    return made


def learn(subject: Subject, weights: Values = ONES) -> list[tuple[KnownPage, float]]:
    return subject.learn(PageStack(subject.known_pages(), weights))


def aim(found: Subject) -> list[float]:
    return found.aim[:5].tolist()


def unit(*values: float) -> list[float]:
    length = sqrt(sum(value * value for value in values))
    return [value / length for value in values]


def test_the_aim_of_examples() -> None:
    rows = [
        ([], [], False, [0, 0, 0, 0, 0]),
        ([vector(BEES, WAX)], [], False, unit(1, 1, 0, 0, 0)),
        ([vector(BEES, WAX, times=9)], [], False, unit(1, 1, 0, 0, 0)),
        ([vector(BEES), vector(WAX)], [], False, unit(1, 1, 0, 0, 0)),
        ([vector(BEES), vector(BEES, WAX)], [], False, unit((1 + sqrt(1 / 2)) / 2, sqrt(1 / 2) / 2, 0, 0, 0)),
        ([vector(BEES, WAX)], [vector(WAX)], False, unit(sqrt(1 / 2), sqrt(1 / 2) - 0.5, 0, 0, 0)),
        ([vector(BEES)], [vector(CARS)], False, [1, 0, 0, 0, 0]),
        ([], [vector(CARS)], False, [0, 0, 0, 0, 0]),
        ([], [], True, [1, 0, 0, 0, 0]),
        ([vector(WAX)], [], True, unit(1, 1, 0, 0, 0)),
        ([Vector(*vector()), vector(WAX)], [], False, [0, 1, 0, 0, 0]),
    ]
    for examples, against, words, expected in rows:
        found = subject(examples, against=against, words=words)
        assert learn(found) == []
        assert aim(found) == pytest.approx(expected)


def test_words_weigh_what_they_weigh_in_the_vocabulary() -> None:
    weights = ONES.copy()
    weights[WAX] = 3
    found = subject([vector(BEES, WAX)])
    learn(found, weights)
    assert aim(found) == pytest.approx(unit(1, 3, 0, 0, 0))
    assert (found.weights * found.aim)[:2].tolist() == pytest.approx([1 / sqrt(10), 9 / sqrt(10)])
    assert found.likeness(vector(WAX)) == pytest.approx(3 / sqrt(10))
    assert found.likeness(vector(BEES, WAX, times=7)) == pytest.approx(1)
    assert found.likeness(vector(CARS)) == found.likeness(vector()) == 0


def test_the_aim_of_pages() -> None:
    pages = [page(BEES, WAX), page(CARS, ROADS), page(BEES, CARS), page(CARS)]
    found = subject([vector(BEES)], pages)
    judged = learn(found)
    half = sqrt(1 / 2)
    like, unlike = [pages[0], pages[2]], [pages[1], pages[3]]
    assert (found.like, found.unlike) == (like, unlike)
    e_l = np.array([1 + half, half / 2, half / 2, 0, 0])
    expected = np.maximum(e_l - UNLIKE_WEIGHT * np.array([0, 0, (half + 1) / 2, half / 2, 0]), 0)
    assert aim(found) == pytest.approx(unit(*expected))
    assert [one for one, _ in judged] == pages
    likeness = [float(found.aim[list(one.vector.places)].sum()) / sqrt(len(one.vector.places)) for one in pages]
    assert [value for _, value in judged] == pytest.approx(likeness)
    near, far = (likeness[0] + likeness[2]) / 2, (likeness[1] + likeness[3]) / 2
    drawn = (4 * sqrt(near * far) + FIRST_PAGES * FIRST_BOUND) / (4 + FIRST_PAGES)
    assert found.bound == pytest.approx(drawn)


def test_the_bound_is_a_tenth_of_the_best_at_least() -> None:
    found = subject([vector(BEES)], [*[page(BEES)] * 200, *[page(CARS)] * 300])
    learn(found)
    assert found.bound == pytest.approx(0.1)
    few = subject([vector(BEES)], [page(BEES, WAX)])
    learn(few)
    assert few.bound == pytest.approx(FIRST_PAGES * FIRST_BOUND / (1 + FIRST_PAGES))


def test_relevance() -> None:
    for likeness, relevance in [(0, 0), (1, 1 / 2), (2, 4 / 5), (1 / 2, 1 / 5), (3, 9 / 10)]:
        found = subject([vector(BEES)])
        found.bound = 0.25
        assert found.relevance(likeness * 0.25) == pytest.approx(relevance)
        assert found.relevance(np.array([likeness, 0]) * 0.25).tolist() == pytest.approx([relevance, 0])


def test_how_many_are_like() -> None:
    for pages, like in [(1, 1), (3, 1), (4, 2), (10, 3), (99, 30), (100, 30), (101, MOST_LIKE)]:
        found = subject([vector(BEES)], [page(BEES)] * pages)
        learn(found)
        assert (len(found.like), len(found.unlike)) == (like, pages // 2)


def test_what_has_nothing_of_it_is_not_like() -> None:
    found = subject([vector(BEES)], [page(CARS)] * 10)
    learn(found)
    assert found.like == []
    assert aim(found) == [1, 0, 0, 0, 0]


def test_an_example_is_not_among_the_pages_that_are_like_it() -> None:
    pages = [page(BEES, is_example=True), page(BEES, WAX), page(CARS)]
    found = subject([vector(BEES)], pages)
    learn(found)
    assert found.like == [pages[1]]


@pytest.mark.parametrize(("examples", "like"), [([], 1), ([vector(BEES)], 0)])
def test_of_words_the_pages_that_name_them_most_are_like(examples: list[Vector], like: int) -> None:
    pages = [page(BEES, named=0.1), page(WAX, named=0.9), page(CARS)]
    found = subject(examples, pages, words=True)
    learn(found)
    assert found.like == [pages[like]]


def test_the_aim_moves_on_from_where_it_is() -> None:
    found = subject([vector(BEES)], [page(BEES, WAX), page(WAX), page(NEWS)])
    learn(found)
    found.pages.clear()
    found.pages.extend([page(WAX), page(NEWS)])
    learn(found)
    assert found.like == [found.pages[0]]


def test_lent_pages_are_drawn_from_too() -> None:
    found = subject([vector(BEES)])
    lent = {2: [page(BEES, WAX, number=-1)], 3: [page(CARS, number=-1)]}
    found.lent.update(lent)
    assert learn(found) == []
    assert (found.like, found.unlike) == (lent[2], lent[3])
    assert found.aim[WAX] > 0 == found.aim[CARS]


def test_pages_without_words() -> None:
    found = subject([vector(BEES)], [page(), page(BEES), page()])
    judged = learn(found)
    assert [value for _, value in judged] == pytest.approx([0, 1, 0])
    none = subject([vector()], [page()])
    assert learn(none)[0][1] == 0
    assert none.relevance(0.0) == 0


def test_so_many_pages_are_remembered() -> None:
    found = subject([vector(BEES)], [page(BEES, number=n) for n in range(REMEMBERED + 1)])
    assert [len(found.pages), found.pages[0].number] == [REMEMBERED, 1]


def test_pages_are_told_apart_though_they_say_the_same() -> None:
    assert page(BEES, WAX) != page(BEES, WAX)
    assert KnownPage(Vector(np.array([1]), np.array([log(2)]))).number == -1
