"""The wheel holds everything: a crawl of the demo from nothing but the unpacked wheel."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from nursery import ROOT

from crawler.demo import articles


def test_the_demo_is_crawled_from_the_wheel_alone(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
        assert "crawler/evaluation/report.html" in archive.namelist()
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path / "unpacked"),
        "SCRAPY_SETTINGS_MODULE": "crawler.settings",
    }
    program = "import crawler, sys; print(crawler.__file__); from scrapy.cmdline import execute; execute()"
    line = [sys.executable, "-c", program, "crawl", "topic", "-a", "seeds=demo", "-a", "name=wheel"]
    ended = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert Path(ended.stdout.splitlines()[0]).is_relative_to(tmp_path / "unpacked")
    items = [json.loads(line) for line in (folder / "output" / "wheel.jsonl").read_text("utf-8").splitlines()]
    assert len(items) > len(articles())
