"""Writes the figures of a run as an HTML report, and as cells of the tables in the report and on the terminal."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from markupsafe import Markup

from crawler.contrib.lab.charts import Point, Row, box_chart, precision_recall_chart
from crawler.contrib.lab.evaluation.method_scores import JudgedMethod, MethodFigures, SetResult
from crawler.contrib.lab.evaluation.peers import PEERS
from crawler.contrib.lab.evaluation.significance import DRAWS, Interval
from crawler.contrib.lab.evaluation.text_metrics import GRADES, RIGHT
from crawler.reports.html_page import escaped, percent, report_page

MOST_EXCERPT_BYTES = 3_500_000
"""The largest size of all excerpts together, as HTML."""
EXCERPT_BYTES = 12_000
"""The largest size of one excerpt, as HTML."""
CHARACTERS_BEFORE = 300
"""Characters of the source that are shown before the first words of the gold."""
CLUE_CHARACTERS = 24
"""How many characters from the beginning of a line of gold are searched in the source."""
MOST_CLUES = 20
"""How many of the first lines of gold are searched, until one is found."""
MOST_REASONS = 5
"""The most reasons of failure that are listed for each method."""
EXCERPTS = 3
"""How many excerpts a page has: of the source, the gold and the output."""
# The heads of the table of figures, which `cells` fills, and of the table of compared methods.
HEADS = (
    *("method", "F1", "95%", "P", "R", "word F1", "95%", "right", *GRADES),
    *("rate", "leaf P", "leaf R", "smaller", "pages/s", "failed"),
)
COMPARED = (
    *("first", "second", "difference in word F1", "Cohen's d", "t-test p"),
    *("only first right", "only second right", "McNemar p"),
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, and the numbers of characters before and after it that are left out."""

    before: int
    text: str
    after: int


def report(results: Sequence[SetResult], faults: Sequence[str], version: str, day: date) -> str:
    """The HTML report."""
    shown_pages = sum(len(judged.worst) for result in results for judged in result.judged if not result.is_group)
    # The template calls these functions by their names.
    functions = (cells, number, probability, excerpt, where_it_starts, failures, precision_recall, boxes)
    return report_page(
        "extraction.html",
        **{function.__name__: function for function in functions},
        **{"results": results, "faults": faults, "version": version, "day": day},
        **{"heads": HEADS, "compared": COMPARED, "peers": PEERS, "draws": DRAWS, "right": RIGHT, "grades": GRADES},
        limit=min(EXCERPT_BYTES, MOST_EXCERPT_BYTES // max(1, EXCERPTS * shown_pages)),
    )


def precision_recall(methods: Iterable[JudgedMethod]) -> Markup:
    """The chart of precision and recall, for the methods that have figures."""
    points = []
    for judged in methods:
        figures = judged.figures
        if figures is not None:
            point = Point(
                name=judged.name,
                precision=figures.precision,
                recall=figures.recall,
                speed=figures.speed,
                is_peer=judged.name in PEERS,
            )
            points.append(point)
    return precision_recall_chart(points)


def boxes(methods: Iterable[JudgedMethod]) -> Markup:
    """The box plot of the F1 of pages, for each method."""
    return box_chart([Row(name=judged.name, f1s=judged.f1s, is_peer=judged.name in PEERS) for judged in methods])


def failures(methods: Iterable[JudgedMethod]) -> list[tuple[str, str, int]]:
    """The most frequent reasons of failure of each method, with the number of pages."""
    rows = []
    for judged in methods:
        counts = Counter(output.failure for output in judged.run.outputs if output.failure)
        rows += [(judged.name, why, count) for why, count in counts.most_common(MOST_REASONS)]
    return rows


def excerpt(text: str, limit: int, start: int = 0) -> Excerpt:
    """The text from a position on, cut so that it is about `limit` bytes of HTML or less."""
    part = text[start : start + limit]
    size = len(escaped(part).encode())
    if size > limit:  # cut in proportion, as if all characters took the same number of bytes
        part = part[: len(part) * limit // size]
    return Excerpt(before=start, text=part, after=len(text) - start - len(part))


def where_it_starts(page_html: str, gold: str) -> int:
    """A position in the source a little before the main text; before the body if the source has no line of the gold.

    Where the main text begins is found by the first lines of the gold.
    """
    clues = (line.strip()[:CLUE_CHARACTERS] for line in gold.splitlines()[:MOST_CLUES])
    positions = (page_html.find(clue) for clue in clues if clue)
    first = next((position for position in positions if position >= 0), page_html.find("<body"))
    return max(0, first - CHARACTERS_BEFORE)


def cells(figures: MethodFigures) -> list[str]:
    """The figures as text, in the order of HEADS; a dash stands for an undefined figure."""
    return [
        number(figures.f1),
        interval(figures.f1_interval),
        number(figures.precision),
        number(figures.recall),
        number(figures.word_f1),
        interval(figures.word_f1_interval),
        percent(figures.right),
        *(percent(share) for share in figures.grades.values()),
        number(figures.rate),
        number(figures.leaf_precision),
        number(figures.leaf_recall),
        percent(figures.reduction),
        _speed(figures.speed),
        str(figures.failed),
    ]


def _speed(pages_per_second: float | None) -> str:
    if pages_per_second is None:
        return "–"
    if pages_per_second >= 10:
        return f"{pages_per_second:,.0f}"
    return f"{pages_per_second:.1f}"


def number(value: float | None) -> str:
    """A figure with three digits.

    >>> number(0.96149), number(1.0), number(None)
    ('.961', '1.000', '–')
    """
    if value is None:
        return "–"
    if value >= 0:
        return f"{value:.3f}".removeprefix("0")
    return f"{value:.3f}"


def interval(value: Interval | None) -> str:
    """The two ends of an interval.

    >>> interval((0.9, 0.95)), interval(None)
    ('[.900 .950]', '–')
    """
    if value is None:
        return "–"
    return f"[{number(value[0])} {number(value[1])}]"


def probability(value: float | None) -> str:
    """A p-value.

    >>> [probability(value) for value in (0.5, 0.0004, 0.0, None)]
    ['.500', '4e-04', '<1e-99', '–']
    """
    if value is None:
        return "–"
    if value >= 0.001:
        return number(value)
    if value >= 1e-99:
        return f"{value:.0e}"
    return "<1e-99"
