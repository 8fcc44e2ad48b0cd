"""A finished crawl for the tests of exports, and the command in a process of its own."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from export_place import Place
from fork_server import environment
from sites import OPEN, Answer, Crawl, Site, crawl, page, serving
from sqlalchemy.engine import make_url


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of a small site with odd pages, which keeps what came."""
    speech = "Bees dance in the dark of the hive, and others follow them."
    links = {f"/{n}": f"Bees number {n}" for n in range(4)}
    packed = gzip.compress(page(speech, "They tell the way.").encode())
    routes = {
        "/": page(speech, links=links),
        "/0": page(speech, "=1+1, \"quoted\", 'too'.", '"', "蜜蜂在跳舞，别的蜜蜂跟着它。"),
    }
    more = {"/1": Answer(packed, headers={"Content-Encoding": "gzip", "ETag": '"a"'}), "/2": page(), "/3": page("<b>x")}
    with serving(Site(routes | more)) as site:
        asked = {"seeds": site.url, "topic": "bees", "name": "bees", "markdown": "yes", "images": "no"}
        ended = crawl(tmp_path_factory.mktemp("crawled"), asked, OPEN)
    assert ended.status == 0
    return ended


@pytest.fixture
def finished(crawled: Crawl, place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The command in the folder of that crawl."""
    monkeypatch.chdir(crawled.folder)
    place.url = make_url("sqlite:///output/crawl.db")
    return place


def begin(folder: Path, *words: str, limit: str = "") -> "subprocess.Popen[str]":
    """The command, started in a folder; no file may grow beyond so many blocks of 512 bytes if there is a limit."""
    line = [sys.executable, "-m", "scrapy", "export", *words, "-s", "STATE_URL=sqlite:///crawl.db"]
    if limit:
        line = ["sh", "-c", f'trap "" XFSZ; ulimit -f {limit}; exec "$@"', "sh", *line]
    return subprocess.Popen(line, cwd=folder, env=environment(), stderr=subprocess.PIPE, encoding="utf-8")
