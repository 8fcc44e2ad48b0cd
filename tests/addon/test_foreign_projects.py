"""The add-on in projects that `scrapy startproject` makes: items of all kinds, several spiders, images."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fork_server import ROOT
from sites import Answer, Site, page, serving

from crawler.addon.near_duplicates import NearDuplicates
from crawler.outcomes import Code, Outcome

BEE = "Honey bees dance in the dark of the hive to tell the others where the flowers are, and how far away."
WASP = "Paper wasps build their nests of chewed wood, and hang them under the roofs of old barns and sheds."
LONG = " ".join(f"In the hive {n} there live {n * 900} bees, and {n * 3} frames hold honey." for n in range(40))
BANNER = '<a href="http://ads.example/"><img src="/banner/ad.gif" alt="advertisement" width="468" height="60"></a>'
IMAGE = '<img src="/bee.jpg" alt="A bee on a flower" width="640" height="480">'
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{}wasps</loc></url></urlset>'
README = (ROOT / "README.md").read_text(encoding="utf-8")
ADDON = next(line for line in README.splitlines() if line.startswith("ADDONS"))
SETTINGS = f"""
BOT_NAME = "other"
SPIDER_MODULES = ["other.spiders"]
{ADDON}
DOWNLOAD_DELAY = 0
"""
SPIDERS = {
    "dicts": """
import scrapy
class Dicts(scrapy.Spider):
    name = "dicts"
    async def start(self):
        yield scrapy.Request(self.site)
    def parse(self, response):
        yield {"a": 1}
        yield {"clean": "mine"}
        yield response.follow("wasps", self.later)
    async def later(self, response):
        yield {"a": 2}
""",
    "rules": """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
class Rules(CrawlSpider):
    name = "rules"
    rules = [Rule(LinkExtractor(), callback="found")]
    def __init__(self, site, **more):
        super().__init__(**more)
        self.start_urls = [site]
    def found(self, response):
        yield {"a": 3}
""",
    "mapped": """
from scrapy.spiders import SitemapSpider
class Mapped(SitemapSpider):
    name = "mapped"
    def __init__(self, site, **more):
        super().__init__(**more)
        self.sitemap_urls = [site + "sitemap.xml"]
    def parse(self, response):
        yield {"a": 4}
""",
    "classes": """
from dataclasses import dataclass
import attrs
import scrapy
@dataclass
class WithField:
    a: int
    clean: dict | None = None
@attrs.define
class OfAttrs:
    a: int
    clean: object = None
class OfScrapy(scrapy.Item):
    a = scrapy.Field()
    clean = scrapy.Field()
@dataclass
class Without:
    a: int
class Classes(scrapy.Spider):
    name = "classes"
    async def start(self):
        yield scrapy.Request(self.site)
    def parse(self, response):
        yield from (WithField(1), OfAttrs(2), OfScrapy(a=3), Without(4), Without(5))
""",
    "copies": """
import scrapy
class Copies(scrapy.Spider):
    name = "copies"
    custom_settings = {"WINNOW_FIND_NEAR_DUPLICATES": True, "CONCURRENT_REQUESTS": 1}
    async def start(self):
        for path in ("long", "wasps", "copy"):
            yield scrapy.Request(self.site + path)
    def parse(self, response):
        yield {"url": response.url}
""",
    "images": """
import scrapy
class Images(scrapy.Spider):
    name = "images"
    custom_settings = {
        "WINNOW_JUDGE_IMAGES": True,
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": "files",
    }
    async def start(self):
        yield scrapy.Request(self.site)
    def parse(self, response):
        yield {"file_urls": [response.urljoin(one) for one in response.css("img::attr(src)").getall()]}
""",
    "guarded": """
import scrapy
class Guarded(scrapy.Spider):
    name = "guarded"
    custom_settings = {"WINNOW_GUARD_ADDRESSES": True}
    async def start(self):
        yield scrapy.Request(self.site)
    def parse(self, response):
        yield {"a": 5}
