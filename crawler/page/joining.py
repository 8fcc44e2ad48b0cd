"""The pieces of a line, which are cut where markup is, put together as one text.

In a browser the style sheet sets elements apart: tags, prices, buttons. Without it the two words of
`<span>Reviews</span><span>12</span>` are one. Which words are two was counted on real pages beside the text that people
marked: links side by side nearly always are (of 600 pairs three were not), and so are two pieces of which the second
begins with a capital or a digit (of 700 one in a hundred was not), but where the first is a single capital, or the
markup is of the kind that stands in words.
"""

import re

WITHIN_WORDS = frozenset("em i mark q s sub sup u wbr".split())
"""Elements that begin and end within words: an empty piece stands for their tags, and what touches it is left alone."""

# After these, too, a capital begins a word.
ENDS_OF_PHRASES = frozenset(".:;,!?)]%®™")
EASTERN = "\u2e80"
"""The first character of the scripts that know no capitals, and for the most part no spaces."""
# Han and kana, their marks and their wide signs; Hangul has spaces.
_WIDE = (
    "\u2e80-\u2fdf\u3001-\u30ff\u31c0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U000323af"
)
LINE_END_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}])[ \t\r]*+\n\s*+(?=[{_WIDE}])")


def joined(pieces: list[str]) -> str:
    """The pieces as one text: two that touch are set apart where a word plainly begins, and the end of a line of the
    source between two characters of Chinese or Japanese is no space.

    >>> joined(["Reviews", "12"]), joined(["D", "ie Bienen"]), joined(["Area", "", "51"]), joined(["蜜\\n  蜂"])
    ('Reviews 12', 'Die Bienen', 'Area51', '蜜蜂')
    """
    apart = pieces if len(pieces) == 1 else _set_apart(pieces)
    text = "".join(apart)
    if text.isascii() or "\n" not in text.strip():
        return text
    # Piece by piece: elements on lines of their own, such as names in a list, stay apart.
    return "".join([LINE_END_BETWEEN_WIDE.sub("", piece) for piece in apart])


def _set_apart(pieces: list[str]) -> list[str]:
    """The pieces, with a space between two of which the second begins a new word."""
    apart, before = [], ""
    for piece in pieces:
        first = piece[:1]
        if (first.isupper() or first.isdigit()) and begins_a_word(first, before[-2:]):
            apart.append(" ")
        apart.append(piece)
        before = piece
    return apart


def begins_a_word(first: str, before: str) -> bool:
    """Whether a capital or digit begins a word after these two characters."""
    last = before[-1:]
    if last >= EASTERN:
        return False
    if last.isalnum():
        return before[:-1].isalnum() or (last.isdigit() and first.isupper())
    return last in ENDS_OF_PHRASES and first.isupper() and not before[:-1].isupper()
