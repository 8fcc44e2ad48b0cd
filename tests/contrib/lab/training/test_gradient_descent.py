from dataclasses import replace

import numpy as np
import pytest

from crawler.contrib.lab.training import gradient_descent
from crawler.contrib.lab.training.gradient_descent import (
    F1_SHARE,
    SO_FAR,
    STEPS,
    Lesson,
    _Batch,
    _gradient,
    _initial_weights,
    learn,
)
from crawler.extraction.auto import network
from crawler.extraction.auto.network import BlockGroups, Layer
from crawler.extraction.auto.page_arrays import page_arrays, ranges
from crawler.page.page import Page

FEATURES = 10
BODIES = [
    "<div><p>Bees<p>dance<p>in</div><div><p>the<ul><li>dark<li>of<li>the</ul></div><p>hive",
    "<p>Alone",
    "<table><tr><td>a<td>b<tr><td>c<td>d</table><p>e<p>f",
    "<div><div><div>a</div>b</div>c</div>",
]


def nest(body: str) -> BlockGroups:
    seen = page_arrays(Page.from_html(body))
    outline = seen.outline
    return network.block_groups(ranges(seen), outline.starts, outline.ends, outline.paths[seen.homes])


def lessons() -> list[Lesson]:
    chance = np.random.default_rng(2)
    found = []
    for place, body in enumerate(BODIES):
        groups = nest(body)
        number = len(groups.groups)
        labels, tokens, weights = (chance.random(number, np.float32) for _ in range(3))
        rows = chance.standard_normal((number, FEATURES), np.float32)
        # The last is a page of snippets, of which no F1 is known.
        found.append(Lesson(rows, groups, labels, 9 * tokens, weights, 0.0 if place == 3 else 1.5 - place))
    return found


def layers(weights: gradient_descent.Weights) -> tuple[Layer, ...]:
    names = ("in", *map(str, range(len(STEPS))), "out")
    steps = zip((0, *STEPS, 0), names, strict=True)
    return tuple(Layer(step, weights[f"{name} weights"], weights[f"{name} bias"]) for step, name in steps)


def error(weights: gradient_descent.Weights) -> float:
    """What is to be small, by the network as it judges, page by page."""
    net = gradient_descent.network(layers(weights), np.zeros(FEATURES, np.float32), np.ones(FEATURES, np.float32))
    found = 0.0
    for made, share in ((net, 1.0), (replace(net, layers=net.layers[:-1]), SO_FAR)):
        for one in lessons():
            p = network.probabilities(made, network.hidden_of([made], one.features, one.block_groups)[0]).astype(
                np.float64
            )
            y, t = one.labels, one.tokens
            found -= share * (one.weights * (y * np.log(p) + (1 - y) * np.log(1 - p))).sum()
            found -= share * F1_SHARE * one.f1_weight * 2 * (p * y * t).sum() / ((p + y) * t).sum()
    return found / len(BODIES)


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> gradient_descent.Weights:
    monkeypatch.setattr(gradient_descent, "WIDTH", 24)
    chance = np.random.default_rng(1)
    found = _initial_weights(FEATURES, chance)
    # Small ones, so that no probability is next to 0 or 1, where the error is clipped.
    return {
        name: (rows + 0.1 * chance.standard_normal(rows.shape)).astype(np.float32) / 3 for name, rows in found.items()
    }


NAMES = [f"{name} {part}" for name in ("in", "0", "1", "2", "3", "4", "5", "out") for part in ("weights", "bias")]


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_is_that_of_the_error(
    weights: gradient_descent.Weights, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(gradient_descent, "FORGOTTEN", 0.0)
    gradient = _gradient(weights, _Batch(lessons()), np.random.default_rng(0))[1][name]
    assert gradient.shape == weights[name].shape
    for seed in range(3):
        some = np.where(np.random.default_rng(seed).random(gradient.shape) < 0.5, gradient, 0)
        if not some.any():
            continue
        way, step = some / np.linalg.norm(some), 3e-4  # short: the network has kinks
        above, below = (error(weights | {name: weights[name] + feature * step * way}) for feature in (1, -1))
        assert (above - below) / 2 / step == pytest.approx(float((gradient * way).sum()), rel=0.02, abs=2e-4)


def test_the_network_learns_and_every_time_the_same() -> None:
    errors: list[float] = []
    first = learn(lessons(), [], 30, 3, lambda _, found: errors.append(found))
    assert errors[-1] < 0.8 * errors[0]
    again, other = (learn(lessons(), [], 30, seed, lambda *_: None) for seed in (3, 4))
    assert [layer.step for layer in first] == [0, *STEPS, 0]
    assert all(np.array_equal(mine.weights, theirs.weights) for mine, theirs in zip(first, again, strict=True))
    assert not np.array_equal(first[0].weights, other[0].weights)


def test_a_page_is_now_and_then_blind() -> None:
    hidden = [np.array([0, 1]), np.array([7])]
    seen = [set(), set()]
    for seed in range(40):
        batch = _Batch(lessons())
        before = batch.features.copy()
        gradient_descent._blind(batch, hidden, np.random.default_rng(seed))
        assert np.array_equal(batch.features[:, 2:7], before[:, 2:7])
        for group, columns in zip(seen, hidden, strict=True):
            is_blind = (batch.features[:, columns] == 0).all(1)
            by_page = [set(is_blind[batch.page_of_block == page].tolist()) for page in range(len(BODIES))]
            assert all(len(found) == 1 for found in by_page)  # a page is blind as a whole
            group.update(found.pop() for found in by_page)
    assert seen == [{True, False}] * 2
