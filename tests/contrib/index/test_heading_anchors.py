"""The anchors of headings, in the markup of several programs."""

import pytest

from crawler.contrib.index.heading_anchors import LONGEST_ANCHOR, heading_anchors
from crawler.page.page import Page


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        ('<h2 id="a">Bees</h2>', "a"),
        ('<h2><span class="mw-headline" id="Bees_1">Bees</span></h2>', "Bees_1"),
        ('<h2><a name="a"></a>Bees</h2>', "a"),
        ('<section id="bees"><h2>Bees<a class="headerlink" href="#bees">¶</a></h2><p>x</p></section>', "bees"),
        ('<h2><a href="#%E8%9C%82">Bees</a></h2>', "蜂"),
        ('<a name="a"></a><h2>Bees</h2>', "a"),
        ('<a name="a">Text</a><h2>Bees</h2>', ""),
        ('<section id="a"><header><h2>Bees</h2></header></section>', "a"),
        ('<div id="a"><p>x</p><h2>Bees</h2></div>', ""),
        ('<div id="a">x<h2>Bees</h2></div>', ""),
        ('<main id="a"><h2>Bees</h2></main>', ""),
        ('<h2><a href="/bees#a">Bees</a></h2>', ""),
        ('<h2 id="a b">Bees</h2>', ""),
        (f'<h2 id="{"a" * LONGEST_ANCHOR}">Bees</h2>', "a" * LONGEST_ANCHOR),
        (f'<h2 id="{"a" * (LONGEST_ANCHOR + 1)}">Bees</h2>', ""),
        ("<h2>Bees</h2>", ""),
    ],
)
def test_anchors(html: str, anchor: str) -> None:
    [heading] = heading_anchors(Page.from_html(f"<body>{html}"))
    assert (heading.text, heading.anchor) == ("Bees", anchor)


def test_only_headings_of_the_kept_blocks() -> None:
    page = Page.from_html("<h2 id=menu>Bees</h2><p>a</p><h2 id=text>Bees</h2><h2><!-- no text --></h2>")
    assert [heading.anchor for heading in heading_anchors(page)] == ["menu", "text"]
    assert [heading.anchor for heading in heading_anchors(page, page.blocks[1:])] == ["text"]
