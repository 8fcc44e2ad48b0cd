"""How one crawl of a database kept to its topic: the record of which all reports tell."""

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass

from crawler.evaluation.gathering import FocusFigures, Gathering
from crawler.evaluation.learned_words import LearnedWords, learned_words
from crawler.evaluation.truth import Truth
from crawler.state.gathered import Fetched, Gathered, Told, Waiting

Pace = Callable[[Iterable[Fetched]], Iterable[Fetched]]


@dataclass(frozen=True)
class Kept:
    """How one crawl kept to its topic."""

    name: str
    figures: FocusFigures
    learned: LearnedWords
    best: tuple[Told, ...]
    worst: tuple[Told, ...]
    waiting: Waiting
    off_topic: int = 0
    """Pages that were read and not kept, as their relevance was under the crawl's `min_relevance`."""


def kept(crawl: Gathered, limit: float, known: Truth | None = None, pace: Pace = iter) -> Kept | None:
    """How a crawl kept to its topic, its pages taken at some pace; None where it has no page."""
    with closing(crawl.pages()) as pages:
        figures = Gathering(limit, known).take_all(pace(pages)).figures()
    if figures is None:
        return None
    best, worst = (tuple(crawl.told(numbers)) for numbers in (figures.best, figures.worst))
    words = learned_words(crawl.summaries())
    return Kept(crawl.name, figures, words, best, worst, crawl.waiting(limit), crawl.off_topic())
