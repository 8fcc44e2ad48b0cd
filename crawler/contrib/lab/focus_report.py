"""The focus report: its sentences and tables, as an HTML file and as lines for a terminal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date

from crawler.contrib.lab.focus_data import (
    CrawlPages,
    FetchedPage,
    Recall,
    ReportedWords,
    TitledPage,
    Truth,
    WaitingCounts,
    Weights,
    learned_words,
)
from crawler.contrib.lab.focus_figures import (
    MOST_POINTS,
    MOST_SITES,
    TENTHS,
    FocusCounter,
    FocusFigures,
    FocusGroup,
    FocusPoint,
)
from crawler.reports.html_page import ReportTable, Row, aligned, percent, report_page
from crawler.reports.waiting_links import unlikely_links
from crawler.translation.message import N_, Catalogue, Message, plural, translated
from crawler.urls.parsing import readable

Pace = Callable[[Iterable[FetchedPage]], Iterable[FetchedPage]]
"""Passes on the pages, with pauses between them that leave CPU time to the other requests of the dashboard."""


@dataclass(frozen=True)
class CrawlFocus:
    """The figures of one crawl's focus, and the pages and words that illustrate them."""

    name: str
    figures: FocusFigures
    learned: ReportedWords
    best: tuple[TitledPage, ...]
    worst: tuple[TitledPage, ...]
    waiting: WaitingCounts
    off_topic: int = 0
    """Pages that were read but not stored, because their relevance was below the crawl's `min_relevance`."""


def crawl_focus(crawl: CrawlPages, limit: float, truth: Truth | None = None, pace: Pace = iter) -> CrawlFocus | None:
    """The focus of a crawl; None if the crawl has no page. The pages are read through `pace`."""
    with closing(crawl.pages()) as pages:
        figures = FocusCounter(limit, truth).take_all(pace(pages)).figures()
    if figures is None:
        return None
    words = learned_words(crawl.summaries())
    return CrawlFocus(
        name=crawl.name,
        figures=figures,
        learned=words,
        best=tuple(crawl.titled(figures.best)),
        worst=tuple(crawl.titled(figures.worst)),
        waiting=crawl.waiting(limit),
        off_topic=crawl.off_topic(),
    )


ROWS = 10
"""Rows of the table of the harvest over the pages."""
PLACES = {
    "address": N_("{word} (in the address)"),
    "near": N_("{word} (near the link)"),
    "host": N_("{word} (host)"),
}
"""How a word is shown, by the place where links had it (`LearnedWord.place`)."""
GROUP_HEADS = (Message("pages"), Message("on topic"), Message("harvest"), Message("relevance"), Message("link score"))
"""The heads of the columns that `group_cells` fills."""
DASH = "–"
"""The cell of a figure that is not defined."""
# A note below the harvest: why the closing lines of the crawl have other figures.
ALL_READ = Message(
    "The closing lines and the overview count all pages that were read, stored or not, each time they were read."
)


def third_curve(figures: FocusFigures) -> tuple[Message, int]:
    """The name of the third curve in the chart of the course, and the total whose found share the curve shows.

    With a truth list, the total is the number of its addresses; otherwise the number of pages on topic that the crawl
    found.
    """
    if figures.truth is None:
        return Message("share of the pages on topic found so far"), figures.total.on_topic
    return Message("recall"), figures.truth.addresses


def headline(focus: CrawlFocus) -> list[Message]:
    """The sentences at the beginning of the report."""
    figures = focus.figures
    total = figures.total
    last = min(figures.window, figures.total.pages)
    values = {
        "pages": plural("{n} page", "{n} pages", total.pages),
        "on_topic": f"{total.on_topic:,}",
        "limit": f"{figures.limit:g}",
        "harvest": percent(total.harvest),
        "lately": plural(
            "of the last {n} page {share}", "of the last {n} pages {share}", last, share=percent(figures.lately)
        ),
    }
    summary = Message(
        "{pages} stored, {on_topic} on topic (relevance of {limit} or more): harvest {harvest}, {lately}.", values
    )
    truth = truth_words(figures.truth) if figures.truth else []
    waiting = [waiting_words(focus.waiting, figures.limit)]
    if focus.waiting.unlikely:
        waiting.append(unlikely_links(focus.waiting.unlikely))
    return [summary, *off_topic_words(focus.off_topic), *truth, *waiting]


