"""Replaces traditional Chinese characters with simplified ones, so that words match in both: 養蜂 is 养蜂.

The table `simplified.txt` beside this module comes from the property kSimplifiedVariant of Unicode's Unihan database
(Unicode License v3): the first value of each character in the basic plane; if that value has a variant itself, the last
character of the chain. A few characters that simplified text also uses, such as 乾 and 著, are replaced there, too.
"""

import re
from functools import cache
from importlib.resources import files


def simplified(text: str) -> str:
    """The text with simplified characters.

    >>> simplified("養蜂場 is an apiary")
    '养蜂场 is an apiary'
    """
    if text.isascii():
        return text
    traditional, table = _table()
    if traditional.search(text):
        return text.translate(table)
    return text


def spelled_either_way(word: str) -> re.Pattern[str]:
    """A pattern that finds a word in traditional and simplified characters.

    >>> spelled_either_way("养蜂").findall("養蜂, 养蜂")
    ['養蜂', '养蜂']
    """
    return re.compile("".join(_either(letter) for letter in simplified(word)))


@cache
def _table() -> tuple[re.Pattern[str], dict[int, int]]:
    """A pattern for the traditional characters, and the simplified one of each."""
    # The last two lines of the file have the characters in the same order.
    *_, traditional, replacements = files(__package__).joinpath("simplified.txt").read_text("utf-8").splitlines()
    return re.compile(f"[{traditional}]"), dict(zip(map(ord, traditional), map(ord, replacements), strict=True))


def _either(letter: str) -> str:
    """A pattern that finds a simplified character and the traditional characters that it replaces."""
    if letter.isascii():
        return re.escape(letter)
    others = [chr(code) for code, plain in _table()[1].items() if chr(plain) == letter]
    if others:
        return f"[{letter}{''.join(others)}]"
    return re.escape(letter)
