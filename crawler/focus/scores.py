"""What a waiting link is worth asking for: a mean of what speaks for it.

    shown    the mean worth of the pages that show it, drawn to the mean of all pages by one page
    track    the mean track of these pages: what their other links led to; the mean of all where none is known
    words    how near the words of its anchor come to the topic
    near     the same of the text around it
    promise  what links with its signs led to before

The weights were found on a web of 4,598 pages of an encyclopaedia and four topics; they are few on purpose, and half as
much or twice of any of them changes little.
"""

from dataclasses import dataclass

import numpy as np

from crawler.focus.apprentice import Apprentice
from crawler.focus.pairs import Pairs, Values
from crawler.focus.subject import Subject
from crawler.focus.trails import Trails
from crawler.focus.waiting import FACTOR, Links

SHOWN, TRACK, WORDS, NEAR, PROMISE = 0.5, 1.2, 1.0, 0.3, 0.25
DRAWN_BY = 1.0


@dataclass(frozen=True)
class Scorer:
    """What the scores of links are made of, as it is known now."""

    subject: Subject
    trails: Trails
    apprentice: Apprentice
    learning: bool = True
    """Whether it counts what links led to."""

    def scores(self, links: Links) -> Values:
        """The score of each link, from 0 to 1."""
        count, shown = links.count, links.shown
        pages, mean = shown.sizes(count), self.trails.mean()
        worth = (shown.sums(self.trails.worth(shown.numbers), count) + DRAWN_BY * mean) / (pages + DRAWN_BY)
        words, near = self._of_topic(links.anchors, count), self._of_topic(links.nears, count)
        total, weight = SHOWN * worth + WORDS * words + NEAR * near, SHOWN + WORDS + NEAR
        if self.learning:
            tracks = shown.sums(self.trails.track(shown.numbers), count)
            total = total + TRACK * np.where(pages > 0, tracks / np.maximum(pages, 1), mean)
            total = total + PROMISE * self.apprentice.promise(links.signs, count)
            weight += TRACK + PROMISE
        return np.asarray(np.clip(links.table[FACTOR] * total / weight, 0.0, 1.0))

    def _of_topic(self, words: Pairs, count: int) -> Values:
        """How much of the topic the words of each link tell."""
        subject = self.subject
        lengths = np.sqrt(words.sums(subject.squares[words.numbers], count))
        likeness = words.sums(subject.weighed[words.numbers], count) / np.where(lengths > 0, lengths, 1.0)
        return subject.relevance(likeness)
