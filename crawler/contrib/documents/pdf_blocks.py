"""The blocks of a PDF file: turns its groups of lines into headings, paragraphs, items, listings and tables.

The outline is the list of headings that the file itself has, as bookmarks. Few files have one. A heading is found in
the outline by its `letters`; elsewhere it is told by its look: its size, and whether it is bold.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from crawler.contrib.documents.html_body import Body
from crawler.contrib.documents.pdf_lines import PdfLine
from crawler.contrib.documents.pdf_paragraphs import BULLET, LineGroup, Measures
from crawler.contrib.documents.pdf_tables import PdfTable
from crawler.contrib.documents.text_join import joined
from crawler.page.text import width

LEAST_SIZE = 1.09
"""The least size of a heading that is not bold, as a multiple of the usual size."""
LEAST_BOLD_SIZE = 0.95
"""The least size of a bold heading, as a multiple of the usual size."""
MAX_HEADING = 200
"""Columns of a heading, at most."""
MOST_LINES = 4
"""Lines of a heading, at most."""
LEAST_OUTLINE = 5
"""From this many entries on, an outline is complete enough to tell headings from other lines."""
REPEATED = 3
"""From this many occurrences on, the same words are a label, such as "Note", and not a heading."""
LEAST_OF_LOOK = 3
"""From this many headings of one look on, the outline must have the share LEAST_IN_OUTLINE of them."""
LEAST_IN_OUTLINE = 0.3
"""The least share of the headings of one look that the outline has."""
LEAST_GAP = 1.25
"""Ems. The baseline of a bold heading is more than this below that of the line above; a line of text is nearer."""
LEAST_GAP_OF_LINE = 1.68
"""Ems. A single line that is a heading by the outline, and not by its look, is more than this below the line above."""
LEAST_TEXT = re.compile(r"[^\W\d_]{2}|[^\W\d_](?<=[\u2e80-\U0003ffff])")
"""The least that a heading has: two letters in a row, or one character of Chinese, Japanese or Korean."""
MOST_SPACES = 60
"""Spaces in a row in a line of code, at most."""
NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty"
)
LABEL = "chapter|appendix|section|part|kapitel|anhang|chapitre|capítulo|глава"
"""Words before the number of a chapter."""
NUMBER = re.compile(
    rf"(?:(?:{LABEL})\s+)?(?:[A-Z]|\d{{1,3}}|[IVX]{{1,5}}|{NUMBER_WORDS})(?:\.\d{{1,3}}){{0,5}}[.:]?\s+(?=\S)|第.{{1,3}}章\s*",
    re.IGNORECASE,
)
"""The number before the text of a heading."""
CHAPTER = re.compile(rf"(?:(?:{LABEL})\s*)?(?:[A-Z]|\d{{1,3}}|[IVX]{{1,5}}|{NUMBER_WORDS})|第.{{1,3}}章", re.IGNORECASE)
"""A line that is only the number of a chapter, such as `Chapter 3`; the title is on the next line."""
COMPOUND = re.compile(r"[^\W\d_]+-[^\W\d_]+")
"""A word with a hyphen."""
LEVELS = 6
"""Levels of headings in HTML."""


@dataclass(frozen=True, slots=True, order=True)
class FontLook:
    """The look of a heading; headings of one level look alike. Looks are ordered by size."""

    size: float
    is_bold: bool


def add_blocks(body: Body, groups: Iterable[LineGroup | PdfTable], usual: Measures, outline: Mapping[str, int]) -> None:
    """Add the blocks of a document to a body. `outline` has the level of each heading, by the heading's `letters`."""
    all_groups = list(groups)
    compounds = _compounds(all_groups)
    headings = _headings([group for group in all_groups if isinstance(group, LineGroup)], usual, outline)
    heading_ids = set(map(id, headings))  # groups can change, so they cannot be members of a set
    levels = _levels(headings, outline)

    list_edges: list[float] = []  # the left edges of the open lists, the outermost first
    for group in _with_chapter_numbers(all_groups, heading_ids):
        if isinstance(group, PdfTable):
            body.table([[escape(cell) for cell in row] for row in group.rows])
        elif group.is_code:
            body.code(escape(_listing(group.lines)))
        elif group.is_item and id(group) not in heading_ids:
            body.item(escape(_item_text(group, compounds)), _item_level(group, list_edges))
            continue
        else:
            text = joined([line.text for line in group.lines], compounds)
            if id(group) in heading_ids:
                # Below the number of a chapter, the look is that of the number, and may have no level.
                body.heading(escape(text), outline.get(letters(text)) or levels.get(_look(group), 1))
            else:
                body.paragraph(escape(text))
        list_edges = []  # anything but an item closes all lists


def letters(text: str) -> str:
    """The letters and digits of a heading without its number and its spaces, by which it is found in the outline.
    >>> letters("3.2 Bees & Flowers"), letters("Chapter 3: Bees")
    ('beesflowers', 'bees')
    """
    number = NUMBER.match(text)
    if number:
        text = text[number.end() :]
    return "".join(filter(str.isalnum, text)).casefold()


def _compounds(groups: Sequence[LineGroup | PdfTable]) -> frozenset[str]:
    """The words in lower case that are written with a hyphen within a line."""
    texts = (line.text for group in groups if isinstance(group, LineGroup) for line in group.lines)
    compounds = {word.lower() for text in texts if "-" in text for word in COMPOUND.findall(text)}
    return frozenset(compounds)


