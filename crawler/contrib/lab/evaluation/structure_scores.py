"""Scores how much of a page's structure a Markdown text keeps: its text, code, formulas and tables, each separately.

Both texts are cut into the four parts in the same way. Text, code and formulas are compared by the edit similarity of
all their characters: 1 - distance / length of the longer one. Tables are compared by the edit similarity of their
trees, whose nodes are tables, rows and cells; changing a cell costs the edit distance of its text, from 0 to 1. A part
that neither text has is not scored; a part that only one has scores 0.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rapidfuzz.distance import Levenshtein

T = TypeVar("T")
PARTS = ("text", "code", "formulas", "tables")
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})[^\n`]*\n(.*?)^[ >]*\1[`~]*[ \t]*$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$])\$(?![\s$])([^$\n]+?)(?<![\s\\])\$(?![\d$])")
_ROW = re.compile(r"^[ >]*\|.*\|[ \t]*$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")
_CELL = re.compile(r"(?<!\\)\|")
_IMAGE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[((?:[^\]\\]|\\.)*)\]\([^)]*\)")
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
    """The parts of a Markdown text."""
    code = [fence[2].rstrip() for fence in _FENCE.finditer(markdown)]
    rest = _SPAN.sub(lambda span: span[0].replace("$", "\\$"), _FENCE.sub("", markdown))
    formulas = _DISPLAY.findall(rest)
    rest = _DISPLAY.sub("", rest)
    formulas += _INLINE.findall(rest)
    rest = _INLINE.sub("", rest)
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
    """The similarity of each part of two Markdown texts."""
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
    end = -1
    for row in _ROW.finditer(markdown):
        if row.start() != end + 1 or not tables:
            tables.append([])
        end = row.end()
        line = row[0].strip(" >\t")
        if not _RULE.fullmatch(line):
            cells = [_MARKS.sub("", _LINK.sub(r"\1", cell)).strip() for cell in _CELL.split(line)[1:-1]]
            tables[-1].append(tuple(" ".join(cell.split()) for cell in cells))
    return tuple(tuple(table) for table in tables if table)


def _table_similarity(first: Sequence[Table], second: Sequence[Table]) -> float:
    """The similarity of tables: 1 - distance / nodes of the larger tree."""
    cost = _distance(first, second, _table_cost, _table_size)
    return max(0.0, 1 - cost / max(sum(map(_table_size, first)), sum(map(_table_size, second))))


def _table_size(table: Table) -> int:
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
    """The least cost of changing one sequence of trees into another by removing, inserting and changing trees."""
    # As in the edit distance of strings, `row[n]` is the cost for the trees read so far and the first n others.
    row = [0.0]
    for other in second:
        row.append(row[-1] + size(other))
    for tree in first:
        previous_row = row
        row = [previous_row[0] + size(tree)]
        for at, other in enumerate(second):
            removed = previous_row[at + 1] + size(tree)
            inserted = row[at] + size(other)
            changed = previous_row[at] + cost(tree, other)
            row.append(min(removed, inserted, changed))
    return row[-1]
