"""Why the learned model says what it says: by what would change.

The signs of each group in turn are set to what is usual, and the groups without which the verdict would be least sure
are its reasons. What a tree then adds is known beforehand for each of its codes, so that all groups together are one
look-up more:

    change_g = sum over the trees t that ask a sign of g of tables_t[code_t] - tables_t[code_t, those of g as usual]
"""

from functools import lru_cache
from math import expm1
from typing import NamedTuple

import numpy as np

from crawler.noise import place
from crawler.noise.evidence import Evidence
from crawler.noise.learned import CODES, OF_SITE, SIGNS, SPLITS, Floats, Ints, Model

TELLING = 0.25
"""How much the logit must change for a group of signs to be a reason."""
MOST_REASONS = 3
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
GROUPS = tuple(_OF_GROUP)
_GROUP = np.array([next(at for at, names in enumerate(_OF_GROUP.values()) if name in names) for name in SIGNS])
_AT = {name: at for at, name in enumerate(SIGNS)}
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
    for at, group in enumerate(GROUPS):
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


def reasons(changed: Changes, signs: Floats, is_noise: bool, evidence: Evidence) -> tuple[str, ...]:
    """Why a picture is noise, or content, in words; the weightiest reason first."""
    sense = 1 if is_noise else -1
    telling = [(sense * change, group) for group, change in changed.groups.items() if sense * change > TELLING]
    return tuple(_said(group, is_noise, signs, evidence) for _, group in sorted(telling, reverse=True)[:MOST_REASONS])


def _said(group: str, is_noise: bool, signs: Floats, evidence: Evidence) -> str:
    """A group of signs in words."""

    def told(name: str) -> float:
        return float(signs[_AT[name]])

    if group == "place":
        if told("in main container") and (told("next block main") or told("last block main")):
            return "it stands in the main text"
        return "it stands apart from the main text" if is_noise else "it stands near the main text"
    if group == "site":
        shown = round(expm1(told("pages with it"))) + 1
        return f"{min(shown, max(1, evidence.pages))} of {max(1, evidence.pages)} pages of the site show it"
    if group == "size":
        known = told("width") > 0 and told("height") > 0
        width, height = expm1(told("width")), expm1(told("height"))
        return f"its size is {width:.0f} x {height:.0f}" if known else "its size is not given"
    if group == "target":
        leads = [words for name, words in _LEADS.items() if told(name)]
        return leads[0] if leads else "it links to another page" if told("linked") else "it is no link"
    return _SAID[group][not is_noise]


_LEADS = {
    "to picture": "it links to a picture",
    "to itself": "it links to its own page",
    "to the front": "it links to a front page",
    "to another site": "it links to another site",
}
_SAID = {
    "elements": ("the elements around it are such as hold noise", "the elements around it are such as hold content"),
    "words": ("what is written beside it is not of the page", "what is written beside it is of the page"),
    "address": ("its address is such as noise has", "its address is such as content has"),
    "head": ("the page gives other pictures as its own", "the page gives it as its own picture"),
    "page": ("pages like this show much noise", "pages like this show much content"),
}
