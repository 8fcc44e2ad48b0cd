"""The learned model: small trees that add up what the signs of a picture say, and what its site shows.

    logit = sum over the trees t of tables_t[code_t],  code_t = 1 [x_a > edge_a] + 2 [x_b > edge_b] + 4 [x_c > edge_c]
    p(noise) = 1 / (1 + e^-logit)

Each tree has three splits, each a sign and its edge; a table says what the tree adds for each way they can go. So a
picture is judged by one comparison of vectors and one look-up. `scrapy noise train` made the weights; CARD.md beside
them says of what, and how they do.

Why it says so is told by what would change: the signs of each group in turn are set to what is usual, and the groups
without which the verdict would be least sure are its reasons.
"""

import zlib
from functools import cache
from math import log1p
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from crawler.noise import place
from crawler.noise.evidence import Evidence
from crawler.noise.redundancy import fold
from crawler.noise.sighting import Sighting

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]
WEIGHTS = Path(__file__).with_name("weights.npz")
SPLITS = 3
"""Of a tree."""
CODES = 1 << SPLITS
"""The ways in which they can go."""
OF_SITE = ("site pages", "pages with it", "share of other pages with it", "entropy", "keyword")
SIGNS = (*place.SIGNS, *OF_SITE)
UNKNOWN = -1.0
"""Where a model of the paper has nothing to go by."""
TELLING = 0.25
"""How much the logit must change for a group of signs to be a reason."""
MOST_REASONS = 3
NO_WEIGHTS = (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile, zlib.error)


class WeightsError(Exception):
    """A file that holds no weights; the message is one sentence for the user."""


class Model(NamedTuple):
    """All that was learned."""

    splits: Ints
    """The signs that the trees ask: a column a tree."""
    edges: Floats
    tables: Floats
    """What each tree adds, by which of its splits the signs are over: a row a tree, a column a code."""
    usual: Floats
    """The median of each sign."""
    limit: float
    """The probability from which on a picture is noise, chosen so that content is kept."""

    def logits(self, signs: Floats) -> Floats:
        """The logit of noise of each row of signs."""
        codes = np.arange(0, self.tables.size, CODES)  # of each tree, where its table begins
        for power, (splits, edges) in enumerate(zip(self.splits, self.edges, strict=True)):
            codes = codes + ((signs.take(splits, 1) > edges) << power)
        found: Floats = self.tables.ravel().take(codes).sum(1)
        return found


def signs_of(sighting: Sighting, evidence: Evidence, entropy: float | None, keyword: float | None) -> Floats:
    """The signs of a picture: what its page tells of it, and what the other pages of its site say."""
    pages, shown = evidence.pages, evidence.shown.get(fold(sighting.url), 0)
    others = max(0, shown - 1)
    of_site = (
        log1p(pages),
        log1p(others),
        others / (pages - 1) if pages > 1 else UNKNOWN,
        UNKNOWN if entropy is None else entropy,
        UNKNOWN if keyword is None else keyword,
    )
    return np.array((*sighting.signs, *of_site), np.float32)


def probability(logit: float) -> float:
    """1 / (1 + e^-x).

    >>> probability(0.0)
    0.5
    """
    return float(1 / (1 + np.exp(-np.clip(logit, -30, 30))))


class Changes(NamedTuple):
    """The logit of noise, and what it hangs on."""

    logit: float
    groups: dict[str, float]
    """For each group of signs, how much less the logit would be if the group were as usual."""


def changes(model: Model, signs: Floats) -> Changes:
    """What a model says of the signs of a picture, and which of them it hangs on."""
    rows = np.concatenate([signs[None], np.where(_MASKS, model.usual, signs)])
    logits = model.logits(rows)
    return Changes(float(logits[0]), dict(zip(GROUPS, (logits[0] - logits[1:]).tolist(), strict=True)))


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
GROUPS = tuple(_OF_GROUP)
_MASKS = np.array([[name in names for name in SIGNS] for names in _OF_GROUP.values()])


def reasons(changed: Changes, signs: Floats, is_noise: bool, evidence: Evidence) -> tuple[str, ...]:
    """Why a picture is noise, or content, in words; the weightiest reason first."""
    sense = 1 if is_noise else -1
    telling = [(sense * change, group) for group, change in changed.groups.items() if sense * change > TELLING]
    told = dict(zip(SIGNS, signs.tolist(), strict=True))
    return tuple(_said(group, is_noise, told, evidence) for _, group in sorted(telling, reverse=True)[:MOST_REASONS])


def _said(group: str, is_noise: bool, told: dict[str, float], evidence: Evidence) -> str:
    """A group of signs in words."""
    if group == "place":
        if told["in main container"] and told["next block main"] + told["last block main"]:
            return "it stands in the main text"
        return "it stands apart from the main text" if is_noise else "it stands near the main text"
    if group == "site":
        shown = round(np.expm1(told["pages with it"])) + 1
        return f"{min(shown, max(1, evidence.pages))} of {max(1, evidence.pages)} pages of the site show it"
    if group == "size":
        known = told["width"] > 0 and told["height"] > 0
        size = f"{np.expm1(told['width']):.0f} x {np.expm1(told['height']):.0f}"
        return f"its size is {size}" if known else "its size is not given"
    if group == "target":
        leads = [words for name, words in _LEADS.items() if told[name]]
        return leads[0] if leads else "it links to another page" if told["linked"] else "it is no link"
    return _SAID[group][not is_noise]


_LEADS = {
    "to picture": "it links to a picture",
    "to itself": "it links to its own page",
    "to the front": "it links to a front page",
    "to another site": "it links to another site",
}
_SAID = {
    "elements": ("the elements around it are such as hold noise", "the elements around it are such as hold content"),
    "words": ("what is written beside it", "what is written beside it is of the page"),
    "address": ("its address is such as noise has", "its address is such as content has"),
    "head": ("the page gives other pictures as its own", "the page gives it as its own picture"),
    "page": ("pages like this show much noise", "pages like this show much content"),
}


def save(model: Model, path: Path) -> None:
    """Write a model to a file that `load` reads."""
    held: dict[str, Any] = {
        "splits": model.splits.astype(np.uint8),
        "edges": model.edges.astype(np.float32),
        "tables": model.tables.astype(np.float16),
        "usual": model.usual.astype(np.float32),
        "limit": np.float64(model.limit),
        "names": np.array(SIGNS),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, **held)


def load(path: Path) -> Model:
    """The model in a file, a WeightsError where it holds none that fits; nothing in it is run."""
    try:
        with np.load(path, allow_pickle=False) as held:
            if tuple(held["names"].tolist()) != SIGNS:
                raise ValueError("other signs")
            model = Model(
                held["splits"].astype(np.intp),
                held["edges"].astype(np.float32),
                held["tables"].astype(np.float32),
                held["usual"].astype(np.float32),
                float(held["limit"]),
            )
        trees = len(model.tables)
        shapes = ((model.splits, (SPLITS, trees)), (model.edges, (SPLITS, trees)), (model.tables, (trees, CODES)))
        if any(rows.shape != shape or not np.isfinite(rows).all() for rows, shape in shapes):
            raise ValueError("shapes")
        if model.usual.shape != (len(SIGNS),) or model.splits.max() >= len(SIGNS) or not 0 < model.limit < 1:
            raise ValueError("signs")
        return model
    except NO_WEIGHTS as error:
        raise WeightsError(f"{str(path)!r} holds no weights of pictures") from error


@cache
def shipped() -> Model:
    """The model that comes with this release."""
    return load(WEIGHTS)
