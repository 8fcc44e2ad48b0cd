"""How well a model does on pages that it has not seen."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from crawler.evaluation.metrics import Text, f1, mean, precision_recall
from crawler.extraction.auto import auto
from crawler.extraction.auto.model import KINDS, Model
from crawler.training.sets import Row

COLUMNS = ("pages", "precision", "recall", "shingle F1", "word F1", "page type")


class PageScore(NamedTuple):
    """What a model made of a page."""

    page_type: str
    """As its set says; empty where it says none that is told apart."""
    precision: float | None
    """Of shingles, as is recall; None where the text is empty."""
    recall: float | None
    word_f1: float
    is_type_right: bool


class Figures(NamedTuple):
    """What a model made of many pages."""

    pages: int
    precision: float
    recall: float
    f1: float
    word_f1: float
    typed: int
    """Pages whose type is known."""
    accuracy: float | None
    """The share of them that got their type."""


def score(row: Row, model: Model) -> PageScore:
    """What a model makes of a page with gold text, all the way from the page to the text."""
    found = auto(row.page, model=model)
    text, gold = Text(found.text), Text(row.gold or "")
    precision, recall = precision_recall(text.shingles, gold.shingles)
    of_words = [share or 0.0 for share in precision_recall(text.words, gold.words)]
    page_type = row.page_type if row.page_type in KINDS else ""
    return PageScore(page_type, precision, recall, f1(*of_words), found.page_type == page_type)


def figures(scores: Sequence[PageScore]) -> Figures:
    """The averages of some pages, one at least, as `scrapy evaluate` makes them."""
    precision, recall = mean(one.precision for one in scores) or 0.0, mean(one.recall for one in scores) or 0.0
    typed = [one.is_type_right for one in scores if one.page_type]
    words = sum(one.word_f1 for one in scores) / len(scores)
    return Figures(len(scores), precision, recall, f1(precision, recall), words, len(typed), mean(typed))


def tried(rows: Iterable[Row], is_apart: Callable[[Row], bool], model: Model) -> list[PageScore]:
    """The scores of the pages with gold text that are apart from what the model was trained on."""
    return [score(row, model) for row in rows if row.gold is not None and is_apart(row)]


def by_type(scores: Iterable[PageScore]) -> dict[str, Figures]:
    """The figures of each type of page that is there."""
    found = {kind: [one for one in scores if one.page_type == kind] for kind in KINDS}
    return {kind: figures(some) for kind, some in found.items() if some}


def cells(one: Figures) -> tuple[str, ...]:
    """The figures in words, as COLUMNS names them.

    >>> cells(Figures(1_200, 0.9, 0.8, 0.847, 0.85, 0, None))
    ('1,200', '0.900', '0.800', '0.847', '0.850', '–')
    """
    shares = (f"{share:.3f}" for share in (one.precision, one.recall, one.f1, one.word_f1))
    return (f"{one.pages:,}", *shares, "–" if one.accuracy is None else f"{one.accuracy:.3f} of {one.typed:,}")
