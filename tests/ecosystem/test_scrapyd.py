"""A crawl that the real Scrapyd runs."""

import json
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fork_server
import pytest
from missing import need
from sites import OPEN, Site, page, serving

from crawler.demo import is_free

CONFIGURATION = """
[settings]
default = crawler.settings

[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.1
"""


@contextmanager
def scrapyd(folder: Path) -> Iterator[str]:
    """The address of a Scrapyd whose folder is this one."""
    need("scrapyd")
    port = next(port for port in range(16_800, 17_800) if is_free(port))
    (folder / "scrapy.cfg").write_text(CONFIGURATION.format(port=port), encoding="utf-8")
    environment = {name: value for name, value in fork_server.environment().items() if name != "SCRAPY_SETTINGS_MODULE"}
    line = [sys.executable, "-c", "from scrapyd.__main__ import main; main()"]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(line, cwd=folder, env=environment, stdout=log, stderr=log) as process,
    ):
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def ask(address: str, fields: list[tuple[str, str]] | None = None) -> dict[str, Any]:
    """Scrapyd's answer, once it listens."""
    data = urllib.parse.urlencode(fields).encode() if fields else None
    until = time.monotonic() + fork_server.PATIENCE
    while True:
        try:
            with urllib.request.urlopen(address, data) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.URLError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@pytest.mark.long
def test_scrapyd_runs_a_crawl(tmp_path: Path) -> None:
    with serving(Site({"/": page("Bees make honey.")})) as site, scrapyd(tmp_path) as address:
        fields = [("project", "default"), ("spider", "topic"), ("seeds", site.url)]
        fields += [("setting", f"{name}={value}") for name, value in OPEN.items()]
        started = ask(f"{address}/schedule.json", fields)
        assert started["status"] == "ok", started
        until = time.monotonic() + fork_server.PATIENCE
        while not ask(f"{address}/listjobs.json?project=default")["finished"] and time.monotonic() < until:
            time.sleep(0.1)
    log = (tmp_path / "logs" / "default" / "topic" / f"{started['jobid']}.log").read_text(encoding="utf-8")
    assert "1 item in output/topic.jsonl" in log
    [item] = map(json.loads, (tmp_path / "output" / "topic.jsonl").read_text(encoding="utf-8").splitlines())
    assert (item["url"], item["text"]) == (site.url, "Bees make honey.")
