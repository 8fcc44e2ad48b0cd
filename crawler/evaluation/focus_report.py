"""How crawls kept to their topics: one HTML file that needs nothing else, and in which nothing that was crawled acts.

All that comes from pages is escaped text; a Content-Security-Policy forbids scripts, pictures, frames and every load.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from html import escape
from importlib.resources import files
from string import Template

from crawler.evaluation.curves import course_chart, score_chart
from crawler.evaluation.escaped import shown
from crawler.evaluation.focus_tables import (
    Kept,
    Table,
    course,
    extremes,
    headline,
    learned_notes,
    scores,
    sites,
    ways,
    word_lists,
)
from crawler.evaluation.gathering import MOST_POINTS, WINDOW
from crawler.evaluation.learned_words import Weights


def report(crawls: Sequence[Kept], limit: float, version: str, day: date) -> str:
    """The whole file as text."""
    template = (files(__package__) / "focus_report.html").read_text(encoding="utf-8")
    body = "\n".join(map(_section, crawls))
    return Template(template).substitute(version=shown(version), date=day.isoformat(), limit=f"{limit:g}", body=body)


def _section(kept: Kept) -> str:
    """All there is to say of one crawl."""
    figures = kept.figures
    lead, *more = headline(kept)
    words = "".join(f"<h3>{escape(name)}</h3>{_words(words)}" for name, words in word_lists(kept.learned).items())
    return (
        f"<h2><bdi>{shown(kept.name)}</bdi></h2><p class=lead>{shown(lead)}</p>{_notes(more)}"
        f"{_table(ways(figures))}{_pictures(kept)}"
        f"{''.join(map(_table, (course(kept), scores(figures), sites(figures))))}"
        f"{words}{_notes(learned_notes(kept.learned))}{''.join(map(_table, extremes(kept)))}"
    )


def _pictures(kept: Kept) -> str:
    figures = kept.figures
    harvest = course_chart(figures.course, kept.most, by_truth=figures.truth is not None)
    return (
        f"<div class=pictures><figure>{harvest}<figcaption>Harvest of the last {WINDOW} pages and of all so far, and "
        f"{escape(kept.share)}; {MOST_POINTS} points at most.</figcaption></figure>"
        f"<figure>{score_chart(figures.tenths)}<figcaption>Mean relevance of pages by tenths of their link score, and "
        "how many pages that is; on the dotted line both are alike.</figcaption></figure></div>"
    )


def _words(words: Weights) -> str:
    entries = (f"<li><bdi>{shown(word)}</bdi> <small>{weight:.3g}</small></li>" for word, weight in words)
    return f"<ul class=words>{''.join(entries)}</ul>"


def _notes(notes: Iterable[str]) -> str:
    return "".join(f"<p>{shown(note)}</p>" for note in notes)


def _table(table: Table) -> str:
    sides = [" class=left" if head in table.texts else "" for head in table.heads]
    head = "".join(f"<th{side}>{escape(name)}</th>" for name, side in zip(table.heads, sides, strict=True))
    rows = "".join(
        f"<tr>{''.join(f'<td{side}><bdi>{shown(cell)}</bdi></td>' for cell, side in zip(row, sides, strict=True))}</tr>"
        for row in table.rows
    )
    body = f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    return f"<h3>{escape(table.title)}</h3>{body if table.rows else ''}{_notes(table.notes)}"
