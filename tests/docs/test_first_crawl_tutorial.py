"""The first tutorial shows what its commands print, in each language; so do the READMEs, of the same crawl.

Pages arrive in another order in each run, so the figures of the topic and of images may differ a little.
"""

import re
from pathlib import Path

import fork_server
import pytest
from fork_server import ROOT
from test_commands import run
from test_data_set_tutorial import BLOCK, END, LOCALES, VARIABLE, steps

PAGES = {
    "en": (ROOT / "docs" / "tutorial" / "first-crawl.md", ROOT / "README.md"),
    "zh": (ROOT / "docs" / "zh" / "tutorial" / "first-crawl.md", ROOT / "README.zh-CN.md"),
}
PASSES = re.compile(r"\d{4}-\d\d-\d\d[T ][\d:]+(?:\+00:00)?|\d+(?: s ago| 秒前)|\d+(?: h\b| 小时)")
"""Times, also until the next page is due."""
NUMBER = re.compile(r"\d+(?:\.\d+)?")
VARIES = re.compile(r"On topic:|Images:|切题：|图片：|\d\.\d\d  (?:en|zh)  | *\"relevance\"")
"""Beginnings of lines with figures that vary."""
MOST_DIFFERENCE = 0.25
"""Of such a figure, and of a relevance, which is at most 1; three more or fewer of a count are no difference."""


def steady(text: str) -> str:
    """Lines without what differs in each run."""
    return VARIABLE.sub("#", PASSES.sub("#", text))


def matches(shown: str, line: str) -> bool:
    """Whether a command may print a line like the one that is shown; `...` stands for any text.

    >>> matches("On topic: 15 of 38 pages read (39%).", "On topic: 13 of 38 pages read (34%).")
    True
    >>> matches("38 items in a.jsonl.", "37 items in a.jsonl."), matches("0.63  zh  蜂", "0.00  zh  蜂")
    (False, False)
    """
    words = "".join(re.escape(part) for part in NUMBER.sub("\0", shown)).replace("\0", r"(\d+(?:\.\d+)?)")
    numbers = re.fullmatch(words.replace(re.escape("..."), ".*").replace("……", ".*"), line)
    if numbers is None:
        return False
    pairs = [(float(own), float(other)) for own, other in zip(NUMBER.findall(shown), numbers.groups(), strict=True)]
    if not VARIES.match(shown):
        return all(own == other for own, other in pairs)
    return all(abs(own - other) <= most_difference(own) for own, other in pairs)


def most_difference(figure: float) -> float:
    return MOST_DIFFERENCE if figure < 1 else max(3.0, MOST_DIFFERENCE * figure)


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_the_pages_show_what_a_first_crawl_prints(language: str, tmp_path: Path) -> None:
    tutorial, readme = (page.read_text(encoding="utf-8") for page in PAGES[language])
    programs, folder = tmp_path / "programs", tmp_path / "work"
    programs.mkdir()
    folder.mkdir()
    fork_server.program(programs)
    expected = steps(tutorial)
    script = f"set +x\nexport LC_ALL={LOCALES[language]}\n"
    script += "".join(f"{command}\necho '{END}'\n" for command, _ in expected)
    ended = run(script, folder, {}, programs=programs)
    assert ended.returncode == 0, ended.stdout
    outputs = [steady(output).splitlines() for output in ended.stdout.split(f"{END}\n")]
    of_crawl = next(block for kind, block in BLOCK.findall(readme) if kind == "text").replace("/bees.", "/topic.")
    samples = [(steady(shown), output) for (_, shown), output in zip(expected, outputs, strict=False)]
    samples.append((steady(of_crawl), outputs[0]))
    lines = [(line, output) for shown, output in samples for line in shown.splitlines() if line.strip() != "..."]
    assert [line for line, output in lines if not any(matches(line, printed) for printed in output)] == []
    assert len(lines) > 20
