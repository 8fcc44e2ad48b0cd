"""What was learned, in words: for people."""

from typing import Any

import numpy as np

from crawler.focus.apprentice import ADDRESS, HOST, Apprentice
from crawler.focus.subject import Subject
from crawler.focus.vocabulary import PLACES, Vocabulary
from crawler.topic import STOP_WORDS, tells

MOST_TOPIC_WORDS = 40
MOST_LINK_WORDS = 30
LOOKED_AT = 200
"""Words of each kind, the first ones, of which those that tell nothing to people are left out."""
LEAST_TIMES = 3.0
"""How often links must have had a word until it is said what they led to."""
SORT_NAMES = ("{}", "{} (in the address)", "{} (near the link)", "{} (host)")


def summary(vocabulary: Vocabulary, subject: Subject, apprentice: Apprentice) -> dict[str, Any]:
    """How many pages taught, those of earlier runs too; the words of the aim with their shares; and the signs of links
    that led to the topic, or away from it: how much more or less relevant what they led to was than what links lead to
    on the whole.
    """
    aim, names = subject.aim, vocabulary.names
    weighty = [at for at in np.argsort(-aim, kind="stable")[:LOOKED_AT].tolist() if aim[at] > 0]
    said = [at for at in weighty if tells(names.get(at, "")) and vocabulary.is_met(names[at])]
    topic = [[names[at], round(float(aim[at]), 3)] for at in said]
    best, worst = (_told(ranked, apprentice.mean(), names) for ranked in apprentice.extremes(LEAST_TIMES, LOOKED_AT))
    good, bad = [one for one in best if one[1] > 0], [one for one in worst if one[1] < 0]
    most = MOST_LINK_WORDS
    return {"pages": vocabulary.pages, "topic": topic[:MOST_TOPIC_WORDS], "good": good[:most], "bad": bad[:most]}


def _told(ranked: list[tuple[int, float]], mean: float, names: dict[int, str]) -> list[list[Any]]:
    """Signs in words, without words that tell nothing to anybody, and how far each lies from the mean."""
    found = []
    for sign, value in ranked:
        sort, place = divmod(sign, PLACES)
        name = names.get(place, "")
        if tells(name) or (sort in (ADDRESS, HOST) and name not in STOP_WORDS and not name.isdigit()):
            found.append([SORT_NAMES[sort].format(name), round(value - mean, 3)])
    return found
