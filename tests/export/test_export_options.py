"""What is wanted, as it is typed."""

from collections.abc import Callable
from typing import Any

import pytest
from shelf import FIELDS as ITEM

from crawler.export.jsonl import FIELDS
from crawler.export.options import WishError, places_of, since_of
from crawler.reports.pages import LanguageOrSite


def test_the_fields_are_those_of_the_items() -> None:
    assert list(FIELDS) == ITEM


def places(*given: str) -> Any:
    return places_of(given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("zh", LanguageOrSite("zh")),
        ("ZH", LanguageOrSite("zh")),
        ("localhost", LanguageOrSite("", "localhost")),
        ("127.0.0.1:8000", LanguageOrSite("", "127.0.0.1:8000")),
        ("[::1]:8000", LanguageOrSite("", "[::1]:8000")),
        ("en/News.Example.org", LanguageOrSite("en", "news.example.org")),
        ("en/zh", LanguageOrSite("en", "zh")),
    ],
)
def test_places(given: str, expected: LanguageOrSite) -> None:
    assert places(given) == (expected,)


@pytest.mark.parametrize(
    ("read", "given", "why"),
    [
        (places, "", "--where '' is wrong"),
        (places, "/", "--where '/' is wrong"),
        (places, "zh/", "--where 'zh/' is wrong"),
        (places, "/example.org", "--where '/example.org' is wrong"),
        (places, "http://example.org", "--where 'http://example.org' is wrong"),
        (places, "a b.example", "--where 'a b.example' is wrong"),
        (places, "a." * 130 + "de", "--where"),
        (places, "x" * 1_000, "--where"),
        (since_of, "", "--since '' is wrong"),
        (since_of, "0", "--since '0' is wrong"),
        (since_of, "-1", "--since '-1' is wrong"),
        (since_of, "yesterday", "--since 'yesterday' is wrong"),
        (since_of, "2026-02-30", "--since '2026-02-30' is wrong"),
        (since_of, "0001-01-01T00:00+10:00", "--since"),
        (since_of, "12345678", "--since '12345678' is wrong"),
    ],
)
def test_what_is_wrong_is_said(read: Callable[[str], Any], given: str, why: str) -> None:
    with pytest.raises(WishError) as error:
        read(given)
    assert why in str(error.value)
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("1", 1), ("1234567", 1234567), ("2026-11-22T12:00:00Z", "2026-11-22T12:00:00+00:00"), (None, None)],
)
def test_since(given: str | None, expected: int | str | None) -> None:
    assert since_of(given) == expected
