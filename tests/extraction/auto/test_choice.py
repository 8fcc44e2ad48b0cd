"""Which blocks to keep, by how likely each is main text."""

from itertools import product

import numpy as np
import pytest

from crawler.extraction.auto.model import best_f, choose, expected_f1

RANDOM = np.random.default_rng(7)
DRAWN = [(RANDOM.random(8).astype(np.float32), RANDOM.integers(1, 99, 8).astype(np.float32)) for _ in range(12)]


def test_choose() -> None:
    rows = [
        ([1, 1, 0], [5, 5, 90], 0.5, [True, True, False]),
        ([0.9], [3], 0.5, [True]),
        ([0.01], [3], 0.85, [True]),  # something is better than nothing
        ([0.9, 0.48, 0.46], [90, 1, 1], 0.5, [True, True, False]),
        ([0.9, 0.2, 0.1], [1, 1, 1], 0.75, [True, False, False]),
        ([0.9, 0.3, 0.1], [9, 1, 1], 0.25, [True, True, False]),
        ([0.3, 0.3, 0.3], [1, 1, 1], 0.5, [True, True, True]),
        ([], [], 0.5, []),
    ]
    for probabilities, tokens, share, kept in rows:
        assert choose(np.array(probabilities), np.array(tokens), share).tolist() == kept


def test_no_choice_promises_more() -> None:
    for weight in [0.25, 0.5, 0.6]:
        for probabilities, tokens in DRAWN:
            best, hits = best_f(probabilities, tokens, weight), probabilities * tokens
            every = [np.array(kept) for kept in product((False, True), repeat=len(tokens))]
            promised = {
                tuple(kept): hits[kept].sum() / (weight * tokens[kept].sum() + (1 - weight) * hits.sum())
                for kept in every
            }
            assert best == pytest.approx(max(promised.values()))
            assert promised[tuple(choose(probabilities, tokens, weight))] == pytest.approx(best)
            if weight == 0.5:  # that is F1
                for kept in every:
                    assert expected_f1(probabilities, tokens, kept.nonzero()[0].tolist()) == pytest.approx(
                        promised[tuple(kept)]
                    )


def test_what_nobody_judged_promises_nothing() -> None:
    assert expected_f1(np.array([0.5]), np.array([4.0]), [0, 1, 7]) == pytest.approx(2 / 3)
    assert expected_f1(np.array([]), np.array([]), []) == 0


def test_who_wants_less_gets_a_part() -> None:
    for probabilities, tokens in DRAWN:
        strict, middle, lax = (choose(probabilities, tokens, share) for share in (0.75, 0.5, 0.25))
        assert (strict <= middle).all()
        assert (middle <= lax).all()
        assert strict.sum() < lax.sum()
