"""Prints a table of the scores of programs for each file of pages: what `--metadata` and `--structure` share."""

from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any

from crawler.command_line.terminal import FAILED, printable, say
from crawler.contrib.lab.evaluation.gold import objects
from crawler.reports.html_page import aligned

CALLED = "evaluate"
"""The name of the command in messages."""
Row = dict[str, Any]
"""A page as the object in a line of a file."""


def print_tables(
    paths: list[Path],
    fault_of: Callable[[Row], str],
    table_rows: Callable[[list[Row]], Iterator[tuple[str, ...]]],
    left_aligned: Container[int],
) -> int:
    """Print a table for the pages of each file, without the pages that have a fault; returns the exit status.

    `fault_of` returns why a page cannot be used, or an empty text. `table_rows` scores the pages and yields the head
    and the rows of the table. `left_aligned` are the indexes of the columns of texts.
    """
    status = 0
    for path in paths:
        pages = []
        for number, row in objects(path):
            fault = row if isinstance(row, str) else fault_of(row)  # a text is the fault of a broken line
            if fault:
                say(CALLED, f"{path}:{number}: {fault}")
                status = FAILED
            elif isinstance(row, dict):
                pages.append(row)
        if pages:
            print(f"{path.name}: {len(pages):,} pages")
            print("\n".join(map(printable, aligned([*table_rows(pages)], left_aligned))), end="\n\n")
    return status
