"""Trains the network: the gradient of its error, computed by hand, and Adam.

The error of a page is the cross entropy of its blocks, each weighing the root of its tokens, less the F1 of its text
as the probabilities have it:
    F1 = 2 sum p y t / sum (p + y) t,     p the probability, y the label, t the tokens of a block.
The first makes probabilities of what comes out, the second looks at what is to be good. A part of the same error is
added for the probabilities that tell what blocks are compared with. All of it is deterministic: the same pages and seed
give the same weights on the same machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crawler.extraction.auto.network import COMPARED, LEAST_TEXT, LIMIT, BlockGroups, Layer, Network, logistic
from crawler.extraction.auto.page_arrays import Floats
from crawler.extraction.auto.text_arrays import Ints

STEPS = (1, 0, 2, 0, 1, COMPARED)  # the layers, each as in Layer.step
WIDTH = 40
PAGES = 16  # pages in a batch
RATE = 3e-3
"""The largest step size."""
FIRST_STEPS = 50
"""The number of steps until the largest is reached."""
DECAY = 1e-3
"""The weight decay."""
FORGOTTEN = 0.15  # the dropout rate of layers
BLIND = 0.25  # how often a page's words, its names, or its page-wide features are hidden
F1_SHARE = 0.5
SO_FAR = 0.3  # the part of the error of the main text that blocks are compared with
MEMORY = 0.998  # the weights kept are the average of about the last 1 / (1 - MEMORY) steps

Weights = dict[str, Floats]
Sparse = Any
"""A sparse matrix; scipy has no type hints."""


@dataclass(frozen=True, slots=True)
class Lesson:
    features: Floats
    """One row for each block."""
    nest: BlockGroups
    labels: Floats
    tokens: Floats
    weights: Floats
    """The weight of each block among all of its page; 0 where the label is not known."""
    f1_weight: float


class _Batch:
    """Pages one after the other, as if they were one page with borders."""

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

    def beside(self, rows: Floats, step: int) -> Floats:
        """The row so many places before each one, none across the border of a page."""
        shifted = np.zeros_like(rows)
        if step > 0:
            shifted[step:] = rows[:-step]
        else:
            shifted[:step] = rows[-step:]
        places = np.arange(self.number) - step
        shifted[(places < self.starts) | (places >= self.ends)] = 0
        return shifted

    def seen(self, rows: Floats, step: int) -> Floats:
        """The input of a layer, as defined in crawler.extraction.auto.network."""
        if step:
            return np.concatenate([self.beside(rows, step), rows, self.beside(rows, -step)], 1)
        means = self.mean @ rows
        return np.concatenate([rows, *(spread @ means for spread in self.spreads)], 1)

    def text(self, rows: Floats, likely: Floats) -> Floats:
        """For each block, the mean row of its page's main text, by these probabilities."""
        text_rows: Floats = (self._sums(likely[:, None] * rows) / self._texts(likely))[self.page]
        return text_rows

    def text_back(self, gradient: Floats, rows: Floats, likely: Floats) -> tuple[Floats, Floats]:
        """The gradients of the rows and of the probabilities from that of the mean rows."""
        through = (self._sums(gradient) / self._texts(likely))[self.page]
        return likely[:, None] * through, ((rows - self.text(rows, likely)) * through).sum(1)

    def _sums(self, rows: Floats) -> Floats:
        sums: Floats = np.add.reduceat(rows, self.firsts)
        return sums

    def _texts(self, likely: Floats) -> Floats:
        return self._sums(likely[:, None]) + LEAST_TEXT

    def seen_back(self, gradient: Floats, step: int, width: int) -> Floats:
        """The gradient of the rows from that of what a layer was given."""
        parts = [gradient[:, place : place + width] for place in range(0, gradient.shape[1], width)]
        if step:
            before, own, after = parts
            places = np.arange(self.number)
            before = np.where((places - step >= self.starts)[:, None], before, 0)
            after = np.where((places + step < self.ends)[:, None], after, 0)
            found = own.copy()
            found[:-step] += before[step:]
            found[step:] += after[:-step]
            return found
        means = sum(spread.T @ part for part, spread in zip(parts[1:], self.spreads, strict=True))
        whole: Floats = parts[0] + self.mean.T @ means
        return whole


