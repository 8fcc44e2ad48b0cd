"""Entropy of words (Li 2006, NRel m3): a word spread evenly over many of a site's picture links tells little.

Formula 4 is E(t_i) = -sum over the links j of w_ij log w_ij, where w_ij = tf_ij / sum over k of tf_ik is the share of
the word's occurrences that link j has, tf_ij how often the word t_i stands in the description of link j, and n the
number of links. Formula 5 gives a link the mean E of its words. High entropy is noise.

With f = tf_ij, T the sum of f and S the sum of f log f over the links, formula 4 is log T - S/T to the letter: one
update an occurrence, and the counts of many pages add up.

What the paper leaves open, and what is chosen here:

- It prints log2, but its worked example has 0.3562 = log 2 / log 7 for a word in two of seven links: the logarithm is
  to the base n, which puts E between 0 and 1 for sites of any size. Base n it is.
- n are the site's picture links so far, each as often as pages show it, as in the example's seven columns.
- Of one link there is no such logarithm, and a link without words has no mean: nothing is said.
- The mean is over different words; a word not counted yet (or left behind, see .evidence) stands in no other link: 0.
"""

from collections.abc import Collection, Mapping
from math import log


def entropy(words: Collection[str], times: Mapping[str, int], spread: Mapping[str, float], links: int) -> float | None:
    """Formula 5: the mean entropy of a link's words, by T (`times`) and S (`spread`) of each; None for one link.

    >>> round(entropy(["zhenwen080703"], {"zhenwen080703": 2}, {}, 7), 4)
    0.3562
    """
    different = dict.fromkeys(words)  # in order, so that the same words have the same sum
    if links < 2 or not different:
        return None
    total = 0.0
    for word in different:
        if (count := times.get(word, 0)) > 1:
            total += log(count) - spread.get(word, 0.0) / count
    return max(0.0, total / log(links) / len(different))
