"""Data that a script starts from: what of it is looked at, and what is taken for prose, for a title, for a text."""

from itertools import chain

import pytest

from crawler.extraction.script_text import ScriptData, TextCandidate, as_html, data_of_script, prose_length

LINE = "The bees dance in the hive now."


def test_prose() -> None:
    rows = [
        ("a bee dances in the dark hive.", True),  # 30 characters
        ("a bee dances in a dark hives.", False),
        ("a bee dances in the dark hives", False),  # no full stop
        (f"{LINE} " * 15_625, True),  # 500,000 characters
        (f"{LINE} " * 15_625 + "x", False),
        # As many spaces as prose has, or letters that are not ASCII at its beginning.
        ("Beeeeeees danceeeeee innnnnn hiiiiv.", False),  # 36 characters, 3 spaces
        ("Beeeeeees danceeeeee innnnnn hiiiv.", True),
        ("x" * 119 + "é.", True),
        ("x" * 120 + "é.", False),
        # As few signs as prose has.
        ("[a] " + "a bee " * 12 + "dan.", True),  # 80 characters
        ("[a] " + "a bee " * 12 + "da.", False),
    ]
    for text, is_prose in rows:
        assert prose_length(text) == (len(text) if is_prose else 0)


def test_a_title_is_that_of_the_page() -> None:
    rows = [
        (8, 8, True),
        (8, 7, False),
        (7, 7, False),
        (400, 400, True),
        (401, 401, False),
        (200, 101, True),
        (200, 100, False),
        (200, 399, True),
        (200, 400, False),
    ]
    for title, value, is_titled in rows:
        assert ScriptData({"title": "b" * value}, "b" * title).is_titled == [is_titled]


def test_another_title_with_an_address_is_of_another_page() -> None:
    for address, is_own in [({}, True), ({"slug": "bees"}, False), ({"date": "bees"}, True)]:
        page = {"title": "Why bees dance", "block": {"title": "What wasps do"} | address}
        assert ScriptData({"page": page}, "whybeesdance").is_titled == [False, True, is_own]


def test_so_many_nodes_are_looked_at() -> None:
    assert len(ScriptData(["bee"] * 49_999, "").pieces) == 49_999
    assert len(ScriptData(["bee"] * 50_001, "").pieces) == 49_999  # and the list


@pytest.mark.parametrize(("inner", "weight"), [(80, 80), (79, 100)])
def test_a_list_is_left_for_one_in_it_with_four_fifths_of_its_text(inner: int, weight: int) -> None:
    data = ScriptData([[LINE] * inner, *[LINE] * (100 - inner)], "")
    assert [found.weight for found in data.candidates()] == [len(LINE), weight * len(LINE)]


def test_a_key_tells_where_a_text_belongs() -> None:
    rows = [("body", True), ("x" * 53 + "comment", False), ("x" * 54 + "comment", True), ("Comments", False)]
    for key, counts in rows:
        assert list(chain(ScriptData({key: LINE}, "").candidates())) == (
            [TextCandidate(len(LINE), f"<p>{LINE}</p>")] if counts else []
        )


def test_what_a_script_starts_from() -> None:
    rows = [
        ("{}", {}),
        ("a" * 80 + "={}", {}),
        ("a" * 81 + "={}", None),
        ("window" + ".a" * 40 + " ={}", None),
        ("window" + ".a" * 40 + "=[1]; run()", [1]),
        ("run({})", None),
        ("{", None),
    ]
    for source, found in rows:
        assert data_of_script(source) == found


def test_a_text_as_html() -> None:
    rows = [
        ("a <3\nb", "<p>a &lt;3</p><p>b</p>"),
        ("<p>a", "<div><p>a</div>"),
        ("&lt;p>a", "<div><p>a</div>"),
        (f"<p{'x' * 2_000}>a", f"<div><p{'x' * 2_000}>a</div>"),
        (f"<p{'x' * 2_001}>a", f"<p>&lt;p{'x' * 2_001}&gt;a</p>"),
    ]
    for text, html in rows:
        assert as_html([text]) == html
