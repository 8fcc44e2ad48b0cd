"""The focus in a crawl: what is thought of links, where pages come from, and what is kept of what was learned."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fault_injection import Running
from sites import BY_SHARES, OPEN, Answer, Crawl, Site, crawl, page, serving

ONE_BY_ONE = OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1", "FOCUS_EXPLORATION": "0"}
BEES = "Honey bees make honey, and bees make wax."
SITEMAP = "<urlset><url><loc>{url}listed</loc></url></urlset>"
FEED = "<rss><channel><item><link>{url}news</link></item></channel></rss>"


def learned(folder: Path) -> list[tuple[int, dict[str, Any], str]]:
    """What is kept of what workers learned: their number, for people, and for others."""
    with closing(sqlite3.connect(folder / "output" / "crawl.db")) as database:
        rows = database.execute("SELECT number, summary, learned FROM focus ORDER BY number").fetchall()
    return [(number, json.loads(summary), text) for number, summary, text in rows]


def by_path(ended: Crawl, site: Site) -> dict[str, dict[str, Any]]:
    return {"/" + item["url"].removeprefix(site.url): item for item in ended.items()}


def test_an_item_says_how_it_was_found_and_what_was_thought_of_the_link(tmp_path: Path) -> None:
    body = page(BEES, links={"/bees": "honey bees", "/cars": "cars", "/on": "on", "/moved": "moved"})
    imaged = '<a href="/behind"><img src="/x.gif"></a>'
    routes = {
        "/": body.replace("</body>", f"{imaged}</body>"),
        "/bees": page(BEES),
        "/cars": page("Cars run on roads.", head='<meta name="robots" content="nofollow">'),
        "/on": page("Wait.", head='<meta http-equiv="refresh" content="0; url=/there">'),
        "/there": page("There."),
        "/moved": Answer("", 302, headers={"Location": "/new"}),
        "/new": page("New."),
        "/behind": page("Behind."),
        "/listed": page("Listed."),
        "/news": page("News."),
    }
    with serving(Site(dict(routes))) as site:
        site.routes["/map"] = Answer(SITEMAP.format(url=site.url), content_type="text/xml")
        site.routes["/feed"] = Answer(FEED.format(url=site.url), content_type="text/xml")
        seeds = f"{site.url},{site.url}map,{site.url}feed"
        ended = crawl(tmp_path, {"seeds": seeds, "topic": "honey bees"}, BY_SHARES | ONE_BY_ONE)
    items = by_path(ended, site)
    assert {path: item["via"] for path, item in items.items()} == {
        "/": "seed",
        "/bees": "link",
        "/cars": "link",
        "/there": "link",
        "/new": "link",
        "/behind": "image",
        "/listed": "sitemap",
        "/news": "feed",
    }
    scored = {path for path, item in items.items() if item["link_score"] is not None}
    assert scored == {"/bees", "/cars", "/new", "/there"}
    assert 1 >= items["/bees"]["link_score"] > items["/cars"]["link_score"] >= 0
    assert items["/bees"]["relevance"] > items["/cars"]["relevance"]
    with closing(sqlite3.connect(tmp_path / "output" / "crawl.db")) as database:
        rows = database.execute("SELECT url, relevance, link_score, via FROM page").fetchall()
    names = ("url", "relevance", "link_score", "via")
    assert sorted(rows) == sorted(tuple(item[name] for name in names) for item in ended.items())


def test_what_was_learned_is_kept_at_the_end(tmp_path: Path) -> None:
    links = {f"/{n}": f"page {n}" for n in range(5)}
    with serving(Site({"/": page(BEES, links=links)} | {path: page(BEES) for path in links})) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "topic": "honey bees"})
    ((number, summary, text),) = learned(tmp_path)
    assert (number, summary["pages"]) == (1, 6)
    assert json.loads(text)
    assert "On topic: 6 of 6 pages" in ended.closing()


@pytest.mark.parametrize("arguments", [{"max_depth": "0"}, {}])
def test_a_page_whose_links_are_not_followed_teaches_all_the_same(tmp_path: Path, arguments: dict[str, str]) -> None:
    head = "" if arguments else '<meta name="robots" content="nofollow">'
    with serving(Site({"/": page(BEES, links={"/a": "a"}, head=head)})) as site:
        crawl(tmp_path, {"seeds": site.url, "topic": "honey bees", **arguments})
    assert learned(tmp_path)[0][1]["pages"] == 1
    assert "/a" not in site.paths()


def test_what_was_learned_is_kept_now_and_then_and_a_killed_crawl_goes_on_with_it(tmp_path: Path) -> None:
    links = {f"/{n}": f"page {n}" for n in range(30)}
    routes = {"/": page(BEES, links=links)} | {path: page(f"{BEES} This is {path}.") for path in links}
    arguments = {"seeds": "", "topic": "honey bees"}
    hasty = OPEN | {
        "SCHEDULER": "eager_scheduler.HastyScheduler",
        "DOWNLOAD_DELAY": "0.05",
        "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
    }
    with serving(Site(dict(routes))) as site:
        arguments["seeds"] = site.url
        with Running(tmp_path, arguments, hasty) as running:
            assert running.until(lambda: kept(tmp_path) >= 5)
        before = kept(tmp_path)
        ended = crawl(tmp_path, arguments)
    assert ended.status == 0
    assert 5 <= before < 31
    assert len(ended.items()) == 31
    ((_, summary, text),) = learned(tmp_path)
    assert json.loads(text)["pages"] == summary["pages"] >= 31


def kept(folder: Path) -> int:
    """How many pages what is kept was learned from."""
    try:
        rows = learned(folder)
    except sqlite3.OperationalError:  # there is no database yet
        return 0
    return max((summary["pages"] for _, summary, _ in rows), default=0)
