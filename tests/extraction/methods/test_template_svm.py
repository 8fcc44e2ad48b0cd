import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import astuple
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from yan_wang_pages import FIRST

from crawler.extraction.methods.template import LeafLabel, Library, labels
from crawler.extraction.methods.template_svm import (
    AT_ONCE,
    WEIGHTS,
    BlockCounts,
    LabelShares,
    Svm,
    block_counts,
    features,
    load,
    save,
    shipped,
    template_svm,
)
from crawler.page.page import Page

module = import_module("crawler.extraction.methods.template_svm")  # the function of this name stands before it

TABLE_3 = [
    ("body", 6, 6, 2, 0),
    ("div", 10, 10, 5, 0),
    ("div", 83, 0, 0, 0),
    ("div", 13, 0, 0, 0),
    ("div", 15, 0, 0, 1),
    ("div", 65, 0, 0, 0),
]
TABLE_4 = [
    (0.031, 0.353, 0.25, 0, 0.857),
    (0.052, 0.588, 0.625, 0, 0.909),
    (0.430, 0, 0, 0, 0),
    (0.067, 0, 0, 0, 0),
    (0.078, 0, 0, 0.5, 0),
    (0.337, 0, 0, 0, 0),  # printed .336
]


def test_table_3() -> None:
    root, *found = block_counts(FIRST)
    assert [astuple(block) for block in found] == TABLE_3
    assert astuple(root) == ("html", 0, 0, 0, 0)
    assert [sum(numbers) for numbers in zip(*(row[1:] for row in TABLE_3), strict=True)] == [192, 16, 7, 1]


def test_table_4() -> None:
    found = features([BlockCounts(*row) for row in TABLE_3])
    assert [tuple(round(value, 3) for value in row) for row in found] == TABLE_4
    assert features(block_counts(FIRST))[1:] == found


def test_counts() -> None:
    rows = [
        ("<p>One <a>two</a>", ("body", 6, 3, 1, 0)),
        ("<p>One<div>two</div>", ("body", 3, 0, 0, 0)),
        ("<p>One<table><tr><td>two<img></table>", ("body", 6, 0, 0, 1)),
        ("<p><a><img></a><p><a></a>", ("body", 0, 0, 2, 1)),
        # What is common does not count, an <a> neither that holds nothing else.
        ("<p>Menu<p><a>Home</a>", ("body", 0, 0, 0, 0)),
        ("<p><a>Home <b>Menu</b></a>", ("body", 4, 4, 1, 0)),
        ("<p><a>Home<br>again</a>", ("body", 5, 5, 1, 0)),
    ]
    for html, expected in rows:
        found = block_counts(Page.from_html(html), [LeafLabel("p", "Menu"), LeafLabel("a", "Home")])
        assert found[1] == BlockCounts(*expected)


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """An SVM that takes blocks for main text whose R5 is nearer to 0 than to some number."""

    def put(other: float) -> None:
        vectors = np.array([[0.0] * 5, [0, 0, 0, 0, other]])

        class LinksAlone(Svm):
            def decide(self, features: np.ndarray) -> np.ndarray:
                return Svm.decide(self, features * [0, 0, 0, 0, 1])

        monkeypatch.setattr(module, "shipped", lambda: LinksAlone(vectors, np.array([1.0, -1.0]), 1.0, 0.0))

    return put


def test_main_text_is_what_the_svm_says(judge: Callable[[float], None]) -> None:
    judge(1.0)
    page = Page.from_html("<div>One<div><a>two</a></div>three</div><section>four<p>five</section>", "http://a.example/")
    assert template_svm(page).text == "One\nthree\nfour\nfive"
    assert template_svm(page, Library([LeafLabel("p", "five")])).text == "One\nthree\nfour"
    judge(-1.0)
    assert template_svm(page).text == "One\ntwo\nthree\nfour\nfive"


def test_what_is_common_is_taken_out_before_the_blocks_are_judged(judge: Callable[[float], None]) -> None:
    judge(1.0)
    page = Page.from_html("<div><p>Of bees.<p><a>All about the menu</a></div>")
    assert template_svm(page).text == ""
    assert template_svm(page, Library(labels(page) - {LeafLabel("p", "Of bees.")})).text == "Of bees."


def test_an_article_among_menus() -> None:
    menu = "".join(f"<li><a href=/{number}>Section number {number}</a>" for number in range(20))
    article = "".join(
        f"<p>Paragraph {number} says what there is to say of it, at some length.</p>" for number in range(9)
    )
    page = Page.from_html(f"<div><ul>{menu}</ul></div><div>{article}</div><div><a href=/>Home</a> © 2020</div>")
    assert template_svm(page).text == "\n".join(block.text for block in page.blocks if "Paragraph" in block.text)


def test_the_weights_are_small() -> None:
    assert WEIGHTS.stat().st_size < 300_000
    assert len(shipped().vectors) <= 600
    assert shipped().vectors.shape[1] == len(LabelShares._fields)


def test_weights_come_back_as_they_were_saved(tmp_path: Path) -> None:
    save(shipped(), tmp_path / "a.npz")
    again = load(tmp_path / "a.npz")
    assert all(np.array_equal(one, other) for one, other in zip(astuple(again), astuple(shipped()), strict=True))


def test_the_decision_is_the_formula() -> None:
    for count in [0, 1, AT_ONCE, AT_ONCE + 1]:
        rows = np.random.default_rng(1).random((count, 5))
        svm = shipped()
        expected = [
            sum(w * np.exp(-svm.gamma * ((row - v) ** 2).sum()) for v, w in zip(svm.vectors, svm.weights, strict=True))
            for row in rows[-3:]
        ]
        found = svm.decide(rows)
        assert found.shape == (count,)
        np.testing.assert_allclose(found[-3:], np.array(expected) + svm.bias, rtol=0, atol=1e-9)


def test_a_hundred_blocks_take_a_moment() -> None:
    rows = np.random.default_rng(1).random((100, 5))
    shipped().decide(rows)
    start = time.thread_time()
    for _ in range(20):
        shipped().decide(rows)
    assert (time.thread_time() - start) / 20 < 0.01


@pytest.mark.parametrize("method", ["auto", "template-svm"])
def test_numpy_is_loaded_by_the_method_that_needs_it(method: str) -> None:
    program = (
        "import sys; from crawler.extraction import extract; extract('<p>One.', method='leaf-tags');"
        "assert not {'numpy', 'crawler.extraction.methods.crunch'} & sys.modules.keys();"
        f"extract('<p>One.', method='{method}'); assert 'numpy' in sys.modules; assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
