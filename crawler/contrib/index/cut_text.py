"""Cuts text into pieces of limited size: between sentences, otherwise between words, otherwise between characters.

The ends of sentences are those of `crawler.page.text.sentence_ends`: 。！？ anywhere, and . ! ? before a space unless
they follow an abbreviation or a number. Closing quotes and brackets after these marks belong to the sentence. Text is
also cut after ； and …… in Chinese, and at a hard line break. Code and links within a line are not recognized: a
sentence may end in them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from crawler.contrib.index.chunk_size import CountTokens
from crawler.contrib.index.stable_runs import TextUnit, stable_runs
from crawler.extraction.output.markdown_inline import NUMBER, START
from crawler.page.text import sentence_ends

_OTHER_END = re.compile(r"(?:；|(?<!…)…++(?=[^\W\d_a-zA-Z”’」』）]|[”’」』）])|\\\n)[”’」』）]*")
"""An end that is not among the ends of sentences: ；, …… before Chinese, or a hard line break."""
_WORD = re.compile(r"[^\s，、：]*(?:[，、：]+\s*|\s+|$)")
"""A word, or a clause of Chinese, with the commas or spaces after it."""
_COLONS = (":", "：")

Part = tuple[str, Callable[[], Iterator[str]]]
"""A part of a text, and the function that cuts it if it is too large."""
Join = Callable[[Sequence[str]], str]
"""Joins neighbouring parts to a text."""


def packed(parts: Iterable[Part], limit: float, count: CountTokens, join: Join) -> Iterator[str]:
    """Texts of at most `limit` tokens that are made of these parts. A larger part is cut, and its pieces are not joined
    with other parts.
    """
    units: list[TextUnit] = []
    for part, cut in parts:
        tokens = count(part)
        if tokens <= limit:
            introduces = part.rstrip().endswith(_COLONS)
            units.append(TextUnit(text=part, tokens=tokens, introduces=introduces))
            continue
        yield from _joined(units, limit, join)
        units = []
        yield from cut()
    yield from _joined(units, limit, join)


def _joined(units: Sequence[TextUnit], limit: float, join: Join) -> Iterator[str]:
    for run in stable_runs(units, limit):
        yield join([unit.text for unit in run])


def cut_text(text: str, limit: float, count: CountTokens) -> Iterator[str]:
    """The pieces of a text, which is cut between sentences if possible.

    >>> list(cut_text("Bees dance. Others follow them.", 3, lambda text: len(text.split())))
    ['Bees dance.', 'Others follow them.']
    """
    parts = ((sentence, partial(cut_line, sentence, limit, count)) for sentence in sentences(text))
    return filter(None, map(_paragraph, packed(parts, limit, count, "".join)))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each with the blanks after it.

    >>> list(sentences("Dr. Ann has hives. 天气很好；蜜蜂飞。"))
    ['Dr. Ann has hives. ', '天气很好；', '蜜蜂飞。']
    """
    ends = {*sentence_ends(text), *(end.end() for end in _OTHER_END.finditer(text))}
    bounds = sorted({0, len(text), *(_after_blanks(text, end) for end in ends)})
    return (text[start:end] for start, end in pairwise(bounds))


def _after_blanks(text: str, end: int) -> int:
    while end < len(text) and text[end].isspace():
        end += 1
    return end


def cut_line(line: str, limit: float, count: CountTokens) -> Iterator[str]:
    """The pieces of a line or a sentence; joined, they are the line again.

    >>> list(cut_line("蜜蜂跳舞，在蜂巢里，夜里也跳。", 10, len))
    ['蜜蜂跳舞，在蜂巢里，', '夜里也跳。']
    """
    words = (word[0] for word in _WORD.finditer(line) if word[0])
    parts = ((word, partial(_cut_word, word, limit, count)) for word in words)
    return packed(parts, limit, count, "".join)


def _cut_word(word: str, limit: float, count: CountTokens) -> Iterator[str]:
    """The slices of a word. A slice has as many characters as have `limit` tokens on average; it is cut again if it has
    more tokens.
    """
    tokens = count(word)
    if tokens <= limit or len(word) == 1:
        yield word
        return
    # At most half of the word, so that the recursion ends even if the count does not grow with the length.
    length = max(1, min(len(word) // 2, int(len(word) * limit / tokens)))
    for start in range(0, len(word), length):
        yield from _cut_word(word[start : start + length], limit, count)


def _paragraph(text: str) -> str:
    """A piece as a paragraph: without a hard line break at its end, and with a block marker at its start escaped."""
    text = text.strip()
    ends_with_break = text.endswith("\\") and not text.endswith("\\\\")  # two are an escaped backslash
    if ends_with_break:
        text = text[:-1].rstrip()
    if NUMBER.match(text):
        return NUMBER.sub(r"\1\\\2", text, count=1)
    if START.match(text):
        return f"\\{text}"
    return text
