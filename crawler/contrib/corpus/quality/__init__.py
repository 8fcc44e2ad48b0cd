"""Numbers about a text that published sets of rules use. They are only measured: an export applies limits on request.

`measured` computes all numbers at once. `PUBLISHED` has the published limits, by the name of their set.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from crawler.contrib.corpus.quality import c4, fineweb, gopher
from crawler.contrib.corpus.quality.c4 import C4
from crawler.contrib.corpus.quality.chinese import Chinese, chinese
from crawler.contrib.corpus.quality.fineweb import FineWeb
from crawler.contrib.corpus.quality.gopher import GopherQuality, GopherRepetition
from crawler.contrib.corpus.quality.languages import Languages, languages
from crawler.contrib.corpus.quality.limits import Limit, first_broken
from crawler.contrib.corpus.quality.measured_text import MeasuredText
from crawler.contrib.corpus.quality.personal_data import MaskedCounts
from crawler.metadata.text_quality import has_text_numbers

Numbers = dict[str, float | None]


@dataclass(frozen=True)
class OfExtraction:
    """The numbers about the extraction, which the crawl itself stores of every page."""

    certainty: float | None
    """How good the text is likely to be, from 0 to 1: the F1 that the method `auto` expects of it; else null."""
    kept_frac: float
    """Share of the characters of the page that its text has."""


SETS = (OfExtraction, GopherQuality, GopherRepetition, FineWeb, C4, Chinese, Languages)
"""The classes whose fields are the numbers of a page, in order."""
NUMBER_TYPES: dict[str, type] = {
    field.name: int if field.type is int else float for numbers in SETS for field in fields(numbers)
}
"""The types of the numbers by name: int for counts."""
NAMES = tuple(NUMBER_TYPES)
"""The names of the numbers, in order."""
MASKED_TYPES: dict[str, type] = {field.name: int for field in fields(MaskedCounts)}
"""The types of the counts that an export with masked personal data adds."""
PUBLISHED: Mapping[str, Mapping[str, tuple[Limit, ...]]] = {
    "gopher": gopher.LIMITS,
    "fineweb": fineweb.LIMITS,
    "c4": c4.LIMITS,
}
"""The limits of each set, by language; "" stands for all other languages."""


def measured(text: str, language: str | None) -> Numbers:
    """The numbers of a text in this language."""
    document = MeasuredText.of(text, language)
    numbers: Numbers = {}
    for numbers_of_set in (
        gopher.gopher_quality(document),
        gopher.gopher_repetition(document),
        fineweb.fineweb(document),
        c4.c4(document),
        chinese(document),
        languages(document),
    ):
        numbers |= vars(numbers_of_set)
    return numbers


def complete_quality(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a stored page; if the crawl did not store the numbers of its text, they are added to `quality`.

    A page whose `quality` is null is returned unchanged.
    """
    stored = values["quality"]
    if stored is None or has_text_numbers(stored):
        return dict(values)
    return {**values, "quality": stored | measured(values["text"], values["language"])}


def broken_limit(numbers: Mapping[str, float | None], name: str, language: str | None) -> Limit | None:
    """The first limit of a published set that a text in this language breaks; None if it breaks none.

    `numbers` are those of the text, `name` is the name of the set.
    """
    limits = PUBLISHED[name]
    return first_broken(limits.get(language or "", limits[""]), numbers)
