"""Judges a page with the trained weights of this release, and chooses the blocks that are kept.

The set of blocks with the highest expected F is kept. F is the weighted mean of precision and recall,
    F = sum of p t over the set / (w * sum of t over the set + (1 - w) * sum of p t over all blocks),
where p is a block's probability, t the number of its tokens, and w the weight of precision; with w = 1/2 it is F1. The
best set consists of the blocks whose probability is at least w F. With w = 1/2, the network keeps a little too much of
sites that are held out from training; with 0.6, precision and recall are nearly equal. On an uncertain page, F and the
threshold w F are lower.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from crawler.errors import ModelFileError
from crawler.extraction.auto import block_features, network, page_arrays, page_names, text_arrays
from crawler.extraction.auto.network import Layer, Network
from crawler.extraction.auto.page_arrays import Floats, PageArrays, Scores
from crawler.extraction.auto.repeated_blocks import alike
from crawler.page.page import Page, PageType

WEIGHTS = Path(__file__).with_name("weights.npz")
SAMPLE = b"<p>Bees dance."
"""A page that a loaded model must be able to judge."""
PAGE_TYPES = tuple(kind.value for kind in PageType)
"""The types of page, in the order of the weights."""
LEAST_SURE = 0.6
"""The least probability of a page's type; below it, the page has no type."""
MOST_COMMON = 0.5
"""The largest share of the probable main text, in words, that is excluded because other pages of the site have it."""
MAX_BYTES = 50 << 20
"""The total size of all arrays in a file."""
MAX_LAYERS = 1_000
"""The most layers of all networks together."""
# Errors of numpy and zipfile for files that are not archives of arrays. An unknown compression raises a
# NotImplementedError, which is a RuntimeError.
LOAD_ERRORS = (
    *(ValueError, KeyError, TypeError, AttributeError, ArithmeticError, EOFError, RuntimeError, MemoryError),
    *(BadZipFile, TokenError, zlib.error),
)


@dataclass(frozen=True, slots=True)
class LearnedWeights:
    """The scores of each name and word, by their buckets."""

    own: Floats
    """The scores of words in the names of the element around a block."""
    around: Floats
    """The scores of words in the names of the elements around that element."""
    words: Floats
    """The scores of words in the text of a block."""
    page_names: Floats
    """The scores of the page's own names: a row for each bucket, a column for each type of page."""
    page_names_bias: Floats
    """For each type of page, what is added to the sum of its scores."""

    def scores(self, arrays: PageArrays) -> Scores:
        """The scores of the names and words of a page."""
        number = len(arrays.homes)
        outline = arrays.outline
        owner = arrays.words.owner
        name_count = int(owner[-1]) + 1

        # The scores of each name. Then the score of each container: that of its name, added to that of its parent,
        # which comes first.
        own = np.bincount(owner, self.own[arrays.words.buckets], name_count)
        around_of_names = np.bincount(owner, self.around[arrays.words.buckets], name_count)
        around = [0.0]
        for score, parent in zip(around_of_names[outline.names].tolist(), outline.parents.tolist(), strict=True):
            around.append(around[parent + 1] + score)  # shifted by one, so that the first container has a parent, too

        # The score of each block by its words, and of the page's own names.
        texts = arrays.texts
        counts = np.bincount(texts.owner, minlength=number + page_arrays.EXTRA)[:number]
        sums = np.bincount(texts.owner, self.words[texts.words], minlength=number + page_arrays.EXTRA)[:number]
        type_powers = np.exp(self.page_names[np.array(arrays.names, np.int64)].sum(0) + self.page_names_bias)
        return Scores(
            own=(own[outline.names[arrays.homes]] + own[arrays.wraps] * (arrays.wraps >= 0)).astype(np.float32),
            around=np.array(around[1:], np.float32),
            words=(sums / np.sqrt(np.maximum(counts, 1))).astype(np.float32),
            page_types=type_powers / type_powers.sum(),
        )


@dataclass(frozen=True, slots=True)
class PageTypeWeights:
    """The weights that compute the type of a page from the network's values of its blocks."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Model:
    """All trained parameters."""

    vocabulary: LearnedWeights
    networks: tuple[Network, ...]
    """Networks trained from different random weights: their average is more accurate than each of them."""
    page_types: PageTypeWeights


@dataclass(frozen=True, slots=True)
class BlockJudgement:
    """The model's result for a page."""

    probabilities: Floats
    """The probability that each block is main text."""
    tokens: Floats
    """How many words each block has."""
    page_type: str
    """The type of the page; empty if it is uncertain."""


