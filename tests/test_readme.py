"""The READMEs are short, in step, and CI runs their tests with everything that these may need."""

import re
import tomllib

import pytest
from fork_server import ROOT

READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
MOST_LINES = 170


def test_the_two_lines_come_first_and_ci_runs_all_tests() -> None:
    first, second = re.findall(r"^\$ (.+)$", READMES[0].read_text(encoding="utf-8"), re.MULTILINE)
    install, crawl = first.split(" && ")
    assert install == "python -m pip install '.[dashboard,schedule]'"
    assert crawl == 'scrapy crawl topic -a seeds=demo -a topic="honey bees"'
    assert second == "python -m pip install '.[test]' && pytest -n 4"
    assert second.replace("[test]", "[dev]") in CI


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_it_is_short_and_finished(path: object) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert not re.search(r"^[A-Z]{3,}$|TODO|TBD", text, re.MULTILINE)


def test_both_have_the_same_parts_and_figures() -> None:
    parts = [path.read_text(encoding="utf-8").split("\n## ") for path in READMES]
    assert len(parts[0]) == len(parts[1])
    compared = [number for number, part in enumerate(parts[0]) if "trafilatura" in part]
    assert len(compared) == 2
    for number in compared:
        english, chinese = (set(re.findall(r"\d+", language[number])) for language in parts)
        assert english == chinese, number


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_clean_text_takes_three_lines_at_most(path: object) -> None:
    """On the command line, with `python -c`, in a notebook and in a project; tests/docs and tests/addon run them."""
    part = path.read_text(encoding="utf-8").split("\n## ")[5]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    assert [(language, text.split()[0]) for language, text in blocks] == [
        ("sh", "winnow"),
        ("python", "from"),
        ("python", "ADDONS"),
    ]
    assert all(len([line for line in text.splitlines() if line]) <= 3 for _, text in blocks)


def test_every_dependency_has_a_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    for needed in [
        *project["dependencies"],
        *project["optional-dependencies"]["test"],
        *project["optional-dependencies"]["dev"],
    ]:
        assert re.search(rf'"{re.escape(needed)}", +# \w', text), needed
