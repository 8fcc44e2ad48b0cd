"""Measures Chinese text, and text that was decoded with a wrong encoding.

Simplified and Traditional Chinese are told apart by the characters that only one of the national standards has: GB 2312
is Simplified, Big5 Traditional. Characters of both standards are not counted. A wrong encoding is recognized by U+FFFD,
control characters, and the sequences that common text becomes when UTF-8 is decoded as GBK or as Latin-1.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from crawler.contrib.corpus.quality.measured_text import MeasuredText, ratio
from crawler.contrib.corpus.quality.words import Array

COMMON_CHARACTERS = "的一是不了在人有我他这個个们中来上大为和国地到以说時时要就出会可也你对生能而子那得于着下自之年"
"""The commonest characters, most of which are words by themselves."""
PUNCTUATION = "，。、；：？！…—“”‘’（）《》「」『』·"
_WRONG_ENCODING = re.compile(
    "锟斤拷"  # two U+FFFD in UTF-8, decoded as GBK
    "|[\u00c3\u00c2][\u0080-\u00bf]"  # accented letters in UTF-8, decoded as Latin-1
    "|\u00e2\u20ac.|\u00e2[\u0080-\u009f]."  # dashes and quotation marks in UTF-8, as Windows-1252 or Latin-1
    "|[锛銆鈥鐨].."  # Chinese punctuation and 的 in UTF-8, decoded as GBK
    "|烫烫烫|屯屯屯"  # the bytes CC and CD, with which Visual C++ fills unused memory, decoded as GBK
)
"""Sequences that a wrong encoding leaves: https://en.wikipedia.org/wiki/Mojibake"""
WRONG_BEGINNINGS = "锟ÃÂâ锛銆鈥鐨烫屯"
"""The first characters of these sequences: most texts have none of them."""
HAN = 1
SIMPLIFIED = 2
TRADITIONAL = 4
COMMONEST = 8
PUNCTUATION_MARK = 16
BROKEN = 32
"""The kinds of characters, as flags: a Chinese character may also be of one script and among the commonest."""
KINDS = (HAN, SIMPLIFIED, TRADITIONAL, COMMONEST, PUNCTUATION_MARK, BROKEN)
PLANE_SIZE = 0x10000
"""Code points of the first plane of Unicode; the last one stands for all code points of the other planes."""
HAN_RANGES = ((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF))
"""Chinese characters of the first plane: iteration mark to zero, extension A, the main block, compatibility forms."""
BROKEN_RANGES = ((0x80, 0x9F), (0xE000, 0xF8FF), (0xFFFD, 0xFFFD))
"""Control characters, the private use area, and the replacement character."""


@dataclass(frozen=True)
class Chinese:
    characters: int
    """Characters that are not white space."""
    han_frac: float
    """Share of the characters that are Chinese."""
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
    """The kinds of each character of the first plane."""
    kinds = np.zeros(PLANE_SIZE, np.uint8)
    for first, last in HAN_RANGES:
        kinds[first : last + 1] |= HAN
    for code in range(0x4E00, 0xA000):
        in_gb = _can_encode("gb2312", chr(code))
        in_big5 = _can_encode("big5", chr(code))
        kinds[code] |= SIMPLIFIED * (in_gb and not in_big5) | TRADITIONAL * (in_big5 and not in_gb)
    for character in COMMON_CHARACTERS:
        kinds[ord(character)] |= COMMONEST
    for character in PUNCTUATION:
        kinds[ord(character)] |= PUNCTUATION_MARK
    for first, last in BROKEN_RANGES:
        kinds[first : last + 1] |= BROKEN
    return kinds


def _can_encode(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def chinese(document: MeasuredText) -> Chinese:
    """The numbers of a text, in which white space is not counted."""
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
    kinds = _kinds()[np.minimum(codes, PLANE_SIZE - 1)]
    han, simplified, traditional, commonest, marks, broken = (int(np.count_nonzero(kinds & kind)) for kind in KINDS)
    han += int(np.count_nonzero(codes >= 0x20000))  # the planes of further Chinese characters
    if any(map(text.__contains__, WRONG_BEGINNINGS)):
        broken += sum(map(len, _WRONG_ENCODING.findall(text)))

    return Chinese(
        characters=characters,
        han_frac=ratio(han, characters),
        zh_stop_frac=ratio(commonest, han),
        zh_punct_ratio=ratio(marks, han),
        traditional_frac=ratio(traditional, simplified + traditional),
        broken_frac=ratio(min(broken, characters), characters),  # a character may be counted twice
    )
