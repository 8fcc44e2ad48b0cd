"""Which lines of a text follow each other within a paragraph, and which stand for themselves.

A program or a person that breaks a paragraph puts on each line what has room there. So the first word of the next line
had none: a line is full. Code, verses, tables and addresses end where their author wanted.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from crawler.page.text import EASTERN, FULL_STOPS, width

WIDEST = 120
"""Columns of a line that a paragraph was broken into; a longer one is a paragraph by itself."""
USUAL_EDGE = 72
"""Columns of a full line where a text is too short to tell."""
SLACK = 0.12
"""Share of the columns that a full line may lack: people break lines by eye."""
LEAST_FULL = 0.8
"""Share of a paragraph's lines, without the last, that are full."""
NARROW, LEAST_WITHIN, LEAST_FULL_NARROW = 60, 0.5, 0.75
"""Narrower lines may be verses. Those of most poems begin anew: so many of their ends must be within a sentence. Others
go on in lower case, and end anywhere: so many lines must be full.
"""
LEAST_OWN_EDGE = 3
"""Lines of a paragraph that show by themselves how wide they may be."""
FAR = 0.6
"""Share of the columns after which a line that ends within a sentence goes on in the next."""
LINES_FOR_EDGE = 10
EDGE_QUANTILE = 0.95
GAP = re.compile(r"\S {3,}\S")
"""Space between columns."""
WIDE_GAP = re.compile(r"\S {5,}\S")
"""Space that no program puts between words so that all lines end in one column."""
DRAWING = re.compile(r"[+|][-=]{2,}|[-=_~^]{4,}|\|.*\||[\u2500-\u257f]|--+>|<--+|(?:\. ?){5,}|[{}]$|^\s*[|\\]|[|\\]$")
"""Signs of figures, tables and code."""
MOST_DRAWN = 0.3
FIRST_WORD = re.compile(r"\S{1,40}+")
STOPS = FULL_STOPS | frozenset(':：;；”’"」』）)!?…')


def indent(line: str) -> int:
    """How many columns of space a line begins with.

    >>> indent("   bees"), indent("\u3000\u3000蜜蜂"), indent("")
    (3, 4, 0)
    """
    return width(line) - width(line.lstrip())


def edge_of(lines: Sequence[str]) -> int:
    """The column that the full lines of a text reach."""
    widths = sorted(columns for line in lines if 0 < (columns := width(line)) <= WIDEST)
    if len(widths) >= LINES_FOR_EDGE:
        return widths[int(len(widths) * EDGE_QUANTILE)]
    return USUAL_EDGE


def goes_on(line: str, after: str, edge: int) -> bool:
    """Whether a paragraph goes on from a line to the next."""
    if indent(line) < indent(after) or abs(indent(line) - indent(after)) > 2 or DRAWING.search(line + after):
        return False
    return _is_going_on(line, after, edge)


def is_paragraph(lines: Sequence[str], edge: int) -> bool:
    """Whether these lines are those of one paragraph, whatever their indentation."""
    if len(lines) < 2:
        return True
    is_even = len(lines) > 2 and len({width(line) for line in lines[:-1]}) == 1
    if any(map(WIDE_GAP.search if is_even else GAP.search, lines)):
        return False
    if sum(1 for line in lines if DRAWING.search(line)) > MOST_DRAWN * len(lines):
        return False
    own = max(map(width, lines))
    if own > WIDEST:
        return False
    edge = own if len(lines) >= LEAST_OWN_EDGE else max(own, edge)
    ends = list(pairwise(lines))
    within = [_is_within(line, after) for line, after in ends]
    going_on = [_is_going_on(line, after, edge) for line, after in ends]
    if sum(going_on) < LEAST_FULL * len(ends):
        return False
    if edge >= NARROW:
        return True
    if lines[0].lstrip()[:1].islower() and lines[-1].rstrip()[-1:] not in STOPS:
        return False
    full = [_is_full(line, after, edge) for line, after in ends]
    return sum(within) >= LEAST_WITHIN * len(ends) and sum(full) >= LEAST_FULL_NARROW * len(ends)


def _is_going_on(line: str, after: str, edge: int) -> bool:
    return _is_full(line, after, edge) or (_is_within(line, after) and width(line) >= FAR * edge)


def _is_full(line: str, after: str, edge: int) -> bool:
    """Whether the first word of the next line has no room on a line."""
    return width(line) + _first_width(after.lstrip()) > edge * (1 - SLACK)


def _first_width(line: str) -> int:
    """How many columns more it takes to begin this line on the one before."""
    if line[:1] >= EASTERN:
        return 2
    word = FIRST_WORD.match(line)
    return 1 + len(word[0]) if word else 1


def _is_within(line: str, after: str) -> bool:
    """Whether the end of a line is within a sentence that goes on in the next one."""
    last = line.rstrip()[-1:]
    first = after.lstrip()[:1]
    if last in STOPS:
        return False
    return first.islower() or (first >= EASTERN and last >= EASTERN) or last in ",，、"
