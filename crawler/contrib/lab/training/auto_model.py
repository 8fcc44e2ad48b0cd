"""Trains the model of `auto` on pages with gold text, and on pages of which only some snippets are known.

1. The outline of each page, and the label of each of its blocks (.examples, .block_labels).
2. The scores of names and words, by logistic regression, and the type of a page by its names (.word_regression).
3. A teacher: boosted trees over the features of blocks. The network learns from the mean of the label and the teacher's
   prediction, and from the prediction alone if a block has no label. So the trees pass on the rules that they find.
4. The networks, trained on the pages, on copies with less text, and on the pages of snippets (.gradient_descent). Sets
   differ in what they call main text: one keeps the title, another the captions. So the set of a page is a feature of
   the teacher and the networks. After the training it is fixed to the first set, which defines the model's main text.
5. The type of a page, by two logistic regressions: one over the values of the networks, and one by its names alone.
   Networks do not know the words of a language that is not in the training, but names are the same in all languages.
For each page, steps 2 and 3 are trained on pages of other sites, because the model will be used on unknown sites.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crawler.contrib.lab.training import gradient_descent
from crawler.contrib.lab.training.examples import (
    PageExample,
    Tell,
    TooFewError,
    parts_of,
    plainer,
    shorter,
    subset,
    weights_of,
)
from crawler.contrib.lab.training.word_regression import fit_page_types, vocabulary, weighed
from crawler.extraction.auto import block_features, model, network, page_arrays
from crawler.extraction.auto.model import PAGE_TYPES, LearnedWeights, Model, PageTypeWeights
from crawler.extraction.auto.network import BlockGroups
from crawler.extraction.auto.page_arrays import Floats, PageArrays
from crawler.extraction.auto.text_arrays import Ints

FOLDS = 5
"""The parts of the cross-validation; each site is in one part."""
PLAIN = 0.4
"""The share of pages with gold text that also get a copy without names."""
COPY_WEIGHT = 0.5
"""The weight of a copy in relation to its page."""
KNOWN_WEIGHT = 3.0
"""On a page with snippets, the weight of a block that contains one."""
GUESSED_WEIGHT = 0.5
"""On a page with snippets, the weight of the other blocks, for which the networks learn the teacher's prediction."""
TRUST = 0.5
"""The weight of the teacher's prediction in what the networks learn; the label has the rest."""
EPOCHS = 12
BY_NAMES = 0.4
"""The weight of the classifier that knows only names when a page's type is chosen; the other one has the rest."""
NETWORKS = 2
"""How many networks are trained, from different random weights."""
TREES = 150
"""Trees of the teacher."""
# The parameters of LightGBM for the teacher. A single thread and fixed orders give the same trees on each run.
TEACHER: dict[str, Any] = {
    "objective": "cross_entropy",
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_child_samples": 100,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 127,
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
}
TOKENS = 2
"""The column of the features with log(1 + the number of words of a block)."""


@dataclass(frozen=True, slots=True)
class DescribedPage:
    """The features of a page, or of a copy of one."""

    example: int
    """The index of the example that the page or copy was made from."""
    part: int
    """The number of the part of the cross-validation that contains its site."""
    is_copy: bool
    features: Floats
    """One row for each block. The last columns stand for the sets: 1 in the column of the page's set, otherwise 0."""
    block_groups: BlockGroups
    labels: Floats
    """The share of each block that is main text, NaN if unknown."""
    weight: float
    """How much the page counts in the training, see `examples.weights_of`."""

    @property
    def is_golden(self) -> bool:
        """Whether the whole main text of the page is known."""
        return not np.isnan(self.labels).any()


Scaling = tuple[Floats, Floats]
"""The mean and the reciprocal of the deviation of each feature, which scale features to a comparable size."""


def train(examples: Sequence[PageExample], seed: int, epochs: int, tell: Tell) -> Model:
    """The model trained on these examples; `seed` decides all random choices."""
    part_of = parts_of([example.site for example in examples], FOLDS, seed)
    parts = [part_of[example.site] for example in examples]
    check(examples, parts)

    # Names and words, and the teacher's predictions. `vocabularies` has one for each part of the sites, trained without
    # this part; `whole` is trained on all sites.
    *vocabularies, whole = _vocabularies(examples, parts, tell)
    sets = list(dict.fromkeys(example.page_set for example in examples if example.is_golden))
    described = list(_described(examples, parts, vocabularies, sets, np.random.default_rng(seed)))
    taught = opinions(described, FOLDS, seed, tell)

    # The input of the networks. `_lessons` empties `described`.
    scaling = _scaling([page.features for page in described if not page.is_copy], len(sets))
    example_of_lessons = [None if page.is_copy else page.example for page in described]
    lessons = _lessons(described, taught, scaling)
    hidden = _hidden(examples[0].arrays, whole, len(sets))

    def tell_error(epoch: int, error: float) -> None:
        tell(f"epoch {epoch + 1}: {error:.4f}")

    seeds = range(seed, seed + NETWORKS)
    layers_of_networks = [
        gradient_descent.learn(lessons, hidden, epochs, network_seed, tell_error) for network_seed in seeds
    ]
    networks = tuple(
        _of_first_set(gradient_descent.network(layers, *scaling), len(sets)) for layers in layers_of_networks
    )

    # The types of pages, learned without copies: a page's type, its lesson, and the scores of types by its names.
    typed = [
        (examples[index].page_type, lesson, vocabularies[parts[index]].scores(examples[index].arrays).page_types)
        for index, lesson in zip(example_of_lessons, lessons, strict=True)
        if index is not None and examples[index].page_type in PAGE_TYPES
    ]
    return Model(vocabulary=whole, networks=networks, page_types=_page_type_weights(networks, typed))


