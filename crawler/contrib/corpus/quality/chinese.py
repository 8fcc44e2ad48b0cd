"""Numbers of Chinese text, and of text whose bytes were read in a wrong encoding.

Simplified and Traditional are told apart by the characters that only one of the national standards has: GB 2312 is
Simplified, Big5 Traditional; those in both say nothing. Wrong encodings are known by what they leave: U+FFFD, control
characters, and the sequences that common Chinese and Western text becomes when UTF-8 is read as GBK or as Latin-1.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from crawler.contrib.corpus.quality.document import MeasuredText, ratio
from crawler.contrib.corpus.quality.words import Array

COMMON = "的一是不了在人有我他这個个们中来上大为和国地到以说時时要就出会可也你对生能而子那得于着下自之年"
"""Characters that are a word by themselves in every other sentence."""
PUNCTUATION = "，。、；：？！…—“”‘’（）《》「」『』·"
_WRONG = re.compile(
    "锟斤拷|[\u00c3\u00c2][\u0080-\u00bf]|\u00e2\u20ac.|\u00e2[\u0080-\u009f].|[锛銆鈥鐨]..|烫烫烫|屯屯屯"
)
HAN = 1
SIMPLIFIED = 2
TRADITIONAL = 4
COMMONEST = 8
POINT = 16
BROKEN = 32
_PLANE = 0x10000


@dataclass(frozen=True)
class Chinese:
    characters: int
    """Characters that are not white space."""
    han_frac: float
    """Share of them that are Chinese characters."""
    zh_stop_frac: float
    """Share of the Chinese characters that are among the commonest, such as 的, 是 and 在: low in lists of names."""
    zh_punct_ratio: float
    """Chinese marks of punctuation for each Chinese character."""
    traditional_frac: float
    """Share of Traditional characters among those that are Simplified or Traditional: 0 of Simplified text, 1 of
    Traditional.
    """
    broken_frac: float
    """Share of the characters that a wrong encoding left behind."""


@cache
def _kinds() -> Array:
    """What each character of the first plane is."""
    kinds = np.zeros(_PLANE, np.uint8)
    for first, last in ((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)):
        kinds[first : last + 1] |= HAN
    for code in range(0x4E00, 0xA000):
        in_gb, in_big5 = (_has(chr(code), encoding) for encoding in ("gb2312", "big5"))
        kinds[code] |= SIMPLIFIED * (in_gb and not in_big5) | TRADITIONAL * (in_big5 and not in_gb)
    for character in COMMON:
        kinds[ord(character)] |= COMMONEST
    for character in PUNCTUATION:
        kinds[ord(character)] |= POINT
    for first, last in ((0x80, 0x9F), (0xE000, 0xF8FF), (0xFFFD, 0xFFFD)):
        kinds[first : last + 1] |= BROKEN
    return kinds


def _has(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def chinese(document: MeasuredText) -> Chinese:
    """The numbers of a text."""
    text = document.text
    spaces = sum(map(text.count, " \n\t\u3000\xa0"))
    characters = len(text) - spaces
    if text.isascii():
        return Chinese(
            characters=characters,
            han_frac=0.0,
            zh_stop_frac=0.0,
            zh_punct_ratio=0.0,
            traditional_frac=0.0,
            broken_frac=0.0,
        )
    codes = document.codes
    kinds = _kinds()[np.minimum(codes, _PLANE - 1)]
    han, simplified, traditional, common, points, broken = (int(np.count_nonzero(kinds & kind)) for kind in _EACH)
    han += int(np.count_nonzero(codes >= 0x20000))
    wrong = broken + (sum(len(found) for found in _WRONG.findall(text)) if _may_be_wrong(text) else 0)
    return Chinese(
        characters=characters,
        han_frac=ratio(han, characters),
        zh_stop_frac=ratio(common, han),
        zh_punct_ratio=ratio(points, han),
        traditional_frac=ratio(traditional, simplified + traditional),
        broken_frac=ratio(min(wrong, characters), characters),
    )


_EACH = (HAN, SIMPLIFIED, TRADITIONAL, COMMONEST, POINT, BROKEN)


def _may_be_wrong(text: str) -> bool:
    return any(map(text.__contains__, "锟ÃÂâ锛銆鈥鐨烫屯"))
