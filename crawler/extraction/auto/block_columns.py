"""What several signs of a block are made from: columns of numbers, a place for each block."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.auto.page_outline import EXTRA, Floats, PageArrays
from crawler.extraction.auto.text_arrays import (
    CASELESS,
    LOWER,
    QUOTE,
    STOP,
    UNSPACED,
    UPPER,
    Characters,
    Ints,
)

LEVELS = 5
"""Containers around a block that are looked at."""
PAIRS = 1 << 18
"""How many kinds of two words in a row are told apart."""


class Scores(NamedTuple):
    """What names and words speak for, learned one by one."""

    own: Floats
    """Of each block, by the names of its home."""
    around: Floats
    """Of each container, by the names of those around it, its own too."""
    words: Floats
    """Of each block."""
    kinds: Floats
    """Of the page: the probability of each page type."""


class BlockColumns(NamedTuple):
    """What several signs are made from."""

    seen: PageArrays
    scores: Scores
    levels: Ints
    """For each level and block, a container."""
    number: int
    at: Ints
    kinds: Floats
    looked_at: Floats
    words: Floats
    letters: Floats
    stops: Floats
    unspaced: Floats
    widths: Floats
    """The lengths, a Chinese character saying as much as three letters."""
    log_widths: Floats
    density: Floats
    """The share of a block's text that is in links."""
    prose: Floats
    """The width of what is not in links, of blocks with a full stop."""
    ends_stop: NDArray[np.bool_]
    in_body: Floats
    around: Floats
    total: float


def ranges(seen: PageArrays) -> Ints:
    """For each level and block, a container: its home, and then each next one outwards that holds more."""
    levels = [seen.homes]
    for _ in range(LEVELS - 1):
        levels.append(seen.outline.outer[levels[-1]])
    return np.stack(levels)


def block_columns(seen: PageArrays, scores: Scores, levels: Ints) -> BlockColumns:
    number = len(seen.homes)
    lengths = seen.lengths
    kinds = seen.texts.kinds[:number].T
    looked_at = np.maximum(kinds.sum(0), 1)
    stops, unspaced = kinds[[STOP, UNSPACED]] * (lengths / looked_at)
    widths = lengths + 2 * unspaced
    density = seen.linked / np.maximum(lengths, 1)
    last = seen.texts.last[:number]
    return BlockColumns(
        seen=seen,
        scores=scores,
        levels=levels,
        number=number,
        at=np.arange(number),
        kinds=kinds,
        looked_at=looked_at,
        words=np.bincount(seen.texts.owner, minlength=number + EXTRA)[:number].astype(np.float32),
        letters=np.maximum(kinds[[LOWER, UPPER, CASELESS, UNSPACED]].sum(0), 1),
        stops=stops,
        unspaced=unspaced,
        widths=widths,
        log_widths=np.log1p(widths),
        density=density,
        prose=widths * (1 - density) * (stops > 0),
        ends_stop=(last == STOP) | ((last == QUOTE) & (stops > 0)),
        in_body=_in_body(seen.texts, number),
        around=scores.around[seen.homes],
        total=max(1.0, float(lengths.sum())),
    )


def _in_body(texts: Characters, number: int) -> Floats:
    """The share of each block's pairs of words that the article given to machines has, of a lone word whether it is."""
    first = int(np.searchsorted(texts.owner, number + 2))
    if first == len(texts.words):
        return np.zeros(number, np.float32)
    pairs = (texts.words[:-1] * 31 + texts.words[1:] * 7919) % PAIRS
    theirs = np.zeros(PAIRS, bool)
    theirs[pairs[first:]] = True
    together = texts.owner[:-1] == texts.owner[1:]
    owner = texts.owner[:-1][together]
    counts = np.bincount(owner, minlength=number)[:number]
    hits = np.bincount(owner[theirs[pairs[together]]], minlength=number)[:number]
    return (hits / np.maximum(counts, 1)).astype(np.float32)
