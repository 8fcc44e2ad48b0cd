"""How much of a page's structure a Markdown text keeps: its text, code, formulas and tables, each by itself.

Both texts are cut into the four parts in the same way, and each part is compared: text, code and formulas by the edit
similarity of all their characters, 1 - distance / length of the longer one; tables by the edit similarity of their
trees, whose nodes are tables, rows and cells: a cell that differs costs as much as its text does. A part that is in
neither text has no score; a part that is in one only has the score 0.
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
    parts_of_text = parts(markdown)
    other = parts(gold)
    similarities: dict[str, float | None] = {}
    for name in PARTS:
        part_of_text = getattr(parts_of_text, name)
        theirs = getattr(other, name)
        if not part_of_text and not theirs:
            similarities[name] = None
        elif not part_of_text or not theirs:
            similarities[name] = 0.0
        else:
            similarities[name] = (
                _of_tables(part_of_text, theirs)
                if name == "tables"
                else Levenshtein.normalized_similarity(part_of_text, theirs)
            )
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


def _of_tables(first: Sequence[Table], theirs: Sequence[Table]) -> float:
    """The similarity of tables: 1 - distance / nodes of the larger tree."""
    cost = _distance(first, theirs, _table_cost, _table_size)
    return max(0.0, 1 - cost / max(sum(map(_table_size, first)), sum(map(_table_size, theirs))))


def _table_size(table: Table) -> int:
    return 1 + sum(map(_row_size, table))


def _row_size(row: tuple[str, ...]) -> int:
    return 1 + len(row)


def _table_cost(first: Table, theirs: Table) -> float:
    return _distance(first, theirs, _row_cost, _row_size)


def _row_cost(first: tuple[str, ...], theirs: tuple[str, ...]) -> float:
    return _distance(first, theirs, _cell_cost, _cell_size)


def _cell_size(_: str) -> int:
    return 1


def _cell_cost(first: str, theirs: str) -> float:
    if first == theirs:
        return 0.0
    return Levenshtein.normalized_distance(first, theirs)


def _distance(
    first: Sequence[T], theirs: Sequence[T], cost: Callable[[T, T], float], size: Callable[[T], int]
) -> float:
    """The least cost to make one sequence of trees another: leave out, insert, or change the trees in their order."""
    before = [0.0]
    for other in theirs:
        before.append(before[-1] + size(other))
    for tree in first:
        row = [before[0] + size(tree)]
        for at, other in enumerate(theirs):
            least = min(before[at + 1] + size(tree), row[at] + size(other))
            row.append(min(least, before[at] + cost(tree, other)))
        before = row
    return before[-1]
