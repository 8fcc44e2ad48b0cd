"""Trains the network with Adam, with a gradient that is computed here without a library.

The error of a page is the cross entropy of its blocks, each weighted by the root of its tokens, minus the expected F1
of its text:
    F1 = 2 sum p y t / sum (p + y) t,     p the probability, y the label, t the tokens of a block.
The cross entropy makes the outputs probabilities; the F1 is what the text is judged by. A part of the same error is
added for the probabilities from which the compared main text is computed. The training is deterministic: the same pages
and seed give the same weights on the same machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crawler.extraction.auto.network import COMPARED, LEAST_TEXT, LIMIT, BlockGroups, Layer, Network, logistic
from crawler.extraction.auto.page_arrays import Floats
from crawler.extraction.auto.text_arrays import Ints

STEPS = (1, 0, 2, 0, 1, COMPARED)
"""The layers between the first and the last, by their Layer.step."""
WIDTH = 40
"""The values of a block in each layer."""
PAGES = 16
"""Pages of a batch."""
RATE = 3e-3
"""The largest step size."""
FIRST_STEPS = 50
"""The number of steps until the largest size is reached."""
DECAY = 1e-3
"""The weight decay."""
FORGOTTEN = 0.15
"""The dropout rate of layers."""
BLIND = 0.25
"""The share of pages of a batch for which a group of features is hidden."""
F1_SHARE = 0.5
"""The weight of the F1 in the error."""
SO_FAR = 0.3
"""The weight of the error of the probabilities from which the compared main text is computed."""
MEMORY = 0.998
"""The final weights are the average over about the last 1 / (1 - MEMORY) steps."""

Weights = dict[str, Floats]
Sparse = Any
"""A sparse matrix; scipy has no type hints."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """The input of the network for a page."""

    features: Floats
    """One row for each block."""
    nest: BlockGroups
    labels: Floats
    tokens: Floats
    weights: Floats
    """The weight of each block; they sum to the weight of the page."""
    f1_weight: float
    """The weight of the page's F1; 0 if its main text is only partly known."""


class _Batch:
    """Several pages, joined as if they were one page with borders."""

    def __init__(self, lessons: Sequence[Lesson]) -> None:
        counts = np.array([len(lesson.labels) for lesson in lessons])
        offsets = np.cumsum(counts) - counts
        self.number = int(counts.sum())
        self.pages = len(lessons)
        self.page = np.repeat(np.arange(self.pages), counts)
        self.firsts = offsets
        self.starts = np.repeat(offsets, counts)
        self.ends = np.repeat(offsets + counts, counts)
        self.features = np.concatenate([lesson.features for lesson in lessons])
        self.labels = np.concatenate([lesson.labels for lesson in lessons])
        self.tokens = np.concatenate([lesson.tokens for lesson in lessons])
        self.weights = np.concatenate([lesson.weights for lesson in lessons])
        self.f1_weights = np.array([lesson.f1_weight for lesson in lessons], np.float32)
        self.mean, self.spreads = _means([lesson.nest for lesson in lessons], self.number)

    def shifted(self, rows: Floats, step: int) -> Floats:
        """For each row the row that is `step` places before it; zeros beyond the border of the page."""
        moved = np.zeros_like(rows)
        if step > 0:
            moved[step:] = rows[:-step]
        else:
            moved[:step] = rows[-step:]
        places = np.arange(self.number) - step
        moved[(places < self.starts) | (places >= self.ends)] = 0
        return moved

    def seen(self, rows: Floats, step: int) -> Floats:
        """The input of a layer, as defined in crawler.extraction.auto.network."""
        if step:
            return np.concatenate([self.shifted(rows, step), rows, self.shifted(rows, -step)], 1)
        means = self.mean @ rows
        return np.concatenate([rows, *(spread @ means for spread in self.spreads)], 1)

    def text(self, rows: Floats, likely: Floats) -> Floats:
        """For each block, the mean row of its page's main text, weighted by these probabilities."""
        text_rows: Floats = (self._sums(likely[:, None] * rows) / self._texts(likely))[self.page]
        return text_rows

    def text_back(self, gradient: Floats, rows: Floats, likely: Floats) -> tuple[Floats, Floats]:
        """The gradients of the rows and of the probabilities, from the gradient of the mean rows."""
        through = (self._sums(gradient) / self._texts(likely))[self.page]
        return likely[:, None] * through, ((rows - self.text(rows, likely)) * through).sum(1)

    def _sums(self, rows: Floats) -> Floats:
        """The sums of the rows of each page."""
        sums: Floats = np.add.reduceat(rows, self.firsts)
        return sums

    def _texts(self, likely: Floats) -> Floats:
        """The expected number of blocks of main text of each page, which is never 0."""
        return self._sums(likely[:, None]) + LEAST_TEXT

    def seen_back(self, gradient: Floats, step: int, width: int) -> Floats:
        """The gradient of the rows, from the gradient of a layer's input."""
        parts = [gradient[:, place : place + width] for place in range(0, gradient.shape[1], width)]
        if step:
            before, own, after = parts
            places = np.arange(self.number)
            before = np.where((places - step >= self.starts)[:, None], before, 0)
            after = np.where((places + step < self.ends)[:, None], after, 0)
            gradient_of_rows = own.copy()
            gradient_of_rows[:-step] += before[step:]
            gradient_of_rows[step:] += after[:-step]
            return gradient_of_rows
        means = sum(spread.T @ part for part, spread in zip(parts[1:], self.spreads, strict=True))
        whole: Floats = parts[0] + self.mean.T @ means
        return whole


