"""Trains the weights by which author and date of publication are chosen (crawler.metadata.choice).

A candidate is a value found on the page. Its signs are named numbers that tell where and how it was found. The empty
field, which says that the page has no value, is a choice like the candidates; its signs are about the page, e.g. the
type of the page.

1. The candidates of each page are read with their signs. Each page counts twice, the second time with an unknown type,
   because methods other than `auto` do not find the type.
2. The weights that make the right candidates most probable are found by L-BFGS, with a penalty for large weights. If
   the right value is not a candidate, the right choice is an empty field.
3. Sites are split into five parts, and the pages of each part are judged by weights trained on the other parts. Then
   the weights are trained on all pages.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.contrib.lab.evaluation.gold import objects
from crawler.contrib.lab.evaluation.metadata_scores import FieldCounts, counts, is_right
from crawler.contrib.lab.training.card import put_in_place
from crawler.contrib.lab.training.examples import GoldError, Tell, parts_of
from crawler.extraction.auto import auto
from crawler.metadata.author import author_candidates
from crawler.metadata.choice import Candidates, Signs, chosen
from crawler.metadata.publication_date import date_candidates
from crawler.page.page import Extraction, Page
from crawler.urls.address import address_of
from crawler.urls.parsing import absolute

FIELDS: dict[str, Callable[[Page, Extraction], Candidates]] = {
    "author": author_candidates,
    "published": date_candidates,
}
"""The fields that are trained, with the functions that read their candidates."""
FOLDS = 5
PENALTY = 1.0
"""The factor of the squared weights in the error."""
MAX_STEPS = 300
"""The most steps of L-BFGS."""
DIGITS = 2
"""Decimal places of a weight."""

Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class FieldExample:
    """The candidates of a page, and the right value."""

    site: str
    candidates: Candidates
    gold: str
    """The right value, spelled like the candidate if there is one; empty if the page has none."""

    def right_index(self) -> int:
        """The index of the right candidate; the number of candidates if the field should be empty."""
        values = list(self.candidates.signs)
        if self.gold in values:
            return values.index(self.gold)
        return len(values)


@dataclass(frozen=True, slots=True)
class FieldTraining:
    """The weights for a field, and how good they are."""

    pages: int
    weights: Weights
    held_out: FieldCounts
    """How often weights that were trained without a site were right on the pages of this site."""


def write_metadata_weights(paths: Sequence[Path], output: Path, seed: int, tell: Tell) -> dict[str, FieldTraining]:
    """Train on the pages of files whose lines have `author` or `published`, and write the weights."""
    examples: dict[str, list[FieldExample]] = {field: [] for field in FIELDS}
    for path in paths:
        tell(f"reading {path.name}")
        for field, example in _read(path):
            examples[field].append(example)
    training_of_field = {}
    for field, examples_of_field in examples.items():
        if examples_of_field:
            tell(f"training {field} on {len(examples_of_field):,} pages")
            training_of_field[field] = _trained(field, examples_of_field, seed)
    if not training_of_field:
        raise GoldError("no line has a text as author or published")
    weights = {field: training.weights for field, training in training_of_field.items()}
    with put_in_place(output) as (temporary,):
        temporary.write_text(json.dumps(weights, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return training_of_field


def _read(path: Path) -> Iterator[tuple[str, FieldExample]]:
    """The fields of the pages of a file, with their examples; raises a GoldError at a broken line."""
    for number, row in objects(path):
        if isinstance(row, str):
            raise GoldError(f"line {number} of {path}: {row}")
        if not isinstance(row.get("html"), str):
            raise GoldError(f"line {number} of {path}: no html")
        known_fields = [field for field in FIELDS if isinstance(row.get(field), str)]
        if not known_fields:
            continue
        # A page without an address gets one of its own, as a separate site.
        url = absolute("", str(row.get("url"))) or f"http://{path.name}-{number}/"
        page = Page.from_html(row["html"], url)
        extraction = auto(page)
        site = address_of(url).site
        for field in known_fields:
            yield field, _example(field, site, FIELDS[field](page, extraction), row[field])


def _example(field: str, site: str, candidates: Candidates, gold: str) -> FieldExample:
    right_values = [value for value in candidates.signs if gold and is_right(field, value, gold)]
    # Of several right values, the one whose length is most similar to that of the gold is used.
    spelling = min(right_values, key=lambda value: abs(len(value) - len(gold)), default=gold)
    return FieldExample(site=site, candidates=candidates, gold=spelling)


def _trained(field: str, examples: list[FieldExample], seed: int) -> FieldTraining:
    """The weights trained on all examples; the counts are of weights trained without the part of the judged page."""
    part_of = parts_of((example.site for example in examples), FOLDS, seed)
    values_with_gold: list[tuple[str, str]] = []
    for part in range(FOLDS):
        weights = fit(example for example in examples if part_of[example.site] != part)
        values_with_gold += [
            (chosen(example.candidates, weights), example.gold) for example in examples if part_of[example.site] == part
        ]
    return FieldTraining(pages=len(examples), weights=fit(examples), held_out=counts(field, values_with_gold))


def fit(examples: Iterable[FieldExample]) -> Weights:
    """The weights that make the right candidates most probable."""
    from scipy.optimize import minimize

    # Each page has a row of signs for each candidate, and a last row for the empty field.
    rows: list[Signs] = []
    page_of_rows: list[int] = []
    right_of_pages: list[int] = []
    for number, example in enumerate(_doubled(examples)):
        right_of_pages.append(len(rows) + example.right_index())
        rows += [*example.candidates.signs.values(), example.candidates.empty_signs]
        page_of_rows += [number] * (len(example.candidates.signs) + 1)
    names = sorted({name for row in rows for name in row})
    table = _table(rows, names)
    page = np.array(page_of_rows)
    right_rows = np.array(right_of_pages)

    def error(weights: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        """The error, which is the cross entropy of the right candidates plus the penalty; and its gradient."""
        scores = table @ weights
        powers = np.exp(scores - scores.max())  # subtracted so that no power overflows
        likely = powers / np.bincount(page, powers)[page]
        slope = likely.copy()
        slope[right_rows] -= 1
        # A probability that is rounded to 0 has no logarithm.
        entropy = -float(np.log(np.maximum(likely[right_rows], 1e-300)).sum())
        return PENALTY * float(weights @ weights) + entropy, table.T @ slope + 2 * PENALTY * weights

    best = minimize(error, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS}).x
    return {name: round(float(weight), DIGITS) for name, weight in zip(names, best, strict=True)}


def _doubled(examples: Iterable[FieldExample]) -> Iterator[FieldExample]:
    """Each example, and a copy of it with an unknown type of page."""
    for example in examples:
        yield example
        signs = example.candidates.empty_signs
        empty_signs: Signs = {name: value for name, value in signs.items() if not name.startswith("type ")}
        yield replace(example, candidates=replace(example.candidates, empty_signs={**empty_signs, "type unknown": 1.0}))


def _table(rows: Sequence[Signs], names: Sequence[str]) -> Any:
    """The signs as a sparse matrix, with a column for each name."""
    from scipy import sparse

    column_of = {name: column for column, name in enumerate(names)}
    entries = [(number, column_of[name], value) for number, row in enumerate(rows) for name, value in row.items()]
    row_numbers, columns, values = zip(*entries, strict=True)
    return sparse.csr_matrix((values, (row_numbers, columns)), shape=(len(rows), len(names)))
