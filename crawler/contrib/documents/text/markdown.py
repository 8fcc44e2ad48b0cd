"""Reads Markdown: CommonMark (https://spec.commonmark.org/0.31.2/) with GitHub's tables and footnotes, and extensions
for manuals.

The extensions are fields before the text, boxes (between lines of colons, or below a line that begins with `!!!` or
`???`), and names of headings in braces. A reader of the manual sees the text of the boxes, and none of the marks of
extensions, so the marks are removed before the text is parsed as CommonMark.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from crawler.page.document import DocumentContent, Facts

FIELDS = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n\1[ \t]*(?:\n|\Z)", re.DOTALL)
"""The fields before a text, between lines of `---` (YAML) or `+++` (TOML)."""
FIELD = re.compile(r"^(title|authors?|date|lang(?:uage)?)\s*[:=]\s*(\S.{0,300}?)\s*$", re.MULTILINE | re.IGNORECASE)
FENCE = re.compile(r"\s*(?:>\s*)*(`{3,}|~{3,})")
"""The marks at the beginning of the line above or below a block of code."""
COLONS = re.compile(r"\s*+:{3,}+\s*+(?:\{?[\w-]*+\}?\s*+(?P<title>[^{}\n]*+))?(?:\{[^{}\n]*+\})?\s*+$")
"""The line that begins or ends a box: `::: tip Title`."""
BOX = re.compile(r"(?P<left>\s*+)(?:!!!|\?\?\?\+?)\s++[\w-][\w -]*+(?:\s*+(?<=\s)\"(?P<title>[^\"\n]*+)\")?\s*+$")
"""The line above the indented text of a box: `!!! note "Title"`."""
BOX_INDENT = 4
"""Columns by which the text below a line that matches BOX is indented."""
HEADING_NAME = re.compile(r"^(\s{0,3}#{1,6}\s(?:.*\S)?)[ \t]++\{[#.:][^{}\n]*+\}[ \t]*+$")
"""A heading that ends with its name: `# Title {#name}`."""
NOTE = re.compile(r"\[\^([^\]\[\s]{1,50})\]:[ \t]*(.*)")
"""The first line of a footnote (https://docs.github.com/en/get-started/writing-on-github)."""
NOTE_INDENT = 4
"""Columns by which the further paragraphs of a footnote are indented."""
NOTE_REFERENCE = re.compile(r"\[\^([^\]\[\s]{1,50})\]")
MAX_NOTES = 1_000
AROUND_VALUE = "[]\"' "
"""Characters that are removed from both ends of a field's value: brackets, quotes and spaces."""
MAX_NESTING = 20
"""Elements within each other that are parsed, at most."""
MAX_MARKDOWN = 1_000_000
"""The most characters that are read, as many as a book has. Parsing an empty line alone takes 6 microseconds."""


@cache
def _parser() -> MarkdownIt:
    """The parser, with rules for footnotes."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser.block.ruler.before("reference", "note", _read_note, {"alt": ["paragraph"]})
    parser.inline.ruler.before("link", "note_reference", _read_note_reference)
    return parser


@dataclass(frozen=True)
class Note:
    """A footnote."""

    number: int
    source: str
    """Its text in Markdown."""


def _read_note(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Take a footnote out of the text, to be rendered at its end; returns whether there is one, as the parser's rules
    do. With `silent`, the parser only asks whether a footnote begins at the line `start`.
    """
    notes: dict[str, Note] = state.env["notes"]  # the notes so far, by their names
    if state.is_code_block(start):
        return False
    note = NOTE.match(_line(state, start))
    if note is None or len(notes) >= MAX_NOTES:
        return False
    if silent:
        return True

    lines = [note[2]]
    at = start + 1
    while at < end:
        line = _line(state, at)
        # Without indentation, only lines directly below a line of the footnote continue it.
        is_indented = state.sCount[at] - state.blkIndent >= NOTE_INDENT
        if line and not is_indented and (not lines[-1] or NOTE.match(line)):
            break
        lines.append(line)
        at += 1
    notes.setdefault(note[1], Note(len(notes) + 1, "\n".join(lines)))
    state.line = at
    return True


def _line(state: StateBlock, at: int) -> str:
    """A line of a text without its indentation."""
    return state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]]


def _read_note_reference(state: StateInline, silent: bool) -> bool:
    """Write the reference to a footnote as a link, unless `silent`; returns whether there is one, as the parser's rules
    do.
    """
    reference = NOTE_REFERENCE.match(state.src, state.pos)
    if reference is None:
        return False
    note = state.env["notes"].get(reference[1])
    if note is None:
        return False
    if not silent:
        link = state.push("html_inline", "", 0)
        link.content = f'<sup><a href="#fn-{note.number}">{note.number}</a></sup>'
    state.pos = reference.end()
    return True


def _rendered(source: str) -> str:
    """The HTML of a text in Markdown, with its footnotes at the end."""
    notes: dict[str, Note] = {}
    html: str = _parser().render(source, {"notes": notes})
    items = [
        f'<li id="fn-{note.number}">{_parser().render(note.source, {"notes": notes})}</li>'
        for note in list(notes.values())  # a copy: rendering a footnote may add footnotes, which are left out
    ]
    if items:
        return f'{html}<section class="footnotes"><ol>{"".join(items)}</ol></section>'
    return html


def read_markdown(text: str) -> DocumentContent:
    """The document of a text in Markdown; HTML in it is part of the document."""
    facts = Facts()
    source = text
    fields = FIELDS.match(text)
    if fields:
        facts = _facts(fields[2])
        source = text[fields.end() :]
    is_cut = len(source) > MAX_MARKDOWN
    lines = source[:MAX_MARKDOWN].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    html = _rendered("\n".join(_without_marks(lines)))
    return DocumentContent(body=html, facts=facts, is_cut=is_cut)


def _facts(fields: str) -> Facts:
    """The facts in the fields before the text."""
    # In reverse, so that the first of several fields with one name counts.
    fields_by_name = {name.lower(): value.strip(AROUND_VALUE) for name, value in reversed(FIELD.findall(fields))}
    author = fields_by_name.get("author") or fields_by_name.get("authors", "")
    return Facts(
        title=fields_by_name.get("title", ""),
        author=author,
        published=fields_by_name.get("date", ""),
        language=fields_by_name.get("lang") or fields_by_name.get("language", ""),
    )


def _without_marks(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the marks of extensions; lines of code stay."""
    open_fence = ""
    box_indent: int | None = None
    for line in lines:
        # A box ends before the first line that is indented less than its text. The indentation is removed because, in
        # CommonMark, it makes the text code.
        if box_indent is not None and line.strip() and len(line) - len(line.lstrip()) < box_indent:
            box_indent = None
        if box_indent is not None and line[:BOX_INDENT].isspace():
            line = line[BOX_INDENT:]

        # A block of code ends at a line of at least as many marks as begin it, and nothing else.
        fence = FENCE.match(line)
        if fence:
            if not open_fence:
                open_fence = fence[1]
            elif fence[1].startswith(open_fence) and not line[fence.end() :].strip():
                open_fence = ""
        if open_fence or fence:
            yield line
        elif opening := BOX.match(line):
            box_indent = len(opening["left"]) + BOX_INDENT
            yield f"{opening['left']}**{opening['title']}**" if opening["title"] else ""
            yield ""
        elif colons := COLONS.match(line):
            title = (colons["title"] or "").strip()
            yield ""
            yield f"**{title}**" if title else ""
            yield ""
        else:
            yield HEADING_NAME.sub(r"\1", line)
