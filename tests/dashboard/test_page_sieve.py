"""What a database is asked of a page's texts."""

import sys
import unicodedata

import pytest

from crawler.dashboard.views.page_search import LAST, LONGEST, sieve


@pytest.mark.parametrize(
    ("word", "pattern"),
    [
        ("unobtainium", "%unobtainium%"),
        ("bees", "%bee%"),  # ẞ is ss
        ("disc", "%di_c%"),  # ſ is s
        ("kitchen", "%itchen%"),  # the sign of the kelvin is k
        ("honey", "%hone%"),  # ẙ is y and a ring
        ("needle", "%eedle%"),  # ŉ is ʼ and n
        ("strasse", "%ra%"),
        ("100%", "%100\\%%"),
        ("a_b\\c", "%a\\_b\\\\c%"),
        ("蜂", "%蜂%"),
        ("ab\0cde", "%cde%"),
        ("ab\ud800cde", "%cde%"),
        ("x" * 500, f"%{'x' * LONGEST}%"),
    ],
)
def test_the_stretch_that_is_spelled_in_one_way(word: str, pattern: str) -> None:
    found = sieve(word)
    assert found is not None
    assert found.text == pattern


@pytest.mark.parametrize("word", ["fish", "first", "пчёлы", "q", "\0", "ss", "k" * 500, "ffi"])
def test_what_has_none(word: str) -> None:
    assert sieve(word) is None


@pytest.mark.parametrize(
    ("word", "pattern"), [("bees", "%\\%%"), ("蜂", "%\\%e8\\%9c\\%82%"), ("a蜂b蜜", "%\\%e8\\%9c\\%82%")]
)
def test_addresses_with_signs_that_are_written_as_numbers(word: str, pattern: str) -> None:
    found = sieve(word)
    assert found is not None
    assert found.address == pattern


def test_no_sign_with_cases_is_left_out() -> None:
    beyond = [sign for sign in map(chr, range(LAST + 1, sys.maxunicode + 1)) if sign.casefold() != sign]
    assert beyond == [], unicodedata.unidata_version
