"""Commands where contrib/corpus is not installed: they write what the core can, and say what to install."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fork_server import ROOT
from sites import Crawl

pytestmark = pytest.mark.long
INSTALLATION = "pip install 'winnow-crawler[corpus]'"


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package without the folder."""
    folder = tmp_path_factory.mktemp("core")
    shutil.copytree(ROOT / "crawler", folder / "crawler", ignore=shutil.ignore_patterns("__pycache__", "corpus"))
    return folder


def run(core: Path, words: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"SCRAPY_SETTINGS_MODULE": "crawler.settings", "PYTHONPATH": str(core)}
    line = [sys.executable, "-m", "scrapy", *words]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("words", [["-o", "a.csv"], ["-o", "pages/"], ["--where", "quality.kept_frac >= 0"]])
def test_the_formats_of_the_core_are_written(crawled: Crawl, core: Path, tmp_path: Path, words: list[str]) -> None:
    state = f"STATE_URL=sqlite:///{crawled.folder / 'output' / 'crawl.db'}"
    ended = run(core, ["export", *words, "-s", state], tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "4 of 4 pages of the crawl bees written" in ended.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["export", "-o", "a.parquet"],
        ["export", "--format", "warc", "-o", "a"],
        ["export", "--dedupe", "near", "-o", "a.csv"],
        ["export", "--where", "quality.words > 3", "-o", "a.csv"],
        ["clean", "pages.jsonl", "--with", "quality"],
        ["crawl", "topic", "-a", "seeds=http://a.example/", "-a", "quality=yes"],
    ],
)
def test_one_sentence_says_what_to_install(core: Path, tmp_path: Path, words: list[str]) -> None:
    ended = run(core, words, tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert INSTALLATION in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert [*tmp_path.iterdir()] == []
