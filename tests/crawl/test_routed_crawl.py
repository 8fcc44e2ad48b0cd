"""Crawls of applications whose pages are routes: paths or fragments, with headings that link to themselves."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import browser
import missing
import pytest
from applications import BEES, data, script, shell
from sites import OPEN, Answer, Asked, Crawl, Site, crawl, serving

from crawler.contrib.browser.fallback_pages import MADE_UP
from crawler.demo.article import Article

SETTINGS: Mapping[str, Any] = OPEN | {
    "STATS_DUMP": "True",
    "CONCURRENT_REQUESTS": "32",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "32",
}
ARTICLES = {f"{'guide' if number % 2 else 'manual'}/page-{number}": article for number, article in enumerate(BEES[:6])}
DEAD = ("lost/page-1", "lost/page-2")
"""Links to pages that do not exist; the application shows its frame and a sentence."""
SHARED = ("/", "/robots.txt", "/program.js", "/menu.json")
PROGRAM = """
const before = "%s";
const shown = before === "/" ? location.pathname.slice(1) : location.hash.slice(before.length);
const link = (name, id) => before + name + (id ? "?id=" + id : "");
const load = async (path) => (await fetch(path)).json();
const anchor = (level, text, name, id) => `<h${level} id="${id}"><a href="${link(name, id)}">${text}</a></h${level}>`;
(async () => {
  const name = shown.split("?")[0];
  const menu = await load("/menu.json");
  const items = menu.map(([name, title]) => `<li><a href="${link(name)}">${title}</a></li>`).join("");
  const start = { title: "Start", parts: ["Choose a page of the manual."] };
  const page = name ? await load(`/pages/${name}.json`).catch(() => start) : start;
  const parts = page.parts.map((part, at) => anchor(2, `Part ${at + 1}`, name, `part-${at + 1}`) + `<p>${part}</p>`);
  document.getElementById("app").innerHTML =
    `<aside><h1><a href="${link("")}">Bee manual</a></h1><ul>${items}</ul></aside>` +
    `<main>${anchor(1, page.title, name, "top")}${parts.join("")}</main>`;
})();
"""


def application(before: str) -> Site:
    """A site of routes that begin with this; its data comes slowly, so that many pages arrive meanwhile."""
    frame = shell(body="<div id='app'></div><script src='/program.js'></script>", title="Bee manual")
    menu = [(name, article.title) for name, article in ARTICLES.items()] + [(name, name) for name in DEAD]
    routes: dict[str, Any] = {"/": frame, "/program.js": script(PROGRAM % before), "/menu.json": data(menu)}
    for name, article in ARTICLES.items():
        routes[f"/pages/{name}.json"] = slowly(article)
        if before == "/":
            routes[f"/{name}"] = frame
    if before == "/":
        routes |= {f"/{name}": frame for name in DEAD}
    return Site(routes)


def slowly(article: Article) -> Any:
    body = json.dumps({"title": article.title, "parts": article.paragraphs})

    def answer(asked: Asked) -> Answer:
        time.sleep(0.2)
        return Answer(body, content_type="application/json")

    return answer


@dataclass(frozen=True)
class Routed:
    """A crawl of one application."""

    site: Site
    before: str
    ended: Crawl

    @property
    def items(self) -> list[dict[str, Any]]:
        return [item for item in self.ended.items() if item["url"].startswith(self.site.url)]


@pytest.fixture(scope="module")
def applications(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Routed]:
    """One crawl of an application with paths and one with fragments."""
    missing.skip(browser.missing())
    sites = {before: application(before) for before in ("/", "#/", "#!/")}
    with ExitStack() as served:
        for site in sites.values():
            served.enter_context(serving(site))
        seeds = ",".join(site.url for site in sites.values())
        ended = crawl(tmp_path_factory.mktemp("routed"), {"seeds": seeds, "images": "no"}, SETTINGS, timeout=240)
    assert ended.status == 0, ended.err
    assert "Traceback" not in ended.err
    return {before: Routed(site, before, ended) for before, site in sites.items()}


@pytest.fixture(params=["/", "#/", "#!/"])
def routed(request: pytest.FixtureRequest, applications: Mapping[str, Routed]) -> Routed:
    return applications[request.param]


def test_each_route_is_an_item_with_its_text(routed: Routed) -> None:
    texts = {item["url"].removeprefix(routed.site.url): item["text"] for item in routed.items}
    for name, article in ARTICLES.items():
        text = texts[routed.before.removeprefix("/") + name]
        assert [part for part in article.paragraphs if part not in text] == []


def test_no_item_is_empty_or_there_twice(routed: Routed) -> None:
    texts = Counter(item["text"] for item in routed.items)
    assert "" not in texts
    assert set(texts.values()) == {1}


def test_the_title_is_not_the_name_of_the_site(routed: Routed) -> None:
    titles = Counter(item["title"] for item in routed.items)
    right = [article.title for article in ARTICLES.values() if titles[article.title] == 1]
    assert len(right) >= len(ARTICLES) - 1  # of one page, the main text begins below its heading
    assert titles["Bee manual"] <= 2


def test_a_route_costs_two_requests(routed: Routed) -> None:
    paths = Counter(routed.site.paths())
    assert not any("?id=" in path for path in paths)
    assert [path for path in paths if path.startswith("/pages/") and paths[path] > 1] == []
    # The frame of a fragment is that of the front page.
    frames = sum(count for path, count in paths.items() if path not in SHARED and not path.startswith("/pages/"))
    assert frames + paths["/"] == len(ARTICLES) + len(DEAD) + 1


def test_what_is_shown_for_any_address_is_no_page(routed: Routed) -> None:
    assert [item["url"] for item in routed.items if "lost" in item["url"]] == []
    made_up = [path for path in routed.site.paths() if MADE_UP in path]
    assert made_up == [f"/pages/lost/{MADE_UP}.json"]


def test_dead_links_are_counted(applications: Mapping[str, Routed]) -> None:
    ended = next(iter(applications.values())).ended
    assert f"'skipped/missing': {len(DEAD) * len(applications)}," in ended.err


def test_without_a_browser_the_crawl_says_what_is_missing(tmp_path: Any) -> None:
    links = "".join(f"<a href='#/{name}'>{name}</a>" for name in ARTICLES)
    frame = "<div id='app'></div><script src='/program.js'></script>"
    routes = {
        "/": shell(body=f"<p>{BEES[0].paragraphs[0]}</p>{links}<a href=/empty>x</a>"),
        "/empty": shell(body=frame),
    }
    with serving(Site(routes)) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "images": "no", "render": "never"}, SETTINGS)
    assert [item["url"] for item in ended.items()] == [site.url]
    assert f"'skipped/route': {len(ARTICLES)}," in ended.err
    assert "'skipped/no_text': 1," in ended.err
