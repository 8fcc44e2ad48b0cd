"""The newcomer's first line: the demo site, offline, with the settings as they are."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sites import Crawl, crawl

from crawler.demo import Article, articles
from crawler.demo.site import ARCHIVE, DEAD, DRAFTS, MEMBERS
from crawler.rights.statement import Signal, State

Crawled = tuple[Crawl, dict[str, dict[str, object]]]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """The demo crawled with default settings, and its items by path."""
    started = time.monotonic()
    ended = crawl(tmp_path_factory.mktemp("demo"), {"seeds": "demo", "topic": "honey bees"}, {})
    assert ended.status == 0
    assert time.monotonic() - started < 90
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
    assert share_kept(article, text) > 0.8
    assert len(text) < 1.15 * sum(map(len, article.paragraphs)) + 50


def share_kept(article: Article, text: str) -> float:
    """How much of an article's paragraphs a text has."""
    kept = [paragraph for paragraph in article.paragraphs if paragraph in text]
    return sum(map(len, kept)) / sum(map(len, article.paragraphs))


def test_articles_are_nearly_whole(demo: Crawled) -> None:
    _, items = demo
    shares = [share_kept(article, str(items[article.path]["text"])) for article in articles()]
    assert sum(shares) / len(shares) > 0.95


def test_what_readers_say_is_apart(demo: Crawled) -> None:
    _, items = demo
    expected = {path: [remark for _, remark in article.remarks] for article in articles() for path in article.paths}
    found = {path: str(items[path]["comments"]).splitlines() for path in expected}
    assert found == expected
    assert {article.language for article in articles() if article.remarks} == {"en", "zh"}


def test_most_articles_are_known_as_such(demo: Crawled) -> None:
    _, items = demo
    types = [items[article.path]["page_type"] for article in articles()]
    assert types.count("article") > 0.8 * len(types)


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


def test_a_topic_in_english_finds_chinese_articles(demo: Crawled) -> None:
    _, items = demo
    chinese = [article for article in articles() if article.language == "zh"]
    relevance = {article.path: float(str(items[article.path]["relevance"])) for article in chinese}
    about = [relevance[article.path] for article in chinese if article.topic == "bees"]
    other = [relevance[article.path] for article in chinese if article.topic != "bees"]
    won = sum((good > bad) + (good == bad) / 2 for good in about for bad in other)
    assert won / (len(about) * len(other)) >= 0.8


def test_the_rights_have_all_states_in_both_languages(demo: Crawled) -> None:
    _, items = demo
    rights: dict[str, Any] = {path: item["rights"] for path, item in items.items()}
    for prefix in ("/zh/", "/bees/", "/rail/"):
        states = {found["uses"]["ai-train"] for path, found in rights.items() if path.startswith(prefix)}
        assert {"disallowed"} < states
    assert {found["uses"]["ai-train"] for found in rights.values()} == set(State)
    assert rights["/zh/rail/water"]["uses"] == {"search": "allowed", "ai-input": "malformed", "ai-train": "malformed"}
    assert {one["signal"] for found in rights.values() for one in found["evidence"]} == set(Signal) - {
        Signal.RSL,
        Signal.OWNER_MARK,
    }
    licences = Counter(found["licence"] for path, found in rights.items() if found["licence"])
    assert licences == {"CC-BY-4.0": 5, "CC-BY-SA-4.0": 2, "CC-BY-NC-SA-4.0": 1}
