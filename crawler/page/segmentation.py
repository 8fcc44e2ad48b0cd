"""The terms of a text: its words, in Chinese those of a dictionary where the extra `chinese` is installed.

Without it, two neighbouring characters stand in for a word of Chinese, as they do for other scripts without spaces.
Topics and pages are cut by this one function, so that they meet.
"""

import re
from collections.abc import Callable
from functools import cache

from crawler.page.text import HAN, is_unspaced, uncut_words, words

_HAN = re.compile(f"[{HAN}]+")
_LONGEST = 10_000  # characters that are cut into words at once: no sentence is longer


def terms(text: str) -> list[str]:
    """Return the case-folded terms of a text, in the order in which they stand.

    >>> terms("Don’t keep BEES")
    ["don't", 'keep', 'bees']
    """
    cut = None if text.isascii() or not _HAN.search(text) else _dictionary()
    if cut is None:
        return words(text)
    found: list[str] = []
    for run in uncut_words(text):
        if len(run) == 1 or not is_unspaced(run):
            found.append(run)
        elif _HAN.fullmatch(run):
            found += _chinese(run, cut)
        else:  # kana and other scripts, which the dictionary does not know
            found += words(run)
    return found


def _chinese(run: str, cut: Callable[[str], list[str]]) -> list[str]:
    """The words of more than one character in a run of Chinese: those of one say next to nothing of a topic."""
    parts = (run[start : start + _LONGEST] for start in range(0, len(run), _LONGEST))
    return [word for part in parts for word in cut(part) if len(word) > 1]


@cache
def _dictionary() -> Callable[[str], list[str]] | None:
    """What cuts Chinese into words, or None where it is not installed; to load it takes 0.2 s."""
    try:
        import rjieba
    except ImportError:
        return None
    cut: Callable[[str], list[str]] = rjieba.cut
    return cut
