"""The headings of a page, each with the fragment of an address that leads to it.

An anchor is the id of the heading, or of an element in it (MediaWiki), what the heading's own link leads to (Sphinx,
MkDocs), an empty <a> directly before it, or the id of a section that begins with it.
"""

from collections.abc import Collection, Iterator
from itertools import groupby, islice
from urllib.parse import unquote

from lxml import etree

from crawler.contrib.index.page_sections import HeadingAnchor
from crawler.page.blocks import Block
from crawler.page.page import Page

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
SECTIONS = frozenset(("section", "div", "article", "header", "hgroup"))
MOST_ABOVE = 4
"""Elements between the text of a heading and the heading, or between a heading and its section."""
MOST_WITHIN = 20
"""Elements in a heading that are looked at."""
MOST_LETTERS = 200
"""Letters of an anchor."""


def heading_anchors(page: Page, kept: Collection[Block] | None = None) -> list[HeadingAnchor]:
    """The headings of a page, in order: all, or those with text among the kept blocks."""
    kept_ids = None if kept is None else {id(block) for block in kept}
    shown = (block for block in page.blocks if kept_ids is None or id(block) in kept_ids)
    return [
        HeadingAnchor(text=" ".join(block.text for block in group), anchor=_anchor(heading))
        for heading, group in groupby(shown, _heading)
        if heading is not None
    ]


def _heading(block: Block) -> etree._Element | None:
    """The heading that a block is in."""
    around = islice(block.element.iterancestors(), MOST_ABOVE)
    return next((element for element in (block.element, *around) if element.tag in HEADINGS), None)


def _anchor(heading: etree._Element) -> str:
    """The first name of a heading that can be an anchor; empty if it has none."""
    return next((name for name in _names(heading) if _is_anchor(name)), "")


def _names(heading: etree._Element) -> Iterator[str]:
    yield heading.get("id", "")
    inner = [element for element in islice(heading.iterdescendants(), MOST_WITHIN) if isinstance(element.tag, str)]
    for element in inner:
        yield element.get("id", "")
        yield element.get("name", "") if element.tag == "a" else ""
    for element in inner:
        href = element.get("href", "")
        yield unquote(href[1:]) if href.startswith("#") else ""
    before = heading.getprevious()
    if before is not None and before.tag == "a" and not len(before) and not (before.text or "").strip():
        yield before.get("id", "") or before.get("name", "")
    yield from _names_of_sections(heading)


def _names_of_sections(heading: etree._Element) -> Iterator[str]:
    """The ids of the elements that begin with a heading, the innermost first."""
    first = heading
    for section in islice(heading.iterancestors(), MOST_ABOVE):
        begins = next(section.iterchildren(etree.Element), None) is first and not (section.text or "").strip()
        if section.tag not in SECTIONS or not begins:
            return
        yield section.get("id", "")
        first = section


def _is_anchor(name: str) -> bool:
    return 0 < len(name) <= MOST_LETTERS and name.isprintable() and not any(map(str.isspace, name))