def off_topic_words(count: int) -> list[Message]:
    """A sentence about pages that were not stored because of min_relevance."""
    if not count:
        return []
    return [
        plural(
            "{n} more page was read and not kept, with a relevance under the crawl's min_relevance; the figures are of "
            "stored pages only.",
            "{n} more pages were read and not kept, with a relevance under the crawl's min_relevance; the figures are "
            "of stored pages only.",
            count,
        )
    ]


def truth_words(recall: Recall) -> list[Message]:
    """Sentences that compare a crawl with the truth list."""
    sentences = [
        plural(
            "Of {addresses} known to be on topic {n} was stored: recall {recall}.",
            "Of {addresses} known to be on topic {n} were stored: recall {recall}.",
            recall.met,
            addresses=plural("{n} address", "{n} addresses", recall.addresses),
            recall=percent(recall.recall),
        )
    ]

    # Relevance compared with the truth.
    if recall.on_topic:
        agreed = plural(
            "Of {pages} on topic by relevance {n} is in the file ({share}).",
            "Of {pages} on topic by relevance {n} are in the file ({share}).",
            recall.agreed,
            pages=plural("{n} stored page", "{n} stored pages", recall.on_topic),
            share=percent(recall.agreed / recall.on_topic),
        )
        sentences.append(agreed)
    if recall.missed:
        missed = plural(
            "{n} stored page is in the file and not on topic by relevance.",
            "{n} stored pages are in the file and not on topic by relevance.",
            recall.missed,
        )
        sentences.append(missed)

    brier = {"brier": f"{recall.brier:.3f}"}
    sentences.append(Message("Brier score of relevance {brier}; 0 is best, and always saying 0.5 gives 0.25.", brier))
    if recall.ranking is not None:
        sentences.append(
            Message(
                "In pairs of a stored page in the file and one that is not, the first had the higher relevance in "
                "{share} of cases (AUC {auc}); {chance} is chance.",
                {"share": percent(recall.ranking), "auc": f"{recall.ranking:.3f}", "chance": "50%"},
            )
        )
    return sentences


def waiting_words(waiting: WaitingCounts, limit: float) -> Message:
    """A sentence about the queued addresses."""
    if not waiting.total:
        return Message("No address is queued.")
    return plural(
        "{n} address is queued; {promising} of them with a link score of {limit} or more, or seeds.",
        "{n} addresses are queued; {promising} of them with a link score of {limit} or more, or seeds.",
        waiting.total,
        promising=f"{waiting.promising:,}",
        limit=f"{limit:g}",
    )


def tables(figures: FocusFigures) -> list[ReportTable]:
    return [ways_table(figures), course_table(figures), sites_table(figures), scores_table(figures)]


def ways_table(figures: FocusFigures) -> ReportTable:
    heads = (Message("found by"), *GROUP_HEADS)
    rows: list[Row] = [(Message(group.name), *group_cells(group)) for group in figures.ways]
    return ReportTable(title=Message("How pages were found"), heads=heads, rows=rows, texts=frozenset((0,)))


def course_table(figures: FocusFigures) -> ReportTable:
    """The harvest at ROWS points of the course, or at all points if the course has fewer."""
    third_name, whole = third_curve(figures)
    lately = Message("harvest of the last {window}", {"window": figures.window})
    heads = (Message("pages"), lately, Message("harvest so far"), third_name)
    unknown = Message("The number of pages on topic that the crawl did not find is not known.")
    rows = []
    for point in thinned(figures.course, ROWS):
        count = point.found if figures.truth else point.on_topic
        found_share = percent(count / whole) if whole else DASH
        rows.append((f"{point.pages:,}", percent(point.lately), percent(point.harvest), found_share))
    notes = (ALL_READ,) if figures.truth else (unknown, ALL_READ)
    return ReportTable(title=Message("Harvest over the pages"), heads=heads, rows=rows, notes=notes)


