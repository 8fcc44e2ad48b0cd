"""Measures how well a model tells noise from content, on links of images.

- AUC: how often the noise of a pair of noise and content has the higher score; a tie counts one half.
- Noise removed at 98%: the share of noise above the lowest score that leaves 98% of the content below. Links with the
  same score are not separated.
- At the model's own threshold: the share of content that is kept; NRecall and NPrecision of Li 2006, which are the
  skipped noise as a share of all noise and of all skipped links (as printed in the paper, NPrecision would always be
  1); the share of adverts that are skipped; the share of sites that keep 99% of their content.

Links of one site are alike, so the 95% intervals come from a bootstrap that draws sites instead of links: as many as
there are, with replacement, 2000 times from the same seed. A single site gives no interval.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from crawler.contrib.lab.evaluation.gold import KINDS, ImageLabel, ScoredImage
from crawler.contrib.lab.evaluation.significance import Interval, Numbers, drawn, middle
from crawler.reports.html_page import aligned

KEPT = 0.98
"""The share of content at which removed noise is measured."""
KEPT_OF_SITE = 0.99
"""The share of its content that a site must keep to be counted."""
AT_ONCE = 2_000_000
"""Numbers of a matrix, to limit memory."""
ROUNDING = 1e-9
"""A difference below this is a rounding error."""
ADVERT = "advert"
MANY = 10
"""Pages from which a site counts as one with many pages."""
COLUMNS = "links noise AUC removed@98% kept sites NRecall NPrecision adverts".split()
BINS = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1)
"""The limits of the bins of a calibration."""
BIN_HEAD = ("probability of noise", "links", "mean", "noise")
NOTE = (
    "AUC, removed@98% (noise removed at 98% of content kept) and kept (content, at the model's own threshold) with 95% "
    "intervals by bootstrap over sites; sites (that keep 99% of their content), NRecall and NPrecision (noise skipped "
    "over all noise, over all skipped) and adverts (skipped) at the model's own threshold."
)


@dataclass(frozen=True, slots=True)
class ImageScore:
    """A labelled image on a page, with the score of one model."""

    label: ImageLabel
    site: str
    pages: int
    """How many pages its site has."""
    score: float
    skipped: bool
    """Whether the model called it noise."""


@dataclass(frozen=True, slots=True)
class ImageFigures:
    """The figures of a model; None if a figure would be a division by zero."""

    links: int
    noise: int
    auc: float | None
    auc_interval: Interval | None
    removed: float | None
    """Share of noise above the score that keeps 98% of content."""
    removed_interval: Interval | None
    kept: float | None
    kept_interval: Interval | None
    sites: float | None
    """Share of the sites with content that keep KEPT_OF_SITE of it."""
    recall: float | None
    precision: float | None
    adverts: float | None


class _Ranked:
    """Links grouped by score, to compute the curves of weighted links."""

    def __init__(self, links: Sequence[ImageScore]) -> None:
        scores = np.array([link.score for link in links])
        self.order = np.argsort(scores, kind="stable")
        self.starts = np.flatnonzero(np.r_[True, np.diff(scores[self.order]) > 0])
        self.noise = np.array([link.label.is_noise for link in links], dtype=np.float64)[self.order]

    def curves(self, weights: Numbers) -> tuple[Numbers, Numbers]:
        """The noise and the content of each score, the lowest first: a row for each draw, whose weights are given."""
        ordered_weights = weights[:, self.order]
        noise = ordered_weights * self.noise
        content = ordered_weights * (1 - self.noise)
        return np.add.reduceat(noise, self.starts, axis=1), np.add.reduceat(content, self.starts, axis=1)


def figures(links: Sequence[ImageScore], intervals: bool = True) -> ImageFigures:
    """The figures of a model on these links."""
    noise = [link for link in links if link.label.is_noise]
    content = [link for link in links if not link.label.is_noise]
    skipped = [link for link in links if link.skipped]
    adverts = [link for link in noise if link.label.kind == ADVERT]
    auc, removed, kept = (_only(values) for values in _weighted_figures(links, np.ones((1, len(links)))))
    auc_interval, removed_interval, kept_interval = _intervals(links) if intervals else (None, None, None)
    return ImageFigures(
        links=len(links),
        noise=len(noise),
        auc=auc,
        auc_interval=auc_interval,
        removed=removed,
        removed_interval=removed_interval,
        kept=kept,
        kept_interval=kept_interval,
        sites=_sites_kept(content),
        recall=_share(sum(link.skipped for link in noise), len(noise)),
        precision=_share(len(skipped) - sum(link.skipped for link in content), len(skipped)),
        adverts=_share(sum(link.skipped for link in adverts), len(adverts)),
    )


def of_kind(links: Sequence[ImageScore], kind: str) -> list[ImageScore]:
    """The links of a kind, and all links with the other label."""
    labels = {link.label.is_noise for link in links if link.label.kind == kind}
    return [link for link in links if link.label.kind == kind or link.label.is_noise not in labels]


def _weighted_figures(links: Sequence[ImageScore], weights: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """AUC, removed noise and kept content for each row of weights; NaN if a figure would be a division by zero."""
    if not links:
        nothing = np.full(len(weights), np.nan)
        return nothing, nothing, nothing
    noise, content = _Ranked(links).curves(weights)
    all_noise = noise.sum(axis=1)
    all_content = content.sum(axis=1)

    # Pairs in which the noise has the higher score.
    below = np.cumsum(content, axis=1)
    won = (noise * (below - content / 2)).sum(axis=1)

    # The noise from the lowest score on that leaves enough content below.
    above = all_content[:, None] - below + content
    is_enough = above <= (1 - KEPT) * all_content[:, None] + ROUNDING
    removed_noise = np.where(is_enough, all_noise[:, None] - np.cumsum(noise, axis=1) + noise, 0).max(axis=1)

    is_kept_content = np.array([not (link.label.is_noise or link.skipped) for link in links], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        removed = np.where(all_content > 0, removed_noise / all_noise, np.nan)
        return won / (all_noise * all_content), removed, weights @ is_kept_content / all_content


def _intervals(links: Sequence[ImageScore]) -> tuple[Interval | None, Interval | None, Interval | None]:
    sites = {site: place for place, site in enumerate(sorted({link.site for link in links}))}
    if len(sites) < 2:
        return None, None, None
    places = [sites[link.site] for link in links]
    parts = [
        np.stack(_weighted_figures(links, times[:, places].astype(np.float64)))
        for times in drawn(len(sites), max(1, AT_ONCE // len(links)))
    ]
    auc, removed, kept = np.concatenate(parts, axis=1)
    return _middle(auc), _middle(removed), _middle(kept)


def _middle(values: Numbers) -> Interval | None:
    values = values[np.isfinite(values)]
    return middle(values) if len(values) else None


def _only(values: Numbers) -> float | None:
    value = float(values[0])
    return value if np.isfinite(value) else None


def _sites_kept(content: Sequence[ImageScore]) -> float | None:
    """The share of sites that keep KEPT_OF_SITE of their content."""
    links_of_sites = Counter(link.site for link in content)
    skipped_of_sites = Counter(link.site for link in content if link.skipped)
    kept = [name for name, links in links_of_sites.items() if skipped_of_sites[name] <= (1 - KEPT_OF_SITE) * links]
    return _share(len(kept), len(links_of_sites))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True)
class ImageTable:
    """A table of figures, one row for each model, kind or set."""

    title: str
    rows: dict[str, ImageFigures]


def by_hand(images: Sequence[ScoredImage], names: Sequence[str]) -> list[ImageTable]:
    """The tables for labels by hand: all models, all models on large sites, and the first model by kind and by set."""
    many = [image for image in images if image.pages >= MANY]
    first = _links(images, 0)
    return [
        ImageTable(title="model", rows=_models(images, names)),
        ImageTable(title=f"model, sites of {MANY} pages or more", rows=_models(many, names)),
        ImageTable(title=f"{names[0]}, kind against the other label", rows=by_kind(first)),
        ImageTable(title=f"{names[0]}, set", rows=by_set(first)),
    ]


def by_kind(links: Sequence[ImageScore], intervals: bool = True) -> dict[str, ImageFigures]:
    """The figures of the links of each kind together with all links of the other label."""
    kinds = {link.label.kind for link in links}
    return {kind: figures(of_kind(links, kind), intervals) for kind in KINDS if kind in kinds}


def by_set(links: Sequence[ImageScore]) -> dict[str, ImageFigures]:
    sets = sorted({link.label.set for link in links})
    return {name: figures([link for link in links if link.label.set == name]) for name in sets}


def text(tables: Iterable[ImageTable]) -> str:
    parts = ([(table.title, *COLUMNS), *((name, *cells(row)) for name, row in table.rows.items())] for table in tables)
    return "\n\n".join([*("\n".join(aligned(rows, range(len(COLUMNS) + 1))) for rows in parts), NOTE])


def record(tables: Iterable[ImageTable], counts: dict[str, int]) -> str:
    rows_of_table = {table.title: {name: asdict(row) for name, row in table.rows.items()} for table in tables}
    return json.dumps({"labels": counts, "tables": rows_of_table}, ensure_ascii=False, indent=1) + "\n"


def _models(images: Sequence[ScoredImage], names: Sequence[str]) -> dict[str, ImageFigures]:
    return {name: figures(_links(images, row)) for row, name in enumerate(names)}


def _links(images: Sequence[ScoredImage], row: int) -> list[ImageScore]:
    return [
        ImageScore(
            label=image.label, site=image.site, pages=image.pages, score=image.scores[row], skipped=image.skipped[row]
        )
        for image in images
    ]


def cells(row: ImageFigures) -> list[str]:
    """The figures as text, in the order of COLUMNS."""
    return [
        f"{row.links:,}",
        f"{row.noise:,}",
        _spread(row.auc, row.auc_interval),
        _spread(row.removed, row.removed_interval),
        _spread(row.kept, row.kept_interval),
        _short(row.sites),
        _short(row.recall),
        _short(row.precision),
        _short(row.adverts),
    ]


def _spread(value: float | None, interval: Interval | None) -> str:
    """A figure and its interval.

    >>> _spread(0.91, (0.875, 1.0)), _spread(0.5, None), _spread(None, None)
    ('.910 (.875-1.000)', '.500', '-')
    """
    if interval is None:
        return _short(value)
    return f"{_short(value)} ({_short(interval[0])}-{_short(interval[1])})"


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    if value < 1:
        return f"{value:.3f}".removeprefix("0")
    return f"{value:.3f}"


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The links whose probability of noise lies between two limits."""

    low: float
    high: float
    links: int
    likely: float
    """The mean probability of noise."""
    noise: float
    """The share of noise."""


def calibration(likely: np.ndarray[Any, np.dtype[np.floating[Any]]], noise: Sequence[bool]) -> list[CalibrationBin]:
    """The bins of probabilities that have links, the lowest first."""
    is_noise = np.array(noise, bool)
    bins = []
    for low, high in pairwise(BINS):
        is_in_bin = (likely >= low) & ((likely < high) | (high == BINS[-1]))
        count = int(is_in_bin.sum())
        if count:
            bins.append(
                CalibrationBin(
                    low=low,
                    high=high,
                    links=count,
                    likely=float(likely[is_in_bin].mean()),
                    noise=float(is_noise[is_in_bin].mean()),
                )
            )
    return bins


def bin_cells(calibration_bin: CalibrationBin) -> tuple[str, ...]:
    """A bin as text, in the order of BIN_HEAD."""
    return (
        f"{calibration_bin.low:g} to {calibration_bin.high:g}",
        f"{calibration_bin.links:,}",
        f"{calibration_bin.likely:.3f}",
        f"{calibration_bin.noise:.3f}",
    )
