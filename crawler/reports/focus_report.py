"""The focus report: its sentences and tables, as an HTML file and as lines for a terminal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from itertools import chain

from crawler.reports.focus_data import (
    CrawlPages,
    FetchedPage,
    LearnedWords,
    Recall,
    TitledPage,
    Truth,
    WaitingCounts,
    Weights,
    learned_words,
)
from crawler.reports.focus_figures import (
    MOST_POINTS,
    MOST_SITES,
    TENTHS,
    FocusCounter,
    FocusFigures,
    FocusGroup,
    FocusPoint,
)
from crawler.reports.html_page import Table, aligned, percent, report_page
from crawler.translation.message import counted
from crawler.urls.parsing import readable

Pace = Callable[[Iterable[FetchedPage]], Iterable[FetchedPage]]


@dataclass(frozen=True)
class CrawlFocus:
    """The figures of one crawl's focus, and the pages and words that illustrate them."""

    name: str
    figures: FocusFigures
    learned: LearnedWords
    best: tuple[TitledPage, ...]
    worst: tuple[TitledPage, ...]
    waiting: WaitingCounts
    off_topic: int = 0
    """Pages that were read but not stored, as their relevance was below the crawl's `min_relevance`."""


def crawl_focus(crawl: CrawlPages, limit: float, known: Truth | None = None, pace: Pace = iter) -> CrawlFocus | None:
    """The focus of a crawl, with pauses while its pages are read; None if it has no page."""
    with closing(crawl.pages()) as pages:
        figures = FocusCounter(limit, known).take_all(pace(pages)).figures()
    if figures is None:
        return None
    best, worst = (tuple(crawl.told(numbers)) for numbers in (figures.best, figures.worst))
    words = learned_words(crawl.summaries())
    return CrawlFocus(crawl.name, figures, words, best, worst, crawl.waiting(limit), crawl.off_topic())


ROWS = 10
"""Of the table of the course."""
COUNTS = ("pages", "on topic", "harvest", "relevance", "link score")
NONE = "–"
ALL_READ = "The closing lines and the overview count all pages that were read, stored or not, each time they were read."


def share(figures: FocusFigures) -> tuple[str, int]:
    """The heading of the share that grows with the pages, and its total."""
    if figures.truth is None:
        return "share of the pages on topic found so far", figures.total.on_topic
    return "recall", figures.truth.addresses


def headline(kept: CrawlFocus) -> list[str]:
    figures = kept.figures
    total, last = figures.total, min(figures.window, figures.total.pages)
    on_topic = f"{total.on_topic:,} on topic (relevance of {figures.limit:g} or more)"
    lately = f"of the last {counted(last, 'page')} {percent(figures.lately)}"
    said = f"{counted(total.pages, 'page')} stored, {on_topic}: harvest {percent(total.harvest)}, {lately}."
    truth = truth_words(figures.truth) if figures.truth else []
    return [said, *off_topic_words(kept.off_topic), *truth, waiting_words(kept.waiting, figures.limit)]


def off_topic_words(count: int) -> list[str]:
    """A sentence about pages that were not stored because of min_relevance."""
    if not count:
        return []
    pages = counted(count, "more page was", "more pages were")
    why = "with a relevance under the crawl's min_relevance"
    return [f"{pages} read and not kept, {why}; the figures are of stored pages only."]


def truth_words(found: Recall) -> list[str]:
    addresses = counted(found.addresses, "address", "addresses")
    met = counted(found.met, "was", "were")
    said = [f"Of {addresses} known to be on topic {met} stored: recall {percent(found.recall)}."]
    if found.on_topic:
        share = percent(found.agreed / found.on_topic)
        agreed = f"{counted(found.agreed, 'is', 'are')} in the file ({share})"
        said.append(f"Of {counted(found.on_topic, 'stored page')} on topic by relevance {agreed}.")
    if found.missed:
        pages = counted(found.missed, "stored page is", "stored pages are")
        said.append(f"{pages} in the file and not on topic by relevance.")
    said.append(f"Brier score of relevance {found.brier:.3f}; 0 is best, and always saying 0.5 gives 0.25.")
    if found.ranking is not None:
        said.append(
            "In pairs of a stored page in the file and one that is not, the first had the higher relevance in "
            f"{percent(found.ranking)} of cases (AUC {found.ranking:.3f}); 50% is chance."
        )
    return said


def waiting_words(waiting: WaitingCounts, limit: float) -> str:
    if not waiting.total:
        return "No address is queued."
    addresses = counted(waiting.total, "address is queued", "addresses are queued")
    promising = f"{waiting.promising:,} of them with a link score of {limit:g} or more, or seeds"
    return f"{addresses}; {promising}."


def tables(figures: FocusFigures) -> list[Table]:
    return [ways_table(figures), course_table(figures), sites_table(figures), scores_table(figures)]


def ways_table(figures: FocusFigures) -> Table:
    heads = ("found by", *COUNTS)
    return Table(
        "How pages were found", heads, [(one.name, *counts(one)) for one in figures.ways], frozenset(heads[:1])
    )


