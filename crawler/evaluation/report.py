"""The report: one HTML file that needs nothing else, and in which nothing that was crawled can do anything.

All that comes from pages is escaped text; a Content-Security-Policy forbids scripts, pictures, frames and every load.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from html import escape
from importlib.resources import files
from string import Template

from crawler.evaluation.charts import Point, Row, box_chart, precision_recall_chart
from crawler.evaluation.escaped import shown
from crawler.evaluation.judgement import Figures, Judged, Sample, Verdict
from crawler.evaluation.metrics import GRADES, RIGHT
from crawler.evaluation.peers import PEERS
from crawler.evaluation.significance import DRAWS, Comparison, Interval
from crawler.wording import counted

# Bytes of all excerpts of pages together, and of one of them at most.
EXCERPTS, EXCERPT = 3_500_000, 12_000
BEFORE = 300
"""Characters of source shown before the first words of the gold."""
CLUE = 24
"""Characters of a line of gold that are looked for in the source."""
REASONS = 5
"""Reasons of failure that are named of each method."""
HEADS = (
    "method,F1,95%,P,R,word F1,95%,right,excellent,good,medium,poor,rate,leaf P,leaf R,smaller,pages/s,failed".split(
        ","
    )
)
COMPARED = "first,second,difference in word F1,Cohen's d,t-test p,only first right,only second right,McNemar p".split(
    ","
)


def report(verdicts: Sequence[Verdict], faults: Sequence[str], version: str, day: date) -> str:
    """The whole file as text."""
    samples = sum(len(judged.worst) for verdict in verdicts for judged in verdict.judged if not verdict.is_group)
    limit = min(EXCERPT, EXCERPTS // max(1, 3 * samples))
    said = "".join(f"<li>{shown(fault)}</li>" for fault in faults)
    template = (files(__package__) / "report.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        version=shown(version),
        date=day.isoformat(),
        sets=counted(sum(not verdict.is_group for verdict in verdicts), "set"),
        faults=f"<p>{counted(len(faults), 'fault')} in the gold files:</p><ul>{said}</ul>" if faults else "",
        draws=f"{DRAWS:,}",
        right=RIGHT,
        grades="; ".join(f"{name} from {recall} and {precision}" for name, (recall, precision) in GRADES.items()),
        body="\n".join(_section(verdict, limit) for verdict in verdicts),
    )


def excerpt(text: str, limit: int, start: int = 0) -> str:
    """The text from a place on as HTML, of about `limit` bytes at most; where something is left out, that is said."""
    part = text[start : start + limit]
    inside = shown(part)
    if (long := len(inside.encode())) > limit:
        part = part[: len(part) * limit // long]
        inside = shown(part)
    rest = len(text) - start - len(part)
    before = f"<p class=dim>[cut: {counted(start, 'character')} before]</p>" if start else ""
    after = f"<p class=dim>[cut: {counted(rest, 'character')} more]</p>" if rest else ""
    return f"{before}<pre>{inside or ' '}</pre>{after}" if text else "<p class=dim>[empty]</p>"


def where_it_starts(page_html: str, gold: str) -> int:
    """Where in the source the gold's first words stand, a little before them; else where the body starts."""
    clues = (line.strip()[:CLUE] for line in gold.splitlines()[:20])
    places = (page_html.find(clue) for clue in clues if clue)
    first = next((place for place in places if place >= 0), page_html.find("<body"))
    return max(0, first - BEFORE)


def _section(verdict: Verdict, limit: int) -> str:
    """A set, or a group of its pages, which has tables alone."""
    table = _table(HEADS, (_row(judged) for judged in verdict.judged))
    pages = next((judged.figures.pages for judged in verdict.judged if judged.figures), 0)
    head = f"<h2>{shown(verdict.name)} <small class=dim>{counted(pages, 'page')}</small></h2>{table}"
    there = [(judged, judged.figures) for judged in verdict.judged if judged.figures]
    if verdict.is_group or not there:
        return head
    points = [Point(one.name, of.precision, of.recall, of.speed, one.name in PEERS) for one, of in there]
    rows = [Row(one.name, one.f1s, one.name in PEERS) for one, _ in there]
    return (
        f"{head}<div class=pictures>"
        f"<figure>{precision_recall_chart(points)}<figcaption>Precision and recall over runs of four tokens; the "
        "larger the circle, the faster. Winnow's own methods and peers differ in colour.</figcaption></figure>"
        f"<figure>{box_chart(rows)}<figcaption>Word F1 of the pages: median, middle half (box), middle nine tenths "
        "(line), average (dot).</figcaption></figure></div>"
        f"{_failures(one for one, _ in there)}{_comparisons(verdict.comparisons)}"
        f"<h3>Worst pages</h3>{''.join(_worst(one, limit) for one, _ in there)}"
    )


