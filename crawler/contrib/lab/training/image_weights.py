"""Trains the shipped weights of the learned image model, and writes them with their card.

A link is an image on a page, by the address of the image. The model counts a link as noise if its probability of noise
is above the limit.

1. Boosted trees of three splits (LightGBM) become the tables of crawler.noise.learned_model. Their thresholds are drawn
   at random (extremely randomized trees, https://doi.org/10.1007/s10994-006-6226-1), which is better on held-out sites
   than the best thresholds. The probability of noise never falls if more pages of the site show the image.
2. The limit: trees trained on four fifths of the sites judge the last fifth, each fifth in turn. The limit is the
   lowest probability at which at most LOST of all content is lost, and SITES_KEPT of the sites keep KEPT_OF_SITE of
   their content.
3. The model is judged on validation links of sites that it was not trained on, after it was saved and loaded, because
   this rounds weights to half precision. The weights and their card are put in place, both or neither.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, astuple, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from crawler.contrib.lab.evaluation.gold import KINDS, ImageLabel
from crawler.contrib.lab.evaluation.image_metrics import (
    BIN_HEAD,
    COLUMNS,
    NOTE,
    CalibrationBin,
    ImageTable,
    ScoredLink,
    bin_cells,
    by_kind,
    by_set,
    calibration,
    cells,
    figures,
)
from crawler.contrib.lab.training.card import card, put_in_place
from crawler.contrib.lab.training.examples import Tell, TooFewError, parts_of
from crawler.contrib.lab.training.image_examples import METHOD, ImageExample, find_images
from crawler.noise import learned_model
from crawler.noise.learned_model import CODES, FEATURES, SPLITS, Floats, NoiseModel, load, save
from crawler.translation.message import counted

TREES = 400
RATE = 0.15
"""The learning rate."""
FOLDS = 5
"""The parts of the sites, each of which is judged by trees trained on the others."""
LOST = 0.012
"""The share of all content that may be lost when the limit is chosen."""
KEPT_OF_SITE = 0.99
"""The share of its content that a site should keep."""
SITES_KEPT = 0.95
"""The share of the sites that must keep KEPT_OF_SITE of their content."""
MARGIN = 1e-9
"""The least distance of the limit from 0 and from 1."""
UNSURE = 0.5
"""The weight of a link whose labeller was unsure."""
RISING = ("pages with it", "share of other pages with it")
"""The features with which the probability of noise never falls."""
PARAMETERS: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": RATE,
    "num_leaves": SPLITS + 1,
    "min_data_in_leaf": 15,
    "extra_trees": True,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "monotone_constraints": [int(name in RISING) for name in FEATURES],
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}
KNOWN = frozenset(
    "marked wcxb_dev fundus andy_articles magic_article magic_forum zh_handcrafted trafilatura_snippets dragnet canola"
    " harvest_forums crf_id mercury_rules known_markup recipes_partial manuals".split()
)
"""Sets that `auto` was trained on, according to its card. Features of images depend on the main text, which `auto` may
find better on these pages than on others.
"""
UNKNOWN = "validation, sets that the extractor was not trained on"
"""The name of the row for validation sets that are not in KNOWN."""


@dataclass(frozen=True, slots=True)
class TrainedImageModel:
    """A model, and the probabilities from which its limit was chosen."""

    model: NoiseModel
    likely: Floats
    """The probability of noise of each link, by trees that were not trained on its site."""


def train(links: Sequence[ImageExample], seed: int, tell: Tell) -> TrainedImageModel:
    """The model trained on labelled links, with its limit."""
    part_of = parts_of({link.site for link in links}, FOLDS, seed)
    parts = [part_of[link.site] for link in links]
    _check(links, parts)

    # Judge each part by a model trained on the other parts.
    likely = np.zeros(len(links))
    for part in range(FOLDS):
        tell(f"part {part + 1} of {FOLDS}")
        model = _fit([link for link, its_part in zip(links, parts, strict=True) if its_part != part], seed)
        for index, link in enumerate(links):
            if parts[index] == part:
                likely[index] = noise_probability(model, link)

    # Choose the limit, and train on all parts.
    content_by_site: dict[str, list[float]] = {}
    for link, probability in zip(links, likely.tolist(), strict=True):
        if not link.label.is_noise:
            content_by_site.setdefault(link.site, []).append(probability)
    tell("all parts")
    model = replace(_fit(links, seed), limit=limit([*content_by_site.values()]))
    return TrainedImageModel(model=model, likely=likely)


def _check(links: Sequence[ImageExample], parts: Sequence[int]) -> None:
    """Raise a TooFewError if a part has no links, or the other parts have no noise or no content."""
    for part in range(FOLDS):
        kinds = {link.label.is_noise for link, its_part in zip(links, parts, strict=True) if its_part != part}
        if part not in parts or len(kinds) < 2:
            raise TooFewError(
                f"labels of at least {FOLDS} sites are needed, with content on several of them and noise on several; "
                f"these are of {counted(len({link.site for link in links}), 'site')}"
            )


def limit(content_of_sites: Sequence[Sequence[float]]) -> float:
    """The limit that keeps enough of all content (LOST), and enough content of enough sites; always between 0 and 1.

    `content_of_sites` has a list for each site: the probabilities of noise of its content.
    """
    of_all = _at_share([likely for content in content_of_sites for likely in content], 1 - LOST)
    of_sites = _at_share([_at_share(content, KEPT_OF_SITE) for content in content_of_sites], SITES_KEPT)
    return float(np.clip(max(of_all, of_sites), MARGIN, 1 - MARGIN))


def _at_share(values: Sequence[float], share: float) -> float:
    """The smallest value such that at least this share of the values are not above it."""
    return sorted(values)[int(np.ceil(share * len(values))) - 1]


def noise_probability(model: NoiseModel, link: ImageExample) -> float:
    """The probability of noise of a link: the lowest one of its occurrences on the page."""
    return learned_model.probability(float(model.logits(np.stack(link.features)).min()))


def _fit(links: Sequence[ImageExample], seed: int) -> NoiseModel:
    """A model trained on these links; its limit is a placeholder."""
    import lightgbm

    rows = np.stack([row for link in links for row in link.features])
    noise = np.array([link.label.is_noise for link in links for _ in link.features], np.float32)
    # The occurrences of a link share its weight.
    weights = [(UNSURE if link.label.unsure else 1.0) / len(link.features) for link in links for _ in link.features]
    data = lightgbm.Dataset(rows, label=noise, weight=np.array(weights))
    booster = lightgbm.train({**PARAMETERS, "seed": seed}, data, TREES)
    trees = [_splits_and_table(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    splits, edges, tables = (np.array(column) for column in zip(*trees, strict=True))
    return NoiseModel(
        splits=splits.T,
        edges=_rounded_down(edges.T),
        tables=tables.astype(np.float32),
        usual=np.median(rows, 0),
        limit=0.5,
    )


def _rounded_down(edges: Floats) -> Floats:
    """Thresholds in single precision, rounded down, so that features above a threshold stay above it."""
    rounded = edges.astype(np.float32)
    return np.where(rounded > edges, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def _splits_and_table(root: dict[str, Any]) -> tuple[list[int], list[float], list[float]]:
    """The features and thresholds of a tree's splits, and its value for each combination of their outcomes.

    A combination is a code: its bit n is 1 if the feature of split n exceeds the threshold.
    """
    splits: list[dict[str, Any]] = []

    def number_splits(node: dict[str, Any]) -> None:
        if "split_feature" in node:
            node["number"] = len(splits)
            splits.append(node)
            number_splits(node["left_child"])
            number_splits(node["right_child"])

    def value(node: dict[str, Any], code: int) -> float:
        while "split_feature" in node:
            is_above = code >> node["number"] & 1
            node = node["right_child" if is_above else "left_child"]
        return float(node["leaf_value"])

    number_splits(root)
    missing = SPLITS - len(splits)  # a tree may find no further split; then both outcomes have the same value
    features = [split["split_feature"] for split in splits] + [0] * missing
    edges = [split["threshold"] for split in splits] + [0.0] * missing
    return features, edges, [value(root, code) for code in range(CODES)]


@dataclass(frozen=True, slots=True)
class JudgedLinks:
    """Labelled links, and for each its probability of noise, by a model that was not trained on the link's site."""

    links: Sequence[ImageExample]
    likely: Floats
    """The probability of noise of each link."""
    label_count: int
    """The number of labels, including those of images that were not found on their page."""
    fingerprint: str
    """Identifies the labels."""


