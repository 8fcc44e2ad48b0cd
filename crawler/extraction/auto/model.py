"""Judges a page with the trained weights of this release, and chooses the blocks that are kept.

The set of blocks with the highest expected F is kept, the weighted mean of precision and recall:
    sum of p t over the kept / (w * sum of t over the kept + (1 - w) * sum of p t over all),
where p is the probability, t the tokens, and w the weight of precision; at 1/2 this is F1. These are the blocks whose
probability is at least w F. At 1/2 the network keeps a little too much of sites that are held out from training; 0.6
brings precision near recall. On an uncertain page the threshold is lower, because there a loss of main text costs more
than noise does.
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
KINDS = tuple(kind.value for kind in PageType)
"""The types of page."""
LEAST_SURE = 0.6
"""The probability from which a page has a type."""
MOST_COMMON = 0.5
"""The largest share of the probable main text, in words, that is excluded because other pages of the site have it."""
MAX_BYTES = 50 << 20
"""The total size of all arrays in a file."""
MAX_LAYERS = 1_000
# Errors of numpy and zipfile for files that are not archives of arrays; an unknown compression raises
# NotImplementedError, a RuntimeError.
NO_WEIGHTS = (
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
    kinds: Floats
    """The scores of the page's own names: a row for each bucket, a column for each type of page."""
    kinds_bias: Floats

    def scores(self, seen: PageArrays) -> Scores:
        """The scores of the names and words of a page."""
        number = len(seen.homes)
        outline = seen.outline
        owner = seen.words.owner
        count = int(owner[-1]) + 1
        own = np.bincount(owner, self.own[seen.words.buckets], count)
        inside = np.bincount(owner, self.around[seen.words.buckets], count)
        around = [0.0]
        for score, parent in zip(inside[outline.names].tolist(), outline.parents.tolist(), strict=True):
            around.append(around[parent + 1] + score)
        texts = seen.texts
        counts = np.bincount(texts.owner, minlength=number + page_arrays.EXTRA)[:number]
        sums = np.bincount(texts.owner, self.words[texts.words], minlength=number + page_arrays.EXTRA)[:number]
        kinds = np.exp(self.kinds[np.array(seen.names, np.int64)].sum(0) + self.kinds_bias)
        return Scores(
            own=(own[outline.names[seen.homes]] + own[seen.wraps] * (seen.wraps >= 0)).astype(np.float32),
            around=np.array(around[1:], np.float32),
            words=(sums / np.sqrt(np.maximum(counts, 1))).astype(np.float32),
            kinds=kinds / kinds.sum(),
        )


