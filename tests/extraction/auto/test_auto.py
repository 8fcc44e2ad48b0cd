"""The method as a whole; how well it judges is in test_floors.py."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from measured_extraction import watched

from crawler.extraction.auto import FAVOURS, LEAST_WORDS, SURE, auto
from crawler.extraction.auto.model import PAGE_TYPES, Model, PageTypeWeights, best_f, judge, shipped
from crawler.extraction.auto.network import Layer
from crawler.extraction.output.plain_text import plain
from crawler.page.html_tree import MAX_BLOCKS, Cut
from crawler.page.page import Page

SAID = "".join(f"<p>In week {n} the bees danced on the comb, and told the others the way.</p>" for n in range(20))
DATA = json.dumps({"title": "Why bees dance", "id": 7, "body": SAID.replace("/", "\\/")}).replace("\\\\/", "\\/")
SCRIPTED = f"<title>Why bees dance</title><script type='application/json'>{DATA}</script><div id=root>Wait.</div>"
GOLD = Path(__file__).parent.parent.parent / "gold"
PAGES = {folder.name: Page("http://e.com/a", (folder / "page.html").read_bytes()) for folder in sorted(GOLD.iterdir())}


def test_precision_keeps_less_and_recall_more() -> None:
    for name in PAGES:
        page = PAGES[name]
        strict, middle, lax = (
            {id(block) for block in auto(page, way).blocks} for way in ("precision", "balance", "recall")
        )
        assert strict <= middle <= lax


def test_it_makes_a_difference() -> None:
    counts = {way: sum(len(auto(page, way).blocks) for page in PAGES.values()) for way in FAVOURS}
    assert counts["precision"] < counts["balance"] < counts["recall"]


SENTENCE = "Bees dance in the dark of the hive, and the others follow the dancer with their feelers to learn the way."
REMARK = "I have kept bees for thirty years, and I have never seen them dance as well as in this spring, my friends."


def test_the_text_is_of_the_blocks_and_the_comments_of_others() -> None:
    for name in PAGES:
        page = PAGES[name]
        found = auto(page)
        assert found.text == plain(found.blocks)
        kept = {id(block) for block in found.blocks}
        assert set(found.comments.splitlines()) <= {block.text for block in page.blocks if id(block) not in kept}
        assert found.ended is None


def test_the_certainty_is_the_best_f1_to_be_expected() -> None:
    for name in PAGES:
        page, model = PAGES[name], shipped()
        said, found = judge(page, model), auto(page)
        best = best_f(said.probabilities, said.tokens, 0.5)
        assert found.certainty == pytest.approx(best, abs=0.06)  # the other halves of rows come on top
        assert found.certainty <= best + 0.0001


def indifferent(likely: float) -> Model:
    """A model for which each page is an article, and each block as likely main text as the others."""
    model, bias = shipped(), np.array([np.log(likely / (1 - likely))], np.float32)
    same = tuple(replace(net, last=Layer(0, 0 * net.last.weights, bias)) for net in model.networks)
    return replace(
        model,
        networks=same,
        page_types=PageTypeWeights(0 * model.page_types.weights, 9 * (np.array(PAGE_TYPES) == "article")),
    )


@pytest.mark.parametrize("likely", [0.1, 0.5, 0.9])
def test_who_is_less_sure_says_so(likely: float) -> None:
    """Where all blocks are as likely as each other, all are kept: 2p / (1 + p)."""
    found = auto(Page.from_html("<p>Bees dance.<p>They tell the way."), model=indifferent(likely))
    assert found.certainty == pytest.approx(2 * likely / (1 + likely), abs=0.0001)


@pytest.mark.parametrize("html", ["", "<p>", SCRIPTED])
def test_of_no_text_and_of_scripts_nothing_is_known(html: str) -> None:
    found = auto(Page.from_html(html))
    assert bool(found.text) is (html == SCRIPTED)
    assert found.certainty is None


@pytest.mark.parametrize(("more", "ended"), [(0, None), (1, Cut.BLOCKS)])
def test_the_end_of_a_long_page_is_not_judged(more: int, ended: Cut | None) -> None:
    page = Page.from_html("<p>Bees dance in the dark of the hive, and others follow.</p>" * (MAX_BLOCKS + more))
    found = auto(page, "recall")
    assert found.ended == ended
    assert 0 < len(found.blocks) <= MAX_BLOCKS
    assert more == 0 or page.blocks[-1] not in found.blocks


NUMBER = f"Bees &#{'9' * 5_000}; dance."


@pytest.mark.parametrize(
    "script",
    [
        f'<script type="application/ld+json">{{"@type": "Article", "name": "h", "articleBody": "{NUMBER}"}}</script>',
        f'<script>{{"body": "<p>&lt;p>{NUMBER * 9}</p>"}}</script>',
    ],
)
def test_a_number_that_no_character_has(script: str) -> None:
    assert auto(Page.from_html(f"<title>Bees</title>{script}<p>Bees.")).ended is None


@pytest.mark.parametrize("page", ["<p>" + "Bees dance. " * 41, "<p class='" + "ab cD " * 30 + "{}'>Bees dance. "])
def test_memory_is_bounded(page: str) -> None:
    body = "".join(page.replace("{}", str(number)) for number in range(20_000)).encode()
    auto(Page("", b"<p>Bees dance."))
    cost = watched(lambda: auto(Page("", body)))
    assert cost.error == ""
    assert cost.megabytes < 225  # of the second page, 212 in a new process and less in one with free memory


def test_comments_are_not_main_text() -> None:
    """Nor if they read as well as the article, unless there is no article."""
    article = "".join(f"<p>{sentence}</p>" for sentence in [SENTENCE] * 6)
    remarks = f"<p>{REMARK}</p>" * 2
    head = "<meta property=og:type content=article><title>Bees</title>"
    page = Page.from_html(
        f"{head}<h1>Bees</h1><article>{article}<div class=comments>{remarks}</div></article>", "http://a.example/bees"
    )
    found = auto(page)
    assert SENTENCE in found.text
    assert REMARK not in found.text
    assert REMARK in found.comments
    alone = auto(Page.from_html(f"<h1>Bees</h1><div class=comments>{article}</div>", "http://a.example/"))
    assert SENTENCE in alone.text


def test_comments_beside_the_main_element_are_left_out_of_short_texts() -> None:
    rows = [
        ("<div role=main>{}</div>", "<div role=complementary>{}</div>", False),
        ("<main>{}</main>", "<div>{}</div>", False),
        ("<div>{}</div>", "<div role=complementary>{}</div>", True),
        ("<main>{}", "<div>{}</div></main>", True),
        ("<main></main>{}", "<div>{}</div>", True),
    ]
    for main, comments, is_text in rows:
        remarks = f"<div class=comments>{f'<p>{REMARK}</p>' * 9}</div>"
        page = Page.from_html(main.format(f"<p>{'bees ' * (LEAST_WORDS // 2)}</p>") + comments.format(remarks))
        found = auto(page, model=indifferent(SURE))
        assert (REMARK in found.text, REMARK in found.comments) == (is_text, not is_text)
        assert "bees bees" in found.text


@pytest.mark.parametrize(
    ("words", "likely", "is_text"),
    [
        (LEAST_WORDS, SURE + 0.01, False),
        (LEAST_WORDS, SURE - 0.01, True),
        (LEAST_WORDS - 1, SURE + 0.01, True),
    ],
)
def test_many_comments_are_left_out_if_there_is_an_article(words: int, likely: float, is_text: bool) -> None:
    remarks = f"<p>{REMARK}</p>" * 30
    page = Page.from_html(f"<p>{'bees ' * words}</p><div class=comments>{remarks}</div>")
    found = auto(page, model=indifferent(likely))
    assert (REMARK in found.text, REMARK in found.comments) == (is_text, not is_text)
    assert "bees bees" in found.text
