"""Paragraphs that a page breaks into lines of its own, put together again.

Old pages end every line of about 60 to 80 characters with a <br>; poems, addresses and lists do so, too, and must keep
their lines. Lines are taken for broken where they are as full as they can be: the next line's first word had no room on
them. That is so by chance in a poem once or twice, in a broken paragraph nearly always; and nearly all of its lines end
within a sentence. Headlines in a row, which have no full stop, are never a paragraph.
"""

import re
from itertools import pairwise

from lxml import etree

from crawler.page.contents import EASTERN, INLINE, SILENT, joined
from crawler.page.text import FULL_STOPS, fold_space, has_full_stop

LEAST_LINES = 4
# Columns of a full line; a Chinese character has two.
NARROWEST, WIDEST = 36, 120
# Lines differ by so much where the page was broken for letters of different widths.
SLACK = 0.12
# Shares of the line ends: within a sentence, and of those the ones at which there was no more room.
LEAST_WITHIN, LEAST_FULL = 0.5, 0.9
# A line that begins like this is one of a list: "Place: …", "l3:5:wait".
LABEL = re.compile(r"[^,.;，。；]{1,20}?[:：]")
MARKED = re.compile(
    r"[-–—*]\s|[•·‣・▪◦●○■□►▶◆◇★☆※✓✔]|[(（\[]?\d{1,3}[.)）\]、．](?!\d)|[①-⑳]|[一二三四五六七八九十]{1,3}、"
)
"""How the items of a list begin where the page writes their marks itself."""
FIRST_WORD = re.compile(r"\S{1,40}+")
STOPS = FULL_STOPS | frozenset(':：;；”’"」』）)!?…')


class Starts(dict[etree._Element, frozenset[str]]):
    """The lines in an element that have an empty one before them; all of it is read once for all of its runs."""

    def __missing__(self, element: etree._Element) -> frozenset[str]:
        self[element] = found = _starts_of_paragraphs(element)
        return found


def unwrapped(element: etree._Element, lines: list[str], starts: Starts) -> list[str]:
    """The paragraphs of these lines, which follow each other in an element; the lines where they are none."""
    if not (parts := paragraphs(element, lines, starts)):
        return lines
    return [in_one(lines[part.start : part.stop]) for part in parts]


def paragraphs(element: etree._Element, lines: list[str], starts: Starts) -> list[range]:
    """Which of these lines make up each paragraph; nothing where the page did not break them."""
    widths = list(map(width, lines))
    full = max(widths)
    if not NARROWEST <= full <= WIDEST:
        return []
    ends = range(len(lines) - 1)
    is_full = [widths[at] + _first_width(lines[at + 1]) > full * (1 - SLACK) for at in ends]
    within = [_is_within(lines[at], lines[at + 1]) for at in ends]
    both = sum(one and other for one, other in zip(is_full, within, strict=True))
    if both < LEAST_WITHIN * len(ends) or both < LEAST_FULL * sum(within) or not any(map(has_full_stop, lines)):
        return []
    apart = starts[element]
    begun = [at + 1 for at in ends if lines[at + 1] in apart or not (within[at] or is_full[at])]
    return [range(start, end) for start, end in pairwise([0, *begun, len(lines)])]


def width(text: str) -> int:
    """How many columns a text takes."""
    return len(text) if text.isascii() else sum(1 + (character >= EASTERN) for character in text)


def _first_width(line: str) -> int:
    """How many columns more it takes to begin this line on the one before."""
    if line[0] >= EASTERN:
        return 2
    word = FIRST_WORD.match(line)
    return 1 + len(word[0]) if word else 1


def _is_within(line: str, after: str) -> bool:
    """Whether the end of a line is within a sentence that goes on in the next one."""
    last, first = line[-1], after[0]
    if last in STOPS or LABEL.match(after) or MARKED.match(after):
        return False
    return first.islower() or (first >= EASTERN and last >= EASTERN) or last in ",，、"


def _starts_of_paragraphs(element: etree._Element) -> frozenset[str]:
    """The lines in an element that have an empty one before them."""
    found: list[str] = []
    pieces: list[str] = []
    breaks = 0

    def end_line() -> None:
        nonlocal breaks
        if text := fold_space(joined(pieces)) if pieces else "":
            if breaks > 1:
                found.append(text)
            breaks = 0
        pieces.clear()

    walker = etree.iterwalk(element, events=("start", "end"))
    for event, one in walker:
        if event == "start":
            if one.tag in SILENT:
                walker.skip_subtree()
                continue
            if one is not element and one.tag not in INLINE:
                end_line()
                breaks += 1 if one.tag == "br" else 2
                walker.skip_subtree()  # its lines are its own
                continue
            text = one.text
        else:
            text = one.tail if one is not element else None
        if text:
            pieces.append(text)
    end_line()
    return frozenset(found)


def in_one(lines: list[str]) -> str:
    """Lines as one; there is no space between two of Chinese or Japanese."""
    text = [lines[0]]
    for before, line in pairwise(lines):
        if not (before[-1] >= EASTERN and line[0] >= EASTERN):
            text.append(" ")
        text.append(line)
    return "".join(text)
