"""Stored pages for the tests of exports: ordinary ones, and such as are made to break a format."""

from dataclasses import asdict
from typing import Any

from crawler.frontier.page_result import StoredResponse
from crawler.items import PageItem
from crawler.reports.stored_pages import StoredPage

FETCHED_AT = "2026-11-22T12:30:00+00:00"
ODD_TEXT = 'First, "quoted"\r\nsecond\rthird\n\n=1+1\x85four\u2028five; 蜜蜂 \U0001f41d\ufeff\x1b[2J\x7f ---\n...\n'
FIELDS = list(asdict(PageItem("", "", "", 0, 0, None)))


def stored(number: int, response: StoredResponse | None = None, **more: Any) -> StoredPage:
    """A page, and what is to be known of it."""
    url = f"http://a.example/{number}"
    item = asdict(PageItem(url, url, FETCHED_AT, 200, number, None, "en", f"Page {number}", f"Bees {number}."))
    return StoredPage(number, item | {"revisited_at": None, "revisit_status": None} | more, response=response)


def odd(number: int = 7) -> StoredPage:
    """A page whose every text is odd."""
    images = [{"url": "http://a.example/a,b.png", "alt": ODD_TEXT, "noise": 0.25}]
    images.append({"url": "http://a.example/c.png", "alt": "", "noise": None})
    texts = dict.fromkeys(("title", "text", "comments", "author", "published", "via", "parent"), ODD_TEXT)
    return stored(number, **texts, images=images, relevance=1e-07, link_score=0.25, markdown=ODD_TEXT)


def several() -> list[StoredPage]:
    """Pages of all kinds."""
    return [stored(1), odd(2), stored(3, text="", title="", language=None), stored(4, text="蜜蜂。" * 1_000)]
