"""The tutorial of the data set, in each language: its commands as they stand there, and what it shows of them."""

import re
from pathlib import Path

import pytest
from fork_server import ROOT
from missing import need
from page_steps import LOCALES, shows, steps, steps_run
from sample_output import VARIABLE

PAGES = {
    "en": ROOT / "docs" / "tutorial" / "data-set.md",
    "zh": ROOT / "docs" / "zh" / "tutorial" / "data-set.md",
}


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_the_tutorial_shows_what_its_commands_do(language: str, tmp_path: Path) -> None:
    need("pyarrow")
    run_steps = steps_run(PAGES[language].read_text(encoding="utf-8"), tmp_path, LOCALES[language])
    for step in run_steps:
        assert shows(step.shown, step.printed), f"{step.command}{step.printed}"
    assert [step.command.split()[:2] for step in run_steps[:2]] == [["winnow", "crawl"], ["winnow", "export"]]


def test_both_pages_have_the_same_commands_and_figures() -> None:
    english, chinese = (steps(page.read_text(encoding="utf-8")) for page in PAGES.values())
    assert [command for command, _ in english] == [command for command, _ in chinese]
    for (command, one), (_, other) in zip(english, chinese, strict=True):
        assert sorted(re.findall(r"\d+", VARIABLE.sub("", one))) == sorted(
            re.findall(r"\d+", VARIABLE.sub("", other))
        ), command
