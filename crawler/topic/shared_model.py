"""Writes what a worker has learned: as a line of JSON for its next run and for other workers, and as words for people.

A line may come from another version or from anybody: it is ignored if it is not valid.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawler.metadata.language import CODES
from crawler.topic.aims import MOST_LANGUAGES
from crawler.topic.link_scores import Apprentice
from crawler.topic.relevance import Subject
from crawler.topic.topic import STOP_WORDS, tells
from crawler.topic.translations import ADDRESS_BITS, MOST_SHARED, AddressKey
from crawler.topic.word_statistics import (
    ADDRESS,
    HOST,
    LONGEST,
    PLACES,
    SORTS,
    FeatureCounts,
    KnownPage,
    Vector,
    Vocabulary,
)

VERSION = 1
MOST_WORDS = 200
"""Words of a page that are shared."""
MOST_PAGES = 60
"""Pages of a language that are shared."""
MOST_KNOWN = MOST_PAGES * (1 + MOST_LANGUAGES)
"""Pages of all languages that are read."""
MOST_TEXT = 12_000_000
"""Characters of a line that is read: more than are ever written."""
MOST_COUNT = 1e9
"""The largest number of pages or links; larger numbers are limited to this."""
MOST_TIMES = 1 + math.log(1e6)
"""The largest value of a word in the vector of a page."""


@dataclass(frozen=True)
class Learned:
    """The knowledge that one worker shares."""

    seat: int
    topic: str
    """Identifies the topic: a worker with another topic can only use the counts of words."""
    pages: int
    words: dict[str, float]
    """The number of pages with each word."""
    known: list[KnownPage]
    """Pages that are similar to the topic, and pages that are not."""
    features: FeatureCounts
    translated: Sequence[tuple[AddressKey, str, float]] = ()
    """Pages that may have translations, each with language and relevance."""
    translations: Sequence[tuple[AddressKey, AddressKey]] = ()
    """Pairs of a page and a page that it names as its translation."""


def written(learned: Learned, vocabulary: Vocabulary) -> str:
    """The knowledge of a worker as a line of JSON."""
    names = vocabulary.names
    features = [
        (feature // PLACES, names[feature % PLACES], *map(_short, sums))
        for feature, sums in learned.features.features.items()
        if feature % PLACES in names
    ]
    record = {
        "version": VERSION,
        "seat": learned.seat,
        "topic": learned.topic,
        "pages": learned.pages,
        "words": learned.words,
        "known": [_page(page, names) for page in learned.known],
        "features": features,
        "good": learned.features.good,
        "bad": learned.features.bad,
        "translated": [(number, language, _short(relevance)) for number, language, relevance in learned.translated],
        "translations": learned.translations,
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def read(text: str, vocabulary: Vocabulary) -> Learned | None:
    """The knowledge in a line of JSON; None if the line is not valid."""
    if len(text) > MOST_TEXT:
        return None
    try:
        record = json.loads(text)
        if record["version"] != VERSION:
            return None
        features = {
            int(sort) * PLACES + vocabulary.place(_word(word)): (min(_number(sum_), _number(weight)), _number(weight))
            for sort, word, sum_, weight in record["features"]
            if sort in SORTS
        }
        return Learned(
            seat=int(record["seat"]),
            topic=str(record["topic"]),
            pages=int(_number(record["pages"])),
            words={_word(word): _number(count) for word, count in record["words"].items()},
            known=[_known(page, vocabulary) for page in record["known"][:MOST_KNOWN]],
            features=FeatureCounts(features, _number(record["good"]), _number(record["bad"])),
            translated=[
                (_address(number), _language(language), min(_number(relevance), 1.0))
                for number, language, relevance in record["translated"][:MOST_SHARED]
            ],
            translations=[
                (_address(number), _address(other)) for number, other in record["translations"][:MOST_SHARED]
            ],
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _page(page: KnownPage, names: dict[int, str]) -> list[Any]:
    """A page as JSON: how much it names the topic, its most frequent words, its language and its address."""
    places, times = page.vector
    most_frequent = np.argsort(-times, kind="stable")[:MOST_WORDS]
    counted = zip(places[most_frequent].tolist(), times[most_frequent].tolist(), strict=True)
    words = {names[place]: _short(count) for place, count in counted if place in names}
    return [_short(page.named), words, page.language, page.address]


def _known(page: Any, vocabulary: Vocabulary) -> KnownPage:
    """The page in such JSON; raises a ValueError or TypeError if it is not valid, like the functions that follow."""
    named, words, language, address = page
    times = {vocabulary.place(_word(word)): min(_number(count), MOST_TIMES) for word, count in words.items()}
    places = np.fromiter(times, np.int32, len(times))
    return KnownPage(
        Vector(places=places, times=np.fromiter(times.values(), np.float64, len(times))),
        named=min(_number(named), 1.0),
        language=_language(language),
        address=_address(address),
    )


def _short(number: float) -> float:
    return round(float(number), 4)


def _word(word: Any) -> str:
    if not isinstance(word, str) or len(word) > LONGEST:
        raise ValueError("no word")
    return word


def _language(code: Any) -> str:
    if code not in ("", *CODES):
        raise ValueError("no language")
    return str(code)


def _address(numbers: Any) -> AddressKey:
    page, folder = numbers
    if not all(isinstance(number, int) and 0 <= number < 1 << ADDRESS_BITS for number in numbers):
        raise ValueError("no address")
    return AddressKey(page=page, folder=folder)


def _number(value: Any) -> float:
    number = float(value)
    if not 0 <= number < math.inf:
        raise ValueError("no count")
    return min(number, MOST_COUNT)


MOST_TOPIC_WORDS = 40
MOST_LINK_WORDS = 30
LOOKED_AT = 200
"""Words of each kind that are considered; words that are meaningless to people are then removed."""
LEAST_TIMES = 3.0
"""The weight from which a feature of links is reported."""
SORT_NAMES = ("", "address", "near", "host")
"""The names of the kinds of words of links; that of a link's own text is empty."""


