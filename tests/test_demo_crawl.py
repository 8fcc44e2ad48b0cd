"""The newcomer's first line: the demo site, offline, with the settings as they are."""

import time
from pathlib import Path

import pytest
from sites import Crawl, crawl

from crawler.demo import Article, articles
from crawler.demo.site import ARCHIVE, DEAD, DRAFTS, MEMBERS

Crawled = tuple[Crawl, dict[str, dict[str, object]]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """The demo crawled with default settings, and its items by path."""
    started = time.monotonic()
    ended = crawl(tmp_path_factory.mktemp("demo"), {"seeds": "demo", "topic": "honey bees"}, {})
    assert ended.status == 0
    assert time.monotonic() - started < 30
    return ended, {"/" + str(item["url"]).split("/", 3)[3]: item for item in ended.items()}


def test_one_item_a_page(demo: Crawled) -> None:
    ended, items = demo
    assert len(ended.items()) == len(items)
    missed = [path for article in articles() for path in article.paths if path not in items]
    assert missed == []
    assert not {ARCHIVE, DEAD, DRAFTS, MEMBERS} & set(items)
    assert not [path for path in items if path.startswith("/ads/")]


@pytest.mark.parametrize("article", articles(), ids=lambda article: article.path)
def test_an_article_is_clean(demo: Crawled, article: Article) -> None:
    _, items = demo
    item = items[article.path]
    text, published = str(item["text"]), str(item["published"])
    assert item["title"] == article.title
    assert item["language"] == article.language
    assert item["author"] == (article.author if article.frame == "modern" else "")  # the old site labels nobody
    assert published.startswith(str(article.date))
    kept = [paragraph for paragraph in article.paragraphs if paragraph in text]
    assert sum(map(len, kept)) > 0.9 * sum(map(len, article.paragraphs))
    assert len(text) < 1.15 * sum(map(len, article.paragraphs)) + 50


def test_pages_about_the_topic_are_the_relevant_ones(demo: Crawled) -> None:
    _, items = demo
    english = [article for article in articles() if article.language == "en"]
    relevance = {article.path: float(str(items[article.path]["relevance"])) for article in english}
    about = [relevance[article.path] for article in english if article.topic == "bees"]
    other = [relevance[article.path] for article in english if article.topic != "bees"]
    assert min(about) > max(other)


def test_the_closing_lines_count_what_was_left_out(demo: Crawled) -> None:
    ended, items = demo
    said = ended.closing()
    assert f"{len(items)} pages crawled in " in said
    assert "noindex (1)" in said
    assert "not HTML: .pdf (1)" in said
    assert "refused by robots.txt (" in said
    assert "404 Not Found (1)" in said
    assert f"{len(items)} items in {Path('output', 'topic.jsonl')}." in said
