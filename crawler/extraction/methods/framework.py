"""Framework: the page is split into parts by its layout tables, and large parts with paragraphs are kept.

Shi, Lin, Yang, "An approach to eliminate noise based on framework of web pages and rules". Main text is in the middle
of a page, in parts that are wide and high; noise is at the edges, in parts that are long and narrow. The width and
height of each <table> distinguish them (Fig. 3), by the limits delta1 (`LayoutLimits.width`, pixels), delta2 and delta3
(`width_percent`, `height_percent`) and an aspect ratio without a name (`aspect`). Then the rules apply:
i.   a paragraph (<p> or <br>) is main text,
ii.  a table whose width in percent is high may be main text,
iii. of nested tables, only those of one level have main text,
iv.  on a page without tables, the paragraphs are the main text.
Noise with paragraphs has fewer of them than the main text: a part is dropped if it has fewer than the share `tie` of
the paragraphs of the main part.

The paper gives no value for any limit, and they cannot be learned from today's pages, which state no sizes: the
defaults suit pages 760 to 1000 pixels wide, only `tie` was tuned. Choices where the paper gives no details or
contradicts itself:
- A width in percent without a height is in no branch as printed: it is judged by delta2, as in rule ii.
- A table without a width may have main text, as its width depends on its content. (As printed, the missing width would
  be compared with the limit.)
- A paragraph is a line in a <p> or beside a <br> that does not consist mostly of links: lists of links are full of
  <br>.
- The level of rule iii is that of the part with the most paragraphs, and of two such parts, of the longer one.
- The last branch is used if no part that the other branches keep has a paragraph. It keeps the tables that are not
  narrow, and large in both directions; `LayoutLimits.height` is the height in pixels that the paper does not name.
- The text outside of all tables is a part, too. On a page without tables it is the whole page, as in rule iv.

The extension: today's pages are laid out with <div>s, which have no sizes, but at the edges have names. So the elements
of DIVS are parts like tables, with sizes from their style if it has any; the elements of EDGES are noise like narrow
tables; and as divs are nested for reasons of style, rule iii counts only tables. `LayoutLimits(divs=False)` is the
method of the paper, for which a page of today is one part: it returns the main text with all text around it. Neither
method finds the text of pages without paragraphs, such as lists of products.
"""

import re
from dataclasses import KW_ONLY, dataclass

from lxml import etree

from crawler.metadata.title import headline
from crawler.page.blocks import INLINE
from crawler.page.html_tree import Element, enclosing
from crawler.page.page import Extraction, Page

DIVS = frozenset("article aside div footer form header main nav section".split())
EDGES = ("aside", "footer", "header", "nav")
# Above this share of its characters in links, a line is no paragraph.
LINK_LIMIT = 0.5
# A length: 80% is in percent, 760 and 760px are in pixels.
LENGTH = re.compile(r"\s*+(\d{1,5})(?:\.\d*+)?+\s*+(%|px)?+\s*+$")
# The width and the height in a style attribute.
STYLED = re.compile(r"(?:^|[;\s])(width|height)\s*:\s*(\d{1,5}(?:\.\d{1,9})?\s?(?:px|%))", re.IGNORECASE)


@dataclass(frozen=True)
class LayoutLimits:
    """The limits of the paper. A part is large above the first four, which are in pixels and in percent."""

    width: int = 300
    height: int = 300
    width_percent: int = 50
    height_percent: int = 50
    aspect: float = 5.0
    """A part is narrow if its longer side is at least this many times the shorter one."""
    tie: float = 0.2
    """The fewest paragraphs that a part may have, as a share of the main part's."""
    divs: bool = True
    """Whether the elements of DIVS are parts as well."""


@dataclass(frozen=True, slots=True)
class Length:
    """A width or a height as an element states it, in pixels or in percent."""

    value: int
    _: KW_ONLY
    is_percent: bool = False


@dataclass(frozen=True, slots=True)
class FramePart:
    """The content of one table or div, without the tables and divs in it."""

    width: Length | None
    height: Length | None
    level: int
    """The number of tables from the root to the part."""
    paragraphs: int
    size: int
    """The characters of its paragraphs."""


DEFAULT = LayoutLimits()


def parts_of_lines(page: Page, limits: LayoutLimits) -> list[Element]:
    """For each line of the page the element of its part: the innermost table or div around it, or the root."""
    tags = DIVS | {"table"} if limits.divs else {"table"}
    around = enclosing((block.element for block in page.blocks), lambda element: element.tag in tags)
    return [page.root if part is None else part for part in around]