def summary(vocabulary: Vocabulary, subjects: Sequence[Subject], apprentice: Apprentice) -> dict[str, Any]:
    """What a worker has learned, as words.

    It is the number of pages, including those of earlier runs, the words of the aims with their values, and the words
    of links that led to the topic or away from it, each with its difference from the mean of all links and its kind.
    """
    aim = np.maximum.reduce([subject.trust * subject.aim for subject in subjects])
    names = vocabulary.names
    highest = [at for at in np.argsort(-aim, kind="stable")[:LOOKED_AT].tolist() if aim[at] > 0]
    meaningful = [at for at in highest if tells(names.get(at, "")) and vocabulary.is_met(names[at])]
    topic = [[names[at], round(float(aim[at]), 3)] for at in meaningful]
    best, worst = (
        _feature_words(ranked, apprentice.mean(), names) for ranked in apprentice.extremes(LEAST_TIMES, LOOKED_AT)
    )
    good = [feature for feature in best if feature[1] > 0]
    bad = [feature for feature in worst if feature[1] < 0]
    most = MOST_LINK_WORDS
    return {"pages": vocabulary.pages, "topic": topic[:MOST_TOPIC_WORDS], "good": good[:most], "bad": bad[:most]}


def _feature_words(ranked: list[tuple[int, float]], mean: float, names: dict[int, str]) -> list[list[Any]]:
    """The word of each feature, its difference from the mean, and its kind; meaningless words are omitted."""
    features = []
    for feature, value in ranked:
        sort, place = divmod(feature, PLACES)
        name = names.get(place, "")
        if tells(name) or (sort in (ADDRESS, HOST) and name not in STOP_WORDS and not name.isdigit()):
            features.append([name, round(value - mean, 3), SORT_NAMES[sort]])
    return features
