"""What people's labels make of relevance."""

import numpy as np
import pytest

from crawler.topic.label_correction import LEAST_SLOPE, Calibration

SAID = np.array([0.2, 0.3, 0.4, 0.6])


def test_without_labels_nothing_changes() -> None:
    for relevance in [0.0, 0.3, 1.0, np.array([0.0, 0.5, 1.0])]:
        assert np.all(Calibration().corrected(relevance) == relevance)


@pytest.mark.parametrize(("labels", "way"), [([True] * 4, 1), ([False] * 4, -1)])
def test_labels_raise_or_lower_relevance(labels: list[bool], way: int) -> None:
    found = Calibration.fitted(SAID, labels).corrected(SAID)
    assert np.all((found - SAID) * way > 0)
    assert np.all(np.diff(found) > 0)


def test_labels_that_agree_make_it_surer_and_those_that_contradict_less_sure() -> None:
    surer, less = (Calibration.fitted(np.array([0.1, 0.9] * 9), [not good, good] * 9) for good in (True, False))
    assert surer.slope > 1 > less.slope >= LEAST_SLOPE


def test_few_labels_change_less_than_many() -> None:
    few, many = (Calibration.fitted(np.full(count, 0.4), [True] * count).corrected(0.4) for count in (1, 20))
    assert 0.4 < few < many < 1


@pytest.mark.parametrize("relevance", [0.0, 1.0])
def test_certainty_can_be_corrected_too(relevance: float) -> None:
    found = Calibration.fitted(np.full(200, relevance), [relevance == 0.0] * 200).corrected(relevance)
    assert abs(found - relevance) > 0.5
