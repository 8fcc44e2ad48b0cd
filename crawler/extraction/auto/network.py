"""The network that judges all blocks of a page together, each by its own signs and by what is made of the others.

    h = relu(W x + b)                        x the signs of a block, h what the network keeps of it
    near(d):    h += relu(W [h of the block d places before, h, h of the block d places after] + b)
    nested:     h += relu(W [h, its mean over the home, over the two containers around it, over the page, over the
                             blocks of the same path] + b)
    probability that the block is main text = logistic(w h + b)

So what one block shows reaches those beside it, those in the same card, post or table, and those of the same kind
elsewhere on the page. Everything is a handful of products of matrices.
"""

from typing import NamedTuple

import numpy as np

from crawler.extraction.auto.characters import Ints
from crawler.extraction.auto.sight import Floats

LIMIT = 4.0
"""Signs further from their mean than so many deviations count as so far."""
AROUND = 3
"""Levels of containers whose mean a block is told."""


class Layer(NamedTuple):
    """A step of the network."""

    step: int
    """How far the neighbours are; 0 for the layer of containers."""
    weights: Floats
    bias: Floats


class Network(NamedTuple):
    """The weights."""

    means: Floats
    scales: Floats
    first: Layer
    layers: tuple[Layer, ...]
    last: Layer


class Nest(NamedTuple):
    """What blocks belong together."""

    starts: Ints
    """For each level, the page the last, and each block, the first block of the container."""
    ends: Ints
    paths: Ints
    """The same small number for blocks of the same path."""
    order: Ints
    """The blocks by their paths."""
    sizes: Ints
    """How many blocks each path has."""


def nest(levels: Ints, starts: Ints, ends: Ints, paths: Ints) -> Nest:
    """The blocks that each block is in a container with."""
    inner = levels[:AROUND]
    number = levels.shape[1]
    page = np.zeros((1, number), np.int64)
    found = np.unique(paths, return_inverse=True)[1]
    return Nest(
        np.concatenate([starts[inner], page]),
        np.concatenate([ends[inner], page + number]),
        found,
        np.argsort(found, kind="stable"),
        np.bincount(found),
    )


def hidden(network: Network, matrix: Floats, nest: Nest) -> Floats:
    """What the network makes of each block before its last step: a row a block."""
    signs = matrix.T - network.means
    signs *= network.scales  # in its place, as pages may be large
    return hidden_of(network, np.clip(signs, -LIMIT, LIMIT, out=signs), nest)


def hidden_of(network: Network, signs: Floats, nest: Nest) -> Floats:
    """The same, of signs that are normalised already."""
    found = _relu(signs @ network.first.weights + network.first.bias)
    for layer in network.layers:
        seen = _beside(found, layer.step) if layer.step else _among(found, nest)
        found = np.add(found, _relu(seen @ layer.weights + layer.bias))
    return found


def probabilities(network: Network, found: Floats) -> Floats:
    """How likely each block is main text."""
    return logistic((found @ network.last.weights)[:, 0] + network.last.bias[0])


def logistic(values: Floats) -> Floats:
    """1 / (1 + e^-x)."""
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


def _relu(values: Floats) -> Floats:
    return np.maximum(values, 0, out=values)


def _beside(found: Floats, step: int) -> Floats:
    """Each row with the rows so many places before and after it."""
    number, width = found.shape
    seen = np.zeros((number, 3 * width), np.float32)
    seen[step:, :width] = found[:-step]
    seen[:, width : 2 * width] = found
    seen[:-step, 2 * width :] = found[step:]
    return seen


def _among(found: Floats, nest: Nest) -> Floats:
    """Each row with the means of those it belongs with."""
    number, width = found.shape
    sums = np.zeros((number + 1, width), np.float32)
    np.cumsum(found, 0, out=sums[1:])
    seen = np.empty((number, (AROUND + 3) * width), np.float32)
    seen[:, :width] = found
    shares = 1 / (nest.ends - nest.starts)[:, :, None].astype(np.float32)
    for level, (start, end) in enumerate(zip(nest.starts, nest.ends, strict=True), 1):
        part = seen[:, level * width : (level + 1) * width]
        np.subtract(sums[end], sums[start], out=part)
        part *= shares[level - 1]
    totals = np.add.reduceat(found[nest.order], np.cumsum(nest.sizes) - nest.sizes)
    totals /= nest.sizes[:, None].astype(np.float32)
    seen[:, -width:] = totals[nest.paths]
    return seen
