"""Which pages are wanted, as it is typed."""

from collections.abc import Callable
from typing import Any

import pytest

from crawler.reports.page_filter import LanguageOrSite, place_of, since_of


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
    assert place_of(given) == expected


@pytest.mark.parametrize(
    ("read", "given", "why"),
    [
        (place_of, "", "'' is wrong"),
        (place_of, "/", "'/' is wrong"),
        (place_of, "zh/", "'zh/' is wrong"),
        (place_of, "/example.org", "'/example.org' is wrong"),
        (place_of, "http://example.org", "'http://example.org' is wrong"),
        (place_of, "a b.example", "'a b.example' is wrong"),
        (place_of, "a." * 130 + "de", "is wrong"),
        (place_of, "x" * 1_000, "is wrong"),
        (since_of, "", "'' is wrong"),
        (since_of, "0", "'0' is wrong"),
        (since_of, "-1", "'-1' is wrong"),
        (since_of, "yesterday", "'yesterday' is wrong"),
        (since_of, "2026-02-30", "'2026-02-30' is wrong"),
        (since_of, "0001-01-01T00:00+10:00", "is wrong"),
        (since_of, "12345678", "'12345678' is wrong"),
    ],
)
def test_what_is_wrong_is_said(read: Callable[[str], Any], given: str, why: str) -> None:
    with pytest.raises(ValueError, match="is wrong; allowed") as error:
        read(given)
    assert why in str(error.value)
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("1", 1), ("1234567", 1234567), ("2026-11-22T12:00:00Z", "2026-11-22T12:00:00+00:00")],
)
def test_since(given: str, expected: int | str) -> None:
    assert since_of(given) == expected
