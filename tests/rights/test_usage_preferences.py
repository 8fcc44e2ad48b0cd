"""Content-Usage, by its drafts: dictionaries of structured fields."""

import pytest

from crawler.rights.statement import State, Use
from crawler.rights.structured_fields import MAX_FIELD, FieldError, tokens
from crawler.rights.usage_preferences import preferences

Y, N, BAD = State.ALLOWED, State.DISALLOWED, State.MALFORMED
TRAIN, INPUT, SEARCH = Use.AI_TRAIN, Use.AI_INPUT, Use.SEARCH


def test_preferences() -> None:
    rows = [
        # The examples of the drafts.
        ("train-ai=n", {TRAIN: N}),
        ("train-ai=y, search=n", {TRAIN: Y, SEARCH: N}),
        ('train-ai=y, train-ai, search=n, search="n"', {}),
        ("train-ai;allow=n, train-ai=y", {TRAIN: Y}),
        ('train-ai;has;parameters="?"', {}),
        # The last semicolon makes it no dictionary: a parameter must follow.
        ('train-ai;has;parameters="?";', dict.fromkeys(Use, BAD)),
        ("ai-use=n", {INPUT: N}),
        # Keys are case-sensitive, so this is no dictionary; tokens of other values say nothing.
        ("Train-AI=n", dict.fromkeys(Use, BAD)),
        ("train-ai=N", {}),
        ("train-ai=no", {}),
        ("train-ai=?0", {}),
        ("train-ai=(n)", {}),
        ("bots=n, other=n", {}),
        ("", {}),
        ("train-ai=n, train-ai=y", {TRAIN: Y}),
        ("train-ai = n", dict.fromkeys(Use, BAD)),
        ("train-ai=n search=y", dict.fromkeys(Use, BAD)),
        ("train-ai=n,", dict.fromkeys(Use, BAD)),
        ("train-ai=n; search=y", {TRAIN: N}),
        ("no", {}),
        ("\u4e0d", dict.fromkeys(Use, BAD)),
    ]
    for text, said in rows:
        assert preferences(text) == said


def test_dictionaries() -> None:
    rows = [
        ("a=b", {"a": "b"}),
        ("a=b,c=d", {"a": "b", "c": "d"}),
        ("  a=b \t,\t c=d  ", {"a": "b", "c": "d"}),
        ("*k=*t/x:y", {"*k": "*t/x:y"}),
        ('a="x, y=z", b=c', {"b": "c"}),
        (r'a="\"\\", b=c', {"b": "c"}),
        ("a=1, b=-1.5, c=@1659578233, d=:aGk=:, e=?1, f=g", {"f": "g"}),
        ('a=%"f%c3%bc", f=g', {"f": "g"}),
        ('a=("x" y;q=1 2);z, f=g', {"f": "g"}),
        ("a=(), f=g", {"f": "g"}),
        ("a=b;x=y;z", {"a": "b"}),
    ]
    for text, found in rows:
        assert tokens(text) == found


def test_texts_that_are_no_dictionaries() -> None:
    rows = [
        *(
            "a=b;;c",
            "a=",
            "=b",
            "a==b",
            ",a=b",
            "a=b,,c=d",
            "a=b c=d",
            'a="',
            "a=(b",
            "a=b)",
            "a=?2",
            "a=1.",
            "a=1.2345",
        ),
        *("a=1234567890123456", 'a="\u00e9"', "a=:x", "1a=b", "A=b", "a=b\tc", r'a="\x"', "a=@1.5", "a=b; ;", "\ta=b"),
    ]
    for text in rows:
        with pytest.raises(FieldError):
            tokens(text)


def test_a_huge_field_is_an_error() -> None:
    member = "a=b,"
    assert tokens((member * MAX_FIELD)[: MAX_FIELD - 1] + "b")
    with pytest.raises(FieldError):
        tokens("a=b," * (MAX_FIELD // 4) + "a=b")


def test_hostile_fields_are_read_at_once() -> None:
    for piece in ["a;", "a=(", "(", '"', "a=b;c=", "%", 'a="\\']:
        assert preferences((piece * MAX_FIELD)[:MAX_FIELD]) is not None
