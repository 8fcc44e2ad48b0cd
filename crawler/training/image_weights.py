"""The training of the weights of the learned model of pictures that are shipped, and their card.

The model is judged as it comes out of its file, in half precision: on links of validation, but not on those of sites
that it was trained on. The weights and their card are put in place, both or none.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from crawler.evaluation.gold import KINDS, ImageLabel
from crawler.evaluation.image_metrics import COLUMNS, NOTE, ImageScore, ImageTable, cells, figures, of_kind
from crawler.noise.learned_model import SIGNS, Floats, NoiseModel, load, save
from crawler.training import image_model
from crawler.training.card import card
from crawler.training.examples import Tell
from crawler.training.image_model import METHOD, ImageExample, find_images, judged, train
from crawler.translation.message import counted

KNOWN = frozenset("wcxb_dev fundus andy_articles magic_article magic_forum zh_handcrafted trafilatura_snippets".split())
"""Sets that the weights of the extractor were trained on, as its own card says."""
UNKNOWN = "validation, sets that the extractor was not trained on"
BINS = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1)
BIN_HEAD = ("probability of noise", "links", "mean", "noise")


class JudgedLinks(NamedTuple):
    """Labelled links, and the probability of noise of each, by a model that had not seen its site."""

    found: Sequence[ImageExample]
    likely: Floats
    labels: int
    """The number of labels, those of pictures that are not on their page included."""
    fingerprint: str


class ImageTraining(NamedTuple):
    """A trained model, with all that its card says."""

    training: JudgedLinks
    validation: JudgedLinks
    model: NoiseModel
    seed: int
    size: int
    """Bytes of the weights."""


class CalibrationBin(NamedTuple):
    """The links whose probabilities of noise lie within two limits."""

    low: float
    high: float
    links: int
    likely: float
    """The mean probability of noise."""
    noise: float
    """The share of noise."""


def tables(made: ImageTraining) -> list[ImageTable]:
    """The figures in groups, those of sites kept apart first."""
    held, validation = _links(made, made.training), _links(made, made.validation)
    unknown = [link for link in validation if link.set not in KNOWN]
    groups = {"sites kept apart": held, "validation": validation}
    if len(unknown) < len(validation):
        groups[UNKNOWN] = unknown
    found = [ImageTable("all", {name: figures(links) for name, links in groups.items() if links})]
    for name, links in (("sites kept apart", held), ("validation", validation)):
        sets, kinds = sorted({link.set for link in links}), {link.kind for link in links}
        by_set = {one: figures([link for link in links if link.set == one]) for one in sets}
        by_kind = {one: figures(of_kind(links, one), intervals=False) for one in KINDS if one in kinds}
        found += [ImageTable(f"{name}, set", by_set), ImageTable(f"{name}, kind against the other label", by_kind)]
    return [one for one in found if one.rows]


def calibration(given: JudgedLinks) -> list[CalibrationBin]:
    """The bins with links, from the lowest probability."""
    noise = np.array([one.label.is_noise for one in given.found], bool)
    found = []
    for low, high in pairwise(BINS):
        is_here = (given.likely >= low) & ((given.likely < high) | (high == BINS[-1]))
        if count := int(is_here.sum()):
            found.append(
                CalibrationBin(low, high, count, float(given.likely[is_here].mean()), float(noise[is_here].mean()))
            )
    return found


def calibrations(made: ImageTraining) -> dict[str, list[CalibrationBin]]:
    """The bins of sites kept apart and of validation, where there are links."""
    both = {"sites kept apart": made.training, "validation": made.validation}
    return {name: calibration(given) for name, given in both.items() if given.found}


def bin_cells(one: CalibrationBin) -> tuple[str, ...]:
    """A bin as text, in the order of BIN_HEAD."""
    return f"{one.low:g} to {one.high:g}", f"{one.links:,}", f"{one.likely:.3f}", f"{one.noise:.3f}"


def _links(made: ImageTraining, given: JudgedLinks) -> list[ImageScore]:
    return [
        ImageScore(
            one.label.set, one.site, one.pages, one.label.is_noise, one.label.kind, likely, likely > made.model.limit
        )
        for one, likely in zip(given.found, given.likely.tolist(), strict=True)
    ]


def image_card(made: ImageTraining) -> str:
    """The card of a release."""
    unseen = ", of sites that were not trained on"
    given = (("Trained on", made.training, ""), ("Validation", made.validation, unseen))
    groups = [
        (one.title, ("", *COLUMNS), [(name, *cells(row)) for name, row in one.rows.items()]) for one in tables(made)
    ]
    bins = [(f"calibration, {name}", BIN_HEAD, map(bin_cells, some)) for name, some in calibrations(made).items()]
    return card(
        "image_card.md",
        made=made,
        given=[(title, one, which, _sets(one.found), _kinds(one.found)) for title, one, which in given if one.found],
        note=NOTE,
        method=METHOD,
        known=", ".join(sorted(KNOWN)),
        tables=[*groups, *bins],
        signs=len(SIGNS),
        model=image_model,
    )


def _sets(found: Sequence[ImageExample]) -> list[tuple[object, ...]]:
    """Of each set its name and how many links, noise, unsure labels and sites there are."""
    rows: list[tuple[object, ...]] = []
    for name in sorted({one.label.set for one in found}):
        mine = [one for one in found if one.label.set == name]
        noise, unsure = sum(one.label.is_noise for one in mine), sum(one.label.unsure for one in mine)
        rows.append((name, len(mine), noise, unsure, len({one.site for one in mine})))
    return rows


def _kinds(found: Sequence[ImageExample]) -> list[str]:
    """How many links there are of each kind; the pictures of crawls have none."""
    kinds = Counter(one.label.kind for one in found)
    return [f"{kind} {kinds[kind]:,}" for kind in KINDS if kinds[kind]]


class LabelFiles(NamedTuple):
    """Labels, and the files of the pages that they are of."""

    labels: Sequence[ImageLabel]
    files: Sequence[Path]


class ImageTrainingPlan(NamedTuple):
    """What to train on, and where the weights go."""

    training: LabelFiles
    validation: LabelFiles
    output: Path
    seed: int
    jobs: int
    of_state: list[ImageExample] | None = None
    """Labelled pictures of crawls, if they are to be learned from too."""

    @property
    def card(self) -> Path:
        """The path of the card, beside the weights."""
        return self.output.with_suffix(".md")


def write_image_weights(plan: ImageTrainingPlan, tell: Tell) -> ImageTraining:
    """Train, and write the weights with their card beside them."""
    found = find_images(*plan.training, plan.jobs, tell) if plan.training.labels or plan.of_state is None else []
    labels, given = list(plan.training.labels), len(plan.training.labels)
    if plan.of_state is not None:
        found += plan.of_state
        labels += [one.label for one in plan.of_state]
        given += len(plan.of_state)
    trained = train(found, plan.seed, tell)
    known = {one.site for one in found}
    validation = find_images(*plan.validation, plan.jobs, tell) if plan.validation.labels else []
    apart = [one for one in validation if one.site not in known]
    if len(apart) < len(validation):
        tell(f"{counted(len(validation) - len(apart), 'link')} of validation left out, of sites that are trained on")
    plan.output.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=plan.output.parent, prefix=".train-") as folder:
        weights, text = Path(folder, "weights.npz"), Path(folder, "card.md")
        save(trained.model, weights)
        model = load(weights)
        made = ImageTraining(
            training=JudgedLinks(found, trained.likely, given, fingerprint(labels)),
            validation=JudgedLinks(
                apart,
                np.array([judged(model, one) for one in apart]),
                len(plan.validation.labels),
                fingerprint(plan.validation.labels),
            ),
            model=model,
            seed=plan.seed,
            size=weights.stat().st_size,
        )
        text.write_text(image_card(made), encoding="utf-8")
        weights.replace(plan.output)
        text.replace(plan.card)
    return made


def fingerprint(labels: Iterable[ImageLabel]) -> str:
    """16 hex digits that the same labels share, in any order."""
    digest = blake2b(digest_size=8)
    for label in sorted(labels):
        digest.update(repr(tuple(label)).encode())
    return digest.hexdigest()
