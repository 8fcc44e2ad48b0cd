"""What was learned, in words: for people."""

from typing import Any

import numpy as np

from crawler.focus.apprentice import Apprentice
from crawler.focus.subject import Subject
from crawler.focus.vocabulary import PLACES, Vocabulary
from crawler.topic import tells

MOST_TOPIC_WORDS = 40
MOST_LINK_WORDS = 30
LEAST_TIMES = 3.0
"""How often links must have had a word until it is said what they led to."""
SORT_NAMES = ("{}", "{} (in the address)", "{} (near the link)", "{} (host)")


def summary(pages: int, vocabulary: Vocabulary, subject: Subject, apprentice: Apprentice) -> dict[str, Any]:
    """The words of the aim with their shares, and the signs of links that led to the topic, or away from it: how much
    more or less relevant what they led to was than what links lead to on the whole.
    """
    aim, names = subject.aim, vocabulary.names
    weighty = [at for at in np.argsort(-aim, kind="stable")[:MOST_TOPIC_WORDS].tolist() if aim[at] > 0 and at in names]
    topic = [[names[at], round(float(aim[at]), 3)] for at in weighty]
    best, worst = apprentice.extremes(LEAST_TIMES, MOST_LINK_WORDS)
    mean = apprentice.mean()
    good = [[_called(sign, vocabulary), round(value - mean, 3)] for sign, value in best if value > mean]
    bad = [[_called(sign, vocabulary), round(value - mean, 3)] for sign, value in worst if value < mean]
    return {"pages": pages, "topic": topic, "good": good, "bad": bad}


def _called(sign: int, vocabulary: Vocabulary) -> str:
    """A sign in words; the words of the link itself need no more."""
    sort, place = divmod(sign, PLACES)
    return SORT_NAMES[sort].format(vocabulary.names.get(place, "?"))