def _means(nests: Sequence[BlockGroups], number: int) -> tuple[Sparse, list[Sparse]]:
    """What takes all blocks to the means of groups, and for each kind of group what takes these to the blocks in it."""
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
    """The layers of a network, from lessons. `hidden`: groups of features that are sometimes set to zero for a page."""
    chance = np.random.default_rng(seed)
    weights = _beginning(lessons[0].features.shape[1], chance)
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


def _beginning(features: int, chance: np.random.Generator) -> Weights:
    widths = [("in", features, WIDTH, 1.0)]
    widths += [(str(place), (3 if step else 6) * WIDTH, WIDTH, 0.5) for place, step in enumerate(STEPS)]
    weights: Weights = {}
    for name, inputs, outputs, scale in [*widths, ("out", WIDTH, 1, 0.3)]:
        rows = chance.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs) * scale
        weights[f"{name} weights"] = rows.astype(np.float32)
        weights[f"{name} bias"] = np.zeros(outputs, np.float32)
    return weights


def _blind(batch: _Batch, hidden: Sequence[Ints], chance: np.random.Generator) -> None:
    for columns in hidden:
        is_blind = chance.random(batch.pages) < BLIND
        if is_blind.any():
            batch.features[np.ix_(np.flatnonzero(is_blind[batch.page]), columns)] = 0


def _gradient(weights: Weights, batch: _Batch, chance: np.random.Generator) -> tuple[float, Weights]:
    """The error of a batch, and how it changes with each weight."""
    first = np.maximum(batch.features @ weights["in weights"] + weights["in bias"], 0)
    rows = first
    kept = []
    for place, step in enumerate(STEPS):
        seen = _compared(weights, batch, rows) if step == COMPARED else batch.seen(rows, step)
        output = np.maximum(seen @ weights[f"{place} weights"] + weights[f"{place} bias"], 0)
        shown = (chance.random(output.shape, np.float32) >= FORGOTTEN).astype(np.float32) / (1 - FORGOTTEN)
        kept.append((seen, shown * (output > 0)))
        rows = rows + output * shown
    error, slope = _error(batch, _likely(weights, rows))
    gradient: Weights = {"out weights": rows.T @ slope[:, None], "out bias": slope.sum(keepdims=True)}
    back = slope[:, None] @ weights["out weights"].T
    for place in reversed(range(len(STEPS))):
        seen, open_to = kept[place]
        through = back * open_to
        gradient[f"{place} weights"], gradient[f"{place} bias"] = seen.T @ through, through.sum(0)
        through = through @ weights[f"{place} weights"].T
        if STEPS[place] == COMPARED:
            back = back + _compared_back(weights, batch, seen, through, gradient)
        else:
            back = back + batch.seen_back(through, STEPS[place], WIDTH)
    back = back * (first > 0)
    gradient["in weights"], gradient["in bias"] = batch.features.T @ back, back.sum(0)
    return error, gradient


def _likely(weights: Weights, rows: Floats) -> Floats:
    """The probabilities of blocks by what the network has made of them so far."""
    return logistic((rows @ weights["out weights"])[:, 0] + weights["out bias"][0])


def _compared(weights: Weights, batch: _Batch, rows: Floats) -> Floats:
    """The input of the layer that compares, as defined in crawler.extraction.auto.network."""
    text = batch.text(rows, _likely(weights, rows))
    return np.concatenate([rows, rows * text, text], 1)


def _compared_back(weights: Weights, batch: _Batch, seen: Floats, through: Floats, gradient: Weights) -> Floats:
    """The gradient of the rows from that of what the layer was given; adds that of the last weights."""
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
    """The error, and how it changes with what the last layer gives for each block."""
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
    """Features as the network takes them."""
    return np.clip((features - means) * scales, -LIMIT, LIMIT).astype(np.float32)


def network(layers: tuple[Layer, ...], means: Floats, scales: Floats) -> Network:
    return Network(means=means, scales=scales, first=layers[0], layers=layers[1:-1], last=layers[-1])
