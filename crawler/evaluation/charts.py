"""Pictures of figures as inline SVG: precision and recall with speed, and boxes of page F1."""

import math
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

import numpy as np

WIDTH, HEIGHT = 620, 476
LEFT, RIGHT_EDGE, TOP, BOTTOM = 56, 600, 16, 410
F1_LINES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
SPEEDS = (10, 100, 1000)
LETTER, LINE = 6.6, 13  # width and height of a letter of a label, more or less
ROW = 24
NAMES = 130  # width of the names beside the boxes
# A box holds the middle half of the pages, its whiskers the middle nine tenths.
PERCENT = (5, 25, 50, 75, 95)

Scale = Callable[[float], float]


class Point(NamedTuple):
    """A method in the picture of precision and recall."""

    name: str
    precision: float
    recall: float
    speed: float | None
    is_peer: bool


class Row(NamedTuple):
    """A method in the picture of boxes."""

    name: str
    f1s: Sequence[float]
    is_peer: bool


class Rectangle(NamedTuple):
    """Where something stands already."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Rectangle") -> bool:
        """Whether the two share any place."""
        return not (
            self.right <= other.left or other.right <= self.left or self.bottom <= other.top or other.bottom <= self.top
        )


def precision_recall_chart(points: Sequence[Point]) -> str:
    """Recall to the right, precision upwards, a circle a method, the larger the faster."""
    lowest = min((min(point.precision, point.recall) for point in points), default=0.0)
    least = min(0.8, math.floor(lowest * 10) / 10)

    def x(recall: float) -> float:
        return LEFT + (recall - least) / (1 - least) * (RIGHT_EDGE - LEFT)

    def y(precision: float) -> float:
        return BOTTOM - (precision - least) / (1 - least) * (BOTTOM - TOP)

    lines, numbers = _f1_lines(least, x, y)
    parts = [_grid(least, x, y), lines]
    circles = [(x(point.recall), y(point.precision), _radius(point.speed)) for point in points]
    taken = [*numbers, *(Rectangle(cx - r, cy - r, cx + r, cy + r) for cx, cy, r in circles)]
    for point, (cx, cy, r) in zip(points, circles, strict=True):
        label = place_label(point.name, cx, cy, r, taken)
        taken.append(label)
        parts.append(_leader(cx, cy, r, label))
        kind = "peer" if point.is_peer else "own"
        speed = f", {point.speed:.0f} pages/s" if point.speed else ""
        said = escape(f"{point.name}: precision {point.precision:.3f}, recall {point.recall:.3f}{speed}")
        parts.append(
            f'<circle class="{kind}" cx="{cx:.1f}" cy="{cy:.1f}" r="{r:.1f}"><title>{said}</title></circle>'
            f'<text class="{kind}" x="{label.left:.1f}" y="{label.bottom - 3:.1f}">{escape(point.name)}</text>'
        )
    parts.append(_speeds())
    return svg(HEIGHT, "Precision and recall of each method, with its speed", "".join(parts))


def box_chart(rows: Sequence[Row]) -> str:
    """A box of page F1 for each method, the median a line, the average a dot."""
    height = ROW * len(rows) + 36

    def x(f1: float) -> float:
        return NAMES + f1 * (RIGHT_EDGE - NAMES)

    parts = []
    for tick in range(0, 11, 2):
        at = x(tick / 10)
        parts.append(
            f'<line class="grid" x1="{at:.1f}" y1="4" x2="{at:.1f}" y2="{height - 24}"/>'
            f'<text x="{at:.1f}" y="{height - 8}" text-anchor="middle">{tick / 10:.1f}</text>'
        )
    for place, row in enumerate(rows):
        middle = ROW * place + 18
        low, first, half, third, high = (x(float(f1)) for f1 in np.percentile(row.f1s, PERCENT))
        kind = "peer" if row.is_peer else "own"
        parts.append(
            f'<text x="{NAMES - 8}" y="{middle + 4}" text-anchor="end">{escape(row.name)}</text>'
            f'<g class="{kind}"><line x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}"/>'
            f'<rect x="{first:.1f}" y="{middle - 7}" width="{max(third - first, 1):.1f}" height="14"/>'
            f'<line class="median" x1="{half:.1f}" y1="{middle - 7}" x2="{half:.1f}" y2="{middle + 7}"/>'
            f'<circle class="mean" cx="{x(float(np.mean(row.f1s))):.1f}" cy="{middle}" r="3"/></g>'
        )
    return svg(height, "Boxes of page F1 of each method", "".join(parts))


def svg(height: float, words: str, inside: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(words)}">{inside}</svg>'


def _radius(speed: float | None) -> float:
    """A circle for a speed: twice as wide for every factor of about thirty."""
    return 3 + 2.2 * math.log10(max(speed or 1.0, 1.0))


def _grid(least: float, x: Scale, y: Scale) -> str:
    parts = []
    steps = round((1 - least) * 10)
    for step in range(steps + 1):
        value = least + step / 10
        parts.append(
            f'<line class="grid" x1="{x(value):.1f}" y1="{TOP}" x2="{x(value):.1f}" y2="{BOTTOM}"/>'
            f'<line class="grid" x1="{LEFT}" y1="{y(value):.1f}" x2="{RIGHT_EDGE}" y2="{y(value):.1f}"/>'
            f'<text x="{x(value):.1f}" y="{BOTTOM + 16}" text-anchor="middle">{value:.1f}</text>'
            f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>'
        )
    middle = (TOP + BOTTOM) / 2
    parts.append(f'<text x="{(LEFT + RIGHT_EDGE) / 2}" y="{BOTTOM + 34}" text-anchor="middle">recall</text>')
    parts.append(f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">precision</text>')
    return "".join(parts)


def _f1_lines(least: float, x: Scale, y: Scale) -> tuple[str, list[Rectangle]]:
    """Lines of equal F1, and the places of their numbers."""
    parts, places = [], []
    for f1 in F1_LINES:
        curve = [(x(recall), y(precision)) for recall, precision in _f1_curve(f1, least)]
        if len(curve) > 1:
            path = " ".join(f"{right:.1f},{down:.1f}" for right, down in curve)
            right, down = curve[-1]
            places.append(Rectangle(right - 8 * LETTER, down - LINE, right, down))
            parts.append(
                f'<polyline class="f1" points="{path}"/>'
                f'<text class="f1" x="{right - 4:.1f}" y="{down - 3:.1f}" text-anchor="end">F1 {f1}</text>'
            )
    return "".join(parts), places


def _f1_curve(f1: float, least: float) -> list[tuple[float, float]]:
    """Recalls and precisions inside the picture that have this F1."""
    recalls = [least + (1 - least) * step / 100 for step in range(101)]
    curve = [(recall, f1 * recall / (2 * recall - f1)) for recall in recalls if 2 * recall > f1]
    return [(recall, precision) for recall, precision in curve if least <= precision <= 1]


def place_label(name: str, cx: float, cy: float, r: float, taken: Sequence[Rectangle]) -> Rectangle:
    """Where a label fits: right, left, above, below, and again farther off; to the right where it fits nowhere."""
    width, half = LETTER * len(name), LINE / 2
    spots = []
    for far in (r + 3, r + 16, r + 30):
        spots += [
            (cx + far, cy - half),
            (cx - far - width, cy - half),
            (cx - width / 2, cy - far - LINE),
            (cx - width / 2, cy + far),
            (cx + far, cy - far - half),
            (cx + far, cy + far - half),
            (cx - far - width, cy - far - half),
            (cx - far - width, cy + far - half),
        ]
    tried = [Rectangle(left, top, left + width, top + LINE) for left, top in spots]
    inside = [one for one in tried if one.left >= LEFT and one.right <= WIDTH and TOP <= one.top <= BOTTOM - LINE]
    free = (one for one in inside if not any(one.overlaps(other) for other in taken))
    return next(free, inside[0] if inside else tried[1])


def _leader(cx: float, cy: float, r: float, label: Rectangle) -> str:
    """A line from a circle to its label where the two are apart."""
    x, y = min(max(cx, label.left), label.right), min(max(cy, label.top), label.bottom)
    if math.hypot(x - cx, y - cy) < r + 8:
        return ""
    return f'<line class="to" x1="{cx:.1f}" y1="{cy:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>'


def _speeds() -> str:
    """What the sizes of the circles mean."""
    places = [LEFT + 330 + 90 * step for step in range(len(SPEEDS) + 1)]
    parts = [
        f'<circle class="key" cx="{left - 62}" cy="{HEIGHT - 12}" r="{_radius(speed):.1f}"/>'
        f'<text x="{left - 50}" y="{HEIGHT - 8}">{speed}</text>'
        for speed, (left, _) in zip(SPEEDS, pairwise(places), strict=True)
    ]
    return "".join(parts) + f'<text x="{places[0] - 84}" y="{HEIGHT - 8}" text-anchor="end">pages/s:</text>'
