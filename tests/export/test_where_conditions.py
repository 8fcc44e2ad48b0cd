"""`--where` with conditions: which pages stay, and what is said of the others."""

import re
from pathlib import Path

import pytest
from export_place import PAGES, Place, lines

from crawler.export.where_conditions import removed_list_path
from crawler.reports.condition import MOST_COMPARISONS, MOST_LEVELS, condition_of


def nested(levels: int) -> str:
    """A condition that takes most of a database's stack: each level is in an `and` in an `or`."""
    return "depth >= 0" if levels == 0 else f"depth > 9 or depth >= 0 and ({nested(levels - 1)})"


CONDITIONS = {
    "relevance > 0.5": "034",
    "relevance >= 0.5": "0134",
    "relevance < 1e400" if False else "relevance < 99999999999999999999": "01234",
    "depth == 2": "2",
    "depth != 2.5": "01234",
    "not relevance > 0.5": "12",
    "published == null": "0124",
    "published != null": "3",
    "published != '2026-01-02'": "0124",
    "published > '2026'": "3",
    "not published > '2026'": "0124",
    "not (published > '2026' or relevance < 0.2)": "014",
    "title > 'Z'": "124",  # by the numbers of characters, whatever the database's country
    "title == 'Beta'": "",
    "author == 'O''Neil'": "4",
    "title == '''; DROP TABLE page; --' or depth == 1": "1",
    "title == '%'": "",
    "depth < 3000000000": "01234",
    "depth == 2 or depth == -9007199254740991": "2",
    "depth != 9007199254740993": "01234",
    "relevance > -1e308 and depth < 1e308": "01234",
    "quality == null": "24",
    "quality.kept_frac >= 0.5": "03",
    "quality.kept_frac > 0.4 and relevance > 0.5": "03",
    "quality.kept_frac < 0.5 or depth == 2": "12",
    "own_fields.uses.ai-train != 'disallowed'": "0123",
}


def test_conditions_choose_pages(either_filled: Place) -> None:
    for condition, expected in CONDITIONS.items():
        said = either_filled.export("--where", condition)
        assert said.status == 0, said.err
        assert "".join(str(page["depth"]) for page in lines(said.out.encode())) == expected, condition


def test_the_item_says_the_same() -> None:
    for condition in CONDITIONS:
        kept = [n for n, one in enumerate(PAGES) if condition_of(condition).holds({"depth": n, "author": "", **one})]
        assert "".join(map(str, kept)) == CONDITIONS[condition]


def test_conditions_as_large_as_they_may_be(either_filled: Place) -> None:
    for condition, depths in (
        (" or ".join(["depth>2"] * MOST_COMPARISONS), "34"),
        (" and ".join(["depth>2"] * MOST_COMPARISONS), "34"),
        (nested(MOST_LEVELS - 1), "01234"),
        ("not " * (MOST_LEVELS - 2) + "depth > 2", "012"),
        (f"url != '{'a' * 9_900}'", "01234"),
    ):
        said = either_filled.export("--where", condition)
        assert said.status == 0, said.err
        assert "".join(str(page["depth"]) for page in lines(said.out.encode())) == depths


def test_larger_conditions_are_refused_in_one_sentence(place: Place) -> None:
    place.fill(1)
    many = " or ".join(["depth>2"] * MOST_COMPARISONS)
    for where in (
        [" or ".join(["url=''"] * 1_000)],
        [f"{many} or depth > 2"],
        [many, "depth > 2"],
        [many, "en"],
        ["en"] * (MOST_COMPARISONS + 1),
        [nested(MOST_LEVELS)],
        ["not " * MOST_LEVELS + "depth > 2"],
        ["(" * 5_000 + "depth > 2" + ")" * 4_000],
        ["depth > 2" + " " * 100_000],
    ):
        said = place.export(*(word for condition in where for word in ("--where", condition)))
        assert (said.status, said.out) == (2, "")
        assert said.err.count("\n") == 1
        assert "database" not in said.err


def test_the_pages_that_are_removed_are_listed(filled: Place) -> None:
    where = ["--where", "relevance > 0.2 and quality.kept_frac != 0.4", "--where", "en", "--where", "zh"]
    said = filled.export(*where, "-o", "kept.jsonl")
    assert said.status == 0
    assert lines((filled.folder / "kept.removed.jsonl").read_bytes()) == [
        {"url": "http://bees.example/2", "rule": "relevance > 0.2", "value": 0.1, "limit": 0.2},
        {"url": "http://bees.example/1", "rule": "quality.kept_frac != 0.4", "value": 0.4, "limit": 0.4},
    ]
    assert re.search(r"\b2 pages .*: relevance > 0\.2 \(1\), ", said.err)
    assert "kept.removed.jsonl" in said.err
    assert len(lines((filled.folder / "kept.jsonl").read_bytes())) == 3


def test_a_condition_that_removes_nothing_leaves_no_old_list(filled: Place) -> None:
    (filled.folder / "kept.removed.jsonl").write_text("old")
    said = filled.export("--where", "depth < 9", "-o", "kept.jsonl")
    assert len(lines((filled.folder / "kept.jsonl").read_bytes())) == 5
    assert (filled.folder / "kept.removed.jsonl").read_bytes() == b""
    assert "removed" not in said.err


def test_exports_without_a_condition_have_no_list(filled: Place) -> None:
    assert filled.export("--where", "en", "-o", "kept.jsonl").status == 0
    assert filled.names() == ["kept.jsonl"]


def test_other_fields_are_compared_than_are_written(filled: Place) -> None:
    said = filled.export("--where", "quality.kept_frac > 0.5", "--fields", "title,published", "--format", "csv")
    assert said.out.splitlines() == ["title,published", ",2026-01-02"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--where", "relevanc > 0.5"], "argument --where: there is no field 'relevanc'; the nearest is relevance"),
        (["--where", "relevance >"], "argument --where: the condition 'relevance >' is not complete"),
        (["--where", "depth == 1", "--labels"], "--where does not go with --labels"),
        (["--where", "depth == 1", "--changes-after", "0"], "--where does not go with --changes-after"),
        (["--where", "depth == 1", "-o", "no/a.jsonl"], "'no/a.jsonl' cannot be written to"),
    ],
)
def test_wrong_use_writes_nothing(place: Place, words: list[str], why: str) -> None:
    place.check_refusal(words, why)


def test_nothing_is_left_where_the_export_fails(place: Place) -> None:
    place.fill(1)
    (place.folder / "mine" / "work").mkdir(parents=True)
    assert place.export("--where", "depth == 0", "-o", "mine/").status == 2
    assert place.names() == ["mine"]


def test_the_name_of_the_list() -> None:
    rows = [
        ("bees.jsonl", "bees.removed.jsonl"),
        ("a.b/bees.csv.gz", "a.b/bees.removed.jsonl"),
        ("pages/", "pages.removed.jsonl"),
        ("pages.md", "pages.removed.jsonl"),
        ("bees.WARC.ZST", "bees.removed.jsonl"),
        ("bees", "bees.removed.jsonl"),
    ]
    for output, beside in rows:
        assert Path(removed_list_path(output)) == Path(beside)
