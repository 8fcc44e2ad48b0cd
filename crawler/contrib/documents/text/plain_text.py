"""Reads plain text as a reader sees it: paragraphs, headings, lists, quotes, and listings, which keep their lines.

A block is the lines between two empty lines. It is cut into pieces, for example where a quote or a list begins. Each
piece becomes one or more parts, each with its kind. The lines of a piece are joined only if they show that a paragraph
was broken to fit a page (see `lines`). A heading is underlined, further left than the text, in the table of contents,
in bold letters or capitals, or apart from the text. A table of contents consists of lines that occur again as headings;
it is removed, as from other documents. A block between two equal rules is framed (see `frames`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from html import escape
from itertools import compress, groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from crawler.contrib.documents.html_body import Body, anchor
from crawler.contrib.documents.text.frames import RULE, FramedLine, framed_lines, is_wall
from crawler.contrib.documents.text.lines import DRAWING, GAP, WIDEST, edge_of, indent, is_paragraph
from crawler.contrib.documents.text.page_breaks import without_page_breaks
from crawler.contrib.documents.text_join import joined
from crawler.page.text import EASTERN, fold_space, has_full_stop, width

TAB_WIDTH = 8
STRUCK = re.compile(r"(.)\x08")
"""The first of two characters that a printer strikes in the same place to make a bold or underlined letter."""
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")
QUOTED = re.compile(r" {0,3}>")
MOST_QUOTES = 8
"""Quotes within each other are read up to this depth; deeper quotes are written as listings."""
UNDERLINE = re.compile(r"\s*([=\-~^*+#\"'])\1{2,}\s*$")
ORNAMENT = re.compile(r"[\s=\-~*_+#.·•]*$")
"""A line that only separates the text above it from the text below it."""
RULE_SLACK = 2
"""Columns by which the rules around a heading may be longer or shorter than the heading."""
BANNERS = ("=", "#")
"""Around a heading, rules of these characters may have any length."""
LEADERS = re.compile(r"(?<![\s.])\s*+(?:\.\s*+){3,}+\d*+\s*+$|(?<!\s)\s{3,}+\d{1,4}$")
"""The dots or spaces and the page number at the end of a line of a table of contents."""
DOTTED = re.compile(r"(?:\. ?){3}\s*+[\divxlc]++\s*+$")
"""Dots and a page number at the end of a line, which show that it is part of a table of contents."""
LEAST_ENTRIES = 3
"""The least number of entries in a table of contents whose lines have no dots."""
LEAST_HEADINGS = 3
"""The least number of headings in a manual, see `is_for_readers`."""
LEAST_REPEATED = 0.5
"""The least share of the entries of such a table of contents that occur again as headings."""
MARKER = re.compile(
    r"\s*(?:(?P<bullet>[-*+•·‣▪◦–—](?=\s)|o(?=\s\s))|(?P<number>\(?\d{1,3}[.)]|\(?[a-z][.)]|\[[^\]\s]{1,30}\])(?=\s))\s+(?=\S)"
)
"""The bullet or number of an item of a list."""
ITEM_NUMBER = re.compile(r"([1-9]\d{0,2})\. ")
"""The number of an item that HTML can write: `1. `, not `(1)` or `a.`."""
NUMBERED = re.compile(r"(?:[A-Z]\w{2,11}\s+)?((?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3})*)\.?\s{1,4}(?=\S)")
"""The number of a section, perhaps with a word such as Appendix before it."""
MAX_HEADING = 100
"""Characters of a heading, at most."""
MAX_HEADING_LINES = 3
CHINESE_INDENT = "\u3000\u3000"
"""Two wide spaces, with which paragraphs of Chinese texts begin."""
CENTRED_SLACK = 8
"""Columns by which the two margins of a centred line may differ."""
FIRST_BLOCKS = 4
"""The title of a text is among this many blocks at its beginning."""
ENDS_OF_CLAUSES = tuple(".,;:。，；：")
END_OF_SENTENCE = (*ENDS_OF_CLAUSES, "!", "?", "！", "？")
OPENING_QUOTES = "\"'“‘„«「『《"
SPACED = re.compile(r"\S {2,}\S")
"""More than one space between words, as in a table."""
URL = re.compile(r"https?://[^\s<>\"“”，。；）]{1,2000}")
AFTER_URL = ".,;:!?)]}'*_>"
"""Punctuation that is not part of an address before it."""
READABLE = re.compile(
    r"[^\W_]+(?:['’.-][^\W_]+)*-?[,.;:!?\"'’”»)」』。，；：！？、…]*|[\"'“‘«(「『]|--?|[–—&]|https?://.+", re.DOTALL
)
"""A word with its punctuation, a mark that stands alone, or an address."""
LEAST_WORDS = 0.75
"""The least share of readable words in a line of words."""
LEAST_READABLE = 0.55
"""The least share of lines of words in a text for readers."""
LEAST_SENTENCES = 0.25
"""A text with fewer lines of words is for readers if paragraphs with sentences have more than this share of its
characters.

