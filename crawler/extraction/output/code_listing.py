"""Restores code as it is in its <pre>, whatever elements its lines consist of."""

import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise

from lxml import etree

from crawler.page.blocks import INLINE, steps
from crawler.page.text import fold_space

# The most parts of a <pre>, separated by other elements, whose indentation is restored. For each part the whole <pre>
# is read, so more parts would take too long.
MAX_PARTS = 5
GUTTER_CLASS = re.compile(r"gutter|line-?_?num|lineno|blob-num", re.IGNORECASE)
LANGUAGE_CLASS = re.compile(
    r"(?:\blang(?:uage)?-|\bbrush:\s?|(?<![\w-])highlight-(?:source-)?|(?:^|\s)highlight\s+)([A-Za-z0-9+#]{1,20})(?![\w-])"
)
NO_LANGUAGES = frozenset(
    "auto container default line lines none nohighlight notranslate plain plaintext table text txt wrap wrapper".split()
)
"""Words in the place of a language that do not name one: they stand for plain text, for a language that a script
guesses, or for the form of the listing.
"""
FRAMES = frozenset("code div figure span table tbody td tr".split())
"""Elements that may frame a <pre>, with nothing else in them."""
MAX_FRAMES = 6
"""The most elements around a <pre> that are read: a <figure> around a table of line numbers and code is the fifth."""
NEVER_IN_FRAMES = frozenset("p h1 h2 h3 h4 h5 h6 ul ol".split())
"""Elements that are never in a frame of code."""
MAX_BESIDE = 4
"""The most elements beside a <pre> in its frame: line numbers, a caption, a button."""


def listing(pre: etree._Element, lines: list[str]) -> list[str]:
    """The lines of code in a <pre>, given the texts of its blocks; none if they are the line numbers of other code."""
    if is_gutter(pre, lines):
        return []
    if len(lines) > 1:
        return _indented(pre, lines)
    return lines


def _indented(pre: etree._Element, lines: list[str]) -> list[str]:
    """The lines as they are in the <pre>. Its empty lines are among them if all other lines of the <pre> are."""
    # All lines of the <pre> are used if they differ from the blocks only in white space.
    code = source(pre).split("\n")
    letters_of_code = list(map(_letters, code))
    kept_letters = [letters for line in lines for letters in map(_letters, line.split("\n")) if letters]
    if [letters for letters in letters_of_code if letters] == kept_letters:
        return code

    # Otherwise each line is looked for below the line before it. If one is missing, the blocks stay as they are.
    rest = iter(zip(letters_of_code, code, strict=True))
    kept_code = [next((line for letters, line in rest if letters == kept), None) for kept in kept_letters]
    if None in kept_code:
        return lines
    return [line for line in kept_code if line is not None]


def is_gutter(pre: etree._Element, lines: list[str]) -> bool:
    """Whether a <pre> consists of the line numbers of the code beside it."""
    if not lines[0][:1].isdigit():
        return False

    # Numbers in sequence.
    numbers = " ".join(lines).split()
    if not all(number.isascii() and number.isdigit() and len(number) < 7 for number in numbers):
        return False
    if any(int(after) - int(before) != 1 for before, after in pairwise(numbers)):
        return False

    # In a table, code is in the next cell; elsewhere a class names the numbers.
    cell = pre.getparent()
    while cell is not None and cell.tag in ("div", "figure", "code"):
        cell = cell.getparent()
    if cell is not None and cell.tag == "td":
        next_cell = cell.getnext()
        if next_cell is not None:
            return next(next_cell.iter("pre"), None) is not None
    return any(
        element is not None and GUTTER_CLASS.search(element.get("class", "")) for element in (pre, pre.getparent())
    )


def language(pre: etree._Element) -> str:
    """The language of code as the page names it; empty if it does not."""
    for element in chain([pre], pre.iterchildren("code"), _frames(pre)):
        for match in LANGUAGE_CLASS.finditer(element.get("class", "")):
            name = match[1].lower()
            if name not in NO_LANGUAGES:
                return name
    return ""


def _frames(pre: etree._Element) -> Iterator[etree._Element]:
    """The elements around a <pre> that contain little else, the innermost first."""
    inner = pre
    for frame in islice(pre.iterancestors(), MAX_FRAMES):
        beside = chain(inner.itersiblings(), inner.itersiblings(preceding=True))
        tags = [element.tag for element in islice(beside, MAX_BESIDE + 1)]
        is_tight = len(tags) <= MAX_BESIDE and NEVER_IN_FRAMES.isdisjoint(tags)
        if frame.tag != "pre" and not (frame.tag in FRAMES and is_tight):
            return
        yield frame
        inner = frame


def source(pre: etree._Element) -> str:
    """The text of a <pre> with its line breaks: those in the text, <br>, and the ends of block-level elements."""
    pieces: list[str] = []

    def end_line() -> None:
        if pieces and not pieces[-1].endswith("\n"):
            pieces.append("\n")

    for step, element, text in steps(pre):
        if element.tag == "br":
            if step == "start":
                pieces.append("\n")
        elif step in ("start", "end") and element.tag not in INLINE:
            end_line()
        if text:
            pieces.append(text)
    lines = (line.rstrip() for line in "".join(pieces).splitlines())
    return "\n".join(lines).strip("\n")


def _letters(text: str) -> str:
    """A text without white space."""
    return "".join(fold_space(text).split())