def _row(judged: Judged) -> list[str]:
    name = f"<td class={'peer' if judged.name in PEERS else 'own'}>{shown(judged.name)}"
    name += f" <small>{shown(judged.run.version)}</small></td>" if judged.run.version else "</td>"
    if judged.figures is None:
        return [name, f'<td class=left colspan="{len(HEADS) - 1}">absent: {shown(judged.run.absent)}</td>']
    return [name, *(f"<td>{cell}</td>" for cell in cells(judged.figures))]


def cells(figures: Figures) -> list[str]:
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
    return "–" if value is None else f"{value:.3f}".removeprefix("0") if value >= 0 else f"{value:.3f}"


def interval(value: Interval | None) -> str:
    """The two ends of an interval.

    >>> interval((0.9, 0.95)), interval(None)
    ('[.900 .950]', '–')
    """
    return "–" if value is None else f"[{number(value[0])} {number(value[1])}]"


def percent(value: float) -> str:
    """A share in percent.

    >>> percent(0.4921), percent(1.0)
    ('49.2%', '100.0%')
    """
    return f"{100 * value:.1f}%"


def probability(value: float | None) -> str:
    """A p-value.

    >>> [probability(value) for value in (0.5, 0.0004, 0.0, None)]
    ['.500', '4e-04', '<1e-99', '–']
    """
    if value is None:
        return "–"
    return number(value) if value >= 0.001 else f"{value:.0e}" if value >= 1e-99 else "<1e-99"


def _failures(there: Iterable[Judged]) -> str:
    """Why methods failed, the most frequent reasons of each."""
    said = []
    for judged in there:
        reasons = Counter(output.failure for output in judged.run.outputs if output.failure)
        said += [
            f"<li>{shown(judged.name)}: {shown(why)} ({counted(count, 'page')})</li>"
            for why, count in reasons.most_common(REASONS)
        ]
    return f"<details><summary>Why methods failed</summary><ul>{''.join(said)}</ul></details>" if said else ""


def _comparisons(comparisons: Iterable[Comparison]) -> str:
    rows = [
        [
            f"<td>{shown(one.first)}</td><td class=left>{shown(one.second)}</td><td>{one.difference:+.3f}</td>",
            f"<td>{'–' if one.effect is None else f'{one.effect:+.2f}'}</td><td>{shown(probability(one.t_test))}</td>",
            f"<td>{one.only_first}</td><td>{one.only_second}</td><td>{shown(probability(one.mcnemar))}</td>",
        ]
        for one in comparisons
    ]
    if not rows:
        return ""
    title = f"{counted(len(rows), 'comparison')}, p-values corrected for their number"
    return f"<details><summary>{title}</summary>{_table(COMPARED, rows)}</details>"


def _worst(judged: Judged, limit: int) -> str:
    parts = "".join(_sample(sample, limit) for sample in judged.worst)
    return f"<details><summary>{shown(judged.name)}</summary>{parts}</details>"


def _sample(sample: Sample, limit: int) -> str:
    """A page: its source, its gold and what the method took out, side by side."""
    page, output, score = sample
    why = f", failed: {shown(output.failure)}" if output.failure else ""
    sides = {
        "source": excerpt(page.html, limit, where_it_starts(page.html, page.gold)),
        "gold": excerpt(page.gold, limit),
        "output": excerpt(output.text, limit),
    }
    return (
        f"<h4>F1 {number(score.f1)} <small class=dim>precision {number(score.precision)}, recall {number(score.recall)}"
        f"{why}</small><br><bdi>{shown(page.id)}</bdi> <small class=dim><bdi>{shown(page.url)}</bdi></small></h4>"
        f"<div class=sides>{''.join(f'<div><b>{name}</b>{side}</div>' for name, side in sides.items())}</div>"
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
