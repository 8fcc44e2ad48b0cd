"""The source read without a tree, and in linear time."""

import time

from crawler.extraction.methods.slope_and_max_text import blocks_of, pieces, plain
from crawler.page.page import Page

HOSTILE = {
    "open quotes": "<a b=\"<a b='" * 100_000,
    "open quote": '<a b="' * 100_000,
    "equals": "<a " + "=" * 1_000_000,
    "open images": "<svg>" * 200_000,
    "open scripts": "<script>" * 200_000,
    "almost closed scripts": "<script>" + "</scrip" * 200_000,
    "open comments": "<!--" * 300_000,
    "almost closed comments": "<!--" + "--" * 500_000,
    "open declarations": "<!" * 500_000,
    "names": "<a" * 500_000,
    "less-than signs": "<" * 1_000_000,
    "entities": "&am" * 300_000 + "&#" * 300_000,
}


def test_linear() -> None:
    for html in HOSTILE.values():
        start = time.thread_time()
        for _, text in pieces(html):
            plain(text)
        assert time.thread_time() - start < 2


def test_pieces() -> None:
    rows = [
        ("", [("", "")]),
        ("one", [("", "one")]),
        ("<P>one</p >two", [("", ""), ("p", "one"), ("p", "two")]),
        ("<br/>one", [("", ""), ("br", "one")]),
        ("<p class='a>b'>one", [("", ""), ("p", "one")]),
        ('<p class="a>b">one', [("", ""), ("p", "one")]),
        ("<p class=a'>one", [("", ""), ("p", "one")]),  # a quote counts only after an equals sign
        ("<p title='>one", [("", ""), ("p", "one")]),  # that is never closed
        ("1 < 2 and 3<4", [("", "1 < 2 and 3<4")]),
        ("one<!-- <p>two --> three", [("", "one"), ("", " three")]),
        ("one<!-->two-->three", [("", "one"), ("", "three")]),
        ("<!doctype html>one<?php two ?>three", [("", ""), ("", "one"), ("", "three")]),
        ("<script>'<p>'</script>one", [("", ""), ("script", "one")]),
        ("<SCRIPT>1</Script\n>one", [("", ""), ("script", "one")]),
        ("<script>'</p>' + '<!--'</script>one", [("", ""), ("script", "one")]),
        ("<script>1", [("", ""), ("script", "")]),
        ("<scripts>one", [("", ""), ("scripts", "one")]),
        ("<head><title>one</title></head>two", [("", ""), ("head", ""), ("title", ""), ("head", "two")]),
        ("<o:p>one", [("", ""), ("o:p", "one")]),
        ("one<p", [("", "one"), ("p", "")]),
    ]
    for html, found in rows:
        assert list(pieces(html)) == found


def test_plain() -> None:
    rows = [
        (" a \n b ", "a b"),
        ("&lt;p&gt;", "<p>"),
        ("&#x4e2d;&#25991;", "中文"),
        ("AT&T", "AT&T"),
        ("&nbsp;", ""),
        ("a&#xD800;b", "a\ufffdb"),
        ("a\0b", "ab"),
        ("\0 a \0 b", "a b"),
        ("\0", ""),
        ("a &#0065; &#x41 b", "a A A b"),
        ("&#" + "9" * 5_000 + "; b &#x" + "f" * 5_000 + "; c", "\ufffd b \ufffd c"),
    ]
    for source, shown in rows:
        assert plain(source) == shown


def test_blocks_of_lines() -> None:
    page = Page.from_html("<p>One<p>Two<p>Three<p>One")
    assert [block.text for block in blocks_of(page, ["One", "Three", "Four"])] == ["One", "Three", "One"]
