"""What goes wrong between pages, servers and users, each as it was met once."""

import json
import subprocess
import sys
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from sites import BY_SHARES, OPEN, Answer, Route, Site, command, crawl, environment, page, serving

from crawler.spiders.topic import MAX_LISTS

PNG = Answer(b"\x89PNG", content_type="image/png")
LIST = "<urlset><url><loc>{url}news/a</loc></url><url><loc>{url}b</loc></url></urlset>"


def kept(tmp_path: Path, routes: Mapping[str, Route], **arguments: Any) -> tuple[list[str], dict[str, int], Site]:
    """The paths of the items of a crawl from /, what its closing lines counted, and the site."""
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url, **arguments}, BY_SHARES)
    return sorted("/" + item["url"].removeprefix(site.url) for item in ended.items()), ended.counts(), site


def test_images_are_downloaded_when_max_pages_is_reached(tmp_path: Path) -> None:
    routes = {"/": page("One.", links={"/b": "b", "/c": "c"}) + '<img src="/1.png">', "/b": page("Two."), "/1.png": PNG}
    paths, _, site = kept(tmp_path, routes, max_pages=2, images="yes")
    assert len(paths) == 2
    assert "/1.png" in site.paths()


def test_an_address_may_be_an_image_here_and_a_page_there(tmp_path: Path) -> None:
    routes = {"/": page("One.", links={"/b": "b"}) + '<img src="/b">', "/b": page("Two.")}
    assert kept(tmp_path, routes, images="yes")[0] == ["/", "/b"]


def test_spellings_of_one_address_are_one_page(tmp_path: Path) -> None:
    links = {"/d?": "a", "/d": "b", "/q?a='b'": "c", "q?a='b'": "d", "/q?a=%27b%27": "e"}
    routes = {"/": page("One.", links=links), "/d": page("Two."), "/q?a=%27b%27": page("Three.")}
    assert kept(tmp_path, routes)[0] == ["/", "/d", "/q?a=%27b%27"]


@pytest.mark.parametrize(
    "content_type", ["text/html, text/html", "text/html charset=utf-8", '"text/html"', "*/*", "TEXT/HTML;x", ""]
)
def test_odd_content_types_are_web_pages(tmp_path: Path, content_type: str) -> None:
    assert kept(tmp_path, {"/": Answer(page("One."), content_type=content_type)})[0] == ["/"]


@pytest.mark.parametrize("status", [204, 205, 206])
def test_a_part_of_a_page_is_no_page(tmp_path: Path, status: int) -> None:
    routes = {"/": page("One.", links={"/b": "b"}), "/b": Answer("" if status < 206 else page("Two."), status)}
    paths, counts, _ = kept(tmp_path, routes)
    assert paths == ["/"]
    assert counts == {f"not a whole page: {status} {HTTPStatus(status).phrase}": 1}


def test_a_slideshow_is_no_redirect(tmp_path: Path) -> None:
    slides = {
        f"/{n}": page(f"Slide {n}.", head=f'<meta http-equiv=refresh content="5; url=/{(n + 1) % 3}">')
        for n in range(3)
    }
    routes = slides | {"/": page("All slides.", links={"/0": "first", "/1": "second", "/2": "third"})}
    assert kept(tmp_path, routes)[0] == ["/", "/0", "/1", "/2"]


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
        ended = crawl(tmp_path, {"seeds": f"{site.url}0"})
    assert sorted(site.paths("/robots.txt")) == ["/0", "/1", "/2", "/page"]
    assert ended.counts() == {"sitemaps and feeds beyond the limit of a site or of levels": 1}


@pytest.mark.long
def test_a_site_has_so_many_lists(tmp_path: Path) -> None:
    with serving(Site({"/page": page("One.")})) as site:
        names = [f"list{number}" for number in range(MAX_LISTS + 2)]
        site.routes |= {f"/{name}": index_of(site) for name in names} | {"/": index_of(site, *names)}
        ended = crawl(tmp_path, {"seeds": site.url})
    assert len([path for path in site.paths() if path.startswith("/list")]) == MAX_LISTS
    assert ended.counts() == {"sitemaps and feeds beyond the limit of a site or of levels": 2}


def test_a_sitemap_of_another_host_does_not_widen_the_scope(tmp_path: Path) -> None:
    with serving(Site({"/b": page("Other.")}), "127.0.0.2") as other, serving(Site({})) as site:
        other.routes["/map.xml"] = Answer(LIST.format(url=other.url), content_type="text/xml")
        site.routes["/"] = Answer(f"<sitemapindex><sitemap><loc>{site.url}map.xml</loc></sitemap></sitemapindex>")
        site.routes["/map.xml"] = Answer("", 302, headers={"Location": f"{other.url}map.xml"})
        ended = crawl(tmp_path, {"seeds": site.url}, OPEN | {"ALLOWED_PRIVATE_HOSTS": "127.0.0.0/8"})
    assert other.asked == []
    assert ended.counts() == {"redirected: outside the scope": 1}


def test_a_site_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    routes = {
        "/": Answer(page("One."), content_type="\x1b]0;gone\x07/x"),
        "/b": Answer("", headers={"Content-Encoding": "\x1b[31m"}),
    }
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": f"{site.url},{site.url}b"})
    assert not any(character < " " and character != "\n" for character in ended.err)


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
    assert "a crawl named 'topic' is running here" in second.err
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
    assert "cannot be written to: " in said
    assert len(said.splitlines()) < 20
    assert output.read_bytes().endswith(b"}\n")


@pytest.mark.parametrize(
    ("more", "said"),
    [
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
    ],
)
def test_slips_of_the_user_end_with_one_line(tmp_path: Path, more: list[str], said: str) -> None:
    ended = crawl(tmp_path, {"seeds": "demo"}, {}, *more)
    assert (ended.status, len(ended.err.splitlines())) == (2, 1)
    assert said in ended.err
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(("extension", "is_said"), [("scrapy.extensions.memusage.MemoryUsage", True), ("o.E", False)])
def test_a_setting_that_nothing_reads_is_said(extension: str, is_said: bool, tmp_path: Path) -> None:
    (tmp_path / "o.py").write_text("class E: pass")
    settings = OPEN | {"MY_OWN_DELAY": "0", "EXTENSIONS": json.dumps({extension: 500})}
    with serving(Site({"/": page("One.")})) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, settings)
    assert ended.status == 0
    assert ("Nothing here reads the setting MY_OWN_DELAY" in ended.err) is is_said