@dataclass(frozen=True, slots=True)
class ImageTraining:
    """A trained model, with the values for its card."""

    training: JudgedLinks
    validation: JudgedLinks
    model: NoiseModel
    seed: int
    size: int
    """Bytes of the weights."""


def tables(training: ImageTraining) -> list[ImageTable]:
    """The figures in groups, first those of held-out sites."""
    held_out = _links(training, training.training)
    validation = _links(training, training.validation)
    unknown = [link for link in validation if link.label.set not in KNOWN]
    groups = {"held-out sites": held_out, "validation": validation}
    if len(unknown) < len(validation):  # otherwise the two groups are the same
        groups[UNKNOWN] = unknown
    image_tables = [ImageTable(title="all", rows={name: figures(links) for name, links in groups.items() if links})]
    for name, links in (("held-out sites", held_out), ("validation", validation)):
        image_tables.append(ImageTable(title=f"{name}, set", rows=by_set(links)))
        image_tables.append(
            ImageTable(title=f"{name}, kind against the other label", rows=by_kind(links, intervals=False))
        )
    return [table for table in image_tables if table.rows]


def calibrations(training: ImageTraining) -> dict[str, list[CalibrationBin]]:
    """The bins of the links of held-out sites, and of validation; a group without links is left out."""
    groups = {"held-out sites": training.training, "validation": training.validation}
    return {
        name: calibration(judged_links.likely, [link.label.is_noise for link in judged_links.links])
        for name, judged_links in groups.items()
        if judged_links.links
    }


