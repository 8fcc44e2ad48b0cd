import re

import pytest

from crawler.frontier.scope import SCOPES, Scope
from crawler.outcomes import Code, Outcome

HOME = "http://www.example.com/start"


def patterns(*given: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, given))


@pytest.mark.parametrize(
    ("kind", "inside", "outside"),
    [
        (
            "host",
            "http://www.example.com/x https://www.example.com/",
            "http://example.com/ http://blog.example.com/ http://www.example.com:8080/",
        ),
        (
            "site",
            "http://www.example.com/ https://example.com/ http://blog.example.com:8080/",
            "http://example.org/ http://example.com.cn/ http://notexample.com/ http://10.0.0.1/",
        ),
        ("any", "http://example.org/ http://10.0.0.1:8000/ http://localhost/", ""),
    ],
)
def test_kinds(kind: str, inside: str, outside: str) -> None:
    scope = Scope(kind)
    scope.add_home(HOME)
    assert {scope.refusal(url) for url in inside.split()} == {None}
    assert {scope.refusal(url) for url in outside.split()} <= {Outcome(Code.OUTSIDE_SCOPE)}


@pytest.mark.parametrize("kind", SCOPES)
def test_without_a_home_nothing_is_inside(kind: str) -> None:
    assert Scope(kind).refusal(HOME) == Outcome(Code.OUTSIDE_SCOPE)


def test_domains_to_leave_out() -> None:
    rows = [
        ("http://shop.example.com/", Outcome(Code.AVOIDED_DOMAIN)),
        ("http://old.shop.example.com:8080/x", Outcome(Code.AVOIDED_DOMAIN)),
        ("http://workshop.example.com/", None),
        ("http://example.com/shop.example.com", None),
        ("http://10.0.0.1:8000/", Outcome(Code.AVOIDED_DOMAIN)),
        ("http://110.0.0.1/", None),
    ]
    for url, refusal in rows:
        for page in [True, False]:
            scope = Scope("any", avoid=("shop.example.com", "10.0.0.1"))
            scope.add_home(HOME)
            assert scope.refusal(url, page) == refusal
            assert Scope("host", avoid=("example.com",)).refusal("http://a.example.com/") == Outcome(Code.OUTSIDE_SCOPE)


def test_homes_add_up() -> None:
    scope = Scope("host")
    for url in (HOME, "http://other.example/"):
        scope.add_home(url)
    assert scope.refusal(HOME) is None
    assert scope.refusal("http://other.example/x") is None


def test_each_scope_has_homes_of_its_own() -> None:
    Scope().add_home(HOME)
    assert Scope().homes == set()


def test_rules() -> None:
    rows = [
        ({}, "x.html", None),
        ({}, "x.pdf", Outcome(Code.NOT_HTML, ".pdf")),
        ({}, "x.JPG?y", Outcome(Code.NOT_HTML, ".jpg")),
        ({"max_length": 25}, "x" * 7, Outcome(Code.ADDRESS_TOO_LONG)),
        ({"max_length": 25}, "x" * 6, None),
        ({}, "x" * (2083 - 18), Outcome(Code.ADDRESS_TOO_LONG)),
        ({}, "x" * (2083 - 19), None),
        ({}, "a/a/a/a", Outcome(Code.PATH_REPEATS)),
        ({}, "a/a/a/b", None),
        ({}, "a/b/a/b/a/b", None),
        ({}, "a/b/a/b/a/b/a", Outcome(Code.PATH_REPEATS)),
        ({"allow": patterns("/news/")}, "news/1", None),
        ({"allow": patterns("/news/")}, "sport/1", Outcome(Code.OUTSIDE_ALLOW)),
        ({"allow": patterns("/news/", "^http.*/sport/")}, "sport/1", None),
        ({"deny": patterns("/news/", r"\?print")}, "news/1", Outcome(Code.INSIDE_DENY)),
        ({"deny": patterns("/news/", r"\?print")}, "sport?print", Outcome(Code.INSIDE_DENY)),
        ({"deny": patterns("/news/")}, "sport/1", None),
        ({"allow": patterns("/news/"), "deny": patterns("print")}, "news/print", Outcome(Code.INSIDE_DENY)),
        ({"allow": patterns("/news/"), "deny": patterns("print")}, "news/1", None),
    ]
    for rules, path, expected in rows:
        scope = Scope("any", **rules)  # type: ignore[arg-type]
        scope.add_home(HOME)
        assert scope.refusal(f"http://example.com/{path}") == expected
