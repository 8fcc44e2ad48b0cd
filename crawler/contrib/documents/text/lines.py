"""Tells lines that a paragraph was broken into from lines whose ends matter.

Whoever breaks a paragraph puts as many words on a line as it has room for: a line is full if the first word of the next
line has no room on it. Lines of code, verses, tables and addresses end where their author wanted. The edge of a text is
the width of its full lines, in columns.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from crawler.page.text import EASTERN, FULL_STOPS, width

WIDEST = 120
"""Columns of the widest line that a paragraph was broken into; a longer line is a paragraph by itself."""
USUAL_EDGE = 72
"""The edge of a text that is too short to measure."""
SLACK = 0.12
"""The share of the edge that a full line may lack: people break lines by eye."""
LEAST_CONTINUING = 0.8
"""The least share of a paragraph's lines, without the last, after which it may continue: see `_may_continue`."""
NARROW = 60
"""From this edge on, lines are too wide for verses."""
LEAST_WITHIN = 0.5
"""The least share of a paragraph's narrow lines that end within a sentence: in most poems, few verses do."""
LEAST_FULL_NARROW = 0.75
"""The least share of a paragraph's narrow lines that are full: in poems whose verses end within sentences, few are."""
LEAST_OWN_EDGE = 3
"""A paragraph with at least this many lines has an edge of its own: its widest line."""
NEARLY_FULL = 0.6
"""The least width, as a share of the edge, of a line that is not full but ends within a sentence of a paragraph."""
LINES_FOR_EDGE = 10
"""The edge of a text is measured if the text has at least this many lines; otherwise it is USUAL_EDGE."""
EDGE_QUANTILE = 0.95
"""The edge is this quantile of the widths of lines, so that a few wider lines do not count."""
GAP = re.compile(r"\S {3,}\S")
"""Space between columns."""
WIDE_GAP = re.compile(r"\S {5,}\S")
"""Space between columns that is wider than programs make it between words to justify lines."""
DRAWING = re.compile(r"[+|][-=]{2,}|[-=_~^]{4,}|\|.*\||[\u2500-\u257f]|--+>|<--+|(?:\. ?){5,}|[{}]$|^\s*[|\\]|[|\\]$")
"""Signs of figures, tables and code."""
MOST_DRAWN = 0.3
"""The largest share of a paragraph's lines that may match DRAWING."""
FIRST_WORD = re.compile(r"\S{1,40}+")
STOPS = FULL_STOPS | frozenset(':：;；”’"」』）)!?…')
"""Characters at the end of a line after which its sentence probably does not continue."""


def indent(line: str) -> int:
    """Columns of space at the beginning of a line.

    >>> indent("   bees"), indent("\u3000\u3000蜜蜂"), indent("")
    (3, 4, 0)
    """
    return width(line) - width(line.lstrip())


def edge_of(lines: Sequence[str]) -> int:
    """The width of the full lines of a text, in columns."""
    widths = sorted(columns for columns in map(width, lines) if 0 < columns <= WIDEST)
    if len(widths) >= LINES_FOR_EDGE:
        return widths[int(len(widths) * EDGE_QUANTILE)]
    return USUAL_EDGE


def continues_paragraph(line: str, before: str, edge: int) -> bool:
    """Whether a line continues the paragraph of the line before it. The line before may be indented by up to two more
    columns, because it may be the first line of the paragraph.
    """
    further_left = indent(before) - indent(line)
    if further_left < 0 or further_left > 2 or DRAWING.search(before + line):
        return False
    return _may_continue(before, line, edge)


def is_paragraph(lines: Sequence[str], edge: int) -> bool:
    """Whether these lines form one paragraph, whatever their indentation."""
    if len(lines) < 2:
        return True

    # Tables, figures and code are not paragraphs.
    is_justified = len(lines) > 2 and len({width(line) for line in lines[:-1]}) == 1
    gap = WIDE_GAP if is_justified else GAP
    if any(map(gap.search, lines)):
        return False
    if sum(1 for line in lines if DRAWING.search(line)) > MOST_DRAWN * len(lines):
        return False

    # A paragraph may continue after most of its lines.
    own_edge = max(map(width, lines))
    if own_edge > WIDEST:
        return False
    if len(lines) >= LEAST_OWN_EDGE:
        edge = own_edge
    else:
        edge = max(own_edge, edge)
    pairs = list(pairwise(lines))
    continuing = sum(_may_continue(line, after, edge) for line, after in pairs)
    if continuing < LEAST_CONTINUING * len(pairs):
        return False
    if edge >= NARROW:
        return True

    # Narrow lines may be verses, or commands, which begin in lower case and do not end like a sentence.
    if lines[0].lstrip()[:1].islower() and lines[-1].rstrip()[-1:] not in STOPS:
        return False
    within_sentence = sum(_ends_within_sentence(line, after) for line, after in pairs)
    full = sum(_is_full(line, after, edge) for line, after in pairs)
    return within_sentence >= LEAST_WITHIN * len(pairs) and full >= LEAST_FULL_NARROW * len(pairs)


def _may_continue(line: str, after: str, edge: int) -> bool:
    """Whether a paragraph may continue in the line `after` a line: it is full, or nearly full within a sentence."""
    return _is_full(line, after, edge) or (_ends_within_sentence(line, after) and width(line) >= NEARLY_FULL * edge)


def _is_full(line: str, after: str, edge: int) -> bool:
    """Whether a line has no room for the first word of the next line."""
    return width(line) + _first_width(after.lstrip()) > edge * (1 - SLACK)


def _first_width(line: str) -> int:
    """Columns that the first word of a line would need at the end of the line before, with the space before it."""
    if line[:1] >= EASTERN:  # a wide character needs no space, and a line may end after it
        return 2
    word = FIRST_WORD.match(line)
    if word is None:
        return 1
    return 1 + len(word[0])


def _ends_within_sentence(line: str, after: str) -> bool:
    """Whether a line ends within a sentence that the next line continues."""
    last = line.rstrip()[-1:]
    first = after.lstrip()[:1]
    if last in STOPS:
        return False
    return first.islower() or (first >= EASTERN and last >= EASTERN) or last in ",，、"