def judge(page: Page, model: Model) -> BlockJudgement:
    """The probability that each block is main text, and the type of the page, which must have a block."""
    arrays = page_arrays.page_arrays(page)
    scores = model.vocabulary.scores(arrays)
    levels = page_arrays.ranges(arrays)
    outline = arrays.outline
    groups = network.block_groups(levels, outline.starts, outline.ends, outline.paths[arrays.homes])
    matrix = block_features.features(arrays, scores, levels).matrix
    hidden_values, probabilities = together(model.networks, network.hidden(model.networks, matrix, groups))
    page_summary = summary(hidden_values, probabilities, scores.page_types)
    type_scores = page_summary @ model.page_types.weights + model.page_types.bias
    return BlockJudgement(
        probabilities=alike(probabilities, arrays), tokens=tokens(arrays), page_type=page_type(type_scores)
    )


def without(judgement: BlockJudgement, indexes: Sequence[int]) -> BlockJudgement:
    """The judgement with the probability of these blocks set to 0, unless they hold most of the probable main text, as
    on copies of an article.
    """
    words = judgement.probabilities * judgement.tokens
    if len(indexes) == 0 or words[indexes].sum() > MOST_COMMON * words.sum():
        return judgement
    probabilities = judgement.probabilities.copy()
    probabilities[indexes] = 0
    return replace(judgement, probabilities=probabilities)


def page_type(scores: Floats) -> str:
    """The type with the highest score, empty if its probability is too low.

    >>> page_type(np.array([9.0, 0, 0, 0, 0, 0, 0])), page_type(np.zeros(7))
    ('article', '')
    """
    powers = np.exp(scores - scores.max())
    if powers.max() >= LEAST_SURE * powers.sum():
        return PAGE_TYPES[int(powers.argmax())]
    return ""


def judged(page: Page) -> BlockJudgement:
    """The result of the model that comes with this release; `page.once(judged)` computes it once."""
    return judge(page, shipped())


def together(networks: Sequence[Network], hidden_values: Floats) -> tuple[Floats, Floats]:
    """The values of all networks for each block, side by side, and their average probability."""
    first, *others = [network.probabilities(net, values) for net, values in zip(networks, hidden_values, strict=True)]
    return np.concatenate(hidden_values, 1), sum(others, first) / len(networks)


def tokens(arrays: PageArrays) -> Floats:
    """How many words each block has, a Chinese character counting as one; at least one."""
    number = len(arrays.homes)
    words = np.bincount(arrays.texts.owner, minlength=number + page_arrays.EXTRA)[:number]
    # Only the beginning of a long block is read: its words are scaled to its length.
    read = np.maximum(arrays.texts.kinds[:number].sum(1), 1)
    counts: Floats = np.maximum(words * arrays.lengths / read, 1).astype(np.float32)
    return counts


def summary(hidden_values: Floats, probabilities: Floats, types_by_names: Floats) -> Floats:
    """A page as one row of numbers: averages of its blocks and of its main text, and the logarithms of
    `types_by_names`, the probability of each type of page by the page's own names.
    """
    weight = probabilities / max(float(probabilities.sum()), 1e-6)
    return np.concatenate([hidden_values.mean(0), weight @ hidden_values, np.log(np.maximum(types_by_names, 1e-4))])


def save(model: Model, path: Path) -> None:
    """Save a model to a file that `load` reads; half precision is enough."""
    vocabulary = model.vocabulary
    networks = model.networks
    arrays = {
        "own": vocabulary.own,
        "around": vocabulary.around,
        "words": vocabulary.words,
        "page_names": vocabulary.page_names,
        "page_names_bias": vocabulary.page_names_bias,
        "means": networks[0].means,
        "scales": networks[0].scales,
        "kinds": model.page_types.weights,
        "kinds_bias": model.page_types.bias,
    }
    for number, net in enumerate(networks):
        for index, layer in enumerate((net.first, *net.layers, net.last)):
            arrays |= {f"weights{number}.{index}": layer.weights, f"bias{number}.{index}": layer.bias}
    saved_arrays: dict[str, Any] = {name: rows.astype(np.float16) for name, rows in arrays.items()}
    saved_arrays["steps"] = np.array([[layer.step for layer in net.layers] for net in networks], np.int8)
    with path.open("wb") as file:
        np.savez_compressed(file, **saved_arrays)


def load(path: Path) -> Model:
    """The model in a file; raises a ModelFileError if there is none. Nothing in the file is executed."""
    try:
        with path.open("rb") as file:
            _check_size(file)
            with np.load(file, allow_pickle=False) as saved_arrays, np.errstate(all="ignore"):
                steps = saved_arrays["steps"]
                arrays = {name: saved_arrays[name].astype(np.float32) for name in saved_arrays.files if name != "steps"}
        # A row for each network; all networks have the same steps.
        if (
            steps.ndim != 2
            or not 0 < steps.size <= MAX_LAYERS
            or steps.min() < network.COMPARED
            or (steps != steps[0]).any()
        ):
            raise ValueError("layers")
        model = _model(steps.tolist(), arrays)
        if not all(shape == rows.shape and np.isfinite(rows).all() for rows, shape in _expected_shapes(model)):
            raise ValueError("shapes")
        judge(Page(url="", body=SAMPLE), model)  # fails if the number of features differs
        return model
    except LOAD_ERRORS as error:
        raise ModelFileError(f"{str(path)!r} holds no weights of auto") from error