def _means(nests: Sequence[BlockGroups], number: int) -> tuple[Sparse, list[Sparse]]:
    """A matrix from blocks to the means of groups, and for each kind of group a matrix from these to their blocks."""
    members = []
    sizes = []
    groups = []
    blocks = count = 0
    for nest in nests:
        bounds = zip(nest.starts, nest.ends, strict=True)
        members += [nest.rows[start:end] + blocks for start, end in bounds]
        sizes.append(nest.ends - nest.starts)
        groups.append(nest.groups + count)
        blocks = blocks + len(nest.groups)
        count = count + len(nest.starts)
    size = np.concatenate(sizes)
    shares = np.repeat((1 / size).astype(np.float32), size)
    bounds_of = np.concatenate([[0], np.cumsum(size)])
    mean = sparse.csr_matrix((shares, np.concatenate(members), bounds_of), shape=(count, number))
    ones = np.ones(number, np.float32)
    each = np.arange(number + 1)
    kinds = np.concatenate(groups).T
    return mean, [sparse.csr_matrix((ones, kind, each), shape=(number, count)) for kind in kinds]


def learn(
    lessons: Sequence[Lesson], hidden: Sequence[Ints], epochs: int, seed: int, tell: Callable[[int, float], None]
) -> tuple[Layer, ...]:
    """Train a network; returns its layers.

    `hidden` are groups of features, each of which is sometimes set to zero for a page. `tell` is called with each epoch
    and its mean error.
    """
    chance = np.random.default_rng(seed)
    weights = _initial_weights(lessons[0].features.shape[1], chance)
    average = {name: rows.copy() for name, rows in weights.items()}
    adam = _Adam(weights, epochs * -(-len(lessons) // PAGES))
    for epoch in range(epochs):
        order = chance.permutation(len(lessons))
        error = 0.0
        for start in range(0, len(order), PAGES):
            batch = _Batch([lessons[place] for place in order[start : start + PAGES]])
            _blind(batch, hidden, chance)
            batch_error, gradient = _gradient(weights, batch, chance)
            error += batch_error
            adam.step(weights, gradient)
            share = 1 - min(MEMORY, 1 - 1 / (adam.done / 10 + 1))
            for name, rows in weights.items():
                average[name] += share * (rows - average[name])
        tell(epoch, error / len(lessons))

    names = ("in", *(str(place) for place in range(len(STEPS))), "out")
    layers = zip((0, *STEPS, 0), names, strict=True)
    return tuple(
        Layer(step=step, weights=average[f"{name} weights"], bias=average[f"{name} bias"]) for step, name in layers
    )


def _initial_weights(features: int, chance: np.random.Generator) -> Weights:
    widths = [("in", features, WIDTH, 1.0)]
    widths += [(str(place), (3 if step else 6) * WIDTH, WIDTH, 0.5) for place, step in enumerate(STEPS)]
    weights: Weights = {}
    for name, inputs, outputs, scale in [*widths, ("out", WIDTH, 1, 0.3)]:
        rows = chance.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs) * scale
        weights[f"{name} weights"] = rows.astype(np.float32)
        weights[f"{name} bias"] = np.zeros(outputs, np.float32)
    return weights


def _blind(batch: _Batch, hidden: Sequence[Ints], chance: np.random.Generator) -> None:
    """Set each group of features to zero on some pages of a batch."""
    for columns in hidden:
        is_blind = chance.random(batch.pages) < BLIND
        if is_blind.any():
            batch.features[np.ix_(np.flatnonzero(is_blind[batch.page]), columns)] = 0


def _gradient(weights: Weights, batch: _Batch, chance: np.random.Generator) -> tuple[float, Weights]:
    """The error of a batch, and its gradient for the weights."""
    # Forward: the input of each layer and the open outputs are kept for the way back.
    first = np.maximum(batch.features @ weights["in weights"] + weights["in bias"], 0)
    rows = first
    kept = []
    for place, step in enumerate(STEPS):
        seen = _compared(weights, batch, rows) if step == COMPARED else batch.seen(rows, step)
        output = np.maximum(seen @ weights[f"{place} weights"] + weights[f"{place} bias"], 0)
        shown = (chance.random(output.shape, np.float32) >= FORGOTTEN).astype(np.float32) / (1 - FORGOTTEN)
        kept.append((seen, shown * (output > 0)))
        rows = rows + output * shown

    # Backward.
    error, slope = _error(batch, _likely(weights, rows))
    gradient: Weights = {"out weights": rows.T @ slope[:, None], "out bias": slope.sum(keepdims=True)}
    back = slope[:, None] @ weights["out weights"].T
    for place in reversed(range(len(STEPS))):
        seen, open_to = kept[place]
        through = back * open_to
        gradient[f"{place} weights"] = seen.T @ through
        gradient[f"{place} bias"] = through.sum(0)
        through = through @ weights[f"{place} weights"].T
        if STEPS[place] == COMPARED:
            back = back + _compared_back(weights, batch, seen, through, gradient)
        else:
            back = back + batch.seen_back(through, STEPS[place], WIDTH)
    back = back * (first > 0)
    gradient["in weights"] = batch.features.T @ back
    gradient["in bias"] = back.sum(0)
    return error, gradient


def _likely(weights: Weights, rows: Floats) -> Floats:
    """The probabilities of the blocks, by their values in the layers so far."""
    return logistic((rows @ weights["out weights"])[:, 0] + weights["out bias"][0])


def _compared(weights: Weights, batch: _Batch, rows: Floats) -> Floats:
    """The input of the layer that compares, as defined in crawler.extraction.auto.network."""
    text = batch.text(rows, _likely(weights, rows))
    return np.concatenate([rows, rows * text, text], 1)


def _compared_back(weights: Weights, batch: _Batch, seen: Floats, through: Floats, gradient: Weights) -> Floats:
    """The gradient of the rows, from that of the layer's input; also adds to the gradient of the last weights."""
    rows, _, text = np.split(seen, 3, 1)
    own, both, same = np.split(through, 3, 1)
    likely = _likely(weights, rows)
    in_text, of_likely = batch.text_back(both * rows + same, rows, likely)
    slope = of_likely * likely * (1 - likely) + SO_FAR * _error(batch, likely)[1]
    gradient["out weights"] = gradient["out weights"] + rows.T @ slope[:, None]
    gradient["out bias"] = gradient["out bias"] + slope.sum(keepdims=True)
    back: Floats = own + both * text + in_text + slope[:, None] @ weights["out weights"].T
    return back


def _error(batch: _Batch, likely: Floats) -> tuple[float, Floats]:
    """The error, and its gradient for the outputs of the last layer."""
    labels = batch.labels
    tokens = batch.tokens
    page = batch.page
    bounded = np.clip(likely, 1e-7, 1 - 1e-7)
    entropy = -(labels * np.log(bounded) + (1 - labels) * np.log(1 - bounded))
    slope = (likely - labels) * batch.weights
    hits = np.bincount(page, tokens * likely * labels)
    both = np.bincount(page, tokens * (likely + labels)) + 1e-6
    f1_slope = 2 * tokens * (labels * both[page] - hits[page]) / both[page] ** 2
    slope = slope - F1_SHARE * batch.f1_weights[page] * f1_slope * likely * (1 - likely)
    return float((batch.weights * entropy).sum()), (slope / batch.pages).astype(np.float32)


class _Adam:
    """Adam with weight decay and a gradient norm of at most 1."""

    def __init__(self, weights: Weights, steps: int) -> None:
        self.first = {name: np.zeros_like(rows) for name, rows in weights.items()}
        self.second = {name: np.zeros_like(rows) for name, rows in weights.items()}
        self.steps = steps
        self.done = 0

    def step(self, weights: Weights, gradient: Weights) -> None:
        """Change the weights by one step."""
        self.done += 1
        first = self.first
        second = self.second
        done = self.done
        rate = RATE * min(1, done / FIRST_STEPS) * (0.5 + 0.5 * np.cos(np.pi * done / self.steps)) + 1e-5
        norm = np.sqrt(sum(float((rows * rows).sum()) for rows in gradient.values()))
        scale = min(1.0, 1 / (norm + 1e-9))
        for name, rows in weights.items():
            slope = gradient[name] * scale
            first[name] = 0.9 * first[name] + 0.1 * slope
            second[name] = 0.99 * second[name] + 0.01 * slope * slope
            step = first[name] / (1 - 0.9**done) / (np.sqrt(second[name] / (1 - 0.99**done)) + 1e-8)
            if name.endswith("weights"):
                step = step + DECAY * rows
            weights[name] = (rows - rate * step).astype(np.float32)


def normalised(features: Floats, means: Floats, scales: Floats) -> Floats:
    """Features scaled and limited, as the network reads them."""
    return np.clip((features - means) * scales, -LIMIT, LIMIT).astype(np.float32)


def network(layers: tuple[Layer, ...], means: Floats, scales: Floats) -> Network:
    return Network(means=means, scales=scales, first=layers[0], layers=layers[1:-1], last=layers[-1])
