"""Reads Markdown: CommonMark (https://spec.commonmark.org/0.31.2/) with GitHub's tables, and what manuals add to it.

Generators of manuals add fields before the text, boxes between lines of colons or below a line with exclamation marks,
and names of headings in braces. A reader of the manual sees the text of the boxes, and none of the marks.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from markdown_it import MarkdownIt

from crawler.page.document import Document, Facts

FIELDS = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
FIELD = re.compile(r"^(title|authors?|date|lang(?:uage)?)\s*[:=]\s*(\S.{0,300}?)\s*$", re.MULTILINE | re.IGNORECASE)
FENCE = re.compile(r"\s*(?:>\s*)*(`{3,}|~{3,})")
COLONS = re.compile(r"\s*+:{3,}+\s*+(?:\{?[\w-]*+\}?\s*+(?P<title>[^{}\n]*+))?(?:\{[^{}\n]*+\})?\s*+$")
"""The line that begins or ends a box: `::: tip Title`."""
BOX = re.compile(r"(?P<left>\s*+)(?:!!!|\?\?\?\+?)\s++[\w-][\w -]*+(?:\s*+(?<=\s)\"(?P<title>[^\"\n]*+)\")?\s*+$")
"""The line above the indented text of a box: `!!! note "Title"`."""
BOX_INDENT = 4
HEADING_NAME = re.compile(r"^(\s{0,3}#{1,6}\s(?:.*\S)?)[ \t]++\{[#.:][^{}\n]*+\}[ \t]*+$")
BRACKETS = "[]\"' "
NESTING = 20
MAX_MARKDOWN = 1_000_000
"""Characters that are read, as much as a book has: an empty line alone takes 6 microseconds."""


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": NESTING}).enable(["table", "strikethrough"])


def read_markdown(text: str) -> Document:
    """The document of a text in Markdown; HTML in it is part of the document."""
    fields = FIELDS.match(text)
    facts = _facts(fields[2]) if fields else Facts()
    source = text[fields.end() :] if fields else text
    is_cut = len(source) > MAX_MARKDOWN
    lines = source[:MAX_MARKDOWN].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    html: str = _parser().render("\n".join(_without_marks(lines)))
    return Document(html, facts, is_cut)


def _facts(fields: str) -> Facts:
    fields_by_name = {name.lower(): value.strip(BRACKETS) for name, value in reversed(FIELD.findall(fields))}
    author = fields_by_name.get("author") or fields_by_name.get("authors", "")
    return Facts(
        fields_by_name.get("title", ""),
        author,
        fields_by_name.get("date", ""),
        fields_by_name.get("lang") or fields_by_name.get("language", ""),
    )


def _without_marks(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the marks that a generator reads; those of code stay."""
    fence = ""
    box: int | None = None
    for line in lines:
        if box is not None:
            left = len(line) - len(line.lstrip())
            if line.strip() and left < box:
                box = None
            else:
                line = line[BOX_INDENT:] if line[:BOX_INDENT].isspace() else line
        mark = FENCE.match(line)
        if mark:
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
        if fence or mark:
            yield line
        elif opening := BOX.match(line):
            box = len(opening["left"]) + BOX_INDENT
            yield f"{opening['left']}**{opening['title']}**" if opening["title"] else ""
            yield ""
        elif colons := COLONS.match(line):
            title = (colons["title"] or "").strip()
            yield ""
            yield f"**{title}**" if title else ""
            yield ""
        else:
            yield HEADING_NAME.sub(r"\1", line)