def _links(training: ImageTraining, judged_links: JudgedLinks) -> list[ScoredLink]:
    return [
        ScoredLink(
            label=link.label, site=link.site, pages=link.pages, score=likely, skipped=likely > training.model.limit
        )
        for link, likely in zip(judged_links.links, judged_links.likely.tolist(), strict=True)
    ]


def image_card(training: ImageTraining) -> str:
    """The card in Markdown. The template also shows constants of this module, which it knows as `model`."""
    sources = (
        ("Trained on", training.training, ""),
        ("Validation", training.validation, ", of sites that were not trained on"),
    )
    groups = [
        (table.title, ("", *COLUMNS), [(name, *cells(row)) for name, row in table.rows.items()])
        for table in tables(training)
    ]
    bins = [(f"calibration, {name}", BIN_HEAD, map(bin_cells, rows)) for name, rows in calibrations(training).items()]
    return card(
        "image_card.md",
        training=training,
        sources=[
            (title, judged_links, origin, _sets(judged_links.links), _kinds(judged_links.links))
            for title, judged_links, origin in sources
            if judged_links.links
        ],
        note=NOTE,
        method=METHOD,
        known=", ".join(sorted(KNOWN)),
        tables=[*groups, *bins],
        features=len(FEATURES),
        model=sys.modules[__name__],
    )


def _sets(links: Sequence[ImageExample]) -> list[tuple[object, ...]]:
    """For each set its name, and the numbers of links, noise, unsure labels and sites."""
    rows: list[tuple[object, ...]] = []
    for name in sorted({link.label.set for link in links}):
        links_of_set = [link for link in links if link.label.set == name]
        noise = sum(link.label.is_noise for link in links_of_set)
        unsure = sum(link.label.unsure for link in links_of_set)
        rows.append((name, len(links_of_set), noise, unsure, len({link.site for link in links_of_set})))
    return rows


def _kinds(links: Sequence[ImageExample]) -> list[str]:
    """The number of links of each kind; the images of crawls have no kind."""
    kinds = Counter(link.label.kind for link in links)
    return [f"{kind} {kinds[kind]:,}" for kind in KINDS if kinds[kind]]


@dataclass(frozen=True, slots=True)
class LabelFiles:
    """Labels, and the files with their pages."""

    labels: Sequence[ImageLabel]
    files: Sequence[Path]


@dataclass(frozen=True, slots=True)
class ImageTrainingPlan:
    """What to train on, and where the weights go."""

    training: LabelFiles
    validation: LabelFiles
    output: Path
    seed: int
    jobs: int
    _: KW_ONLY
    crawl_images: list[ImageExample] | None = None
    """Labelled images of crawls, in addition to those of files; None if only files are used."""

    @property
    def card(self) -> Path:
        """The path of the card, beside the weights."""
        return self.output.with_suffix(".md")


def write_image_weights(plan: ImageTrainingPlan, tell: Tell) -> ImageTraining:
    """Train, and write the weights with their card beside them."""
    # Find the links to train on, in files and in crawls.
    links: list[ImageExample] = []
    if plan.training.labels:
        links = find_images(plan.training.labels, plan.training.files, plan.jobs, tell)
    labels = list(plan.training.labels)
    for link in plan.crawl_images or ():
        links.append(link)
        labels.append(link.label)
    trained = train(links, plan.seed, tell)

    # Validate only on sites that the model was not trained on.
    known_sites = {link.site for link in links}
    validation: list[ImageExample] = []
    if plan.validation.labels:
        validation = find_images(plan.validation.labels, plan.validation.files, plan.jobs, tell)
    held_out = [link for link in validation if link.site not in known_sites]
    if len(held_out) < len(validation):
        left_out = counted(len(validation) - len(held_out), "link")
        tell(f"{left_out} of validation left out, of sites that are trained on")

    # Save the model, and judge it as it is loaded from the file.
    with put_in_place(plan.output, plan.card) as (weights_file, card_file):
        save(trained.model, weights_file)
        model = load(weights_file)
        likely = np.array([noise_probability(model, link) for link in held_out])
        training = ImageTraining(
            training=JudgedLinks(
                links=links, likely=trained.likely, label_count=len(labels), fingerprint=fingerprint(labels)
            ),
            validation=JudgedLinks(
                links=held_out,
                likely=likely,
                label_count=len(plan.validation.labels),
                fingerprint=fingerprint(plan.validation.labels),
            ),
            model=model,
            seed=plan.seed,
            size=weights_file.stat().st_size,
        )
        card_file.write_text(image_card(training), encoding="utf-8")
    return training


def fingerprint(labels: Iterable[ImageLabel]) -> str:
    """16 hex digits that identify the labels, in any order."""
    digest = blake2b(digest_size=8)
    for label in sorted(labels):
        digest.update(repr(astuple(label)).encode())
    return digest.hexdigest()
