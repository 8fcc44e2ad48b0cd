"""What all commands share: wrong use costs little time, and their help names all values."""

import argparse
import subprocess
import sys
from pkgutil import resolve_name
from typing import Any

import pytest
from fork_server import ROOT
from scrapy.settings import Settings

from crawler.commands import clean, evaluate, export, focus, noise, schedule
from crawler.reports.stored_pages import ONLY

WRONG = [
    ["export", "--wrong"],
    ["state", "nosuch", "--x"],
    ["crawl", "topic", "-a", "seeds=demo", "-a", "max_pages=x"],
    ["clean", "a.html", "--into", ""],
    ["train", "nosuch"],
    ["evaluate", "--jobs", "x"],
    ["noise", "judge"],
    ["focus", "report", "--min-relevance", "2"],
    ["schedule", "remove"],
    ["dashboard", "--port", "x"],
]
HEAVY = ("numpy", "sqlalchemy", "jinja2", "rich", "crawler.crawl", "crawler.spiders.topic")
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


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_is_refused_imports_nothing_heavy(words: list[str]) -> None:
    program = PROGRAM.format(heavy=HEAVY, words=words)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "[]\n", 1), done.stderr


@pytest.mark.parametrize("command", [focus.Command, noise.Command, schedule.Command])
def test_every_subcommand_is_there(command: Any) -> None:
    assert all(callable(resolve_name(one.function)) for one in command.subcommands.values())


@pytest.mark.parametrize(
    ("command", "table"),
    [
        (clean.Command, "crawler.extraction.auto:FAVOURS"),
        (clean.Command, "crawler.bulk.cleaning:MORE"),
        (evaluate.Command, "crawler.evaluation.peers:PEERS"),
    ],
)
def test_the_help_names_all_values_of_a_table(command: Any, table: str) -> None:
    parser = options_of(command)
    text = " ".join(parser.format_help().replace("-\n", "-").split()).replace(", ", ",")
    assert [name for name in resolve_name(table) if name not in text] == []


def test_the_kinds_of_changes_to_export_are_those_that_there_are() -> None:
    options = options_of(export.Command)._actions
    assert next(one.choices for one in options if one.dest == "only") == ONLY
