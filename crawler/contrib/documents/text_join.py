"""Lines of a paragraph as one line: hyphens undone, and no space between lines of Chinese and Japanese."""

import re
from collections.abc import Collection, Sequence

from crawler.page.text import EASTERN

SOFT = "\u00ad"
DIVIDED = re.compile(rf"([^\W\d_]{{1,60}})[-{SOFT}]$")
NEXT = re.compile(r"[^\W\d_]{1,60}")
HANGUL = ("\u1100", "\u11ff", "\uac00", "\ud7a3")
FULL_WIDTH = frozenset("‘’“”…—·")
"""Marks that are Chinese where they stand between Chinese characters."""
NO_WORDS: frozenset[str] = frozenset()


def joined(lines: Sequence[str], compounds: Collection[str] = NO_WORDS) -> str:
    """The text of lines that follow each other; `compounds` are words that are written with a hyphen.

    >>> joined(["A beekeep-", "er of well-", "known bees."], {"well-known"}), joined(["蜜蜂在", "黑暗的蜂巢"])
    ('A beekeeper of well-known bees.', '蜜蜂在黑暗的蜂巢')
    """
    text: list[str] = []
    for line in lines:
        if not line:
            continue
        if text:
            before = text[-1]
            divided = DIVIDED.search(before[-62:])
            after = NEXT.match(line)
            if divided and after and after[0][0].islower():
                if f"{divided[1]}-{after[0]}".lower() not in compounds:
                    text[-1] = before[:-1]
            elif not ((divided and after) or _is_eastern(before[-1], line[0])):
                text.append(" ")
        text.append(line)
    return "".join(text)


def _is_eastern(last: str, first: str) -> bool:
    """Whether there is no space between two characters, at least one of which has full width."""
    if _is_hangul(last) and _is_hangul(first):
        return False
    return (last >= EASTERN and (first >= EASTERN or first in FULL_WIDTH)) or (first >= EASTERN and last in FULL_WIDTH)


def _is_hangul(character: str) -> bool:
    return HANGUL[0] <= character <= HANGUL[1] or HANGUL[2] <= character <= HANGUL[3]
