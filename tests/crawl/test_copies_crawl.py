"""A list that repeats an article is crawled before it: the article is the original, in the items and in an export."""

import json
from collections.abc import Iterator
from pathlib import Path

import fork_server
import pytest
from sites import OPEN, Crawl, Site, crawl, environment, serving

BEES = "".join(
    f"<p>Part {name} of the letter: the bees of hive {name} dance in the dark, and {name} times nobody sees how.</p>"
    for name in "one two three four five six seven eight nine ten eleven twelve".split()
)
QUOTED = "<p>The archive of the year has one letter.</p>"


def letter(title: str, heading: str, head: str = "", more: str = "") -> str:
    return f"<title>{title}</title>{head}<body><article><h2>{heading}</h2>{BEES}{more}</article></body>"


ROUTES = {
    "/": "<title>Letters</title><body><p>Welcome to the letters.</p><a href=/year>The year</a></body>",
    "/year": letter("Letters", "<a href=/dance>How bees dance</a>", more=QUOTED),
    "/dance": letter("How bees dance", "How bees dance", more="<p><a href=/dance?form=print>Print</a></p>"),
    "/dance?form=print": letter("How bees dance", "How bees dance"),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Crawl]]:
    with serving(Site(ROUTES)) as site:
        yield site, crawl(tmp_path_factory.mktemp("copies"), {"seeds": site.url, "images": "no"}, OPEN)


def exported(folder: Path, *words: str) -> dict[str, str | None]:
    run = fork_server.run(["scrapy", "export", "-o", "kept.jsonl", *words], folder, environment(), 60)
    assert run.returncode == 0, run.stderr
    lines = (folder / "kept.jsonl").read_text(encoding="utf-8").splitlines()
    return {item["url"]: item["duplicate_of"] for item in map(json.loads, lines)}


def test_the_article_is_no_copy_of_the_list_that_came_first(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    copies = {item["url"].removeprefix(site.url): item["duplicate_of"] for item in ended.items()}
    assert list(copies) == ["", "year", "dance", "dance?form=print"]
    assert copies["dance"] is None
    assert copies["dance?form=print"] == f"{site.url}dance"


def test_an_export_names_the_article_as_the_original(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    article = f"{site.url}dance"
    copies = {f"{site.url}year": article, article: None, f"{article}?form=print": article}
    assert {url: of for url, of in exported(ended.folder).items() if url != site.url} == copies


def test_without_copies_the_article_is_left(crawled: tuple[Site, Crawl]) -> None:
    site, ended = crawled
    assert set(exported(ended.folder, "--dedupe", "near")) == {site.url, f"{site.url}dance"}
