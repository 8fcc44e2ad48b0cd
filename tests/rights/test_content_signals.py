"""Content-Signal, by the policy of contentsignals.org."""

from crawler.rights.content_signals import MAX_SIGNALS, signals
from crawler.rights.statement import State, Use

Y, N, BAD = State.ALLOWED, State.DISALLOWED, State.MALFORMED
TRAIN, INPUT, SEARCH = Use.AI_TRAIN, Use.AI_INPUT, Use.SEARCH


def test_signals() -> None:
    rows = [
        ("search=yes, ai-train=no", {SEARCH: Y, TRAIN: N}),
        ("ai-train=no, search=yes, ai-input=yes", {TRAIN: N, SEARCH: Y, INPUT: Y}),
        ("search=yes,ai-train=no,use=reference", {SEARCH: Y, TRAIN: N}),
        ("ai-train=no, search=no, ai-input=no", dict.fromkeys(Use, N)),
        ("AI-Train = NO", {TRAIN: N}),
        ("ai-train=yes, ai-train=no", {TRAIN: N}),
        ("ai-train=no, ai-train=yes", {TRAIN: N}),
        ("ai-train", {TRAIN: BAD}),
        ("ai-train=maybe, search=yes", {TRAIN: BAD, SEARCH: Y}),
        ("train=no", {}),
        ("", {}),
        (",,=,", {}),
        ("search=yes; ai-train=no", dict.fromkeys(Use, BAD)),
        ("search=yes ai-train=no", dict.fromkeys(Use, BAD)),
        ("ai-train: no", dict.fromkeys(Use, BAD)),
        ("search=yes, ai-train: no", {SEARCH: Y, TRAIN: BAD, INPUT: BAD}),
    ]
    for text, said in rows:
        assert signals(text) == said


def test_a_value_that_is_cut_is_not_parsed() -> None:
    assert signals("x=y," * (MAX_SIGNALS - 1) + "search=yes") == {SEARCH: Y}
    assert signals("x=y," * (MAX_SIGNALS - 1) + "search=yes,ai-train=no") == {SEARCH: Y, TRAIN: BAD, INPUT: BAD}
