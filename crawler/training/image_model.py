"""The training of the learned model of pictures, from links that readers labelled.

1. Each labelled link is found on its page as a crawl would see it, with the evidence of all pages of its site. Labelled
   pictures of crawls are taken as the crawl saw them, with what it has counted.
2. Boosted trees of three splits (LightGBM) become the tables of crawler.noise.learned_model. What more pages of a site
   show is never taken for less like noise.
3. The limit: trees of four fifths of the sites judge the last fifth, each fifth in turn. It is the probability over
   which no more of the content lies than may be lost. Sites are never split.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, select
from sqlalchemy.engine import URL

from crawler.archives.records import Broken, BrokenError, Raw, ReadResult
from crawler.bulk.image_judging import FILE, NAMELESS, SavedPage, page_of, read_all
from crawler.bulk.image_judging import evidence as evidence_of
from crawler.bulk.parallel import DIED
from crawler.evaluation.gold import ImageLabel, PendingLabels, set_name
from crawler.extraction import EXTRACTORS
from crawler.labels.labels import NOISE, Label, all_labels
from crawler.noise import learned_model
from crawler.noise.evidence import Evidence
from crawler.noise.learned_model import CODES, SIGNS, SPLITS, Floats, NoiseModel, signs_of
from crawler.noise.li2006 import description
from crawler.noise.sighting import Sighting
from crawler.noise.signs import sightings
from crawler.noise.verdict import scores_of
from crawler.store.crawl_tables import crawl, site
from crawler.store.images import PICTURE
from crawler.store.page_tables import evidence
from crawler.store.read_only import reading
from crawler.training.examples import Tell, TooFewError, parts_of
from crawler.translation.message import counted
from crawler.urls.parsing import site as site_of

METHOD = "auto"
"""The extractor that tells the main text."""
SET = "crawl {}"
"""The name of the labels of a crawl as a set."""
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


class ImageExample(NamedTuple):
    """A labelled link that was found on its page."""

    label: ImageLabel
    site: str
    """Of its page; a page without an address is a site by itself."""
    pages: int
    """Of the site."""
    signs: tuple[Floats, ...]
    """Of each place where the picture stands."""
    words: tuple[str, ...] = ()
    """The words that describe it, at its first place."""


def find_images(labels: Sequence[ImageLabel], files: Sequence[Path], jobs: int, tell: Tell) -> list[ImageExample]:
    """The labelled links that are found on the pages of some files."""
    counts = evidence_of(read_all(files), jobs, lambda: tell(DIED), NAMELESS)
    waiting = PendingLabels(labels, files)
    found = [one for line in read_all(files) for one in _of_line(line, waiting, counts, tell)]
    sites = {one.site for one in found}
    tell(f"{len(found):,} of {counted(len(labels), 'labelled link')} found, on pages of {counted(len(sites), 'site')}")
    return found


def _of_line(
    line: ReadResult, waiting: PendingLabels, counts: Mapping[str, Evidence], tell: Tell
) -> Iterator[ImageExample]:
    """The labelled links of the page of a line; a broken line is told."""
    if isinstance(line, Broken):
        tell(f"{line.place}: {line.why}")
    if not isinstance(line, Raw):
        return
    try:
        saved = page_of(line, NAMELESS)
    except BrokenError as error:
        tell(f"{line.place}: {error}")
        return
    if saved.id not in waiting.pages:
        return
    shown: dict[str, list[Sighting]] = {}
    for one in sightings(saved.page, EXTRACTORS[METHOD](saved.page)):
        shown.setdefault(one.url, []).append(one)
    site, count = _site(saved, line), counts.get(saved.site) or Evidence()
    for label in waiting.take(line.head[FILE], saved.id, shown):
        copies = shown[label.img]
        places = tuple(_signs(one, count) for one in copies)
        yield ImageExample(label, site, count.pages, places, description(copies[0]))


def _site(saved: SavedPage, line: Raw) -> str:
    """The site of a page, which does not depend on where its file lies."""
    return f"{set_name(Path(line.head[FILE]))} {saved.id}" if saved.page.url == NAMELESS else saved.site


def _signs(sighting: Sighting, count: Evidence) -> Floats:
    """The signs of a picture: how its page shows it, and what was counted of its site."""
    scores = scores_of(sighting, count)
    return signs_of(sighting, count, scores.entropy, scores.keyword)


def labelled_pictures(url: URL, name: str | None, tell: Tell) -> list[ImageExample]:
    """The pictures that people labelled in the state's database, of one crawl or of all."""
    counts: dict[tuple[str, str], Evidence] = {}
    with reading(url) as connection:
        found = [_of_label(connection, label, counts) for label in all_labels(connection, name, PICTURE)]
    sites = {one.site for one in found}
    tell(f"{counted(len(found), 'labelled picture')} to learn from, of {counted(len(sites), 'site')}")
    return found


def _of_label(connection: Connection, label: Label, counts: dict[tuple[str, str], Evidence]) -> ImageExample:
    sighting = Sighting.of(label.detail)
    name = site_of(sighting.page)
    key = label.crawl, name
    if key not in counts:
        counts[key] = Evidence()
        for record in _records(connection, *key):
            counts[key].add(Evidence.of(record))
    labelled = ImageLabel(SET.format(label.crawl), sighting.page, sighting.url, label.value == NOISE, "")
    return ImageExample(labelled, name, counts[key].pages, (_signs(sighting, counts[key]),), description(sighting))


def _records(connection: Connection, crawl_name: str, site_name: str) -> Iterator[str]:
    """The evidence rows of a site in a crawl."""
    rows = select(evidence.c.counts).join(site, site.c.id == evidence.c.site_id)
    rows = rows.join(crawl, crawl.c.id == site.c.crawl_id).where(crawl.c.name == crawl_name, site.c.name == site_name)
    yield from connection.execute(rows.order_by(evidence.c.id)).scalars()


class TrainedImageModel(NamedTuple):
    """A model, and the probabilities by which its limit was chosen."""

    model: NoiseModel
    likely: Floats
    """The probability of noise of each link, by trees that had not seen its site."""


def train(found: Sequence[ImageExample], seed: int, tell: Tell) -> TrainedImageModel:
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
    return TrainedImageModel(replace(_fit(found, seed), limit=limit(likely[content])), likely)


def _check(found: Sequence[ImageExample], parts: Sequence[int]) -> None:
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


def judged(model: NoiseModel, link: ImageExample) -> float:
    """How likely a link is noise: as likely as where it stands in the best place."""
    return learned_model.probability(float(model.logits(np.stack(link.signs)).min()))


def _fit(found: Sequence[ImageExample], seed: int) -> NoiseModel:
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
    return NoiseModel(splits.T, _rounded_down(edges.T), tables.astype(np.float32), np.median(rows, 0), 0.5)


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
