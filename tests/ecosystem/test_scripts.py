"""Crawls that a script starts with Scrapy's CrawlerProcess."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fork_server import environment
from sites import Site, page, serving

SCRIPT = """
import json, sys
from scrapy.crawler import CrawlerProcess
from scrapy.utils.project import get_project_settings

settings = get_project_settings()
settings.update({"ALLOWED_PRIVATE_HOSTS": "127.0.0.1", "DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False})
process = CrawlerProcess(settings)
crawls = [process.crawl("topic", **given) for given in json.loads(sys.argv[1])]
crawls[-1].addErrback(lambda failure: print(failure.getErrorMessage()))
process.start()
"""


@pytest.mark.long
def test_two_crawls_in_one_process_end_well_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    short, long = (
        Site({"/": page("Bees make honey.", links=links), "/b": page("A hive.")}) for links in ({}, {"/b": "b"})
    )
    with serving(short), serving(long):
        given = [
            {"seeds": [short.url], "name": "short", "max_pages": 5},
            {"seeds": (long.url,), "name": "long"},
            {"seeds": [long.url], "name": "wrong", "favour": "recall", "extractor": "slope"},
        ]
        line = [sys.executable, "-c", SCRIPT, json.dumps(given)]
        ended = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
    assert re.match(r"favour 'recall' .*\bauto\b", ended.stdout), ended.stderr
    found = {path.name: len(path.read_text("utf-8").splitlines()) for path in (tmp_path / "output").glob("*.jsonl")}
    assert {name: lines for name, lines in found.items() if ".images" not in name} == {
        "short.jsonl": 1,
        "long.jsonl": 2,
    }
