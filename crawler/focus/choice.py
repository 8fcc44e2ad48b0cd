"""The priorities of links that wait: by their scores, less where one site gives too much, now and then a try."""

import random
from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.focus.pairs import Values

HIGHEST = 999
"""The priority of a link that is asked for before all others: priorities are thousandths of a score."""
WINDOW = 200
"""Pages, the last ones, of which one site is to have its share and no more."""
SITE_FACTOR = 0.1
FOREFRONT = 300
"""Links that come next anyway: what is tried lies behind them."""


@dataclass(frozen=True)
class Manner:
    """How to choose."""

    learning: bool = True
    """Whether it is learned what links lead to."""
    exploration: float = 0.02
    """The share of the pages that are tried although others promise more."""
    site_share: float = 0.5
    """The share of the last pages that one site may have, as long as links to others wait."""


class Choice:
    """What was fetched lately, and what is owed to the rest."""

    def __init__(self, manner: Manner, seat: int) -> None:
        self.manner = manner
        self._sites: deque[int] = deque(maxlen=WINDOW)
        self._owed = 0.0
        self._random = random.Random(seat)  # noqa: S311 - a choice among links, no secret

    def fetched(self, site: int) -> None:
        """Count a page of a site."""
        self._sites.append(site)
        self._owed += self.manner.exploration

    def priorities(self, scores: Values, sites: Values, waiting: Collection[int]) -> NDArray[np.int32]:
        """The priorities of links, by their scores and sites: less of sites that have had their share, as long as links
        to others wait.
        """
        full = self._full()
        if sum(site in waiting for site in full) < len(waiting):
            scores = scores * np.where(np.isin(sites, full), SITE_FACTOR, 1.0)
        return np.minimum(np.round(1000 * scores), HIGHEST - 1).astype(np.int32)

    def _full(self) -> list[int]:
        """The sites that have had more than their share of the last pages."""
        if len(self._sites) < WINDOW // 10:
            return []
        most = self.manner.site_share * len(self._sites)
        return [site for site, count in Counter(self._sites).items() if count > most]

    def tries(self, priorities: NDArray[np.int32], waits: NDArray[np.bool_]) -> list[int]:
        """The rows of links that are asked for now although others promise more."""
        rows = np.flatnonzero(waits & (priorities < HIGHEST))
        if self._owed < 1 or len(rows) <= FOREFRONT:
            return []
        behind = rows[np.argsort(-priorities[rows], kind="stable")[FOREFRONT:]]
        chosen = self._random.sample(behind.tolist(), min(int(self._owed), len(behind)))
        self._owed -= len(chosen)
        return chosen
