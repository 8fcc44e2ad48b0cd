"""Trains the network with Adam, with a gradient that is computed here without a library.

The error of a page is the cross entropy of its blocks, each weighted by the root of its tokens, minus the expected F1
of its text:
    F1 = 2 sum p y t / sum (p + y) t,     p the probability, y the label, t the tokens of a block.
The cross entropy makes the outputs probabilities; the F1 is the figure by which extracted texts are judged. The layer
COMPARED compares blocks with the main text so far. To choose this text, it computes probabilities with the weights of
the last layer; their error is added with the weight SO_FAR. The training is deterministic: the same pages and seed give
the same weights on the same machine.

Values and gradients are arrays with a row for each block. `likely` is the probability that a block is main text, and
`slope` the gradient of the error for the logit of `likely`. `f_back` computes the gradient for the input of a function
`f` from the gradient for its output. `crawler.extraction.auto.network` defines the layers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from crawler.extraction.auto.network import COMPARED, LEAST_TEXT, LIMIT, BlockGroups, Layer, Network, logistic
from crawler.extraction.auto.page_arrays import Floats
from crawler.extraction.auto.text_arrays import Ints

STEPS = (1, 0, 2, 0, 1, COMPARED)
"""The `Layer.step` of each layer between the first and the last: the distance of neighbours, 0 for the means of
containers, or COMPARED.
"""
WIDTH = 40
"""How many values a block has in each layer."""
PAGES = 16
"""Pages of a batch."""
RATE = 3e-3
"""The largest step size of Adam."""
FIRST_STEPS = 50
"""The number of steps in which the step size grows to RATE."""
RATE_AT_END = 1e-5
"""The step size at the end, to which it falls like a cosine."""
DECAY = 1e-3
"""The weight decay."""
FORGOTTEN = 0.15
"""The dropout rate of layers."""
BLIND = 0.25
"""The probability that a group of features is hidden on a page of a batch."""
F1_SHARE = 0.5
"""The weight of the F1 in the error."""
SO_FAR = 0.3
"""The weight of the error of the probabilities from which the compared main text is computed."""
MEMORY = 0.998
"""The final weights are the average over about the last 1 / (1 - MEMORY) steps."""

Weights = dict[str, Floats]
"""The weights and biases of layers by name, such as "in weights", "0 bias" or "out weights"; also their gradients."""
Sparse = Any
"""A sparse matrix; scipy has no type hints."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """The input of the network for a page."""

    features: Floats
    """One row for each block."""
    block_groups: BlockGroups
    """The groups of the blocks: containers, page and paths."""
    labels: Floats
    """The probability of main text that the network should find for each block."""
    tokens: Floats
    """The number of tokens of each block."""
    weights: Floats
    """The weight of each block; they sum to the weight of the page."""
    f1_weight: float
    """The weight of the page's F1; 0 if its main text is only partly known."""


