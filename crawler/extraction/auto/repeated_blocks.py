"""Blocks at the same place of elements that repeat, such as the posts of a thread, are judged alike.

A place is the kind of the innermost container around a block and of the two around that; a kind is a tag and its first
class, without digits at its end, by which pages number their posts (.page_arrays). Blocks that are mostly links are
apart, such as those to other articles between paragraphs. The score of a block is the logit of its probability p,
log(p / (1 - p)); it moves most of the way to the average score of its place. A p beyond LEAST and 1 - LEAST counts as
that, so that one block of which the network is sure does not decide for all.
"""

import numpy as np

from crawler.extraction.auto.network import logistic
from crawler.extraction.auto.page_arrays import Floats, PageArrays

SHARE = 0.6
"""How much of a score is the average of its place."""
LEAST = 0.05


def alike(likely: Floats, seen: PageArrays) -> Floats:
    """The probabilities of the blocks of a page, those at the same place nearer to each other."""
    is_link = 2 * seen.linked > seen.lengths
    _, places = np.unique(2 * seen.outline.places[seen.homes] + is_link, return_inverse=True)
    sure = np.clip(likely, LEAST, 1 - LEAST)
    scores = np.log(sure / (1 - sure))
    averages = np.bincount(places, scores) / np.bincount(places)
    found: Floats = logistic(scores + SHARE * (averages[places] - scores)).astype(np.float32)
    return found
