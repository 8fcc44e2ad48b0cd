"""Patterns of paths, as robots.txt has them."""

import pytest

from crawler.rights.path_patterns import MAX_PATTERN, MAX_STARS, PathPattern, longest, path_of


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("/", "/a", True),
        ("", "/a", True),
        ("/fish", "/fish/salmon.html", True),
        ("/fish", "/Fish", False),
        ("/fish/", "/fish", False),
        ("/*.php", "/folder/any.php.file.html", True),
        ("/*.php", "/windows.PHP", False),
        ("/*.php$", "/filename.php", True),
        ("/*.php$", "/filename.php?parameters", False),
        ("/*.php$", "/filename.php5", False),
        ("/fish*.php", "/fishheads/catfish.php?id=1", True),
        ("/a*b$", "/ab/b", True),
        ("/ab*b$", "/ab", False),
        ("/this/path/exactly$", "/this/path/exactly", True),
        ("/this/path/exactly$", "/this/path/exactly/", False),
        ("/this/*/then", "/this/or/that/then", True),
        ("/path/foo-%24", "/path/foo-$", False),
        ("/%7ebees", "/~bees", True),
        ("/\u871c\u8702", "/%E8%9C%9C%E8%9C%82", True),
        ("/%e8%9c%9c", "/%E8%9C%9C", True),
        ("*", "/a", True),
        ("$", "/", False),
        ("/$", "/", True),
        ("/**$", "/a", True),
    ],
)
def test_matches(pattern: str, path: str, found: bool) -> None:
    assert PathPattern.of(pattern).matches(path) is found


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://a.example", "/"),
        ("http://a.example?b", "/?b"),
        ("https://a.example:8080/b/%7ec?d=/e#f", "/b/~c?d=/e"),
        ("/b", "/b"),
        ("", "/"),
    ],
)
def test_path_of_an_address(url: str, path: str) -> None:
    assert path_of(url) == path


def test_the_longest_pattern_counts_and_several_of_one_length_do() -> None:
    rules = [(PathPattern.of(text), text) for text in ("/", "/a", "/*b", "/ab", "/a*b", "")]
    assert longest(rules, "/ab") == ["/a*b"]
    assert longest(rules, "/cb") == ["/*b"]
    assert longest([*rules, (PathPattern.of("/ab*"), "other")], "/ab") == ["/a*b", "other"]
    assert longest([], "/") == []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("/" + "a" * (MAX_PATTERN - 1), True),
        ("/" + "a" * MAX_PATTERN, False),
        ("/" + "*a" * MAX_STARS, True),
        ("/" + "*a" * (MAX_STARS + 1), False),
    ],
)
def test_a_pattern_beyond_the_limits_matches_nothing(pattern: str, found: bool) -> None:
    assert PathPattern.of(pattern).matches("/" + "a" * MAX_PATTERN) is found
