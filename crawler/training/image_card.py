"""The card of a model of pictures: what it was trained on, and how it did. The same model has the same card."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crawler.evaluation.image_labels import KINDS
from crawler.evaluation.image_metrics import Link, figures, of_kind
from crawler.evaluation.image_tables import COLUMNS, NOTE, PictureTable, cells
from crawler.noise.learned_model import SIGNS, Floats, Model
from crawler.training import image_model
from crawler.training.card import Rows, table, written
from crawler.training.labelled_images import METHOD, Sighted
from crawler.translation.message import counted

KNOWN = frozenset("wcxb_dev fundus andy_articles magic_article magic_forum zh_handcrafted trafilatura_snippets".split())
"""Sets that the weights of the extractor were trained on, as its own card says."""
UNKNOWN = "validation, sets that the extractor was not trained on"
BINS = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1)
LIBRARIES = ("numpy", "lightgbm")
GIVEN = """\
## {title}

{labels} that readers labelled by hand (fingerprint {fingerprint}). Those that were found on their pages{which}:

{sets}

"""


class Given(NamedTuple):
    """Labelled links, and how likely a model that had not seen their sites finds each of them noise."""

    found: Sequence[Sighted]
    likely: Floats
    labels: int
    """With those of pictures that are not on their page."""
    fingerprint: str


class Made(NamedTuple):
    """A model, and all that is to be said of it."""

    training: Given
    validation: Given
    model: Model
    seed: int
    size: int
    """Bytes of the weights."""


class Bin(NamedTuple):
    """The links of which a model says about the same."""

    low: float
    high: float
    links: int
    likely: float
    """The mean probability of noise."""
    noise: float
    """The share that is noise."""


def tables(made: Made) -> list[PictureTable]:
    """The figures in groups, those of sites kept apart first."""
    held, validation = _links(made, made.training), _links(made, made.validation)
    unknown = [link for link in validation if link.set not in KNOWN]
    groups = {"sites kept apart": held, "validation": validation}
    if len(unknown) < len(validation):
        groups[UNKNOWN] = unknown
    found = [PictureTable("all", {name: figures(links) for name, links in groups.items() if links})]
    for name, links in (("sites kept apart", held), ("validation", validation)):
        sets, kinds = sorted({link.set for link in links}), {link.kind for link in links}
        by_set = {one: figures([link for link in links if link.set == one]) for one in sets}
        by_kind = {one: figures(of_kind(links, one), intervals=False) for one in KINDS if one in kinds}
        found += [PictureTable(f"{name}, set", by_set), PictureTable(f"{name}, kind against the other label", by_kind)]
    return [one for one in found if one.rows]


def calibration(given: Given) -> list[Bin]:
    """How much noise there is among links that are as likely noise, from the least likely; without what is empty."""
    noise = np.array([one.label.is_noise for one in given.found], bool)
    found = []
    for low, high in pairwise(BINS):
        is_here = (given.likely >= low) & ((given.likely < high) | (high == BINS[-1]))
        if count := int(is_here.sum()):
            found.append(Bin(low, high, count, float(given.likely[is_here].mean()), float(noise[is_here].mean())))
    return found


def calibrations(made: Made) -> dict[str, list[Bin]]:
    """The same of sites kept apart and of validation, whichever there is."""
    both = {"sites kept apart": made.training, "validation": made.validation}
    return {name: calibration(given) for name, given in both.items() if given.found}


def card(made: Made) -> str:
    """The card, in Markdown."""
    found: dict[str, Rows] = {
        one.title: (("", *COLUMNS), [(name, *cells(row)) for name, row in one.rows.items()]) for one in tables(made)
    }
    bins: dict[str, Rows] = {
        f"calibration, {name}": (BIN_HEAD, map(bin_cells, bins)) for name, bins in calibrations(made).items()
    }
    unseen = ", of sites that were not trained on"
    return written(
        "picture_card.md",
        LIBRARIES,
        {title[0].upper() + title[1:]: cut for title, cut in (found | bins).items()},
        made=made,
        given=_given("Trained on", made.training, "") + _given("Validation", made.validation, unseen),
        kept=1 - image_model.LOST,
        note=NOTE,
        method=METHOD,
        known=", ".join(sorted(KNOWN)),
        signs=len(SIGNS),
        rising=", ".join(image_model.RISING),
        pictures=image_model,
    )


def bin_cells(one: Bin) -> tuple[str, ...]:
    """A bin for people."""
    return f"{one.low:g} to {one.high:g}", f"{one.links:,}", f"{one.likely:.3f}", f"{one.noise:.3f}"


BIN_HEAD = ("probability of noise", "links", "mean", "noise")


def _links(made: Made, given: Given) -> list[Link]:
    return [
        Link(one.label.set, one.site, one.pages, one.label.is_noise, one.label.kind, likely, likely > made.model.limit)
        for one, likely in zip(given.found, given.likely.tolist(), strict=True)
    ]


def _given(title: str, given: Given, which: str) -> str:
    """What is said of labelled links; nothing where there are none."""
    if not given.found:
        return ""
    sets = table(("set", "links", "noise", "unsure", "sites"), _sets(given.found))
    labels = counted(given.labels, "link")
    said = GIVEN.format(title=title, labels=labels, fingerprint=given.fingerprint, which=which, sets=sets)
    kinds = Counter(one.label.kind for one in given.found)
    named = [f"{kind} {kinds[kind]:,}" for kind in KINDS if kinds[kind]]  # crawls' pictures have none
    return said + (f"Kinds: {', '.join(named)}.\n\n" if named else "")


def _sets(found: Sequence[Sighted]) -> Iterator[tuple[str, ...]]:
    for name in sorted({one.label.set for one in found}):
        mine = [one for one in found if one.label.set == name]
        counts = (
            len(mine),
            sum(one.label.is_noise for one in mine),
            sum(one.label.unsure for one in mine),
            len({one.site for one in mine}),
        )
        yield name, *(f"{count:,}" for count in counts)
