"""Judges blocks alike that are at the same place of repeated elements, such as the posts of a thread.

A place is the kind of the innermost container around a block and of the two containers around that
(`page_arrays.places`). A kind is a tag and its first class, without digits at the end, by which pages number their
posts. Blocks that consist mostly of links, such as links to other articles between paragraphs, have places of their
own.

The score of a block is the logit of its probability p, log(p / (1 - p)). It is moved most of the way to the average
score of its place. First all scores are capped at SURE, the score of p = 1 - LEAST_P, and at -SURE, so that one block
of which the network is sure does not decide for all. Afterwards a block gets back the capped part of its score, in
proportion to the agreement of the blocks at its place: the hundred links of a menu stay as unlikely as they are.
"""

import numpy as np

from crawler.extraction.auto.network import logistic
from crawler.extraction.auto.page_arrays import Floats, PageArrays

SHARE = 0.6
"""How far a score is moved to the average of its place: 1 is all the way."""
LEAST_P = 0.05
"""The probability whose score is -SURE."""
NEVER = 1e-6
"""The least probability whose logit is computed, as that of 0 is infinite."""
SURE = np.log((1 - LEAST_P) / LEAST_P)


def alike(network_probabilities: Floats, arrays: PageArrays) -> Floats:
    """The probabilities of the blocks of a page, adjusted so that blocks at the same place are judged alike."""
    # Blocks that consist mostly of links have odd numbers of places.
    is_link = 2 * arrays.linked > arrays.lengths
    _, places = np.unique(2 * arrays.outline.places[arrays.homes] + is_link, return_inverse=True)
    bounded = np.minimum(np.maximum(network_probabilities.astype(np.float64), NEVER), 1 - NEVER)
    scores = np.log(bounded / (1 - bounded))
    capped = np.minimum(np.maximum(scores, -SURE), SURE)
    averages = (np.bincount(places, capped) / np.bincount(places))[places]
    agreement = np.minimum(np.maximum(averages * np.sign(scores) / SURE, 0), 1)
    adjusted = capped + SHARE * (averages - capped) + agreement * (scores - capped)
    probabilities: Floats = logistic(adjusted).astype(np.float32)
    return probabilities
