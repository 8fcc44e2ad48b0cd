"""Writes what a worker has learned: as a line of JSON for its next run and for other workers, and as words for people.

A line may come from another version, or from anybody who can write to the database: it is ignored if it is not valid.
In memory, a word is represented by its place, a number (crawler/topic/word_statistics.py); in a line, by its letters.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawler.metadata.language import CODES
from crawler.topic.aims import MOST_LANGUAGES
from crawler.topic.link_scores import Apprentice
from crawler.topic.page_translations import ADDRESS_BITS, MOST_SHARED, AddressKey
from crawler.topic.relevance import Subject
from crawler.topic.topic import STOP_WORDS, is_meaningful
from crawler.topic.word_statistics import (
    ADDRESS,
    HOST,
    KINDS,
    LONGEST_WORD,
    PLACES,
    FeatureCounts,
    KnownPage,
    Vector,
    Vocabulary,
)

VERSION = 1
MOST_WORDS = 200
"""How many words of a page are shared."""
MOST_PAGES = 60
"""How many pages are shared for each language with an aim of its own."""
MOST_KNOWN = MOST_PAGES * (1 + MOST_LANGUAGES)
"""How many pages of all languages together are read from a line."""
MOST_TEXT = 12_000_000
"""A line with more characters is not read; lines that workers write are shorter."""
MOST_COUNT = 1e9
"""The largest number of pages or links; larger numbers are limited to this."""
MOST_VALUE = 1 + math.log(1e6)
"""The largest value of a word in the vector of a page: that of a million occurrences."""


@dataclass(frozen=True)
class Learned:
    """The knowledge that one worker shares."""

    worker_number: int
    """The number of the worker among the workers of its crawl, which stays the same in its next run."""
    topic: str
    """A hash of the topic (`TopicFocus._topic_digest`): a worker with another topic only uses the counts of words."""
    pages: int
    """How many pages the worker has seen."""
    words: dict[str, float]
    """The number of pages with each word."""
    known: list[KnownPage]
    """Pages that are similar to the topic, and pages that are not."""
    features: FeatureCounts
    translated: Sequence[tuple[AddressKey, str, float]] = ()
    """Pages, each with its language and relevance, from which the relevance of their translations is learned."""
    translations: Sequence[tuple[AddressKey, AddressKey]] = ()
    """Pairs of a page and a page that it names as its translation."""


def to_line(learned: Learned, vocabulary: Vocabulary) -> str:
    """The knowledge of a worker as a line of JSON."""
    names = vocabulary.names
    features = []
    for feature, (relevance, weight) in learned.features.features.items():
        kind, place = divmod(feature, PLACES)
        if place in names:
            features.append((kind, names[place], _rounded(relevance), _rounded(weight)))
    record = {
        "version": VERSION,
        "seat": learned.worker_number,
        "topic": learned.topic,
        "pages": learned.pages,
        "words": learned.words,
        "known": [_page_record(page, names) for page in learned.known],
        "features": features,
        "good": learned.features.good,
        "bad": learned.features.bad,
        "translated": [(address, language, _rounded(relevance)) for address, language, relevance in learned.translated],
        "translations": learned.translations,
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def from_line(text: str, vocabulary: Vocabulary) -> Learned | None:
    """The knowledge in a line of JSON; None if the line is not valid."""
    if len(text) > MOST_TEXT:
        return None
    try:
        record = json.loads(text)
        if record["version"] != VERSION:
            return None
        features = {}
        for kind, word, relevance, weight in record["features"]:
            if kind in KINDS:
                number = int(kind) * PLACES + vocabulary.place(_word(word))
                # The sum of the relevance of pages is at most their weight, as the relevance of a page is at most 1.
                features[number] = (min(_number(relevance), _number(weight)), _number(weight))
        return Learned(
            worker_number=int(record["seat"]),
            topic=str(record["topic"]),
            pages=int(_number(record["pages"])),
            words={_word(word): _number(count) for word, count in record["words"].items()},
            known=[_known_page(page, vocabulary) for page in record["known"][:MOST_KNOWN]],
            features=FeatureCounts(features, _number(record["good"]), _number(record["bad"])),
            translated=[
                (_address(address), _language(language), min(_number(relevance), 1.0))
                for address, language, relevance in record["translated"][:MOST_SHARED]
            ],
            translations=[
                (_address(address), _address(other)) for address, other in record["translations"][:MOST_SHARED]
            ],
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def _page_record(page: KnownPage, names: dict[int, str]) -> list[Any]:
    """A page as JSON: its word score, its most frequent words, its language and its address."""
    places, values = page.vector
    most_frequent = np.argsort(-values, kind="stable")[:MOST_WORDS]
    values_of_places = zip(places[most_frequent].tolist(), values[most_frequent].tolist(), strict=True)
    words = {names[place]: _rounded(value) for place, value in values_of_places if place in names}
    return [_rounded(page.word_score), words, page.language, page.address]


def _rounded(number: float) -> float:
    return round(float(number), 4)


# The following functions raise a ValueError or TypeError if a part of the JSON is not valid. `from_line` catches it.


def _known_page(page: Any, vocabulary: Vocabulary) -> KnownPage:
    """The page that `_page_record` made into JSON."""
    word_score, words, language, address = page
    values = {vocabulary.place(_word(word)): min(_number(value), MOST_VALUE) for word, value in words.items()}
    places = np.fromiter(values, np.int32, len(values))
    return KnownPage(
        Vector(places=places, values=np.fromiter(values.values(), np.float64, len(values))),
        word_score=min(_number(word_score), 1.0),
        language=_language(language),
        address=_address(address),
    )


def _word(word: Any) -> str:
    if not isinstance(word, str) or len(word) > LONGEST_WORD:
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
"""How many words of the aims the summary shows."""
MOST_LINK_WORDS = 30
"""How many words of good links, and how many of bad ones, the summary shows."""
EXAMINED = 200
"""How many words or features are examined for each list; those that are meaningless to people are then left out."""
LEAST_FEATURE_WEIGHT = 3.0
"""The least weight of a feature in the summary, in pages that links with it led to."""
KIND_NAMES = ("", "address", "near", "host")
"""The names of the kinds of words of links, in the order of KINDS; the name of a link's own text is empty."""


