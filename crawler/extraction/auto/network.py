"""The network that judges all blocks of a page together, each by its own features and by the values of other blocks.

    h = relu(W x + b)                        x the features of a block, h its hidden values
    near(d):    h += relu(W [h of the block d places before, h, h of the block d places after] + b)
    nested:     h += relu(W [h, its mean over the innermost container, over the two containers around that, over the
                             page, over the blocks with the same path] + b)
    compared:   h += relu(W [h, h * m, m] + b)   m represents the main text so far: the mean of h over the page, in
                                                 which each block is weighted by its probability
    probability that the block is main text = logistic(w h + b)

So each block affects the blocks beside it, in the same card, post or table, and of the same kind elsewhere on the page;
and blocks that are similar to the most certain main text are judged like it. The computation is a few matrix products.
Networks of the same shape judge a page at the same time: the groups of blocks are computed once for all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crawler.extraction.auto.page_arrays import Floats
from crawler.extraction.auto.text_arrays import Ints

LIMIT = 4.0
"""Features further from their mean than this many standard deviations are clipped."""
AROUND = 3
"""Levels of containers over which the means are computed."""
RUN = 32
"""How many rows a run has: their sums are computed by one product of matrices."""
COMPARED = -1
"""The step of the layer that compares blocks with the main text."""
LEAST_TEXT = 1e-3
"""Added to the sum of a page's probabilities, which is a divisor and may be 0."""
_BEFORE = np.tri(RUN, k=-1, dtype=np.float32)
"""The matrix that adds the rows before each row of a run."""


@dataclass(frozen=True, slots=True)
class Layer:
    """A step of the network."""

    step: int
    """The distance of the neighbours; 0 for a layer with the means of containers, COMPARED for one that compares."""
    weights: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Network:
    """The weights of a network."""

    means: Floats
    """The mean of each feature in training."""
    scales: Floats
    """The factor of each feature after its mean is subtracted."""
    first: Layer
    layers: tuple[Layer, ...]
    last: Layer


@dataclass(frozen=True, slots=True)
class BlockGroups:
    """Groups of blocks: the blocks in a container, with the same path, or of the page."""

    rows: Ints
    """The blocks in page order, and again sorted by their paths, so that the blocks of each group are adjacent. Rows of
    padding with the first block follow until the last run is full. There is at least one, so that each of `ends` is the
    index of a row.
    """
    starts: Ints
    """Where each group starts in `rows`."""
    ends: Ints
    """The index after the last row of each group."""
    sizes: Floats
    """The number of blocks in each group, as a column."""
    groups: Ints
    """For each block, its groups: those of its containers, of the page, and of its path."""


