"""What the weights say of a page as a whole; how they are written and read is in tests/training."""

import numpy as np
import pytest

from crawler.extraction.auto.model import summary

FOUND = np.array([[1, 2], [3, 6], [8, 1]], np.float32)


@pytest.mark.parametrize(
    ("likely", "kinds", "expected"),
    [
        ([0.25, 0.75, 0], [1, 0.5], [4, 3, 2.5, 5, 0, np.log(0.5)]),
        ([0.1, 0.1, 0.2], [1, 1], [4, 3, 5, 2.5, 0, 0]),
        ([0, 0, 0], [1e-4, 9e-5], [4, 3, 0, 0, np.log(1e-4), np.log(1e-4)]),
    ],
    ids=["sure", "unsure", "no main text"],
)
def test_a_page_in_numbers(likely: list[float], kinds: list[float], expected: list[float]) -> None:
    """The mean of its blocks, that of its main text, and what its names say."""
    assert summary(FOUND, np.array(likely), np.array(kinds)).tolist() == pytest.approx(expected)