class _Batch:
    """Several pages, joined as if they were one page; values are not passed on across the borders between pages."""

    def __init__(self, lessons: Sequence[Lesson]) -> None:
        counts = np.array([len(lesson.labels) for lesson in lessons])
        self.block_count = int(counts.sum())
        self.page_count = len(lessons)
        # The first block of each page; and for each block its page, and where the page starts and ends.
        self.first_blocks = np.cumsum(counts) - counts
        self.page_of_block = np.repeat(np.arange(self.page_count), counts)
        self.starts = np.repeat(self.first_blocks, counts)
        self.ends = np.repeat(self.first_blocks + counts, counts)
        self.features = np.concatenate([lesson.features for lesson in lessons])
        self.labels = np.concatenate([lesson.labels for lesson in lessons])
        self.tokens = np.concatenate([lesson.tokens for lesson in lessons])
        self.weights = np.concatenate([lesson.weights for lesson in lessons])
        self.f1_weights = np.array([lesson.f1_weight for lesson in lessons], np.float32)
        # Matrices: blocks to the means of groups, and these means back to blocks.
        self.mean, self.spreads = _means([lesson.block_groups for lesson in lessons], self.block_count)

    def shifted(self, rows: Floats, step: int) -> Floats:
        """For each row the row that is `step` blocks before it; zeros beyond the border of the page."""
        moved = np.zeros_like(rows)
        if step > 0:
            moved[step:] = rows[:-step]
        else:
            moved[:step] = rows[-step:]
        sources = np.arange(self.block_count) - step
        moved[(sources < self.starts) | (sources >= self.ends)] = 0
        return moved

    def layer_input(self, rows: Floats, step: int) -> Floats:
        """The input of a layer with neighbours or, at step 0, with containers."""
        if step:
            return np.concatenate([self.shifted(rows, step), rows, self.shifted(rows, -step)], 1)
        means = self.mean @ rows
        return np.concatenate([rows, *(spread @ means for spread in self.spreads)], 1)

    def layer_input_back(self, gradient: Floats, step: int, width: int) -> Floats:
        """The gradient for the rows, from the gradient for `layer_input`."""
        parts = [gradient[:, start : start + width] for start in range(0, gradient.shape[1], width)]
        if step:
            before, own, after = parts
            blocks = np.arange(self.block_count)
            before = np.where((blocks - step >= self.starts)[:, None], before, 0)
            after = np.where((blocks + step < self.ends)[:, None], after, 0)
            gradient_of_rows = own.copy()
            gradient_of_rows[:-step] += before[step:]
            gradient_of_rows[step:] += after[:-step]
            return gradient_of_rows
        means = sum(spread.T @ part for part, spread in zip(parts[1:], self.spreads, strict=True))
        whole: Floats = parts[0] + self.mean.T @ means
        return whole

    def main_text(self, rows: Floats, likely: Floats) -> Floats:
        """For each block, the mean row of its page, in which each block is weighted by its probability."""
        means: Floats = (self._sums(likely[:, None] * rows) / self._text_blocks(likely))[self.page_of_block]
        return means

    def main_text_back(self, gradient: Floats, rows: Floats, likely: Floats) -> tuple[Floats, Floats]:
        """The gradients for the rows and for the probabilities, from the gradient for `main_text`."""
        of_sums = (self._sums(gradient) / self._text_blocks(likely))[self.page_of_block]
        return likely[:, None] * of_sums, ((rows - self.main_text(rows, likely)) * of_sums).sum(1)

    def _sums(self, rows: Floats) -> Floats:
        """The sums of the rows of each page."""
        sums: Floats = np.add.reduceat(rows, self.first_blocks)
        return sums

    def _text_blocks(self, likely: Floats) -> Floats:
        """The expected number of blocks of main text of each page, which is never 0."""
        return self._sums(likely[:, None]) + LEAST_TEXT


def _means(groups_of_pages: Sequence[BlockGroups], number: int) -> tuple[Sparse, list[Sparse]]:
    """The matrices between blocks and groups: one to the groups, and for each kind of group, one back to the blocks.

    Multiplied with the rows of blocks, the first matrix gives the mean of each group. Multiplied with these means, the
    matrix of a kind gives every block the mean of its group of this kind. The kinds are the innermost container, the
    two containers around it, the page and the path. `number` is the number of all blocks.
    """
    # Number the blocks and groups of all pages consecutively.
    members = []
    sizes = []
    groups = []
    block_count = 0
    group_count = 0
    for page_groups in groups_of_pages:
        bounds = zip(page_groups.starts, page_groups.ends, strict=True)
        members += [page_groups.rows[start:end] + block_count for start, end in bounds]
        sizes.append(page_groups.ends - page_groups.starts)
        groups.append(page_groups.groups + group_count)
        block_count += len(page_groups.groups)
        group_count += len(page_groups.starts)

    # A row for each group: each of its blocks has an equal share of the mean.
    size = np.concatenate(sizes)
    shares = np.repeat((1 / size).astype(np.float32), size)
    row_bounds = np.concatenate([[0], np.cumsum(size)])
    mean = sparse.csr_matrix((shares, np.concatenate(members), row_bounds), shape=(group_count, number))

    # A row for each block, with a single 1 in the column of its group of this kind.
    ones = np.ones(number, np.float32)
    row_bounds_of_blocks = np.arange(number + 1)
    groups_by_kind = np.concatenate(groups).T
    spreads = [
        sparse.csr_matrix((ones, group_of_blocks, row_bounds_of_blocks), shape=(number, group_count))
        for group_of_blocks in groups_by_kind
    ]
    return mean, spreads