def block_groups(levels: Ints, starts: Ints, ends: Ints, paths: Ints) -> BlockGroups:
    """The groups of each block, given the containers around each (`page_arrays.ranges`), the bounds of the containers,
    and the path of each block.
    """
    inner = levels[:AROUND]
    block_count = levels.shape[1]
    rows = np.zeros((2 * block_count // RUN + 1) * RUN, np.int64)
    rows[:block_count] = np.arange(block_count)
    rows[block_count : 2 * block_count] = np.argsort(paths, kind="stable")

    # The groups in their order: the containers, the page, the paths.
    containers, container_ranks = _ranked(inner, len(starts))
    path_sizes = np.bincount(paths)
    distinct_paths, path_ranks = _ranked(paths, len(path_sizes))
    ends_of_paths = block_count + np.cumsum(path_sizes[distinct_paths])
    groups = np.empty((block_count, AROUND + 2), np.int64)
    groups[:, :AROUND] = container_ranks.T
    groups[:, AROUND] = len(containers)
    groups[:, AROUND + 1] = path_ranks + len(containers) + 1

    group_starts = np.concatenate((starts[containers], [0], ends_of_paths - path_sizes[distinct_paths]))
    group_ends = np.concatenate((ends[containers], [block_count], ends_of_paths))
    return BlockGroups(
        rows=rows,
        starts=group_starts,
        ends=group_ends,
        sizes=(group_ends - group_starts)[:, None].astype(np.float32),
        groups=groups,
    )


def _ranked(numbers: Ints, end: int) -> tuple[Ints, Ints]:
    """The distinct numbers in an array of numbers below `end`, in order, and for each position the rank of its number
    among them.
    """
    occurs = np.zeros(end, bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]


def hidden(networks: Sequence[Network], matrix: Floats, groups_of_blocks: BlockGroups) -> Floats:
    """For each network and block the row of values before the last step. `matrix` is overwritten.

    The networks have the same scales, steps and width.
    """
    matrix -= networks[0].means[:, None]  # in place, as pages may be large
    matrix *= networks[0].scales[:, None]
    np.maximum(matrix, -LIMIT, out=matrix)
    return hidden_of(networks, np.minimum(matrix, LIMIT, out=matrix).T, groups_of_blocks)


def hidden_of(networks: Sequence[Network], features: Floats, groups_of_blocks: BlockGroups) -> Floats:
    """The values of `hidden`, given normalized features with one row for each block."""
    block_count = len(features)
    hidden_values = np.empty((len(networks), block_count, networks[0].first.bias.size), np.float32)
    for net, values in zip(networks, hidden_values, strict=True):
        _step(features, net.first, values)
    for index, layer in enumerate(networks[0].layers):
        if layer.step == COMPARED:
            for net, values in zip(networks, hidden_values, strict=True):
                values += _compared(net, values, net.layers[index])
            continue
        if layer.step:
            inputs = _beside(hidden_values, layer.step)
        else:
            inputs = with_means(hidden_values, groups_of_blocks)
        for net, rows, values in zip(
            networks, inputs.reshape(len(networks), block_count, -1), hidden_values, strict=True
        ):
            values += _step(rows, net.layers[index])
    return hidden_values


def probabilities(network: Network, hidden_values: Floats) -> Floats:
    """The probability of each block by one network."""
    return logistic((hidden_values @ network.last.weights)[:, 0] + network.last.bias[0])


def logistic(values: Floats) -> Floats:
    """1 / (1 + e^-x)."""
    bounded = np.minimum(np.maximum(values, -30), 30)  # half the time of np.clip
    return 1 / (1 + np.exp(-bounded))


def _step(inputs: Floats, layer: Layer, out: Floats | None = None) -> Floats:
    """The output of a layer: relu(W x + b)."""
    output: Floats = np.matmul(inputs, layer.weights, out=out)
    output += layer.bias
    return np.maximum(output, 0, out=output)


def _compared(network: Network, rows: Floats, layer: Layer) -> Floats:
    """The output of a layer that compares. As m is the same for all blocks, one matrix is enough for all of them."""
    block_probabilities = probabilities(network, rows)
    m = block_probabilities @ rows / (block_probabilities.sum() + LEAST_TEXT)
    # The parts of W for h, h * m and m.
    own, product, main = layer.weights.reshape(3, rows.shape[1], -1)
    output: Floats = rows @ (own + m[:, None] * product)
    output += m @ main + layer.bias
    return np.maximum(output, 0, out=output)


def _beside(hidden_values: Floats, step: int) -> Floats:
    """For each network and block three rows: of the block `step` positions before, of the block itself, and of the
    block `step` positions after; zeros if there is none.
    """
    network_count, block_count, width = hidden_values.shape
    inputs = np.zeros((network_count, block_count, 3, width), np.float32)
    inputs[:, step:, 0] = hidden_values[:, :-step]
    inputs[:, :, 1] = hidden_values
    inputs[:, :-step, 2] = hidden_values[:, step:]
    return inputs


def with_means(hidden_values: Floats, groups_of_blocks: BlockGroups) -> Floats:
    """For each network and block its own row, and the means of its groups."""
    network_count, block_count, width = hidden_values.shape
    # No index is out of bounds, and `clip` is faster than the default mode, which checks this.
    sums = _sums(hidden_values.take(groups_of_blocks.rows, 1, mode="clip"))
    means = sums.take(groups_of_blocks.ends, 1, mode="clip")
    means -= sums.take(groups_of_blocks.starts, 1, mode="clip")
    means /= groups_of_blocks.sizes
    del sums  # the inputs of a large page are large
    inputs = np.empty((network_count, block_count, 1 + groups_of_blocks.groups.shape[1], width), np.float32)
    inputs[:, :, 0] = hidden_values
    # One network at a time, because `take` makes a copy.
    for network_inputs, network_means in zip(inputs, means, strict=True):
        network_inputs[:, 1:] = network_means.take(groups_of_blocks.groups, 0, mode="clip")
    return inputs


def _sums(rows: Floats) -> Floats:
    """The sums of the rows before each row. Within runs they are a product of matrices, which is faster than to add row
    by row.
    """
    network_count, row_count, width = rows.shape
    runs = rows.reshape(network_count, row_count // RUN, RUN, width)
    sums: Floats = _BEFORE @ runs
    done = np.cumsum(sums[:, :-1, -1] + runs[:, :-1, -1], 1)
    sums[:, 1:] += done[:, :, None]
    return sums.reshape(rows.shape)