On a Debian system, a tenth of the files of code and 95 % of the READMEs reach one of these two shares.
"""


class Kind(Enum):
    """The kind of a part."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    QUOTE = "quote"
    LISTING = "listing"
    CONTENTS = "contents"


@dataclass(frozen=True)
class TextBlock:
    """The lines between two empty lines, or a piece of them."""

    lines: tuple[str, ...]
    blanks: int = 1
    """Empty lines before it."""
    rule: str = ""
    """The rule above and below it if it is framed, otherwise empty."""

    @property
    def indent(self) -> int:
        """The smallest indentation of its lines."""
        return min(map(indent, self.lines))


@dataclass(frozen=True)
class TextPart:
    """Lines of a block, with their kind."""

    kind: Kind
    lines: tuple[str, ...]
    level: int = 0
    """The level of a heading, or the depth of an item's list."""
    is_framed: bool = False
    """Whether it is a listing between rules, such as commands and code in a manual."""


@dataclass(frozen=True)
class Layout:
    """The measures of a text, and the headings that it marks as such."""

    edge: int
    """The width of its full lines, in columns."""
    margin: int
    """The indentation of most of its lines."""
    outline: frozenset[str] = frozenset()
    """Headings in the table of contents, or in bold letters."""


def parts_of(text: str) -> list[TextPart]:
    """The parts of a plain text."""
    lines, bold_lines = _lines_and_bold_lines(text)
    lines = without_page_breaks(lines, edge_of(lines))
    return _parts_of_blocks(list(_blocks(lines)), bold_lines)


def is_for_readers(parts: Sequence[TextPart]) -> bool:
    """Whether a text is for readers: it is a manual, its lines consist of words, or much of it is sentences.

    A manual has headings, and a table of contents or listings in frames.

    >>> is_for_readers(parts_of("Bees dance in the dark.")), is_for_readers(parts_of("for (i = 0; i < 3; i++) {"))
    (True, False)
    """
    kinds = Counter(part.kind for part in parts)
    is_manual = kinds[Kind.CONTENTS] > 0 or any(part.is_framed for part in parts)
    if is_manual and kinds[Kind.HEADING] >= LEAST_HEADINGS:
        return True
    lines = [line.strip("> ") for part in parts for line in part.lines if any(map(str.isalnum, line))]
    if lines and sum(map(_consists_of_words, lines)) >= LEAST_READABLE * len(lines):
        return True
    sentences = sum(len(line.strip()) for part in parts if _has_sentences(part) for line in part.lines)
    return sentences > LEAST_SENTENCES * sum(map(len, lines))


def _has_sentences(part: TextPart) -> bool:
    """Whether a part is a long paragraph with a full stop. Several lines, or one wider than WIDEST, are long."""
    is_long = part.kind is Kind.PARAGRAPH and (len(part.lines) > 1 or width(part.lines[0]) > WIDEST)
    return is_long and has_full_stop(_text(part.lines))


def _consists_of_words(line: str) -> bool:
    """Whether most words of a line are readable: they match READABLE, or have an East Asian character."""
    words = line.split()
    return sum(1 for word in words if max(word) >= EASTERN or READABLE.fullmatch(word)) >= LEAST_WORDS * len(words)


