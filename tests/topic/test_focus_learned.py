import json
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest

from crawler.topic import shared_model
from crawler.topic.page_translations import MOST_SHARED, NO_ADDRESS, AddressKey
from crawler.topic.shared_model import MOST_COUNT, MOST_KNOWN, MOST_VALUE, Learned, from_line, to_line
from crawler.topic.word_statistics import LONGEST_WORD, PLACES, FeatureCounts, KnownPage, Vocabulary


def known(words: str, vocabulary: Vocabulary, named: float = 0.0) -> KnownPage:
    return KnownPage(vocabulary.vector(words.split()), 4, named)


def told(vocabulary: Vocabulary) -> Learned:
    features = {
        sort * PLACES + vocabulary.place(word): (1.25, 2.5)
        for sort, word in enumerate("bees 蜜蜂 wax a.example".split())
    }
    page = replace(known("bees bees wax", vocabulary, 0.75), language="zh", address=AddressKey(7, 8))
    counts = FeatureCounts(features, 1.5, 5.5)
    pairs = [(AddressKey(7, 8), AddressKey(9, 8))]
    judged = [(AddressKey(7, 8), "zh", 0.25)]
    pages = [page, known("", vocabulary)]
    return Learned(3, "mark", 7, {"bees": 5.0, "蜜蜂": 2.0}, pages, counts, judged, pairs)


def test_it_comes_back_in_another_process_of_another_worker() -> None:
    first, second = Vocabulary(), Vocabulary()
    line = to_line(told(first), first)
    found = from_line(line, second)
    assert found is not None
    assert (found.worker_number, found.topic, found.pages, found.words) == (3, "mark", 7, {"bees": 5, "蜜蜂": 2})
    assert found.features == told(first).features
    assert [page.word_score for page in found.known] == [0.75, 0]
    assert [page.number for page in found.known] == [-1, -1]
    assert [(page.language, page.address) for page in found.known] == [("zh", AddressKey(7, 8)), ("", NO_ADDRESS)]
    assert (found.translated, found.translations) == (told(first).translated, told(first).translations)
    assert found.known[0].vector.values.tolist() == pytest.approx([1 + log(2), 1], abs=1e-4)
    assert found.known[0].vector.places.tolist() == first.places(["bees", "wax"])
    assert to_line(found, second) == line
    assert "\n" not in line


def test_a_page_is_told_by_the_words_that_tell_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_model, "MOST_WORDS", 2)
    vocabulary = Vocabulary()
    one = Learned(1, "", 0, {}, [known("a b b c c c", vocabulary)], FeatureCounts({}, 0, 0))
    found = from_line(to_line(one, vocabulary), vocabulary)
    assert found is not None
    assert found.known[0].vector.places.tolist() == vocabulary.places(["c", "b"])


def test_what_has_no_name_is_left_out() -> None:
    vocabulary = Vocabulary()
    long = vocabulary.place("a" * (LONGEST_WORD + 1))
    page = known(f"bees {'a' * (LONGEST_WORD + 1)}", vocabulary)
    found = json.loads(to_line(Learned(1, "", 0, {}, [page], FeatureCounts({long: (1, 1)}, 0, 0)), vocabulary))
    assert (found["known"], found["features"]) == ([[0, {"bees": 1}, "", [0, 0]]], [])


def changed(**values: Any) -> str:
    vocabulary = Vocabulary()
    return json.dumps(json.loads(to_line(told(vocabulary), vocabulary)) | values)


def without(key: str) -> str:
    found = json.loads(changed())
    del found[key]
    return json.dumps(found)


KEYS = "version seat topic pages words known features good bad translated translations".split()
NO_NUMBERS = [None, "bees", [], {}, -1, -1e-9, float("nan"), float("inf"), -float("inf"), 10**400]


def test_no_record() -> None:
    rows = ["", "{", "null", "[]", "{}", "7", '"bees"', "[" * 100_000, '{"a":' * 100_000, "\ud800", "\x00"]
    for text in rows:
        assert from_line(text, Vocabulary()) is None


def test_one_part_is_missing() -> None:
    for key in KEYS:
        assert from_line(changed(), Vocabulary()) is not None
        assert from_line(without(key), Vocabulary()) is None


def test_no_count() -> None:
    for number in NO_NUMBERS:
        for key in ["pages", "good", "bad", "words", "named", "times", "sum", "weight"]:
            values = {
                "words": {"words": {"bees": number}},
                "named": {"known": [[number, {"bees": 1}, "", [0, 0]]]},
                "times": {"known": [[0, {"bees": number}, "", [0, 0]]]},
                "sum": {"features": [[0, "bees", number, 1]]},
                "weight": {"features": [[0, "bees", 0, number]]},
            }
            text = json.dumps(json.loads(changed()) | values.get(key, {key: number}))
            assert from_line(text, Vocabulary()) is None


