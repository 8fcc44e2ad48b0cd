import json
from math import exp, log
from pathlib import Path

import pytest

from crawler.metadata.choice import EMPTY, LEAST, WEIGHTS, chosen, new_candidates, probabilities


def test_a_value_has_the_signs_of_all_its_places() -> None:
    found = new_candidates({"type article": 1.0})
    found.add("a", "first", "second")
    found.add("a", "third")
    assert dict(found.signs) == {"a": {"first": 1.0, "second": 1.0, "third": 1.0}}
    assert found.empty_signs == {"empty": 1.0, "type article": 1.0}


def test_probabilities() -> None:
    found = new_candidates({})
    found.add("a", "strong", "unknown")
    found.add("b", "weak")
    likely = probabilities(found, {"strong": 2.0, "weak": 1.0, "empty": 0.5})
    total = exp(2.0) + exp(1.0) + exp(0.5)
    assert likely == pytest.approx({"a": exp(2.0) / total, "b": exp(1.0) / total, EMPTY: exp(0.5) / total})


@pytest.mark.parametrize(("weight", "expected"), [(0.01, "a"), (-0.01, EMPTY)])
def test_a_value_that_is_too_unlikely_is_not_given(weight: float, expected: str) -> None:
    # Beside an empty field of weight 0, the probability is LEAST at exp(w) = LEAST / (1 - LEAST).
    at_limit = exp(weight) * LEAST / (1 - LEAST)
    found = new_candidates({})
    found.add("a", "sign")
    assert chosen(found, {"sign": log(at_limit)}) == expected


def test_without_candidates_a_field_is_empty() -> None:
    assert chosen(new_candidates({}), {}) == EMPTY


def test_the_weights_of_the_release_are_in_its_package() -> None:
    read = json.loads(Path(WEIGHTS).read_text(encoding="utf-8"))
    assert set(read) == {"author", "published"}
    assert all(isinstance(weight, float) for weights in read.values() for weight in weights.values())
