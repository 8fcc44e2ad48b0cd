from itertools import combinations
from xml.etree import ElementTree

import pytest

from crawler.evaluation.charts import (
    HEIGHT,
    WIDTH,
    Point,
    Rectangle,
    Row,
    box_chart,
    place_label,
    precision_recall_chart,
)


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


@pytest.mark.parametrize(
    "points",
    [
        [],
        [Point("<b>&", 0.0, 0.0, None, True)],
        [Point("all", 1.0, 1.0, 0.0, True)],
        [Point(f"method-{n}", 0.9 + n / 1000, 0.95, 50.0, n > 3) for n in range(20)],
    ],
)
def test_any_figures_make_a_picture_inside_its_frame(points: list[Point]) -> None:
    svg = precision_recall_chart(points)
    assert "nan" not in svg
    circles = elements(svg, "circle", "peer") + elements(svg, "circle", "own")
    assert len(circles) == len(points)
    assert all(0 <= float(circle.get("cx", "")) <= WIDTH for circle in circles)
    assert all(0 <= float(circle.get("cy", "")) <= HEIGHT for circle in circles)


def test_labels_keep_apart_while_there_is_room() -> None:
    taken: list[Rectangle] = []
    for _ in range(5):
        taken.append(place_label("label", 300, 200, 5, taken))
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
