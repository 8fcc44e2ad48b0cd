"""What there is, is in the README."""

import re
import tomllib
from dataclasses import fields

import pytest
from fork_server import ROOT

from crawler import settings
from crawler.arguments import ARGUMENTS
from crawler.commands import focus, noise, schedule
from crawler.extraction import EXTRACTORS
from crawler.items import ImageItem, PageItem

README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", README, flags=re.DOTALL)))
# First cells of the tables' rows, by the heading they stand under.
ROWS = {
    heading: [name for row in re.findall(r"^\| (`.+?) \|", body, re.MULTILINE) for name in re.findall("`([^`]+)`", row)]
    for heading, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)
}
SETTINGS = [name for name in vars(settings) if name.isupper()]
COMMANDS = [path.stem for path in (ROOT / "crawler" / "commands").glob("[!_]*.py")]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting(name: str) -> None:
    assert name in CODE


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command(command: str) -> None:
    assert f"scrapy {command}" in README


@pytest.mark.parametrize(
    ("words", "syntax"),
    [
        (f"{command().called} {name}", one.parser(name).format_usage())
        for command in (focus.Command, noise.Command, schedule.Command)
        for name, one in command.subcommands.items()
    ],
)
def test_every_subcommand_with_its_options(words: str, syntax: str) -> None:
    assert words in README
    assert [option for option in re.findall(r"--[a-z-]+", syntax) if option not in README] == []


@pytest.mark.parametrize("name", [field.name for field in fields(ImageItem)])
def test_every_image_field(name: str) -> None:
    assert name in CODE


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("Arguments", list(ARGUMENTS)),
        ("Items", [field.name for field in fields(PageItem)]),
        ("Extractors", list(EXTRACTORS)),
    ],
)
def test_tables_name_all_and_nothing_else(heading: str, names: list[str]) -> None:
    assert ROWS[heading] == names


def test_settings_in_the_table_exist() -> None:
    assert [name for name in ROWS["Settings"] if name.isupper() and name not in SETTINGS] == []


@pytest.mark.parametrize(
    ("name", "default"), re.findall(r"^\| `([A-Z_]+)` \| `?(\S+?)`? \|", README, re.MULTILINE), ids=lambda value: value
)
def test_defaults_are_the_ones_in_the_table(name: str, default: str) -> None:
    if name != "USER_AGENT":
        assert str(getattr(settings, name)) == default


def test_the_two_lines_come_first_and_ci_runs_the_second() -> None:
    first, second = re.search(r"```sh\n(.+)\n(.+)\n```", README).groups()
    assert first == 'python -m pip install . && scrapy crawl topic -a seeds=demo -a topic="honey bees"'
    assert second == "python -m pip install '.[dev]' && pytest -n 4"
    assert second in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_nothing_is_left_to_be_filled_in() -> None:
    assert not re.search(r"^[A-Z]{3,}$|TODO|TBD", README, re.MULTILINE)


def test_every_dependency_has_a_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    for needed in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        assert re.search(rf'"{re.escape(needed)}", +# \w', text), needed
