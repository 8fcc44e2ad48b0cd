"""The package of docs/how-to/own-package.md works when it is installed beside Winnow."""

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile

import pytest
from fork_server import ROOT, environment
from test_commands import commands

PAGE = (ROOT / "docs" / "how-to" / "own-package.md").read_text(encoding="utf-8")
CRAWL = re.search(r"^ +\$ winnow (.*)$", PAGE, re.MULTILINE)[1]  # type: ignore[index]


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """The items of the crawl that the page shows."""
    folder = tmp_path_factory.mktemp("own package")
    installed = folder / "installed"
    subprocess.run(["sh", "-ec", commands(PAGE)], cwd=folder, check=True)
    # Unpacked beside the environment of the tests, which must not change.
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (wheel,) = (folder / "dist").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    paths = os.pathsep.join([str(installed), str(ROOT)])
    known = {**environment(), "PYTHONPATH": paths, "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    line = [sys.executable, "-m", "scrapy", *shlex.split(CRAWL)]
    subprocess.run(line, cwd=folder, env=known, check=True, capture_output=True)
    lines = (folder / "output" / "topic.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_its_extractor_makes_the_texts(items: list[dict[str, object]]) -> None:
    assert items
    assert {item["extractor"] for item in items} == {"paragraphs"}
    assert {item["extractor_version"].partition(":")[2] for item in items} == {"paragraphs@1.0"}


def test_its_field_is_stored(items: list[dict[str, object]]) -> None:
    minutes = [item["own_fields"]["reading_minutes"] for item in items]
    assert all(isinstance(value, float) for value in minutes)
    assert max(minutes) > 0
