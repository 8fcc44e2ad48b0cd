"""The card of a model: what it was trained on, how it did, and what it is weak at. The same model has the same card."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import NamedTuple

from crawler import __version__
from crawler.extraction.auto.model import Model
from crawler.training import examples, fitting, gradient_descent, teacher
from crawler.training.sets import GoldSet
from crawler.training.trial import COLUMNS, Figures, PageScore, by_type, cells, figures
from crawler.translation.message import counted, printable

LIBRARIES = ("numpy", "scipy", "scikit-learn", "lightgbm")
LOWEST = 3
VALIDATION = (
    "Nothing was trained on the sets of validation; these weights judged them, but not pages of sites they were "
    "trained on"
)
_SIGNS = re.compile(r"[\\|<`]")
Rows = tuple[Sequence[str], Iterable[Sequence[str]]]
"""A head and the rows below it."""


class Made(NamedTuple):
    """A model, and all that is to be said of it."""

    sets: list[GoldSet]
    validation: list[GoldSet]
    examples: int
    """Pages that it was trained on."""
    held: dict[str, list[PageScore]]
    """Of the pages of sites kept apart, by set."""
    validated: dict[str, list[PageScore]]
    model: Model
    seed: int
    size: int
    """Bytes of the weights."""


def tables(made: Made) -> list[tuple[str, dict[str, Figures]]]:
    """The figures in groups, each with what it is of."""
    held = [score for scores in made.held.values() for score in scores]
    found = [
        ("pages of sites kept apart", {name: figures(scores) for name, scores in made.held.items()}),
        ("the same by type of page", by_type(held)),
        ("validation", {name: figures(scores) for name, scores in made.validated.items()}),
    ]
    return [(title, rows) for title, rows in found if rows]


def card(made: Made) -> str:
    """The card, in Markdown."""
    groups, networks = tables(made), made.model.networks
    layers = [layer for net in networks for layer in (net.first, *net.layers, net.last)]
    return written(
        "auto_card.md",
        LIBRARIES,
        {title.capitalize(): (("", *COLUMNS), _rows(rows)) for title, rows in groups} | _validation(made),
        made=made,
        sets=table(("set", "pages", "sites", "known", "fingerprint"), map(_about, made.sets)),
        examples=counted(made.examples, "page"),
        sites=counted(len({site for one in made.sets for site in one.sites}), "site"),
        weak="\n".join(f"- {title}: {_weakest(rows)}" for title, rows in groups),
        signs=len(networks[0].means),
        networks=len(networks),
        layers=" ".join(map(str, gradient_descent.STEPS)),
        numbers=sum(layer.weights.size + layer.bias.size for layer in layers),
        **{"cutting": examples, "descent": gradient_descent, "fitting": fitting, "pages": examples, "teacher": teacher},
    )


def written(template: str, libraries: Iterable[str], titled: Mapping[str, Rows], **values: object) -> str:
    """A card, made of its template, of tables with their titles, and of what else its template wants."""
    return (
        (files(__package__) / template)
        .read_text(encoding="utf-8")
        .format(
            version=__version__,
            figures="".join(f"{title}:\n\n{table(*cut)}\n\n" for title, cut in titled.items()),
            libraries="\n".join(f"| {name} | {version(name)} |" for name in libraries),
            **values,
        )
    )


def _rows(rows: Mapping[str, Figures]) -> list[tuple[str, ...]]:
    return [(name, *cells(row)) for name, row in rows.items()]


def _about(one: GoldSet) -> tuple[str, ...]:
    known = "gold text" if one.is_golden else "snippets"
    return one.name, f"{one.pages:,}", f"{len(one.sites):,}", known, one.fingerprint


def _validation(made: Made) -> dict[str, Rows]:
    judged = {one.name: f"{len(made.validated.get(one.name, ())):,}" for one in made.validation}
    rows = [(one.name, f"{one.pages:,}", judged[one.name], one.fingerprint) for one in made.validation]
    return {VALIDATION: (("set", "pages", "judged", "fingerprint"), rows)} if rows else {}


def _weakest(rows: Mapping[str, Figures]) -> str:
    lowest = sorted(rows.items(), key=lambda entry: (entry[1].f1, entry[0]))[:LOWEST]
    return "; ".join(f"{_escaped(name)} {row.f1:.3f} ({row.pages:,}), {_way(row)}" for name, row in lowest)


def _way(row: Figures) -> str:
    return "more is lost than left in" if row.recall < row.precision else "more is left in than lost"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(_escaped, row))} |" for row in rows)])


def _escaped(text: str) -> str:
    """A text that stays within its cell: sets are called as their files are."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(printable(text).split()))
