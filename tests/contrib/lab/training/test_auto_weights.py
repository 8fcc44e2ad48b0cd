import re
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from crawler.contrib.lab.training.auto_weights import AutoTraining, ModelFigures, PageScore, auto_card, figures, tables
from crawler.contrib.lab.training.examples import SetSummary
from crawler.contrib.lab.training.train_extractor import auto_report
from crawler.extraction.auto.model import Model

GOOD, WORDY, SHORT = (
    PageScore("article", 0.9, 0.9, 0.95, True),
    PageScore("forum", 0.4, 0.8, 0.6, False),
    PageScore("", 0.9, 0.1, 0.2, False),
)
EMPTY = PageScore("forum", None, 0.0, 0.0, True)


def test_figures() -> None:
    rows = [
        ([GOOD], ModelFigures(1, 0.9, 0.9, 0.9, 0.95, 1, 1.0)),
        ([SHORT], ModelFigures(1, 0.9, 0.1, 0.18, 0.2, 0, None)),
        # What has no text has no precision; recall is 0.
        ([WORDY, EMPTY], ModelFigures(2, 0.4, 0.4, 0.4, 0.3, 2, 0.5)),
        ([EMPTY], ModelFigures(1, 0.0, 0.0, 0.0, 0.0, 1, 1.0)),
    ]
    for scores, found in rows:
        assert astuple(figures(scores)) == pytest.approx(astuple(found))


def made(model: Model) -> AutoTraining:
    sets = [SetSummary(Path("news.jsonl"), 3, {"a.example", "b.example"}, is_golden=True)]
    held = {"news": [GOOD], "posts": [WORDY, EMPTY], "old": [SHORT], "mixed": [GOOD, WORDY]}
    return AutoTraining(sets, [], 3, held, {}, model, 7, 1_234)


def test_what_it_is_weak_at(model: Model) -> None:
    weak = auto_card(made(model)).partition("## Weak at")[2]
    (of_sets, of_types) = [line for line in weak.splitlines() if line.startswith("- ")]
    number = r"[:;] (\w+) (\d\.\d+) \((\d)\), more is (lost|left)"
    assert re.findall(number, of_sets) == [
        ("old", "0.180", "1", "lost"),
        ("posts", "0.400", "2", "left"),
        ("mixed", "0.737", "2", "left"),
    ]
    assert re.findall(number, of_types)[0] == ("forum", "0.457", "3", "left")


def test_tables_without_pages_are_left_out(model: Model) -> None:
    assert len(tables(made(model))) == 2
    assert tables(replace(made(model), held_out={})) == []


@pytest.mark.parametrize(
    ("name", "written"),
    [("a|b", "a\\|b"), ("<b>`a`", "\\<b>\\`a\\`"), ("a\n# b\x1b[2J", "a # b\\\\x1b[2J"), ("\udcff\\", "\\\\udcff\\\\")],
)
def test_names_of_sets_stay_in_their_cells(name: str, written: str, model: Model) -> None:
    found = made(model)
    one = replace(found.sets[0], path=Path(name))
    text = auto_card(replace(found, sets=[one], validation=[one], held_out={name: [WORDY]}))
    assert [line.split(" | 3 |")[0] for line in text.splitlines() if " | 3 |" in line] == [f"| {written}"] * 2
    assert f"held-out sites: {written} 0.533 (1)" in text
    said = auto_report(replace(found, held_out={name: [WORDY]}), Path(__file__)).splitlines()
    assert all(line.isprintable() for line in said)