def course_table(figures: FocusFigures) -> Table:
    """The harvest at about ROWS points."""
    name, most = share(figures)
    heads = ("pages", f"harvest of the last {figures.window}", "harvest so far", name)
    unknown = () if figures.truth else ("The number of pages on topic that the crawl did not find is not known.",)
    rows = [
        (
            f"{point.pages:,}",
            percent(point.lately),
            percent(point.harvest),
            percent((point.found if figures.truth else point.on_topic) / most) if most else NONE,
        )
        for point in thinned(figures.course, ROWS)
    ]
    return Table("Harvest over the pages", heads, rows, notes=(*unknown, ALL_READ))


def sites_table(figures: FocusFigures) -> Table:
    """The pages by site; sites without a row are counted."""
    heads = ("site", *COUNTS, "best page")
    rows = [(one.name, *counts(one), readable(one.best)) for one in figures.sites]
    notes: tuple[str, ...] = ()
    if rest := figures.others:
        gave = f"{counted(rest.pages, 'page')}, {rest.on_topic:,} on topic ({percent(rest.harvest)})"
        notes = (f"{figures.site_count - MOST_SITES:,} more of {counted(figures.site_count, 'site')}: {gave}.",)
    return Table("Sites", heads, rows, frozenset(("site", "best page")), notes)


def scores_table(figures: FocusFigures) -> Table:
    """Whether the score of a link predicted what it led to."""
    rows = [
        (f"{place / TENTHS:.1f} to {(place + 1) / TENTHS:.1f}", *counts(one))
        for place, one in enumerate(figures.tenths)
        if one is not None
    ]
    without = figures.total.pages - sum(one.pages for one in figures.tenths if one is not None)
    notes = []
    if figures.ranking is not None:
        notes.append(
            "In pairs of a page on topic and one off topic, the first had the better link score in "
            f"{percent(figures.ranking)} of cases; 50% is chance."
        )
    if without:
        notes.append(f"{counted(without, 'page')} had no link score, as nothing was known before the request.")
    return Table(
        "Pages by their link score", ("link score from", *COUNTS), rows, frozenset(("link score from",)), tuple(notes)
    )


def word_lists(learned: LearnedWords) -> dict[str, Weights]:
    """The learned words by kind; empty if none were learned."""
    lists = {
        "Words of the topic": learned.topic,
        "Words of links that led to it": learned.good,
        "Words of links that led elsewhere": learned.bad,
    }
    return {name: words for name, words in lists.items() if words}


def learned_notes(learned: LearnedWords) -> list[str]:
    """Notes on the words: how many workers learned them, and what is missing."""
    said = []
    if not learned.workers:
        said.append("There is no record of what the crawl learned.")
    elif not word_lists(learned):
        said.append("The crawl has learned no words.")
    elif learned.workers > 1:
        said.append(f"Means of {learned.workers:,} workers, weighted by the pages each has seen.")
    if learned.let_go > 0:
        said.append(
            f"Too many links were queued to score them all again: {counted(learned.let_go, 'link')} kept an earlier "
            "priority."
        )
    return said


def extremes(kept: CrawlFocus) -> list[Table]:
    """The pages with the highest relevance, and those with the lowest."""
    heads = ("relevance", "link score", "address", "title")  # titles last: letters of some scripts are twice as wide
    return [
        Table(title, heads, [_told(page) for page in pages], frozenset(heads[2:]))
        for title, pages in (("Best pages", kept.best), ("Worst pages", kept.worst))
    ]


def counts(group: FocusGroup) -> tuple[str, ...]:
    """A group's figures, under COUNTS; relevance and link score are means."""
    return (
        f"{group.pages:,}",
        f"{group.on_topic:,}",
        percent(group.harvest),
        f"{group.relevance:.2f}",
        NONE if group.link_score is None else f"{group.link_score:.2f}",
    )


def thinned(points: Sequence[FocusPoint], most: int) -> list[FocusPoint]:
    """Some of the points, evenly spaced, the last among them.

    >>> [point for point in thinned(range(1, 24), 4)]
    [5, 11, 17, 23]
    """
    if len(points) <= most:
        return list(points)
    return [points[(place + 1) * len(points) // most - 1] for place in range(most)]


def _told(page: TitledPage) -> tuple[str, ...]:
    score = NONE if page.link_score is None else f"{page.link_score:.2f}"
    return f"{page.relevance:.2f}", score, readable(page.url), page.title


WIDTH = 100
"""Characters of a title or an address that a terminal shows."""


def html_report(crawls: Sequence[CrawlFocus], limit: float, version: str, day: date) -> str:
    # They want numpy, which takes its time, and all commands are loaded with each of them.
    from crawler.reports.charts import course_chart, score_chart

    functions = (headline, share, tables, extremes, word_lists, learned_notes, course_chart, score_chart)
    called = {function.__name__: function for function in functions}
    return report_page(
        "focus.html", crawls=crawls, limit=limit, version=version, day=day, most_points=MOST_POINTS, **called
    )


def text_report(kept: CrawlFocus) -> Iterator[str]:
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
    """A cell in one line, shortened if long.

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