def sites_table(figures: FocusFigures) -> ReportTable:
    """The pages by site; the sites without a row are summed in a note."""
    heads = (Message("site"), *GROUP_HEADS, Message("best page"))
    rows = [(group.name, *group_cells(group), readable(group.best)) for group in figures.sites]
    notes: tuple[Message, ...] = ()
    rest = figures.others
    if rest:
        values = {
            "more": f"{figures.site_count - MOST_SITES:,}",
            "sites": f"{figures.site_count:,}",
            "pages": plural("{n} page", "{n} pages", rest.pages),
            "on_topic": f"{rest.on_topic:,}",
            "harvest": percent(rest.harvest),
        }
        notes = (Message("{more} more of {sites} sites: {pages}, {on_topic} on topic ({harvest}).", values),)
    return ReportTable(
        title=Message("Sites"), heads=heads, rows=rows, texts=frozenset((0, len(heads) - 1)), notes=notes
    )


def scores_table(figures: FocusFigures) -> ReportTable:
    """The pages by the score of the link that led to them, to show whether the score predicted their relevance."""
    rows: list[Row] = [
        (_tenth(number), *group_cells(group)) for number, group in enumerate(figures.tenths) if group is not None
    ]
    pages_without_score = figures.total.pages - sum(group.pages for group in figures.tenths if group is not None)
    notes = []
    if figures.ranking is not None:
        ranking = Message(
            "In pairs of a page on topic and one off topic, the first had the better link score in {share} of cases; "
            "{chance} is chance.",
            {"share": percent(figures.ranking), "chance": "50%"},
        )
        notes.append(ranking)
    if pages_without_score:
        unscored = plural(
            "{n} page had no link score, as nothing was known before the request.",
            "{n} pages had no link score, as nothing was known before the request.",
            pages_without_score,
        )
        notes.append(unscored)
    heads = (Message("link score from"), *GROUP_HEADS)
    return ReportTable(
        title=Message("Pages by their link score"), heads=heads, rows=rows, texts=frozenset((0,)), notes=tuple(notes)
    )


def _tenth(number: int) -> Message:
    return Message("{low} to {high}", {"low": f"{number / TENTHS:.1f}", "high": f"{(number + 1) / TENTHS:.1f}"})


def word_lists(learned: ReportedWords) -> dict[str, Weights]:
    """The learned words by kind; empty if none were learned."""
    lists = {
        N_("Words of the topic"): learned.topic,
        N_("Words of links that led to it"): learned.good,
        N_("Words of links that led elsewhere"): learned.bad,
    }
    return {name: words for name, words in lists.items() if words}


def placed(word: str, place: str) -> str | Message:
    """The word, with the place where links had it; without a place for a word in the text of links."""
    if place in PLACES:
        return Message(PLACES[place], {"word": word})
    return word


def learned_notes(learned: ReportedWords) -> list[Message]:
    """Notes on the words: how many workers learned them, and why words or scores are missing."""
    notes = []
    if not learned.workers:
        notes.append(Message("There is no record of what the crawl learned."))
    elif not word_lists(learned):
        notes.append(Message("The crawl has learned no words."))
    elif learned.workers > 1:
        values = {"n": f"{learned.workers:,}"}
        notes.append(Message("Means of {n} workers, weighted by the pages each has seen.", values))
    if learned.let_go > 0:
        let_go = plural(
            "Too many links were queued to score them all again: {n} link kept an earlier priority.",
            "Too many links were queued to score them all again: {n} links kept an earlier priority.",
            learned.let_go,
        )
        notes.append(let_go)
    return notes


