"""How crawls kept to their topics, as one HTML file and as lines for a terminal."""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

from crawler.reports.focus_figures import MOST_POINTS, Weights
from crawler.reports.focus_tables import Kept, extremes, headline, learned_notes, share, tables, word_lists
from crawler.reports.html_page import Table, aligned, report_page

WIDTH = 100
"""Characters of a title or an address that a terminal shows."""


def report(crawls: Sequence[Kept], limit: float, version: str, day: date) -> str:
    """The whole file as text."""
    # They want numpy, which takes its time, and all commands are loaded with each of them.
    from crawler.reports.charts import course_chart, score_chart

    functions = (headline, share, tables, extremes, word_lists, learned_notes, course_chart, score_chart)
    called = {function.__name__: function for function in functions}
    return report_page(
        "focus.html", crawls=crawls, limit=limit, version=version, day=day, most_points=MOST_POINTS, **called
    )


def text(kept: Kept) -> Iterator[str]:
    """The report for a terminal, in lines."""
    lead, *more = headline(kept)
    yield from (f"{kept.name}: {lead}", *more)
    words = [f"{name}: {weighed(weights)}" for name, weights in word_lists(kept.learned).items()]
    said = [[line] for line in (*words, *learned_notes(kept.learned))]
    for part in chain(map(_lines, tables(kept.figures)), said, map(_lines, extremes(kept))):
        yield from ("", *part)


def _lines(table: Table) -> Iterator[str]:
    yield f"{table.title}:"
    left = {at for at, head in enumerate(table.heads) if head in table.texts}
    rows = [table.heads, *([_one_line(cell, WIDTH) for cell in row] for row in table.rows)]
    yield from (f"  {line}" for line in (*aligned(rows, left), *table.notes))


def _one_line(cell: str, width: int) -> str:
    """A cell without line ends, and not too long.

    >>> _one_line(" honey\\n bees ", 8), _one_line("honey bees", 10)
    ('honey b…', 'honey bees')
    """
    words = " ".join(cell.split())
    return words if len(words) <= width else f"{words[: width - 1]}…"


def weighed(words: Weights) -> str:
    """Words with their weights.

    >>> weighed((("honey", 0.51234), ("shop", -2.0)))
    'honey 0.512, shop -2'
    """
    return ", ".join(f"{word} {weight:.3g}" for word, weight in words)
