import json
from math import log
from typing import Any

import numpy as np
import pytest

from crawler.topic import shared_model
from crawler.topic.shared_model import MOST_COUNT, MOST_PAGES, MOST_TIMES, Learned, read, written
from crawler.topic.word_statistics import LONGEST, PLACES, FeatureCounts, KnownPage, Vocabulary


def known(words: str, vocabulary: Vocabulary, named: float = 0.0) -> KnownPage:
    return KnownPage(vocabulary.vector(words.split()), 4, named)


def told(vocabulary: Vocabulary) -> Learned:
    features = {
        sort * PLACES + vocabulary.place(word): (1.25, 2.5)
        for sort, word in enumerate("bees 蜜蜂 wax a.example".split())
    }
    pages = [known("bees bees wax", vocabulary, 0.75), known("", vocabulary)]
    return Learned(3, "mark", 7, {"bees": 5.0, "蜜蜂": 2.0}, pages, FeatureCounts(features, 1.5, 5.5))


def test_it_comes_back_in_another_process_of_another_worker() -> None:
    first, second = Vocabulary(), Vocabulary()
    line = written(told(first), first)
    found = read(line, second)
    assert found is not None
    assert (found.seat, found.topic, found.pages, found.words) == (3, "mark", 7, {"bees": 5, "蜜蜂": 2})
    assert found.features == told(first).features
    assert [page.named for page in found.known] == [0.75, 0]
    assert [page.number for page in found.known] == [-1, -1]
    assert found.known[0].vector.times.tolist() == pytest.approx([1 + log(2), 1], abs=1e-4)
    assert found.known[0].vector.places.tolist() == first.places(["bees", "wax"])
    assert written(found, second) == line
    assert "\n" not in line


def test_a_page_is_told_by_the_words_that_tell_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_model, "MOST_WORDS", 2)
    vocabulary = Vocabulary()
    one = Learned(1, "", 0, {}, [known("a b b c c c", vocabulary)], FeatureCounts({}, 0, 0))
    found = read(written(one, vocabulary), vocabulary)
    assert found is not None
    assert found.known[0].vector.places.tolist() == vocabulary.places(["c", "b"])


def test_what_has_no_name_is_left_out() -> None:
    vocabulary = Vocabulary()
    long = vocabulary.place("a" * (LONGEST + 1))
    page = known(f"bees {'a' * (LONGEST + 1)}", vocabulary)
    found = json.loads(written(Learned(1, "", 0, {}, [page], FeatureCounts({long: (1, 1)}, 0, 0)), vocabulary))
    assert (found["known"], found["features"]) == ([[0, {"bees": 1}]], [])


def changed(**values: Any) -> str:
    vocabulary = Vocabulary()
    return json.dumps(json.loads(written(told(vocabulary), vocabulary)) | values)


def without(key: str) -> str:
    found = json.loads(changed())
    del found[key]
    return json.dumps(found)


KEYS = "version seat topic pages words known features good bad".split()
NO_NUMBERS = [None, "bees", [], {}, -1, -1e-9, float("nan"), float("inf"), -float("inf"), 10**400]


@pytest.mark.parametrize(
    "text", ["", "{", "null", "[]", "{}", "7", '"bees"', "[" * 100_000, '{"a":' * 100_000, "\ud800", "\x00"]
)
def test_no_record(text: str) -> None:
    assert read(text, Vocabulary()) is None


@pytest.mark.parametrize("key", KEYS)
def test_one_part_is_missing(key: str) -> None:
    assert read(changed(), Vocabulary()) is not None
    assert read(without(key), Vocabulary()) is None


@pytest.mark.parametrize("number", NO_NUMBERS, ids=lambda number: str(number)[:9])
@pytest.mark.parametrize("key", ["pages", "good", "bad", "words", "named", "times", "sum", "weight"])
def test_no_count(key: str, number: Any) -> None:
    values = {
        "words": {"words": {"bees": number}},
        "named": {"known": [[number, {"bees": 1}]]},
        "times": {"known": [[0, {"bees": number}]]},
        "sum": {"features": [[0, "bees", number, 1]]},
        "weight": {"features": [[0, "bees", 0, number]]},
    }
    text = json.dumps(json.loads(changed()) | values.get(key, {key: number}))
    assert read(text, Vocabulary()) is None


