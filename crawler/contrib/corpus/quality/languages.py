"""The shares of languages in a text, by paragraph.

Chinese, Japanese and Korean paragraphs are known by their script. A paragraph of Latin letters is English if it has one
of the commonest English words that other languages do not have. Any other paragraph counts as in the language of the
whole text: to run the language model on each paragraph would take ten times as long as all other numbers of a page.
"""

from dataclasses import dataclass

import numpy as np

from crawler.contrib.corpus.quality.measured_text import MeasuredText, ratio
from crawler.contrib.corpus.quality.words import IS_ENGLISH, Array

SHORTEST = 20
"""The fewest characters of a paragraph of Latin letters that is counted."""
WEIGHT = 3
"""The weight of a character in Chinese, Japanese or Korean, which carries as much as three Latin letters."""
UNCLEAR, SHORT, EN, ZH, OTHER = range(5)
"""The kinds of lines, each of which is a paragraph. UNCLEAR lines count as in the language of the text, SHORT ones are
not counted.
"""
HAN = (0x4E00, 0x9FFF)
KANA = (0x3041, 0x30FF)
HANGUL = (0xAC00, 0xD7A3)


@dataclass(frozen=True)
class Languages:
    own_language_frac: float
    """Share of the text that is in paragraphs in the page's `language`."""
    english_frac: float
    """Share of the text that is in English paragraphs."""
    chinese_frac: float
    """Share of the text that is in Chinese paragraphs."""
    other_language_frac: float
    """Share of the text that is in paragraphs of other languages."""


def languages(document: MeasuredText) -> Languages:
    """The shares of a text's languages."""
    kinds, weights = _line_kinds(document)
    own = {"en": EN, "zh": ZH}.get(document.language or "", OTHER)
    kinds[kinds == UNCLEAR] = own
    sums = np.bincount(kinds, weights, minlength=OTHER + 1)
    whole = float(sums[EN:].sum())  # without SHORT lines; no line is UNCLEAR any more
    return Languages(
        own_language_frac=ratio(float(sums[own]), whole) if document.language else 0.0,
        english_frac=ratio(float(sums[EN]), whole),
        chinese_frac=ratio(float(sums[ZH]), whole),
        other_language_frac=ratio(float(sums[OTHER]), whole),
    )


def _line_kinds(document: MeasuredText) -> tuple[Array, Array]:
    """The kind of each line, by its script and its words, and its weight."""
    lengths = document.lengths
    words = document.words

    # The kinds as if all lines were in Latin letters.
    is_english = np.bincount(words.lines[words.kinds & IS_ENGLISH != 0], minlength=len(lengths)) > 0
    kinds = np.where(lengths < SHORTEST, SHORT, np.where(is_english, EN, UNCLEAR))
    if document.text.isascii():
        return kinds, lengths

    # A line is in an eastern language if a third of it is in an eastern script, and in Chinese if these characters are
    # mostly Han: Japanese has more kana.
    starts = np.cumsum(lengths) - lengths
    han, kana, hangul = (_per_line(document.codes, starts, *script) for script in (HAN, KANA, HANGUL))
    eastern = han + kana + hangul
    is_eastern = WEIGHT * eastern >= lengths
    is_chinese = (2 * hangul <= eastern) & (10 * kana <= eastern)
    kinds = np.where(is_eastern, np.where(is_chinese, ZH, OTHER), kinds)
    return kinds, np.where(is_eastern, WEIGHT * lengths, lengths)


def _per_line(codes: Array, starts: Array, first: int, last: int) -> Array:
    """How many characters of each line are in a range."""
    return np.add.reduceat((codes >= first) & (codes <= last), starts, dtype=np.int64)
