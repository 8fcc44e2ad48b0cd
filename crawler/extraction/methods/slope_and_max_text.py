"""Slope and max text: two methods that read the source of a page as tags and the text between them, without a tree.

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

Max text: the longest string between two tags of the source.

The "largest text extraction method" of a thesis of 2020 on the automatic extraction of a page's main text, section
2.2.2. Source code reads "tag, element, tag, element ...", and one tag holds one content; so the source is cut at its
tags, the characters of each piece are counted, and the longest piece is the main text, which has the most to say. Tags
that only break the lines of a long text are skipped when looking for the anchors <, > and /: otherwise a paragraph is
all there is.

Where the thesis is silent: it names <br> and <span> "and the like". These are here the text-level elements (<b>,
<font>, <em> ...), which stand within a line, and <p>, since it says that skipping solves the case of a text cut by
paragraph tags; with <p> as an anchor the text is one paragraph, and on today's pages recall is half of what it is
now. <a> is an anchor always: links are what main text is told from. White space counts for nothing, or indented menus
would win; nor do scripts, styles and comments, which are no text.

What to expect: precise, and short. A link, an image or a heading in the text ends the string, so of today's pages,
which have many, one piece of several is found. The thesis reports that its two methods differ in recall and precision,
each better in one: so they do here, this one in precision alone.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crawler.metadata.title import headline
from crawler.page.blocks import INLINE, SILENT, Block
from crawler.page.page import Extraction, Page
from crawler.page.text import fold_space, unescaped, words

_SILENT = "|".join(sorted(SILENT - {"head"} | {"iframe", "xmp"}))
# No part of it is tried twice. As in browsers, quotes count only after an equals sign.
TAG = re.compile(
    rf"""<(?:!--.*?(?:-->|\Z)
    |({_SILENT})\b.*?(?:</\1[^>]*+>?|\Z)
    |/?([a-z][^\s/>]*+)(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>?
    |[!?/][^>]*+>?)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
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
    chosen_lines = set(lines)
    return tuple(block for block in page.blocks if block.text in chosen_lines)


WINDOW = 40
# Of the mean count of tags in a window.
LIMIT = 0.5
IN_LINE = TEXT_LEVEL | {"", "a"}


@dataclass(frozen=True, slots=True)
class Tokens:
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
    return Tokens(lines=lines, tags=tags, size=at)


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
    lines = flat(tokenize(page.usable_html))
    return Extraction(text="\n".join(lines), title=headline(page), blocks=blocks_of(page, lines))


# Tags that are skipped as text-level ones are, and end a line.
BREAKS = frozenset(("br", "p"))


def strings(html: str) -> Iterator[list[list[str]]]:
    """What stands between two anchors: lines, in the pieces that skipped tags cut them to."""
    lines: list[list[str]] = [[]]
    for tag, text in pieces(html):
        if tag in BREAKS:
            lines.append([text])
        elif not tag or tag in TEXT_LEVEL:
            lines[-1].append(text)
        else:
            yield lines
            lines = [[text]]
    yield lines


def max_text(page: Page) -> Extraction:
    """The longest string between two anchors of the page's source."""
    longest: list[str] = []
    most = 0
    for lines in strings(page.usable_html):
        # What is shown is never longer than its source.
        if sum(len(text) for line in lines for text in line) > most:
            texts = (plain("".join(line)) for line in lines)
            shown = [text for text in texts if text]
            size = sum(map(len, shown))
            if size > most:
                longest = shown
                most = size
    return Extraction(text="\n".join(longest), title=headline(page), blocks=blocks_of(page, longest))
