import json
from pathlib import Path
from typing import Any

import pytest

from crawler.evaluation.gold import GoldPage, GoldSet
from crawler.evaluation.judgement import EvaluationPlan, SetResult, judge
from crawler.evaluation.peers import PEERS, Peer
from crawler.evaluation.report import TOLERANCE, RecordError, compared, read_record, record


@pytest.fixture(scope="module")
def verdicts() -> list[SetResult]:
    pages = (
        GoldPage("1", "", "", "", "<p>Bees dance.", "Bees dance."),
        GoldPage("2", "", "", "", "<p>Wasps too.", "Wasps do."),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PEERS, "nobody", Peer("nobody-here", "nobody_here", lambda peer, page: ""))
        return judge(GoldSet("蜂", pages, ()), EvaluationPlan(("leaf-tags", "nobody")), lambda *what: None)


def test_what_is_saved_is_read(verdicts: list[SetResult], tmp_path: Path) -> None:
    text = record(verdicts, "1.2")
    assert len(text.splitlines()) == 6  # a line a method
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    sets = read_record(tmp_path / "run.json")
    assert sets == json.loads(text)["sets"]
    methods = sets["蜂"]["methods"]
    assert methods["nobody"] == {"absent": "not installed"}
    assert methods["leaf-tags"]["pages"] == 2
    assert methods["leaf-tags"]["word_f1"] == 0.75
    assert methods["leaf-tags"]["f1"] == 0.5
    assert compared(sets, sets) == ([], [], 1, 0)


def figures(f1: float, word_f1: float = 0.9) -> dict[str, Any]:
    return {"news": {"fingerprint": "x", "methods": {"slope": {"f1": f1, "word_f1": word_f1}}}}


@pytest.mark.parametrize(
    ("now", "falls"),
    [
        (figures(0.9), []),
        (figures(1.0), []),
        (figures(0.9 - TOLERANCE), []),
        (figures(0.8949), ["news, slope: shingle F1 fell from 0.9000 to 0.8949"]),
        (figures(0.9, 0.895), []),
        (
            figures(0.5, 0.4),
            ["news, slope: shingle F1 fell from 0.9000 to 0.5000", "news, slope: word F1 fell from 0.9000 to 0.4000"],
        ),
    ],
)
def test_a_fall_beyond_the_tolerance_is_said(now: dict[str, Any], falls: list[str]) -> None:
    assert compared(figures(0.9), now) == (falls, [], 1, 0)


def test_what_cannot_be_compared_is_said() -> None:
    assert compared(figures(0.9), {}) == ([], ["news, slope: not in this run"], 0, 0)
    other = figures(0.1)
    other["news"]["fingerprint"] = "y"
    assert compared(figures(0.9), other) == ([], ["news, slope: the set's pages are not the same"], 0, 1)
    absent = figures(0.9)
    absent["news"]["methods"]["slope"] = {"absent": "not installed"}
    assert compared(absent, figures(0.1)) == ([], [], 0, 0)
    assert compared(figures(0.1), absent) == ([], ["news, slope: not in this run"], 0, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 1}',
        '{"format": 1, "sets": []}',
        '{"format": 1, "sets": {"a": {"methods": {}}}}',
        '{"format": 1, "sets": {"a": {"fingerprint": "x", "methods": {"m": {"f1": "x", "word_f1": 1}}}}}',
        '{"format": 1, "sets": {"a": {"fingerprint": "x", "methods": {"m": {"f1": 1}}}}}',
        '{"format": 1, "sets": {"a": {"fingerprint": "x", "methods": {"m": {"f1": NaN, "word_f1": 1}}}}}',
        '{"format": 1, "sets": {"a": {"fingerprint": "x", "methods": {"m": {"f1": "0.9", "word_f1": 1}}}}}',
        "[" * 100_000,
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(RecordError, match="is no record that --save has written"):
        read_record(path)
    path.write_text('{"format": 2, "sets": {}}')
    with pytest.raises(RecordError, match="of another format"):
        read_record(path)
    with pytest.raises(RecordError, match="cannot be read"):
        read_record(tmp_path)
