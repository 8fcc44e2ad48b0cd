"""The rules of MassiveText (Rae et al. 2021, "Scaling Language Models: Methods, Analysis & Insights from Training
Gopher", A1.1): rules about quality, and about repetition with the limits of its table A1.

As in the common implementations, punctuation marks count as words in the denominators of ratios, and paragraphs are
separated by a blank line. The limits for Chinese are from FineWeb 2, which derived them by the same method from Chinese
texts. Other languages have the limits for English, without the rule about stop words, which are English.
"""

from dataclasses import dataclass
from itertools import groupby

from crawler.contrib.corpus.quality.limits import Limit, at_least, at_most
from crawler.contrib.corpus.quality.measured_text import MeasuredText, ratio, repeated
from crawler.contrib.corpus.quality.repetition import n_grams
from crawler.contrib.corpus.quality.words import LETTER, WORD

BULLETS = ("•", "-")
ELLIPSES = ("...", "…")


@dataclass(frozen=True)
class GopherQuality:
    words: int
    """Words, without marks of punctuation."""
    mean_word_length: float
    """Average number of characters of a word."""
    hash_ratio: float
    """`#` per word or mark."""
    ellipsis_ratio: float
    """`...` and `…` per word or mark."""
    bullet_line_frac: float
    """Share of the lines that begin with `•` or `-`."""
    ellipsis_line_frac: float
    """Share of the lines that end with `...` or `…`."""
    alpha_word_frac: float
    """Share of the words and marks that have a letter."""
    stop_words: int
    """How many different stop words occur: of 8 English ones, or in Chinese of the 22 of FineWeb 2."""


@dataclass(frozen=True)
class GopherRepetition:
    dup_line_frac: float
    """Share of the lines that repeat an earlier one."""
    dup_para_frac: float
    """Share of the paragraphs, separated by blank lines, that repeat an earlier one."""
    dup_line_char_frac: float
    """Share of the characters that are in lines that repeat an earlier one."""
    dup_para_char_frac: float
    """Share of the characters that are in paragraphs that repeat an earlier one."""
    top_2_gram_char_frac: float
    """Share of the characters that the commonest sequence of 2 words covers."""
    top_3_gram_char_frac: float
    """Share of the characters that the commonest sequence of 3 words covers."""
    top_4_gram_char_frac: float
    """Share of the characters that the commonest sequence of 4 words covers."""
    dup_5_gram_char_frac: float
    """Share of the characters in sequences of 5 words that occurred before."""
    dup_6_gram_char_frac: float
    """Share of the characters in sequences of 6 words that occurred before."""
    dup_7_gram_char_frac: float
    """Share of the characters in sequences of 7 words that occurred before."""
    dup_8_gram_char_frac: float
    """Share of the characters in sequences of 8 words that occurred before."""
    dup_9_gram_char_frac: float
    """Share of the characters in sequences of 9 words that occurred before."""
    dup_10_gram_char_frac: float
    """Share of the characters in sequences of 10 words that occurred before."""


def _repetition(dup_lines: float, tops: tuple[float, ...], dups: tuple[float, ...]) -> tuple[Limit, ...]:
    """The limits of the rules about repetition: of repeated lines, of the commonest sequences of 2 to 4 words, and of
    repeated sequences of 5 to 10 words.
    """
    bounds = {f"top_{n}_gram_char_frac": bound for n, bound in enumerate(tops, 2)}
    bounds |= {f"dup_{n}_gram_char_frac": bound for n, bound in enumerate(dups, 5)}
    return at_most(dup_line_frac=dup_lines, **bounds)


_OF_ALL_LANGUAGES = (
    *at_least(words=50),
    *at_most(words=100_000, hash_ratio=0.1, ellipsis_ratio=0.1, bullet_line_frac=0.9, ellipsis_line_frac=0.3),
)
_OTHER = (
    *_OF_ALL_LANGUAGES,
    *at_least(mean_word_length=3, alpha_word_frac=0.8),
    *at_most(mean_word_length=10, dup_para_frac=0.3, dup_line_char_frac=0.2, dup_para_char_frac=0.2),
    *_repetition(0.3, (0.2, 0.18, 0.16), (0.15, 0.14, 0.13, 0.12, 0.11, 0.1)),
)
_CHINESE = (
    *_OF_ALL_LANGUAGES,
    *at_least(mean_word_length=1, alpha_word_frac=0.735, stop_words=2),
    *at_most(mean_word_length=5),
    *_repetition(0.287, (0.256, 0.201, 0.171), (0.198, 0.182, 0.167, 0.154, 0.14, 0.127)),
)
LIMITS = {"": _OTHER, "en": (*_OTHER, *at_least(stop_words=2)), "zh": _CHINESE}
"""The limits by language; "" stands for all other languages."""


def gopher_quality(document: MeasuredText) -> GopherQuality:
    """The numbers that the rules about quality use."""
    text = document.text
    words = document.words
    lines = document.lines
    is_word = words.kinds & WORD != 0
    word_count = int(is_word.sum())
    return GopherQuality(
        words=word_count,
        mean_word_length=ratio(int(words.lengths[is_word].sum()), word_count),
        hash_ratio=ratio(text.count("#"), len(words)),
        ellipsis_ratio=ratio(sum(map(text.count, ELLIPSES)), len(words)),
        bullet_line_frac=ratio(sum(line.lstrip().startswith(BULLETS) for line in lines), len(lines)),
        ellipsis_line_frac=ratio(_ellipsis_lines(document), len(lines)),
        alpha_word_frac=ratio(words.count(LETTER), len(words)),
        stop_words=words.stop_words(document.language),
    )


def _ellipsis_lines(document: MeasuredText) -> int:
    if not any(map(document.text.__contains__, ELLIPSES)):  # spares most texts the search by line
        return 0
    return sum(line.rstrip().endswith(ELLIPSES) for line in document.lines)


def gopher_repetition(document: MeasuredText) -> GopherRepetition:
    """The numbers that the rules about repetition use."""
    text = document.text
    lines = document.lines
    paragraphs = _paragraphs(text)
    line_count, line_characters = repeated(lines)
    paragraph_count, paragraph_characters = repeated(paragraphs)
    sequences = n_grams(document.words)
    return GopherRepetition(
        dup_line_frac=ratio(line_count, len(lines)),
        dup_para_frac=ratio(paragraph_count, len(paragraphs)),
        dup_line_char_frac=ratio(line_characters, len(text)),
        dup_para_char_frac=ratio(paragraph_characters, len(text)),
        **{f"top_{n}_gram_char_frac": ratio(covered, len(text)) for n, covered in sequences.top.items()},
        **{f"dup_{n}_gram_char_frac": ratio(covered, len(text)) for n, covered in sequences.repeated.items()},
    )


def _paragraphs(text: str) -> list[str]:
    """The parts of a text between blank lines."""
    if "\n\n" not in text:
        return [text]
    grouped = groupby(text.strip().split("\n"), key=bool)
    return ["\n".join(lines) for is_filled, lines in grouped if is_filled]
