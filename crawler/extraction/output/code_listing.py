"""Code as it stands in its <pre>, whatever elements its lines are made of."""

import re
from collections.abc import Iterator
from itertools import chain, islice, pairwise

from lxml import etree

from crawler.page.blocks import INLINE, steps
from crawler.page.text import fold_space

# Parts of a <pre> between other elements that keep their indentation: for each, all of it is read.
MAX_PARTS = 5
GUTTER = re.compile(r"gutter|line-?_?num|lineno|blob-num", re.IGNORECASE)
NAMED = re.compile(
    r"(?:\blang(?:uage)?-|\bbrush:\s?|(?<![\w-])highlight-(?:source-)?|(?:^|\s)highlight\s+)([A-Za-z0-9+#]{1,20})(?![\w-])"
)
NO_LANGUAGES = frozenset(
    "auto container default line lines none nohighlight notranslate plain plaintext table text txt wrap wrapper".split()
)
"""Words in the place of a language: no language, one that the page's script guesses, or the form of the listing."""
FRAMES = frozenset("code div figure span table tbody td tr".split())
"""Elements around a <pre> that may hold nothing else."""
MAX_FRAMES = 6
"""A <figure> with a table of line numbers and code is the fifth."""
PROSE = frozenset("p h1 h2 h3 h4 h5 h6 ul ol".split())
"""Elements that no frame of code holds."""
MAX_BESIDE = 4
"""Elements beside a <pre> in its frame: numbers, a caption, a button."""


def listing(pre: etree._Element, lines: list[str]) -> list[str]:
    """The code in a <pre>, whose texts these are; nothing where they are the numbers of another one's lines."""
    if is_gutter(pre, lines):
        return []
    if len(lines) > 1:
        return _indented(pre, lines)
    return lines


def _indented(pre: etree._Element, lines: list[str]) -> list[str]:
    """The lines as they stand in a <pre>; all of its empty ones, too, if no other line of it is missing."""
    code = source(pre).split("\n")
    letters = list(map(_letters, code))
    kept_letters = [letter for line in lines for letter in map(_letters, line.split("\n")) if letter]
    if [letter for letter in letters if letter] == kept_letters:
        return code
    rest = iter(zip(letters, code, strict=True))
    kept_code = [next((line for letter, line in rest if letter == kept_letter), None) for kept_letter in kept_letters]
    if None in kept_code:
        return lines
    return [line for line in kept_code if line is not None]


def is_gutter(pre: etree._Element, lines: list[str]) -> bool:
    """Whether a <pre> holds the numbers of the lines of code beside it."""
    if not lines[0][:1].isdigit():
        return False
    numbers = " ".join(lines).split()
    if not all(number.isascii() and number.isdigit() and len(number) < 7 for number in numbers):
        return False
    if any(int(after) - int(before) != 1 for before, after in pairwise(numbers)):
        return False
    cell = pre.getparent()
    while cell is not None and cell.tag in ("div", "figure", "code"):
        cell = cell.getparent()
    if cell is not None and cell.tag == "td" and (beside := cell.getnext()) is not None:
        return next(beside.iter("pre"), None) is not None
    return any(element is not None and GUTTER.search(element.get("class", "")) for element in (pre, pre.getparent()))


def language(pre: etree._Element) -> str:
    """The language of code as the page names it, if it does."""
    for element in chain([pre], pre.iterchildren("code"), _frames(pre)):
        for match in NAMED.finditer(element.get("class", "")):
            name = match[1].lower()
            if name not in NO_LANGUAGES:
                return name
    return ""


def _frames(pre: etree._Element) -> Iterator[etree._Element]:
    """The elements around a <pre> that hold little else, the innermost first."""
    inner = pre
    for frame in islice(pre.iterancestors(), MAX_FRAMES):
        beside = chain(inner.itersiblings(), inner.itersiblings(preceding=True))
        tags = [element.tag for element in islice(beside, MAX_BESIDE + 1)]
        is_tight = len(tags) <= MAX_BESIDE and PROSE.isdisjoint(tags)
        if frame.tag != "pre" and not (frame.tag in FRAMES and is_tight):
            return
        yield frame
        inner = frame


def source(pre: etree._Element) -> str:
    """The text of a <pre> with its line breaks: those in it, <br>, and the ends of elements that are not inline."""
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
    return "".join(fold_space(text).split())
