"""Joins the lines of a paragraph: removes hyphens at line ends, and adds no space between Chinese or Japanese lines.

Korean has spaces between words, so its lines are joined like English ones.
"""

import re
from collections.abc import Collection, Sequence

from crawler.page.text import EASTERN

SOFT_HYPHEN = "\u00ad"
DIVIDED = re.compile(rf"([^\W\d_]{{1,60}})[-{SOFT_HYPHEN}]$")
"""The first part of a word that a hyphen divides at the end of a line."""
WORD_BEGINNING = re.compile(r"[^\W\d_]{1,60}")
MOST_DIVIDED = 61
"""The most characters that DIVIDED matches. Only this many at the end of a line are searched, because a line may be a
whole paragraph.
"""
HANGUL = re.compile("[\u3131-\u3163\uac00-\ud7a3]")
"""Letters and syllables of Korean, without its middle dot (U+318D)."""
MIDDLE_DOTS = frozenset("·\u318d\u30fb")
"""Marks between the members of a list; there is no space beside them in Korean either."""
FULL_WIDTH = frozenset("‘’“”…—·")
"""Punctuation marks outside of the East Asian blocks, which begin at EASTERN. Beside a Chinese character, they are as
wide as it and have no space.
"""
NO_WORDS: frozenset[str] = frozenset()


def joined(lines: Sequence[str], compounds: Collection[str] = NO_WORDS) -> str:
    """The text of the lines. `compounds` are words that keep their hyphen at the end of a line, in lower case.

    >>> joined(["A beekeep-", "er of well-", "known bees."], {"well-known"}), joined(["蜜蜂在", "黑暗的蜂巢"])
    ('A beekeeper of well-known bees.', '蜜蜂在黑暗的蜂巢')
    """
    text: list[str] = []
    for line in lines:
        if not line:
            continue
        if text:
            before = text[-1]
            divided = DIVIDED.search(before[-MOST_DIVIDED:])
            after = WORD_BEGINNING.match(line)
            if divided and after:
                # The hyphen also stays before a capital letter.
                is_compound = f"{divided[1]}-{after[0]}".lower() in compounds
                if after[0][0].islower() and not is_compound:
                    text[-1] = before[:-1]
            elif not _are_unspaced(before[-1], line[0]):
                text.append(" ")
        text.append(line)
    return "".join(text)


def _are_unspaced(last: str, first: str) -> bool:
    """Whether no space belongs between two characters: both are East Asian (from EASTERN on), or one is and the other
    is in FULL_WIDTH. A space belongs beside a Korean character, unless the other is a middle dot.
    """
    if HANGUL.match(last) or HANGUL.match(first):
        return last in MIDDLE_DOTS or first in MIDDLE_DOTS
    return (last >= EASTERN and (first >= EASTERN or first in FULL_WIDTH)) or (first >= EASTERN and last in FULL_WIDTH)
