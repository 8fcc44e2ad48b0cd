"""What is seen of a page, and the features that are made of it."""

from pathlib import Path

import numpy as np
import pytest
from hostile_pages import PAGES, WITHOUT_TEXT

from crawler.extraction.auto import block_features, model
from crawler.extraction.auto.block_features import Features
from crawler.extraction.auto.page_arrays import outward, page_arrays, ranges
from crawler.page.html_tree import MAX_BLOCKS
from crawler.page.page import Page

GOLD = Path(__file__).parent.parent.parent / "gold"
ODD = {
    "one character": "x",
    "one block": "<p>Bees dance.",
    "only links": "<ul>" + "<li><a href=/a>News</a>" * 20 + "</ul>",
    "Chinese": "<title>春天</title>" + "<p>春天来了，公园里的花都开了。" * 5,
    "no letters": "<p>!!!<p>...<p>— —",
    "one feature": "<p>\U0001f41d",
    "surrogates": "<p class='\ud800'>\udfff",
    "images": "<img src=a.png>" * 50 + "x",
    "headings": "".join(f"<h{n}>Bees</h{n}>" for n in range(1, 7)),
    "a long word": "x" * 100_000,
    "a title as text": "<title>Bees dance</title><h1>Bees dance</h1>",
}
BODIES = {name: Page.from_html(html, "http://e.com/a").body for name, html in ODD.items()}
BODIES |= {folder.name: (folder / "page.html").read_bytes() for folder in sorted(GOLD.iterdir())}
BODIES |= {name: body for name, body in PAGES.items() if name not in WITHOUT_TEXT}


def features_of(page: Page) -> Features:
    seen = page_arrays(page)
    return block_features.features(seen, model.shipped().vocabulary.scores(seen), ranges(seen))


def test_each_feature_has_a_name_of_its_own() -> None:
    found = features_of(Page("", BODIES["one block"]))
    assert len(found.names) == len(set(found.names)) == len(found.matrix) == len(model.shipped().networks[0].means)


def test_every_page_has_features() -> None:
    for name in BODIES:
        page = Page("http://e.com/a", BODIES[name])
        found = features_of(page)
        assert found.names == features_of(Page("", BODIES["one block"])).names
        assert found.matrix.shape == (len(found.names), min(len(page.blocks), MAX_BLOCKS))
        assert np.isfinite(found.matrix).all()
        assert np.abs(found.matrix).max() < 1e6


@pytest.mark.parametrize("name", ["news_modern", "forum_zh_discuz", "one block"])
def test_features_do_not_depend_on_what_was_read_before(name: str) -> None:
    first = features_of(Page("http://e.com/a", BODIES[name])).matrix
    features_of(Page("http://e.com/b", BODIES["wiki"]))
    assert np.array_equal(features_of(Page("http://e.com/a", BODIES[name])).matrix, first)


ROWS = {name: row for row, name in enumerate(features_of(Page("", BODIES["one block"])).names)}
PAGE = Page.from_html(
    "<title>How bees dance - E</title><body><nav><a href=/a>Home</a></nav><h1>How bees dance</h1>"
    "<article><p>Bees dance in the dark of the hive. They tell the way.</p><img src=a.png>"
    "<p>Bees dance, <a href=/b>they say</a></p></article><p>x</p><p>x</p><img src=b.png>",
    "http://e.com/news/a.html",
)
MATRIX = features_of(PAGE).matrix


def test_what_a_feature_says() -> None:
    rows = [
        ("density", [1, 0, 0, 8 / 20, 0, 0]),
        ("stops", np.log1p([0, 0, 2, 0, 0, 0])),
        ("commas", np.log1p([0, 0, 0, 1, 0, 0])),
        ("ends with stop", [0, 0, 1, 0, 0, 0]),
        ("words", np.log1p([1, 3, 12, 4, 1, 1])),
        ("links", np.log1p([1, 0, 0, 1, 0, 0])),
        ("images", np.log1p([0, 0, 0, 1, 0, 0])),
        ("images after", np.log1p([0, 0, 1, 0, 0, 1])),
        ("in nav", [1, 0, 0, 0, 0, 0]),
        ("in article", [0, 0, 1, 1, 0, 0]),
        ("is title", [0, 1, 0, 0, 0, 0]),
        ("before title", np.log1p([1, 0, 0, 0, 0, 0])),
        ("after title", np.log1p([0, 0, 1, 2, 3, 4])),
        ("copies", np.log([1, 1, 1, 1, 2, 2])),
        ("heading 1", [0, 1, 1, 1, 1, 1]),
        ("at", np.arange(6) / 6),
        ("page .html", [1] * 6),
        ("page has title", [1] * 6),
    ]
    for name, values in rows:
        assert MATRIX[ROWS[name]].tolist() == pytest.approx(list(values))


def test_the_next_container_outwards_holds_more() -> None:
    # 0 holds five blocks, 1 and 2 the same three of them, 3 one of those, 4 none.
    found = outward([-1, 0, 1, 2, 2], [0, 1, 1, 1, 4], [5, 4, 4, 2, 4])
    assert found == [0, 0, 0, 2, 2]


def test_which_links_lead_to_another_page() -> None:
    rows = [
        ("href=/a", 1),
        ("href=?a", 1),
        ("href='a#top'", 1),
        ("href=mailto:a@e.com", 1),
        ("href=javascripts/a", 1),
        ("href=javascript", 1),
        ("href=JavaScript:a()", 0),
        ("href=javascript:", 0),
        ("href='#'", 0),
        ("href='#top'", 0),
        ("href=''", 0),
        ("name=top", 0),
    ]
    for link, count in rows:
        assert page_arrays(Page.from_html(f"<p>Bees <a {link}>dance</a>.", "http://e.com/")).links.tolist() == [count]


@pytest.mark.parametrize(("length", "read"), [(39_999, 39_999), (40_000, 40_000), (40_001, 40_000)])
def test_of_the_article_for_machines_so_much_is_read(length: int, read: int) -> None:
    data = f'{{"@type": "Article", "headline": "Bees", "articleBody": "{"b" * length}"}}'
    seen = page_arrays(Page.from_html(f"<script type='application/ld+json'>{data}</script><p>Bees dance."))
    assert int(seen.texts.kinds[-1].sum()) == read


@pytest.mark.parametrize("more", [0, 1, 500])
def test_of_a_long_page_so_many_blocks_are_seen(more: int) -> None:
    before, after = "<img src=a.png><div><p>x</p></div>" * 3, "<p><img src=b.png>y" * more
    page = Page.from_html(before + "<p><a href=/a>x</a>" * (MAX_BLOCKS - 3) + after)
    seen = page_arrays(page)
    assert len(page.blocks) == MAX_BLOCKS + more
    assert len(seen.homes) == len(seen.wraps) == len(seen.lengths) == len(seen.links) == len(seen.copies) == MAX_BLOCKS
    assert len(seen.images) == MAX_BLOCKS + 1
    assert seen.images.sum() == 3 + more
    assert seen.homes.max() < len(seen.outline.parents) == len(seen.outline.ends)
    assert seen.outline.ends.max() == MAX_BLOCKS