@dataclass(frozen=True, slots=True)
class Kinds:
    """The weights that compute the type of a page from the network's values of its blocks."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Model:
    """All trained parameters."""

    vocabulary: LearnedWeights
    networks: tuple[Network, ...]
    """Networks trained from different random weights: their average is more accurate than each of them."""
    kinds: Kinds


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
    """The probability that each block is main text, and the type of the page; there must be a block."""
    seen = page_arrays.page_arrays(page)
    scores = model.vocabulary.scores(seen)
    levels = page_arrays.ranges(seen)
    outline = seen.outline
    nest = network.block_groups(levels, outline.starts, outline.ends, outline.paths[seen.homes])
    matrix = block_features.features(seen, scores, levels).matrix
    hidden_values, likely = together(model.networks, network.hidden(model.networks, matrix, nest))
    kinds = summary(hidden_values, likely, scores.kinds) @ model.kinds.weights + model.kinds.bias
    return BlockJudgement(probabilities=alike(likely, seen), tokens=tokens(seen), page_type=page_type(kinds))


def without(judgement: BlockJudgement, places: Sequence[int]) -> BlockJudgement:
    """The judgement with the probability of these blocks set to 0, unless they hold most of the probable main text, as
    on copies of an article.
    """
    words = judgement.probabilities * judgement.tokens
    if len(places) == 0 or words[places].sum() > MOST_COMMON * words.sum():
        return judgement
    likely = judgement.probabilities.copy()
    likely[places] = 0
    return replace(judgement, probabilities=likely)


def page_type(scores: Floats) -> str:
    """The type with the highest score, empty if its probability is too low.

    >>> page_type(np.array([9.0, 0, 0, 0, 0, 0, 0])), page_type(np.zeros(7))
    ('article', '')
    """
    powers = np.exp(scores - scores.max())
    if powers.max() >= LEAST_SURE * powers.sum():
        return KINDS[int(powers.argmax())]
    return ""


def judged(page: Page) -> BlockJudgement:
    """The result of the model that comes with this release; `page.once(judged)` computes it once."""
    return judge(page, shipped())


def together(networks: Sequence[Network], hidden_values: Floats) -> tuple[Floats, Floats]:
    """The values of all networks for each block, side by side, and their average probability."""
    likely = [network.probabilities(net, values) for net, values in zip(networks, hidden_values, strict=True)]
    return np.concatenate(hidden_values, 1), sum(likely[1:], likely[0]) / len(likely)


def tokens(seen: PageArrays) -> Floats:
    """How many words each block has, a Chinese character counting as one; at least one."""
    number = len(seen.homes)
    words = np.bincount(seen.texts.owner, minlength=number + page_arrays.EXTRA)[:number]
    read = np.maximum(seen.texts.kinds[:number].sum(1), 1)
    counts: Floats = np.maximum(words * seen.lengths / read, 1).astype(np.float32)
    return counts


def summary(hidden_values: Floats, likely: Floats, kinds: Floats) -> Floats:
    """A page as one row of numbers: averages over its blocks and over its main text, and the scores of its names."""
    weight = likely / max(float(likely.sum()), 1e-6)
    return np.concatenate([hidden_values.mean(0), weight @ hidden_values, np.log(np.maximum(kinds, 1e-4))])


def save(model: Model, path: Path) -> None:
    """Save a model to a file that `load` reads; half precision is enough."""
    vocabulary = model.vocabulary
    networks = model.networks
    arrays = {
        "own": vocabulary.own,
        "around": vocabulary.around,
        "words": vocabulary.words,
        "page_names": vocabulary.kinds,
        "page_names_bias": vocabulary.kinds_bias,
        "means": networks[0].means,
        "scales": networks[0].scales,
        "kinds": model.kinds.weights,
        "kinds_bias": model.kinds.bias,
    }
    for number, net in enumerate(networks):
        for place, layer in enumerate((net.first, *net.layers, net.last)):
            arrays |= {f"weights{number}.{place}": layer.weights, f"bias{number}.{place}": layer.bias}
    held: dict[str, Any] = {name: rows.astype(np.float16) for name, rows in arrays.items()}
    held["steps"] = np.array([[layer.step for layer in net.layers] for net in networks], np.int8)
    with path.open("wb") as file:
        np.savez_compressed(file, **held)


def load(path: Path) -> Model:
    """The model in a file; raises a ModelFileError if there is none. Nothing in the file is executed."""
    try:
        with path.open("rb") as file:
            _check_size(file)
            with np.load(file, allow_pickle=False) as held, np.errstate(all="ignore"):
                steps = held["steps"]
                rows = {name: held[name].astype(np.float32) for name in held.files if name != "steps"}
        if (
            steps.ndim != 2
            or not 0 < steps.size <= MAX_LAYERS
            or steps.min() < network.COMPARED
            or (steps != steps[0]).any()
        ):
            raise ValueError("layers")
        model = _model(steps.tolist(), rows)
        if not all(shape == rows.shape and np.isfinite(rows).all() for rows, shape in _expected_shapes(model)):
            raise ValueError("shapes")
        judge(Page(url="", body=SAMPLE), model)  # fails if the number of features differs
        return model
    except NO_WEIGHTS as error:
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
    kinds = model.kinds
    for rows in (vocabulary.own, vocabulary.around, vocabulary.words):
        yield rows, (text_arrays.BUCKETS,)
    yield vocabulary.kinds, (page_names.NAME_BUCKETS, len(KINDS))
    yield vocabulary.kinds_bias, (len(KINDS),)

    width = networks[0].first.bias.size  # they run side by side
    for net in networks:
        yield net.means, (net.means.size,)
        yield net.scales, (net.means.size,)
        yield net.first.weights, (net.means.size, width)
        for layer in net.layers:
            rows_of_block = 3 if layer.step else network.AROUND + 3
            yield layer.weights, (rows_of_block * width, width)
        yield net.last.weights, (width, 1)
        for layer in (net.first, *net.layers):
            yield layer.bias, (width,)
        yield net.last.bias, (1,)

    yield kinds.weights, (2 * len(networks) * width + len(KINDS), len(KINDS))
    yield kinds.bias, (len(KINDS),)


def _model(steps: list[list[int]], rows: dict[str, Floats]) -> Model:
    """The model from the arrays of a file."""
    # The layers of each network are numbered: the first one is 0, the last one has the highest number.
    networks = []
    for number, inner in enumerate(steps):
        layers = [
            Layer(step=step, weights=rows[f"weights{number}.{place}"], bias=rows[f"bias{number}.{place}"])
            for place, step in enumerate((0, *inner, 0))
        ]
        networks.append(
            Network(
                means=rows["means"], scales=rows["scales"], first=layers[0], layers=tuple(layers[1:-1]), last=layers[-1]
            )
        )

    return Model(
        vocabulary=LearnedWeights(
            own=rows["own"],
            around=rows["around"],
            words=rows["words"],
            kinds=rows["page_names"],
            kinds_bias=rows["page_names_bias"],
        ),
        networks=tuple(networks),
        kinds=Kinds(weights=rows["kinds"], bias=rows["kinds_bias"]),
    )


@cache
def shipped() -> Model:
    """The model that comes with this release."""
    return load(WEIGHTS)


def best_f(probabilities: Floats, tokens: Floats, weight: float) -> float:
    """The highest expected F of any choice.

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
    places = np.array([at for at in kept if at < len(hits)], np.intp)
    return float(2 * hits[places].sum() / max(tokens[places].sum() + hits.sum(), 1e-9))


def choose(probabilities: Floats, tokens: Floats, weight: float) -> NDArray[np.bool_]:
    """Whether each block is kept in the choice with the highest expected F.

    >>> choose(np.array([0.9, 0.4, 0.1]), np.array([9.0, 9.0, 9.0]), 0.5).tolist()
    [True, True, False]
    """
    return probabilities >= weight * best_f(probabilities, tokens, weight)
