"""A teacher: boosted trees over the signs of blocks, whose opinion the network learns beside the labels."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from crawler.extraction.auto.network import Nest
from crawler.extraction.auto.page_outline import Floats

TREES = 150
TEACHER: dict[str, Any] = {
    "objective": "cross_entropy",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_child_samples": 100,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 127,
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
}
TOKENS = 2
"""The column of the signs that tells how many words a block has."""
Tell = Callable[[str], None]


class Described(NamedTuple):
    """A page in numbers, or a shorter copy of one."""

    owner: int
    """The place of its example."""
    part: int
    """The part of the sites that it is in."""
    is_copy: bool
    signs: Floats
    """A row a block."""
    nest: Nest
    labels: Floats
    weight: float

    @property
    def is_golden(self) -> bool:
        """Whether all of the page is known."""
        return not np.isnan(self.labels).any()


def opinions(pages: Sequence[Described], parts: int, seed: int, tell: Tell) -> list[Floats | None]:
    """What trees that were trained on pages of other sites say of each page; nothing of copies."""
    found: list[Floats | None] = [None] * len(pages)
    for part in range(parts):
        tell(f"the teacher, part {part + 1} of {parts}")
        trees = _trees([page for page in pages if page.part != part and page.is_golden], seed)
        for place, page in enumerate(pages):
            if page.part == part and not page.is_copy:
                found[place] = np.asarray(trees.predict(page.signs, num_threads=1), np.float32)
    return found


def _trees(pages: Sequence[Described], seed: int) -> Any:
    import lightgbm

    rows = lightgbm.Dataset(
        np.concatenate([page.signs for page in pages]),
        np.concatenate([page.labels for page in pages]),
        weight=np.concatenate([100 * _weights(page) for page in pages]),
    )
    return lightgbm.train({**TEACHER, "seed": seed}, rows, TREES)


def _weights(page: Described) -> Floats:
    """What each block weighs: the root of its tokens, all blocks of a page together as much as the page."""
    found = np.sqrt(np.exp(page.signs[:, TOKENS]))
    shares: Floats = (page.weight * found / found.sum()).astype(np.float32)
    return shares
