"""The first tutorial shows what its commands print, in each language; so do the READMEs, of the same crawl."""

from pathlib import Path

import pytest
from fork_server import ROOT
from page_steps import BLOCK, LOCALES, steps_run
from sample_output import lines_not_printed

PAGES = {
    "en": (ROOT / "docs" / "tutorial" / "first-crawl.md", ROOT / "README.md"),
    "zh": (ROOT / "docs" / "zh" / "tutorial" / "first-crawl.md", ROOT / "README.zh-CN.md"),
}


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.long)])
def test_the_pages_show_what_a_first_crawl_prints(language: str, tmp_path: Path) -> None:
    tutorial, readme = (page.read_text(encoding="utf-8") for page in PAGES[language])
    run_steps = steps_run(tutorial, tmp_path, LOCALES[language])
    of_crawl = next(block for kind, block in BLOCK.findall(readme) if kind == "text").replace("/bees.", "/topic.")
    samples = [(step.shown, step.printed) for step in run_steps]
    samples.append((of_crawl, run_steps[0].printed))
    assert [line for shown, output in samples for line in lines_not_printed(shown, output)] == []
    assert sum(len(shown.splitlines()) for shown, _ in samples) > 30
