"""The source of a page as tags and the text between them, for methods that make no tree.

Comments and declarations are no tags and end no text. An element of SILENT is one tag whatever stands in it; one that
is never closed goes to the end of the source, so that reading takes linear time.

Slope: the text of a page where the document slope curve is flat.

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

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawler.metadata.title import headline
from crawler.page.contents import INLINE, SILENT, Block
from crawler.page.page import Extraction, Page
from crawler.page.text import fold_space, unescaped, words

_SILENT = "|".join(sorted(SILENT - {"head"} | {"iframe", "xmp"}))
# Possessive throughout. As in browsers, quotes count only after an equals sign.
TAG = re.compile(
    rf"""<(?:!--(?:[^-]++|-(?!->))*+(?:-->|\Z)
    |({_SILENT})\b[^<]*+(?:<(?!/\1)[^<]*+)*+(?:</\1[^>]*+>?|\Z)
    |/?([a-z][^\s/>]*+)(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>?
    |[!?/][^>]*+>?)""",
    re.IGNORECASE | re.VERBOSE,
)
# Text-level elements stand within a line.
TEXT_LEVEL = INLINE - {"a", "img", "input", "map", "output", "picture", "source"}


def pieces(html: str) -> Iterator[tuple[str, str]]:
    """Each tag's name in lower case, without its slash, and the text after it; the name is empty after a comment.

    >>> list(pieces("One <b class='>'>two</B><!-- three --> four<script>five</script>"))
    [('', 'One '), ('b', 'two'), ('b', ''), ('', ' four'), ('script', '')]
    """
    parts = TAG.split(html)
    yield "", parts[0]
    for silent, name, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        yield (silent or name or "").lower(), text


def plain(source: str) -> str:
    """The text that a stretch of source without tags shows.

    >>> plain("Fish &amp;&nbsp; chips")
    'Fish & chips'
    """
    source = source.replace("\0", "")
    return fold_space(unescaped(source) if "&" in source else source)


def blocks_of(page: Page, lines: Iterable[str]) -> tuple[Block, ...]:
    """The page's blocks whose text is one of the lines."""
    wanted = set(lines)
    return tuple(block for block in page.blocks if block.text in wanted)


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
