"""How well pictures are told apart: noise that is removed, and content that is kept.

- AUC: how often, of a noise and a content link, the noise has the higher score; one half where they have the same.
- Noise removed at 98%: the share of noise above the lowest score that leaves 98% of the content below. Links of one
  score go together.
- By the model's own threshold: the share of content that is kept; NRecall and NPrecision of Li 2006, the noise that is
  skipped over all noise and over all that is skipped (the paper prints the latter as something that is always 1); the
  share of adverts that are skipped.

Links of one site are alike, so the 95% intervals are by a bootstrap that draws sites and not links: as many as there
are, with replacement, 2000 times from the same seed. Of a single site nothing can be said.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

Numbers: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Interval = tuple[float, float]

KEPT = 0.98
DRAWS = 2000
SEED = 2026
MIDDLE = (2.5, 97.5)  # percent
AT_ONCE = 2_000_000  # numbers of a matrix
ROUNDING = 1e-9
ADVERT = "advert"


class Link(NamedTuple):
    """A picture on a page, of which is known what it is, and what a model said of it."""

    set: str
    site: str
    pages: int
    """Of its site."""
    is_noise: bool
    kind: str
    score: float
    skipped: bool


class Figures(NamedTuple):
    """What a model is worth; None where there is nothing to divide by."""

    links: int
    noise: int
    auc: float | None
    auc_interval: Interval | None
    removed: float | None
    """Share of noise above the score that keeps 98% of content."""
    removed_interval: Interval | None
    kept: float | None
    kept_interval: Interval | None
    recall: float | None
    precision: float | None
    adverts: float | None


class _Ranked:
    """Links by their scores, those of one score together, each weighing as much as its site was drawn."""

    def __init__(self, links: Sequence[Link]) -> None:
        scores = np.array([link.score for link in links])
        self.order = np.argsort(scores, kind="stable")
        self.starts = np.flatnonzero(np.r_[True, np.diff(scores[self.order]) > 0])
        self.noise = np.array([link.is_noise for link in links], dtype=np.float64)[self.order]

    def curves(self, weights: Numbers) -> tuple[Numbers, Numbers]:
        """A row a draw: the noise and the content of each score, the lowest first."""
        drawn = weights[:, self.order]
        noise, content = drawn * self.noise, drawn * (1 - self.noise)
        return np.add.reduceat(noise, self.starts, axis=1), np.add.reduceat(content, self.starts, axis=1)


def figures(links: Sequence[Link], intervals: bool = True) -> Figures:
    """What a model is worth on these links."""
    noise = [link for link in links if link.is_noise]
    content = [link for link in links if not link.is_noise]
    skipped = [link for link in links if link.skipped]
    adverts = [link for link in noise if link.kind == ADVERT]
    auc, removed, kept = (_only(values) for values in _drawn(links, np.ones((1, len(links)))))
    spread = _intervals(links) if intervals else (None, None, None)
    return Figures(
        links=len(links),
        noise=len(noise),
        auc=auc,
        auc_interval=spread[0],
        removed=removed,
        removed_interval=spread[1],
        kept=kept,
        kept_interval=spread[2],
        recall=_share(sum(link.skipped for link in noise), len(noise)),
        precision=_share(len(skipped) - sum(link.skipped for link in content), len(skipped)),
        adverts=_share(sum(link.skipped for link in adverts), len(adverts)),
    )


def of_kind(links: Sequence[Link], kind: str) -> list[Link]:
    """The links of a kind, and all that are of the other label."""
    labels = {link.is_noise for link in links if link.kind == kind}
    return [link for link in links if link.kind == kind or link.is_noise not in labels]


def _drawn(links: Sequence[Link], weights: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """For each draw AUC, noise removed and content kept; not a number where there is nothing to divide by."""
    if not links:
        nothing = np.full(len(weights), np.nan)
        return nothing, nothing, nothing
    noise, content = _Ranked(links).curves(weights)
    all_noise, all_content = noise.sum(axis=1), content.sum(axis=1)
    below = np.cumsum(content, axis=1)
    won = (noise * (below - content / 2)).sum(axis=1)
    above = all_content[:, None] - below + content
    enough = above <= (1 - KEPT) * all_content[:, None] + ROUNDING
    cut = np.where(enough, all_noise[:, None] - np.cumsum(noise, axis=1) + noise, 0).max(axis=1)
    passed = np.array([not (link.is_noise or link.skipped) for link in links], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        removed = np.where(all_content > 0, cut / all_noise, np.nan)
        return won / (all_noise * all_content), removed, weights @ passed / all_content


def _intervals(links: Sequence[Link]) -> tuple[Interval | None, Interval | None, Interval | None]:
    """The 95% intervals of the same."""
    sites = {site: place for place, site in enumerate(sorted({link.site for link in links}))}
    if len(sites) < 2:
        return None, None, None
    places = [sites[link.site] for link in links]
    draw = np.random.default_rng(SEED)
    rows = max(1, AT_ONCE // len(links))
    parts = []
    for done in range(0, DRAWS, rows):
        times = draw.multinomial(len(sites), [1 / len(sites)] * len(sites), size=min(rows, DRAWS - done))
        parts.append(np.stack(_drawn(links, times[:, places].astype(np.float64))))
    auc, removed, kept = np.concatenate(parts, axis=1)
    return _middle(auc), _middle(removed), _middle(kept)


def _middle(values: Numbers) -> Interval | None:
    values = values[np.isfinite(values)]
    if not len(values):
        return None
    low, high = np.percentile(values, MIDDLE)
    return float(low), float(high)


def _only(values: Numbers) -> float | None:
    value = float(values[0])
    return value if np.isfinite(value) else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
