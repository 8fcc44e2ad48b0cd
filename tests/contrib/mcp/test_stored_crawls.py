"""What the tools read of crawls, in both databases."""

from pathlib import Path

import pytest
from mcp.server.mcpserver.exceptions import ToolError
from scrapy.settings import Settings
from store_workers import Crew, candidates, stored

from crawler.contrib.mcp.stored_crawls import StoredCrawls

A, B = "http://a.example/a", "http://a.example/b"
TEXTS = {A: "Bees dance in the dark of the hive.", B: "蜜蜂在黑暗的蜂巢里跳舞。"}


@pytest.fixture
def crawls(crew: Crew, tmp_path: Path) -> StoredCrawls:
    worker = crew.join(*candidates(A, B))
    worker.end(*(stored(lease, text=TEXTS[lease.candidate.url], markdown=None) for lease in worker.claim()))
    worker.leave()
    url = crew.engine.url.render_as_string(hide_password=False)
    settings = Settings({"STATE_URL": url, "OUTPUT_DIR": str(tmp_path)})
    settings.setmodule("crawler.settings", priority="default")
    return StoredCrawls(settings)


def test_crawls_and_their_pages(crawls: StoredCrawls) -> None:
    summaries, following = crawls.summaries(0)
    assert ([(one.name, one.pages) for one in summaries], following) == ([("crawl", 2)], None)
    summary, failed = crawls.summary("crawl")
    assert (summary.name, failed.number) == ("crawl", 0)
    assert crawls.page("crawl", B)["text"] == TEXTS[B]
    with pytest.raises(ToolError):
        crawls.page("crawl", "http://a.example/c")
    with pytest.raises(ToolError):
        crawls.page("other", A)


@pytest.mark.parametrize(("words", "urls"), [(["DANCE"], [A]), (["蜂巢"], [B]), (["dance", "蜂巢"], [])])
def test_words_are_found(crawls: StoredCrawls, words: list[str], urls: list[str]) -> None:
    hits, following = crawls.search("crawl", words, None)
    assert ([page["url"] for page, _ in hits], following) == (urls, None)
    assert all(words[0].casefold() in snippet.casefold() for _, snippet in hits)


def test_changes_continue_from_an_offset(crawls: StoredCrawls) -> None:
    changes = list(crawls.changes("crawl", "0"))
    assert sorted((change["url"], change["change"]) for _, change in changes) == [(A, "new"), (B, "new")]
    first_offset, _ = changes[0]
    assert list(crawls.changes("crawl", first_offset)) == changes[1:]
