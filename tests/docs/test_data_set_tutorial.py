"""The tutorial of the data set, in each language: its commands as they stand there, and what it shows of them."""

import re
from pathlib import Path
from textwrap import dedent

import fork_server
import pytest
from fork_server import ROOT
from missing import need
from sample_output import VARIABLE
from test_commands import run

PAGES = {
    "en": ROOT / "docs" / "tutorial" / "data-set.md",
    "zh": ROOT / "docs" / "zh" / "tutorial" / "data-set.md",
}
LOCALES = {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "end of step"


def steps(text: str) -> list[tuple[str, str]]:
    """The commands of a page, each with what the page shows of it, or nothing.

    >>> steps("```sh\\nls\\n```\\n```sh\\npwd\\n```\\n```text\\n/\\n```\\n")
    [('ls\\n', ''), ('pwd\\n', '/\\n')]
    """
    found: list[tuple[str, str]] = []
    for language, block in BLOCK.findall(text):
        found.append((block, "")) if language == "sh" else found.append((found.pop()[0], block))
    return found


def shows(expected: str, said: str) -> bool:
    """Whether lines stand in an output; `...` stands for any lines, and times and sizes may be others.

    >>> shows("a 1.2 s\\n...\\nc\\n", "x\\na 3.4 s\\nb\\nb\\nc\\n")
    True
    >>> shows("a\\nc\\n", "a\\nb\\nc\\n"), shows("a\\n", "ab\\n"), shows("2 of 3\\n", "2 of 4\\n")
    (False, False, False)
    """
    lines = [
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(VARIABLE.sub("#", line)) + r"\n"
        for line in expected.splitlines()
    ]
    return re.search("^" + "".join(lines), VARIABLE.sub("#", said), re.MULTILINE) is not None


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_the_tutorial_shows_what_its_commands_do(language: str, tmp_path: Path) -> None:
    need("pyarrow")
    expected = steps(PAGES[language].read_text(encoding="utf-8"))
    programs = tmp_path / "programs"
    programs.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    fork_server.program(programs)
    script = f"set +x\nexport LC_ALL={LOCALES[language]}\n"
    script += "".join(f"{dedent(command)}\necho '{END}'\n" for command, _ in expected)
    ended = run(script, folder, {}, programs=programs)
    assert ended.returncode == 0, ended.stdout
    said = ended.stdout.split(f"{END}\n")[:-1]
    assert len(said) == len(expected)
    for (command, shown), output in zip(expected, said, strict=True):
        assert shows(shown, output), f"{command}{output}"
    assert [command.split()[:2] for command, _ in expected[:2]] == [["scrapy", "crawl"], ["scrapy", "export"]]


def test_both_pages_have_the_same_commands_and_figures() -> None:
    english, chinese = (steps(page.read_text(encoding="utf-8")) for page in PAGES.values())
    assert [command for command, _ in english] == [command for command, _ in chinese]
    for (command, one), (_, other) in zip(english, chinese, strict=True):
        assert sorted(re.findall(r"\d+", VARIABLE.sub("", one))) == sorted(
            re.findall(r"\d+", VARIABLE.sub("", other))
        ), command
