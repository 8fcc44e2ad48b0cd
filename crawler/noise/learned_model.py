"""The learned model: small decision trees over the features of an image and the counts of its site; their votes are
added.

    logit = sum over the trees t of tables_t[code_t],  code_t = 1 [x_a > edge_a] + 2 [x_b > edge_b] + 4 [x_c > edge_c]
    p(noise) = 1 / (1 + e^-logit)

Each tree has three splits, each a feature and its edge; a table says what the tree adds for each way they can go. So an
image is judged by one comparison of vectors and one look-up. `winnow noise train` made the weights; CARD.md beside them
describes their training data and their results.

`changes` tells what a verdict depends on: how much it would change if the features of a group had their usual values.
The value of a tree in that case is known beforehand for each of its codes, so that one more look-up serves all groups:

    change_g = sum over the trees t that ask a feature of g of tables_t[code_t] - tables_t[code_t, those of g as usual]
"""

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, log1p
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from crawler.errors import ModelFileError
from crawler.noise import image_features
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.li2006 import fold
from crawler.noise.page_features import ABOUT

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
WEIGHTS = Path(__file__).with_name("weights.npz")
SPLITS = 3  # splits of a tree
CODES = 1 << SPLITS  # the number of their outcomes
OF_SITE = ("site pages", "pages with it", "share of other pages with it", "entropy", "keyword")
FEATURES = (*image_features.FEATURES, *OF_SITE)
AT = {name: at for at, name in enumerate(FEATURES)}
"""The index of each feature."""
UNKNOWN = -1.0  # the value of a feature if there is no data for it
MOST = 30.0  # logits are limited to this size
# What numpy and zipfile raise for a file without weights.
NO_WEIGHTS = (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile, zlib.error)


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """The trees of a model, with the medians of its features and its limit."""

    splits: Ints
    """The indices of the features that the trees ask: a row for each split, a column for each tree."""
    edges: Floats
    """The edges of these splits."""
    tables: Floats
    """What each tree adds, by the outcome of its splits: a row for each tree, a column for each code."""
    usual: Floats
    """The median of each feature."""
    limit: float
    """The probability from which an image is noise, chosen so that content is kept."""

    def logits(self, features: Floats) -> Floats:
        """The logit of noise of each row of features."""
        return self.votes(_POWERS @ (features[:, self.splits] > self.edges))

    def votes(self, codes: Ints) -> Floats:
        """The logit of noise of each row of codes, one for each tree."""
        offsets = np.arange(0, self.tables.size, CODES)
        logits: Floats = self.tables.ravel().take(codes + offsets).sum(1, dtype=np.float64)
        return logits


def features_of(sighting: Sighting, evidence: Evidence, entropy: float | None, keyword: float | None) -> Floats:
    """The features of an image: from its page, and from the other pages of its site."""
    pages = evidence.pages
    shown = evidence.shown.get(fold(sighting.url), 0)
    others = max(0, shown - 1)
    share_of_others = UNKNOWN
    if pages > 1:
        share_of_others = others / (pages - 1)
    if entropy is None:
        entropy = UNKNOWN
    if keyword is None:
        keyword = UNKNOWN
    of_site = (log1p(pages), log1p(others), share_of_others, entropy, keyword)
    return np.array((*sighting.features, *of_site), np.float32)


def probability(logit: float) -> float:
    """1 / (1 + e^-x).

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + exp(-min(max(logit, -MOST), MOST)))


def save(model: NoiseModel, path: Path) -> None:
    """Save a model to a file that `load` reads."""
    arrays: dict[str, Any] = {
        "splits": model.splits.astype(np.uint8),
        "edges": model.edges.astype(np.float32),
        "tables": model.tables.astype(np.float16),
        "usual": model.usual.astype(np.float32),
        "limit": np.float64(model.limit),
        "names": np.array(FEATURES),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load(path: Path) -> NoiseModel:
    """The model in a file; raises a ModelFileError if there is none that fits. Nothing in the file is executed."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if tuple(arrays["names"].tolist()) != FEATURES:
                raise ValueError("other features")
            return NoiseModel(
                splits=arrays["splits"].astype(np.intp),
                edges=arrays["edges"].astype(np.float32),
                tables=arrays["tables"].astype(np.float32),
                usual=arrays["usual"].astype(np.float32),
                limit=float(arrays["limit"]),
            )
    except NO_WEIGHTS as error:
        raise ModelFileError(f"{str(path)!r} holds no weights of images") from error


@cache
def shipped() -> NoiseModel:
    """The model that comes with this release."""
    return load(WEIGHTS)


KEPT_MODELS = 4  # models whose usual codes are cached


@dataclass(frozen=True, slots=True)
class Changes:
    """The logit of noise, and how much it depends on each group of features."""

    logit: float
    groups: dict[str, float]
    """For each group of features, how much less the logit would be if the group had its usual values."""


FEATURES_OF_GROUP = {
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
    "page": tuple(name for name in ABOUT if name != "has head image"),
    "site": OF_SITE,
}
"""The groups of features that are explained together."""
_IS_OF_GROUP = np.array([[name in names for name in FEATURES] for names in FEATURES_OF_GROUP.values()])
_POWERS = (1 << np.arange(SPLITS)).astype(np.uint8)


@lru_cache(maxsize=KEPT_MODELS)
def _usual_codes(model: NoiseModel) -> tuple[Ints, Ints, list[str]]:
    """For each group that a tree asks, and each tree: a mask of the splits that do not ask the group, and the code of
    the other splits if the group has its usual values; and the names of these groups.
    """
    splits_of_group = {
        name: asks_group
        for name, asks_group in zip(FEATURES_OF_GROUP, _IS_OF_GROUP[:, model.splits], strict=True)
        if asks_group.any()
    }
    is_of_group = np.stack([*splits_of_group.values()])
    if_usual = is_of_group & (model.usual[model.splits] > model.edges)
    return _POWERS @ ~is_of_group, _POWERS @ if_usual, [*splits_of_group]


def changes(model: NoiseModel, features: Floats) -> Changes:
    """The model's result for the features of an image, and the groups of features it depends on."""
    kept, if_usual, groups = _usual_codes(model)
    codes = _POWERS @ (features.take(model.splits) > model.edges)
    logit, *others = model.votes(np.concatenate([codes[None], codes & kept | if_usual])).tolist()
    return Changes(logit=logit, groups={name: logit - other for name, other in zip(groups, others, strict=True)})
