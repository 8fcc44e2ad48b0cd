"""Scrapy's own commands in the project: they send one request, or run another spider, without a crawl of the topic."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import fork_server
import pytest
from sites import Answer, Site, page, serving

BEES = "Honey bees make honey in their hive all summer long, and dance for each other to show the way to the flowers."
PLAIN = '''
from scrapy import Request, Spider

class Plain(Spider):
    name = "plain"
    url = "URL"

    async def start(self):
        yield Request(self.url)
        yield Request(self.url)  # Scrapy's scheduler drops what was requested before

    def parse(self, response):
        """
        @url URL
        @returns items 1 1
        """
        yield {"title": response.css("title::text").get()}
'''


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes = {
        "/": page(BEES, links={"/other": "other"}),
        "/other": page("Other."),
        "/moved": Answer("", 301, headers={"Location": "/"}),
    }
    with serving(Site(routes)) as served:
        yield served


def scrapy(folder: Path, *words: str) -> "fork_server.subprocess.CompletedProcess[str]":
    """A command that ended well."""
    line = [sys.executable, "-m", "scrapy", *words, "-s", "DOWNLOAD_DELAY=0"]
    ended = fork_server.run(line, folder, fork_server.environment(), timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended


@pytest.mark.long
@pytest.mark.parametrize("more", [(), ("--spider=topic",)])
def test_fetch_prints_the_page_and_follows_redirects(site: Site, tmp_path: Path, more: tuple[str, ...]) -> None:
    assert BEES in scrapy(tmp_path, "fetch", f"{site.url}moved", *more).stdout
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    ("code", "more", "printed"),
    [
        ("response.css('title::text').get()", (), "A page"),
        ("next(spider.parse(response)).text", ("--spider=topic",), BEES),
    ],
)
def test_shell(site: Site, tmp_path: Path, code: str, more: tuple[str, ...], printed: str) -> None:
    assert scrapy(tmp_path, "shell", site.url, "-c", code, *more).stdout.splitlines()[-1] == printed


def test_parse_shows_the_filled_item_of_one_page(site: Site, tmp_path: Path) -> None:
    site.asked.clear()
    shown = scrapy(tmp_path, "parse", site.url, "--spider=topic", "-a", f"seeds={site.url}", "--nocolour").stdout
    assert BEES[:40] in shown
    assert "'language': 'en'" in shown
    assert "'extractor': 'auto'" in shown
    assert set(site.paths()) == {"/robots.txt", "/"}
    assert not (tmp_path / "output").exists()


@pytest.mark.long
def test_another_spider_runs_as_in_any_project(site: Site, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(PLAIN.replace("URL", site.url), encoding="utf-8")
    expected = [{"title": "A page"}]
    scrapy(tmp_path, "runspider", "plain.py", "-O", "run.json")
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8")) == expected
    scrapy(tmp_path, "crawl", "plain", "-s", "SPIDER_MODULES=plain", "-O", "crawl.json")
    assert json.loads((tmp_path / "crawl.json").read_text(encoding="utf-8")) == expected
    checked = scrapy(tmp_path, "check", "-s", "SPIDER_MODULES=plain").stderr
    assert re.search(r"Ran 1 contract in .*\n\nOK", checked)
    assert not (tmp_path / "output").exists()


def test_another_spider_is_no_seed_of_a_crawl(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(PLAIN, encoding="utf-8")
    line = [sys.executable, "-m", "scrapy", "crawl", "plain", "topic", "-s", "SPIDER_MODULES=plain"]
    ended = fork_server.run(line, tmp_path, fork_server.environment(), timeout=60)
    assert ended.returncode == 2
    assert "more than one spider" in ended.stderr  # as Scrapy's own command says
    assert not (tmp_path / "output").exists()
