"""Trains the scores of names and words, and the page types that names indicate, by logistic regression.

Names are the words in an element's tag, class, id, role and item property. Names and words are hashed into BUCKETS
buckets. Each bucket has three scores: as a name of the element around a block (own), as a name of the elements around
that element (around), and as a word of the block's text.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from crawler.contrib.lab.training.examples import PageExample
from crawler.extraction.auto import model, page_names
from crawler.extraction.auto.model import PAGE_TYPES, LearnedWeights
from crawler.extraction.auto.page_arrays import Floats, PageArrays
from crawler.extraction.auto.text_arrays import BUCKETS, Ints

AROUND = 0.3
"""The value of a name around a block in the input of the regression; a name of the block's own element has 1."""
NEVER = -30.0
"""The bias of a type without examples, which is never chosen."""


@dataclass(frozen=True, slots=True)
class WeighedPage:
    """An example as input of the regression."""

    example: PageExample
    rows: Any
    """A sparse matrix, with a row for each block: the names of its element, the names around it, and its words."""
    weights: Floats
    """The weight of each block: the root of its tokens, scaled so that they sum to the weight of the page."""


def weighed(example: PageExample, weight: float) -> WeighedPage:
    """An example with the input of the regression."""
    roots = np.sqrt(model.tokens(example.arrays) + 1)
    return WeighedPage(
        example=example, rows=_rows(example.arrays), weights=(weight * roots / roots.sum()).astype(np.float32)
    )


def vocabulary(pages: Sequence[WeighedPage]) -> LearnedWeights:
    """The scores of the names and words of these pages."""
    golden = [page for page in pages if page.example.is_golden]
    fitted = _regression(C=0.3, max_iter=60, tol=1e-3)(
        sparse.vstack([page.rows for page in golden]).tocsr(),
        np.concatenate([page.example.labels for page in golden]) >= 0.5,
        # A page weighs about 100 in relation to the penalty for large scores, whose inverse is C.
        sample_weight=100 * np.concatenate([page.weights for page in golden]),
    )
    # The columns of `_rows` are those of own names, then of names around, then of words.
    own, around, words = fitted.coef_[0].astype(np.float32).reshape(3, BUCKETS)

    # The types of pages, by the page's own names.
    typed = [page.example for page in pages if page.example.page_type in PAGE_TYPES]
    has_name = np.zeros((len(typed), page_names.NAME_BUCKETS), np.float32)
    for row, example in enumerate(typed):
        has_name[row, list(example.arrays.names)] = 1
    type_weights, bias = fit_page_types(sparse.csr_matrix(has_name), [example.page_type for example in typed])
    # A name around a block has the value AROUND in the rows, but 1 when the scores are used.
    return LearnedWeights(own=own, around=AROUND * around, words=words, page_names=type_weights, page_names_bias=bias)


def fit_page_types(rows: Any, types: Sequence[str]) -> tuple[Floats, Floats]:
    """The weights and biases of page types, learned from a row of features and a type for each page.

    A type without examples is never chosen.
    """
    weights = np.zeros((rows.shape[1], len(PAGE_TYPES)), np.float32)
    bias = np.full(len(PAGE_TYPES), NEVER, np.float32)
    present_types = sorted(set(types))
    if len(present_types) < 2:  # nothing to tell apart: always the only type, or the first of PAGE_TYPES without any
        chosen_type = PAGE_TYPES.index(present_types[0]) if present_types else 0
        bias[chosen_type] = 0
        return weights, bias
    fitted = _regression(max_iter=2_000, tol=1e-3)(rows, types)
    coefficients = fitted.coef_
    shifts = fitted.intercept_
    if len(present_types) == 2:  # scikit-learn gives one row for two classes: the difference of the two
        coefficients = np.concatenate([-coefficients, coefficients]) / 2
        shifts = np.concatenate([-shifts, shifts]) / 2
    for page_type, row, shift in zip(fitted.classes_, coefficients, shifts, strict=True):
        weights[:, PAGE_TYPES.index(page_type)] = row
        bias[PAGE_TYPES.index(page_type)] = shift
    return weights, bias


def _regression(**settings: float) -> Any:
    """A function that fits a logistic regression. It suppresses the warning that the regression has not converged,
    because stopping early is as good.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    def fit(*rows: Any, **others: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return LogisticRegression(**settings).fit(*rows, **others)

    return fit


def _rows(arrays: PageArrays) -> Any:
    """The sparse matrix of a page, as in `WeighedPage.rows`."""
    outline = arrays.outline
    number = len(arrays.homes)

    # `names` has the buckets of each distinct combination of names. `names_up_to` has, for each container, the buckets
    # of its own names and of all containers around it.
    names = np.split(arrays.words.buckets, np.flatnonzero(np.diff(arrays.words.owner)) + 1)
    names_up_to: list[Ints] = []
    for name_index, parent in zip(outline.names, outline.parents, strict=True):
        own = names[name_index]
        if parent >= 0:
            names_up_to.append(np.concatenate([names_up_to[parent], own]))
        else:
            names_up_to.append(own)

    # A row for each block.
    bounds = np.searchsorted(arrays.texts.owner, np.arange(number + 1))
    columns: list[Ints] = []
    values: list[Floats] = []
    ends = [0]
    for block, home in enumerate(arrays.homes):
        own = names[outline.names[home]]
        around = names_up_to[home]
        if arrays.wraps[block] >= 0:  # an inline element begins in the block: its names count as the block's own
            own = np.concatenate([own, names[arrays.wraps[block]]])
        words = arrays.texts.words[bounds[block] : bounds[block + 1]]
        word_value = 1 / np.sqrt(max(1, len(words)))  # so that long blocks do not have larger sums
        columns += [own, around + BUCKETS, words + 2 * BUCKETS]
        values += [np.ones(len(own)), np.full(len(around), AROUND), np.full(len(words), word_value)]
        ends.append(ends[-1] + len(own) + len(around) + len(words))
    shape = (number, 3 * BUCKETS)
    return sparse.csr_matrix((np.concatenate(values).astype(np.float32), np.concatenate(columns), ends), shape=shape)
