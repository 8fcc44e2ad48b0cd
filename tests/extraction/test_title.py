import time

import pytest

from crawler.extraction.title import headline
from crawler.page import Page


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("<title>Bees dance</title>", "Bees dance"),
        ("<title>Bees dance - The Valley Post</title><h1>Bees dance</h1>", "Bees dance"),
        ("<title>The Valley Post | Bees dance</title><h1>The Valley Post</h1><h2>Bees dance</h2>", "The Valley Post"),
        (
            "<title>The Valley Post | Bees dance again</title><h1>The Valley Post</h1><h2>Bees dance again</h2>",
            "Bees dance again",
        ),
        ("<title>Bees dance_新闻_河边网</title>", "Bees dance"),
        ("<title>本市公园今起开放_河边网</title>", "本市公园今起开放"),
        ("<title>News - Bees dance - Post</title>", "Bees dance"),
        ("<title>Post - Bees dance</title><p>Bees dance</p>", "Bees dance"),
        ("<title>Bees-and-wasps</title>", "Bees-and-wasps"),
        ("<title> - </title>", "-"),
        ("<h1>Bees dance</h1><h1>Wasps too</h1>", "Bees dance"),
        ("<title>B</title><h1>B</h1>", "B"),
    ],
)
def test_headline(html: str, expected: str) -> None:
    assert headline(Page.from_html(html)) == expected


def test_a_long_title_and_many_headings_take_a_moment() -> None:
    page = Page.from_html("<title>" + "ab " * 500_000 + "</title>" + "<h1>abx</h1>" * 20_000)
    assert page.blocks
    start = time.perf_counter()
    assert len(headline(page)) <= 1000
    assert time.perf_counter() - start < 1