@pytest.mark.parametrize(
    "values",
    [
        {"version": 0},
        {"version": 2},
        {"version": "1"},
        {"seat": None},
        {"seat": "first"},
        {"seat": float("inf")},
        {"seat": float("nan")},
        {"words": ["bees"]},
        {"words": {"a" * (LONGEST + 1): 1}},
        {"words": {"a" * 1_000_000: 1}},
        {"known": {"0": 1}},
        {"known": [[0]]},
        {"known": [[0, {}, 1]]},
        {"known": [[0, ["bees"]]]},
        {"known": [[0, {"a" * 101: 1}]]},
        {"known": 5},
        {"features": [[0, "bees", 1]]},
        {"features": [[0, 5, 1, 1]]},
        {"features": [[0, ["bees"], 1, 1]]},
        {"features": [[0, "a" * 101, 1, 1]]},
        {"features": 5},
        {"features": [5]},
    ],
    ids=lambda values: repr(values)[:40],
)
def test_another_kind_of_value(values: dict[str, Any]) -> None:
    assert read(changed(**values), Vocabulary()) is None


@pytest.mark.parametrize(
    ("values", "features"),
    [
        ({"features": [[0, "a" * LONGEST, 0, MOST_COUNT]]}, [(0, MOST_COUNT)]),
        ({"features": [[0, "bees", 1e308, 1e308]]}, [(MOST_COUNT, MOST_COUNT)]),
        ({"features": [[0, "\ud800", 5, 2]]}, [(2, 2)]),
        ({"features": [[sort, "bees", 0, 1] for sort in (-1, 4, 0.5, "0", None, [0], {})]}, []),
        ({"features": [[3, "", 1, 1]]}, [(1, 1)]),
    ],
)
def test_odd_features(values: dict[str, Any], features: list[tuple[float, float]]) -> None:
    found = read(changed(**values), Vocabulary())
    assert found is not None
    assert list(found.features.features.values()) == features


def test_no_more_of_a_page_than_a_page_can_have() -> None:
    found = read(changed(known=[[7, {"bees": 1e9}]]), Vocabulary())
    assert found is not None
    assert found.known[0].named == 1
    assert found.known[0].vector.times.tolist() == [MOST_TIMES]


@pytest.mark.parametrize("pages", [MOST_PAGES, MOST_PAGES + 1, 5_000])
def test_no_more_pages_than_are_told(pages: int) -> None:
    found = read(changed(known=[[0, {"bees": 1}]] * pages), Vocabulary())
    assert found is not None
    assert len(found.known) == MOST_PAGES


def test_no_longer_line_than_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    text = changed()
    monkeypatch.setattr(shared_model, "MOST_TEXT", len(text))
    assert read(text, Vocabulary()) is not None
    assert read(f"{text} ", Vocabulary()) is None


def test_the_longest_that_is_written_is_read() -> None:
    vocabulary, count = Vocabulary(), 20_000
    words = [f"{n:\U00020000<{LONGEST}}" for n in range(count)]
    vector = vocabulary.vector(words[:300])
    features = {vocabulary.place(word): (1 / 3, 2 / 3) for word in words[:5_000]}
    known = [KnownPage(vector, 1, 1 / 3)] * MOST_PAGES
    full = Learned(1, "a" * 16, count, dict.fromkeys(words, 1e6), known, FeatureCounts(features, 1e9, 1e9))
    line = written(full, vocabulary)
    assert len(line) < shared_model.MOST_TEXT
    found = read(line, Vocabulary())
    assert found is not None
    assert [len(found.words), len(found.known)] == [count, MOST_PAGES]
    assert np.isfinite(found.known[0].vector.times).all()
