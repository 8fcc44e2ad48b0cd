"""The learned model: small decision trees over the features of an image and the counts of its site; their votes are
added.

    logit = sum over the trees t of tables_t[code_t],  code_t = 1 [x_a > edge_a] + 2 [x_b > edge_b] + 4 [x_c > edge_c]
    p(noise) = 1 / (1 + e^-logit)

Each tree t has three splits, each a feature (a, b, c) and its edge. The code of a tree has a bit for each split:
whether the feature is above the edge. A table says what the tree adds for each code. So an image is judged by one
comparison of vectors and one look-up. `winnow noise train` made the weights; CARD.md beside them describes their
training data and their results.

`changes` tells what a verdict depends on: how much it would change if the features of a group had their usual values.
With usual values, the bits of the splits that test a feature of the group are the same for all images. They are
computed once (`_usual_codes`), so that one more look-up serves all groups:

    change_g = sum over the trees t that test a feature of g of tables_t[code_t] - tables_t[code_t, those of g as usual]
"""

import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from math import exp, log1p
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from crawler.errors import ModelFileError
from crawler.noise import image_features
from crawler.noise.image_evidence import Evidence, Sighting
from crawler.noise.li2006 import fold
from crawler.noise.page_features import OF_PAGE

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
WEIGHTS = Path(__file__).with_name("weights.npz")
SPLITS = 3  # splits of a tree
CODES = 1 << SPLITS  # possible codes of a tree
# The features that are counts of the image's site.
OF_SITE = ("site pages", "pages with it", "share of other pages with it", "entropy", "keyword")
FEATURES = (*image_features.FEATURES, *OF_SITE)
INDEX_OF_FEATURE = {name: index for index, name in enumerate(FEATURES)}
UNKNOWN = -1.0  # the value of a feature if there is no data for it
MOST_LOGIT = 30.0  # the largest logit, positive or negative
# The exceptions that numpy and zipfile raise if a file does not hold weights.
LOAD_ERRORS = (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile, zlib.error)


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """The trees of a model, with the medians of its features and its limit."""

    splits: Ints
    """The indices of the features that the trees test: a row for each split, a column for each tree."""
    edges: Floats
    """The edges of these splits, in the same rows and columns."""
    tables: Floats
    """What each tree adds: a row for each tree, a column for each code."""
    usual: Floats
    """The median of each feature, which is its usual value."""
    limit: float
    """The probability above which an image is noise, chosen so that content is kept."""

    def logits(self, features: Floats) -> Floats:
        """The logit of noise of each row of features."""
        return self.logits_of_codes(_POWERS @ (features[:, self.splits] > self.edges))

    def logits_of_codes(self, codes: Ints) -> Floats:
        """The logit of noise of each row of codes; a row has a code for each tree."""
        offsets = np.arange(0, self.tables.size, CODES)
        logits: Floats = self.tables.ravel().take(codes + offsets).sum(1, dtype=np.float64)
        return logits


def features_of(sighting: Sighting, evidence: Evidence, entropy: float | None, keyword: float | None) -> Floats:
    """The features of an image: from its page, and from the other pages of its site."""
    pages = evidence.pages
    shown = evidence.pages_by_address.get(fold(sighting.url), 0)
    other_pages = max(0, shown - 1)  # pages other than this one that show the image
    share_of_others = UNKNOWN
    if pages > 1:
        share_of_others = other_pages / (pages - 1)
    if entropy is None:
        entropy = UNKNOWN
    if keyword is None:
        keyword = UNKNOWN
    of_site = (log1p(pages), log1p(other_pages), share_of_others, entropy, keyword)
    return np.array((*sighting.features, *of_site), np.float32)


def probability(logit: float) -> float:
    """The probability of noise for a logit.

    >>> probability(0.0)
    0.5
    """
    return 1 / (1 + exp(-min(max(logit, -MOST_LOGIT), MOST_LOGIT)))


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
    except LOAD_ERRORS as error:
        raise ModelFileError(f"{str(path)!r} holds no weights of images") from error


@cache
def shipped() -> NoiseModel:
    """The model that comes with this release."""
    return load(WEIGHTS)


KEPT_MODELS = 4  # models whose usual codes are cached


@dataclass(frozen=True, slots=True)
class LogitChanges:
    """The logit of noise of an image, and how much it depends on each group of features."""

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
    "page": tuple(name for name in OF_PAGE if name != "has head image"),
    "site": OF_SITE,
}
"""The groups of features that are explained together; the keys are those of verdict_reasons.GROUPS."""
_IS_OF_GROUP = np.array([[name in names for name in FEATURES] for names in FEATURES_OF_GROUP.values()])
_POWERS = (1 << np.arange(SPLITS)).astype(np.uint8)
"""The value of each split in a code."""


class _UsualCodes(NamedTuple):
    """For each group that the trees test, a row of bits with a column for each tree."""

    other_bits: Ints
    """The bits of the splits that do not test the group, as a mask."""
    usual_bits: Ints
    """The bits of the splits that test the group, as they are if the group has its usual values."""
    groups: list[str]
    """The names of the groups."""


@lru_cache(maxsize=KEPT_MODELS)
def _usual_codes(model: NoiseModel) -> _UsualCodes:
    splits_of_group = {
        name: tests_group
        for name, tests_group in zip(FEATURES_OF_GROUP, _IS_OF_GROUP[:, model.splits], strict=True)
        if tests_group.any()
    }
    is_of_group = np.stack([*splits_of_group.values()])
    is_over_if_usual = is_of_group & (model.usual[model.splits] > model.edges)
    return _UsualCodes(_POWERS @ ~is_of_group, _POWERS @ is_over_if_usual, [*splits_of_group])


def changes(model: NoiseModel, features: Floats) -> LogitChanges:
    """The model's result for the features of an image, and the groups of features it depends on."""
    other_bits, usual_bits, groups = _usual_codes(model)
    codes = _POWERS @ (features.take(model.splits) > model.edges)
    # First the codes of the image, then for each group a row of the codes as if the group had its usual values.
    all_codes = np.concatenate([codes[None], codes & other_bits | usual_bits])
    logit, *usual_logits = model.logits_of_codes(all_codes).tolist()
    changes_of_groups = {name: logit - usual for name, usual in zip(groups, usual_logits, strict=True)}
    return LogitChanges(logit=logit, groups=changes_of_groups)
