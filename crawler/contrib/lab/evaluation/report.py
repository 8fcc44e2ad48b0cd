"""The figures of a run as an HTML report, as cells of tables, and as JSON (a record) to compare later runs with."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from markupsafe import Markup

from crawler.contrib.lab.charts import Point, Row, box_chart, precision_recall_chart
from crawler.contrib.lab.evaluation.method_scores import JudgedMethod, MethodFigures, SetResult
from crawler.contrib.lab.evaluation.peers import PEERS
from crawler.contrib.lab.evaluation.significance import DRAWS, Interval
from crawler.contrib.lab.evaluation.text_metrics import GRADES, RIGHT
from crawler.errors import MessageError
from crawler.reports.html_page import escaped, percent, report_page

FORMAT = 1
"""The version of the JSON."""
TOLERANCE = 0.005
"""How far a figure may fall below the baseline, the record of an earlier run."""
COMPARED_FIGURES = {"f1": "shingle F1", "word_f1": "word F1"}
"""The figures that must not fall; speed is not compared, because it depends on the machine."""
DIGITS = 4
"""Decimal places of the figures in JSON."""
MOST_EXCERPT_BYTES = 3_500_000
"""The largest size of all excerpts together, as HTML."""
EXCERPT_BYTES = 12_000
"""The largest size of one excerpt, as HTML."""
CHARACTERS_BEFORE = 300
"""Characters of the source that are shown before the first words of the gold."""
CLUE_CHARACTERS = 24
"""Characters of a line of gold that are searched in the source."""
MOST_CLUES = 20
"""Lines of gold that are searched, until one is found."""
MOST_REASONS = 5
"""The most reasons of failure that are listed for each method."""
EXCERPTS = 3
"""Excerpts of a page: of the source, the gold and the output."""
# The heads of the table of figures, which `cells` fills, and of the table of compared methods.
HEADS = (
    *("method", "F1", "95%", "P", "R", "word F1", "95%", "right", *GRADES),
    *("rate", "leaf P", "leaf R", "smaller", "pages/s", "failed"),
)
COMPARED = (
    *("first", "second", "difference in word F1", "Cohen's d", "t-test p"),
    *("only first right", "only second right", "McNemar p"),
)


class RecordError(MessageError):
    """A file is not a record of a run that --save wrote."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """A run compared with an earlier one."""

    falls: list[str]
    """A line for each figure that fell by more than the tolerance."""
    not_compared: list[str]
    """A line for each pair of set and method that could not be compared."""
    pairs: int
    """How many pairs of set and method were compared."""
    _: KW_ONLY
    gaps: int = 0
    """How many of the pairs that could not be compared were requested in this run; they are failures."""


def record(results: Iterable[SetResult], version: str) -> str:
    """The figures as JSON, one line for each method, in the order of the run. Equal runs differ only in pages/s."""
    sets = []
    for result in results:
        figures_of_method = {
            judged.name: asdict(judged.figures) if judged.figures else {"absent": judged.run.absent}
            for judged in result.judged
        }
        rows = [f"   {_json(name)}: {_json(_rounded(figures))}" for name, figures in figures_of_method.items()]
        head = f'  {_json(result.name)}: {{"fingerprint": {_json(result.fingerprint)}, "methods": {{\n'
        sets.append(head + ",\n".join(rows) + "\n  }}")
    return f'{{"format": {FORMAT}, "winnow": {_json(version)}, "sets": {{\n' + ",\n".join(sets) + "\n}}\n"


def read_record(path: Path) -> dict[str, Any]:
    """The sets in a record; raises a RecordError if the file is not one."""
    try:
        sets: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["sets"]
        _figures_of(sets)
    except OSError as error:
        raise RecordError("{path} cannot be read ({why})", path=repr(str(path)), why=error.strerror) from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise RecordError("{path} was not written by --save", path=repr(str(path))) from None
    return sets


def compare_records(baseline: dict[str, Any], now: dict[str, Any]) -> BaselineComparison:
    """Compare the figures of a run, `now`, with those of an earlier one, for each set and method that both have."""
    falls = []
    not_compared = []
    count = 0
    gaps = 0
    figures_now = _figures_of(now)
    for (name, method), old in _figures_of(baseline).items():
        new = figures_now.get((name, method))
        if new is None:
            if name in now and method in now[name]["methods"]:  # requested, but it could not be run
                gaps += 1
            not_compared.append(f"{name}, {method}: not in this run")
        elif baseline[name]["fingerprint"] != now[name]["fingerprint"]:
            gaps += 1
            not_compared.append(f"{name}, {method}: the set's pages are not the same")
        else:
            count += 1
            falls += [
                f"{name}, {method}: {title} fell from {old[figure]:.4f} to {new[figure]:.4f}"
                for figure, title in COMPARED_FIGURES.items()
                if old[figure] - new[figure] > TOLERANCE + 10**-DIGITS / 2  # both figures are rounded
            ]
    return BaselineComparison(falls=falls, not_compared=not_compared, pairs=count, gaps=gaps)


def _figures_of(sets: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The figures of the methods that could be run, by set and method."""
    return {
        (name, method): figures
        for name, result in sets.items()
        for method, figures in result["methods"].items()
        if "absent" not in figures
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


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
    """A position in the source a little before the first words of the gold, or before the body if they are missing."""
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
