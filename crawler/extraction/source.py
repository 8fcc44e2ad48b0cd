"""The source of a page as tags and the text between them, for methods that make no tree.

Comments and declarations are no tags and end no text. An element of SILENT is one tag whatever stands in it; one that
is never closed goes to the end of the source, so that reading takes linear time.
"""

import re
from collections.abc import Iterable, Iterator

from crawler.page.contents import INLINE, SILENT, Block
from crawler.page.page import Page
from crawler.page.text import fold_space, unescaped

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
