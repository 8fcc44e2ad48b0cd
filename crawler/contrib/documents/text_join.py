"""Joins the lines of a paragraph: removes hyphens at line ends, and adds no space between Chinese or Japanese lines."""

import re
from collections.abc import Collection, Sequence

from crawler.page.text import EASTERN

SOFT_HYPHEN = "\u00ad"
DIVIDED = re.compile(rf"([^\W\d_]{{1,60}})[-{SOFT_HYPHEN}]$")
"""The first part of a word that a hyphen divides at the end of a line."""
WORD_BEGINNING = re.compile(r"[^\W\d_]{1,60}")
HANGUL = ("\u1100", "\u11ff", "\uac00", "\ud7a3")
"""The first and last characters of the two blocks of Korean, which has spaces between words."""
FULL_WIDTH = frozenset("‘’“”…—·")
"""Punctuation marks that are Chinese between Chinese characters."""
NO_WORDS: frozenset[str] = frozenset()


def joined(lines: Sequence[str], compounds: Collection[str] = NO_WORDS) -> str:
    """The text of the lines; `compounds` are words in lower case that keep a hyphen at the end of a line.

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
            after = WORD_BEGINNING.match(line)
            if divided and after:
                # Before a capital letter, the hyphen belongs to the word.
                is_compound = f"{divided[1]}-{after[0]}".lower() in compounds
                if after[0][0].islower() and not is_compound:
                    text[-1] = before[:-1]
            elif not _are_unspaced(before[-1], line[0]):
                text.append(" ")
        text.append(line)
    return "".join(text)


def _are_unspaced(last: str, first: str) -> bool:
    """Whether no space belongs between two characters: both are Chinese or Japanese, or one and a full-width mark."""
    if _is_hangul(last) and _is_hangul(first):
        return False
    return (last >= EASTERN and (first >= EASTERN or first in FULL_WIDTH)) or (first >= EASTERN and last in FULL_WIDTH)


def _is_hangul(character: str) -> bool:
    return HANGUL[0] <= character <= HANGUL[1] or HANGUL[2] <= character <= HANGUL[3]
