"""Whole crawls of small sites: what is fetched, in which order, and what is kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sites import BY_SHARES, OPEN, Answer, Site, crawl, page, serving, serving_all

# One request at a time, so that the order is the frontier's alone.
ONE_BY_ONE = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"}


def numbered(count: int) -> dict[str, str]:
    links = {f"/{n}": f"page {n}" for n in range(count)}
    text = "This is the page {}, whose text is longer than the name of a list and how many pages are in it."
    return {"/": page("Hello there.", links=links)} | {path: page(text.format(path), links=links) for path in links}


def test_each_page_is_fetched_once_and_makes_one_item(tmp_path: Path) -> None:
    routes = numbered(30)
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url})
    assert ended.status == 0
    assert sorted(site.paths(without="/robots.txt")) == sorted(routes)
    assert sorted(item["url"] for item in ended.items()) == sorted(site.url + path[1:] for path in routes)


@pytest.mark.parametrize("wanted", [1, 7])
def test_max_pages_is_exact(tmp_path: Path, wanted: int) -> None:
    """Neither dead links nor images count, and no page more is asked for."""
    dead = {f"/gone/{n}": f"gone {n}" for n in range(10)}
    routes = numbered(20)
    images = page("With images.", links=dead | {f"/{n}": str(n) for n in range(20)}) + '<img src="/a.png">'
    site = Site(routes | {"/": images, "/a.png": Answer(b"\x89PNG", content_type="image/png")})
    with serving(site):
        ended = crawl(tmp_path, {"seeds": site.url, "max_pages": wanted, "images": "yes"})
    assert len(ended.items()) == wanted
    assert len([path for path in site.paths() if path in routes]) == wanted


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ({"max_depth": 0}, ["/"]),
        ({"max_depth": 1}, ["/", "/de", "/en", "/zh"]),
        ({"allow": "/en,/zh", "deny": "er$,zh"}, ["/", "/en", "/en/deep"]),
        ({"lang": "zh-CN,en"}, ["/", "/en", "/zh", "/en/deep", "/en/deep/er"]),
    ],
)
def test_what_is_kept(tmp_path: Path, arguments: Mapping[str, Any], kept: list[str]) -> None:
    english = "Bees live in colonies of many thousand workers around one queen."
    routes = {
        "/": page(english, links={"/en": "English", "/zh": "中文", "/de": "Deutsch"}),
        "/en": page(english + " Here is more.", links={"/en/deep": "deep"}),
        "/zh": page("蜜蜂是群居的昆虫，一个蜂群里有一只蜂王和几万只工蜂。"),
        "/de": page("Bienen leben in Völkern von vielen tausend Arbeiterinnen um eine einzige Königin."),
        "/en/deep": page(english + " Deeper down.", links={"/en/deep/er": "deeper"}),
        "/en/deep/er": page(english + " At the bottom."),
    }
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url, **arguments})
    assert sorted(item["url"] for item in ended.items()) == sorted(site.url + path[1:] for path in kept)


@pytest.mark.parametrize(("scope", "kept"), [("site", 1), ("any", 2)])
def test_scope(tmp_path: Path, scope: str, kept: int) -> None:
    with serving(Site({"/": page("Over there.")})) as there, serving(Site({})) as here:
        here.routes["/"] = page("Right here.", links={there.url: "over there"})
        ended = crawl(tmp_path, {"seeds": here.url, "scope": scope})
    assert len(ended.items()) == kept
    assert len(there.asked) == (0 if kept == 1 else 2)


def test_promising_pages_come_first(tmp_path: Path) -> None:
    links = {"/trains": "All about trains", "/cars": "All about cars", "/bees": "All about honey bees"}
    routes = {
        "/": page("A home page.", links=links),
        "/trains": page("Trains run on rails.", links={"/trains/2": "next"}),
        "/cars": page("Cars run on roads.", links={"/cars/2": "next"}),
        "/bees": page("Honey bees make honey, and bees make wax.", links={"/bees/2": "next"}),
    }
    with serving(Site(routes)) as site:
        crawl(tmp_path, {"seeds": site.url, "topic": "honey bees"}, ONE_BY_ONE)
    order = site.paths(without="/robots.txt")
    assert order[:3] == ["/", "/bees", "/bees/2"]


def test_without_a_topic_the_seeds_text_is_the_topic(tmp_path: Path) -> None:
    routes = {
        "/": page("Honey bees make honey. Bees make wax.", links={"/cars": "more", "/bees": "more of bees and honey"}),
        "/cars": page("Cars run on roads."),
        "/bees": page("Bees dance for honey."),
    }
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url}, ONE_BY_ONE)
    relevance = {item["url"].removeprefix(site.url): item["relevance"] for item in ended.items()}
    assert site.paths()[-2:] == ["/bees", "/cars"]
    assert relevance[""] > relevance["bees"] > relevance["cars"] >= 0


SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{url}a</loc></url></urlset>'
INDEX = "<sitemapindex><sitemap><loc>{url}map.xml</loc></sitemap></sitemapindex>"
FEED = "<rss><channel><link>{url}</link><item><link>{url}a</link></item></channel></rss>"
LISTS = (SITEMAP, INDEX, FEED)


def test_seeds_may_be_sitemaps_and_feeds(tmp_path: Path) -> None:
    sites = {text: Site({"/a": page("First.", links={"/b": "b"}), "/b": page("Second.")}) for text in LISTS}
    with serving_all(sites.values()):
        for text, site in sites.items():
            site.routes["/seed"] = Answer(text.format(url=site.url), content_type="application/xml")
            site.routes["/map.xml"] = Answer(SITEMAP.format(url=site.url), content_type="text/xml")
        ended = crawl(tmp_path, {"seeds": " ".join(f"{site.url}seed" for site in sites.values())})
    assert ended.status == 0
    depths = {site.url + path: depth for site in sites.values() for path, depth in (("a", 0), ("b", 1))}
    assert {item["url"]: item["depth"] for item in ended.items()} == depths


def test_seeds_may_be_a_file(tmp_path: Path) -> None:
    with serving(Site({"/a": page("First."), "/b": page("Second.")})) as site:
        (tmp_path / "seeds.txt").write_text(f"# seeds\n{site.url}a\n\n{site.url}b\n{site.url}a\n")
        ended = crawl(tmp_path, {"seeds": "seeds.txt"})
    assert sorted(ended.paths_of(site)) == ["/a", "/b"]


def test_links_that_are_only_images_come_last(tmp_path: Path) -> None:
    body = '<a href="/photo"><img src="/x.gif"></a><a href="/text">words</a><p>Hello there.</p>'
    with serving(Site({"/": body, "/photo": page("Look."), "/text": page("Read.")})) as site:
        crawl(tmp_path, {"seeds": site.url}, BY_SHARES | ONE_BY_ONE)
    assert site.paths(without="/robots.txt") == ["/", "/text", "/photo", "/x.gif"]