def check(examples: Sequence[PageExample], parts: Sequence[int]) -> None:
    """Raise a TooFewError if, without one of the parts, no main text or no noise is left."""
    for part in range(FOLDS):
        main_outside = [
            example.labels >= 0.5
            for example, its_part in zip(examples, parts, strict=True)
            if its_part != part and example.is_golden
        ]
        if not any(is_main.any() for is_main in main_outside) or all(is_main.all() for is_main in main_outside):
            raise TooFewError(
                f"too few sites have gold text: outside each of {FOLDS} parts there must be main text and noise"
            )


def _vocabularies(examples: Sequence[PageExample], parts: Sequence[int], tell: Tell) -> list[LearnedWeights]:
    """The weights of names and words for the sites outside each part, and for all sites."""
    pages = [weighed(example, weight) for example, weight in zip(examples, weights_of(examples), strict=True)]
    vocabularies = []
    for part in range(FOLDS):
        tell(f"names and words, part {part + 1} of {FOLDS}")
        outside = [page for page, its_part in zip(pages, parts, strict=True) if its_part != part]
        vocabularies.append(vocabulary(outside))
    return [*vocabularies, vocabulary(pages)]


def _described(
    examples: Sequence[PageExample],
    parts: Sequence[int],
    vocabularies: Sequence[LearnedWeights],
    sets: list[str],
    generator: np.random.Generator,
) -> Iterator[DescribedPage]:
    """The features of the pages and their copies, with names and words learned from other sites."""
    weights = weights_of(examples)
    set_rows = dict(zip(sets, np.eye(len(sets), dtype=np.float32), strict=True))
    for index, (example, part, weight) in enumerate(zip(examples, parts, weights, strict=True)):
        for version, (arrays, labels) in enumerate(_with_copies(example, generator)):
            is_copy = version > 0
            matrix, block_groups = describe(arrays, vocabularies[part])
            # Only sets with gold texts have a column; a page with snippets counts as one of the first set.
            set_row = set_rows[example.page_set if example.is_golden else sets[0]]
            matrix = np.hstack((matrix, np.tile(set_row, (len(matrix), 1))))
            yield DescribedPage(
                example=index,
                part=part,
                is_copy=is_copy,
                features=matrix,
                block_groups=block_groups,
                labels=labels,
                weight=weight * (COPY_WEIGHT if is_copy else 1),
            )


def _with_copies(example: PageExample, generator: np.random.Generator) -> Iterable[tuple[PageArrays, Floats]]:
    """A page, and for one with gold text also a shorter copy, and sometimes a plainer one."""
    yield example.arrays, example.labels
    if example.is_golden:
        kept = shorter(example.labels, example.arrays, generator)
        yield subset(example.arrays, kept), example.labels[kept]
        if generator.random() < PLAIN:
            yield plainer(example.arrays), example.labels


def describe(arrays: PageArrays, learned_weights: LearnedWeights) -> tuple[Floats, network.BlockGroups]:
    """The features of the blocks of a page, and their groups."""
    levels = page_arrays.ranges(arrays)
    outline = arrays.outline
    matrix = np.ascontiguousarray(block_features.features(arrays, learned_weights.scores(arrays), levels).matrix.T)
    return matrix, network.block_groups(levels, outline.starts, outline.ends, outline.paths[arrays.homes])


def opinions(pages: Sequence[DescribedPage], parts: int, seed: int, tell: Tell) -> list[Floats | None]:
    """The teacher's prediction for each page, by trees trained on pages of other sites; None for copies."""
    predictions: list[Floats | None] = [None] * len(pages)
    for part in range(parts):
        tell(f"the teacher, part {part + 1} of {parts}")
        trees = _trees([page for page in pages if page.part != part and page.is_golden], seed)
        for index, page in enumerate(pages):
            if page.part == part and not page.is_copy:
                predictions[index] = np.asarray(trees.predict(page.features, num_threads=1), np.float32)
    return predictions


def _trees(pages: Sequence[DescribedPage], seed: int) -> Any:
    import lightgbm

    rows = lightgbm.Dataset(
        np.concatenate([page.features for page in pages]),
        np.concatenate([page.labels for page in pages]),
        # A page weighs about 100 in relation to the penalty lambda_l2.
        weight=np.concatenate([100 * _block_weights(page) for page in pages]),
    )
    return lightgbm.train({**TEACHER, "seed": seed}, rows, TREES)


