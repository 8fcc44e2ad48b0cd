"""Pictures of a crawl's course."""

from xml.etree import ElementTree

import pytest

from crawler.evaluation.charts import BOTTOM, LEFT, RIGHT_EDGE, TOP, WIDTH
from crawler.evaluation.curves import course_chart, round_step, score_chart
from crawler.evaluation.gathering import Group, Point


def path(svg: str, kind: str) -> list[tuple[float, float]]:
    """The points of a curve."""
    (line,) = (one for one in ElementTree.fromstring(svg).iter("polyline") if kind in one.get("class", "").split())
    return [(float(right), float(down)) for right, down in (pair.split(",") for pair in line.get("points", "").split())]


def test_curves_stand_where_their_figures_are() -> None:
    svg = course_chart([Point(50, 1.0, 0.5, 25, 1), Point(100, 0.0, 0.5, 50, 2)], 50, by_truth=False)
    middle = (LEFT + RIGHT_EDGE) / 2
    assert path(svg, "lately") == [(middle, TOP), (RIGHT_EDGE, BOTTOM)]
    assert path(svg, "overall") == [(middle, (TOP + BOTTOM) / 2), (RIGHT_EDGE, (TOP + BOTTOM) / 2)]
    assert path(svg, "share") == [(middle, (TOP + BOTTOM) / 2), (RIGHT_EDGE, TOP)]
    assert "found so far: 100.0% after 100 pages" in svg


def test_recall_is_of_the_truth() -> None:
    svg = course_chart([Point(100, 0.0, 0.5, 50, 2)], 8, by_truth=True)
    assert path(svg, "share")[-1][1] == pytest.approx(BOTTOM - (BOTTOM - TOP) / 4, abs=0.1)


def test_of_nothing_found_there_is_no_share() -> None:
    svg = course_chart([Point(1, 0.0, 0.0, 0, 0)], 0, by_truth=True)
    assert "recall" not in svg
    assert path(svg, "overall") == [(RIGHT_EDGE, BOTTOM)]


def group(pages: int, relevance: float) -> Group:
    return Group("", pages, 0, relevance, 0.5, "")


def test_bars_are_as_high_as_the_mean_relevance() -> None:
    svg = score_chart([None, group(1_500, 0.25), *[None] * 7, group(7, 1.0)])
    first, last = ElementTree.fromstring(svg).iter("rect")
    assert float(first.get("height", "")) == pytest.approx((BOTTOM - TOP) / 4, abs=0.1)
    assert float(last.get("y", "")) == TOP
    tenth = (RIGHT_EDGE - LEFT) / 10
    assert LEFT + tenth < float(first.get("x", "")) < LEFT + 2 * tenth - float(first.get("width", ""))
    assert ">1.5k</text>" in svg
    assert "1,500 pages, mean relevance 0.250" in svg


def test_without_link_scores_the_picture_is_empty() -> None:
    assert not list(ElementTree.fromstring(score_chart([None] * 10)).iter("rect"))


@pytest.mark.parametrize("most", [1, 2, 5, 9, 10, 11, 199, 10_000, 123_456, 1_000_000])
def test_marks_are_few_and_inside(most: int) -> None:
    assert 1 <= most / round_step(most) <= 6 or most < 1
    for svg in (course_chart([Point(most, 0.5, 0.5, 1, 0)], 1, by_truth=False), score_chart([group(most, 0.5)] * 10)):
        for text in ElementTree.fromstring(svg).iter("text"):
            place, width = float(text.get("x", 0)), 6.6 * len(text.text or "")
            left = {"middle": place - width / 2, "end": place - width}.get(text.get("text-anchor", ""), place)
            assert text.get("transform") or (left >= 0 and left + width <= WIDTH)
