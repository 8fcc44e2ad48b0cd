"""What goes wrong between pages, servers and users, each as it was met once."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from command_line import refusal_of_crawl
from sites import (
    BY_SHARES,
    COUNTED,
    OPEN,
    Answer,
    Crawl,
    Route,
    Site,
    command,
    crawl,
    environment,
    page,
    serving,
    serving_all,
)

from crawler.outcomes import Code, Outcome
from crawler.spiders.topic import MAX_LISTS

# Settings of a user, which break one request.
BROKEN_REQUEST = """
from crawler.settings import *
from crawler.spiders.topic import TopicSpider

request_for = TopicSpider.request_for


def request_or_error(spider, lease):
    if lease.candidate.url.endswith("/broken"):
        raise ValueError("no request")
    return request_for(spider, lease)


TopicSpider.request_for = request_or_error
"""
PNG = Answer(b"\x89PNG", content_type="image/png")
LIST = "<urlset><url><loc>{url}news/a</loc></url><url><loc>{url}b</loc></url></urlset>"


LINKS_OF_SPELLINGS = {"/d?": "a", "/d": "b", "/q?a='b'": "c", "q?a='b'": "d", "/q?a=%27b%27": "e"}
ODD_TYPES = ["text/html, text/html", "text/html charset=utf-8", '"text/html"', "*/*", "TEXT/HTML;x", ""]
PARTS = {f"/{status}": Answer(page("Two.") if status == 206 else "", status) for status in (204, 205, 206)}
SLIDES = {
    f"/{n}": page(f"Slide {n}.", head=f'<meta http-equiv=refresh content="5; url=/{(n + 1) % 3}">') for n in range(3)
}
ROUTES: dict[str, dict[str, Route]] = {
    "images and pages": {"/": page("One.", links={"/b": "b"}) + '<img src="/b">', "/b": page("Two.")},
    "spellings": {
        "/": page("One.", links=LINKS_OF_SPELLINGS),
        "/d": page("Two."),
        "/q?a=%27b%27": page("Three."),
    },
    "odd types": {
        "/": page("All types.", links={f"/{at}": f"type {at}" for at in range(len(ODD_TYPES))}),
        **{f"/{at}": Answer(page(f"Type {at}."), content_type=odd_type) for at, odd_type in enumerate(ODD_TYPES)},
    },
    "parts": {"/": page("One.", links=dict.fromkeys(PARTS, "a part")), **PARTS},
    "slides": {"/": page("All slides.", links={"/0": "first", "/1": "second", "/2": "third"}), **SLIDES},
    "terminal": {
        "/": page("One.", links={"/type": "type", "/coding": "coding"}),
        "/type": Answer(page("One."), content_type="\x1b]0;gone\x07/x"),
        "/coding": Answer("", headers={"Content-Encoding": "\x1b[31m"}),
    },
}


@dataclass(frozen=True)
class Mishaps:
    """One crawl of several sites, each with a mishap."""

    sites: Mapping[str, Site]
    ended: Crawl

    def paths(self, name: str) -> list[str]:
        """The paths of the items from a site."""
        return sorted(self.ended.paths_of(self.sites[name]))


@pytest.fixture(scope="module")
def mishaps(tmp_path_factory: pytest.TempPathFactory) -> Mishaps:
    sites = {name: Site(routes) for name, routes in ROUTES.items()}
    with serving_all(sites.values()) as seeds:
        ended = crawl(tmp_path_factory.mktemp("mishaps"), {"seeds": seeds, "images": "yes"}, BY_SHARES | COUNTED)
    return Mishaps(sites, ended)


def test_images_are_downloaded_when_max_pages_is_reached(tmp_path: Path) -> None:
    routes = {"/": page("One.", links={"/b": "b", "/c": "c"}) + '<img src="/1.png">', "/b": page("Two."), "/1.png": PNG}
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "max_pages": 2, "images": "yes"}, BY_SHARES)
    assert len(ended.items()) == 2
    assert "/1.png" in site.paths()


def test_an_address_may_be_an_image_here_and_a_page_there(mishaps: Mishaps) -> None:
    assert mishaps.paths("images and pages") == ["/", "/b"]


def test_spellings_of_one_address_are_one_page(mishaps: Mishaps) -> None:
    assert mishaps.paths("spellings") == ["/", "/d", "/q?a=%27b%27"]


def test_odd_content_types_are_web_pages(mishaps: Mishaps) -> None:
    assert mishaps.paths("odd types") == sorted(ROUTES["odd types"])


def test_a_part_of_a_page_is_no_page(mishaps: Mishaps) -> None:
    assert mishaps.paths("parts") == ["/"]
    for status in (204, 205, 206):
        assert mishaps.ended.outcomes()[f"not_whole/{status}"] == 1


def test_a_slideshow_is_no_redirect(mishaps: Mishaps) -> None:
    assert mishaps.paths("slides") == ["/", "/0", "/1", "/2"]


def test_a_site_cannot_write_to_the_terminal(mishaps: Mishaps) -> None:
    assert {"/type", "/coding"} <= set(mishaps.sites["terminal"].paths())
    assert not any(character < " " and character != "\n" for character in mishaps.ended.err)


def test_allow_is_for_pages_not_for_their_lists(tmp_path: Path) -> None:
    with serving(Site({"/news/a": page("News."), "/b": page("Other.")})) as site:
        site.routes["/"] = Answer(f"<sitemapindex><sitemap><loc>{site.url}map.xml.gz</loc></sitemap></sitemapindex>")
        site.routes["/map.xml.gz"] = Answer(LIST.format(url=site.url), content_type="application/xml")
        ended = crawl(tmp_path, {"seeds": site.url, "allow": "/news/"})
    assert [item["url"] for item in ended.items()] == [site.url + "news/a"]


def index_of(site: Site, *names: str) -> Answer:
    lists = "".join(f"<sitemap><loc>{site.url}{name}</loc></sitemap>" for name in names)
    return Answer(f"<sitemapindex>{lists}<url><loc>{site.url}page</loc></url></sitemapindex>", content_type="text/xml")


def test_lists_that_nest_for_ever_are_left(tmp_path: Path) -> None:
    with serving(Site({"/page": page("One.")})) as site:
        site.routes |= {f"/{level}": index_of(site, str(level + 1)) for level in range(9)}
        ended = crawl(tmp_path, {"seeds": f"{site.url}0"}, COUNTED)
    assert sorted(site.paths("/robots.txt")) == ["/0", "/1", "/2", "/page"]
    assert ended.outcomes() == {"lists_cut": 1}


@pytest.mark.long
def test_a_site_has_so_many_lists(tmp_path: Path) -> None:
    with serving(Site({"/page": page("One.")})) as site:
        names = [f"list{number}" for number in range(MAX_LISTS + 2)]
        site.routes |= {f"/{name}": index_of(site) for name in names} | {"/": index_of(site, *names)}
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED)
    assert len([path for path in site.paths() if path.startswith("/list")]) == MAX_LISTS
    assert ended.outcomes() == {"lists_cut": 2}


def test_a_sitemap_of_another_host_does_not_widen_the_scope(tmp_path: Path) -> None:
    with serving(Site({"/b": page("Other.")}), "127.0.0.2") as other, serving(Site({})) as site:
        other.routes["/map.xml"] = Answer(LIST.format(url=other.url), content_type="text/xml")
        site.routes["/"] = Answer(f"<sitemapindex><sitemap><loc>{site.url}map.xml</loc></sitemap></sitemapindex>")
        site.routes["/map.xml"] = Answer("", 302, headers={"Location": f"{other.url}map.xml"})
        ended = crawl(tmp_path, {"seeds": site.url}, COUNTED | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"})
    assert other.asked == []
    assert ended.outcomes() == {"redirect_refused/outside_scope": 1}


def test_a_request_that_cannot_be_created_does_not_keep_the_crawl_from_ending(tmp_path: Path) -> None:
    (tmp_path / "broken_request.py").write_text(BROKEN_REQUEST)
    site = Site({"/": page("One.", links={"/broken": "broken", "/two": "two"}), "/two": page("Two.")})
    with serving(site):
        ended = crawl(tmp_path, {"seeds": site.url}, env={"SCRAPY_SETTINGS_MODULE": "broken_request"}, timeout=30)
    assert {item["url"] for item in ended.items()} == {site.url, f"{site.url}two"}
    assert f"Failed: {Outcome(Code.CRAWLER_ERROR).message} (1)." in ended.closing()
    assert "ValueError: no request" in ended.err


@pytest.mark.long
def test_two_crawls_of_one_name_do_not_mix(tmp_path: Path) -> None:
    slow = Answer([page("One.").encode()] + [b" "] * 40, content_type="text/html")
    with serving(Site({"/": page("One.", links={"/b": "b"}), "/b": slow})) as site:
        line = command({"seeds": site.url}, OPEN | {"DOWNLOAD_DELAY": "3"})
        with subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL) as first:
            while not (tmp_path / "output" / "topic.jsonl").exists():
                assert first.poll() is None
            second = crawl(tmp_path, {"seeds": site.url})
            first.wait(timeout=60)
    assert second.status == 2
    assert "'topic'" in second.err
    assert len(second.err.splitlines()) == 1
    assert (tmp_path / "output" / "topic.jsonl").read_bytes().count(b"\n") == 2


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="limits of a running process are Linux's")
def test_a_full_disk_ends_the_crawl_with_a_word(tmp_path: Path) -> None:
    import resource

    links = {f"/{n}": f"page {n}" for n in range(300)}
    routes = {"/": page("蜜蜂跳舞。", links=links)} | {path: page("蜜蜂跳舞。" * 400) for path in links}
    output = tmp_path / "output" / "topic.jsonl"
    with serving(Site(routes)) as site:
        line = command({"seeds": site.url}, OPEN | {"DATABASE_RETRY_SECONDS": "1"})
        with subprocess.Popen(line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as process:
            while not (output.exists() and output.stat().st_size):
                assert process.poll() is None
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (200_000, 200_000))
            _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert str(Path("output", "topic.jsonl")) in said
    assert len(said.splitlines()) < 20
    assert output.read_bytes().endswith(b"}\n")


SLIPS = [
    (["--max_pages=5"], "there is no argument '--max_pages=5'; the nearest is --max-pages"),
    (["max_pages=5"], "'max_pages=5' is not recognized"),
    (["-s", "CONCURRENT_REQUESTS=2.5"], "CONCURRENT_REQUESTS='2.5' is wrong"),
    (["-s", "CONCURRENT_REQUESTS_PER_DOMAIN=0"], "a whole number from 1 to 100,000,000"),
    (["-s", "DOWNLOAD_DELAY=inf"], "DOWNLOAD_DELAY='inf' is wrong"),
    (["-s", "RETRY_HTTP_CODES=abc"], "RETRY_HTTP_CODES='abc' is wrong"),
    (["-a", "allow=a{99999999999}"], "is not a regular expression"),
    (["-a", "topic=!?"], "has no word in it"),
    (["-a", "favour=f1"], "favour='f1' is not known; allowed are balance, precision, recall"),
    (["-a", "favour=recall", "-a", "extractor=slope"], "favour 'recall' is for the method auto alone"),
    (["-a", "favour=recall", "-s", "EXTRACTOR=slope"], "favour 'recall' is for the method auto alone"),
    (["-s", "IGNORED_PARAMETERS=("], "IGNORED_PARAMETERS is wrong"),
    (["-s", "RECRAWL_LEAST=9", "-s", "RECRAWL_MOST=1"], "RECRAWL_LEAST=9.0 and RECRAWL_MOST=1.0 are wrong"),
    (["-s", "STATE_URL=foo://x"], "setting STATE_URL is wrong"),
]


def test_slips_of_the_user_end_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for options, sentence in SLIPS:
        assert sentence in refusal_of_crawl(capsys, {"seeds": "demo"}, {}, *options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("extension", "is_said"), [("scrapy.extensions.memusage.MemoryUsage", True), ("o.E", False)])
def test_a_setting_that_nothing_reads_is_said(extension: str, is_said: bool, tmp_path: Path) -> None:
    (tmp_path / "o.py").write_text("class E: pass")
    settings = OPEN | {"MY_OWN_DELAY": "0", "EXTENSIONS": json.dumps({extension: 500})}
    with serving(Site({"/": page("One.")})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, settings)
    assert ended.status == 0
    assert (" MY_OWN_DELAY" in ended.err) is is_said
