"""Scores how much of a page's structure a Markdown text keeps: its text, code, formulas and tables, each separately.

The output of a program and the gold, both in Markdown, are cut into the four parts in the same way. Text, code and
formulas are compared by the edit similarity of all their characters: 1 - distance / length of the longer one. Tables
are compared by the edit similarity of their trees, whose nodes are tables, rows and cells. Removing or inserting a node
costs 1. Changing a cell costs the edit distance of the two texts divided by the length of the longer one. A part that
neither Markdown text has is not scored; a part that only one has scores 0.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rapidfuzz.distance import Levenshtein

T = TypeVar("T")
"""A table, a row or a cell."""
PARTS = ("text", "code", "formulas", "tables")
# A block of code between two fences, also in quotes and lists; the second group is the code.
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})[^\n`]*\n(.*?)^[ >]*\1[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_DISPLAY_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
# A formula such as `$x^2$`; sums of money such as "$5 and $6" are no formula.
_INLINE_FORMULA = re.compile(r"(?<![\\$])\$(?![\s$])([^$\n]+?)(?<![\s\\])\$(?![\d$])")
_ROW = re.compile(r"^[ >]*\|.*\|[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")
"""The row of dashes below the head of a table."""
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[((?:[^\]\\]|\\.)*)\]\([^)]*\)")
# Marks of blocks (quotes, headings, list items) at the start of a line, of emphasis and code, and escaping backslashes.
_MARKS = re.compile(r"^[ >]*(?:#{1,6} +|[-*+] +|:\s+|\d+[.)] +)?|[*_`]+|\\(?=[!-/:-@\[-`{-~])", re.MULTILINE)

Table = tuple[tuple[str, ...], ...]
"""The cells of each row."""


@dataclass(frozen=True, slots=True)
class MarkdownParts:
    """The parts of a Markdown text."""

    text: str
    code: str
    formulas: str
    tables: tuple[Table, ...]


def parts(markdown: str) -> MarkdownParts:
    """The parts of a Markdown text, cut out one after another."""
    code = [fence[2].rstrip() for fence in _FENCE.finditer(markdown)]
    rest = _FENCE.sub("", markdown)

    # A dollar sign in a code span does not begin a formula, so it is escaped.
    rest = _CODE_SPAN.sub(lambda span: span[0].replace("$", "\\$"), rest)
    formulas = _DISPLAY_FORMULA.findall(rest)
    rest = _DISPLAY_FORMULA.sub("", rest)
    formulas += _INLINE_FORMULA.findall(rest)
    rest = _INLINE_FORMULA.sub("", rest)

    # The part `text` has no tables and images, and only the texts of links.
    tables = _tables(rest)
    text = _LINK.sub(r"\1", _IMAGE.sub("", _ROW.sub("", rest)))
    text = " ".join(_MARKS.sub("", text).split())
    return MarkdownParts(
        text=text,
        code="\n".join(code),
        formulas="\n".join("".join(formula.split()) for formula in formulas),
        tables=tables,
    )


def scores(markdown: str, gold: str) -> dict[str, float | None]:
    """The similarity of each part of two Markdown texts, from 0 to 1; None for a part that neither has."""
    output_parts = parts(markdown)
    gold_parts = parts(gold)
    similarities: dict[str, float | None] = {}
    for name in PARTS:
        output_part = getattr(output_parts, name)
        gold_part = getattr(gold_parts, name)
        if not output_part and not gold_part:
            similarities[name] = None
        elif not output_part or not gold_part:
            similarities[name] = 0.0
        elif name == "tables":
            similarities[name] = _table_similarity(output_part, gold_part)
        else:
            similarities[name] = Levenshtein.normalized_similarity(output_part, gold_part)
    return similarities


def _tables(markdown: str) -> tuple[Table, ...]:
    tables: list[list[tuple[str, ...]]] = []
    end_of_row = -1
    for row in _ROW.finditer(markdown):
        if row.start() != end_of_row + 1 or not tables:  # not right below a row, so another table begins
            tables.append([])
        end_of_row = row.end()
        line = row[0].strip(" >\t")
        if not _RULE.fullmatch(line):
            cells = [_MARKS.sub("", _LINK.sub(r"\1", cell)).strip() for cell in _CELL_BORDER.split(line)[1:-1]]
            tables[-1].append(tuple(" ".join(cell.split()) for cell in cells))
    return tuple(tuple(table) for table in tables if table)


def _table_similarity(first: Sequence[Table], second: Sequence[Table]) -> float:
    """The similarity of two lists of tables: 1 - distance / nodes of the larger tree, at least 0."""
    distance = _distance(first, second, _table_cost, _table_size)
    nodes = max(sum(map(_table_size, first)), sum(map(_table_size, second)))
    # The distance may exceed the nodes of the larger tree, as one tree is removed and the other inserted.
    return max(0.0, 1 - distance / nodes)


def _table_size(table: Table) -> int:
    """The nodes of a table."""
    return 1 + sum(map(_row_size, table))


def _row_size(row: tuple[str, ...]) -> int:
    return 1 + len(row)


def _table_cost(first: Table, second: Table) -> float:
    return _distance(first, second, _row_cost, _row_size)


def _row_cost(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    return _distance(first, second, _cell_cost, _cell_size)


def _cell_size(_: str) -> int:
    return 1


def _cell_cost(first: str, second: str) -> float:
    if first == second:
        return 0.0
    return Levenshtein.normalized_distance(first, second)


def _distance(
    first: Sequence[T], second: Sequence[T], cost: Callable[[T, T], float], size: Callable[[T], int]
) -> float:
    """The least cost of changing one sequence of trees into another by removing, inserting and changing trees.

    `cost` is the cost of changing one tree into another, `size` the cost of removing or inserting a tree.
    """
    # As in the edit distance of strings: `costs[n]` is the cost of changing the trees of `first` that were read so far
    # into the first n trees of `second`.
    costs = [0.0]
    for other in second:
        costs.append(costs[-1] + size(other))
    for tree in first:
        previous_costs = costs
        costs = [previous_costs[0] + size(tree)]
        for index, other in enumerate(second):
            removed = previous_costs[index + 1] + size(tree)
            inserted = costs[index] + size(other)
            changed = previous_costs[index] + cost(tree, other)
            costs.append(min(removed, inserted, changed))
    return costs[-1]
