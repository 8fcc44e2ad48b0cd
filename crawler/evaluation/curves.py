"""Pictures of a crawl's course as inline SVG: its harvest page by page, and what its link scores were worth."""

import math
from collections.abc import Sequence
from html import escape

from crawler.evaluation.charts import BOTTOM, LEFT, RIGHT_EDGE, TOP, WIDTH, svg
from crawler.evaluation.gathering import WINDOW, Group, Point

HEIGHT = 484
KEY = BOTTOM + 62
"""Where the names of the curves stand."""
TICKS = 5
LAST = 0.96
"""From which share of the width on there is no room to the right."""
BAR = 0.7
"""Of the room of a tenth."""


def course_chart(course: Sequence[Point], total: int, by_truth: bool) -> str:
    """Harvest lately and in all, and which share of `total` was found, over the pages."""
    most = course[-1].pages

    def path(values: Sequence[float]) -> str:
        steps = zip(course, values, strict=True)
        return " ".join(f"{_across(point.pages / most):.1f},{_up(value):.1f}" for point, value in steps)

    curves = {
        "lately": (f"harvest of the last {WINDOW}", [point.lately for point in course]),
        "overall": ("harvest so far", [point.harvest for point in course]),
    }
    if total:
        found = [(point.found if by_truth else point.on_topic) / total for point in course]
        curves["share"] = ("recall" if by_truth else "found so far", found)
    parts = [_upwards("share"), _pages(most)]
    room = (RIGHT_EDGE - LEFT) / len(curves)
    for place, (kind, (name, values)) in enumerate(curves.items()):
        left = LEFT + place * room
        said = escape(f"{name}: {values[-1]:.1%} after {most:,} pages")
        parts.append(
            f'<polyline class="curve {kind}" points="{path(values)}"><title>{said}</title></polyline>'
            f'<line class="curve {kind}" x1="{left:.0f}" y1="{KEY - 4}" x2="{left + 26:.0f}" y2="{KEY - 4}"/>'
            f'<text x="{left + 32:.0f}" y="{KEY}">{escape(name)}</text>'
        )
    return svg(HEIGHT, "Harvest over the pages of the crawl", "".join(parts))


def score_chart(tenths: Sequence[Group | None]) -> str:
    """A bar for each tenth of the link score, as high as the mean relevance of its pages."""
    parts = [_upwards("mean relevance")]
    width = BAR / len(tenths)
    for place, group in enumerate(tenths):
        left = _across((place + (1 - BAR) / 2) / len(tenths))
        right = _across((place + (1 - BAR) / 2) / len(tenths) + width)
        parts.append(
            f'<text x="{_across(place / len(tenths)):.1f}" y="{BOTTOM + 16}" text-anchor="middle">.{place}</text>'
        )
        if group is None:
            continue
        top = _up(group.relevance)
        said = escape(f"{group.pages:,} pages, mean relevance {group.relevance:.3f}")
        parts.append(
            f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{BOTTOM - top:.1f}">'
            f"<title>{said}</title></rect>"
            f'<text x="{(left + right) / 2:.1f}" y="{top - 4:.1f}" text-anchor="middle">{short(group.pages)}</text>'
        )
    parts.append(
        f'<text x="{_across(1):.1f}" y="{BOTTOM + 16}" text-anchor="middle">1</text>'
        f'<line class="even" x1="{_across(0):.1f}" y1="{_up(0):.1f}" x2="{_across(1):.1f}" y2="{_up(1):.1f}"/>'
        f'<text x="{(LEFT + RIGHT_EDGE) / 2}" y="{BOTTOM + 34}" text-anchor="middle">link score</text>'
    )
    return svg(BOTTOM + 44, "Mean relevance of pages by the score of the link that led to them", "".join(parts))


def short(count: int) -> str:
    """A count in few letters.

    >>> short(999), short(1_000), short(12_499), short(999_999), short(2_500_000)
    ('999', '1.0k', '12k', '1000k', '2.5M')
    """
    for unit, size in (("M", 10**6), ("k", 10**3)):
        if count >= size:
            return f"{count / size:.1f}{unit}" if count < 10 * size else f"{count / size:.0f}{unit}"
    return str(count)


def round_step(most: int) -> int:
    """The distance of about TICKS marks up to a number, which is 1, 2 or 5 with noughts.

    >>> [round_step(most) for most in (1, 7, 10, 1_234, 1_000_000)]
    [1, 2, 2, 500, 200000]
    """
    rough = most / TICKS
    unit = 10 ** max(0, math.floor(math.log10(rough))) if rough > 1 else 1
    return next(step * unit for step in (1, 2, 5, 10) if step * unit >= rough)


def _across(share: float) -> float:
    return LEFT + share * (RIGHT_EDGE - LEFT)


def _anchor(share: float) -> str:
    """How text stands to its place, so that it is inside the picture."""
    return "end" if share > LAST else "middle"


def _up(share: float) -> float:
    return BOTTOM - share * (BOTTOM - TOP)


def _upwards(name: str) -> str:
    """Lines for each fifth, and what they stand for."""
    lines = "".join(
        f'<line class="grid" x1="{LEFT}" y1="{_up(step / 5):.1f}" x2="{RIGHT_EDGE}" y2="{_up(step / 5):.1f}"/>'
        f'<text x="{LEFT - 6}" y="{_up(step / 5) + 4:.1f}" text-anchor="end">{step / 5:.1f}</text>'
        for step in range(6)
    )
    middle = (TOP + BOTTOM) / 2
    return f'{lines}<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{escape(name)}</text>'


def _pages(most: int) -> str:
    """Marks of page counts."""
    shares = ((count, count / most) for count in range(0, most + 1, round_step(most)))
    marks = "".join(
        f'<text x="{_across(share):.1f}" y="{BOTTOM + 16}" text-anchor="{_anchor(share)}">{count:,}</text>'
        for count, share in shares
    )
    return f'{marks}<text x="{WIDTH / 2}" y="{BOTTOM + 34}" text-anchor="middle">pages</text>'