""",
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes: dict[str, Any] = {
        "/": page(BEE, IMAGE + BANNER, links={"/wasps": "Wasps"}),
        "/wasps": page(WASP),
        "/long": page(LONG),
        "/copy": page(LONG.replace("hive 7", "hive seven")),
        "/bee.jpg": Answer(b"\xff\xd8\xff image", content_type="image/jpeg"),
        "/banner/ad.gif": Answer(b"GIF89a", content_type="image/gif"),
    }
    with serving(Site(routes)) as served:
        served.routes["/sitemap.xml"] = Answer(SITEMAP.format(served.url), content_type="application/xml")
        yield served


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("foreign")
    subprocess.run([sys.executable, "-m", "scrapy", "startproject", "other", str(place)], check=True, stdout=-3)
    (place / "other" / "settings.py").write_text(SETTINGS)
    for name, source in SPIDERS.items():
        (place / "other" / "spiders" / f"{name}.py").write_text(source)
    return place


def crawl(project: Path, spider: str, site: Site) -> tuple[list[dict[str, Any]], str]:
    line = [sys.executable, "-m", "scrapy", "crawl", spider, "-a", f"site={site.url}", "-O", f"{spider}.jsonl"]
    environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    done = subprocess.run(line, cwd=project, capture_output=True, text=True, env=environment, timeout=60, check=True)
    lines = (project / f"{spider}.jsonl").read_text().splitlines()
    return [json.loads(one) for one in lines], done.stderr


def test_a_plain_spider(project: Path, site: Site) -> None:
    items, log = crawl(project, "dicts", site)
    assert [(item.get("a"), item["clean"] if item["clean"] == "mine" else item["clean"]["text"]) for item in items] == [
        (1, BEE),
        (None, "mine"),
        (2, WASP),
    ]
    fields = "text markdown title author published published_source language".split()
    fields += "content_type page_count page_type comments rights images".split()
    assert list(items[0]["clean"]) == fields
    assert items[0]["clean"]["images"][0].items() >= {"url": f"{site.url}bee.jpg", "alt": "A bee on a flower"}.items()
    assert "ERROR" not in log
    assert "WARNING" not in log


@pytest.mark.long
@pytest.mark.parametrize(("spider", "found"), [("rules", (3, WASP)), ("mapped", (4, WASP))])
def test_spiders_of_scrapy(spider: str, found: tuple[int, str], project: Path, site: Site) -> None:
    items, _ = crawl(project, spider, site)
    assert [(item["a"], item["clean"]["text"]) for item in items] == [found]


@pytest.mark.long
def test_item_classes(project: Path, site: Site) -> None:
    items, log = crawl(project, "classes", site)
    assert [(item["a"], (item.get("clean") or {}).get("text")) for item in items] == [
        (1, BEE),
        (2, BEE),
        (3, BEE),
        (4, None),
        (5, None),
    ]
    assert len(re.findall(r"\bWithout\b.*'clean'", log)) == 1


@pytest.mark.long
def test_near_duplicates_name_the_first_page(project: Path, site: Site) -> None:
    items, log = crawl(project, "copies", site)
    assert [(item["url"], item["clean"]["duplicate_of"]) for item in items] == [
        (f"{site.url}long", None),
        (f"{site.url}wasps", None),
        (f"{site.url}copy", f"{site.url}long"),
    ]
    assert "'winnow/near_duplicates': 1" in log


def test_the_oldest_pages_are_forgotten() -> None:
    near, texts = NearDuplicates(max_pages=2), [LONG.replace(" ", f" {end}") for end in ("a", "b", "c")]
    assert [near.original_of(str(at), text) for at, text in enumerate(texts)] == [None] * 3
    assert [near.original_of("again", texts[at]) for at in (2, 1, 0)] == ["2", "1", None]


def test_images_are_judged_before_the_download(project: Path, site: Site) -> None:
    items, log = crawl(project, "images", site)
    assert [one["url"] for one in items[0]["files"]] == [f"{site.url}bee.jpg"]
    assert "/banner/ad.gif" not in site.paths()
    assert "'winnow/images_refused': 1" in log


@pytest.mark.long
def test_addresses_are_guarded(project: Path, site: Site) -> None:
    before = site.paths()
    items, log = crawl(project, "guarded", site)
    assert (items, site.paths()) == ([], before)
    assert f"{site.url} ({Outcome(Code.NOT_PUBLIC).message})" in log
