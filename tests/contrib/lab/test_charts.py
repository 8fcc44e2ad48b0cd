from itertools import combinations
from xml.etree import ElementTree

import pytest

from crawler.contrib.lab.charts import (
    BOTTOM,
    LEFT,
    LEGEND_Y,
    RIGHT,
    TOP,
    WIDTH,
    Point,
    Rectangle,
    Row,
    box_chart,
    course_chart,
    label_place,
    precision_recall_chart,
    round_step,
    score_chart,
)
from crawler.contrib.lab.focus_figures import FocusGroup, FocusPoint
from crawler.translation.message import catalogue_of

ENGLISH = catalogue_of("en")


def elements(svg: str, tag: str, kind: str) -> list[ElementTree.Element]:
    return [found for found in ElementTree.fromstring(svg).iter(tag) if found.get("class") == kind]


def test_a_circle_stands_where_its_figures_are_and_is_larger_when_faster() -> None:
    slow, fast = Point("slow", 0.5, 1.0, 10, True), Point("fast", 1.0, 0.5, 1000, False)
    svg = precision_recall_chart([slow, fast])
    (one,), (other,) = elements(svg, "circle", "peer"), elements(svg, "circle", "own")
    assert float(one.get("cx", "")) > float(other.get("cx", ""))  # more recall: farther right
    assert float(one.get("cy", "")) > float(other.get("cy", ""))  # more precision: farther up
    assert float(one.get("r", "")) < float(other.get("r", ""))
    assert one[0].text == "slow: precision 0.500, recall 1.000, 10 pages/s"


def test_any_figures_make_an_image_inside_its_frame() -> None:
    rows = [
        [],
        [Point("<b>&", 0.0, 0.0, None, True)],
        [Point("all", 1.0, 1.0, 0.0, True)],
        [Point(f"method-{n}", 0.9 + n / 1000, 0.95, 50.0, n > 3) for n in range(20)],
    ]
    for points in rows:
        svg = precision_recall_chart(points)
        assert "nan" not in svg
        circles = elements(svg, "circle", "peer") + elements(svg, "circle", "own")
        assert len(circles) == len(points)
        assert all(0 <= float(circle.get("cx", "")) <= WIDTH for circle in circles)
        assert all(0 <= float(circle.get("cy", "")) <= LEGEND_Y for circle in circles)


def test_labels_keep_apart_while_there_is_room() -> None:
    taken: list[Rectangle] = []
    for _ in range(5):
        taken.append(label_place("label", 300, 200, 5, taken))
    assert not any(one.overlaps(other) for one, other in combinations(taken, 2))


def test_boxes_hold_the_middle_half() -> None:
    svg = box_chart([Row("own", [0.0, 0.25, 0.5, 0.75, 1.0], False), Row("<peer>", [0.5], True)])
    (box, single) = (found for found in ElementTree.fromstring(svg).iter("rect"))
    left, width = float(box.get("x", "")), float(box.get("width", ""))
    (median, other) = elements(svg, "line", "median")
    assert float(median.get("x1", "")) == pytest.approx(left + width / 2, abs=0.2)
    assert median.get("x1") == other.get("x1")
    assert float(single.get("width", "")) == 1
    assert "<peer>" not in svg


# Crawls.


def path(svg: str, kind: str) -> list[tuple[float, float]]:
    """The points of a curve."""
    (line,) = (one for one in ElementTree.fromstring(svg).iter("polyline") if kind in one.get("class", "").split())
    return [(float(right), float(down)) for right, down in (pair.split(",") for pair in line.get("points", "").split())]


def test_curves_stand_where_their_figures_are() -> None:
    svg = course_chart(
        [FocusPoint(50, 1.0, 0.5, 25, 1), FocusPoint(100, 0.0, 0.5, 50, 2)], 50, by_truth=False, catalogue=ENGLISH
    )
    middle = (LEFT + RIGHT) / 2
    assert path(svg, "lately") == [(middle, TOP), (RIGHT, BOTTOM)]
    assert path(svg, "overall") == [(middle, (TOP + BOTTOM) / 2), (RIGHT, (TOP + BOTTOM) / 2)]
    assert path(svg, "share") == [(middle, (TOP + BOTTOM) / 2), (RIGHT, TOP)]
    assert "found so far: 100.0% after 100 pages" in svg


def test_recall_is_of_the_truth() -> None:
    svg = course_chart([FocusPoint(100, 0.0, 0.5, 50, 2)], 8, by_truth=True, catalogue=ENGLISH)
    assert path(svg, "share")[-1][1] == pytest.approx(BOTTOM - (BOTTOM - TOP) / 4, abs=0.1)


def test_of_nothing_found_there_is_no_share() -> None:
    svg = course_chart([FocusPoint(1, 0.0, 0.0, 0, 0)], 0, by_truth=True, catalogue=ENGLISH)
    assert "recall" not in svg
    assert path(svg, "overall") == [(RIGHT, BOTTOM)]


def group(pages: int, relevance: float) -> FocusGroup:
    return FocusGroup("", pages, 0, 0.0, relevance, 0.5, "")


def test_bars_are_as_high_as_the_mean_relevance() -> None:
    svg = score_chart([None, group(1_500, 0.25), *[None] * 7, group(7, 1.0)], ENGLISH)
    first, last = ElementTree.fromstring(svg).iter("rect")
    assert float(first.get("height", "")) == pytest.approx((BOTTOM - TOP) / 4, abs=0.1)
    assert float(last.get("y", "")) == TOP
    tenth = (RIGHT - LEFT) / 10
    assert LEFT + tenth < float(first.get("x", "")) < LEFT + 2 * tenth - float(first.get("width", ""))
    assert ">1.5k</text>" in svg
    assert "1,500 pages, mean relevance 0.250" in svg


def test_without_link_scores_the_image_is_empty() -> None:
    assert not list(ElementTree.fromstring(score_chart([None] * 10, ENGLISH)).iter("rect"))


def test_marks_are_few_and_inside() -> None:
    for most in [1, 2, 5, 9, 10, 11, 199, 10_000, 123_456, 1_000_000]:
        assert 1 <= most / round_step(most) <= 6 or most < 1
        for svg in (
            course_chart([FocusPoint(most, 0.5, 0.5, 1, 0)], 1, by_truth=False, catalogue=ENGLISH),
            score_chart([group(most, 0.5)] * 10, ENGLISH),
        ):
            for text in ElementTree.fromstring(svg).iter("text"):
                place, width = float(text.get("x", 0)), 6.6 * len(text.text or "")
                left = {"middle": place - width / 2, "end": place - width}.get(text.get("text-anchor", ""), place)
                assert text.get("transform") or (left >= 0 and left + width <= WIDTH)
