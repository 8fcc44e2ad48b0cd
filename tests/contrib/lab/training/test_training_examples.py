from dataclasses import astuple, replace

import numpy as np
from gold_pages import WORDS

from crawler.contrib.lab.training.auto_model import describe
from crawler.contrib.lab.training.examples import plainer, shorter, subset
from crawler.extraction.auto import block_features, page_names
from crawler.extraction.auto.model import PAGE_TYPES, LearnedWeights
from crawler.extraction.auto.page_arrays import page_arrays, ranges
from crawler.extraction.auto.text_arrays import BUCKETS
from crawler.page.page import Page

CHANCE = np.random.default_rng(5)
VOCABULARY = LearnedWeights(
    *(CHANCE.standard_normal((3, BUCKETS)).astype(np.float32)),
    CHANCE.standard_normal((page_names.NAME_BUCKETS, len(PAGE_TYPES))).astype(np.float32),
    CHANCE.standard_normal(len(PAGE_TYPES)).astype(np.float32),
)
HEAD = (
    "<title>Bees and honey</title><meta name=description content='Bees in the dark of the hive'>"
    '<script type="application/ld+json">{"@type": "NewsArticle", "articleBody": "Bees dance. Honey is sweet."}</script>'
)
PARTS = [
    "<ul class=menu><li><a href=/a>News</a><li><a href=/b>Sport</a></ul>",
    "<h1 class=title>Bees and honey</h1>",
    *(f"<p class=text>The {word} is seen, and <b>more</b> is <a href=/c>said</a>." for word in WORDS[:6]),
    "<p class=text>The dark is seen.",
    "<div class=side><div>News</div><table><tr><td>One<td>Two</table></div>",
    "<p class=foot>Copyright",
]


def page(left: list[int]) -> Page:
    body = "".join(PARTS[at] for at in left)
    return Page.from_html(f"<html><head>{HEAD}</head><body class=post><div id=all>{body}</div>", "http://a.example/b/1")


def test_a_subset_has_the_features_of_a_page_without_the_rest() -> None:
    rows = [range(11), [0, 1, 2, 5, 9, 10], [1, 2], [2, 3, 4], [0, 9, 10], [10], [0, 1, 3, 4, 5, 6, 7, 8, 9, 10]]
    for left in rows:
        all_parts = [at for at, part in enumerate(PARTS) for _ in page([at]).blocks]
        kept = np.isin(all_parts, left)
        whole = page_arrays(page(list(range(len(PARTS)))))
        assert len(whole.homes) == len(kept)
        cut, nest = describe(subset(whole, kept), VOCABULARY)
        made, other = describe(page_arrays(page(list(left))), VOCABULARY)
        names_of = block_features.features(whole, VOCABULARY.scores(whole), ranges(whole)).names
        differ = {
            name for name, mine, theirs in zip(names_of, cut.T, made.T, strict=True) if not np.allclose(mine, theirs)
        }
        assert differ == set()
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(astuple(nest), astuple(other), strict=True))


def test_a_plainer_page_is_one_without_names() -> None:
    body = "<div{}><p{}>Bees dance.<p>Honey is sweet.</div><h1{}>Bees</h1>"
    head = "<title>Bees</title>{}"
    said = ("<meta name=description content='Honey'>", " class=main", " id=text", " class='big title'")
    rich, plain = (Page.from_html(f"<html><head>{head}</head><body>{body}".format(*some)) for some in (said, ("",) * 4))
    cut, _ = describe(plainer(page_arrays(rich)), VOCABULARY)
    bare = page_arrays(plain)
    made, _ = describe(replace(bare, page=np.zeros_like(bare.page), names=()), VOCABULARY)
    names_of = block_features.features(bare, VOCABULARY.scores(bare), ranges(bare)).names
    differ = {name for name, mine, theirs in zip(names_of, cut.T, made.T, strict=True) if not np.allclose(mine, theirs)}
    assert not {name for name in differ if not name.startswith("path ")}  # paths keep apart what had names


def test_a_copy_keeps_one_stretch_of_the_main_text() -> None:
    rows = [
        (0, 0, 0),
        (1, 1, 1),
        (3, 3, 3),
        (4, 1, 2),
        (100, 8, 40),
    ]
    for main, least, most in rows:
        html = (
            "<p>Noise" * 3 + "<div>" + "".join(f"<p>Bees dance {at}." for at in range(main)) + "</div>" + "<p>Noise" * 3
        )
        seen = page_arrays(Page.from_html(html))
        labels = np.array([0] * 3 + [1] * main + [0] * 3, np.float32)
        firsts = set()
        for seed in range(20):
            kept = shorter(labels, seen, np.random.default_rng(seed))
            places = np.flatnonzero(kept & (labels == 1))
            assert least <= len(places) <= most
            assert len(places) < 2 or np.ptp(places) == len(places) - 1
            firsts.add(int(places[0]) if len(places) else -1)
            assert kept[labels == 0].sum() >= 2
        assert (len(firsts) > 2) == (main == 100 or main == 4)