def _lines_and_bold_lines(text: str) -> tuple[list[str], frozenset[str]]:
    """All lines, with no control characters but form feeds, and the lines that are bold or underlined."""
    lines: list[str] = []
    bold_lines: set[str] = set()
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        strikes = line.count("\x08")
        plain = STRUCK.sub("", line) if strikes else line
        plain = CONTROLS.sub("", plain).expandtabs(TAB_WIDTH).rstrip(" ")
        # At least half of its letters are struck twice.
        is_bold = strikes > 0 and 2 * strikes >= sum(map(str.isalnum, plain))
        if is_bold:
            bold_lines.add(fold_space(plain))
        lines.append(plain)
    return lines, frozenset(bold_lines)


def _blocks(lines: Sequence[str]) -> Iterator[TextBlock]:
    """The blocks of a text; the rules of frames end a block."""
    block: list[str] = []
    blanks = 0
    rule = ""
    for line in (*framed_lines(lines), FramedLine(text="")):  # the empty line ends the last block
        if line.text.strip() and not line.is_rule:
            block.append(line.text)
            rule = line.rule
            continue
        if block:
            yield TextBlock(tuple(block), blanks, rule)
            block = []
            blanks = 0
        blanks += not line.is_rule


def _parts_of_blocks(blocks: Sequence[TextBlock], bold_lines: frozenset[str]) -> list[TextPart]:
    """The parts of all blocks of a text, or of a quote."""
    # Find the tables of contents, and measure the text.
    lines = [line for block in blocks for line in block.lines]
    short_blocks = Counter(_entry(block.lines) for block in blocks if len(block.lines) <= MAX_HEADING_LINES)
    are_contents = [_is_contents(block, short_blocks) for block in blocks]
    entries = (entry for block in compress(blocks, are_contents) for entry in _entries(block))
    layout = Layout(edge_of(lines), _margin(blocks), bold_lines | frozenset(entries))

    # Read each block.
    parts: list[TextPart] = []
    list_indents: list[int] = []  # the indentations of the open lists, the outermost first
    for number, block in enumerate(blocks):
        if are_contents[number]:
            parts.append(TextPart(Kind.CONTENTS, block.lines))
            continue
        may_be_title = number < FIRST_BLOCKS and not any(part.kind is Kind.HEADING for part in parts)
        for piece in _pieces(block):
            inner_parts = list(_parts_of_piece(piece, layout, list_indents, may_be_title=may_be_title))
            ends_lists = not any(part.kind is Kind.ITEM for part in inner_parts) and piece.indent <= layout.margin
            if ends_lists:
                list_indents.clear()
            parts += inner_parts
    return _merged(parts)


def _entry(lines: Sequence[str]) -> str:
    """The lines of an entry of a table of contents as one line, without dots and page number. The lines of a block are
    brought into the same form to compare them.
    """
    return fold_space(LEADERS.sub("", " ".join(lines)))


def _is_contents(block: TextBlock, short_blocks: Counter[str]) -> bool:
    """Whether a block is a table of contents: all its lines end with dots and a page number, or its entries occur again
    as blocks of their own. `short_blocks` counts the blocks that are as short as headings, by their `_entry`.
    """
    if block.rule:
        return False
    if all(map(DOTTED.search, block.lines)):
        return True
    entries = _entries(block)
    if len(entries) < LEAST_ENTRIES:
        return False
    return sum(1 for entry in entries if short_blocks[entry]) >= LEAST_REPEATED * len(entries)


def _entries(block: TextBlock) -> list[str]:
    """The entries of a table of contents; a line without a number continues an entry that has a number."""
    entries: list[list[str]] = []
    was_numbered = False
    for line in block.lines:
        if ORNAMENT.match(line):
            continue
        is_numbered = NUMBERED.match(line.strip()) is not None
        if was_numbered and not is_numbered:
            entries[-1].append(line)
        else:
            entries.append([line])
            was_numbered = is_numbered
    return list(map(_entry, entries))


