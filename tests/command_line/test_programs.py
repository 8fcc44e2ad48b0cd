"""The commands `winnow` and `scrapy` are the same: what one takes, the other takes, and both refuse it alike."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run_command
from fork_server import ROOT
from missing import need

from crawler.api.console import all_commands, main
from crawler.command_line.command_table import COMMANDS

MAX_PAGES = "crawl: max_pages='x' is wrong; allowed are whole numbers from 1 on"


@pytest.fixture(autouse=True)
def _in_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "crawler.settings")


def run_winnow(
    capture: pytest.CaptureFixture[Any], monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[int, str, str]:
    """Run `winnow` with these words; its exit status and what it printed."""
    monkeypatch.setattr("sys.argv", ["winnow", *words])
    capture.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0), *capture.readouterr()


def test_each_row_has_a_module_and_both_programs_have_it() -> None:
    modules = {path.stem for path in (ROOT / "crawler" / "commands").glob("[!_]*.py")}
    assert modules == set(COMMANDS)
    assert modules <= set(all_commands())


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("crawl", 2, "crawl: no seeds; "),
        ("crawl demo --tpoic bees", 2, "crawl: there is no argument '--tpoic'; the nearest is --topic"),
        ("crawl demo --max-pages x", 2, MAX_PAGES),
        ("crawl demo -a max_pages=x", 2, MAX_PAGES),
        ("crawl topic demo --max-pages x", 2, MAX_PAGES),
        ("crawl topic -a seeds=demo -a max_pages=x", 2, MAX_PAGES),
        ("crawl -a seeds=demo -a max_pages=5 --max-pages x", 2, MAX_PAGES),
        ("crawl demo https://example.org/", 2, "crawl: seed 'demo' cannot be combined with other seeds"),
        ("crawl topic -a seeds=demo -a topic=honey bees", 2, "crawl: 'bees' is not recognized; give arguments as -a "),
        ("crawl demo topic=bees", 2, "crawl: 'topic=bees' is not recognized; give arguments as -a "),
        ("crawl tpoic -a seeds=demo", 2, "crawl: there is no spider 'tpoic'; there is topic"),
        ("crawl demo -a bees", 2, "crawl: Invalid -a value, use -a NAME=VALUE"),
        (
            "crawl demo -s DOWNLOAD_DELEY=1",
            2,
            "crawl: there is no setting DOWNLOAD_DELEY; the nearest is DOWNLOAD_DELAY",
        ),
        (
            "crawl demo -s MY_OUTPUT_DIR=mine -s OUTPUT_DIRS=x",
            2,
            "crawl: there is no setting OUTPUT_DIRS; the nearest is",
        ),
        ("crawl demo -s CONCURRENT_REQUESTS=x", 2, "crawl: setting CONCURRENT_REQUESTS='x' is wrong"),
        ("page", 2, "page: the following arguments are required: PAGE"),
        ("page none.html", 2, "page: 'none.html' cannot be read (No such file or directory)"),
        ("clean", 2, "clean: the following arguments are required: INPUT"),
        (
            "clean https://example.org/",
            2,
            "clean: 'https://example.org/' is no saved page; winnow page prints its text",
        ),
        ("clean --stored bees", 2, "clean: no crawl was ever run here (output/crawl.db)"),
        ("export", 2, "export: no crawl was ever run here (output/crawl.db)"),
        ("export --wrong", 2, "export: '--wrong' is not recognized; see winnow export --help"),
        ("state bees --yes", 2, "state: --yes goes with --reset NAME"),
        ("dashboard --port x", 2, "dashboard: argument --port: 'x' is wrong; "),
        ("schedule sing", 2, "schedule: there is no winnow schedule 'sing'; "),
        ("noise judge", 2, "noise judge: the following arguments are required: PAGES.jsonl"),
        ("focus report x", 2, "focus report: unrecognized arguments: x; usage: winnow focus report "),
        ("evaluate none.jsonl", 2, "evaluate: "),
        ("train nosuch none.jsonl", 2, "train: argument method: invalid choice: 'nosuch'"),
        ("completion x", 2, "completion: 'x' is not recognized; see winnow completion --help"),
    ],
)
def test_both_refuse_a_mistake_alike(
    words: str,
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[Any],
) -> None:
    if words.startswith("dashboard"):
        need("fastapi")
    monkeypatch.chdir(tmp_path)
    of_scrapy = run_command(capsys, *words.split())
    assert (of_scrapy[:2], of_scrapy[2][: len(said)], of_scrapy[2].count("\n")) == ((status, ""), said, 1)
    assert run_winnow(capsys, monkeypatch, *words.split()) == of_scrapy
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("make", [Path.mkdir, getattr(os, "mkfifo", Path.mkdir)])
def test_a_crawl_writes_to_a_file_only(
    make: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("output").mkdir()
    make(Path("output", "bees.jsonl"))
    status, out, err = run_command(capsys, "crawl", "demo", "--name", "bees")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "'output/bees.jsonl'" in err
    assert [path.name for path in Path("output").iterdir()] == ["bees.jsonl"]


def test_a_database_that_cannot_be_reached_is_no_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    need("psycopg")
    monkeypatch.chdir(tmp_path)
    url = "postgresql+psycopg://127.0.0.1:9/bees"
    status, out, err = run_command(capsys, "crawl", "demo", "-s", f"STATE_URL={url}", "-s", "DATABASE_RETRY_SECONDS=0")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert url in err


@pytest.mark.parametrize("name", [*COMMANDS])
def test_both_print_the_same_help(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[Any]
) -> None:
    of_scrapy = run_command(capsys, name, "--help")
    assert of_scrapy[0] == 0
    assert f"winnow {name} " in of_scrapy[1]
    assert run_winnow(capsys, monkeypatch, name, "--help") == of_scrapy
