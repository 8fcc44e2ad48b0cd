"""Slope and max text: two methods that read the source of a page as tags and the text between them, without a tree.

Comments and declarations do not count as tags, and do not end a text. An element of SILENT counts as one tag with
everything in it. If such an element is never closed, it extends to the end of the source, so that reading takes linear
time.

Slope keeps the lines where the document slope curve is flat.

D. Pinto, M. Branstein and others, "QuASM: a system for question answering using semi-structured data", 2002, as
described in a thesis of 2020 on the automatic extraction of a page's main text (section 1.2.2): the source is cut into
tokens, which are words and tags; the tags of each part are counted (their sum, plotted over the tokens, is the slope
curve); the main text has few tags, so it is where the count is below half of its mean.

Choices where the thesis gives no details: the parts are windows of WINDOW tokens. Adjacent windows would cut sentences
in two, so there is one around the middle of each line of the source (the text between two tags that are not inline),
and the line is kept or dropped as a whole. Characters of scripts without spaces count in pairs.

What to expect: long paragraphs. The window of a short line contains the tags of its neighbours, so headings, captions,
lists and forum posts are lost, and so is a text full of links; a long legal notice is kept.

Max text keeps the longest string between two tags of the source.

The "largest text extraction method" of a thesis of 2020 on the automatic extraction of a page's main text, section
2.2.2. Source code is a sequence of "tag, element, tag, element ...", with one content for each tag; so the source is
cut at its tags, the characters of each piece are counted, and the longest piece is the main text. Tags that only break
the lines of a long text are skipped, otherwise the result is a single paragraph; the remaining tags are the anchors.

Choices where the thesis gives no details: it names <br> and <span> "and the like" as skipped tags. Here these are the
text-level elements (<b>, <font>, <em> ...), which are within a line, and <p>, because the thesis says that skipping
solves the case of a text cut by paragraph tags; with <p> as an anchor, recall on today's pages is half as high. <a> is
always an anchor: links distinguish other text from main text. White space does not count, because indented menus would
win; nor do scripts, styles and comments, which are no text.

What to expect: precise and short texts. A link, an image or a heading in the text ends the string. Today's pages have
many of them, so only one piece of several is found. The thesis reports that of its two methods, this and DOM tags
(.dom_tags), one has the better recall and the other the better precision. Here max text has the better precision.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crawler.metadata.title import headline
from crawler.page.blocks import INLINE, SILENT, Block
from crawler.page.page import Extraction, Page
from crawler.page.text import fold_space, unescaped, words

# Not <head>: without its optional end tag it would extend to the end of the source.
_SILENT = "|".join(sorted(SILENT - {"head"} | {"iframe", "xmp"}))
# A comment, a silent element (group 1), another tag (group 2) or a declaration. No part of the pattern is tried twice.
# As in browsers, quotes count only after an equals sign.
TAG = re.compile(
    rf"""<(?:!--.*?(?:-->|\Z)
    |({_SILENT})\b.*?(?:</\1[^>]*+>?|\Z)
    |/?([a-z][^\s/>]*+)(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+>?
    |[!?/][^>]*+>?)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
# Elements within a line.
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
    if "&" in source:
        source = unescaped(source)
    return fold_space(source)


def blocks_of(page: Page, lines: Iterable[str]) -> tuple[Block, ...]:
    """The page's blocks whose text is one of the lines."""
    chosen_lines = set(lines)
    return tuple(block for block in page.blocks if block.text in chosen_lines)


WINDOW = 40  # tokens of a window
# The share of the mean number of tags in a window below which the curve is flat.
LIMIT = 0.5
# Names of tags that do not end a line; "" is a comment.
IN_LINE = TEXT_LEVEL | {"", "a"}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The source in tokens."""

    lines: list[tuple[str, int, int]]
    """The text of each line, the index of its first token and the index after its last one."""
    tags: list[int]
    """The indexes of the tags."""
    size: int
    """The number of tokens."""


def tokenize(html: str) -> Tokens:
    """The words and tags of a source, and the lines of text that they make."""
    lines: list[tuple[str, int, int]] = []
    tags: list[int] = []
    line: list[str] = []
    start = 0  # the index of the first token of the line
    at = 0  # the index of the next token
    for tag, text in (*pieces(html), ("html", "")):  # the added tag ends the last line
        if tag not in IN_LINE:
            shown = plain("".join(line)) if at > start else ""
            if shown:
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
    """The mean number of tags in a window; a source that is shorter than a window is one window."""
    return len(tokens.tags) * WINDOW / max(tokens.size, WINDOW)


def tags_around(index: int, tokens: Tokens) -> int:
    """The number of tags in the window around a token; the window does not extend beyond the source."""
    first = max(0, min(index - WINDOW // 2, tokens.size - WINDOW))
    return bisect_left(tokens.tags, first + WINDOW) - bisect_left(tokens.tags, first)


def flat_lines(tokens: Tokens) -> list[str]:
    """The lines whose windows have fewer tags than half of the mean."""
    limit = LIMIT * mean_tags(tokens)
    return [text for text, start, end in tokens.lines if tags_around((start + end) // 2, tokens) < limit]


def slope(page: Page) -> Extraction:
    """The lines of the source where the document slope curve is flat."""
    lines = flat_lines(tokenize(page.usable_html))
    return Extraction(text="\n".join(lines), title=headline(page), blocks=blocks_of(page, lines))


# Skipped tags that end a line.
BREAKS = frozenset(("br", "p"))


def strings(html: str) -> Iterator[list[list[str]]]:
    """The texts between adjacent anchors. Each is a list of its lines; a line is the list of the pieces between the
    skipped tags.
    """
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
    most_characters = 0
    for lines in strings(page.usable_html):
        # The shown text is never longer than its source, so a shorter source need not be read.
        if sum(len(text) for line in lines for text in line) > most_characters:
            texts = (plain("".join(line)) for line in lines)
            shown = [text for text in texts if text]
            size = sum(map(len, shown))
            if size > most_characters:
                longest = shown
                most_characters = size
    return Extraction(text="\n".join(longest), title=headline(page), blocks=blocks_of(page, longest))