def _headings(groups: Sequence[LineGroup], usual: Measures, outline: Collection[str]) -> list[LineGroup]:
    """The groups that are headings.

    A heading that is not in a complete outline is left out if its words are repeated, or if the outline has few of the
    headings of its look.
    """
    headings = [group for group in groups if _is_heading(group, usual, outline)]
    if len(outline) < LEAST_OUTLINE:
        return headings
    keys = [letters(group.text) for group in headings]
    occurrences = Counter(keys)
    looks = Counter(map(_look, headings))
    in_outline = Counter(_look(group) for group, key in zip(headings, keys, strict=True) if key in outline)
    heading_looks = {
        look for look, count in looks.items() if count < LEAST_OF_LOOK or in_outline[look] >= LEAST_IN_OUTLINE * count
    }
    return [
        group
        for group, key in zip(headings, keys, strict=True)
        if key in outline or (occurrences[key] < REPEATED and _look(group) in heading_looks)
    ]


def _with_chapter_numbers(
    groups: Sequence[LineGroup | PdfTable], heading_ids: Collection[int]
) -> list[LineGroup | PdfTable]:
    """The groups, where the number of a chapter on a line of its own becomes part of the heading below it."""
    joined_groups: list[LineGroup | PdfTable] = []
    for group in groups:
        last = joined_groups[-1] if joined_groups else None
        if (
            isinstance(group, LineGroup)
            and id(group) in heading_ids
            and isinstance(last, LineGroup)
            and CHAPTER.fullmatch(last.text)
        ):
            group.lines = [*last.lines, *group.lines]
            joined_groups.pop()
        joined_groups.append(group)
    return joined_groups


def _is_heading(group: LineGroup, usual: Measures, outline: Collection[str]) -> bool:
    """Whether a group is a heading, by the outline or by its look."""
    text = group.text
    if group.is_code or len(group.lines) > MOST_LINES or width(text) > MAX_HEADING or not LEAST_TEXT.search(text):
        return False

    # By the outline.
    if len(group.lines) <= 2:
        key = letters(text)
        if len(key) > 2 and key in outline and _looks_apart(group, usual):
            return True

    # By its look: it is larger than the text, or bold and apart from the line above.
    if BULLET.match(text):
        return False
    if group.size >= LEAST_SIZE * usual.size:
        return text[-1] not in ",;"
    is_bold = all(line.is_bold for line in group.lines) and group.size >= LEAST_BOLD_SIZE * usual.size
    return is_bold and text[-1] not in ".,;:，。；：" and group.gap > LEAST_GAP


def _looks_apart(group: LineGroup, usual: Measures) -> bool:
    """Whether a group differs in look or distance from the text around it."""
    is_single_line = len(group.lines) == 1 and group.gap > LEAST_GAP_OF_LINE
    return group.size > usual.size or group.first.is_bold or is_single_line


def _look(group: LineGroup) -> FontLook:
    return FontLook(size=round(group.size, 1), is_bold=group.first.is_bold)


def _levels(headings: Sequence[LineGroup], outline: Mapping[str, int]) -> dict[FontLook, int]:
    """The level of each look: the level that most of its headings have in the outline. If the outline has none of them,
    the level is one below that of the next larger look.
    """
    votes: dict[FontLook, Counter[int]] = defaultdict(Counter)
    for group in headings:
        level = outline.get(letters(group.text))
        if level is not None:
            votes[_look(group)][level] += 1
    looks = sorted({_look(group) for group in headings}, reverse=True)
    levels: dict[FontLook, int] = {}
    level_above = 0
    for look in looks:
        level_of_look = level_above + 1
        if votes[look]:
            level_of_look = votes[look].most_common(1)[0][0]
        levels[look] = min(level_of_look, LEVELS)
        level_above = levels[look]
    return levels


def _item_text(group: LineGroup, compounds: Collection[str]) -> str:
    """The text of an item without its bullet; a number stays, and so does a bullet without text."""
    text = joined([line.text for line in group.lines], compounds)
    bullet = BULLET.match(text)
    if bullet is None or bullet.end() == len(text):
        return text
    return text[bullet.end() :]


def _item_level(group: LineGroup, left_edges: list[float]) -> int:
    """The depth of an item, by its left edge. Updates `left_edges`, the left edges of the open lists."""
    while left_edges and group.first.x0 < left_edges[-1] - group.size / 2:
        left_edges.pop()
    if not left_edges or group.first.x0 > left_edges[-1] + group.size / 2:
        left_edges.append(group.first.x0)
    return len(left_edges) - 1


def _listing(lines: Sequence[PdfLine]) -> str:
    """The lines of code with their indentation, and an empty line where there is space between them."""
    # The width of a letter: the median of the lines that are long enough to measure it, or else 0.6 ems, as in most
    # monospaced fonts.
    letter_width = lines[0].size * 0.6
    widths = [(line.x1 - line.x0) / len(line.text) for line in lines if len(line.text) > 3]
    if widths:
        letter_width = sorted(widths)[len(widths) // 2]

    left = min(line.x0 for line in lines)
    code_lines = [_code_line(lines[0], left, letter_width)]
    for before, line in pairwise(lines):
        if line.y - before.y > 1.8 * line.size:
            code_lines.append("")
        is_rest_of_line = abs(line.y - before.y) < 0.3 * line.size and line.x0 > before.x1
        if is_rest_of_line:
            code_lines[-1] += " " + line.text
        else:
            code_lines.append(_code_line(line, left, letter_width))
    return "\n".join(code_lines)


def _code_line(line: PdfLine, left: float, letter_width: float) -> str:
    """A line of code with its spaces, from the left edge of the listing."""
    text = ""
    end = left
    for piece in line.pieces:
        text += _spaces(piece.x0 - end, letter_width) + piece.text
        end = piece.x1
    return text


def _spaces(points: float, letter_width: float) -> str:
    """As many spaces as fit into a distance."""
    return " " * min(round(points / max(letter_width, 0.1)), MOST_SPACES)  # letters may have no width
