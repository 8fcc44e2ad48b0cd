"""Trains the weights by which author and date of publication are chosen (crawler.metadata.choice).

1. The candidates of each page are read with their signs. Each page counts twice, the second time as a page whose type
   is not known, because only `auto` tells it.
2. The weights that make the right candidate likeliest are found by gradient descent (L-BFGS), with a penalty for large
   ones. Where the right value is no candidate, the empty field is right.
3. Sites are cut in five parts; weights trained without a part judge the pages of it. Then the weights are trained on
   all pages.
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
FOLDS = 5
PENALTY = 1.0
MAX_STEPS = 300
DIGITS = 2  # of a weight

Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class FieldExample:
    """The candidates of a page, and the right value."""

    site: str
    candidates: Candidates
    gold: str

    def right(self) -> int:
        """The index of the right candidate, after the last one if the field should be empty."""
        values = list(self.candidates.signs)
        if self.gold in values:
            return values.index(self.gold)
        return len(values)


@dataclass(frozen=True, slots=True)
class FieldTraining:
    """The weights for a field, and how weights trained in the same way did on other sites."""

    pages: int
    weights: Weights
    held: FieldCounts


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
    for number, row in objects(path):
        if isinstance(row, str) or not isinstance(row.get("html"), str):
            raise GoldError(f"line {number} of {path}: {row if isinstance(row, str) else 'no html'}")
        known_fields = [field for field in FIELDS if isinstance(row.get(field), str)]
        if known_fields:
            # A page without an address is a site by itself.
            url = absolute("", str(row.get("url"))) or f"http://{path.name}-{number}/"
            page = Page.from_html(row["html"], url)
            extraction = auto(page)
            where = address_of(url).site
            for field in known_fields:
                yield field, _example(field, where, FIELDS[field](page, extraction), row[field])


def _example(field: str, where: str, candidates: Candidates, gold: str) -> FieldExample:
    same = [value for value in candidates.signs if gold and is_right(field, value, gold)]
    # Of several spellings, the one of about the same length is meant.
    return FieldExample(
        site=where, candidates=candidates, gold=min(same, key=lambda value: abs(len(value) - len(gold)), default=gold)
    )


def _trained(field: str, examples: list[FieldExample], seed: int) -> FieldTraining:
    part_of = parts_of((example.site for example in examples), FOLDS, seed)
    pairs: list[tuple[str, str]] = []
    for part in range(FOLDS):
        weights = fit(example for example in examples if part_of[example.site] != part)
        pairs += [
            (chosen(example.candidates, weights), example.gold) for example in examples if part_of[example.site] == part
        ]
    return FieldTraining(pages=len(examples), weights=fit(examples), held=counts(field, pairs))


def fit(examples: Iterable[FieldExample]) -> Weights:
    """The weights that make the right candidates likeliest."""
    from scipy.optimize import minimize

    rows: list[Signs] = []
    pages: list[int] = []
    right: list[int] = []
    for number, example in enumerate(_doubled(examples)):
        right.append(len(rows) + example.right())
        rows += [*example.candidates.signs.values(), example.candidates.page]
        pages += [number] * (len(example.candidates.signs) + 1)
    names = sorted({name for row in rows for name in row})
    table = _table(rows, names)
    page = np.array(pages)
    at = np.array(right)

    def error(weights: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        scores = table @ weights
        powers = np.exp(scores - scores.max())
        likely = powers / np.bincount(page, powers)[page]
        slope = likely.copy()
        slope[at] -= 1
        total = PENALTY * float(weights @ weights) - float(np.log(np.maximum(likely[at], 1e-300)).sum())
        return total, table.T @ slope + 2 * PENALTY * weights

    best = minimize(error, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS}).x
    return {name: round(float(weight), DIGITS) for name, weight in zip(names, best, strict=True)}


def _doubled(examples: Iterable[FieldExample]) -> Iterator[FieldExample]:
    for example in examples:
        yield example
        page: Signs = {name: value for name, value in example.candidates.page.items() if not name.startswith("type ")}
        yield replace(example, candidates=replace(example.candidates, page={**page, "type unknown": 1.0}))


def _table(rows: Sequence[Signs], names: Sequence[str]) -> Any:
    from scipy import sparse

    column = {name: at for at, name in enumerate(names)}
    places = [(at, column[name], value) for at, row in enumerate(rows) for name, value in row.items()]
    lines, columns, values = zip(*places, strict=True)
    return sparse.csr_matrix((values, (lines, columns)), shape=(len(rows), len(names)))
