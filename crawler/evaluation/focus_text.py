"""How a crawl kept to its topic, for a terminal."""

from collections.abc import Iterator

from crawler.evaluation.focus_tables import Kept, Table, extremes, headline, learned_notes, tables, word_lists
from crawler.evaluation.learned_words import Weights

WIDTH = 100
"""Characters of a title or an address that are shown."""


def text(kept: Kept) -> Iterator[str]:
    """The report for a terminal, in lines."""
    lead, *more = headline(kept)
    yield from (f"{kept.name}: {lead}", *more)
    for table in tables(kept):
        yield from ("", *_lines(table))
    words = [f"{name}: {weighed(weights)}" for name, weights in word_lists(kept.learned).items()]
    for line in (*words, *learned_notes(kept.learned)):
        yield from ("", line)
    for table in extremes(kept):
        yield from ("", *_lines(table))


def _lines(table: Table) -> Iterator[str]:
    yield f"{table.title}:"
    cut = [table.heads, *(tuple(_one_line(cell, WIDTH) for cell in row) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    for row in cut:
        cells = zip(row, widths, table.heads, strict=True)
        padded = (cell.ljust(room) if head in table.texts else cell.rjust(room) for cell, room, head in cells)
        yield f"  {'  '.join(padded)}".rstrip()
    yield from (f"  {note}" for note in table.notes)


def _one_line(cell: str, width: int) -> str:
    """A cell without line ends, and not too long.

    >>> _one_line(" honey\\n bees ", 8), _one_line("honey bees", 10)
    ('honey b…', 'honey bees')
    """
    words = " ".join(cell.split())
    return words if len(words) <= width else f"{words[: width - 1]}…"


def weighed(words: Weights) -> str:
    """Words with their weights.

    >>> weighed((("honey", 0.51234), ("shop", -2.0)))
    'honey 0.512, shop -2'
    """
    return ", ".join(f"{word} {weight:.3g}" for word, weight in words)