def extremes(focus: CrawlFocus) -> list[ReportTable]:
    """The tables of the pages with the highest and with the lowest relevance."""
    heads = (Message("relevance"), Message("link score"), Message("address"), Message("title"))
    return [
        ReportTable(title=title, heads=heads, rows=[_extreme_row(page) for page in pages], texts=frozenset((2, 3)))
        for title, pages in ((Message("Best pages"), focus.best), (Message("Worst pages"), focus.worst))
    ]


def group_cells(group: FocusGroup) -> tuple[str, ...]:
    """A group's figures, under GROUP_HEADS; relevance and link score are means."""
    return (
        f"{group.pages:,}",
        f"{group.on_topic:,}",
        percent(group.harvest),
        f"{group.relevance:.2f}",
        DASH if group.link_score is None else f"{group.link_score:.2f}",
    )


def thinned(points: Sequence[FocusPoint], most: int) -> list[FocusPoint]:
    """At most this many of the points, evenly spaced, including the last.

    >>> [point for point in thinned(range(1, 24), 4)]
    [5, 11, 17, 23]
    """
    if len(points) <= most:
        return list(points)
    return [points[(number + 1) * len(points) // most - 1] for number in range(most)]


def _extreme_row(page: TitledPage) -> tuple[str, ...]:
    score = DASH if page.link_score is None else f"{page.link_score:.2f}"
    return f"{page.relevance:.2f}", score, readable(page.url), page.title


WIDTH = 100
"""Characters of a title or an address that a terminal shows."""


def html_report(crawls: Sequence[CrawlFocus], limit: float, version: str, day: date, catalogue: Catalogue) -> str:
    """The reports of crawls as one HTML page; the template calls functions of this module and of `charts`."""
    # Imported here, because numpy loads slowly, and each command loads this module.
    from crawler.contrib.lab.charts import course_chart, score_chart

    functions = (headline, third_curve, tables, extremes, word_lists, placed, learned_notes, course_chart, score_chart)
    called = {function.__name__: function for function in functions}
    values = {"crawls": crawls, "limit": limit, "version": version, "day": day, "most_points": MOST_POINTS}
    return report_page("focus.html", catalogue, **values, **called)


def text_report(focus: CrawlFocus, catalogue: Catalogue) -> Iterator[str]:
    """The report of a crawl as lines for a terminal; a blank line is before each table, word list and note."""
    _ = catalogue.gettext
    lead, *more = map(_, headline(focus))
    yield _("{name}: {text}", name=focus.name, text=lead)
    yield from more
    for table in tables(focus.figures):
        yield ""
        yield from _table_lines(table, catalogue)
    for name, words in word_lists(focus.learned).items():
        yield ""
        yield _("{name}: {text}", name=Message(name), text=weighed(words))
    for note in learned_notes(focus.learned):
        yield ""
        yield _(note)
    for table in extremes(focus):
        yield ""
        yield from _table_lines(table, catalogue)


def _table_lines(table: ReportTable, catalogue: Catalogue) -> Iterator[str]:
    """The title of a table, and its rows and notes, indented."""
    yield catalogue.gettext("{name}: {text}", name=table.title, text="").rstrip()
    rows = [
        [_one_line(str(translated(cell, catalogue.translations)), WIDTH) for cell in row]
        for row in (table.heads, *table.rows)
    ]
    yield from (f"  {line}" for line in (*aligned(rows, table.texts), *map(catalogue.gettext, table.notes)))


def _one_line(cell: str, width: int) -> str:
    """A cell in one line, shortened if long.

    >>> _one_line(" honey\\n bees ", 8), _one_line("honey bees", 10)
    ('honey b…', 'honey bees')
    """
    words = " ".join(cell.split())
    if len(words) <= width:
        return words
    return f"{words[: width - 1]}…"


def weighed(words: Weights) -> list[Message]:
    """Words with their weights.

    >>> [str(word) for word in weighed((("honey", 0.51234, ""), ("shop", -2.0, "address")))]
    ['honey 0.512', 'shop (in the address) -2']
    """
    return [
        Message("{word} {weight}", {"word": placed(word, place), "weight": f"{weight:.3g}"})
        for word, weight, place in words
    ]
