"""The figures of all models on labelled pictures, side by side, as tables and as JSON."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from crawler.evaluation.image_labels import KINDS, Met
from crawler.evaluation.image_metrics import Figures, Interval, Link, figures, of_kind
from crawler.reports.html_page import aligned

MANY = 10
"""Pages that a site must have to be one of many pages."""
COLUMNS = "links noise AUC removed@98% kept NRecall NPrecision adverts".split()
NOTE = (
    "AUC, removed@98% (noise removed at 98% of content kept) and kept (content, by the model's own threshold) with 95% "
    "intervals by bootstrap over sites; NRecall and NPrecision (noise skipped over all noise, over all skipped) and "
    "adverts (skipped) by the model's own threshold."
)


class PictureTable(NamedTuple):
    """Figures by name."""

    title: str
    rows: dict[str, Figures]


def by_hand(met: Sequence[Met], names: Sequence[str]) -> list[PictureTable]:
    """The tables of labels by hand: all models, those on sites of many pages, and the first by kind and by set."""
    many = [one for one in met if one.pages >= MANY]
    first = _links(met, 0)
    kinds = [kind for kind in KINDS if any(link.kind == kind for link in first)]
    sets = sorted({link.set for link in first})
    return [
        PictureTable("model", _models(met, names)),
        PictureTable(f"model, sites of {MANY} pages or more", _models(many, names)),
        PictureTable(f"{names[0]}, kind against the other label", {one: figures(of_kind(first, one)) for one in kinds}),
        PictureTable(f"{names[0]}, set", {one: figures([link for link in first if link.set == one]) for one in sets}),
    ]


def text(tables: Iterable[PictureTable]) -> str:
    """The tables for people."""
    parts = ([(one.title, *COLUMNS), *((name, *cells(row)) for name, row in one.rows.items())] for one in tables)
    return "\n\n".join([*("\n".join(aligned(rows, range(len(COLUMNS) + 1))) for rows in parts), NOTE])


def record(tables: Iterable[PictureTable], counts: dict[str, int]) -> str:
    """The tables for programs."""
    found = {table.title: {name: row._asdict() for name, row in table.rows.items()} for table in tables}
    return json.dumps({"labels": counts, "tables": found}, ensure_ascii=False, indent=1) + "\n"


def _models(met: Sequence[Met], names: Sequence[str]) -> dict[str, Figures]:
    return {name: figures(_links(met, row)) for row, name in enumerate(names)}


def _links(met: Sequence[Met], row: int) -> list[Link]:
    """What one model said of the pictures."""
    return [
        Link(label.set, site, pages, label.is_noise, label.kind, scores[row], skipped[row])
        for label, site, pages, scores, skipped in met
    ]


def cells(row: Figures) -> list[str]:
    """Figures for people, under COLUMNS."""
    return [
        f"{row.links:,}",
        f"{row.noise:,}",
        _spread(row.auc, row.auc_interval),
        _spread(row.removed, row.removed_interval),
        _spread(row.kept, row.kept_interval),
        _short(row.recall),
        _short(row.precision),
        _short(row.adverts),
    ]


def _spread(value: float | None, interval: Interval | None) -> str:
    """A figure and its interval.

    >>> _spread(0.91, (0.875, 1.0)), _spread(0.5, None), _spread(None, None)
    ('.910 (.875-1.000)', '.500', '-')
    """
    return _short(value) if interval is None else f"{_short(value)} ({_short(interval[0])}-{_short(interval[1])})"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".removeprefix("0") if value < 1 else f"{value:.3f}"
