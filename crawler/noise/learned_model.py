"""The learned model: small decision trees over the features of an image and the counts of its site; their votes are
added.

    logit = sum over the trees t of tables_t[code_t],  code_t = 1 [x_a > edge_a] + 2 [x_b > edge_b] + 4 [x_c > edge_c]
    p(noise) = 1 / (1 + e^-logit)

Each tree has three splits, each a feature and its edge; a table says what the tree adds for each way they can go. So an
image is judged by one comparison of vectors and one look-up. `scrapy noise train` made the weights; CARD.md beside them
says of what, and how they do.

`changes` tells what a verdict hangs on: how much it would change if the features of a group were as usual. What a tree
then adds is known beforehand for each of its codes, so that all groups together are one look-up more:

    change_g = sum over the trees t that ask a feature of g of tables_t[code_t] - tables_t[code_t, those of g as usual]
"""

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from crawler.noise import image_features
from crawler.noise.li2006 import fold

if TYPE_CHECKING:
    from crawler.noise.image_evidence import Evidence, Sighting

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
WEIGHTS = Path(__file__).with_name("weights.npz")
SPLITS = 3
"""Splits of a tree."""
CODES = 1 << SPLITS
"""The number of their outcomes."""
OF_SITE = ("site pages", "pages with it", "share of other pages with it", "entropy", "keyword")
FEATURES = (*image_features.FEATURES, *OF_SITE)
AT = {name: at for at, name in enumerate(FEATURES)}
UNKNOWN = -1.0
"""The value if a model of the paper has no score."""
MOST = 30.0
"""Logits are limited to this size."""
NO_WEIGHTS = (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile, zlib.error)


class NoiseWeightsError(Exception):
    """A file contains no weights; the message is one sentence for the user."""


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """All trained parameters."""

    splits: Ints
    """The features used by the trees: one column for each tree."""
    edges: Floats
    tables: Floats
    """What each tree adds, by the outcome of its splits: a row for each tree, a column for each code."""
    usual: Floats
    """The median of each feature."""
    limit: float
    """The probability from which an image is noise, chosen so that content is kept."""

    def logits(self, features: Floats) -> Floats:
        """The logit of noise of each row of features."""
        codes = np.arange(0, self.tables.size, CODES)  # the offset of each tree's table
        for power, (splits, edges) in enumerate(zip(self.splits, self.edges, strict=True)):
            codes = codes + ((features.take(splits, 1) > edges) << power)
        found: Floats = self.tables.ravel().take(codes).sum(1)
        return found


def features_of(sighting: "Sighting", evidence: "Evidence", entropy: float | None, keyword: float | None) -> Floats:
    """The features of an image: from its page, and from the other pages of its site."""
    pages, shown = evidence.pages, evidence.shown.get(fold(sighting.url), 0)
    others = max(0, shown - 1)
    of_site = (
        log1p(pages),
        log1p(others),
        others / (pages - 1) if pages > 1 else UNKNOWN,
        UNKNOWN if entropy is None else entropy,
        UNKNOWN if keyword is None else keyword,
    )
    return np.array((*sighting.features, *of_site), np.float32)


def probability(logit: float) -> float:
    """1 / (1 + e^-x).

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + exp(-min(max(logit, -MOST), MOST)))


def save(model: NoiseModel, path: Path) -> None:
    """Save a model to a file that `load` reads."""
    held: dict[str, Any] = {
        "splits": model.splits.astype(np.uint8),
        "edges": model.edges.astype(np.float32),
        "tables": model.tables.astype(np.float16),
        "usual": model.usual.astype(np.float32),
        "limit": np.float64(model.limit),
        "names": np.array(FEATURES),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, **held)


def load(path: Path) -> NoiseModel:
    """The model in a file; raises a WeightsError if there is none that fits. Nothing in the file is executed."""
    try:
        with np.load(path, allow_pickle=False) as held:
            if tuple(held["names"].tolist()) != FEATURES:
                raise ValueError("other features")
            model = NoiseModel(
                held["splits"].astype(np.intp),
                held["edges"].astype(np.float32),
                held["tables"].astype(np.float32),
                held["usual"].astype(np.float32),
                float(held["limit"]),
            )
        trees = len(model.tables)
        shapes = (
            (model.splits, (SPLITS, trees)),
            (model.edges, (SPLITS, trees)),
            (model.tables, (trees, CODES)),
            (model.usual, (len(FEATURES),)),
        )
        if any(rows.shape != shape or not np.isfinite(rows).all() for rows, shape in shapes):
            raise ValueError("shapes")
        if model.splits.min() < 0 or model.splits.max() >= len(FEATURES) or not 0 < model.limit < 1:
            raise ValueError("features")
        return model
    except NO_WEIGHTS as error:
        raise NoiseWeightsError(f"{str(path)!r} holds no weights of images") from error


@cache
def shipped() -> NoiseModel:
    """The model that comes with this release."""
    return load(WEIGHTS)


MODELS = 4
"""Models whose changes are cached."""


class Changes(NamedTuple):
    """The logit of noise, and what it depends on."""

    logit: float
    groups: dict[str, float]
    """For each group of features, how much less the logit would be if the group had its usual values."""


_OF_GROUP = {
    "place": (*image_features.OF_PLACE, *image_features.OF_CONTAINERS),
    "elements": (
        *image_features.OF_ELEMENTS,
        *(name for name in image_features.OF_NAMES if not name.startswith(("file", "target"))),
    ),
    "size": image_features.OF_SIZE,
    "words": image_features.OF_WORDS,
    "target": (*image_features.OF_TARGET, *(name for name in image_features.OF_NAMES if name.startswith("target"))),
    "address": (
        *(name for name in image_features.OF_ADDRESS if name not in ("head image", "in scripts")),
        *(name for name in image_features.OF_NAMES if name.startswith("file")),
    ),
    "head": ("head image", "in scripts", "has head image"),
    "page": tuple(name for name in image_features.OF_PAGE if name != "has head image"),
    "site": OF_SITE,
}
"""The groups of features that are explained together."""
_GROUP = np.array([next(at for at, names in enumerate(_OF_GROUP.values()) if name in names) for name in FEATURES])
_POWERS = (1 << np.arange(SPLITS)).astype(np.uint8)


class _Ready(NamedTuple):
    """A model, arranged so that its logit and all changes are computed at once."""

    splits: Ints
    edges: Floats
    trees: Ints
    """All trees, then those that use a feature of each group."""
    begins: Ints
    """The offset in `added` of the numbers of each tree, one number for each code."""
    added: Floats
    starts: Ints
    """The offset in `trees` of all trees, and of those of each group."""
    groups: tuple[str, ...]
    """The features that are used at all."""


@lru_cache(maxsize=MODELS)
def _ready(model: NoiseModel) -> _Ready:
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


def changes(model: NoiseModel, features: Floats) -> Changes:
    """The model's result for the features of an image, and the groups of features it depends on."""
    ready = _ready(model)
    is_over = (features.take(ready.splits) > ready.edges).view(np.uint8)
    codes = _POWERS @ is_over.reshape(model.splits.shape)
    sums = np.add.reduceat(ready.added.take(codes.take(ready.trees) + ready.begins), ready.starts).tolist()
    return Changes(sums[0], dict(zip(ready.groups, sums[1:], strict=True)))
