"""What a crawl leaves: items of the promised shape, where it was told to."""

import csv
import json
import re
from dataclasses import fields
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sites import BY_SHARES, Answer, Crawl, Site, crawl, page, serving

from crawler import clean
from crawler.extraction import extract, version
from crawler.extraction.auto.model import PAGE_TYPES
from crawler.frontier.page_result import raw_digest
from crawler.items import PageItem
from crawler.outcomes import Code, Outcome
from crawler.page.image_file import NonImage
from crawler.store.output_files import FileOffset, JsonLines

PNG = Answer(b"\x89PNG\r\n\x1a\n" + bytes(40), content_type="image/png")
HEAD = (
    '<meta property="article:published_time" content="2024-05-06"><meta name="author" content="Ann Lee">'
    '<meta property="article:author" content="Ann Lee">'
)
IMAGES = '<img src="a.png" alt="a bee"><img data-src="/b.jpg" src="data:image/gif;base64,AA=="><img src="a.png">'
LINKS = {"/twin": "the same text", "/moved": "moved"}
ROUTES = {
    "/": page("Bees dance.", links=LINKS, head=HEAD) + IMAGES,
    "/twin": page("Bees dance."),
    "/moved": Answer(status=302, headers={"Location": "/arrived?a=1#top"}),
    "/arrived?a=1": page("Here we are."),
    "/a.png": PNG,
    "/b.jpg": Answer("<p>This is no image.</p>"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, Crawl]:
    folder = tmp_path_factory.mktemp("crawl")
    arguments = {"topic": "bees", "name": "蜜蜂", "markdown": "links"}
    with serving(Site(ROUTES)) as site:
        ended = crawl(folder, {"seeds": site.url, **arguments}, BY_SHARES, "-O", "all.json", "-O", "all.csv")
    assert ended.status == 0
    return site, ended


def test_an_item_has_every_field_filled(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    item = next(item for item in ended.items("蜜蜂") if item["url"] == site.url)
    assert list(item) == [field.name for field in fields(PageItem)]
    assert datetime.fromisoformat(item["fetched_at"]).utcoffset() == timedelta(0)
    assert item["first_seen"] == item["fetched_at"]
    assert 0 < item["relevance"] <= 1
    assert int(item["text_fingerprint"], 16)
    assert item["page_type"] in (*PAGE_TYPES, "")
    assert all(0 <= image.pop("noise") < 1 for image in item["images"])
    quality = clean(str(ROUTES["/"]), site.url).quality
    assert item["quality"] == {name: quality[name] for name in ("certainty", "kept_frac")}
    del item["fetched_at"], item["first_seen"], item["relevance"], item["text_fingerprint"], item["page_type"]
    assert re.fullmatch("<urn:uuid:[0-9a-f-]{36}>", item["warc_record_id"])
    del item["quality"], item["warc_record_id"]
    assert item == {
        "url": site.url,
        "requested_url": site.url,
        "status": 200,
        "depth": 0,
        "parent": None,
        "language": "en",
        "title": "A page",
        "text": "Bees dance.",
        "markdown": "# A page\n\nBees dance.",
        "comments": "",
        "author": "Ann Lee",
        "published": "2024-05-06",
        "published_source": "meta",
        "content_type": "text/html",
        "page_count": None,
        "link_score": None,
        "via": "seed",
        "extractor": "auto",
        "extractor_version": version("auto"),
        "raw_digest": raw_digest(str(ROUTES["/"]).encode()),
        "crawl": "蜜蜂",
        "duplicate_of": None,
        "change": "new",
        "round": 1,
        "rights": {
            "licence": None,
            "uses": {"search": "unknown", "ai-input": "unknown", "ai-train": "unknown"},
            "evidence": [],
        },
        "made_from": "html",
        "images": [{"url": f"{site.url}a.png", "alt": "a bee"}, {"url": f"{site.url}b.jpg", "alt": ""}],
        "own_fields": None,
    }


def test_an_item_has_what_clean_returns(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    item = next(item for item in ended.items("蜜蜂") if item["url"] == site.url)
    told = clean(str(ROUTES["/"]), site.url, link_addresses=True).fields()
    del told["images"]  # this crawl has other models of images
    assert {name: item[name] for name in told} == told


def test_what_is_favoured_decides_the_text(tmp_path: Path) -> None:
    html = (Path(__file__).parent.parent / "gold" / "product" / "page.html").read_text(encoding="utf-8")
    with serving(Site({"/": html})) as site:
        ended = crawl(tmp_path, {"seeds": site.url, "max_depth": "0", "favour": "recall"})
        url = site.url
    (item,) = ended.items()
    assert item["text"] == extract(html, url, favour="recall").text
    assert item["text"] not in {extract(html, url).text, extract(html, url, favour="precision").text}


def test_duplicate_texts_are_items_that_name_the_first(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    copies = {item["url"].removeprefix(site.url): item["duplicate_of"] for item in ended.items("蜜蜂")}
    assert copies == {"": None, "twin": site.url, "arrived?a=1": None}


def test_duplicate_texts_are_items_with_one_fingerprint(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    prints = {item["url"].removeprefix(site.url): item["text_fingerprint"] for item in ended.items("蜜蜂")}
    assert prints[""] == prints["twin"] != prints["arrived?a=1"]


def test_a_redirected_item_names_both_addresses(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    (item,) = [item for item in ended.items("蜜蜂") if item["url"] != item["requested_url"]]
    assert item["requested_url"] == f"{site.url}moved"
    assert item["url"] == f"{site.url}arrived?a=1"
    assert (item["parent"], item["depth"]) == (site.url, 1)


def test_scrapys_own_feeds_hold_the_same_pages(crawled: tuple[Site, Crawl]) -> None:
    _, ended = crawled
    ours = sorted(ended.items("蜜蜂"), key=lambda item: item["url"])
    feed = json.loads((ended.folder / "all.json").read_text(encoding="utf-8"))
    with (ended.folder / "all.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    # Which pages are copies, and which responses are kept, the database knows when the feed has the pages already.
    unknown = {"duplicate_of": None, "warc_record_id": None}
    assert sorted(feed, key=lambda item: item["url"]) == [item | unknown for item in ours]
    assert sorted(row["url"] for row in rows) == [item["url"] for item in ours]


def test_images_are_files_listed_beside_the_pages(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    (image,) = ended.items("蜜蜂.images")
    assert (image["url"], image["page"]) == (f"{site.url}a.png", site.url)
    assert (ended.folder / image["path"]).read_bytes() == PNG.body
    assert image["size"] == len(PNG.body)
    assert image["content_type"] == "image/png"
    assert f"{Outcome(Code.NOT_AN_IMAGE, NonImage.UNKNOWN).message} (1)" in ended.closing()


def test_a_fresh_crawl_keeps_the_items_of_the_one_before_aside(tmp_path: Path) -> None:
    with serving(Site({"/": page("One.", links={"/b": "b"}), "/b": page("Two.")})) as site:
        for arguments in ({}, {"fresh": "yes"}):
            assert crawl(tmp_path, {"seeds": site.url} | arguments).status == 0
            site.routes["/b"] = page("Three.")
    old, new = (sorted((tmp_path / "output").glob(f"topic{ending}")) for ending in (".previous.jsonl", ".jsonl"))
    assert "Two." in old[0].read_text()
    assert "Three." in new[0].read_text()
    assert new[0].read_bytes().count(b"\n") == 2


def test_a_line_is_a_line_whatever_the_text_holds(tmp_path: Path) -> None:
    record = {"text": 'a\nb\r\u2028\u2029\x85 "quoted" \ud800 蜜蜂'}
    lines = JsonLines(tmp_path / "topic.jsonl")
    lines.append([record], FileOffset())
    lines.close()
    (line,) = (tmp_path / "topic.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"text": record["text"].replace("\ud800", "?")}
    assert "蜜蜂" in line
