from math import log

import numpy as np
import pytest

from crawler.topic import word_statistics
from crawler.topic.topic import STOP_WORDS
from crawler.topic.word_statistics import IMAGINED, LONGEST_WORD, PLACES, Vocabulary


def seen(*pages: str) -> Vocabulary:
    counted = Vocabulary(STOP_WORDS)
    for page in pages:
        counted.see(counted.vector(page.split()).places)
    return counted


def weight(counted: Vocabulary, word: str) -> float:
    return float(counted.weights()[counted.place(word)])


def test_weights() -> None:
    rows = [
        ([], "bees", log((IMAGINED + 1) / 0.5)),
        ([], "the", log((IMAGINED + 1) / (IMAGINED + 0.5))),
        (["bees bees wax"], "bees", log((IMAGINED + 2) / 1.5)),
        (["bees wax", "bees", "cars"], "bees", log((IMAGINED + 4) / 2.5)),
        (["bees wax", "bees", "cars"], "wax", log((IMAGINED + 4) / 1.5)),
        (["the bees", "cars"], "the", log((IMAGINED + 3) / (IMAGINED + 1.5))),
    ]
    for pages, word, expected in rows:
        assert weight(seen(*pages), word) == pytest.approx(expected)


def test_a_vector_has_each_word_once() -> None:
    counted = Vocabulary(STOP_WORDS)
    places, times = counted.vector("bees wax bees bees".split())
    assert places.tolist() == counted.places(["bees", "wax"])
    assert times.tolist() == pytest.approx([1 + log(3), 1])
    assert [len(part) for part in counted.vector([])] == [0, 0]


def test_places_come_from_the_letters() -> None:
    rows = [("123456789", 0xCBF43926 % 2**18), ("蜜蜂", 133_699), ("", 0), ("\ud800", 42_280)]
    for word, place in rows:
        assert Vocabulary(STOP_WORDS).place(word) == place < PLACES


def test_most_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_statistics, "MOST_CACHED", 3)
    counted = Vocabulary(STOP_WORDS)
    words = [f"word{n}" for n in range(7)]
    places = counted.places(words)
    assert counted.places(words) == places
    assert [counted.names[place] for place in places] == words


@pytest.mark.parametrize(("length", "is_known"), [(LONGEST_WORD, True), (LONGEST_WORD + 1, False), (1_000_000, False)])
def test_long_words_are_not_remembered(length: int, is_known: bool) -> None:
    counted, word = Vocabulary(STOP_WORDS), "a" * length
    place = counted.place(word)
    assert (counted.names.get(place) == word) is is_known
    for _ in range(2):
        counted.see(np.array([place], np.int32))
    assert (word in counted.shared()) is is_known
    assert weight(counted, word) == pytest.approx(log((IMAGINED + 3) / 2.5))


def test_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = seen("bees wax the", "bees wax", "bees cars")
    assert counted.shared() == {"bees": 3, "wax": 2}
    monkeypatch.setattr(word_statistics, "MOST_SHARED", 1)
    assert counted.shared() == {"bees": 3}


def test_an_earlier_run_goes_on() -> None:
    counted = seen("bees wax", "bees")
    counted.resume(3, {"bees": 2, "cars": 3})
    assert counted.pages == 5
    assert counted.shared() == {"bees": 4, "cars": 3}
    assert weight(counted, "bees") == pytest.approx(log((IMAGINED + 6) / 4.5))


def test_another_worker_is_heard_in_place_of_what_it_told_before() -> None:
    counted = seen("bees wax", "bees")
    counted.take_over(2, 5, {"bees": 5})
    counted.take_over(3, 2, {"wax": 2})
    counted.take_over(2, 10, {"wax": 4})
    assert (counted.pages, counted.shared()) == (2, {"bees": 2})
    assert weight(counted, "bees") == pytest.approx(log((IMAGINED + 15) / 2.5))
    assert weight(counted, "wax") == pytest.approx(log((IMAGINED + 15) / 7.5))


def test_no_word_stands_in_more_pages_than_there_are() -> None:
    for told, believed in [(4, 4), (5, 5), (6, 5), (1e9, 5)]:
        for take in (Vocabulary.resume, lambda counted, *what: counted.take_over(2, *what)):
            counted = Vocabulary(STOP_WORDS)
            take(counted, 5, {"bees": told})
            assert weight(counted, "bees") == pytest.approx(log((IMAGINED + 6) / (believed + 0.5)))
            assert (counted.weights() > 0).all()
