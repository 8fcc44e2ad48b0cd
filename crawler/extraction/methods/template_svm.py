"""Template and SVM: the blocks of a page that a classifier judges to be main text, without the site's common labels.

J. Yan, Y. Wang, "Web Page Denoising Based on Template and SVM", Computer Science and Application 10(1), 2020. After the
template pass (.template), each block-level label (body, section, div), without the block-level labels nested in it, is
described by five shares of the rest of the page:
    R1 = innerLen / (outerLen + 1)              its share of the page's text, in characters
    R2 = innerLinkLen / (outerLinkLen + 1)      its share of the text in links
    R3 = innerLinkNum / (outerLinkNum + 1)      its share of the <a>
    R4 = innerPicNum / (outerPicNum + 1)        its share of the <img>
    R5 = innerLinkLen / (innerLen + 1)          the share of its own text in links
where inner is of the block, outer of the page, and + 1 prevents a division by 0. An SVM with a radial kernel,
    decision(r) = sum_i w_i exp(-gamma |r - v_i|^2) + bias,   v_i its support vectors, w_i their weights,
separates main text (above 0) from noise. Its parameters are chosen by 10-fold cross-validation on equal numbers of
blocks of both kinds.

Choices and results where the paper gives no details or contradicts itself:
- Lengths are those of text with folded space. Text in common labels is not counted, nor is a link whose text is
  entirely common.
- Blocks without text are not judged: they would add nothing to the text, and hundreds of equal samples to the training.
- In Table 4, R1 of the last row is printed as 0.336; 65 / 193 is 0.337. The example shows the page before the template
  pass, for which two pages are too few.
- The paper's 96% precision and 96.5% recall were measured on leaf labels judged by hand, on the 3,000 news pages of
  five sites from which the SVM was trained. On 459 news pages of 21 sites, 18 of which are held out from training, with
  libraries of their sites, both are 71% and 83% for leaf labels of four words or more, judged by whether they are in
  the gold text; for their text they are 84% and 95%. Here each fold consists of whole sites, also of shops and forums;
  and five shares do not distinguish an article from teasers and notices of the same length.

The weights beside this file were made by `winnow train template-svm`; only numpy is needed to use them.
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
# Blocks judged at once: their matrix with all support vectors takes a few megabytes.
AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class BlockCounts:
    """The content of a block-level label without those nested in it, as in the paper's Table 3."""

    tag: str
    length: int
    """Characters of text."""
    link_length: int
    """Characters of text in links."""
    links: int
    images: int


class LabelShares(NamedTuple):
    """R1 to R5 of a block-level label, as in the paper's Table 4."""

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
        # einsum rather than @, whose threads would cost a crawl more time than these few numbers need.
        norms = np.einsum("ij,ij->i", self.vectors, self.vectors)
        decisions = []
        for start in range(0, len(features), AT_ONCE):
            rows = features[start : start + AT_ONCE]
            products = np.einsum("ik,jk->ij", rows, self.vectors)
            squared_distances = np.einsum("ij,ij->i", rows, rows)[:, None] + norms - 2 * products
            decisions.append(np.einsum("ij,j->i", np.exp(-self.gamma * squared_distances), self.weights) + self.bias)
        if decisions:
            return np.concatenate(decisions)
        return np.empty(0)


def save(svm: Svm, path: Path) -> None:
    """Write an SVM to a file that `load` reads."""
    with path.open("wb") as file:
        np.savez_compressed(file, vectors=svm.vectors, weights=svm.weights, gamma=svm.gamma, bias=svm.bias)


def load(path: Path) -> Svm:
    """The SVM in a file; nothing in the file is executed."""
    with np.load(path, allow_pickle=False) as arrays:
        return Svm(
            vectors=arrays["vectors"],
            weights=arrays["weights"],
            gamma=float(arrays["gamma"]),
            bias=float(arrays["bias"]),
        )


@cache
def shipped() -> Svm:
    """The SVM that comes with this release."""
    return load(WEIGHTS)


def block_counts(page: Page, common: Collection[LeafLabel] = frozenset()) -> tuple[BlockCounts, ...]:
    """The content of each block-level label without common labels; the first is the page's root."""
    page_leaves = leaves(page)
    # For each block-level label: its characters, those in links, and its links.
    lengths, link_lengths, links = ([0] * len(page_leaves.block_labels) for _ in range(3))
    links_with_common_text = set()
    links_with_other_text = set()
    for leaf in page_leaves.leaves:
        if (leaf.tag, leaf.text) in common:
            links_with_common_text.add(leaf.anchor)
            continue
        lengths[leaf.block_label] += len(leaf.text)
        if leaf.anchor >= 0:
            links_with_other_text.add(leaf.anchor)
            link_lengths[leaf.block_label] += len(leaf.text)
    # A link counts unless all of its text is common; a link without text counts, too.
    for anchor, block_label in enumerate(page_leaves.anchors):
        links[block_label] += anchor in links_with_other_text or anchor not in links_with_common_text
    columns = zip(page_leaves.block_labels, lengths, link_lengths, links, strict=True)
    return tuple(
        BlockCounts(tag=label.tag, length=length, link_length=link_length, links=count, images=label.images)
        for label, length, link_length, count in columns
    )


def features(blocks: Collection[BlockCounts]) -> list[LabelShares]:
    """R1 to R5 of each block-level label of a page."""
    # The divisors of R1 to R4.
    length = 1 + sum(block.length for block in blocks)
    link_length = 1 + sum(block.link_length for block in blocks)
    links = 1 + sum(block.links for block in blocks)
    images = 1 + sum(block.images for block in blocks)
    return [
        LabelShares(
            text=block.length / length,
            link_text=block.link_length / link_length,
            links=block.links / links,
            images=block.images / images,
            linked=block.link_length / (block.length + 1),
        )
        for block in blocks
    ]


def main_block_labels(page: Page, common: frozenset[LeafLabel]) -> frozenset[int]:
    """The indexes of the block-level labels of a page that are main text."""
    blocks = block_counts(page, common)
    labels_with_text = [index for index, block in enumerate(blocks) if block.length]
    if not labels_with_text:
        return frozenset()
    features_of_labels = features(blocks)
    decisions = shipped().decide(np.array([features_of_labels[index] for index in labels_with_text]))
    return frozenset(compress(labels_with_text, decisions > 0))


def template_svm(page: Page, library: Library | None = None) -> Extraction:
    """The main text by Yan and Wang's method."""
    common = page.once((library or NOTHING_COMMON).common)
    main_labels = main_block_labels(page, common)
    noise = common_lines(page, common)
    lines = {leaf.line for leaf in leaves(page).leaves if leaf.block_label in main_labels} - noise
    kept = tuple(block for line, block in enumerate(page.blocks) if line in lines)
    return Extraction(text="\n".join(block.text for block in kept).strip(), title=headline(page), blocks=kept)
