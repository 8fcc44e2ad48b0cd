"""Charts as inline SVG: precision and recall of methods, box plots of page F1, the harvest of a crawl, and the accuracy
of link scores.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from markupsafe import Markup

from crawler.contrib.lab.focus_figures import WINDOW, FocusGroup, FocusPoint
from crawler.reports.html_page import escaped, percent
from crawler.translation.message import Catalogue, plural

# All lengths are in units of the SVG.
WIDTH = 620
LEFT = 56
RIGHT = 600
TOP = 16
BOTTOM = 410
"""The edges of the plot area. The axes are its left and bottom edges."""
LEGEND_Y = BOTTOM + 62
"""The y coordinate of the legend."""
LETTER_WIDTH = 6.6
"""The approximate width of a letter in a label."""
LINE_HEIGHT = 13
F1_LINES = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
"""The values of F1 whose curves are drawn."""
SPEEDS = (10, 100, 1000)
"""The speeds in the legend, in pages per second."""
ROW_HEIGHT = 24
"""The height of a row of the box plot."""
NAMES_WIDTH = 130
"""The width of the names beside the boxes."""
PERCENTILES = (5, 25, 50, 75, 95)
"""The ends of whiskers and boxes: a box holds the middle half of the pages, its whiskers the middle nine tenths."""
TICKS = 5
"""The most ticks of an axis of pages, besides the one at 0."""
LAST_SHARE = 0.96
"""A label that is centred further right than this share of the axis would be cut off."""

Place = tuple[float, float]
"""The x and the y coordinate of a point."""


@dataclass(frozen=True, slots=True)
class Point:
    """A method in the chart of precision and recall."""

    name: str
    precision: float
    recall: float
    speed: float | None
    """Pages per second."""
    is_peer: bool
    """Whether the method is another program, not Winnow's."""


@dataclass(frozen=True, slots=True)
class Row:
    """A method in the box plot."""

    name: str
    f1s: Sequence[float]
    is_peer: bool


