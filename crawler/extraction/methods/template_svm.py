"""Template and SVM: the blocks of a page that a classifier takes for main text, less what the site has in common.

J. Yan, Y. Wang, "Web Page Denoising Based on Template and SVM", Computer Science and Application 10(1), 2020. After the
template pass (.template), each block-level label (body, section, div), without the block-level labels nested in it, is
described by five shares of what is left of the page:
    R1 = innerLen / (outerLen + 1)              its part of the page's text, in characters
    R2 = innerLinkLen / (outerLinkLen + 1)      of the text inside links
    R3 = innerLinkNum / (outerLinkNum + 1)      of the <a>
    R4 = innerPicNum / (outerPicNum + 1)        of the <img>
    R5 = innerLinkLen / (innerLen + 1)          how much of its own text is inside links
where inner is of the block, outer of the page, and + 1 smoothes what would be divided by 0. An SVM with a radial
kernel,
    decision(r) = sum_i w_i exp(-gamma |r - v_i|^2) + bias,   v_i its support vectors, w_i their weights,
tells main text (above 0) from noise. Its parameters are chosen by 10-fold cross-validation on as many blocks of each
kind.

Where the paper is silent or contradicts itself:
- Lengths are of text with its space folded. Of common labels nothing counts, an <a> all of whose text is common
  neither.
- Blocks without text are not judged: they would add nothing to the text, and hundreds of alike samples to the training.
- In Table 4, R1 of the last row is printed as 0.336; 65 / 193 is 0.337. The example is of the page before the template
  pass, which two pages cannot bring about.
- Its 96% precision and 96.5% recall are of leaf labels judged by hand, of the very 3,000 news pages of five sites from
  which it was trained. On 459 news pages of 21 sites, 18 of which are not in the training, with libraries of their
  sites, it is 71% and 83% of the leaf labels of four words or more, by whether they stand in the gold; of their text it
  is 84% and 95%. Folds here hold whole sites, of shops and forums too; and five shares do not tell an article from
  teasers and notices of the same length.

The weights beside this file were made by `winnow train template-svm`; they need numpy only.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.extraction.leaf_labels import leaves
from crawler.extraction.methods.template import NOTHING_COMMON, LeafLabel, Library, common_lines
from crawler.metadata.title import headline
from crawler.page.page import Extraction, Page

Matrix = NDArray[np.float64]
WEIGHTS = Path(__file__).with_suffix(".npz")
# Blocks judged at once: so many times the support vectors is a matrix of some megabytes.
AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class BlockCounts:
    """What a block-level label holds, without those nested in it: the paper's Table 3."""

    tag: str
    length: int
    link_length: int
    links: int
    images: int


class LeafFeatures(NamedTuple):
    """The paper's R1 to R5 of a block-level label: its Table 4."""

    text: float
    link_text: float
    links: float
    images: float
    linked: float


@dataclass(frozen=True, slots=True)
class Svm:
    """A support vector machine with a radial kernel."""

    vectors: Matrix
    weights: Matrix
    gamma: float
    bias: float

    def decide(self, features: Matrix) -> Matrix:
        """The decision function, row by row: above 0 is main text."""
        # By einsum rather than @, whose threads take more time from a crawl than these few numbers need.
        norms = np.einsum("ij,ij->i", self.vectors, self.vectors)
        decisions = []
        for start in range(0, len(features), AT_ONCE):
            rows = features[start : start + AT_ONCE]
            products = np.einsum("ik,jk->ij", rows, self.vectors)
            squares = np.einsum("ij,ij->i", rows, rows)[:, None] + norms - 2 * products
            decisions.append(np.einsum("ij,j->i", np.exp(-self.gamma * squares), self.weights) + self.bias)
        if decisions:
            return np.concatenate(decisions)
        return np.empty(0)


def save(svm: Svm, path: Path) -> None:
    """Write an SVM to a file that `load` reads."""
    with path.open("wb") as file:
        np.savez_compressed(file, vectors=svm.vectors, weights=svm.weights, gamma=svm.gamma, bias=svm.bias)


def load(path: Path) -> Svm:
    """The SVM in a file; nothing in it is run."""
    with np.load(path, allow_pickle=False) as held:
        return Svm(
            vectors=held["vectors"], weights=held["weights"], gamma=float(held["gamma"]), bias=float(held["bias"])
        )


@cache
def shipped() -> Svm:
    """The SVM that comes with this release."""
    return load(WEIGHTS)


def counts(page: Page, common: Collection[LeafLabel] = frozenset()) -> tuple[BlockCounts, ...]:
    """What each block-level label holds besides labels that are common; the first is the page's root."""
    of_page = leaves(page)
    length, link_length, links = ([0] * len(of_page.homes) for _ in range(3))
    empty = set()
    filled = set()
    for leaf in of_page.leaves:
        if (leaf.tag, leaf.text) in common:
            empty.add(leaf.anchor)
            continue
        length[leaf.home] += len(leaf.text)
        if leaf.anchor >= 0:
            filled.add(leaf.anchor)
            link_length[leaf.home] += len(leaf.text)
    for anchor, home in enumerate(of_page.anchors):
        links[home] += anchor in filled or anchor not in empty
    numbers = zip(of_page.homes, length, link_length, links, strict=True)
    return tuple(
        BlockCounts(tag=home.tag, length=whole, link_length=linked, links=count, images=home.images)
        for home, whole, linked, count in numbers
    )


def features(blocks: Collection[BlockCounts]) -> list[LeafFeatures]:
    """R1 to R5 of each block-level label of a page."""
    length = 1 + sum(block.length for block in blocks)
    link_length = 1 + sum(block.link_length for block in blocks)
    links = 1 + sum(block.links for block in blocks)
    images = 1 + sum(block.images for block in blocks)
    return [
        LeafFeatures(
            text=block.length / length,
            link_text=block.link_length / link_length,
            links=block.links / links,
            images=block.images / images,
            linked=block.link_length / (block.length + 1),
        )
        for block in blocks
    ]


def main_homes(page: Page, common: frozenset[LeafLabel]) -> frozenset[int]:
    """The block-level labels of a page that are main text, by their index."""
    blocks = counts(page, common)
    judged = [home for home, block in enumerate(blocks) if block.length]
    if not judged:
        return frozenset()
    described = features(blocks)
    decisions = shipped().decide(np.array([described[home] for home in judged]))
    return frozenset(compress(judged, decisions > 0))


def template_svm(page: Page, library: Library | None = None) -> Extraction:
    """The main text by Yan and Wang's method."""
    common = page.once((library or NOTHING_COMMON).common)
    homes = main_homes(page, common)
    noise = common_lines(page, common)
    lines = {leaf.line for leaf in leaves(page).leaves if leaf.home in homes} - noise
    kept = tuple(block for line, block in enumerate(page.blocks) if line in lines)
    return Extraction(text="\n".join(block.text for block in kept).strip(), title=headline(page), blocks=kept)
