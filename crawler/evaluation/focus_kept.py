"""How one crawl of a database kept to its topic, with all that a report of it says."""

from collections.abc import Callable, Iterable
from contextlib import closing

from crawler.evaluation.focus_tables import Kept
from crawler.evaluation.gathering import Gathering
from crawler.evaluation.learned_words import learned_words
from crawler.evaluation.truth import Truth
from crawler.state.gathered import Fetched, Gathered

Pace = Callable[[Iterable[Fetched]], Iterable[Fetched]]


def kept(crawl: Gathered, limit: float, known: Truth | None = None, pace: Pace = iter) -> Kept | None:
    """How a crawl kept to its topic, its pages taken at some pace; None where it has no page."""
    with closing(crawl.pages()) as pages:
        figures = Gathering(limit, known).take_all(pace(pages)).figures()
    if figures is None:
        return None
    best, worst = (tuple(crawl.told(numbers)) for numbers in (figures.best, figures.worst))
    words = learned_words(crawl.summaries())
    return Kept(crawl.name, figures, words, best, worst, crawl.waiting(limit), crawl.off_topic())