def _margin(blocks: Iterable[TextBlock]) -> int:
    """The indentation of most of the text's lines."""
    counts = Counter[int]()
    for block in blocks:
        counts[block.indent] += len(block.lines)
    if not counts:
        return 0
    return counts.most_common(1)[0][0]


def _pieces(block: TextBlock) -> Iterator[TextBlock]:
    """The pieces of a block: quotes, underlined headings, lists below a line with a colon, and what is between them."""
    block = _without_rules(block)
    lines = block.lines
    start = 0
    blanks = block.blanks
    begins_with_item = MARKER.match(lines[0]) is not None
    for at in range(1, len(lines)):
        before = lines[at - 1]
        line = lines[at]
        is_edge_of_quote = bool(QUOTED.match(before)) != bool(QUOTED.match(line))
        follows_heading = at - start == 2 and _is_underlined(lines[start], before)
        is_heading = at + 1 < len(lines) and _is_underlined(line, lines[at + 1])
        begins_list = not begins_with_item and _begins_list(before, line)
        if is_edge_of_quote or follows_heading or is_heading or begins_list:
            yield replace(block, lines=lines[start:at], blanks=blanks)
            start = at
            blanks = 0  # no empty lines are within a block
            begins_with_item = MARKER.match(line) is not None
    yield replace(block, lines=lines[start:], blanks=blanks)


def _without_rules(block: TextBlock) -> TextBlock:
    """The block without rules above and below its text; a figure, a table or a box keeps them."""
    lines = block.lines
    first = 0
    last = len(lines)
    while last - first > 1 and RULE.match(lines[first]):
        first += 1
    while last - first > 1 and RULE.match(lines[last - 1]) and not _is_underlined(lines[last - 2], lines[last - 1]):
        last -= 1
    inner = lines[first:last]
    if any(DRAWING.search(line) or GAP.search(line) or is_wall(line, lines[0]) for line in inner):
        return block
    return replace(block, lines=inner)


def _begins_list(before: str, line: str) -> bool:
    """Whether a line is the first item of a list after a line that ends with a colon."""
    marker = MARKER.match(line)
    return marker is not None and before.rstrip().endswith((":", "：")) and indent(line) >= indent(before)


def _is_underlined(line: str, under: str) -> bool:
    """Whether `line` is a heading and `under` its underline, which has at least half its width."""
    if not UNDERLINE.match(under) or ORNAMENT.match(line) or len(line) > MAX_HEADING:
        return False
    return indent(line) >= indent(under) and width(under.strip()) * 2 >= width(line.strip())


def _parts_of_piece(
    piece: TextBlock, layout: Layout, list_indents: list[int], *, may_be_title: bool
) -> Iterator[TextPart]:
    """The parts of a piece; `list_indents` are updated by `_nested`."""
    lines = piece.lines
    if all(map(QUOTED.match, lines)):
        yield TextPart(Kind.QUOTE, tuple(QUOTED.sub("", line, count=1).removeprefix(" ") for line in lines))
    elif piece.rule:
        yield from _framed(piece, layout, list_indents, may_be_title=may_be_title)
    elif len(lines) == 2 and _is_underlined(*lines):
        # Equals signs usually mark the title.
        yield TextPart(Kind.HEADING, lines[:1], _level(lines[0], is_below_title="=" not in lines[1]))
    elif all(map(ORNAMENT.match, lines)):
        return
    elif may_be_title and _is_centred(piece, layout):
        yield TextPart(Kind.HEADING, lines, 1)
    elif _is_heading(piece, layout):
        yield TextPart(Kind.HEADING, lines, _level(fold_space(lines[0]), is_below_title=True))
    elif items := _items(piece):
        yield from _nested(items, list_indents)
    else:
        yield from _paragraphs(piece, layout)


