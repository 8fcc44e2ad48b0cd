"""Sitemaps, feeds and archives of a blog lead to its posts, and are no items."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sites import COUNTED, Answer, Route, Site, crawl, page, serving, serving_all

from crawler.page.sitemaps import MAX_TAGS

XML = "application/xml"
ARGUMENTS = {"topic": "bees", "images": "no"}
WORDS = {"wasps": "Wasps build nests of paper.", "bees": "Bees dance in the hive.", "ants": "Ants walk in a row."}
POST = "{} It was seen in the garden of {} on a warm day in May, and written down by the one who saw it."


def urlset(*paths: str) -> str:
    entries = "".join(f"<url><loc>BASE{path}</loc></url>" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def feed(*paths: str) -> str:
    return f"<rss><channel>{''.join(f'<item><link>BASE{path}</link></item>' for path in paths)}</channel></rss>"


def blog(robots: str = "", head: str = "", links: Mapping[str, str] | None = None, **lists: str) -> Site:
    posts: dict[str, Route] = {f"/post/{name}": page(POST.format(text, name)) for name, text in WORDS.items()}
    archive = page("All posts.", links={f"/post/{name}": name for name in WORDS}).replace(
        "<body>", '<body class="archive date">'
    )
    site = Site({"/": page("The front page of a blog.", links=links, head=head), "/archive": archive} | posts)

    def filled(text: str, kind: str) -> Route:
        return lambda asked: Answer(text.replace("BASE/", site.url), content_type=kind)

    site.routes |= {"/robots.txt": filled(robots, "text/plain")}
    site.routes |= {f"/{name}.xml": filled(text, XML) for name, text in lists.items()}
    return site


INDEX = "<sitemapindex><sitemap><loc>BASE/a.xml</loc></sitemap><sitemap><loc>BASE/b.xml</loc></sitemap></sitemapindex>"
ROBOTS, FEED = (
    "User-agent: *\nDisallow: /x\nSitemap: BASE/map.xml",
    "<link rel=alternate type=application/rss+xml href=/map.xml>",
)
ALL = {f"/post/{name}" for name in WORDS}
JSON = '{"version": "https://jsonfeed.org/version/1.1", "items": [{"url": "BASE/post/bees"}]}'
IN_JSON = "<link rel=alternate type=application/feed+json href=/map.xml>"


def alternate(language: str) -> Site:
    return blog(head=f"<link rel=alternate hreflang={language} href=/post/ants>")


def test_lists_that_a_site_names_lead_to_its_pages(tmp_path: Path) -> None:
    two_maps = blog(ROBOTS, map=INDEX, a=urlset("/post/ants"), b=urlset("/post/bees"))
    rows: list[tuple[Site, set[str], str]] = [
        (blog(ROBOTS, map=urlset(*sorted(ALL))), ALL, "sitemap"),
        (blog("Sitemap: /map.xml", map=urlset(*sorted(ALL))), ALL, "sitemap"),
        (two_maps, {"/post/ants", "/post/bees"}, "sitemap"),
        (blog(ROBOTS, map=urlset("/post/bees", "/x/y", "/denied/")), {"/post/bees"}, "sitemap"),
        (blog("Sitemap: http://b.example/map.xml", map=urlset("/post/bees")), set(), ""),
        (blog(head=FEED, map=feed(*sorted(ALL))), ALL, "feed"),
        (blog(head=IN_JSON, map=JSON), {"/post/bees"}, "feed"),
        (blog(head="<link rel=next href=/post/ants>"), {"/post/ants"}, "link"),
        (alternate("de"), set(), ""),
        (alternate("zh"), {"/post/ants"}, "link"),
    ]
    with serving_all(site for site, _, _ in rows) as seeds:
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": seeds, "deny": "denied"}, COUNTED)
    for site, paths, via in rows:
        items = {item["url"]: item["via"] for item in ended.items() if item["url"].startswith(site.url)}
        assert items == {site.url: "seed"} | {site.url + path[1:]: via for path in paths}, site.routes["/"]
        assert "/denied/" not in site.paths()


@pytest.mark.parametrize(
    ("site", "more", "paths"),
    [
        (blog(ROBOTS, map=urlset("/post/bees")), {"max_depth": 1}, ["/"]),
        (alternate("zh"), {"lang": "en"}, ["/"]),
        (alternate("zh"), {"topic": "蜜蜂"}, ["/", "/post/ants"]),
    ],
)
def test_other_arguments_decide_which_are_read(
    tmp_path: Path, site: Site, more: Mapping[str, Any], paths: list[str]
) -> None:
    with serving(site):
        ended = crawl(tmp_path, ARGUMENTS | more | {"seeds": site.url}, COUNTED)
    assert ended.paths_of(site) == paths


def test_the_pages_of_a_sitemap_come_by_the_topic(tmp_path: Path) -> None:
    with serving(blog(ROBOTS, map=urlset("/post/wasps", "/post/bees", "/post/ants"))) as site:
        crawl(tmp_path, ARGUMENTS | {"seeds": site.url}, COUNTED | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"})
        assert site.paths()[:4] == ["/robots.txt", "/", "/map.xml", "/post/bees"]


LISTS = {
    "/archive": "listing",
    "/galleries": "no_text",
    "/detail?media=hive.jpg": "photo_page",
}
"""Pages that lead to others and have next to no text of their own, each with why it is no item."""


def listing_site() -> Site:
    site = blog(links=dict.fromkeys(LISTS, "on"))
    photo = page("The hive of May.", links={"/post/bees": "bees"})
    site.routes["/detail?media=hive.jpg"] = photo.replace("</body>", "<img src=/files/hive-300x200.jpg></body>")
    site.routes["/galleries"] = page(links={"/": "Home"}).replace("<body>", "<body><h1>Galleries</h1>")
    return site


@pytest.mark.parametrize("listings", ["no", "yes"])
def test_lists_and_pages_of_images_are_items_on_request(tmp_path: Path, listings: str) -> None:
    with serving(listing_site()) as site:
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": site.url, "listings": listings}, COUNTED)
    pages = {"/", *ALL} if listings == "no" else {"/", *ALL, *LISTS}
    assert set(ended.paths_of(site)) == pages
    assert ended.outcomes() == (dict.fromkeys(LISTS.values(), 1) if listings == "no" else {})
    assert f" of {len(pages)} pages read (" in ended.closing()


def test_lists_that_are_seeds_are_items(tmp_path: Path) -> None:
    with serving(listing_site()) as site:
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": " ".join(site.url + path[1:] for path in LISTS)}, COUNTED)
    assert {*LISTS, *ALL} <= set(ended.paths_of(site))
    assert ended.outcomes() == {}


def test_sitemaps_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    sites = {}
    for count in (20, 22):
        paths = [f"/{number}.map" for number in range(count)]
        lines = "".join(f"Sitemap: {path}\n" for path in paths)
        sites[count] = blog(f"{lines}Sitemap: http://b.example/\n")
        sites[count].routes |= dict.fromkeys(paths, Answer(urlset(), content_type=XML))
    with serving_all(sites.values()) as seeds:
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": seeds}, COUNTED)
    for site in sites.values():
        assert sum(path.endswith(".map") for path in site.paths()) == 20
    assert ended.outcomes()["lists_cut"] == 2


def test_a_sitemap_is_read_before_the_feeds_that_are_named_with_it(tmp_path: Path) -> None:
    feeds = [f"tags/{number}.xml" for number in range(25)]
    names = [*feeds, "sitemap.xml"]
    index = "".join(f"<sitemap><loc>BASE/{path}</loc></sitemap>" for path in names)
    robots = "".join(f"Sitemap: BASE/{path}\n" for path in names)
    sitemap = urlset(*sorted(ALL))
    sites = [blog(ROBOTS, map=f"<sitemapindex>{index}</sitemapindex>", sitemap=sitemap), blog(robots, sitemap=sitemap)]
    for site in sites:
        tag = Answer(feed("/post/ants").replace("BASE", ""), content_type=XML)
        site.routes |= {f"/{path}": tag for path in feeds}
    with serving_all(sites) as seeds:
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": seeds}, COUNTED)
    for site in sites:
        assert set(ended.paths_of(site)) == {"/"} | ALL
        assert sum(path.startswith("/tags/") for path in site.paths()) == 19
    assert ended.outcomes()["lists_cut"] == 2 * 6


def test_a_list_that_is_cut_before_its_first_address_is_counted(tmp_path: Path) -> None:
    with serving(Site({"/map.xml": Answer("<urlset>" + "<a/>" * MAX_TAGS, content_type=XML)})) as site:
        ended = crawl(tmp_path, {"seeds": f"{site.url}map.xml"}, COUNTED)
    assert ended.outcomes() == {"empty_list": 1, "list_cut": 1}
