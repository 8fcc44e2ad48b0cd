import numpy as np
import pytest

from crawler.extraction.auto.page_arrays import page_arrays
from crawler.extraction.auto.repeated_blocks import LEAST_P, alike
from crawler.page.page import Page


def judged(html: str, *likely: float) -> list[float]:
    found: list[float] = alike(np.array(likely, np.float32), page_arrays(Page.from_html(html))).tolist()
    return found


def test_blocks_at_the_same_place_are_judged_alike() -> None:
    rows = [
        ("<div id=post-1><p class=a>b</p></div><div id=post-2><p class=a>c</p></div>", True),
        ("<div class=post-1><p>a</p></div><div class=post-2><p>b</p></div>", True),
        ("<div class='post first'><p>a</p></div><div class=' post'><p>b</p></div>", True),
        ("<div class=post><p>a</p></div><div class=teaser><p>b</p></div>", False),
        ("<div class=post><p>a</p><h2>b</h2></div>", False),
        ("<main><div><p class=a>b</p></div></main><aside><div><p class=a>c</p></div></aside>", False),
        ("<main><div><p><b class=a>b</b></p></div></main><div><div><p>c</p></div></div>", False),
        ("<main><div><div><p class=a>b</p></div></div></main><div><div><p class=a>c</p></div></div>", True),
        ("<div><p>a</p></div><div><p>b</p></div>", False),
        ("<div class=a><p>b<a href=/c>c</a></p><p>d</p></div>", True),
        ("<div class=a><p>b<a href=/c>cd</a></p><p>e</p></div>", False),
    ]
    for html, is_same_place in rows:
        first, second = judged(html, 0.8, 0.2)
        assert first > second
        assert first + second == pytest.approx(1, abs=1e-6)
        assert (first < 0.7) if is_same_place else (first == pytest.approx(0.8))


def test_one_sure_block_does_not_decide_for_the_others() -> None:
    html = "<div class=post><p>a</p><p>b</p></div>"
    assert judged(html, 1.0, 0.3)[1] == pytest.approx(judged(html, 1 - LEAST_P, 0.3)[1])
    assert judged(html, 0.0, 0.7)[1] == pytest.approx(judged(html, LEAST_P, 0.7)[1])


def test_blocks_that_are_all_sure_stay_as_they_are() -> None:
    html = "<div class=menu><p>a</p><p>b</p><p>c</p></div>"
    assert judged(html, 0.001, 0.002, 0.001) == pytest.approx([0.001, 0.002, 0.001], rel=1e-3)
    assert judged(html, 0.999, 0.999, 0.999) == pytest.approx([0.999] * 3, rel=1e-3)
