"""Sitemaps, feeds and archives of a blog lead to its posts, and are no items."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from sites import OPEN, Answer, Route, Site, crawl, page, serving

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


@pytest.mark.parametrize(
    ("site", "more", "found", "via"),
    [
        (blog(ROBOTS, map=urlset(*sorted(ALL))), {}, ALL, "sitemap"),
        (blog("Sitemap: /map.xml", map=urlset(*sorted(ALL))), {}, ALL, "sitemap"),
        (
            blog(ROBOTS, map=INDEX, a=urlset("/post/ants"), b=urlset("/post/bees")),
            {},
            {"/post/ants", "/post/bees"},
            "sitemap",
        ),
        (blog(ROBOTS, map=urlset("/post/bees", "/x/y")), {}, {"/post/bees"}, "sitemap"),
        (blog(ROBOTS, map=urlset("/post/bees", "/post/ants")), {"deny": "ants"}, {"/post/bees"}, "sitemap"),
        (blog(ROBOTS, map=urlset("/post/bees")), {"max_depth": 1}, set(), ""),
        (blog("Sitemap: http://b.example/map.xml", map=urlset("/post/bees")), {}, set(), ""),
        (blog(head=FEED, map=feed(*sorted(ALL))), {}, ALL, "feed"),
        (blog(head=IN_JSON, map=JSON), {}, {"/post/bees"}, "feed"),
        (blog(head="<link rel=next href=/post/ants>"), {}, {"/post/ants"}, "link"),
        (blog(head="<link rel=alternate hreflang=de href=/post/ants>"), {}, set(), ""),
        (blog(head="<link rel=alternate hreflang=zh href=/post/ants>"), {"lang": "en"}, set(), ""),
        (blog(head="<link rel=alternate hreflang=zh href=/post/ants>"), {}, {"/post/ants"}, "link"),
        (blog(head="<link rel=alternate hreflang=zh href=/post/ants>"), {"topic": "蜜蜂"}, {"/post/ants"}, "link"),
    ],
)
def test_lists_that_a_site_names_lead_to_its_pages(
    tmp_path: Path, site: Site, more: Mapping[str, str], found: set[str], via: str
) -> None:
    with serving(site):
        ended = crawl(tmp_path, ARGUMENTS | more | {"seeds": site.url}, OPEN)
    items = {item["url"].replace(site.url, "/"): item["via"] for item in ended.items()}
    assert items == {"/": "seed"} | dict.fromkeys(found, via)


def test_the_pages_of_a_sitemap_come_by_the_topic(tmp_path: Path) -> None:
    with serving(blog(ROBOTS, map=urlset("/post/wasps", "/post/bees", "/post/ants"))) as site:
        crawl(tmp_path, ARGUMENTS | {"seeds": site.url}, OPEN | {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"})
        assert site.paths()[:4] == ["/robots.txt", "/", "/map.xml", "/post/bees"]


@pytest.mark.parametrize(
    ("seed", "listings", "is_item"), [("", "no", False), ("", "yes", True), ("archive", "no", True)]
)
def test_archives_are_items_on_request(tmp_path: Path, seed: str, listings: str, is_item: bool) -> None:
    with serving(blog(links={"/archive": "Archive"})) as site:
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": site.url + seed, "listings": listings})
    found = {item["url"].replace(site.url, "/") for item in ended.items()}
    assert found - {"/"} == ALL | ({"/archive"} if is_item else set())
    assert ended.counts().get("list of other pages", 0) == (not is_item)
    assert f" of {len(found)} pages read (" in ended.closing()


@pytest.mark.parametrize(
    ("seed", "listings", "is_item"), [("", "no", False), ("", "yes", True), ("galleries", "no", True)]
)
def test_a_page_of_names_only_is_an_item_on_request(tmp_path: Path, seed: str, listings: str, is_item: bool) -> None:
    site = blog(links={"/galleries": "Galleries"})
    site.routes["/galleries"] = page(links={"/": "Home"}).replace("<body>", "<body><h1>Galleries</h1>")
    with serving(site):
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": site.url + seed, "listings": listings})
    assert ("/galleries" in {item["url"].replace(site.url, "/") for item in ended.items()}) == is_item
    assert ended.counts().get("page without text", 0) == (not is_item)


@pytest.mark.parametrize(
    ("seed", "listings", "is_item"), [("", "no", False), ("", "yes", True), ("detail?media=hive.jpg", "no", True)]
)
def test_the_page_of_an_image_is_an_item_on_request(tmp_path: Path, seed: str, listings: str, is_item: bool) -> None:
    site = blog(links={"/detail?media=hive.jpg": "A hive"})
    photo = page("The hive of May.", links={"/post/bees": "bees"})
    site.routes["/detail?media=hive.jpg"] = photo.replace("</body>", "<img src=/files/hive-300x200.jpg></body>")
    with serving(site):
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": site.url + seed, "listings": listings})
    found = {item["url"].replace(site.url, "/") for item in ended.items()}
    assert found - {"/"} == {"/post/bees"} | ({"/detail?media=hive.jpg"} if is_item else set())
    assert ended.counts().get("page of an image or a gallery, with next to no text", 0) == (not is_item)


@pytest.mark.parametrize(("named", "asked"), [(20, 20), (22, 20)])
def test_sitemaps_beyond_the_limit_are_counted(tmp_path: Path, named: int, asked: int) -> None:
    lines = "".join(f"Sitemap: /{number}.map\n" for number in range(named)) + "Sitemap: http://b.example/\n"
    site = blog(lines)
    site.routes |= {f"/{number}.map": Answer(urlset(), content_type=XML) for number in range(named)}
    with serving(site):
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": site.url}, OPEN)
    assert sum(path.endswith(".map") for path in site.paths()) == asked
    assert ended.counts().get("sitemaps and feeds beyond the limit of a site or of levels", 0) == named - asked


FEEDS = tuple(f"tags/{number}.xml" for number in range(25))


@pytest.mark.parametrize("named_by", ["index", "robots"])
def test_a_sitemap_is_read_before_the_feeds_that_are_named_with_it(tmp_path: Path, named_by: str) -> None:
    named = (*FEEDS, "sitemap.xml")
    index = "".join(f"<sitemap><loc>BASE/{path}</loc></sitemap>" for path in named)
    robots = "".join(f"Sitemap: BASE/{path}\n" for path in named)
    lists = {"map": f"<sitemapindex>{index}</sitemapindex>", "sitemap": urlset(*sorted(ALL))}
    site = blog(ROBOTS if named_by == "index" else robots, **lists)
    site.routes |= {f"/{path}": Answer(feed("/post/ants").replace("BASE", ""), content_type=XML) for path in FEEDS}
    with serving(site):
        ended = crawl(tmp_path, ARGUMENTS | {"seeds": site.url}, OPEN)
    assert {item["url"].replace(site.url, "/") for item in ended.items()} == {"/"} | ALL
    assert sum(path.startswith("/tags/") for path in site.paths()) == 19
    assert ended.counts()["sitemaps and feeds beyond the limit of a site or of levels"] == 6


def test_a_list_that_is_cut_before_its_first_address_is_counted(tmp_path: Path) -> None:
    with serving(Site({"/map.xml": Answer("<urlset>" + "<a/>" * MAX_TAGS, content_type=XML)})) as site:
        ended = crawl(tmp_path, {"seeds": f"{site.url}map.xml"}, OPEN)
    assert ended.counts() == {"no address in it": 1, "rest of a sitemap larger than the limit": 1}
