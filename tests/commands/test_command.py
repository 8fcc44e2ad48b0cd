"""What all commands share: wrong use costs little time, and their help names all values."""

import argparse
import subprocess
import sys
from itertools import pairwise
from pkgutil import resolve_name
from typing import Any

import pytest
from fork_server import ROOT
from missing import need
from scrapy.cmdline import execute
from scrapy.settings import Settings

from crawler.command_line.options import GroupOptions
from crawler.commands import clean, crawl, evaluate, export, focus, noise, schedule
from crawler.reports.stored_pages import ONLY

WRONG = [
    ["export", "--wrong"],
    ["state", "nosuch", "--x"],
    ["crawl", "topic", "-a", "seeds=demo", "-a", "max_pages=x"],
    ["page"],
    ["completion", "--x"],
    ["clean", "a.html", "--into", ""],
    ["train", "nosuch"],
    ["evaluate", "--jobs", "x"],
    ["noise", "judge"],
    ["focus", "report", "--min-relevance", "2"],
    ["schedule", "remove"],
    ["dashboard", "--port", "x"],
    ["mcp", "--max-pages", "x"],
]
HEAVY = ("numpy", "sqlalchemy", "tldextract", "jinja2", "rich", "crawler.build_crawl", "crawler.spiders.topic")
PROGRAM = """
import atexit, sys
atexit.register(lambda: print([name for name in {heavy} if name in sys.modules]))
from scrapy.cmdline import execute
execute(["scrapy", *{words}])
"""


def options_of(command: Any) -> argparse.ArgumentParser:
    """The options of a command, as Scrapy has it make them."""
    made, parser = command(), argparse.ArgumentParser()
    made.settings = Settings()
    made.add_options(parser)
    return parser


def test_each_command_is_among_the_wrong_ones() -> None:
    commands = {path.stem for path in (ROOT / "crawler" / "commands").glob("[!_]*.py")}
    assert {words[0] for words in WRONG} == commands


def run(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Scrapy with these words; its last line is the heavy modules that it imported."""
    program = PROGRAM.format(heavy=HEAVY, words=words)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)


def test_what_is_refused_imports_nothing_heavy() -> None:
    for words in WRONG:
        done = run(words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "[]\n", 1), done.stderr


def test_only_groups_of_options_are_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = options_of(crawl.Command)
    headings = set()
    for columns in range(60, 100):  # some break the line of an option after "(default:"
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = parser.format_help().splitlines()
        headings.add(tuple(above for above, below in pairwise(lines) if below and set(below) <= set("-=")))
    assert len(headings) == 1
    assert len(headings.pop()) == 5


def test_help_imports_nothing_heavy() -> None:
    done = run(["clean", "--help"])
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]"), done.stderr


def test_only_the_command_that_is_called_is_imported() -> None:
    rows = [
        (["crawl", "topic", "-a", "max_pages=x"], "", 60),
        (["state", "--x"], "crawler.contrib.index", 38),
        (["page"], "", 36),
        (["clean", "--x"], "crawler.contrib.bulk", 36),
        (["export", "--x"], "crawler.contrib.corpus", 44),
        (["--help"], "", 14),
    ]
    for words, folder, most in rows:
        start = "crawler.api.console:main" if words == ["--help"] else "scrapy.cmdline:execute"
        program = (
            "import atexit, sys; from pkgutil import resolve_name;"
            "atexit.register(lambda: print('\\n' + ' '.join(name for name in sys.modules if name[:7] == 'crawler')));"
            f"sys.argv[1:] = {words}; resolve_name('{start}')()"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
        modules = done.stdout.splitlines()[-1].split()
        parts = {name for name in modules if name.startswith("crawler.contrib.")}
        assert {".".join(name.split(".")[:3]) for name in parts} == ({folder} if folder else set())
        assert len(modules) <= most


@pytest.mark.parametrize("command", [focus.Command, noise.Command, schedule.Command])
def test_every_subcommand_is_there(command: Any) -> None:
    if command is schedule.Command:
        need("cronsim")
    options: GroupOptions = command().options
    assert all(callable(resolve_name(one.function)) for one in options.subcommands.values())


@pytest.mark.parametrize(
    ("command", "table"),
    [
        (clean.Command, "crawler.extraction.auto:FAVOURS"),
        (clean.Command, "crawler.contrib.bulk.cleaning:MORE_FIELDS"),
        (evaluate.Command, "crawler.contrib.lab.evaluation.peers:PEERS"),
    ],
)
def test_the_help_names_all_values_of_a_table(command: Any, table: str) -> None:
    parser = options_of(command)
    text = " ".join(parser.format_help().replace("-\n", "-").split()).replace(", ", ",")
    assert [name for name in resolve_name(table) if name not in text] == []


def test_the_kinds_of_changes_to_export_are_those_that_there_are() -> None:
    for change in ONLY:
        assert options_of(export.Command).parse_known_args(["--only", change])[0].only == change
    with pytest.raises(SystemExit):
        options_of(export.Command).parse_known_args(["--only", "dance"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("export --wrong", "export: 无法理解 '--wrong'；winnow export --help 列出可用的参数"),
        ("export --name", "export: 参数 --name：需要一个值"),
        ("export --since soon", "export: 参数 --since：'soon' 无效；应为轮次编号（从 1 起），或 "),
        ("export -s x", "export: -s 的值无效，请使用 -s NAME=VALUE"),
        ("clean", "clean: 缺少以下参数：INPUT"),
        ("train slope x", "train: 参数 method：无效的选项：'slope'（可选：'auto', 'template-svm', 'metadata'）"),
        ("evaluate x --jobs 0", "evaluate: 参数 --jobs：'0' 无效；应为 1 到 64 之间的整数"),
        ("noise judge", "noise judge: 缺少以下参数：PAGES.jsonl[.gz|.xz]；用法：winnow noise judge ["),
        ("focus report x", "focus report: 无法识别的参数：x；用法："),
        ("crawl topic -a", "crawl: 参数 -a：需要一个值"),
    ],
)
def test_wrong_use_in_chinese(words: str, said: str, monkeypatch: Any, capsys: Any) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    settings = Settings()
    settings.setmodule("crawler.settings", priority="project")
    with pytest.raises(SystemExit) as ended:
        execute(["scrapy", *words.split()], settings)
    err = capsys.readouterr().err
    assert (ended.value.code, err.count("\n"), err[: len(said)]) == (2, 1, said)