def summary(vocabulary: Vocabulary, subjects: Sequence[Subject], apprentice: Apprentice) -> dict[str, Any]:
    """What a worker has learned, as words: `pages` is the number of pages, including those of earlier runs, and `topic`
    the words of the aims with their values. `good` and `bad` are words of links that led to the topic or away from it,
    each with its difference from the mean of all links and its kind.
    """
    aim = np.maximum.reduce([subject.trust * subject.aim for subject in subjects])
    names = vocabulary.names
    highest = [place for place in np.argsort(-aim, kind="stable")[:EXAMINED].tolist() if aim[place] > 0]
    # Words of the topic that no page contains are left out.
    meaningful = [place for place in highest if is_meaningful(names.get(place, "")) and vocabulary.is_met(names[place])]
    topic = [[names[place], round(float(aim[place]), 3)] for place in meaningful]
    best, worst = apprentice.extremes(LEAST_FEATURE_WEIGHT, EXAMINED)
    mean = apprentice.mean()
    good = [[name, difference, kind] for name, difference, kind in _feature_words(best, mean, names) if difference > 0]
    bad = [[name, difference, kind] for name, difference, kind in _feature_words(worst, mean, names) if difference < 0]
    most = MOST_LINK_WORDS
    return {"pages": vocabulary.pages, "topic": topic[:MOST_TOPIC_WORDS], "good": good[:most], "bad": bad[:most]}


def _feature_words(
    ranked: list[tuple[int, float]], mean: float, names: dict[int, str]
) -> Iterator[tuple[str, float, str]]:
    """The word of each feature, the difference of its value from the mean, and its kind; meaningless words are omitted.

    A word of an address or the name of a host is meaningful even if it is short or has a Chinese particle.
    """
    for feature, value in ranked:
        kind, place = divmod(feature, PLACES)
        name = names.get(place, "")
        if is_meaningful(name) or (kind in (ADDRESS, HOST) and name not in STOP_WORDS and not name.isdigit()):
            yield name, round(value - mean, 3), KIND_NAMES[kind]
