"""Trains template-svm: an SVM from pages with gold text, as in section 6 of Yan and Wang 2020.

A block is main text if most of its runs of four words (shingles) are in the gold. A block of fewer words may be in the
gold by chance, and is not used. There are far more blocks of noise than of main text, so the same number of each kind
is drawn. At most one block of each kind is drawn from a page, with a probability proportional to its length. This is
not in the paper. Without it, a page with a thousand comments or buttons would teach more than all other pages, and each
button would count as much as an article.

The template of a host is the set of leaf labels (tag and text) that its pages share; a `Library` holds it.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold
from sklearn.svm import SVC

from crawler.contrib.lab.evaluation.text_metrics import f1
from crawler.contrib.lab.training.examples import TooFewError
from crawler.extraction.leaf_labels import leaves
from crawler.extraction.methods.template import N1, LeafLabel, Library, frequencies, labels, learn
from crawler.extraction.methods.template_svm import LabelShares, Svm, block_counts, features
from crawler.page.page import Page
from crawler.page.text import words
from crawler.urls.address import address_of

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]
Fit = Callable[..., Svm]
"""Trains an SVM on rows and labels, with `cost` and `gamma`."""
SHINGLE = 4
"""Words of a shingle."""
MAIN_SHARE = 0.5
"""A block is main text if a larger share of its shingles is in the gold."""
MAX_BLOCKS = 600
"""The most blocks of each kind; more blocks give more support vectors, which cost time on every page."""
MAX_VECTORS = 600
"""The most support vectors of an SVM that may be chosen."""
INSIGNIFICANT = 0.01
"""A smaller difference in F1 is not significant with MAX_BLOCKS blocks. Of the SVMs this close to the best one, the one
with the fewest vectors is chosen: it is fast, and smooth enough to generalize.
"""
COSTS = (1.0, 10.0, 100.0, 1_000.0)
GAMMAS = (1.0, 4.0, 16.0, 64.0, 256.0)
"""The values that are tried of the two parameters of an SVM: C, the cost of an error, and gamma of its kernel."""


@dataclass(frozen=True, slots=True)
class BlockSample:
    """A block of a page with gold text."""

    host: str
    page: int
    """A number that is unique on the host. A page with its template and the same page without it have two numbers."""
    length: int
    """Characters of text."""
    features: LabelShares
    main: bool
    """Whether it is main text."""


@dataclass(frozen=True, slots=True)
class BlockScore:
    """The scores of judged blocks; main text counts as positive."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class TrainedSvm:
    """An SVM, and how it was chosen."""

    svm: Svm
    cost: float
    score: BlockScore
    """By cross-validation over hosts."""
    hosts: int
    blocks: int
    main: int
    """How many of the blocks are main text."""
    drawn: int
    """How many blocks of each kind, main text and noise, were drawn to train on."""


def samples(gold: Iterable[tuple[Page, str]]) -> list[BlockSample]:
    """The blocks of pages with gold text. Each page is used twice: whole, like a host's first pages in a crawl, and
    without the template of its host.
    """
    pages_by_host: dict[str, list[tuple[Page, str]]] = defaultdict(list)
    for page, text in gold:
        pages_by_host[address_of(page.url).host].append((page, text))
    # One host after another, so that the parsed pages of a host can be freed.
    return [sample for host in sorted(pages_by_host) for sample in _samples_of_host(host, pages_by_host.pop(host))]


def _samples_of_host(host: str, pages: list[tuple[Page, str]]) -> Iterator[BlockSample]:
    library = _library([page for page, _ in pages])
    for number, (page, text) in enumerate(pages):
        gold = set(_shingles(text))
        templates: list[Collection[LeafLabel]] = [frozenset()]
        if library:
            templates.append(library.common(page))
        for version, template in enumerate(templates):
            # The texts of each block, whose index is the `home` of its leaves.
            texts: dict[int, list[str]] = defaultdict(list)
            for leaf in leaves(page).leaves:
                if (leaf.tag, leaf.text) not in template:
                    texts[leaf.block_label].append(leaf.text)

            blocks = block_counts(page, template)
            features_of_blocks = features(blocks)
            for home, parts in texts.items():
                shingles = _shingles(" ".join(parts))
                if shingles:
                    is_main = sum(shingle in gold for shingle in shingles) > MAIN_SHARE * len(shingles)
                    yield BlockSample(
                        host=host,
                        page=2 * number + version,
                        length=blocks[home].length,
                        features=features_of_blocks[home],
                        main=is_main,
                    )


