"""The network that judges all blocks of a page together."""

from pathlib import Path

import numpy as np
import pytest
from hostile_pages import LONG, PAGES, WITHOUT_TEXT

from crawler.extraction.auto import network
from crawler.extraction.auto.model import PAGE_TYPES, BlockJudgement, judge, shipped
from crawler.extraction.auto.network import COMPARED, LEAST_TEXT, RUN, BlockGroups, Layer, Network
from crawler.page.page import Page

GOLD = Path(__file__).parent.parent.parent / "gold"
BODIES = {folder.name: (folder / "page.html").read_bytes() for folder in sorted(GOLD.iterdir())}
ODD = {name: body for name, body in PAGES.items() if name not in WITHOUT_TEXT | LONG}


def judged(body: bytes) -> BlockJudgement:
    return judge(Page("http://e.com/a", body), shipped())


def test_every_block_has_a_probability() -> None:
    for name in [*BODIES, *ODD]:
        body = (BODIES | ODD)[name]
        found = judged(body)
        assert found.probabilities.shape == found.tokens.shape == (len(Page("", body).blocks),)
        assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
        assert (found.tokens >= 1).all()
        assert found.page_type in (*PAGE_TYPES, "")


def test_a_page_is_judged_by_itself() -> None:
    """In whatever order, and however often."""
    first = {name: judged(body) for name, body in BODIES.items()}
    for name in reversed(BODIES):
        again = judged(BODIES[name])
        assert np.array_equal(again.probabilities, first[name].probabilities)
        assert again.page_type == first[name].page_type


def test_the_blocks_are_told_apart() -> None:
    """The model is worth something: on pages of every kind some blocks are surely text, and some surely not."""
    sure = [name for name, body in BODIES.items() if np.ptp(judged(body).probabilities) > 0.8]
    assert len(sure) > 0.8 * len(BODIES)


RANDOM = np.random.default_rng(5)
WIDTH, FEATURES, NUMBER = 4, 6, 7
# The page; in it blocks 0 to 3, and 4 to 6; in the first of these 1 and 2.
LEVELS = np.array([[1, 3, 3, 1, 2, 2, 2], [0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]])
STARTS, ENDS = np.array([0, 0, 4, 1]), np.array([7, 4, 7, 3])
PATHS = np.array([30, 10, 10, 30, 20, 20, 30])
NEST = network.block_groups(LEVELS, STARTS, ENDS, PATHS)


def layer(step: int, wide: int, out: int = WIDTH) -> Layer:
    return Layer(step, RANDOM.normal(size=(wide, out)).astype(np.float32), RANDOM.normal(size=out).astype(np.float32))


def made() -> Network:
    layers = (layer(1, 3 * WIDTH), layer(0, 6 * WIDTH), layer(COMPARED, 3 * WIDTH), layer(3, 3 * WIDTH))
    return Network(MEANS, SCALES, layer(0, FEATURES), layers, layer(0, WIDTH, 1))


MEANS, SCALES = RANDOM.normal(size=FEATURES).astype(np.float32), RANDOM.random(FEATURES).astype(np.float32)
MADE = [made(), made(), made()]


def slowly(made: Network, matrix: np.ndarray) -> list[float]:
    """What the docstring of the module says, block by block."""
    features = [np.clip((row - made.means) * made.scales, -4, 4) for row in matrix.T]
    found = [np.maximum(row @ made.first.weights + made.first.bias, 0) for row in features]
    for one in made.layers:
        after = []
        for at, mine in enumerate(found):
            if one.step == COMPARED:
                likely = [likelihood(made, row) for row in found]
                text = sum(share * row for share, row in zip(likely, found, strict=True)) / (sum(likely) + LEAST_TEXT)
                seen = [mine, mine * text, text]
            elif one.step:
                before = found[at - one.step] if at >= one.step else np.zeros(WIDTH)
                behind = found[at + one.step] if at + one.step < NUMBER else np.zeros(WIDTH)
                seen = [before, mine, behind]
            else:
                groups = [found[STARTS[level[at]] : ENDS[level[at]]] for level in LEVELS]
                path = [found[other] for other in range(NUMBER) if PATHS[other] == PATHS[at]]
                seen = [mine, *(np.mean(group, 0) for group in (*groups, found, path))]
            after.append(mine + np.maximum(np.concatenate(seen) @ one.weights + one.bias, 0))
        found = after
    return [likelihood(made, row) for row in found]


def likelihood(made: Network, row: np.ndarray) -> float:
    return float(network.logistic(row @ made.last.weights[:, 0] + made.last.bias[0]))


def test_the_networks_are_what_they_say() -> None:
    for scale in [1, 50]:
        for many in [1, 2, 3]:
            matrix = (scale * RANDOM.normal(size=(FEATURES, NUMBER))).astype(np.float32)
            found = network.hidden(MADE[:many], matrix.copy(), NEST)
            for one, rows in zip(MADE, found, strict=False):
                assert network.probabilities(one, rows).tolist() == pytest.approx(slowly(one, matrix), abs=1e-5)


def test_the_means_are_those_of_the_groups() -> None:
    """However many rows are summed at once."""
    for number in [1, RUN // 2 - 1, RUN // 2, RUN // 2 + 1, RUN, 3 * RUN + 1]:
        chance = np.random.default_rng(number)
        starts = np.array([0, number // 3])
        ends = np.array([number, 2 * number // 3 + 1])
        levels = chance.integers(0, 2, (network.AROUND, number))
        paths = chance.choice([3, 8, 5], number)
        found = chance.normal(size=(2, number, WIDTH)).astype(np.float32)
        seen = network.with_means(found, network.block_groups(levels, starts, ends, paths))
        for rows, mine in zip(seen, found, strict=True):
            page = np.broadcast_to(mine.mean(0), mine.shape)
            path = np.stack([mine[paths == one].mean(0) for one in paths])
            around = [np.stack([mine[starts[one] : ends[one]].mean(0) for one in level]) for level in levels]
            assert rows == pytest.approx(np.stack([mine, *around, page, path], 1), abs=1e-4)


def test_features_far_from_their_mean_count_as_so_far() -> None:
    rows = [(3.95, [3.95, 0]), (4.05, [4, 0]), (50, [4, 0]), (-3.95, [0, 3.95]), (-4.05, [0, 4])]
    for feature, kept in rows:
        first = Layer(0, np.array([[1, -1]], np.float32), np.zeros(2, np.float32))
        alone = Network(np.full(1, 9, np.float32), np.full(1, 0.5, np.float32), first, (), layer(0, 2, 1))
        (found,) = network.hidden([alone], np.array([[9 + 2 * feature]], np.float32), NEST)
        assert found.tolist() == [pytest.approx(kept)]


def test_one_block_is_a_page() -> None:
    alone: BlockGroups = network.block_groups(np.zeros((3, 1), np.int64), np.array([0]), np.array([1]), np.array([5]))
    found = network.hidden(MADE, np.ones((FEATURES, 1), np.float32), alone)
    assert found.shape == (3, 1, WIDTH)


def test_the_logistic_function_does_not_overflow() -> None:
    assert network.logistic(np.array([-1e9, 0, 1e9], np.float32)).tolist() == pytest.approx([0, 0.5, 1], abs=1e-9)
