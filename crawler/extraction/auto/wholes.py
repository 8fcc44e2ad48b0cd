"""Data tables and lists are kept or left out whole: a table without some of its rows says something else.

The network judges each block. A data table between two blocks that are kept is kept. Any other table or list is kept if
enough of its words would be; between two blocks that are kept, fewer words are enough. A table for the layout of a
page, with other tables or much text in its cells, stays as the network judged it, and so does a list of long items.
"""

from collections import Counter
from typing import TYPE_CHECKING

from crawler.page.blocks import Containers

if TYPE_CHECKING:  # imports numpy, which is delayed until the first page
    from crawler.extraction.auto.page_arrays import Floats

LISTS = frozenset(("ul", "ol"))
CELLS = frozenset(("td", "th"))
ENOUGH, ENOUGH_BETWEEN = 0.3, 0.1
"""The share of the words: usually, and between two blocks that are kept."""
BLOCKS = 1.5
"""Blocks of an average cell or item, at most."""
NEAR = 2
"""So many blocks after a table or list are looked at: the first may be a note under it."""


def decide_wholes(containers: Containers, kept: list[bool], tokens: "Floats") -> None:
    """Change which of the judged blocks are kept, so that tables and lists are whole."""
    for whole in _wholes(containers):
        start, end = containers.starts[whole], containers.ends[whole]
        if end > len(kept):
            continue
        is_between = start > 0 and kept[start - 1] and any(kept[end : end + NEAR])
        words = tokens[start:end]
        is_enough = words @ kept[start:end] >= (ENOUGH_BETWEEN if is_between else ENOUGH) * words.sum()
        kept[start:end] = [bool(is_enough or (is_between and containers.tags[whole] == "table"))] * (end - start)


def _wholes(containers: Containers) -> list[int]:
    """The data tables and the lists, in page order."""
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
    tables = [at for at, found in rows.items() if at not in layouts and _is_data(containers, at, found, cells)]
    lists = [at for at, count in items.items() if count > 1 and _is_short(containers, at, count)]
    return sorted(tables + lists)


def _is_data(containers: Containers, table: int, rows: list[int], cells: Counter[int]) -> bool:
    """Whether most rows of a table have several cells, with little in each."""
    wide = sum(cells[row] > 1 for row in rows)
    return wide > 1 and 2 * wide >= len(rows) and _is_short(containers, table, sum(cells[row] for row in rows))


def _is_short(containers: Containers, at: int, parts: int) -> bool:
    return containers.ends[at] - containers.starts[at] <= BLOCKS * parts
