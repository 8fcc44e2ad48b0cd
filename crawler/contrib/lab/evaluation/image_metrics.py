"""Measures how well a model tells noise from content, on labelled images, which are called links here.

A link is the address of an image on one page. A higher score means that a link is more likely to be noise. Links that
the model judges as noise are skipped, the others are kept.

- AUC: the share of pairs of noise and content in which the noise has the higher score; a tie counts one half.
- Noise removed at 98%: the share of noise at or above the lowest score below which 98% of the content lies. Links with
  the same score are not separated.
- kept: the share of content that is kept.
- sites: the share of sites that keep 99% of their content.
- NRecall and NPrecision of Li 2006: the skipped noise as a share of all noise, and of all skipped links. (With the
  formula as it is printed in the paper, NPrecision would always be 1.)
- adverts: the share of adverts that are skipped.

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
from crawler.contrib.lab.evaluation.significance import Interval, Numbers, bootstrap_draws, middle_interval
from crawler.reports.html_page import aligned

CONTENT_KEPT = 0.98
"""The share of content that must be kept when removed noise is measured."""
KEPT_OF_SITE = 0.99
"""The share of its content that a site must keep to be counted."""
MOST_NUMBERS = 2_000_000
"""The most numbers in one matrix of bootstrap draws, which limits memory."""
ROUNDING = 1e-9
"""A difference below this is a rounding error."""
ADVERT = "advert"
"""The kind of adverts, whose skipped share is a figure of its own."""
MANY_PAGES = 10
"""A site with at least this many pages counts as large."""
COLUMNS = "links noise AUC removed@98% kept sites NRecall NPrecision adverts".split()
"""The heads of the figures, explained in NOTE."""
BINS = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1)
"""The limits between the bins of a calibration, which compares the probabilities of noise with the shares of noise."""
BIN_HEAD = ("probability of noise", "links", "mean", "noise")
NOTE = (
    "AUC, removed@98% (noise removed at 98% of content kept) and kept (content, at the model's own threshold) with 95% "
    "intervals by bootstrap over sites; sites (that keep 99% of their content), NRecall and NPrecision (noise skipped "
    "over all noise, over all skipped) and adverts (skipped) at the model's own threshold."
)


@dataclass(frozen=True, slots=True)
class ScoredLink:
    """A link with the score of one model; a ScoredImage has the scores of all models."""

    label: ImageLabel
    site: str
    pages: int
    """How many pages of its site were read."""
    score: float
    skipped: bool
    """Whether the model judged it as noise."""


@dataclass(frozen=True, slots=True)
class ImageFigures:
    """The figures of a model on some links. A figure that would be a division by zero is None."""

    links: int
    noise: int
    """How many of the links are noise by their label."""
    auc: float | None
    auc_interval: Interval | None
    removed: float | None
    """Share of noise removed at 98% of content kept."""
    removed_interval: Interval | None
    kept: float | None
    """Share of content that is kept."""
    kept_interval: Interval | None
    sites: float | None
    """Share of the sites with content that keep KEPT_OF_SITE of it."""
    recall: float | None
    """NRecall."""
    precision: float | None
    """NPrecision."""
    adverts: float | None
    """Share of adverts skipped."""


class _LinksByScore:
    """Links in the order of their scores, to sum the weights of links with the same score."""

    def __init__(self, links: Sequence[ScoredLink]) -> None:
        scores = np.array([link.score for link in links])
        self.order = np.argsort(scores, kind="stable")
        # Where the links of each distinct score start.
        self.starts = np.flatnonzero(np.r_[True, np.diff(scores[self.order]) > 0])
        self.noise = np.array([link.label.is_noise for link in links], dtype=np.float64)[self.order]

    def noise_and_content(self, weights: Numbers) -> tuple[Numbers, Numbers]:
        """Two matrices with a column for each distinct score, the lowest first: the weight of the noise that has this
        score, and the weight of the content.

        They have a row for each row of `weights`, which has a weight for each link.
        """
        ordered_weights = weights[:, self.order]
        noise = ordered_weights * self.noise
        content = ordered_weights * (1 - self.noise)
        return np.add.reduceat(noise, self.starts, axis=1), np.add.reduceat(content, self.starts, axis=1)


def figures(links: Sequence[ScoredLink], intervals: bool = True) -> ImageFigures:
    """The figures of a model on these links."""
    noise = [link for link in links if link.label.is_noise]
    content = [link for link in links if not link.label.is_noise]
    skipped = [link for link in links if link.skipped]
    adverts = [link for link in noise if link.label.kind == ADVERT]
    auc, removed, kept = (_only_value(values) for values in _weighted_figures(links, np.ones((1, len(links)))))
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


def of_kind(links: Sequence[ScoredLink], kind: str) -> list[ScoredLink]:
    """The links of a kind, and all links with the other label. With adverts, which are noise, these are all content."""
    labels = {link.label.is_noise for link in links if link.label.kind == kind}
    return [link for link in links if link.label.kind == kind or link.label.is_noise not in labels]


def _weighted_figures(links: Sequence[ScoredLink], weights: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """AUC, removed noise and kept content for each row of weights; NaN if a figure would be a division by zero.

    A row has a weight for each link: how often its site is drawn in the bootstrap, or 1.
    """
    if not links:
        nothing = np.full(len(weights), np.nan)
        return nothing, nothing, nothing
    noise, content = _LinksByScore(links).noise_and_content(weights)
    all_noise = noise.sum(axis=1)
    all_content = content.sum(axis=1)

    # Each noise wins against the content with lower scores; a tie counts one half.
    content_up_to = np.cumsum(content, axis=1)
    won = (noise * (content_up_to - content / 2)).sum(axis=1)

    # The noise at or above each score, if little enough content is there. The lowest score that keeps enough content
    # removes most noise.
    noise_from = all_noise[:, None] - np.cumsum(noise, axis=1) + noise
    content_from = all_content[:, None] - content_up_to + content
    keeps_enough = content_from <= (1 - CONTENT_KEPT) * all_content[:, None] + ROUNDING
    removed_noise = np.where(keeps_enough, noise_from, 0).max(axis=1)

    is_kept_content = np.array([not (link.label.is_noise or link.skipped) for link in links], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        removed = np.where(all_content > 0, removed_noise / all_noise, np.nan)
        return won / (all_noise * all_content), removed, weights @ is_kept_content / all_content


def _intervals(links: Sequence[ScoredLink]) -> tuple[Interval | None, Interval | None, Interval | None]:
    """The intervals of AUC, removed noise and kept content; None with fewer than two sites."""
    column_of_site = {site: column for column, site in enumerate(sorted({link.site for link in links}))}
    if len(column_of_site) < 2:
        return None, None, None
    columns = [column_of_site[link.site] for link in links]
    # A link weighs as much as its site: the number of times that the site was drawn.
    parts = [
        np.stack(_weighted_figures(links, draws[:, columns].astype(np.float64)))
        for draws in bootstrap_draws(len(column_of_site), max(1, MOST_NUMBERS // len(links)))
    ]
    auc, removed, kept = np.concatenate(parts, axis=1)
    return _interval(auc), _interval(removed), _interval(kept)


def _interval(values: Numbers) -> Interval | None:
    """The interval of the values that are defined; None if none is."""
    defined = values[np.isfinite(values)]
    return middle_interval(defined) if len(defined) else None


def _only_value(values: Numbers) -> float | None:
    """The value of a single row of weights; None if it is undefined."""
    value = float(values[0])
    return value if np.isfinite(value) else None


def _sites_kept(content: Sequence[ScoredLink]) -> float | None:
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


def model_tables(images: Sequence[ScoredImage], names: Sequence[str]) -> list[ImageTable]:
    """The tables: all models; all models on large sites; and the first model by kind, and by set.

    `names` are the names of the models, in the order of `scores` in each image.
    """
    on_large_sites = [image for image in images if image.pages >= MANY_PAGES]
    links_of_first = _links(images, 0)
    return [
        ImageTable(title="model", rows=_models(images, names)),
        ImageTable(title=f"model, sites of {MANY_PAGES} pages or more", rows=_models(on_large_sites, names)),
        ImageTable(title=f"{names[0]}, kind against the other label", rows=by_kind(links_of_first)),
        ImageTable(title=f"{names[0]}, set", rows=by_set(links_of_first)),
    ]


def by_kind(links: Sequence[ScoredLink], intervals: bool = True) -> dict[str, ImageFigures]:
    """The figures of the links of each kind together with all links of the other label."""
    kinds = {link.label.kind for link in links}
    return {kind: figures(of_kind(links, kind), intervals) for kind in KINDS if kind in kinds}


def by_set(links: Sequence[ScoredLink]) -> dict[str, ImageFigures]:
    sets = sorted({link.label.set for link in links})
    return {name: figures([link for link in links if link.label.set == name]) for name in sets}


def text(tables: Iterable[ImageTable]) -> str:
    """The tables for a terminal, with NOTE below."""
    parts = []
    for table in tables:
        rows = [(table.title, *COLUMNS), *((name, *cells(row)) for name, row in table.rows.items())]
        parts.append("\n".join(aligned(rows, range(len(COLUMNS) + 1))))
    return "\n\n".join([*parts, NOTE])


def record(tables: Iterable[ImageTable], counts: dict[str, int]) -> str:
    """The tables as JSON, with the counts of labels."""
    rows_of_table = {table.title: {name: asdict(row) for name, row in table.rows.items()} for table in tables}
    return json.dumps({"labels": counts, "tables": rows_of_table}, ensure_ascii=False, indent=1) + "\n"


def _models(images: Sequence[ScoredImage], names: Sequence[str]) -> dict[str, ImageFigures]:
    return {name: figures(_links(images, model)) for model, name in enumerate(names)}


def _links(images: Sequence[ScoredImage], model: int) -> list[ScoredLink]:
    """The images with the score of the model that has this index."""
    return [
        ScoredLink(
            label=image.label,
            site=image.site,
            pages=image.pages,
            score=image.scores[model],
            skipped=image.skipped[model],
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
    """A figure and its interval; a dash stands for an undefined figure.

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
    """The bins that have links, the lowest first, from the probability of each link and whether it is noise."""
    is_noise = np.array(noise, bool)
    bins = []
    for low, high in pairwise(BINS):
        # The last bin includes its upper limit.
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