def _check_size(file: BinaryIO) -> None:
    """Raise a ValueError if an archive is too large; otherwise return to the start of the file."""
    with ZipFile(file) as archive:
        if sum(member.file_size for member in archive.infolist()) > MAX_BYTES:
            raise ValueError("too large")
    file.seek(0)


def _expected_shapes(model: Model) -> Iterator[tuple[Floats, tuple[int, ...]]]:
    """All arrays of a model, each with the shape that fits the others."""
    vocabulary = model.vocabulary
    networks = model.networks
    for rows in (vocabulary.own, vocabulary.around, vocabulary.words):
        yield rows, (text_arrays.BUCKETS,)
    yield vocabulary.page_names, (page_names.NAME_BUCKETS, len(PAGE_TYPES))
    yield vocabulary.page_names_bias, (len(PAGE_TYPES),)

    width = networks[0].first.bias.size  # the networks run side by side
    for net in networks:
        yield net.means, (net.means.size,)
        yield net.scales, (net.means.size,)
        yield net.first.weights, (net.means.size, width)
        for layer in net.layers:
            # The inputs of a block: h and two others, or h and the means of containers, page and path.
            rows_of_block = 3 if layer.step else network.AROUND + 3
            yield layer.weights, (rows_of_block * width, width)
        yield net.last.weights, (width, 1)
        for layer in (net.first, *net.layers):
            yield layer.bias, (width,)
        yield net.last.bias, (1,)

    yield model.page_types.weights, (2 * len(networks) * width + len(PAGE_TYPES), len(PAGE_TYPES))
    yield model.page_types.bias, (len(PAGE_TYPES),)


def _model(steps: list[list[int]], arrays: dict[str, Floats]) -> Model:
    """The model from the steps of each network and the other arrays of a file."""
    # The layers of each network are numbered: the first one is 0, the last one has the highest number.
    networks = []
    for number, inner in enumerate(steps):
        layers = [
            Layer(step=step, weights=arrays[f"weights{number}.{index}"], bias=arrays[f"bias{number}.{index}"])
            for index, step in enumerate((0, *inner, 0))
        ]
        networks.append(
            Network(
                means=arrays["means"],
                scales=arrays["scales"],
                first=layers[0],
                layers=tuple(layers[1:-1]),
                last=layers[-1],
            )
        )

    return Model(
        vocabulary=LearnedWeights(
            own=arrays["own"],
            around=arrays["around"],
            words=arrays["words"],
            page_names=arrays["page_names"],
            page_names_bias=arrays["page_names_bias"],
        ),
        networks=tuple(networks),
        page_types=PageTypeWeights(weights=arrays["kinds"], bias=arrays["kinds_bias"]),
    )


@cache
def shipped() -> Model:
    """The model that comes with this release."""
    return load(WEIGHTS)


def best_f(probabilities: Floats, tokens: Floats, weight: float) -> float:
    """The highest expected F of any choice; `weight` is the weight of precision.

    >>> best_f(np.array([1.0, 1.0, 0.0]), np.array([5.0, 5.0, 90.0]), 0.5)
    1.0
    """
    order = np.argsort(-probabilities, kind="stable")
    hits = np.cumsum((probabilities * tokens)[order])
    tokens_taken = np.cumsum(tokens[order])
    return float((hits / np.maximum(weight * tokens_taken + (1 - weight) * hits[-1:], 1e-9)).max(initial=0))


def expected_f1(probabilities: Floats, tokens: Floats, kept: Sequence[int]) -> float:
    """The expected F1 of a choice, given by the indexes of the kept blocks; blocks that were not judged do not count.

    >>> expected_f1(np.array([1.0, 0.5, 0.0]), np.array([5.0, 2.0, 90.0]), [0])
    0.9090909090909091
    """
    hits = probabilities * tokens
    indexes = np.array([at for at in kept if at < len(hits)], np.intp)
    return float(2 * hits[indexes].sum() / max(tokens[indexes].sum() + hits.sum(), 1e-9))


def choose(probabilities: Floats, tokens: Floats, weight: float) -> NDArray[np.bool_]:
    """Whether each block is kept in the choice with the highest expected F.

    >>> choose(np.array([0.9, 0.4, 0.1]), np.array([9.0, 9.0, 9.0]), 0.5).tolist()
    [True, True, False]
    """
    return probabilities >= weight * best_f(probabilities, tokens, weight)
