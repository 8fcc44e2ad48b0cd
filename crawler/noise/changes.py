"""What the learned model's verdict hangs on: how it would change if the signs of a group were as usual.

What a tree then adds is known beforehand for each of its codes, so that all groups together are one look-up more:

    change_g = sum over the trees t that ask a sign of g of tables_t[code_t] - tables_t[code_t, those of g as usual]
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from crawler.noise import place
from crawler.noise.learned import CODES, OF_SITE, SIGNS, SPLITS, Floats, Ints, Model

MODELS = 4
"""Whose changes are kept ready."""


class Changes(NamedTuple):
    """The logit of noise, and what it hangs on."""

    logit: float
    groups: dict[str, float]
    """For each group of signs, how much less the logit would be if the group were as usual."""


_OF_GROUP = {
    "place": (*place.OF_PLACE, *place.OF_CONTAINERS),
    "elements": (*place.OF_ELEMENTS, *(name for name in place.OF_NAMES if not name.startswith(("file", "target")))),
    "size": place.OF_SIZE,
    "words": place.OF_WORDS,
    "target": (*place.OF_TARGET, *(name for name in place.OF_NAMES if name.startswith("target"))),
    "address": (
        *(name for name in place.OF_ADDRESS if name not in ("head picture", "in scripts")),
        *(name for name in place.OF_NAMES if name.startswith("file")),
    ),
    "head": ("head picture", "in scripts", "has head picture"),
    "page": tuple(name for name in place.OF_PAGE if name != "has head picture"),
    "site": OF_SITE,
}
"""The signs that are told of together."""
_GROUP = np.array([next(at for at, names in enumerate(_OF_GROUP.values()) if name in names) for name in SIGNS])
_POWERS = (1 << np.arange(SPLITS)).astype(np.uint8)


class _Ready(NamedTuple):
    """A model, laid out to be asked for its logit and all changes at once."""

    splits: Ints
    edges: Floats
    trees: Ints
    """All of them, then those that ask a sign of each group."""
    begins: Ints
    """Where in `added` the numbers of each of these begin, a number a code."""
    added: Floats
    starts: Ints
    """Where in `trees` all of them begin, and where those of each group."""
    groups: tuple[str, ...]
    """Those that are asked for at all."""


@lru_cache(maxsize=MODELS)
def _ready(model: Model) -> _Ready:
    usual = model.usual[model.splits] > model.edges
    trees, added, groups = [np.arange(len(model.tables))], [model.tables], []
    for at, group in enumerate(_OF_GROUP):
        is_mine = _GROUP[model.splits] == at
        (mine,) = np.nonzero(is_mine.any(0))
        if len(mine):
            asked, if_usual = (_POWERS @ bits[:, mine].view(np.uint8) for bits in (is_mine, is_mine & usual))
            others = np.arange(CODES) & ~asked[:, None] | if_usual[:, None]
            tables = model.tables[mine]
            groups.append(group)
            trees.append(mine)
            added.append(tables - np.take_along_axis(tables, others, 1))
    all_trees = np.concatenate(trees)
    return _Ready(
        splits=model.splits.ravel(),
        edges=model.edges.ravel(),
        trees=all_trees,
        begins=np.arange(0, CODES * len(all_trees), CODES),
        added=np.concatenate(added).ravel().astype(np.float64),
        starts=np.cumsum([0, *map(len, trees[:-1])]),
        groups=tuple(groups),
    )


def changes(model: Model, signs: Floats) -> Changes:
    """What a model says of the signs of a picture, and which of them it hangs on."""
    ready = _ready(model)
    is_over = (signs.take(ready.splits) > ready.edges).view(np.uint8)
    codes = _POWERS @ is_over.reshape(model.splits.shape)
    sums = np.add.reduceat(ready.added.take(codes.take(ready.trees) + ready.begins), ready.starts).tolist()
    return Changes(sums[0], dict(zip(ready.groups, sums[1:], strict=True)))