def _framed(block: TextBlock, layout: Layout, list_indents: list[int], *, may_be_title: bool) -> Iterator[TextPart]:
    """The parts of a framed block: a list; a heading or paragraphs if its text is readable; otherwise a listing."""
    lines = block.lines
    text = fold_space(" ".join(lines))
    is_readable = _begins_sentence(text) and _consists_of_words(text)
    items = _items(block)
    if items:
        yield from _nested(items, list_indents)
    elif not is_readable:
        yield TextPart(Kind.LISTING, lines, is_framed=True)
    elif may_be_title and _may_be_heading(block):
        yield TextPart(Kind.HEADING, lines, 1)
    elif _may_be_heading(block) and (_fits_rule(block) or _is_heading(block, layout)):
        yield TextPart(Kind.HEADING, lines, _level(text, is_below_title="=" not in block.rule))
    else:
        yield from _paragraphs(block, layout)


def _fits_rule(block: TextBlock) -> bool:
    """Whether the rules around a block are those of a heading: they are a banner or as long as the block's longest
    line, or that line is in their middle.
    """
    rule = block.rule.strip()
    longest = max(block.lines, key=width)
    left = indent(longest) - indent(block.rule)
    right = width(block.rule) - width(longest)
    is_centred = left > 0 and abs(left - right) <= CENTRED_SLACK
    return rule.startswith(BANNERS) or is_centred or abs(width(rule) - width(longest.strip())) <= RULE_SLACK


def _is_centred(block: TextBlock, layout: Layout) -> bool:
    """Whether a block is short, further right than the text, and in the middle of the page with all its lines."""
    if len(block.lines) > MAX_HEADING_LINES or any(map(GAP.search, block.lines)) or block.indent <= layout.margin:
        return False
    margins = [(indent(line), layout.edge - width(line)) for line in block.lines]
    return all(abs(left - right) <= CENTRED_SLACK and left > CENTRED_SLACK / 2 for left, right in margins)


def _is_heading(block: TextBlock, layout: Layout) -> bool:
    """Whether a block is a heading without an underline: by the outline, or by its looks."""
    text = fold_space(" ".join(block.lines))
    if not _may_be_heading(block):
        return False
    if text in layout.outline or _entry(block.lines) in layout.outline:
        return True

    # A heading that is only known by its looks consists of words, begins like a sentence, and does not end like one.
    first = block.lines[0].strip()
    is_in_capitals = first.isupper() and sum(map(str.isalpha, first)) > 3
    if not _consists_of_words(_unnumbered(text)) or any(map(GAP.search, block.lines)):
        return False
    if text.endswith(ENDS_OF_CLAUSES) and not (is_in_capitals and text.endswith(".")):
        return False
    if not _begins_sentence(text) or block.indent > layout.margin or block.indent != indent(block.lines[0]):
        return False

    # It is further left than the text, in capitals, or below more than one empty line.
    if block.indent < layout.margin and not any(map(SPACED.search, map(_unnumbered, block.lines))):
        return True
    if len(block.lines) > 1:
        return is_in_capitals and block.blanks > 1
    return is_in_capitals or (block.blanks > 1 and not text.endswith(END_OF_SENTENCE))


def _may_be_heading(block: TextBlock) -> bool:
    """Whether a block is as short as a heading and has a letter."""
    text = fold_space(" ".join(block.lines))
    return any(map(str.isalpha, text)) and len(block.lines) <= MAX_HEADING_LINES and len(text) <= MAX_HEADING


def _begins_sentence(text: str) -> bool:
    """Whether a text, or the quote at its beginning, begins with a capital letter, a digit or a Chinese character."""
    first = text.lstrip(OPENING_QUOTES)[:1]
    return first.isupper() or first.isdigit() or first >= EASTERN


def _unnumbered(line: str) -> str:
    """A heading without its number."""
    return NUMBERED.sub("", line.strip(), count=1)


def _level(text: str, *, is_below_title: bool) -> int:
    """The level of a heading by its number, e.g. 3 for "1.2"; without a number, 2 if it is below the title, else 1."""
    number = NUMBERED.match(text)
    if number:
        return 2 + number[1].count(".")
    return 2 if is_below_title else 1


class ListItem(NamedTuple):
    """An item of a list."""

    indent: int
    lines: list[str]
    """Its lines without its bullet; a number stays."""