def learn(
    lessons: Sequence[Lesson], hidden: Sequence[Ints], epochs: int, seed: int, tell: Callable[[int, float], None]
) -> tuple[Layer, ...]:
    """Train a network; returns its layers.

    `hidden` are groups of columns of the features; a group is sometimes set to zero for a page. `tell` is called with
    the number of each epoch, from 0, and its mean error.
    """
    generator = np.random.default_rng(seed)
    weights = _initial_weights(lessons[0].features.shape[1], generator)
    average = {name: rows.copy() for name, rows in weights.items()}
    batches_of_epoch = ceil(len(lessons) / PAGES)
    adam = _Adam(weights, epochs * batches_of_epoch)
    for epoch in range(epochs):
        order = generator.permutation(len(lessons))
        error = 0.0
        for start in range(0, len(order), PAGES):
            batch = _Batch([lessons[index] for index in order[start : start + PAGES]])
            _blind(batch, hidden, generator)
            batch_error, gradient = _gradient(weights, batch, generator)
            error += batch_error
            adam.step(weights, gradient)
            # At first the average covers only the last tenth of the steps, so that the initial weights are forgotten.
            share = 1 - min(MEMORY, 1 - 1 / (adam.done / 10 + 1))
            for name, rows in weights.items():
                average[name] += share * (rows - average[name])
        tell(epoch, error / len(lessons))

    names = ("in", *(str(number) for number in range(len(STEPS))), "out")
    layers = zip((0, *STEPS, 0), names, strict=True)
    return tuple(
        Layer(step=step, weights=average[f"{name} weights"], bias=average[f"{name} bias"]) for step, name in layers
    )


def _initial_weights(features: int, generator: np.random.Generator) -> Weights:
    """Random weights after He et al., smaller in the later layers."""
    # The name, the width of the input and of the output, and the scale of each layer. The input has three parts of
    # WIDTH values, or at step 0 six: the block's own values and the means of its five groups.
    shapes = [("in", features, WIDTH, 1.0)]
    shapes += [(str(number), (3 if step else 6) * WIDTH, WIDTH, 0.5) for number, step in enumerate(STEPS)]
    shapes.append(("out", WIDTH, 1, 0.3))
    weights: Weights = {}
    for name, inputs, outputs, scale in shapes:
        rows = generator.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs) * scale
        weights[f"{name} weights"] = rows.astype(np.float32)
        weights[f"{name} bias"] = np.zeros(outputs, np.float32)
    return weights


def _blind(batch: _Batch, hidden: Sequence[Ints], generator: np.random.Generator) -> None:
    """Set each group of features to zero on some pages of a batch."""
    for columns in hidden:
        is_blind = generator.random(batch.page_count) < BLIND
        if is_blind.any():
            batch.features[np.ix_(np.flatnonzero(is_blind[batch.page_of_block]), columns)] = 0


def _gradient(weights: Weights, batch: _Batch, generator: np.random.Generator) -> tuple[float, Weights]:
    """The error of a batch, and its gradient for the weights."""
    # Forward. For the way back, the input of each layer is kept, and the factor of its output: that of dropout, or 0
    # where relu makes the output 0. Dropout scales the other values up, so that their mean stays the same.
    first_rows = np.maximum(batch.features @ weights["in weights"] + weights["in bias"], 0)
    rows = first_rows
    inputs_and_factors = []
    for number, step in enumerate(STEPS):
        inputs = _compared(weights, batch, rows) if step == COMPARED else batch.layer_input(rows, step)
        output = np.maximum(inputs @ weights[f"{number} weights"] + weights[f"{number} bias"], 0)
        dropout = (generator.random(output.shape, np.float32) >= FORGOTTEN).astype(np.float32) / (1 - FORGOTTEN)
        inputs_and_factors.append((inputs, dropout * (output > 0)))
        rows = rows + output * dropout

    # Backward. `back` is the gradient for the rows before a layer. A layer adds its output to its rows, so `back` is
    # the gradient for the rows after the layer plus the gradient through the layer.
    error, slope = _error(batch, _likely(weights, rows))
    gradient: Weights = {"out weights": rows.T @ slope[:, None], "out bias": slope.sum(keepdims=True)}
    back = slope[:, None] @ weights["out weights"].T
    for number in reversed(range(len(STEPS))):
        inputs, factor = inputs_and_factors[number]
        of_output = back * factor
        gradient[f"{number} weights"] = inputs.T @ of_output
        gradient[f"{number} bias"] = of_output.sum(0)
        of_inputs = of_output @ weights[f"{number} weights"].T
        if STEPS[number] == COMPARED:
            back = back + _compared_back(weights, batch, inputs, of_inputs, gradient)
        else:
            back = back + batch.layer_input_back(of_inputs, STEPS[number], WIDTH)
    back = back * (first_rows > 0)
    gradient["in weights"] = batch.features.T @ back
    gradient["in bias"] = back.sum(0)
    return error, gradient


