import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from missing import need
from report_reader import EVIL, HARMLESS, Reader

from crawler.contrib.lab.evaluation.baseline import (
    TOLERANCE,
    BaselineComparison,
    RecordError,
    compare_records,
    read_record,
    record,
)
from crawler.contrib.lab.evaluation.gold import GoldPage, GoldSet
from crawler.contrib.lab.evaluation.method_scores import EvaluationPlan, SetResult, judge
from crawler.contrib.lab.evaluation.peers import PEERS, Peer
from crawler.contrib.lab.evaluation.report import (
    CHARACTERS_BEFORE,
    EXCERPT_BYTES,
    HEADS,
    Excerpt,
    cells,
    excerpt,
    probability,
    report,
    where_it_starts,
)
from crawler.reports.html_page import escaped

need("scipy")

# What may stand in the report; nothing among them loads or runs anything.


@pytest.fixture(scope="module")
def results() -> list[SetResult]:
    hostile = GoldPage(
        f"1{EVIL}", f"http://x/{EVIL}", EVIL, "", f"<p>{EVIL}</p><p>Bees dance.</p>", f"Bees dance.{EVIL}"
    )
    large = GoldPage("2", "http://large.example/", "", "", "<p>" + "<b>Bees</b> &amp; " * 60_000, "蜂蜜。" * 60_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PEERS, "nobody", Peer("nobody-here", "nobody_here", lambda peer, page: ""))
        return judge(
            GoldSet(f"set{EVIL}", (hostile, large), ()),
            EvaluationPlan(("leaf-tags", "auto", "nobody"), by="lang"),
            lambda *_: None,
        )


@pytest.fixture(scope="module")
def text(results: list[SetResult]) -> str:
    return report(results, [f"file:1: {EVIL}"], "1.2", date(2026, 5, 4))


def test_nothing_that_was_crawled_becomes_markup(text: str) -> None:
    read = Reader(text)
    assert set(read.tags) <= HARMLESS
    assert not [
        name for name, _ in read.attributes if name.startswith("on") or name in ("src", "href", "srcset", "action")
    ]
    assert "alert(1)" in read.text  # as text
    assert read.text.count("<script>") == text.count("&lt;script&gt;") > 5
    text.replace("\ud800", "").encode()
    assert "\x1b" not in text


def test_nothing_is_loaded(text: str) -> None:
    policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in text
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style


def test_it_says_what_there_is(text: str) -> None:
    read = Reader(text).text
    for words in (
        "Winnow 1.2, 2026-05-04. 1 set.",
        "1 fault in the gold files",
        "absent: not installed",
        "1 comparison",
    ):
        assert words in read
    assert "nan" not in read.lower()
    assert "$" not in read


def test_it_stays_small_and_says_what_is_cut(text: str) -> None:
    assert len(text.encode("utf-8", "replace")) < 300_000
    assert "characters more]" in text


def test_excerpts() -> None:
    rows = [
        ("bees", 4, 0, (0, "bees", 0)),
        ("bees!", 4, 0, (0, "bees", 1)),
        ("bees!", 9, 3, (3, "s!", 0)),
        ("", 9, 0, (0, "", 0)),
        ("<<<<", 8, 0, (0, "<<", 2)),
    ]
    for given, limit, start, expected in rows:
        assert excerpt(given, limit, start) == Excerpt(*expected)


def test_excerpts_of_any_script_are_within_their_limit() -> None:
    for character in 'a"<蜂\U00020000':
        assert len(escaped(excerpt(character * EXCERPT_BYTES, EXCERPT_BYTES).text).encode()) <= EXCERPT_BYTES


def test_the_source_is_shown_from_the_gold_on() -> None:
    rows = [
        ("x" * 1000 + "Bees dance.", "Bees dance.", 1000 - CHARACTERS_BEFORE),
        ("Bees dance.", "Bees dance.", 0),
        ("x" * 1000 + "<body>", "Bees dance.", 1000 - CHARACTERS_BEFORE),
        ("x" * 1000 + "Wasps too.", "Bees dance.\n\n Wasps too.", 1000 - CHARACTERS_BEFORE),
        ("x" * 1000, "", 0),
    ]
    for html, gold, start in rows:
        assert where_it_starts(html, gold) == start


def test_probabilities() -> None:
    rows = [(None, "–"), (1.0, "1.000"), (0.0011, ".001"), (0.00042, "4e-04"), (0.0, "<1e-99")]
    for value, said in rows:
        assert probability(value) == said


def test_a_cell_for_each_head(results: list[SetResult]) -> None:
    figures = results[0].judged[0].figures
    assert figures is not None
    assert len(cells(figures)) == len(HEADS) - 1


@pytest.fixture(scope="module")
def recorded() -> list[SetResult]:
    pages = (
        GoldPage("1", "", "", "", "<p>Bees dance.", "Bees dance."),
        GoldPage("2", "", "", "", "<p>Wasps too.", "Wasps do."),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PEERS, "nobody", Peer("nobody-here", "nobody_here", lambda peer, page: ""))
        return judge(GoldSet("蜂", pages, ()), EvaluationPlan(("leaf-tags", "nobody")), lambda *what: None)


def test_what_is_saved_is_read(recorded: list[SetResult], tmp_path: Path) -> None:
    text = record(recorded, "1.2")
    assert len(text.splitlines()) == 6  # a line a method
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    sets = read_record(tmp_path / "run.json")
    assert sets == json.loads(text)["sets"]
    methods = sets["蜂"]["methods"]
    assert methods["nobody"] == {"absent": "not installed"}
    assert methods["leaf-tags"]["pages"] == 2
    assert methods["leaf-tags"]["word_f1"] == 0.75
    assert methods["leaf-tags"]["f1"] == 0.5
    assert compare_records(sets, sets) == BaselineComparison([], [], 1)


def figures(f1: float, word_f1: float = 0.9) -> dict[str, Any]:
    return {"news": {"fingerprint": "x", "methods": {"slope": {"f1": f1, "word_f1": word_f1}}}}


def test_a_fall_beyond_the_tolerance_is_said() -> None:
    rows = [
        (figures(0.9), []),
        (figures(1.0), []),
        (figures(0.9 - TOLERANCE), []),
        (figures(0.8949), [["0.9000", "0.8949"]]),
        (figures(0.9, 0.895), []),
        (figures(0.5, 0.4), [["0.9000", "0.5000"], ["0.9000", "0.4000"]]),
    ]
    for now, falls in rows:
        compared = compare_records(figures(0.9), now)
        assert [re.findall(r"\d\.\d+", fall) for fall in compared.falls] == falls
        assert compared == BaselineComparison(compared.falls, [], 1)


def test_what_cannot_be_compared_is_said() -> None:
    other = figures(0.1)
    other["news"]["fingerprint"] = "y"
    absent = figures(0.9)
    absent["news"]["methods"]["slope"] = {"absent": "not installed"}
    for before, now, gaps in ((figures(0.9), {}, 0), (figures(0.9), other, 1), (figures(0.1), absent, 1)):
        compared = compare_records(before, now)
        (missing,) = compared.not_compared
        assert missing.startswith("news, slope: ")
        assert compared == BaselineComparison([], [missing], 0, gaps=gaps)
    assert compare_records(absent, figures(0.1)) == BaselineComparison([], [], 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 1}',
        '{"format": 1, "sets": []}',
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(RecordError, match=r"run\.json.*--save"):
        read_record(path)
    with pytest.raises(RecordError, match="cannot be read"):
        read_record(tmp_path)