def _items(block: TextBlock) -> list[ListItem]:
    """The items of a list; empty if the block is not a list. Lines of an item are further right than its marker."""
    items: list[ListItem] = []
    if any(DRAWING.search(line) or GAP.search(_unmarked(line)) for line in block.lines):
        return []
    for line in block.lines:
        marker = MARKER.match(line)
        if marker:
            text = line[marker.start("number") :] if marker["number"] else line[marker.end() :]
            items.append(ListItem(indent(line), [text]))
        elif not items or indent(line) <= items[-1].indent:
            return []
        else:
            items[-1].lines.append(line)
    return items


def _unmarked(line: str) -> str:
    """A line without its bullet or number."""
    marker = MARKER.match(line)
    if marker is None:
        return line
    return line[marker.end() :]


def _nested(items: Iterable[ListItem], list_indents: list[int]) -> Iterator[TextPart]:
    """The items as parts. Updates `list_indents`: the indentations of the open lists, the outermost first."""
    for item in items:
        while list_indents and list_indents[-1] > item.indent:
            list_indents.pop()
        if not list_indents or list_indents[-1] < item.indent:
            list_indents.append(item.indent)
        yield TextPart(Kind.ITEM, tuple(item.lines), len(list_indents) - 1)


def _paragraphs(block: TextBlock, layout: Layout) -> Iterator[TextPart]:
    """The paragraphs of a block; the whole block as a listing if its lines do not form paragraphs."""
    lines = block.lines
    has_long_line = max(map(width, lines)) > WIDEST
    if has_long_line and not any(map(DRAWING.search, lines)):  # each line is a paragraph
        yield from (TextPart(Kind.PARAGRAPH, (line,)) for line in lines)
        return
    if any(line.startswith(CHINESE_INDENT) for line in lines):
        yield from _chinese_paragraphs(lines, layout)
        return
    groups = list(_indented_paragraphs(lines))
    if all(_is_prose(group, layout) for group in groups):
        yield from (TextPart(Kind.PARAGRAPH, group) for group in groups)
    else:
        yield from _term(lines, layout) or [TextPart(Kind.LISTING, lines)]


def _chinese_paragraphs(lines: Sequence[str], layout: Layout) -> Iterator[TextPart]:
    """The paragraphs of a block in which wide spaces begin a paragraph. If the lines up to the next wide spaces do not
    form one paragraph, each of these lines is a paragraph.
    """
    starts = [at for at, line in enumerate(lines) if line.startswith(CHINESE_INDENT)]
    for start, end in pairwise(sorted({0, *starts, len(lines)})):
        paragraph = tuple(lines[start:end])
        if is_paragraph(paragraph, layout.edge):
            yield TextPart(Kind.PARAGRAPH, paragraph)
        else:
            yield from (TextPart(Kind.PARAGRAPH, (line,)) for line in paragraph)


def _is_prose(lines: Sequence[str], layout: Layout) -> bool:
    """Whether lines are a paragraph. Its first line may be indented in any way, the others all in the same way."""
    if len(lines) == 1:
        is_code = indent(lines[0]) > layout.margin and not _consists_of_words(lines[0])
        return not (GAP.search(lines[0]) or DRAWING.search(lines[0]) or is_code)
    other_indents = {indent(line) for line in lines[1:]}
    return len(other_indents) == 1 and is_paragraph(lines, layout.edge)