def test_another_kind_of_value() -> None:
    rows = [
        {"version": 0},
        {"version": 2},
        {"version": "1"},
        {"seat": None},
        {"seat": "first"},
        {"seat": float("inf")},
        {"seat": float("nan")},
        {"words": ["bees"]},
        {"words": {"a" * (LONGEST_WORD + 1): 1}},
        {"words": {"a" * 1_000_000: 1}},
        {"known": {"0": 1}},
        {"known": [[0]]},
        {"known": [[0, {}, "", [0, 0], 1]]},
        {"known": [[0, ["bees"], "", [0, 0]]]},
        {"known": [[0, {"a" * 101: 1}, "", [0, 0]]]},
        {"known": [[0, {}, "english", [0, 0]]]},
        {"known": [[0, {}, ["en"], [0, 0]]]},
        {"known": [[0, {}, "en", [0]]]},
        {"known": [[0, {}, "en", [-1, 0]]]},
        {"known": [[0, {}, "en", [0, 2**48]]]},
        {"known": [[0, {}, "en", ["0", 0]]]},
        {"translated": [[[1, 2], "en"]]},
        {"translated": [[[1, 2], "en", -1]]},
        {"translated": [[[1, 2], "", float("nan")]]},
        {"translated": 5},
        {"translations": [[[1, 2]]]},
        {"translations": [[1, 2]]},
        {"translations": {}},
        {"known": 5},
        {"features": [[0, "bees", 1]]},
        {"features": [[0, 5, 1, 1]]},
        {"features": [[0, ["bees"], 1, 1]]},
        {"features": [[0, "a" * 101, 1, 1]]},
        {"features": 5},
        {"features": [5]},
    ]
    for values in rows:
        assert from_line(changed(**values), Vocabulary()) is None


def test_odd_features() -> None:
    rows = [
        ({"features": [[0, "a" * LONGEST_WORD, 0, MOST_COUNT]]}, [(0, MOST_COUNT)]),
        ({"features": [[0, "bees", 1e308, 1e308]]}, [(MOST_COUNT, MOST_COUNT)]),
        ({"features": [[0, "\ud800", 5, 2]]}, [(2, 2)]),
        ({"features": [[sort, "bees", 0, 1] for sort in (-1, 4, 0.5, "0", None, [0], {})]}, []),
        ({"features": [[3, "", 1, 1]]}, [(1, 1)]),
    ]
    for values, features in rows:
        found = from_line(changed(**values), Vocabulary())
        assert found is not None
        assert list(found.features.features.values()) == features


def test_no_more_of_a_page_than_a_page_can_have() -> None:
    found = from_line(changed(known=[[7, {"bees": 1e9}, "", [0, 0]]]), Vocabulary())
    assert found is not None
    assert found.known[0].word_score == 1
    assert found.known[0].vector.values.tolist() == [MOST_VALUE]


@pytest.mark.parametrize("pages", [MOST_KNOWN, MOST_KNOWN + 1, 5_000])
def test_no_more_pages_than_are_told(pages: int) -> None:
    found = from_line(changed(known=[[0, {"bees": 1}, "", [0, 0]]] * pages), Vocabulary())
    assert found is not None
    assert len(found.known) == MOST_KNOWN


def test_no_longer_line_than_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    text = changed()
    monkeypatch.setattr(shared_model, "MOST_TEXT", len(text))
    assert from_line(text, Vocabulary()) is not None
    assert from_line(f"{text} ", Vocabulary()) is None


def test_the_longest_that_is_written_is_read() -> None:
    vocabulary, count = Vocabulary(), 20_000
    words = [f"{n:\U00020000<{LONGEST_WORD}}" for n in range(count)]
    vector = vocabulary.vector(words[:300])
    features = {vocabulary.place(word): (1 / 3, 2 / 3) for word in words[:5_000]}
    address = AddressKey(2**48 - 1, 2**48 - 1)
    known = [KnownPage(vector, 1, 1 / 3, False, "zh", address)] * MOST_KNOWN
    counts = FeatureCounts(features, 1e9, 1e9)
    pages, pairs = [(address, "zh", 1 / 3)] * MOST_SHARED, [(address, address)] * MOST_SHARED
    full = Learned(1, "a" * 16, count, dict.fromkeys(words, 1e6), known, counts, pages, pairs)
    line = to_line(full, vocabulary)
    assert len(line) < shared_model.MOST_TEXT
    found = from_line(line, Vocabulary())
    assert found is not None
    assert [len(found.words), len(found.known)] == [count, MOST_KNOWN]
    assert [len(found.translated), len(found.translations)] == [MOST_SHARED, MOST_SHARED]
    assert np.isfinite(found.known[0].vector.values).all()