def _library(pages: list[Page]) -> Library:
    """The library of a host: the labels that its pages share. With fewer pages than N1, which `learn` needs, these are
    the labels that at least two pages have.
    """
    if len(pages) >= N1:
        return learn(pages)
    return Library(label for label, count in frequencies(map(labels, pages)).items() if count > 1)


def _shingles(text: str) -> list[tuple[str, ...]]:
    text_words = words(text)
    return list(zip(*(text_words[start:] for start in range(SHINGLE)), strict=False))


def train(blocks: list[BlockSample], fit: Fit, folds: int, seed: int) -> TrainedSvm:
    """The SVM with the best F1 by cross-validation over hosts; of equally good SVMs, the one with fewest vectors."""
    balanced = _balanced(blocks, random.Random(seed))  # noqa: S311 - to draw samples
    count = len({block.host for block in balanced})
    if count < folds:
        raise TooFewError(f"{folds} folds need at least as many hosts with main text and noise; there are {count}")

    rows = np.array([block.features for block in balanced])
    truth = np.array([block.main for block in balanced])
    splits = list(GroupKFold(folds).split(rows, groups=[block.host for block in balanced]))
    hosts = len({block.host for block in blocks})
    main = sum(block.main for block in blocks)
    tried: list[TrainedSvm] = []
    for cost, gamma in product(COSTS, GAMMAS):
        svm = fit(rows, truth, cost=cost, gamma=gamma)
        if len(svm.vectors) <= MAX_VECTORS:
            judgement = np.zeros(len(truth), bool)
            for training, held_out in splits:
                fold_svm = fit(rows[training], truth[training], cost=cost, gamma=gamma)
                judgement[held_out] = fold_svm.decide(rows[held_out]) > 0
            score = _score(judgement, truth)
            tried.append(
                TrainedSvm(
                    svm=svm,
                    cost=cost,
                    score=score,
                    hosts=hosts,
                    blocks=len(blocks),
                    main=main,
                    drawn=len(balanced) // 2,
                )
            )

    if not tried:
        raise TooFewError(f"every SVM has more than {MAX_VECTORS} support vectors: these blocks cannot be told apart")
    best_f1 = max(candidate.score.f1 for candidate in tried)
    return min(
        (candidate for candidate in tried if candidate.score.f1 > best_f1 - INSIGNIFICANT),
        key=lambda candidate: len(candidate.svm.vectors),
    )


def _score(judgement: Flags, truth: Flags) -> BlockScore:
    """The scores of a judgement; a share of no blocks is 0."""
    hits = int((judgement & truth).sum())
    precision = hits / (int(judgement.sum()) or 1)
    recall = hits / (int(truth.sum()) or 1)
    return BlockScore(precision=precision, recall=recall, f1=f1(precision, recall))


def fit(rows: Matrix, main: Flags, cost: float, gamma: float) -> Svm:
    """Train an SVM with scikit-learn."""
    classifier = SVC(C=cost, gamma=gamma, kernel="rbf").fit(rows, main)
    return Svm(
        vectors=classifier.support_vectors_,
        weights=classifier.dual_coef_[0],
        gamma=gamma,
        bias=float(classifier.intercept_[0]),
    )


def _balanced(all_blocks: list[BlockSample], generator: random.Random) -> list[BlockSample]:
    """The same number of blocks of main text and of noise, at most one of each kind from a page."""
    pages: dict[tuple[bool, str, int], list[BlockSample]] = defaultdict(list)
    for sample in all_blocks:
        pages[sample.main, sample.host, sample.page].append(sample)
    kinds: dict[bool, list[BlockSample]] = {True: [], False: []}
    for (is_main, *_), blocks in pages.items():
        kinds[is_main] += generator.choices(blocks, weights=[block.length for block in blocks])
    drawn = min(MAX_BLOCKS, *map(len, kinds.values()))
    return [block for kind in kinds.values() for block in generator.sample(kind, drawn)]
