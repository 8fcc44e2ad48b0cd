"""The card of a model: what it was trained on, how it did, and what it is weak at. The same model has the same card."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

from crawler import __version__
from crawler.extraction.auto.model import Model
from crawler.training import cutting, descent, examples, fitting, teacher
from crawler.training.sets import GoldSet
from crawler.training.trial import COLUMNS, Figures, Mark, by_type, cells, figures
from crawler.wording import counted, printable

LIBRARIES = ("numpy", "scipy", "scikit-learn", "lightgbm")
LOWEST = 3
_SIGNS = re.compile(r"[\\|<`]")


class Made(NamedTuple):
    """A model, and all that is to be said of it."""

    sets: list[GoldSet]
    validation: list[GoldSet]
    examples: int
    """Pages that it was trained on."""
    held: dict[str, list[Mark]]
    """Of the pages of sites kept apart, by set."""
    validated: dict[str, list[Mark]]
    model: Model
    seed: int
    size: int
    """Bytes of the weights."""


def tables(made: Made) -> list[tuple[str, dict[str, Figures]]]:
    """The figures in groups, each with what it is of."""
    held = [mark for marks in made.held.values() for mark in marks]
    found = [
        ("pages of sites kept apart", {name: figures(marks) for name, marks in made.held.items()}),
        ("the same by type of page", by_type(held)),
        ("validation", {name: figures(marks) for name, marks in made.validated.items()}),
    ]
    return [(title, rows) for title, rows in found if rows]


def card(made: Made) -> str:
    """The card, in Markdown."""
    return "\n".join([*_head(made), *_trained_on(made), *_held_out(made), *_weak(made), *_parameters(made)])


def _head(made: Made) -> Iterator[str]:
    yield "# Weights of auto"
    yield ""
    yield (
        f"Made by `scrapy train auto` of Winnow {__version__}: {made.size:,} bytes. They judge the blocks of a page, "
        "main text or not, and tell the type of the page."
    )
    yield ""


def _trained_on(made: Made) -> Iterator[str]:
    sites = {site for one in made.sets for site in one.sites}
    yield "## Trained on"
    yield ""
    yield from table(("set", "pages", "sites", "known", "fingerprint"), map(_about, made.sets))
    yield ""
    yield (
        f"{counted(made.examples, 'page')} of {counted(len(sites), 'site')}; pages that show nothing teach nothing. A "
        "site is a registrable domain; a page without an address is one by itself."
    )
    yield ""


def _about(one: GoldSet) -> tuple[str, ...]:
    known = "gold text" if one.is_golden else "snippets"
    return one.name, f"{one.pages:,}", f"{len(one.sites):,}", known, one.fingerprint


def _held_out(made: Made) -> Iterator[str]:
    yield "## How it does"
    yield ""
    yield (
        f"One site in {fitting.FOLDS} was kept apart, and a model trained on the others in the same way judged its "
        "pages; then these weights were trained on everything. Precision and recall are of runs of four tokens, as "
        "`scrapy evaluate` has them. Page type: the share of pages that got the type their set gives them."
    )
    for title, rows in tables(made):
        yield ""
        yield f"{title.capitalize()}:"
        yield ""
        yield from table(("", *COLUMNS), ((name, *cells(row)) for name, row in rows.items()))
    yield ""
    if made.validation:
        yield (
            "Nothing was trained on the sets of validation; these weights judged them, but not pages of sites they "
            "were trained on:"
        )
        yield ""
        yield from table(
            ("set", "pages", "judged", "fingerprint"),
            (
                (one.name, f"{one.pages:,}", f"{len(made.validated.get(one.name, ())):,}", one.fingerprint)
                for one in made.validation
            ),
        )
        yield ""


def _weak(made: Made) -> Iterator[str]:
    yield "## Weak at"
    yield ""
    yield "The lowest shingle F1 of each table, with the number of pages:"
    yield ""
    for title, rows in tables(made):
        lowest = sorted(rows.items(), key=lambda entry: (entry[1].f1, entry[0]))[:LOWEST]
        said = (f"{_escaped(name)} {row.f1:.3f} ({row.pages:,}), {_way(row)}" for name, row in lowest)
        yield f"- {title}: {'; '.join(said)}"
    yield ""


def _way(row: Figures) -> str:
    return "more is lost than left in" if row.recall < row.precision else "more is left in than lost"


def _parameters(made: Made) -> Iterator[str]:
    networks = made.model.networks
    layers = [layer for net in networks for layer in (net.first, *net.layers, net.last)]
    numbers = sum(layer.weights.size + layer.bias.size for layer in layers)
    constants: Mapping[str, object] = {
        "seed": made.seed,
        "epochs": fitting.EPOCHS,
        "signs of a block": len(networks[0].means),
        "networks": len(networks),
        "layers": " ".join(map(str, descent.STEPS)) + f", width {descent.WIDTH}, {numbers:,} numbers",
        "pages a step, rate, decay": f"{descent.PAGES}, {descent.RATE:g}, {descent.DECAY:g}",
        "forgotten, blind": f"{descent.FORGOTTEN:g}, {descent.BLIND:g}",
        "part of F1 in the error": f"{descent.F1_SHARE:g}",
        "part of the teacher in a label": f"{fitting.TRUST:g}",
        "trees of the teacher": f"{teacher.TREES}, {teacher.TEACHER['num_leaves']} leaves",
        "part of main text in copies": " to ".join(f"{share:g}" for share in cutting.SHARE),
        "pages with a copy without names": f"{fitting.PLAIN:g}",
        "weight of a copy, of a page of snippets": f"{fitting.COPY_WEIGHT:g}, {examples.SNIPPETS_WEIGHT:g}",
        **{library: version(library) for library in LIBRARIES},
    }
    yield "## Parameters"
    yield ""
    yield from table(("", "value"), ((name, str(value)) for name, value in constants.items()))
    yield ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(_escaped, row))} |"


def _escaped(text: str) -> str:
    """A text that stays within its cell: sets are called as their files are."""
    return _SIGNS.sub(r"\\\g<0>", " ".join(printable(text).split()))
