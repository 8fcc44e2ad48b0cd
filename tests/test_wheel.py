"""The wheel holds everything: a crawl of the demo, and a dashboard, from nothing but the unpacked wheel."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from fork_server import ROOT
from missing import need

from crawler.demo import articles

FILTER: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python before 3.11.4 has none


def built(folder: Path, kind: str = "wheel", sources: Path = ROOT) -> Path:
    """A wheel or an sdist that is built into a folder."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(build, cwd=sources, check=True, capture_output=True)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
        assert "crawler/reports/templates/focus.html" in archive.namelist()
    return folder / "unpacked"


def environment(unpacked: Path) -> dict[str, str]:
    """One in which the crawler is that of the wheel."""
    return os.environ | {"PYTHONPATH": str(unpacked), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}


def test_the_wheel_is_the_same_when_it_is_built_from_the_sdist(wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(built(tmp_path / "sdist", "sdist")) as archive:
        archive.extractall(tmp_path / "sources", **FILTER)
    (sources,) = (tmp_path / "sources").iterdir()
    assert built(tmp_path / "wheel", sources=sources).read_bytes() == wheel.read_bytes()


PROGRAM = "import crawler, sys; print(crawler.__file__, flush=True); from scrapy.cmdline import execute; execute()"


def test_the_demo_is_crawled_from_the_wheel_alone(unpacked: Path, tmp_path: Path) -> None:
    line = [sys.executable, "-c", PROGRAM, "crawl", "topic", "-a", "seeds=demo", "-a", "name=wheel"]
    asked = {"env": environment(unpacked), "capture_output": True, "text": True, "timeout": 300}
    ended = subprocess.run(line, cwd=tmp_path, check=False, **asked)
    assert ended.returncode == 0, ended.stderr
    assert Path(ended.stdout.splitlines()[0]).is_relative_to(unpacked)
    items = [json.loads(line) for line in (tmp_path / "output" / "wheel.jsonl").read_text("utf-8").splitlines()]
    assert len(items) > len(articles())


@pytest.mark.parametrize(
    ("path", "language", "said"),
    [
        ("/schedule", "en", "There is no job yet"),
        ("/schedule", "zh", "还没有任务"),
        ("/static/app.js", "en", "import"),
        ("/static/style.css", "en", ":root"),
        ("/static/vendor/uplot.js", "en", "uPlot"),
    ],
)
def test_the_dashboard_is_served_from_the_wheel_alone(served: int, path: str, language: str, said: str) -> None:
    connection = HTTPConnection("127.0.0.1", served, timeout=120)
    connection.request("GET", path, headers={"Accept-Language": language})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == 200
    assert said in text


@pytest.fixture(scope="module")
def served(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a dashboard of the wheel."""
    need("fastapi", "uvicorn", "cronsim")
    line = [sys.executable, "-c", PROGRAM, "dashboard", "--port", "0"]
    folder = tmp_path_factory.mktemp("elsewhere")
    asked = {"env": environment(unpacked), "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=folder, **asked) as process:
        try:
            assert Path(process.stdout.readline().strip()).is_relative_to(unpacked)
            yield int(re.search(r":(\d+)/ ", process.stdout.readline())[1])
            process.terminate()
            assert process.wait(30) == 0
        finally:
            process.kill()
