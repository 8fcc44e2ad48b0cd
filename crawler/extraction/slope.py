"""Slope: the text of a page where the document slope curve is flat.

D. Pinto, M. Branstein and others, "QuASM: a system for question answering using semi-structured data", 2002, as a
thesis of 2020 on the automatic extraction of a page's main text tells it (section 1.2.2): the source is cut into
tokens, words and tags; the tags are counted part by part (drawn over the tokens, their sum is the slope curve); the
main text has few tags, so it lies where the count is below half of its mean.

Where the thesis is silent: the parts are windows of WINDOW tokens. Side by side they would cut sentences in two, so one
is laid over the middle of each line of the source (what stands between two tags that are not inline), and the line is
kept or dropped as a whole. Characters of scripts without spaces count in pairs. A script, a style and the like is one
tag, a comment is nothing.

What to expect: long paragraphs. A short line stands in a window with its neighbours' tags, so headings, captions, lists
and forum posts are lost, and so is a text full of links; a long legal notice is kept.
"""

from bisect import bisect_left
from typing import NamedTuple

from crawler.extraction.source import TEXT_LEVEL, blocks_of, pieces, plain
from crawler.metadata.title import headline
from crawler.page.page import Extraction, Page
from crawler.page.text import words

WINDOW = 40
# Of the mean count of tags in a window.
LIMIT = 0.5
IN_LINE = TEXT_LEVEL | {"", "a"}


class Tokens(NamedTuple):
    """The source in tokens."""

    lines: list[tuple[str, int, int]]
    """The text of each line, the place of its first token and of the one after it."""
    tags: list[int]
    """The places of the tags."""
    size: int


def tokenize(html: str) -> Tokens:
    """The words and tags of a source, and the lines of text that they make."""
    lines: list[tuple[str, int, int]] = []
    tags: list[int] = []
    line: list[str] = []
    start = at = 0
    for tag, text in (*pieces(html), ("html", "")):
        if tag not in IN_LINE:
            if at > start and (shown := plain("".join(line))):
                lines.append((shown, start, at))
            line.clear()
            start = at + 1
        if tag:
            tags.append(at)
            at += 1
        if text:
            line.append(text)
        if text and not text.isspace():
            at += len(text.split()) if text.isascii() else len(words(text))
    return Tokens(lines, tags, at)


def mean_tags(tokens: Tokens) -> float:
    """The mean number of tags in a window."""
    return len(tokens.tags) * WINDOW / max(tokens.size, WINDOW)


def tags_around(place: int, tokens: Tokens) -> int:
    """The number of tags in the window around a token; at the ends of the source the window moves inwards."""
    first = max(0, min(place - WINDOW // 2, tokens.size - WINDOW))
    return bisect_left(tokens.tags, first + WINDOW) - bisect_left(tokens.tags, first)


def flat(tokens: Tokens) -> list[str]:
    """The lines in whose windows there are fewer tags than half of the mean."""
    limit = LIMIT * mean_tags(tokens)
    return [text for text, start, end in tokens.lines if tags_around((start + end) // 2, tokens) < limit]


def slope(page: Page) -> Extraction:
    """The lines of the source where the document slope curve is flat."""
    lines = flat(tokenize(page.html))
    return Extraction("\n".join(lines), headline(page), blocks_of(page, lines))