@dataclass(frozen=True, slots=True)
class Rectangle:
    """The area of an element of the chart."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Rectangle") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


# Parts of all charts. `kind` is the CSS class of an element, `title` its tooltip.


def across(share: float) -> float:
    """The x coordinate at this share of the horizontal axis."""
    return LEFT + share * (RIGHT - LEFT)


def up(share: float) -> float:
    """The y coordinate at this share of the vertical axis."""
    return BOTTOM - share * (BOTTOM - TOP)


def svg(height: float, about: str, parts: Iterable[str]) -> Markup:
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escaped(about)}">'
    return Markup(f"{head}{''.join(parts)}</svg>")  # noqa: S704 - the parts are escaped


def label(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escaped(words)}</text>'


def line(kind: str, start: Place, end: Place) -> str:
    return f'<line class="{kind}" x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'


def circle(kind: str, x: float, y: float, r: float, title: str = "") -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"><title>{escaped(title)}</title></circle>'


def polyline(kind: str, places: Iterable[Place], title: str = "") -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline class="{kind}" points="{points}"><title>{escaped(title)}</title></polyline>'


def bar(kind: str, corner: Place, width: float, height: float, title: str = "") -> str:
    x, y = corner
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" {place}><title>{escaped(title)}</title></rect>'


def axes(x: Iterable[tuple[float, str]], y: Iterable[tuple[float, str]], x_name: str, y_name: str) -> list[str]:
    """A grid with labelled ticks, and the names of the axes. Each tick is a share of its axis, and a label."""
    middle = (TOP + BOTTOM) / 2
    parts = [
        label((LEFT + RIGHT) / 2, BOTTOM + 34, x_name),
        f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{escaped(y_name)}</text>',
    ]
    for share, words in x:
        anchor = "end" if share > LAST_SHARE and len(words) > 3 else "middle"  # shorter labels are not cut off
        parts.append(line("grid", (across(share), TOP), (across(share), BOTTOM)))
        parts.append(label(across(share), BOTTOM + 16, words, anchor))
    for share, words in y:
        parts.append(line("grid", (LEFT, up(share)), (RIGHT, up(share))))
        parts.append(label(LEFT - 6, up(share) + 4, words, "end"))
    return parts


FIFTHS = [(step / 5, f"{step / 5:.1f}") for step in range(6)]
"""The ticks of an axis from 0 to 1, and their labels."""


# Extraction methods.


def precision_recall_chart(points: Sequence[Point]) -> Markup:
    """A scatter plot of recall and precision: a circle for each method, larger for faster methods."""
    # The axes begin at the tenth below all points, and at most at .8.
    lowest = min((min(point.precision, point.recall) for point in points), default=0.0)
    least = min(0.8, math.floor(lowest * 10) / 10)

    def place(recall: float, precision: float) -> Place:
        return across((recall - least) / (1 - least)), up((precision - least) / (1 - least))

    values = (least + step / 10 for step in range(round((1 - least) * 10) + 1))
    ticks = [((value - least) / (1 - least), f"{value:.1f}") for value in values]
    parts = axes(ticks, ticks, "recall", "precision")

    # The curves of equal F1.
    used_areas = []
    for f1 in F1_LINES:
        curve = [place(recall, precision) for recall, precision in _f1_curve(f1, least)]
        if len(curve) > 1:
            x, y = curve[-1]
            # The area of the label at the end of the curve, which has at most 8 letters.
            used_areas.append(Rectangle(left=x - 8 * LETTER_WIDTH, top=y - LINE_HEIGHT, right=x, bottom=y))
            parts += [polyline("f1", curve), label(x - 4, y - 3, f"F1 {f1}", "end", "f1")]

    # The circles, with a label at a free place beside each.
    circles = [(*place(point.recall, point.precision), _radius(point.speed)) for point in points]
    used_areas += [Rectangle(left=x - r, top=y - r, right=x + r, bottom=y + r) for x, y, r in circles]
    for point, (x, y, r) in zip(points, circles, strict=True):
        label_area = label_place(point.name, x, y, r, used_areas)
        used_areas.append(label_area)
        kind = "peer" if point.is_peer else "own"
        hint = f"{point.name}: precision {point.precision:.3f}, recall {point.recall:.3f}"
        if point.speed:
            hint += f", {point.speed:.0f} pages/s"
        label_middle = label_area.top + LINE_HEIGHT / 2
        if abs(label_middle - y) > 1:  # the label is above or below its circle, so a line leads to it
            nearest_x = min(max(x, label_area.left), label_area.right)
            parts.append(line("to", (x, y), (nearest_x, label_middle)))
        parts += [circle(kind, x, y, r, hint), label(label_area.left, label_area.bottom - 3, point.name, "start", kind)]

    # The legend.
    parts.append(label(LEFT + 246, LEGEND_Y, "pages/s:", "end"))
    for step, speed in enumerate(SPEEDS):
        left = LEFT + 268 + 90 * step
        parts += [circle("key", left, LEGEND_Y - 4, _radius(speed)), label(left + 12, LEGEND_Y, str(speed), "start")]
    return svg(LEGEND_Y + 8, "Precision and recall of each method, with its speed", parts)


def _f1_curve(f1: float, least: float) -> list[Place]:
    """Points of recall and precision that have this F1, inside the chart."""
    recalls = (least + (1 - least) * step / 100 for step in range(101))
    curve = [(recall, f1 * recall / (2 * recall - f1)) for recall in recalls if 2 * recall > f1]
    return [(recall, precision) for recall, precision in curve if least <= precision <= 1]


def _radius(speed: float | None) -> float:
    """The radius of a circle, which grows with the logarithm of the speed in pages per second."""
    return 3 + 2.2 * math.log10(max(speed or 1.0, 1.0))


def label_place(name: str, x: float, y: float, r: float, used_areas: Sequence[Rectangle]) -> Rectangle:
    """The nearest free place for a label to the right or left of its circle, at most six lines higher or lower.

    If no place is free, labels overlap.
    """
    width = LETTER_WIDTH * len(name)
    tops = [y + (step - 0.5) * LINE_HEIGHT for step in sorted(range(-6, 7), key=abs)]
    candidates = [
        Rectangle(left=left, top=top, right=left + width, bottom=top + LINE_HEIGHT)
        for top in tops
        for left in (x + r + 3, x - r - 3 - width)
    ]
    inside = [
        area
        for area in candidates
        if area.left >= LEFT and area.right <= WIDTH and TOP <= area.top <= BOTTOM - LINE_HEIGHT
    ]
    free = (area for area in inside if not any(area.overlaps(used) for used in used_areas))
    beside_left = candidates[1]
    return next(free, inside[0] if inside else beside_left)


def box_chart(rows: Sequence[Row]) -> Markup:
    """A box plot of the F1 of pages, with a row for each method; the median is a line, the mean a dot."""
    height = ROW_HEIGHT * len(rows) + 36

    def x(f1: float) -> float:
        return NAMES_WIDTH + f1 * (RIGHT - NAMES_WIDTH)

    parts = []
    for share, words in FIFTHS:
        parts += [line("grid", (x(share), 4), (x(share), height - 24)), label(x(share), height - 8, words)]
    for number, row in enumerate(rows):
        y = ROW_HEIGHT * number + 18
        low, first_quartile, median, third_quartile, high = (x(float(f1)) for f1 in np.percentile(row.f1s, PERCENTILES))
        parts += [
            label(NAMES_WIDTH - 8, y + 4, row.name, "end"),
            f'<g class="{"peer" if row.is_peer else "own"}">',
            line("", (low, y), (high, y)),
            bar("", (first_quartile, y - 7), max(third_quartile - first_quartile, 1), 14),
            line("median", (median, y - 7), (median, y + 7)),
            circle("mean", x(float(np.mean(row.f1s))), y, 3),
            "</g>",
        ]
    return svg(height, "Boxes of page F1 of each method", parts)


# Crawls.


def course_chart(course: Sequence[FocusPoint], total: int, by_truth: bool, catalogue: Catalogue) -> Markup:
    """The recent and the total harvest over the pages of a crawl, and the share of `total` that was found.

    If `by_truth`, `total` is the length of a truth list, otherwise the number of pages on topic that the crawl stored.
    """
    _ = catalogue.gettext
    most = course[-1].pages
    # By CSS class, the name of each curve and its values.
    curves = {
        "lately": (_("harvest of the last {window}", window=WINDOW), [point.lately for point in course]),
        "overall": (_("harvest so far"), [point.harvest for point in course]),
    }
    if total:
        if by_truth:
            curves["share"] = (_("recall"), [point.found / total for point in course])
        else:
            curves["share"] = (_("found so far"), [point.on_topic / total for point in course])
    marks = [(count / most, f"{count:,}") for count in range(0, most + 1, round_step(most))]
    parts = axes(marks, FIFTHS, _("pages"), _("share"))
    for number, (kind, (name, values)) in enumerate(curves.items()):
        left = LEFT + number * (RIGHT - LEFT) / len(curves)
        places = ((across(point.pages / most), up(value)) for point, value in zip(course, values, strict=True))
        end = percent(values[-1])
        hint = plural("{name}: {share} after {n} page", "{name}: {share} after {n} pages", most, name=name, share=end)
        parts += [
            polyline(f"curve {kind}", places, _(hint)),
            line(f"curve {kind}", (left, LEGEND_Y - 4), (left + 26, LEGEND_Y - 4)),
            label(left + 32, LEGEND_Y, name, "start"),
        ]
    return svg(LEGEND_Y + 12, _("Harvest over the pages of the crawl"), parts)


def score_chart(tenths: Sequence[FocusGroup | None], catalogue: Catalogue) -> Markup:
    """A bar for each tenth of the link score, whose height is the mean relevance of its pages."""
    _ = catalogue.gettext
    marks = [(number / len(tenths), f"{number / len(tenths):.1f}") for number in range(len(tenths) + 1)]
    parts = axes(marks, FIFTHS, _("link score"), _("mean relevance"))
    width = 0.7 * (RIGHT - LEFT) / len(tenths)
    for number, group in enumerate(tenths):
        if group is not None:
            middle = across((number + 0.5) / len(tenths))
            top = up(group.relevance)
            relevance = f"{group.relevance:.3f}"
            hint = plural(
                "{n} page, mean relevance {relevance}",
                "{n} pages, mean relevance {relevance}",
                group.pages,
                relevance=relevance,
            )
            parts += [
                bar("bar", (middle - width / 2, top), width, BOTTOM - top, _(hint)),
                label(middle, top - 4, short_count(group.pages)),
            ]
    parts.append(line("even", (across(0), up(0)), (across(1), up(1))))  # where relevance equals the link score
    return svg(BOTTOM + 44, _("Mean relevance of pages by the score of the link that led to them"), parts)


def short_count(count: int) -> str:
    """A count, shortened with k or M.

    >>> short_count(999), short_count(1_000), short_count(12_499), short_count(999_999), short_count(2_500_000)
    ('999', '1.0k', '12k', '1000k', '2.5M')
    """
    for unit, size in (("M", 10**6), ("k", 10**3)):
        if count >= size:
            if count < 10 * size:
                return f"{count / size:.1f}{unit}"
            return f"{count / size:.0f}{unit}"
    return str(count)


def round_step(most: int) -> int:
    """The distance between ticks on an axis up to `most`, for at most TICKS ticks: 1, 2 or 5 times a power of ten.

    >>> [round_step(most) for most in (1, 7, 10, 1_234, 1_000_000)]
    [1, 2, 2, 500, 200000]
    """
    # 1, 2, 5, 10, 20, 50, ...
    steps = accumulate([2, 2.5, 2] * len(str(most)), lambda step, factor: int(step * factor), initial=1)
    return next(step for step in steps if step * TICKS >= most)
