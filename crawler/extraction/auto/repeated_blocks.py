"""Blocks at the same place of elements that repeat, such as the posts of a thread, are judged alike.

A place is the kind of the innermost container around a block and of the two around that; a kind is a tag and its first
class, without digits at its end, by which pages number their posts (.page_arrays). Blocks that are mostly links are
apart, such as those to other articles between paragraphs. The score of a block is the logit of its probability p,
log(p / (1 - p)); it moves most of the way to the average score of its place. A score beyond SURE, that of a p of LEAST
or 1 - LEAST, counts as SURE, so that one block of which the network is sure does not decide for all. What is beyond
counts as far as the others of the place agree: the hundred links of a menu stay as unlikely as they are.
"""

import numpy as np

from crawler.extraction.auto.network import logistic
from crawler.extraction.auto.page_arrays import Floats, PageArrays

SHARE = 0.6
"""How much of a score is the average of its place."""
LEAST = 0.05
NEVER = 1e-6
SURE = np.log((1 - LEAST) / LEAST)


def alike(likely: Floats, seen: PageArrays) -> Floats:
    """The probabilities of the blocks of a page, those at the same place nearer to each other."""
    is_link = 2 * seen.linked > seen.lengths
    _, places = np.unique(2 * seen.outline.places[seen.homes] + is_link, return_inverse=True)
    bounded = np.minimum(np.maximum(likely.astype(np.float64), NEVER), 1 - NEVER)
    scores = np.log(bounded / (1 - bounded))
    sure = np.minimum(np.maximum(scores, -SURE), SURE)
    averages = (np.bincount(places, sure) / np.bincount(places))[places]
    agreement = np.minimum(np.maximum(averages * np.sign(scores) / SURE, 0), 1)
    probabilities: Floats = logistic(sure + SHARE * (averages - sure) + agreement * (scores - sure)).astype(np.float32)
    return probabilities
