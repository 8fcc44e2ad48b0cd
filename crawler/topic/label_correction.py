"""Relevance corrected by the pages that people labelled.

J. Platt, "Probabilistic Outputs for Support Vector Machines", 1999: the corrected log-odds are a line, offset + slope
times the log-odds of the relevance. The line is fitted to the labels; as these are few, it is shrunk towards the line
that changes nothing. Each step uses an upper bound of the curvature (D. Böhning, "Multinomial Logistic Regression
Algorithm", 1992), so that no step goes too far, whatever the labels are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from crawler.topic.word_statistics import Values

OFFSET_SPREAD = 1.0
"""The prior standard deviation of the offset."""
SLOPE_SPREAD = 0.3
"""The prior standard deviation of the slope."""
LEAST = 0.001
"""The least relevance whose log-odds are computed; a lower relevance counts as this."""
MOST = 0.999
"""The highest relevance whose log-odds are computed; a higher relevance counts as this."""
LEAST_SLOPE = 0.1
"""A slope above 0 keeps pages in order, whatever the labels say."""
STEPS = 100
"""Steps of the fit."""


@dataclass(frozen=True)
class Calibration:
    """A line from the log-odds of the relevance to the corrected log-odds; the default changes nothing."""

    offset: float = 0.0
    slope: float = 1.0

    @classmethod
    def fitted(cls, relevance: Values, is_on_topic: Sequence[bool]) -> Self:
        """The correction that fits these labels best, given the uncorrected relevance of each labelled page."""
        truth = np.array(is_on_topic, np.float64)
        x = np.stack([np.ones(len(truth)), _log_odds(relevance)])
        prior_line = np.array([0.0, 1.0])
        precision = np.array([OFFSET_SPREAD, SLOPE_SPREAD]) ** -2.0
        line = prior_line
        step = np.linalg.inv(x @ x.T / 4 + np.diag(precision))  # the inverse of Böhning's bound
        for _ in range(STEPS):
            predicted = 1 / (1 + np.exp(-line @ x))
            line = line - step @ (x @ (predicted - truth) + precision * (line - prior_line))
        offset, slope = line.tolist()
        return cls(offset, max(LEAST_SLOPE, slope))

    def corrected(self, relevance: Any) -> Any:
        """The relevance, corrected."""
        if self == Calibration():  # without labels, relevance stays exact
            return relevance
        return 1 / (1 + np.exp(-self.offset - self.slope * _log_odds(relevance)))


def _log_odds(relevance: Any) -> Any:
    relevance = np.clip(relevance, LEAST, MOST)
    return np.log(relevance / (1 - relevance))
