"""What there is to say of how a crawl kept to its topic: sentences and tables, for paper and for a terminal alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crawler.evaluation.gathering import MOST_SITES, TENTHS, WINDOW, Figures, Group, Point
from crawler.evaluation.learned_words import LearnedWords, Weights
from crawler.evaluation.truth import Found
from crawler.readable import readable
from crawler.state.gathered import Told, Waiting
from crawler.wording import counted

ROWS = 10
"""Of the table of the course."""
COUNTS = ("pages", "on topic", "harvest", "relevance", "link score")
NONE = "–"
ALL_READ = "The closing lines and the overview count all pages that were read, stored or not, each time they were read."
BY_CRAWL, BY_TRUTH = "share of the pages on topic found so far", "recall"


@dataclass(frozen=True)
class Kept:
    """How one crawl kept to its topic."""

    name: str
    figures: Figures
    learned: LearnedWords
    best: tuple[Told, ...]
    worst: tuple[Told, ...]
    waiting: Waiting
    off_topic: int = 0
    """Pages that were read and not kept, as their relevance was under the crawl's `min_relevance`."""

    @property
    def share(self) -> str:
        """What the share is that grows with the pages."""
        return BY_CRAWL if self.figures.truth is None else BY_TRUTH

    @property
    def most(self) -> int:
        """What the share is of."""
        return self.figures.total.on_topic if self.figures.truth is None else self.figures.truth.addresses


