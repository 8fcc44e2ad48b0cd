import random
import time

import pytest

from crawler.extraction.leaf_labels import MAX_NEAR_LENGTH, LabelIndex, is_near


def edited(chance: random.Random, text: str, edits: int) -> str:
    letters = list(text)
    for _ in range(edits):
        at = chance.randrange(len(letters) + 1)
        letters[at : at + chance.randrange(2)] = chance.choice(["", "X", "Y"])
    return "".join(letters)


def test_an_edit_for_eight_characters() -> None:
    rows = [(1, 0), (7, 0), (8, 0), (9, 1), (15, 1), (16, 2), (23, 2), (24, 3), (80, 10)]
    for length, allowed in rows:
        text = "".join(chr(0x4E00 + number) for number in range(length))
        for edits, near in ((allowed, True), (allowed + 1, False)):
            changed = "".join("x" if number < edits else letter for number, letter in enumerate(text))
            assert is_near(text, changed) == is_near(changed, text) == near


def test_the_shorter_text_says_how_many() -> None:
    for one, other, near in [(8, 9, False), (9, 10, True), (14, 16, False), (16, 18, True)]:
        text = "abcdefghijklmnopqrstuvwxyz"
        assert is_near(text[:one], text[:other]) == is_near(text[:other], text[:one]) == near


def test_whatever_is_near_is_found() -> None:
    chance = random.Random(8)
    for _ in range(300):
        text = "".join(chance.choices("abcdefghijkl", k=chance.randrange(9, 90)))
        other = edited(chance, text, len(text) // 8 + chance.randrange(2))[:MAX_NEAR_LENGTH]
        held = LabelIndex()
        held.add("p", text)
        assert (held.find("p", other) == 0) == is_near(text, other)


def test_the_tag_counts() -> None:
    held = LabelIndex()
    held.add("p", "All rights reserved 2011")
    assert held.find("p", "All rights reserved 2012") == 0
    assert held.find("a", "All rights reserved 2012") is None
    assert ("p", "All rights reserved 2011") in held
    assert ("p", "All rights reserved 2012") not in held


def test_what_is_equal_comes_before_what_is_near() -> None:
    held = LabelIndex()
    for year in (2011, 2012, 2013):
        held.add("p", f"All rights reserved {year}")
    assert held.find("p", "All rights reserved 2013") == 2
    assert held.find("p", "All rights reserved 2014") == 0


@pytest.mark.parametrize(("length", "found"), [(MAX_NEAR_LENGTH, 0), (MAX_NEAR_LENGTH + 1, None)])
def test_long_labels_have_to_be_equal(length: int, found: int | None) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(length))
    held = LabelIndex()
    held.add("p", text)
    assert held.find("p", text) == 0
    assert held.find("p", text[:-1] + "x") == found


@pytest.mark.parametrize("alphabet", ["a", "ab", "abcdefgh "])
def test_thousands_of_labels_that_are_much_alike_take_a_moment(alphabet: str) -> None:
    chance = random.Random(9)
    texts = ["x" * 40 + "".join(chance.choices(alphabet, k=chance.randrange(40, 60))) for _ in range(3_000)]
    held = LabelIndex()
    start = time.thread_time()
    for text in texts:
        if held.find("p", text) is None:
            held.add("p", text)
    assert time.thread_time() - start < 5
