"""The core works without any of the folders of crawler/contrib/."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fork_server import ROOT

CONTRIB = ROOT / "crawler" / "contrib"
FOLDERS = sorted(folder.name for folder in CONTRIB.iterdir() if (folder / "__init__.py").exists())
CRAWL = ("crawl", "topic", "-a", "seeds=demo", "-a")
NEEDS = {
    "browser": [(*CRAWL, "render=always")],
    "bulk": [("clean", "pages.jsonl")],
    "corpus": [
        ("export", "-o", "a.parquet"),
        ("export", "--format", "warc", "-o", "a"),
        ("export", "--dedupe", "near", "-o", "a.csv"),
        ("export", "--where", "quality.words > 3", "-o", "a.csv"),
        ("clean", "pages.jsonl", "--with", "quality"),
        (*CRAWL, "quality=yes"),
    ],
    "dashboard": [("dashboard",)],
    "documents": [(*CRAWL, "documents=yes")],
    "index": [("export", "--format", "chunks")],
    "lab": [("evaluate", "pages.jsonl")],
    "schedule": [("schedule", "list")],
}
"""Commands that need a folder."""
CORE_TESTS = "extraction frontier metadata noise page recrawl rights topic urls".split()

pytestmark = pytest.mark.long


class Copy:
    """A copy of the crawler without some folders of contrib/."""

    def __init__(self, place: Path, without: list[str]) -> None:
        self.place = place
        shutil.copytree(ROOT / "crawler", place / "crawler", ignore=shutil.ignore_patterns("__pycache__"))
        for folder in without:
            shutil.rmtree(place / "crawler" / "contrib" / folder)

    def run(self, *line: str) -> subprocess.CompletedProcess[str]:
        """Run Python on this copy."""
        known = os.environ | {"PYTHONPATH": str(self.place), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
        return subprocess.run(
            [sys.executable, *line], cwd=self.place, env=known, capture_output=True, text=True, check=False
        )

    def scrapy(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "scrapy", *words)


@pytest.fixture(scope="module", params=[[folder] for folder in FOLDERS] + [FOLDERS], ids="-".join)
def copy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"), request.param)


def without(copy: Copy) -> set[str]:
    return {folder for folder in FOLDERS if not (copy.place / "crawler" / "contrib" / folder).exists()}


def test_the_demo_is_crawled_and_exported(copy: Copy) -> None:
    ended = copy.scrapy("crawl", "topic", "-a", "seeds=demo", "-a", "topic=honey bees", "-a", "name=demo")
    assert ended.returncode == 0, ended.stderr
    lines = (copy.place / "output" / "demo.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 30
    for words in (["-o", "out.jsonl"], ["-o", "out.csv"], ["-o", "pages/"], ["--where", "quality.kept_frac >= 0"]):
        exported = copy.scrapy("export", "--name", "demo", *words)
        assert exported.returncode == 0, exported.stderr
    rows = [json.loads(line) for line in (copy.place / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["url"] for row in rows} == {json.loads(line)["url"] for line in lines}


def test_one_page_is_cleaned(copy: Copy) -> None:
    page = copy.place / "page.html"
    page.write_text("<nav><a href=/>Home</a></nav><p>Bees dance in the dark of the hive, and others follow them.</p>")
    program = "import sys; from crawler.api.console import main; sys.argv = ['winnow', 'page', 'page.html']; main()"
    ended = copy.run("-c", program)
    assert (ended.returncode, ended.stdout) == (0, "Bees dance in the dark of the hive, and others follow them.\n")


def test_what_needs_a_folder_says_what_to_install(copy: Copy) -> None:
    missing_folders = without(copy)
    for line in (line for folder in missing_folders for line in NEEDS[folder]):
        ended = copy.scrapy(*line)
        assert (ended.returncode, ended.stdout) == (2, ""), (line, ended.stderr)
        assert any(f"winnow-crawler[{folder}]" in ended.stderr for folder in missing_folders), (line, ended.stderr)
        assert len(ended.stderr.splitlines()) == 1, (line, ended.stderr)


def test_the_tests_of_the_core_pass_without_any_folder(tmp_path: Path) -> None:
    copy = Copy(tmp_path, FOLDERS)
    left_out = shutil.ignore_patterns("__pycache__", "bench", "contrib")
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=left_out)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    ended = copy.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in CORE_TESTS))
    assert ended.returncode == 0, ended.stdout[-3000:]