def _likely(weights: Weights, rows: Floats) -> Floats:
    """The probabilities of the blocks if these were their rows before the last layer."""
    return logistic((rows @ weights["out weights"])[:, 0] + weights["out bias"][0])


def _compared(weights: Weights, batch: _Batch, rows: Floats) -> Floats:
    """The input of the layer that compares each block with the main text so far."""
    text = batch.main_text(rows, _likely(weights, rows))
    return np.concatenate([rows, rows * text, text], 1)


def _compared_back(weights: Weights, batch: _Batch, inputs: Floats, of_inputs: Floats, gradient: Weights) -> Floats:
    """The gradient for the rows, from `of_inputs`, the gradient for the `inputs` of the layer.

    The weights of the last layer also choose the main text so far, so their gradient in `gradient` grows.
    """
    rows, _, text = np.split(inputs, 3, 1)
    of_rows, of_product, of_text = np.split(of_inputs, 3, 1)
    likely = _likely(weights, rows)
    rows_in_text, of_likely = batch.main_text_back(of_product * rows + of_text, rows, likely)
    slope = of_likely * likely * (1 - likely) + SO_FAR * _error(batch, likely)[1]
    gradient["out weights"] = gradient["out weights"] + rows.T @ slope[:, None]
    gradient["out bias"] = gradient["out bias"] + slope.sum(keepdims=True)
    back: Floats = of_rows + of_product * text + rows_in_text + slope[:, None] @ weights["out weights"].T
    return back


def _error(batch: _Batch, likely: Floats) -> tuple[float, Floats]:
    """The sum of the cross entropy over the batch, which is shown as progress; and the slope of the whole error, which
    includes the F1, divided by the number of pages.
    """
    labels = batch.labels
    tokens = batch.tokens
    page = batch.page_of_block
    bounded = np.clip(likely, 1e-7, 1 - 1e-7)  # 0 has no logarithm
    entropy = -(labels * np.log(bounded) + (1 - labels) * np.log(1 - bounded))
    slope = (likely - labels) * batch.weights

    # F1 = 2 hits / both, for each page; 1e-6 because `both` may be 0.
    hits = np.bincount(page, tokens * likely * labels)
    both = np.bincount(page, tokens * (likely + labels)) + 1e-6
    f1_slope = 2 * tokens * (labels * both[page] - hits[page]) / both[page] ** 2
    slope = slope - F1_SHARE * batch.f1_weights[page] * f1_slope * likely * (1 - likely)
    return float((batch.weights * entropy).sum()), (slope / batch.page_count).astype(np.float32)


class _Adam:
    """Adam (https://arxiv.org/abs/1412.6980) with weight decay and a gradient norm of at most 1.

    In `step`, .9 and .99 are the decay rates of the means; 1e-8 and 1e-9 keep divisors above 0.
    """

    def __init__(self, weights: Weights, steps: int) -> None:
        self.means = {name: np.zeros_like(rows) for name, rows in weights.items()}
        self.squares = {name: np.zeros_like(rows) for name, rows in weights.items()}
        """The moving means of the gradient, and of its squares."""
        self.steps = steps
        self.done = 0

    def step(self, weights: Weights, gradient: Weights) -> None:
        """Change the weights by one step."""
        self.done += 1
        means = self.means
        squares = self.squares
        done = self.done
        warm_up = min(1, done / FIRST_STEPS)
        rate = RATE * warm_up * (0.5 + 0.5 * np.cos(np.pi * done / self.steps)) + RATE_AT_END
        norm = np.sqrt(sum(float((rows * rows).sum()) for rows in gradient.values()))
        scale = min(1.0, 1 / (norm + 1e-9))
        for name, rows in weights.items():
            slope = gradient[name] * scale
            means[name] = 0.9 * means[name] + 0.1 * slope
            squares[name] = 0.99 * squares[name] + 0.01 * slope * slope
            step = means[name] / (1 - 0.9**done) / (np.sqrt(squares[name] / (1 - 0.99**done)) + 1e-8)
            if name.endswith("weights"):
                step = step + DECAY * rows
            weights[name] = (rows - rate * step).astype(np.float32)


def normalised(features: Floats, means: Floats, scales: Floats) -> Floats:
    """Features scaled and limited, as the network reads them."""
    return np.clip((features - means) * scales, -LIMIT, LIMIT).astype(np.float32)


def network(layers: tuple[Layer, ...], means: Floats, scales: Floats) -> Network:
    """The network with these layers, for features with these means and scales."""
    return Network(means=means, scales=scales, first=layers[0], layers=layers[1:-1], last=layers[-1])
