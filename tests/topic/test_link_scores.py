"""Scores by hand: two words of weight 1, and an aim at one of them."""

from math import sqrt

import numpy as np
import pytest

from crawler.topic.aims import Aims
from crawler.topic.link_scores import (
    NEAR_WEIGHT,
    PROMISE_WEIGHT,
    SHOWN_WEIGHT,
    TEXTS_WEIGHT,
    TRACK_WEIGHT,
    WORDS_WEIGHT,
    Apprentice,
    PageCredits,
    Scorer,
)
from crawler.topic.link_table import LinkNumbers, WaitingLinks
from crawler.topic.page_translations import Translations
from crawler.topic.relevance import PageStack
from crawler.topic.word_statistics import PLACES, Vector

BEES, CARS = 0, 1
HIVES, ROADS, NEWS = 2, 3, 4
"""Words that texts have: one on the topic, one off it, and both."""
GOOD, POOR, HUB = range(3)


def scorer(learning: bool = True) -> Scorer:
    """What knows a good page, a poor one, and one that leads to good ones: 0.9, 0 and 0 relevant."""
    aims, page_credits, apprentice = Aims(Translations()), PageCredits(), Apprentice()
    subject = aims.first
    subject.examples.append(Vector(np.array([BEES], np.int32), np.ones(1)))
    subject.learn(PageStack([], np.ones(PLACES)))
    for relevance in (0.9, 0.0, 0.0):
        page_credits.add(relevance)
    page_credits.record_target([HUB], 1.0)
    apprentice.learn([BEES], 1.0)
    apprentice.learn([CARS], 0.0)
    texts = Apprentice(features=PLACES)
    texts.learn([HIVES, NEWS], 1.0)
    texts.learn([ROADS, NEWS], 0.0)
    return Scorer(aims, page_credits, apprentice, texts, learning)


def score(made: Scorer, *links: LinkNumbers) -> list[float]:
    waiting = WaitingLinks()
    for number, link in enumerate(links):
        waiting.add(f"http://a.example/{number}", link)
    return made.scores(waiting.all()).tolist()


def seen(
    page: int | None, anchor: list[int], near: list[int], factor: float = 1.0, features: tuple[int, ...] = ()
) -> LinkNumbers:
    return LinkNumbers(page, anchor, near, np.array(features, np.int32), 1, factor)


def of_topic(cosine: float) -> float:
    odds = (cosine / 0.1) ** 2
    return odds / (1 + odds)


MEAN = 0.3
ALL_WEIGHTS = SHOWN_WEIGHT + WORDS_WEIGHT + NEAR_WEIGHT + TRACK_WEIGHT + PROMISE_WEIGHT + TEXTS_WEIGHT
WORTH = {GOOD: 0.9, POOR: 0.0, HUB: 0.3 / 3}
TRACKS = {GOOD: 0.9, POOR: 0.0, HUB: 1 / 4}


def test_a_score() -> None:
    rows = [
        ([], [], 0, 0),
        ([BEES], [], 1, 0),
        ([CARS], [BEES], 0, 1),
        ([BEES, CARS], [BEES, CARS, CARS, CARS], sqrt(1 / 2), 1 / 2),
    ]
    for page in [GOOD, POOR, HUB]:
        for anchor, near, words, around in rows:
            told = (
                SHOWN_WEIGHT * (WORTH[page] + MEAN) / 2
                + WORDS_WEIGHT * of_topic(words)
                + NEAR_WEIGHT * of_topic(around)
            )
            (plain,) = score(scorer(learning=False), seen(page, anchor, near))
            assert plain == pytest.approx(told / (SHOWN_WEIGHT + WORDS_WEIGHT + NEAR_WEIGHT))
            (learned,) = score(scorer(), seen(page, anchor, near))
            total = told + TRACK_WEIGHT * TRACKS[page] + (PROMISE_WEIGHT + TEXTS_WEIGHT) * 0.5
            assert learned == pytest.approx(total / ALL_WEIGHTS)


def test_shown_by_several_pages() -> None:
    made, waiting = scorer(), WaitingLinks()
    waiting.add("http://a.example/", seen(GOOD, [], []))
    waiting.show_again(0, POOR, [])
    waiting.show_again(0, HUB, [])
    worth, track = sum(WORTH.values()), sum(TRACKS.values()) / 3
    total = SHOWN_WEIGHT * (worth + MEAN) / 4 + TRACK_WEIGHT * track + (PROMISE_WEIGHT + TEXTS_WEIGHT) * 0.5
    assert made.scores(waiting.all()).tolist() == pytest.approx([total / ALL_WEIGHTS])


def test_shown_by_no_page_that_is_known() -> None:
    total = SHOWN_WEIGHT * MEAN + TRACK_WEIGHT * MEAN + (PROMISE_WEIGHT + TEXTS_WEIGHT) * 0.5
    assert score(scorer(), seen(None, [], [])) == pytest.approx([total / ALL_WEIGHTS])


def test_features_promise() -> None:
    good, none, bad = score(scorer(), *(seen(GOOD, [], [], features=features) for features in [(BEES,), (), (CARS,)]))
    step = PROMISE_WEIGHT * 0.05 / ALL_WEIGHTS
    assert [good - none, none - bad] == pytest.approx([step, step])
    without = score(scorer(learning=False), *(seen(GOOD, [], [], features=features) for features in [(BEES,), (CARS,)]))
    assert without[0] == without[1]


def test_words_of_texts_promise() -> None:
    anchors = [[HIVES], [NEWS], [ROADS], []]
    good, mixed, bad, none = score(scorer(), *(seen(GOOD, anchor, []) for anchor in anchors))
    step = TEXTS_WEIGHT * 0.05 / ALL_WEIGHTS
    assert [good - mixed, mixed - bad, mixed - none] == pytest.approx([step, step, 0])
    without = score(scorer(learning=False), *(seen(GOOD, anchor, []) for anchor in anchors))
    assert len(set(without)) == 1


def test_factors_and_the_top() -> None:
    plain, more, most = score(scorer(), *(seen(GOOD, [BEES], [BEES], factor) for factor in (1.0, 1.25, 100.0)))
    assert more == pytest.approx(min(1, 1.25 * plain))
    assert most == 1


def test_no_links() -> None:
    assert score(scorer()) == []
