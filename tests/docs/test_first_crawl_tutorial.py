"""The first tutorial shows what its commands print, in each language; so do the READMEs, of the same crawl."""

from pathlib import Path

import fork_server
import pytest
from fork_server import ROOT
from sample_output import lines_not_printed
from test_commands import run
from test_data_set_tutorial import BLOCK, END, LOCALES, steps

PAGES = {
    "en": (ROOT / "docs" / "tutorial" / "first-crawl.md", ROOT / "README.md"),
    "zh": (ROOT / "docs" / "zh" / "tutorial" / "first-crawl.md", ROOT / "README.zh-CN.md"),
}


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
    outputs = ended.stdout.split(f"{END}\n")
    of_crawl = next(block for kind, block in BLOCK.findall(readme) if kind == "text").replace("/bees.", "/topic.")
    samples = [(shown, output) for (_, shown), output in zip(expected, outputs, strict=False)]
    samples.append((of_crawl, outputs[0]))
    assert [line for shown, output in samples for line in lines_not_printed(shown, output)] == []
    assert sum(len(shown.splitlines()) for shown, _ in samples) > 30
