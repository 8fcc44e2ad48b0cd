"""Tables and lists are kept or dropped as wholes: a table without some of its cells says something else.

The network judges each block. Of a data table or a list, all blocks are kept if most of their words would be, and none
if few would be. Between the two each row of a table is decided by its own words. A table for the layout of a page, one
with other tables or much text in its cells, stays as the network judged it, and so does a list of long items.
"""

from collections import Counter
from typing import TYPE_CHECKING

from crawler.page.blocks import Containers

if TYPE_CHECKING:  # imports numpy, which is delayed until the first page
    from crawler.extraction.auto.page_arrays import Floats

LISTS = frozenset(("ul", "ol"))
CELLS = frozenset(("td", "th"))
ALL, NONE = 0.6, 0.3
"""The share of the words from which all are kept, and below which none is."""
HALF = 0.5
"""The same for one row of a table."""
BLOCKS = 1.5
"""Blocks of an average cell or item, at most."""


def decide_wholes(containers: Containers, kept: list[bool], tokens: "Floats") -> None:
    """Change which of the judged blocks are kept, so that tables and lists are whole."""
    for whole, rows in _wholes(containers).items():
        if containers.ends[whole] > len(kept):
            continue
        share = _share(containers, whole, kept, tokens)
        if share >= ALL or share < NONE:
            _set(containers, whole, kept, share >= ALL)
            continue
        for row in rows:
            _set(containers, row, kept, _share(containers, row, kept, tokens) >= HALF)


def _wholes(containers: Containers) -> dict[int, list[int]]:
    """The data tables, each with its rows, and the lists, in page order."""
    rows: dict[int, list[int]] = {}
    items: dict[int, int] = {}
    table_of: list[int] = []
    layouts: set[int] = set()
    cells: Counter[int] = Counter()
    for at, (tag, parent) in enumerate(zip(containers.tags, containers.parents, strict=True)):
        table = table_of[parent] if parent >= 0 else -1
        table_of.append(at if tag == "table" else table)
        if tag == "table":
            layouts.add(table)
            rows[at] = []
        elif tag in LISTS:
            items[at] = 0
        elif containers.starts[at] < containers.ends[at]:  # what shows nothing does not count
            if tag == "tr" and table >= 0:
                rows[table].append(at)
            elif tag in CELLS:
                cells[parent] += 1
            elif tag == "li" and parent in items:
                items[parent] += 1
    tables = {at: found for at, found in rows.items() if at not in layouts and _is_data(containers, at, found, cells)}
    lists: dict[int, list[int]] = {
        at: [] for at, count in items.items() if count > 1 and _is_short(containers, at, count)
    }
    return dict(sorted((tables | lists).items()))


def _is_data(containers: Containers, table: int, rows: list[int], cells: Counter[int]) -> bool:
    """Whether most rows of a table have several cells, with little in each."""
    wide = sum(cells[row] > 1 for row in rows)
    return wide > 1 and 2 * wide >= len(rows) and _is_short(containers, table, sum(cells[row] for row in rows))


def _is_short(containers: Containers, at: int, parts: int) -> bool:
    return containers.ends[at] - containers.starts[at] <= BLOCKS * parts


def _share(containers: Containers, at: int, kept: list[bool], tokens: "Floats") -> float:
    """The share of a container's words that is kept."""
    inside = slice(containers.starts[at], containers.ends[at])
    return float(tokens[inside] @ kept[inside] / tokens[inside].sum())


def _set(containers: Containers, at: int, kept: list[bool], value: bool) -> None:
    start, end = containers.starts[at], containers.ends[at]
    kept[start:end] = [value] * (end - start)
