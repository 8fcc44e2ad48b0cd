"""The choice of blocks of a page in doubt; how much it is worth is in docs/benchmarks.md."""

import sys
from collections.abc import Mapping

import numpy as np
import pytest
from fallback_servers import DOUBTFUL

from crawler.extraction.auto import BALANCE, DOUBT, FAVOURS, auto, model, second_look
from crawler.extraction.auto.model import BlockJudgement
from crawler.extraction.auto.second_look import MOST_WORDS, second_choice
from crawler.page.page import Page

CARDS = "".join(f"<div class=card><p>Name {number}</p></div>" for number in range(4))
PAGE = f"<header><p>Menu</p></header><main><section><h1>Hives</h1>{CARDS}</section><p>Below</p></main><p>Footer</p>"


def choice(likely: Mapping[str, float], words: Mapping[str, float]) -> list[str]:
    """The texts of the blocks that are kept, given the probabilities, and the words where a block has more than one."""
    page = Page.from_html(PAGE)
    texts = [block.text for block in page.blocks]
    probabilities = np.array([likely.get(text, 0.0) for text in texts], np.float32)
    tokens = np.array([words.get(text, 1.0) for text in texts], np.float32)
    flags = second_choice(page, BlockJudgement(probabilities, tokens, ""), FAVOURS[BALANCE])
    return [text for text, is_kept in zip(texts, flags, strict=True) if is_kept]


NAMES = [f"Name {number}" for number in range(4)]


def test_the_blocks_of_a_page_in_doubt() -> None:
    rows = [
        (dict.fromkeys(NAMES, 0.5), {}, NAMES),
        # One of the elements that are alike comes nearer to the others.
        (dict.fromkeys(NAMES, 0.9) | {"Name 2": 0.2}, {}, NAMES),
        (dict.fromkeys(NAMES, 0.03) | {"Name 2": 0.1, "Hives": 0.9}, {}, ["Hives"]),
        # What other pages of the site have is known to be no text.
        (dict.fromkeys(NAMES, 0.9) | {"Name 2": 0.0}, {}, ["Name 0", "Name 1", "Name 3"]),
        # Blocks are less likely outside of the container that has nearly all of the text.
        (dict.fromkeys(NAMES, 0.6) | {"Footer": 0.4}, {"Menu": 10.0}, NAMES),
        (dict.fromkeys(NAMES, 0.6) | {"Footer": 0.4}, {}, [*NAMES, "Footer"]),
        (dict.fromkeys(NAMES, 0.6) | {"Footer": 0.7}, {"Menu": 10.0}, [*NAMES, "Footer"]),
        (dict.fromkeys(NAMES, 0.6) | {"Footer": 0.6, "Menu": 0.6}, {}, ["Menu", *NAMES, "Footer"]),
    ]
    for likely, words, kept in rows:
        assert choice(likely, words) == kept


@pytest.mark.parametrize(("words", "is_alike"), [(1.0, True), (20.0, False)])
def test_elements_that_are_most_of_a_page_are_its_layout(words: float, is_alike: bool) -> None:
    likely = dict.fromkeys(NAMES, 0.9) | {"Name 2": 0.2}
    assert ("Name 2" in choice(likely, dict.fromkeys(NAMES, words))) is is_alike
    assert (4 * words <= MOST_WORDS * (4 * words + 4)) is is_alike


def test_only_pages_in_doubt_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page.from_html(DOUBTFUL, "http://a.example/hives")
    before = auto(page)
    assert before.certainty is not None
    assert before.certainty < DOUBT
    monkeypatch.setattr(second_look, "second_choice", lambda page, judgement, weight: [True] * len(page.blocks))
    assert auto(page).blocks == page.blocks
    assert auto(page).certainty == before.certainty
    sure = auto(
        Page.from_html(f"<p>{'Bees gather nectar from clover in the warm hours, and guards wait. ' * 9}<p>Home")
    )
    assert [block.text[:4] for block in sure.blocks] == ["Bees"]


@pytest.mark.parametrize(("least", "is_second"), [(0.05, True), (0.3, False)])
def test_a_second_choice_keeps_much_of_the_first(
    least: float, is_second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page.from_html(DOUBTFUL, "http://a.example/hives")
    first = auto(page)
    monkeypatch.setattr(second_look, "second_choice", lambda page, *_: [True] + [False] * (len(page.blocks) - 1))
    monkeypatch.setattr(sys.modules["crawler.extraction.auto"], "LEAST_OF_FIRST", least)
    assert (len(first.blocks), len(auto(page).blocks) == 1) == (8, is_second)


def test_threads_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_look, "second_choice", pytest.fail)
    page = Page.from_html(DOUBTFUL, "http://a.example/hives")
    monkeypatch.setattr(model, "page_type", lambda scores: "forum")
    extraction = auto(page)
    assert extraction.page_type == "forum"
    assert extraction.certainty is not None
    assert extraction.certainty < DOUBT