def _indented_paragraphs(lines: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paragraphs of a block in which the first line of each is indented; the whole block if it is another."""
    indents = list(map(indent, lines))
    first_indent = indents[0]
    begins_indented = first_indent > min(indents) and len(set(indents)) == 2
    starts = [0]
    if begins_indented:
        starts = [at for at, column in enumerate(indents) if column == first_indent]
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start:end]


def _term(lines: tuple[str, ...], layout: Layout) -> list[TextPart]:
    """A term and its description, as one paragraph if the description begins beside the term, or as two if it is below.
    Empty if the block has another form.
    """
    # All lines below the first have one indentation, further right than the term's.
    if len(lines) < 2 or len({indent(line) for line in lines[1:]}) != 1 or indent(lines[1]) <= indent(lines[0]):
        return []
    gap = GAP.search(lines[0])
    if gap:
        column = gap.end() - 1
        description = (lines[0][column:], *lines[1:])
        if column == indent(lines[1]) and is_paragraph(description, layout.edge):
            return [TextPart(Kind.PARAGRAPH, lines)]
        return []
    if not is_paragraph(lines[1:], layout.edge) or any(map(DRAWING.search, lines)):
        return []
    return [TextPart(Kind.PARAGRAPH, lines[:1]), TextPart(Kind.PARAGRAPH, lines[1:])]


def _merged(parts: Sequence[TextPart]) -> list[TextPart]:
    """The parts, with consecutive listings joined, and without the heading above a table of contents."""
    merged: list[TextPart] = []
    for (kind, is_framed), run in groupby(parts, key=attrgetter("kind", "is_framed")):
        if kind is Kind.CONTENTS:
            if merged and merged[-1].kind is Kind.HEADING and merged[-1].level > 1:
                merged.pop()
            merged += run  # `is_for_readers` counts them
        elif kind is Kind.LISTING:
            lines = [line for part in run for line in ("", *part.lines)]
            merged.append(TextPart(Kind.LISTING, tuple(lines[1:]), is_framed=is_framed))
        else:
            merged += run
    return merged


def write(parts: Iterable[TextPart], body: Body, quotes: int = 0) -> None:
    """Write the parts of a text into a body; `quotes` is the number of quotes that the text is in."""
    for part in parts:
        match part.kind:
            case Kind.HEADING:
                body.heading(escape(_text(part.lines)), part.level)
            case Kind.ITEM:
                _write_item(part, body)
            case Kind.LISTING:
                body.code(escape(_dedented(part.lines)))
            case Kind.QUOTE:
                _write_quote(part, body, quotes)
            case Kind.CONTENTS:
                continue
            case _:
                body.paragraph(_linked(_text(part.lines)))


def _write_item(part: TextPart, body: Body) -> None:
    """Write an item of a list; a number that HTML cannot write, such as (a), stays in the text."""
    text = _text(part.lines)
    number = ITEM_NUMBER.match(text)
    if number is None:
        body.item(_linked(text), part.level)
    else:
        body.item(_linked(text[number.end() :]), part.level, int(number[1]))


def _write_quote(part: TextPart, body: Body, quotes: int) -> None:
    """Write a quote and the parts in it; beyond MOST_QUOTES, inner quotes are written as listings with their marks."""
    if quotes >= MOST_QUOTES:
        body.code(escape("\n".join(part.lines)))
        return
    inner = Body()
    write(_parts_of_blocks(list(_blocks(part.lines)), frozenset()), inner, quotes + 1)
    body.markup(f"<blockquote>{inner.html()}</blockquote>", "\n".join(part.lines), len(part.lines))


def _text(lines: Sequence[str]) -> str:
    """The lines of a part as one line. Most plain texts divide no words, so a hyphen at the end of a line stays:
    ALL_WORDS makes `joined` keep it.
    """
    return joined([fold_space(line) for line in lines], ALL_WORDS)


class _AllWords(frozenset[str]):
    """A set that contains every word."""

    def __contains__(self, word: object) -> bool:
        return True


ALL_WORDS = _AllWords()


def _linked(text: str) -> str:
    """The text as HTML, in which addresses of the web are links."""
    pieces: list[str] = []
    end = 0
    for address in URL.finditer(text):
        url = address[0].rstrip(AFTER_URL)
        pieces += (escape(text[end : address.start()]), anchor(url, escape(url)))
        end = address.start() + len(url)
    return "".join((*pieces, escape(text[end:])))


def _dedented(lines: Sequence[str]) -> str:
    """The lines of a listing without the indentation that all of them have."""
    left = min(indent(line) for line in lines if line.strip())
    # A line that is indented with wide spaces, of two columns each, may have fewer than `left`; it stays.
    return "\n".join(line[left:] if line[:left].isspace() else line for line in lines)
