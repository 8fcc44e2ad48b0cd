"""How the learned model of pictures is made, from links that readers labelled.

1. Each labelled link is found on its page as a crawl would see it: its signs, with the evidence of its site's pages.
2. Boosted trees of three splits (LightGBM) become the tables of crawler.noise.learned. What more pages of a site show
   is never taken for less like noise.
3. The limit: trees of four fifths of the sites judge the last fifth, each fifth in turn. It is the probability over
   which no more of the content lies than may be lost. Sites are never split.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crawler.extraction import EXTRACTORS
from crawler.noise import learned
from crawler.noise.evidence import Evidence
from crawler.noise.labels import Label
from crawler.noise.learned import CODES, SIGNS, SPLITS, Floats, Model
from crawler.noise.sighting import Sighting, sightings
from crawler.noise.verdict import scores_of
from crawler.page import Page
from crawler.training.examples import parts_of
from crawler.training.sets import OPEN
from crawler.training.teacher import Tell
from crawler.urls import absolute, site

METHOD = "auto"
"""The extractor that tells the main text."""
TREES, RATE = 400, 0.05
FOLDS = 5
LOST = 0.015
"""The share of the content that may be lost, where the limit is chosen."""
UNSURE = 0.5
"""What a link weighs of which its reader was not sure."""
RISING = ("pages with it", "share of other pages with it")
PARAMETERS: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": RATE,
    "num_leaves": SPLITS + 1,
    "min_data_in_leaf": 15,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "monotone_constraints": [int(name in RISING) for name in SIGNS],
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
}


class Link(NamedTuple):
    """A labelled link as it is found on its page."""

    label: Label
    site: str
    signs: tuple[Floats, ...]
    """Of each place where the picture stands."""


class Trained(NamedTuple):
    """A model, and what sites that it was not shown say of it."""

    model: Model
    likely: Floats
    """The probability of noise of each link, by trees that had not seen its site."""


def links(labels: Sequence[Label], paths: Iterable[Path], tell: Tell) -> list[Link]:
    """The labelled links that are found on the pages of some files."""
    wanted: defaultdict[str, dict[str, Label]] = defaultdict(dict)
    for one in labels:
        wanted[one.page][one.img] = one
    sites = {site(page.url) for name, page in _pages(paths) if name in wanted}
    evidence: defaultdict[str, Evidence] = defaultdict(Evidence)
    seen: list[tuple[Label, str, list[Sighting]]] = []
    for name, page in _pages(paths):
        if (home := site(page.url)) in sites:
            shown = sightings(page, page.once(EXTRACTORS[METHOD]))
            evidence[home].see(shown)
            for img, label in wanted.get(name, {}).items():
                if copies := [one for one in shown if one.url == img]:
                    seen.append((label, home, copies))
    tell(f"{len(seen)} of {len(labels)} links found, on {len(sites)} sites")
    return [Link(label, home, tuple(_signs(one, evidence[home]) for one in copies)) for label, home, copies in seen]


def _pages(paths: Iterable[Path]) -> Iterator[tuple[str, Page]]:
    """The pages of some files with their ids, in order."""
    for path in paths:
        with OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                found = json.loads(line)
                # A page without an address is a site by itself.
                url = absolute("", str(found.get("url"))) or f"http://{path.name}-{number}/"
                yield str(found.get("id", number)), Page.from_html(found["html"], url)


def _signs(sighting: Sighting, evidence: Evidence) -> Floats:
    scores = scores_of(sighting, evidence)
    return learned.signs_of(sighting, evidence, scores.entropy, scores.keyword)


def train(found: Sequence[Link], seed: int) -> Trained:
    """The model that labelled links teach, with its limit."""
    part_of = parts_of({one.site for one in found}, FOLDS, seed)
    likely = np.zeros(len(found))
    for part in range(FOLDS):
        known = [one for one in found if part_of[one.site] != part]
        model = _fit(known, seed)
        for at, one in enumerate(found):
            if part_of[one.site] == part:
                likely[at] = judged(model, one)
    content = np.array([not one.label.is_noise for one in found])
    model = replace(_fit(found, seed), limit=limit(likely[content]))
    return Trained(model, likely)


def limit(of_content: Floats) -> float:
    """The probability over which no more than LOST of the content lies."""
    return float(np.sort(of_content)[int(np.ceil((1 - LOST) * len(of_content))) - 1])


def judged(model: Model, link: Link) -> float:
    """How likely a link is noise: as likely as where it stands in the best place."""
    return learned.probability(float(model.logits(np.stack(link.signs)).min()))


def _fit(found: Sequence[Link], seed: int) -> Model:
    """The trees, without a limit yet."""
    import lightgbm

    rows = np.stack([signs for one in found for signs in one.signs])
    noise = np.array([one.label.is_noise for one in found for _ in one.signs], np.float32)
    weights = [(UNSURE if one.label.unsure else 1.0) / len(one.signs) for one in found for _ in one.signs]
    data = lightgbm.Dataset(
        rows, label=noise, weight=np.array(weights), feature_name=[f"s{at}" for at in range(rows.shape[1])]
    )
    booster = lightgbm.train({**PARAMETERS, "seed": seed}, data, TREES)
    trees = [_tables(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    splits, edges, tables = (np.array(column) for column in zip(*trees, strict=True))
    return Model(splits.T, edges.T.astype(np.float32), tables.astype(np.float32), np.median(rows, 0), 0.5)


def _tables(root: dict[str, Any]) -> tuple[list[int], list[float], list[float]]:
    """The splits of a tree, and what it adds for each way they can go."""
    nodes: list[dict[str, Any]] = []

    def gather(node: dict[str, Any]) -> None:
        if "split_feature" in node:
            node["place"] = len(nodes)
            nodes.append(node)
            gather(node["left_child"])
            gather(node["right_child"])

    def value(node: dict[str, Any], code: int) -> float:
        while "split_feature" in node:
            node = node["right_child" if code >> node["place"] & 1 else "left_child"]
        return float(node["leaf_value"])

    gather(root)
    rest = SPLITS - len(nodes)  # a tree may find nothing more to split
    splits = [node["split_feature"] for node in nodes] + [0] * rest
    edges = [node["threshold"] for node in nodes] + [0.0] * rest
    return splits, edges, [value(root, code) for code in range(CODES)]
