"""The rules of FineWeb (Penedo et al. 2024, "The FineWeb Datasets", 3.6). Its limits, which are made for English, apply
to all languages but Chinese. The limits for Chinese are from FineWeb 2 (Penedo et al. 2025), which drops the rule about
short lines.

FineWeb also applies Gopher's rules, and C4's without the rule about punctuation at the end of lines; here each set is
chosen by its own name.
"""

from dataclasses import dataclass

from crawler.contrib.corpus.quality.limits import at_least, at_most
from crawler.contrib.corpus.quality.measured_text import MeasuredText, ratio, repeated
from crawler.page.text import FULL_STOPS

SHORT = 30
"""The most characters of a short line."""
ENDS = FULL_STOPS - frozenset("…︒︕︖")
"""The marks that end a line: full stops of all scripts, without the ellipsis and the forms for vertical text."""


@dataclass(frozen=True)
class FineWeb:
    line_punct_ratio: float
    """Share of the lines that end with a full stop, a question or an exclamation mark of any script."""
    short_line_ratio: float
    """Share of the lines of at most 30 characters."""
    char_dup_ratio: float
    """Share of the characters that are in lines that repeat an earlier one."""
    list_ratio: float
    """Line breaks per word or mark."""


_OTHER = (*at_least(line_punct_ratio=0.12), *at_most(short_line_ratio=0.67, char_dup_ratio=0.01, list_ratio=0.3))
LIMITS = {"": _OTHER, "zh": (*at_least(line_punct_ratio=0.106), *at_most(char_dup_ratio=0.1, list_ratio=0.178))}
"""The limits by language; "" stands for all other languages."""


def fineweb(document: MeasuredText) -> FineWeb:
    """The numbers that the rules use."""
    lines = document.lines
    breaks = document.text.count("\n")
    _, repeated_characters = repeated(lines)
    return FineWeb(
        line_punct_ratio=ratio(sum(line[-1] in ENDS for line in lines), len(lines)),
        short_line_ratio=ratio(sum(len(line) <= SHORT for line in lines), len(lines)),
        char_dup_ratio=ratio(repeated_characters, len(document.text) - breaks),
        list_ratio=ratio(breaks, len(document.words)),
    )
