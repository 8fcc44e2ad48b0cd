"""The rules of C4 (Raffel et al. 2020, "Exploring the Limits of Transfer Learning", 2.2), which first select lines and
then judge the page by the selected lines; and the rule of mC4 (Xue et al. 2021) for languages other than English.

The rule about bad words is left out. C4 also removes the other lines from the text; here, the text is not changed.
"""

import re
from dataclasses import dataclass

import numpy as np

from crawler.contrib.corpus.quality.limits import at_least, at_most
from crawler.contrib.corpus.quality.measured_text import MeasuredText
from crawler.contrib.corpus.quality.words import MARK, SENTENCE_END, Array

ENDS = (".", "?", "!", '"', "'")
"""The marks that a selected line ends with."""
MAY_END = (*ENDS, "]", " ")
"""The last characters of lines that may be selected: a citation or a space may follow the mark."""
FEWEST_WORDS = 3
"""The fewest words of a selected line."""
LONGEST_WORD = 1000
"""The most characters of a word in a selected line."""
POLICY_WORDS = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
UNWANTED = ("javascript", *POLICY_WORDS)
"""A line with one of these is not selected."""
FILLER = "lorem ipsum"
HINTS = (b"{", b"lorem ipsum", b"javascript", b"cookie", b"terms of use", b"privacy policy")
"""Every string that the lines are searched for contains one of these. So a text without any of them need not be
searched line by line.
"""
LONG_LINES = 3
"""The number of lines of at least 200 characters that mC4 requires of a page."""
_CITATION = re.compile(r"\[(?:\d*|edit|citation needed)\]")


@dataclass(frozen=True)
class C4:
    c4_sentences: int
    """Sentences in the lines that C4 keeps: those that end with `.`, `?`, `!` or a quotation mark, but not with `...`,
    have 3 words or more and none over 1,000 characters, and speak neither of JavaScript nor of cookies or terms of use.
    """
    curly_bracket_lines: int
    """Lines that C4 keeps and that have a `{`."""
    lorem_ipsum_lines: int
    """Lines that end like a sentence, as above, and have `lorem ipsum`."""
    third_line_length: int
    """Characters of the third longest line; 0 if there are fewer than three lines."""


_ENGLISH = (*at_least(c4_sentences=5), *at_most(curly_bracket_lines=0, lorem_ipsum_lines=0))
LIMITS = {"": at_least(third_line_length=200), "en": _ENGLISH}
"""The limits by language; "" stands for all other languages."""


def c4(document: MeasuredText) -> C4:
    """The numbers that the rules use."""
    lines = document.lines
    lower_case = document.text.encode("utf-8", "surrogatepass").lower()  # ten times as fast as lower() of a str
    is_suspect = any(map(lower_case.__contains__, HINTS))

    # The indexes of the lines that end like a sentence, and of the lines that C4 keeps.
    ended = [number for number, line in enumerate(lines) if line.endswith(MAY_END) and _is_sentence(line)]
    kept = ended
    if is_suspect:
        kept = [number for number in ended if not any(map(lines[number].lower().__contains__, UNWANTED))]
    # C4 looks for the filler text before it drops lines about JavaScript or cookies.
    with_filler = [number for number in ended if is_suspect and FILLER in lines[number].lower()]

    lengths = sorted(map(len, lines), reverse=True)
    return C4(
        c4_sentences=int(_sentences(document)[kept].sum()),
        curly_bracket_lines=sum("{" in lines[number] for number in kept) if is_suspect else 0,
        lorem_ipsum_lines=len(with_filler),
        third_line_length=lengths[LONG_LINES - 1] if len(lengths) >= LONG_LINES else 0,
    )


def _is_sentence(line: str) -> bool:
    """Whether a line ends like a sentence, has enough words, and no word is too long."""
    line = line.strip()
    without_citation = _CITATION.sub("", line) if line.endswith("]") else line
    if not without_citation.endswith(ENDS) or without_citation.endswith("..."):
        return False
    if line.count(" ") < FEWEST_WORDS - 1:  # spares most short lines the splitting
        return False
    words = line.split()
    return len(words) >= FEWEST_WORDS and (len(line) <= LONGEST_WORD or max(map(len, words)) <= LONGEST_WORD)


def _sentences(document: MeasuredText) -> Array:
    """The number of sentences of each line: one, and one for each word that follows the end of a sentence.

    `Bees dance?! They fly.` has the words `Bees`, `dance`, `?`, `!`, `They`, `fly` and `.`: the word 4 begins a second
    sentence. The numbers in the comments are of this example.
    """
    words = document.words
    proper_words = np.flatnonzero(words.kinds & (MARK | SENTENCE_END) == 0)  # 0, 1, 4, 5: not marks
    stops = np.flatnonzero(words.kinds & SENTENCE_END)  # 2, 3, 6: each ends a sentence

    # The first proper word after each stop, if any: 4, 4 and none.
    following = np.searchsorted(proper_words, stops)
    is_followed = following < len(proper_words)
    stops = stops[is_followed]
    beginnings = proper_words[following[is_followed]]

    # A word after several stops counts once, and only if it is on the same line as the last of them.
    is_last_stop = np.diff(beginnings, append=-1) != 0
    lines = words.lines[beginnings]
    is_new = is_last_stop & (lines == words.lines[stops])
    return 1 + np.bincount(lines[is_new], minlength=len(document.lines))
