"""Finds the frames of a text: lines between two equal rules, such as titles, notes and commands.

AsciiDoc calls them delimited blocks (https://docs.asciidoctor.org/asciidoc/latest/blocks/delimited/). They may follow a
line with a plus sign, which attaches them to the paragraph above, so only a line with letters or digits is text above.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import pairwise

RULE = re.compile(r"\s*([=\-~^*_+#.·•])\1{3,}\s*$")
"""A line that repeats one character, at least four times."""
MOST_FRAMED = 100
"""The second rule of a frame is at most this many lines below the first one."""


@dataclass(frozen=True, slots=True)
class FramedLine:
    """A line, and the frame around it."""

    text: str
    _: KW_ONLY
    rule: str = ""
    """The rule above and below the frame; empty if the line is in no frame."""
    is_rule: bool = False
    """Whether the line itself is one of the two rules."""


def framed_lines(lines: Sequence[str]) -> Iterator[FramedLine]:
    """All lines, each with the frame around it.

    >>> [line.rule for line in framed_lines(["----", "make", "----", "Bees"])]
    ['----', '----', '----', '']
    """
    rules = [""] * len(lines)
    borders: set[int] = set()
    for first, last in _frames(lines):
        rules[first : last + 1] = [lines[first]] * (last + 1 - first)
        borders |= {first, last}
    for at, line in enumerate(lines):
        yield FramedLine(text=line, rule=rules[at], is_rule=at in borders)


def is_wall(line: str, rule: str) -> bool:
    """Whether a line begins and ends with the character of a rule: it is part of a box that is drawn on all sides.

    >>> is_wall("*  BEES  *", "**********"), is_wall("* Bees", "**********")
    (True, False)
    """
    character = rule.strip()[0]
    return line.lstrip().startswith(character) and line.rstrip().endswith(character)


def _frames(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The indexes of the two rules of each frame: equal rules without another equal one between them.

    A frame that begins within another is skipped.
    """
    indexes_of_rule: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        if RULE.match(line):
            indexes_of_rule.setdefault(line, []).append(at)
    candidates = sorted(pair for indexes in indexes_of_rule.values() for pair in pairwise(indexes))
    end = -1
    for first, last in candidates:
        if first > end and _is_frame(lines, first, last):
            yield first, last
            end = last


def _is_frame(lines: Sequence[str], first: int, last: int) -> bool:
    """Whether the lines with the indexes `first` and `last` are the rules of a frame.

    Text follows the first rule directly, and is not a box that is drawn on all sides. No text is directly above the
    first rule or below the second one; only a frame with a single line, a title, may have text directly below it.
    """
    if not 1 < last - first <= MOST_FRAMED:
        return False
    if is_wall(lines[first + 1], lines[first]):
        return False
    is_free_above = first == 0 or not any(map(str.isalnum, lines[first - 1]))
    is_free_below = last + 1 == len(lines) or not lines[last + 1].strip() or last - first == 2
    return is_free_above and is_free_below and bool(lines[first + 1].strip())