class Table(NamedTuple):
    """Rows under heads; the columns with these heads hold text, the others numbers."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    texts: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


def headline(kept: Kept) -> list[str]:
    """The sentences that come first."""
    figures = kept.figures
    total, last = figures.total, min(WINDOW, figures.total.pages)
    on_topic = f"{total.on_topic:,} on topic (relevance of {figures.limit:g} or more)"
    lately = f"of the last {counted(last, 'page')} {percent(figures.lately)}"
    said = f"{counted(total.pages, 'page')} stored, {on_topic}: harvest {percent(total.harvest)}, {lately}."
    truth = truth_words(figures.truth) if figures.truth else []
    return [said, *off_topic_words(kept.off_topic), *truth, waiting_words(kept.waiting, figures.limit)]


def off_topic_words(count: int) -> list[str]:
    """That pages are missing here, where the crawl was told to keep none like them."""
    if not count:
        return []
    pages = counted(count, "more page was", "more pages were")
    why = "with a relevance under the crawl's min_relevance"
    return [f"{pages} read and not kept, {why}; the figures are of stored pages alone."]


def truth_words(found: Found) -> list[str]:
    """What became of addresses that are known to be on topic."""
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
    return said


def waiting_words(waiting: Waiting, limit: float) -> str:
    """What the crawl has still to ask for, and what that promises."""
    if not waiting.total:
        return "No address waits to be asked for."
    addresses = counted(waiting.total, "address waits", "addresses wait")
    promising = f"{waiting.promising:,} of them with a link score of {limit:g} or more, or as seeds"
    return f"{addresses} to be asked for; {promising}."


def tables(kept: Kept) -> list[Table]:
    """All tables, in the order in which they are read."""
    return [ways(kept.figures), course(kept), sites(kept.figures), scores(kept.figures)]


def ways(figures: Figures) -> Table:
    """The pages by how they were found."""
    heads = ("found by", *COUNTS)
    return Table(
        "How pages were found", heads, [(one.name, *counts(one)) for one in figures.ways], frozenset(heads[:1])
    )


def course(kept: Kept) -> Table:
    """How the harvest went, at about ROWS points."""
    heads = ("pages", f"harvest of the last {WINDOW}", "harvest so far", kept.share)
    unknown = () if kept.figures.truth else ("How many pages on topic the crawl did not find, nobody knows.",)
    rows = [
        (
            f"{point.pages:,}",
            percent(point.lately),
            percent(point.harvest),
            percent((point.found if kept.figures.truth else point.on_topic) / kept.most) if kept.most else NONE,
        )
        for point in thinned(kept.figures.course, ROWS)
    ]
    return Table("Harvest over the pages", heads, rows, notes=(*unknown, ALL_READ))


def sites(figures: Figures) -> Table:
    """What each site gave; the sites that have no row are counted."""
    heads = ("site", *COUNTS, "best page")
    rows = [(one.name, *counts(one), readable(one.best)) for one in figures.sites]
    notes: tuple[str, ...] = ()
    if rest := figures.others:
        gave = f"{counted(rest.pages, 'page')}, {rest.on_topic:,} on topic ({percent(rest.harvest)})"
        notes = (f"{figures.site_count - MOST_SITES:,} more of {counted(figures.site_count, 'site')}: {gave}.",)
    return Table("Sites", heads, rows, frozenset(("site", "best page")), notes)


def scores(figures: Figures) -> Table:
    """Whether the score of a link told what it led to."""
    rows = [
        (f"{place / TENTHS:.1f} to {(place + 1) / TENTHS:.1f}", *counts(one))
        for place, one in enumerate(figures.tenths)
        if one is not None
    ]
    without = figures.total.pages - sum(one.pages for one in figures.tenths if one is not None)
    notes = []
    if figures.ranking is not None:
        notes.append(
            "Of a page on topic and one that is not, the first had the better link score in "
            f"{percent(figures.ranking)} of all pairs; 50% is chance."
        )
    if without:
        notes.append(f"{counted(without, 'page')} had no link score: nothing was known beforehand.")
    return Table(
        "Pages by their link score", ("link score from", *COUNTS), rows, frozenset(("link score from",)), tuple(notes)
    )


def word_lists(learned: LearnedWords) -> dict[str, Weights]:
    """The words that were learned, by what they are; nothing where none was."""
    lists = {
        "Words of the topic": learned.topic,
        "Words of links that led to it": learned.good,
        "Words of links that led elsewhere": learned.bad,
    }
    return {name: words for name, words in lists.items() if words}


def learned_notes(learned: LearnedWords) -> list[str]:
    """How many workers the words are of, and what is missing."""
    said = []
    if not learned.workers:
        said.append("There is no record of what the crawl learned.")
    if learned.workers and not word_lists(learned):
        said.append("The crawl has learned no words.")
    elif learned.workers > 1:
        said.append(f"Means of {learned.workers:,} workers, by the pages each has seen.")
    if learned.let_go > 0:
        said.append(f"Too many waited to be scored anew: {counted(learned.let_go, 'link')} kept a last priority.")
    return said


def extremes(kept: Kept) -> list[Table]:
    """The pages with the highest relevance, and those with the lowest."""
    heads = ("relevance", "link score", "address", "title")  # titles last: letters of some scripts are twice as wide
    return [
        Table(title, heads, [_told(page) for page in pages], frozenset(heads[2:]))
        for title, pages in (("Best pages", kept.best), ("Worst pages", kept.worst))
    ]


def counts(group: Group) -> tuple[str, ...]:
    """A group's figures, under COUNTS; relevance and link score are means."""
    return (
        f"{group.pages:,}",
        f"{group.on_topic:,}",
        percent(group.harvest),
        f"{group.relevance:.2f}",
        NONE if group.link_score is None else f"{group.link_score:.2f}",
    )


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """Some of the points, evenly spaced, the last among them.

    >>> [point for point in thinned(range(1, 24), 4)]
    [5, 11, 17, 23]
    """
    if len(points) <= most:
        return list(points)
    return [points[(place + 1) * len(points) // most - 1] for place in range(most)]


def percent(share: float) -> str:
    """A share in percent."""
    return f"{share:.1%}"


def _told(page: Told) -> tuple[str, ...]:
    score = NONE if page.link_score is None else f"{page.link_score:.2f}"
    return f"{page.relevance:.2f}", score, readable(page.url), page.title