def _block_weights(page: DescribedPage) -> Floats:
    """The weight of each block: the root of its tokens, scaled so that they sum to the weight of the page."""
    roots = np.sqrt(np.exp(page.features[:, TOKENS]))
    shares: Floats = (page.weight * roots / roots.sum()).astype(np.float32)
    return shares


def _scaling(features: Sequence[Floats], sets: int) -> Scaling:
    """The scaling of the features of these pages. The last columns, one for each of `sets` sets, stay 0 or 1."""
    rows = np.concatenate(features)
    means = rows.mean(0)
    scales = (1 / (rows.std(0) + 0.01)).astype(np.float32)  # a feature that never differs has the deviation 0
    means[-sets:] = 0
    scales[-sets:] = 1
    return means, scales


def _lessons(
    described: list[DescribedPage], taught: list[Floats | None], scaling: Scaling
) -> list[gradient_descent.Lesson]:
    """The network's input for each page; removes the pages from the list to save memory."""
    lessons = []
    described.reverse()  # so that `pop` returns the first page first
    for opinion in taught:
        lessons.append(_lesson(described.pop(), opinion, scaling))
    return lessons


def _lesson(page: DescribedPage, opinion: Floats | None, scaling: Scaling) -> gradient_descent.Lesson:
    """The network's input for a page; a copy, which has no opinion of the teacher, keeps its labels."""
    is_labelled = ~np.isnan(page.labels)
    tokens = np.expm1(page.features[:, TOKENS]).astype(np.float32)
    weights = np.sqrt(tokens + 1)
    target = page.labels
    f1_weight = page.weight
    if opinion is not None and page.is_golden:
        target = (1 - TRUST) * page.labels + TRUST * opinion
    elif opinion is not None:  # a page with snippets, whose F1 is not known
        weights = weights * np.where(is_labelled, KNOWN_WEIGHT, GUESSED_WEIGHT)
        f1_weight = 0.0
        target = np.where(is_labelled, page.labels, opinion)
    rows = gradient_descent.normalised(page.features, *scaling)
    shares = (page.weight * weights / weights.sum()).astype(np.float32)
    return gradient_descent.Lesson(
        features=rows,
        block_groups=page.block_groups,
        labels=target.astype(np.float32),
        tokens=tokens,
        weights=shares,
        f1_weight=f1_weight,
    )


def _hidden(arrays: PageArrays, learned_weights: LearnedWeights, sets: int) -> list[Ints]:
    """The columns of the features that are hidden together: those of words, of names, of the whole page, and of sets.

    `arrays` is any page; the names of the features are the same for all.
    """
    names = block_features.features(arrays, learned_weights.scores(arrays), page_arrays.ranges(arrays)).names
    groups = (
        [name.startswith(("words ", "word score", "heading words", "path word")) for name in names],
        ["names" in name or name.startswith("around") for name in names],
        [name.startswith("page ") for name in names],
    )
    return [*map(np.flatnonzero, groups), np.arange(len(names), len(names) + sets)]


def _of_first_set(net: network.Network, sets: int) -> network.Network:
    """The network for pages of the first set, without the features of sets."""
    features = len(net.means) - sets
    weights = net.first.weights
    bias = net.first.bias
    # The first set's feature, which is 1 on each page from now on, adds its weights to the bias.
    first = replace(net.first, weights=weights[:features], bias=bias + weights[features])
    return replace(net, means=net.means[:features], scales=net.scales[:features], first=first)


def _page_type_weights(
    networks: Sequence[network.Network], typed: Iterable[tuple[str, gradient_descent.Lesson, Floats]]
) -> PageTypeWeights:
    """A classifier of page types by the values of the networks and the scores of names."""
    features = len(networks[0].means)
    rows = []
    types = []
    for page_type, lesson, by_names in typed:
        hidden_values = network.hidden_of(networks, lesson.features[:, :features], lesson.block_groups)
        rows.append(model.summary(*model.together(networks, hidden_values), by_names))
        types.append(page_type)
    # A row has the networks' mean values over all blocks and over main text, and a score of names for each type.
    width = sum(len(net.last.weights) for net in networks)
    table = np.reshape(rows, (len(rows), 2 * width + len(PAGE_TYPES)))
    # Values are scaled to a deviation of .1 instead of 1, which makes the penalty of the regression stronger: for the
    # same effect, weights must be ten times as large.
    divisors = 10 * (table.std(0) + 0.01) if rows else np.ones(table.shape[1])
    weights, bias = fit_page_types(table / divisors, types)
    weights = (1 - BY_NAMES) * weights / divisors[:, None]
    weights[-len(PAGE_TYPES) :] += BY_NAMES * np.eye(len(PAGE_TYPES))  # the scores of types by names are added
    return PageTypeWeights(weights=weights, bias=(1 - BY_NAMES) * bias)
