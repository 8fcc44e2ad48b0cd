from pathlib import Path

import pytest
from hostile_pages import PAGES

from crawler.extraction.leaf_labels import leaves
from crawler.page.page import Page

CASES = Path(__file__).parent.parent / "pages"
BODIES = PAGES | {folder.name: (folder / "input.html").read_bytes() for folder in sorted(CASES.iterdir())}
SPACE = dict.fromkeys(map(ord, "\u200b\ufeff\u00ad\u2060"))


@pytest.mark.long
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_leaves_of_a_line_are_its_text(body: bytes) -> None:
    page = Page("http://example.com/", body)
    texts: dict[int, list[str]] = {}
    for leaf in leaves(page).leaves:
        texts.setdefault(leaf.line, []).append(leaf.text)
    for line, block in enumerate(page.blocks):
        found = sorted("".join("".join(texts.pop(line, [])).split()))
        assert found == sorted("".join(block.text.translate(SPACE).split()))
    assert not texts


def test_leaves() -> None:
    rows = [
        ("<p>One <b>two</b> three</p>", [("p", "One three", 0), ("b", "two", 0)]),
        ("<p>One<br>two</p>", [("p", "One", 0), ("p", "two", 1)]),
        ("<p>One<div>Two</div>three", [("p", "One", 0), ("div", "Two", 1), ("body", "three", 2)]),
        ("<a href=x>One</a> <a>two</a>", [("a", "One", 0), ("a", "two", 0)]),
        ("<pre>\u200b</pre>One", [("body", "One", 1)]),
        ("<p>\u200b</p>One", [("body", "One", 0)]),
        ("<script>One</script><title>Two</title><iframe>Three</iframe>four", [("body", "four", 0)]),
    ]
    for html, expected in rows:
        assert [(leaf.tag, leaf.text, leaf.line) for leaf in leaves(Page.from_html(html)).leaves] == expected


@pytest.mark.parametrize(
    ("html", "homes"),
    [
        ("<p>One", "body"),
        ("<div><p>One<section>two</section>three</div>four", "div section div body"),
        ("<table><tr><td>One<div>two", "body div"),
    ],
)
def test_homes(html: str, homes: str) -> None:
    found = leaves(Page.from_html(html))
    assert [found.block_labels[leaf.block_label].tag for leaf in found.leaves] == homes.split()


def test_links_and_images_have_homes() -> None:
    found = leaves(Page.from_html("<img><a>x</a><div><a><img><b>y</b></a>z<a></a></div>"))
    assert [(home.tag, home.images) for home in found.block_labels] == [("html", 0), ("body", 1), ("div", 1)]
    assert found.anchors == (1, 2, 2)
    assert [(leaf.text, leaf.anchor) for leaf in found.leaves] == [("x", 0), ("y", 1), ("z", -1)]
