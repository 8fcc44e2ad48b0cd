"""How the learned model of pictures is made, from links that readers labelled.

1. Each labelled link is found on its page as a crawl would see it (.sighted).
2. Boosted trees of three splits (LightGBM) become the tables of crawler.noise.learned_model. What more pages of a site
   show is never taken for less like noise.
3. The limit: trees of four fifths of the sites judge the last fifth, each fifth in turn. It is the probability over
   which no more of the content lies than may be lost. Sites are never split.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from crawler.noise import learned_model
from crawler.noise.learned_model import CODES, SIGNS, SPLITS, Floats, Model
from crawler.training.examples import parts_of
from crawler.training.labelled_images import Sighted
from crawler.training.teacher import Tell
from crawler.translation.message import counted

TREES, RATE = 400, 0.05
FOLDS = 5
LOST = 0.015
"""The share of the content that may be lost, where the limit is chosen."""
LEAST = 1e-9
"""How far from certainty the limit stays."""
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


class Trained(NamedTuple):
    """A model, and what sites that it was not shown say of it."""

    model: Model
    likely: Floats
    """The probability of noise of each link, by trees that had not seen its site."""


class TooFewError(Exception):
    """There is not enough to learn from; the message is one sentence for the user."""


def train(found: Sequence[Sighted], seed: int, tell: Tell) -> Trained:
    """The model that labelled links teach, with its limit."""
    part_of = parts_of({one.site for one in found}, FOLDS, seed)
    parts = [part_of[one.site] for one in found]
    _check(found, parts)
    likely = np.zeros(len(found))
    for part in range(FOLDS):
        tell(f"part {part + 1} of {FOLDS}")
        model = _fit([one for one, its in zip(found, parts, strict=True) if its != part], seed)
        for at, one in enumerate(found):
            if parts[at] == part:
                likely[at] = judged(model, one)
    content = np.array([not one.label.is_noise for one in found])
    tell("all parts")
    return Trained(replace(_fit(found, seed), limit=limit(likely[content])), likely)


def _check(found: Sequence[Sighted], parts: Sequence[int]) -> None:
    """Raise a TooFewError unless each part has links, and the others noise and content."""
    for part in range(FOLDS):
        known = {one.label.is_noise for one, its in zip(found, parts, strict=True) if its != part}
        if part not in parts or len(known) < 2:
            raise TooFewError(
                f"labels are wanted of at least {FOLDS} sites, with content on several of them and noise on several; "
                f"these are of {counted(len({one.site for one in found}), 'site')}"
            )


def limit(of_content: Floats) -> float:
    """The probability over which no more than LOST of the content lies; between 0 and 1 in any case."""
    found = np.sort(of_content)[int(np.ceil((1 - LOST) * len(of_content))) - 1]
    return float(np.clip(found, LEAST, 1 - LEAST))


def judged(model: Model, link: Sighted) -> float:
    """How likely a link is noise: as likely as where it stands in the best place."""
    return learned_model.probability(float(model.logits(np.stack(link.signs)).min()))


def _fit(found: Sequence[Sighted], seed: int) -> Model:
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
    return Model(splits.T, _rounded_down(edges.T), tables.astype(np.float32), np.median(rows, 0), 0.5)


def _rounded_down(edges: Floats) -> Floats:
    """Edges in half the bits: signs have no more, and are over them when they were over those of the trees."""
    found = edges.astype(np.float32)
    return np.where(found > edges, np.nextafter(found, np.float32(-np.inf)), found)


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
