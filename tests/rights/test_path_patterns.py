"""Patterns of paths, as robots.txt has them."""

from dataclasses import dataclass

import pytest

from crawler.rights.path_patterns import MAX_WORK, PathPattern, matching, path_of


def test_matches() -> None:
    rows = [
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
        ("/path/foo-%24", "/path/foo-$", True),
        ("/path/foo-%24", "/path/foo-", False),
        ("/path/%2A.html", "/path/*.html", True),
        ("/path/%2A.html", "/path/a.html", False),
        ("/a b<", "/a%20b%3C", True),
        ("/%7ebees", "/~bees", True),
        ("/\u871c\u8702", "/%E8%9C%9C%E8%9C%82", True),
        ("/%e8%9c%9c", "/%E8%9C%9C", True),
        ("*", "/a", True),
        ("$", "/", False),
        ("/$", "/", True),
        ("/**$", "/a", True),
    ]
    for pattern, path, found in rows:
        assert PathPattern.of(pattern).matches(path) is found


def test_path_of_an_address() -> None:
    rows = [
        ("http://a.example", "/"),
        ("http://a.example?b", "/?b"),
        ("https://a.example:8080/b/%7ec?d=/e#f", "/b/~c?d=/e"),
        ("/b", "/b"),
        ("", "/"),
    ]
    for url, path in rows:
        assert path_of(url) == path


def test_length_in_octets() -> None:
    rows = [("/a", 2), ("/*a", 3), ("/**a$", 5), ("/%61", 2), ("/%2a", 2), ("/\u871c", 10), ("", 0)]
    for pattern, length in rows:
        assert PathPattern.of(pattern).length == length


@dataclass(frozen=True)
class Rule:
    pattern: PathPattern
    name: str = ""


OTHERWISE = Rule(PathPattern.of(""), "otherwise")


def test_the_rules_that_match_in_their_order() -> None:
    rules = [Rule(PathPattern.of(text), text) for text in ("/a*b", "/", "/b", "/*b", "")]
    assert [rule.name for rule in matching(rules, "/ab", OTHERWISE)] == ["/a*b", "/", "/*b", ""]
    assert list(matching([], "/", OTHERWISE)) == []


@pytest.mark.parametrize("more", [0, 1])
def test_a_rule_stands_for_those_that_are_too_costly_to_compare(more: int) -> None:
    path = "/" + "a" * 999
    costly = MAX_WORK // (len("*a*a") * len(path))
    rules = [Rule(PathPattern.of("/*a*b"))] * (costly + more) + [Rule(PathPattern.of("/a"), "/a")]
    expected = ["otherwise"] if more else ["/a"]
    assert [rule.name for rule in matching(rules, path, OTHERWISE)] == expected
    # Patterns without stars, and those with another beginning, cost nothing.
    free = [Rule(PathPattern.of("/b*a")), Rule(PathPattern.of("/b"))] * costly
    assert [rule.name for rule in matching(free + rules, path, OTHERWISE)] == expected
