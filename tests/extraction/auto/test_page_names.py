"""The words by which a page names itself."""

from zlib import crc32

import pytest

from crawler.extraction.auto.page_names import NAME_BUCKETS, page_names
from crawler.page.page import Page


def buckets(*names: str) -> set[int]:
    return {crc32(name.encode()) % NAME_BUCKETS for name in names}


def test_names() -> None:
    rows = [
        ("", "", ["/0", "og "]),
        ("http://e.com/news/2012/bees", "", ["/2", "path news", "path bees", "og "]),
        ("http://e.com/ProductPage", "", ["/0", "path product", "path page", "og "]),
        ("http://e.com/", "<meta property=og:type content=Article>", ["/0", "og article"]),
        (
            "http://e.com/",
            "<meta name=generator content='WordPress 6.1'>",
            ["/0", "og ", "generator word", "generator press"],
        ),
        (
            "http://e.com/",
            "<body class='single-post Page' id=main>",
            ["/0", "og ", "body single", "body post", "body page", "body single-post", "body main"],
        ),
        (
            "http://e.com/蜜蜂/",
            '<script type=application/ld+json>{"@type": "NewsArticle"}</script>',
            ["/1", "og ", "path 蜜蜂", "type NewsArticle"],
        ),
    ]
    for url, html, names in rows:
        assert set(page_names(Page.from_html(html, url))) == buckets(*names)


@pytest.mark.parametrize(
    ("url", "html"),
    [
        ("http://e.com/" + "a/" * 50_000, "<body class='" + "b " * 50_000 + "'>"),
        ("http://e.com/\ud800\U0001f41d", "<body id='\udfff\U0001f41d'>"),
        ("://?", "<body><body class=x>"),
    ],
)
def test_odd_names_are_some(url: str, html: str) -> None:
    found = page_names(Page.from_html(html, url))
    assert 0 < len(found) < 500
    assert list(found) == sorted(set(found))
    assert all(0 <= name < NAME_BUCKETS for name in found)
