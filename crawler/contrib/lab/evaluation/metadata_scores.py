"""Judges the metadata of a page: title, author, date of publication, and readers' comments."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from crawler.contrib.lab.evaluation.text_metrics import CountedText, f1, precision_recall
from crawler.metadata.structured_data import letters

FIELDS = ("title", "author", "published", "comments")
DAY_LENGTH = len("2026-11-27")
LEAST_LETTERS = 4
"""The fewest letters of an author's name that matches as a part of a longer name."""
LEAST_COMMENTS_F1 = 0.5
"""The least word F1 of comments that count as right."""
_BETWEEN_NAMES = re.compile(r"\b(?:and|und|et|y|by)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """How often a field was right, on pages that have it and on pages that do not."""

    present: int
    """Pages that have the field."""
    right: int
    """Pages that have the field, for which the right value was found."""
    missing: int
    """Pages that have the field, for which no value was found."""
    absent: int
    """Pages that do not have the field."""
    invented: int
    """Pages that do not have the field, for which a value was found."""

    @property
    def wrong(self) -> int:
        """Pages that have the field, for which a wrong value was found."""
        return self.present - self.right - self.missing

    @property
    def precision(self) -> float | None:
        """The share of right values among all values found for pages that have the field; None without values."""
        if self.present > self.missing:
            return self.right / (self.present - self.missing)
        return None


def is_right(field: str, value: str, gold: str) -> bool:
    """Whether a value agrees with the gold value.

    Dates are compared by day, titles and authors by their letters and digits. One of several authors, or a name without
    its degree, is right. Comments are right if their words are mostly the same: an F1 of at least one half.

    >>> is_right("published", "2024-05-06T10:15:00+02:00", "2024-05-06"), is_right("author", "Ann Lee", "Ann Lee, PhD")
    (True, True)
    """
    if field == "published":
        return value[:DAY_LENGTH] == gold[:DAY_LENGTH]
    if field == "comments":
        precision, recall = precision_recall(CountedText(value).words, CountedText(gold).words)
        return f1(precision or 0.0, recall or 0.0) >= LEAST_COMMENTS_F1
    value_letters = _letters(field, value)
    gold_letters = _letters(field, gold)
    if field == "title" or min(len(value_letters), len(gold_letters)) < LEAST_LETTERS:
        return value_letters == gold_letters
    return value_letters in gold_letters or gold_letters in value_letters


def counts(field: str, pairs: Iterable[tuple[str, str]]) -> FieldCounts:
    """The counts over pairs of a value and its gold value. An empty text stands for no value."""
    pairs = list(pairs)
    pairs_with_gold = [(value, gold) for value, gold in pairs if gold]
    values_without_gold = [value for value, gold in pairs if not gold]
    return FieldCounts(
        present=len(pairs_with_gold),
        right=sum(bool(value) and is_right(field, value, gold) for value, gold in pairs_with_gold),
        missing=sum(not value for value, _ in pairs_with_gold),
        absent=len(values_without_gold),
        invented=sum(map(bool, values_without_gold)),
    )


def _letters(field: str, text: str) -> str:
    """The letters and digits by which titles or authors are compared. An "and" between two authors is left out."""
    if field == "author":
        text = _BETWEEN_NAMES.sub(" ", text)
    return letters(text)
