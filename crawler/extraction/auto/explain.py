"""Why the model takes a block for main text, or does not: by what would change without some of its signs.

The signs of each group in turn are set to what is usual, for all blocks of the page at once, as blocks are judged by
what stands around them, too. The groups without which the verdict would be least sure are its reasons (.reasons).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crawler.explanation import Reason, weightiest
from crawler.extraction.auto import BALANCE, FAVOURS, network, sight, signs
from crawler.extraction.auto.choice import best_f1
from crawler.extraction.auto.model import Model, judge, judged, shipped, together, tokens
from crawler.extraction.auto.reasons import GROUPS, BlockReason, JudgedBlock, group_of
from crawler.extraction.auto.sight import Floats
from crawler.page.page import Page

MOST_EXPLAINED = 1_000
"""Blocks of a page from which on none is explained: the page would be judged ten times over."""
_SURE = 1e-6


class Explained(NamedTuple):
    """What the model says of a block."""

    probability: float
    """That it is main text."""
    reasons: tuple[Reason, ...]
    """Why this is over the limit, or under it; the weightiest first, none where the page has too many blocks."""


class Explanation(NamedTuple):
    """What the model says of a page."""

    limit: float
    """How likely a block must be main text to be kept: a share of the best F1 that can be expected."""
    best: float
    """That F1."""
    share: float
    blocks: tuple[Explained, ...]


def explain(page: Page, favour: str = BALANCE, model: Model | None = None) -> Explanation:
    """Why each block of a page is main text or not; of the first blocks, where there are too many to be judged."""
    share = FAVOURS[favour]
    if not page.blocks:
        return Explanation(0.0, 0.0, share, ())
    if len(page.blocks) > MOST_EXPLAINED:
        judgement = page.once(judged) if model is None else judge(page, model)
        best = best_f1(judgement.probabilities, judgement.tokens)
        unexplained = tuple(Explained(chance, ()) for chance in judgement.probabilities.tolist())
        return Explanation(share * best, best, share, unexplained)
    model = model or shipped()
    seen = sight.sight(page)
    levels, outline = signs.ranges(seen), seen.outline
    nest = network.nest(levels, outline.starts, outline.ends, outline.paths[seen.homes])
    matrix, names = signs.signs(seen, model.vocabulary.scores(seen), levels)
    first = model.networks[0]
    normal = np.clip((matrix - first.means[:, None]) * first.scales[:, None], -network.LIMIT, network.LIMIT).T

    def likely(rows: Floats) -> Floats:
        return together(model.networks, network.hidden_of(model.networks, rows, nest))[1]

    found = likely(normal)
    best = best_f1(found, tokens(seen))
    limit, chances = share * best, found.tolist()
    changes = _changes(names, normal, likely, found)
    blocks = []
    for at, chance in enumerate(chances):
        block = JudgedBlock(dict(zip(names, matrix[:, at].tolist(), strict=True)).__getitem__, chance >= limit)
        mine = {group: float(change[at]) for group, change in changes.items()}
        reasons = weightiest(GROUPS, mine, block) or (Reason(BlockReason.ALL_TOGETHER, {}),)
        blocks.append(Explained(chance, reasons))
    return Explanation(limit, best, share, tuple(blocks))


def _changes(names: list[str], normal: Floats, likely: Callable[[Floats], Floats], found: Floats) -> dict[str, Floats]:
    """For each group how much less the logit of each block would be if the group were as usual."""
    groups = np.array([group_of(name) for name in names])
    changes: dict[str, Floats] = {}
    for group in GROUPS:
        usual = normal.copy()
        usual[:, groups == group] = 0
        changes[group] = _logit(found) - _logit(likely(usual))
    return changes


def _logit(values: Floats) -> Floats:
    sure = np.clip(values.astype(np.float64), _SURE, 1 - _SURE)
    return np.log(sure / (1 - sure))
