"""Learns the noise vector of Li 2006 (.keyword) from links that are known to be noise or not.

The paper says that Noise_m may be learned and not how. Here the weights are those for which formula 1 minus formula 2
tells noise from content best: with k words of the vector in common with a description, and |V| words in the vector, the
difference is the sum over the words w of

    weight(w) * ([w in common] / k - 1 / |V|),

which is linear in the weights. So this is logistic regression without a constant term (mean logistic loss, and a
penalty on the squares), by steps of Adam over all links at once: no chance is in it. Both formulas are means, so
stretching and moving all weights together changes no verdict; they are brought between 0 and 1.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from crawler.noise.keyword import NoiseWords

LEAST_LINKS = 2
"""In which a word must stand to be learned."""
STEPS = 150
RATE = 0.3
PENALTY = 1e-6
"""On the sum of the squared weights, beside the mean loss of a link."""
MEMORY, MEMORY_OF_SQUARES = 0.9, 0.99


def learned(labelled: Iterable[tuple[Collection[str], bool]], least: int = LEAST_LINKS) -> NoiseWords:
    """The vector that tells the noise of labelled descriptions best; without words where they show no difference."""
    links = [(set(description), is_noise) for description, is_noise in labelled]
    counts = Counter(word for words, _ in links for word in words)
    known = sorted(word for word, count in counts.items() if count >= least)
    places = {word: at for at, word in enumerate(known)}
    links = [(common, is_noise) for words, is_noise in links if (common := places.keys() & words)]
    if len({is_noise for _, is_noise in links}) < 2:
        return NoiseWords({})
    fitted = _fitted(links, places)
    low, high = min(fitted), max(fitted)
    scale = 1 / (high - low) if high > low else 0.0
    return NoiseWords({word: (weight - low) * scale for word, weight in zip(known, fitted, strict=True)})


def _fitted(links: list[tuple[set[str], bool]], places: dict[str, int]) -> list[float]:
    import numpy as np

    lengths = [len(words) for words, _ in links]
    row = np.repeat(np.arange(len(links)), lengths)
    column = np.array([places[word] for words, _ in links for word in sorted(words)])
    share = np.repeat(1 / np.array(lengths), lengths)
    sign = np.array([1.0 if is_noise else -1.0 for _, is_noise in links])
    weights, mean, square = np.zeros((3, len(places)))
    for step in range(1, STEPS + 1):
        margin = np.bincount(row, share * weights[column], len(links)) - weights.mean()
        pull = -sign / (1 + np.exp(np.clip(sign * margin, -50, 50))) / len(links)
        slope = np.bincount(column, share * pull[row], len(places)) - pull.sum() / len(places) + 2 * PENALTY * weights
        mean = MEMORY * mean + (1 - MEMORY) * slope
        square = MEMORY_OF_SQUARES * square + (1 - MEMORY_OF_SQUARES) * slope**2
        stride = RATE * mean / (1 - MEMORY**step)
        weights -= stride / (np.sqrt(square / (1 - MEMORY_OF_SQUARES**step)) + 1e-12)
    return [float(weight) for weight in weights]
