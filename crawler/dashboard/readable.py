"""Addresses as people read them."""

import re
import unicodedata

ENCODED = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
UNSEEN = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that nobody sees."""
LEFT_TO_RIGHT = ("L", "EN", "NSM")


def readable(url: str) -> str:
    """The address with the letters and digits that were encoded in it, of scripts that run from left to right.

    All else stays as it stands: what nobody sees, what would turn the order of the parts, what means something itself.

    >>> readable("http://a.example/%E8%9C%9C%E8%9C%82?q=%2F%20"), readable("http://a.example/%E8%9C%E2%80%AE%EF%BC%8F")
    ('http://a.example/蜜蜂?q=%2F%20', 'http://a.example/%E8%9C%E2%80%AE%EF%BC%8F')
    """
    return ENCODED.sub(lambda run: _letters(run[0]), url)


def _letters(encoded: str) -> str:
    try:
        text = bytes.fromhex(encoded.replace("%", "")).decode()
    except UnicodeDecodeError:
        return encoded
    said, start = [], 0
    for character in text:
        end = start + 3 * len(character.encode())
        said.append(character if _is_plain(character) else encoded[start:end])
        start = end
    return "".join(said)


def _is_plain(character: str) -> bool:
    return (
        unicodedata.category(character)[0] in "LMN"
        and unicodedata.bidirectional(character) in LEFT_TO_RIGHT
        and not UNSEEN.match(character)
    )
