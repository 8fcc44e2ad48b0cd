"""The figures of a run as tables, as an HTML report and as JSON, against which later runs are compared."""

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
from crawler.reports.html_page import percent, report_page, shown

FORMAT = 1
TOLERANCE = 0.005  # how far a figure may fall below the baseline
# The figures that must not fall. Speed is not among them, as it depends on the machine.
HELD = {"f1": "shingle F1", "word_f1": "word F1"}
DIGITS = 4
# The total size of all excerpts in bytes, and the largest size of one.
EXCERPTS = 3_500_000
EXCERPT = 12_000
BEFORE = 300  # characters of source shown before the first words of the gold
CLUE = 24  # characters of a line of gold that are searched in the source
REASONS = 5  # reasons of failure that are listed for each method
HEADS = (
    *("method", "F1", "95%", "P", "R", "word F1", "95%", "right", *GRADES),
    *("rate", "leaf P", "leaf R", "smaller", "pages/s", "failed"),
)
COMPARED = (
    *("first", "second", "difference in word F1", "Cohen's d", "t-test p"),
    *("only first right", "only second right", "McNemar p"),
)


class RecordError(MessageError):
    """A file is not a record of a run."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """A run compared with an earlier one."""

    falls: list[str]
    """A line for each figure that fell by more than the tolerance."""
    left: list[str]
    """A line for each pair of set and method that could not be compared."""
    pairs: int
    """How many pairs of set and method were compared."""
    _: KW_ONLY
    gaps: int = 0
    """How many of those that could not be compared were requested in this run."""


def record(results: Iterable[SetResult], version: str) -> str:
    """The figures as JSON, one line a method, in the order of the run; pages/s is all that differs from run to run."""
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


def compare_records(before: dict[str, Any], now: dict[str, Any]) -> BaselineComparison:
    """Compare the methods and sets that both records have."""
    falls = []
    left = []
    count = 0
    gaps = 0
    figures_now = _figures_of(now)
    for (name, method), old in _figures_of(before).items():
        new = figures_now.get((name, method))
        if new is None:
            gaps += method in now.get(name, {"methods": ()})["methods"]
            left.append(f"{name}, {method}: not in this run")
        elif before[name]["fingerprint"] != now[name]["fingerprint"]:
            gaps += 1
            left.append(f"{name}, {method}: the set's pages are not the same")
        else:
            count += 1
            falls += [
                f"{name}, {method}: {words} fell from {old[held]:.4f} to {new[held]:.4f}"
                for held, words in HELD.items()
                if old[held] - new[held] > TOLERANCE + 10**-DIGITS / 2  # the records are rounded
            ]
    return BaselineComparison(falls=falls, left=left, pairs=count, gaps=gaps)


def _figures_of(sets: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (name, method): figures
        for name, of in sets.items()
        for method, figures in of["methods"].items()
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
    """A part of a text, and how many characters are left out before and after it."""

    before: int
    text: str
    after: int


def report(results: Sequence[SetResult], faults: Sequence[str], version: str, day: date) -> str:
    """The whole file as text."""
    samples = sum(len(judged.worst) for result in results for judged in result.judged if not result.is_group)
    functions = (cells, number, probability, excerpt, where_it_starts, failures, precision_recall, boxes)
    return report_page(
        "extraction.html",
        **{function.__name__: function for function in functions},
        **{"results": results, "faults": faults, "version": version, "day": day},
        **{"heads": HEADS, "compared": COMPARED, "peers": PEERS, "draws": DRAWS, "right": RIGHT, "grades": GRADES},
        limit=min(EXCERPT, EXCERPTS // max(1, 3 * samples)),
    )


def precision_recall(methods: Iterable[JudgedMethod]) -> Markup:
    """The chart of methods that have figures."""
    named_figures = [(judged.name, judged.figures) for judged in methods if judged.figures]
    return precision_recall_chart(
        [
            Point(name=name, precision=of.precision, recall=of.recall, speed=of.speed, is_peer=name in PEERS)
            for name, of in named_figures
        ]
    )


def boxes(methods: Iterable[JudgedMethod]) -> Markup:
    """The chart of how their pages differ."""
    return box_chart([Row(name=judged.name, f1s=judged.f1s, is_peer=judged.name in PEERS) for judged in methods])


def failures(methods: Iterable[JudgedMethod]) -> list[tuple[str, str, int]]:
    """Methods and why they failed on how many pages, the most frequent reasons of each."""
    return [
        (judged.name, why, count)
        for judged in methods
        for why, count in Counter(output.failure for output in judged.run.outputs if output.failure).most_common(
            REASONS
        )
    ]


def excerpt(text: str, limit: int, start: int = 0) -> Excerpt:
    """The text from a position on, as HTML of at most about `limit` bytes."""
    part = text[start : start + limit]
    long = len(shown(part).encode())
    if long > limit:
        part = part[: len(part) * limit // long]
    return Excerpt(before=start, text=part, after=len(text) - start - len(part))


def where_it_starts(page_html: str, gold: str) -> int:
    """A position in the source a little before the gold's first words; or the start of the body."""
    clues = (line.strip()[:CLUE] for line in gold.splitlines()[:20])
    places = (page_html.find(clue) for clue in clues if clue)
    first = next((place for place in places if place >= 0), page_html.find("<body"))
    return max(0, first - BEFORE)


def cells(figures: MethodFigures) -> list[str]:
    """The figures as the tables write them, in the order of their heads; a dash where one is undefined."""
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
        "–" if figures.speed is None else f"{figures.speed:,.0f}" if figures.speed >= 10 else f"{figures.speed:.1f}",
        str(figures.failed),
    ]


def number(value: float | None) -> str:
    """Three digits.

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
    return f"{value:.0e}" if value >= 1e-99 else "<1e-99"