def paragraphs(page: Page) -> list[bool]:
    """For each line of the page whether it is a paragraph."""
    breaks = (br.getparent() for br in page.root.iter("br"))
    with_breaks = set(enclosing(breaks, lambda element: element.tag not in INLINE))
    return [
        (block.tag == "p" or block.element in with_breaks) and block.linked <= LINK_LIMIT * len(block.text)
        for block in page.blocks
    ]


def parts_of_page(page: Page, elements: list[Element], limits: LayoutLimits) -> dict[Element, FramePart]:
    """The parts that have text, by their elements."""
    counts: dict[Element, int] = dict.fromkeys(elements, 0)
    sizes = counts.copy()
    for element, block, is_paragraph in zip(elements, page.blocks, paragraphs(page), strict=True):
        counts[element] += is_paragraph
        sizes[element] += is_paragraph * len(block.text)
    levels = table_levels(page)
    tables = enclosing(counts, lambda element: element in levels)
    # Parts in an element of EDGES are noise: they are left out.
    edges = enclosing(counts, lambda element: limits.divs and element.tag in EDGES)
    return {
        element: FramePart(
            width=length(element, "width"),
            height=length(element, "height"),
            level=levels.get(table, 0),
            paragraphs=count,
            size=sizes[element],
        )
        for (element, count), table, edge in zip(counts.items(), tables, edges, strict=True)
        if edge is None
    }


def table_levels(page: Page) -> dict[Element | None, int]:
    """The tables of the page, each with the number of tables from the root to it."""
    levels: dict[Element | None, int] = {}
    depth = 0
    for event, table in etree.iterwalk(page.root, events=("start", "end"), tag="table"):
        if event == "start":
            depth += 1
            levels[table] = depth
        else:
            depth -= 1
    return levels


def length(element: Element, side: str) -> Length | None:
    """The width or height that an element states in an attribute, or else in its style."""
    stated = element.get(side)
    if stated is None:
        style = element.get("style", "")
        stated = {name.lower(): value for name, value in STYLED.findall(style)}.get(side)
    match = LENGTH.match(stated or "")
    if match:
        return Length(value=int(match[1]), is_percent=match[2] == "%")
    return None


def may_have_main_text(width: Length | None, height: Length | None, limits: LayoutLimits) -> bool:
    """Whether a part of this size may have main text, by the branches of Fig. 3."""
    if width is None:
        return True
    if width.is_percent:
        return width.value > limits.width_percent
    if height is None:
        return width.value > limits.width
    if height.is_percent:
        return height.value > limits.height_percent
    return is_compact(width, height, limits)


def is_compact(width: Length, height: Length, limits: LayoutLimits) -> bool:
    """Whether a part is neither long and low nor high and narrow, as far as its sizes can be compared."""
    if width.is_percent or height.is_percent:
        return True
    short, long = sorted((width.value, height.value))
    return long < limits.aspect * short


def is_large(width: Length | None, height: Length | None, limits: LayoutLimits) -> bool:
    """Whether a part fills much of the page, like the main part of a page of links or images."""
    if width is None or height is None:
        return False
    least_width = limits.width_percent if width.is_percent else limits.width
    least_height = limits.height_percent if height.is_percent else limits.height
    return width.value > least_width and height.value > least_height and is_compact(width, height, limits)


def main_parts(parts: dict[Element, FramePart], limits: LayoutLimits) -> set[Element]:
    """The parts that have the main text."""
    candidates = {
        element: part
        for element, part in parts.items()
        if part.paragraphs and may_have_main_text(part.width, part.height, limits)
    }
    if not candidates:
        return {element for element, part in parts.items() if is_large(part.width, part.height, limits)}
    main = max(candidates.values(), key=lambda part: (part.paragraphs, part.size))
    least_paragraphs = limits.tie * main.paragraphs
    return {
        element
        for element, part in candidates.items()
        if part.level == main.level and part.paragraphs >= least_paragraphs
    }


def framework(page: Page, limits: LayoutLimits = DEFAULT) -> Extraction:
    """The main text by the method of Shi, Lin and Yang."""
    elements = parts_of_lines(page, limits)
    kept = main_parts(parts_of_page(page, elements, limits), limits)
    lines = tuple(block for block, element in zip(page.blocks, elements, strict=True) if element in kept)
    return Extraction(text="\n".join(line.text for line in lines), title=headline(page), blocks=lines)
