"""The headings of a page, each with the fragment of an address that leads to it.

An anchor is the id of the heading or of an element in it (MediaWiki), the target of a link in the heading (Sphinx,
MkDocs), the id or name of an empty <a> directly before it, or the id of a section that begins with it.
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
"""The most ancestors of a block that are searched for its heading, and of a heading that are searched for a section."""
MOST_WITHIN = 20
"""The most elements in a heading that are searched for an anchor."""
LONGEST_ANCHOR = 200
"""The most characters of an anchor that is used."""


def heading_anchors(page: Page, kept: Collection[Block] | None = None) -> list[HeadingAnchor]:
    """The headings of a page, in order: all headings, or only those with a block in `kept`."""
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
    """The first of a heading's names that can be an anchor; empty if there is none."""
    return next((name for name in _names(heading) if _is_anchor(name)), "")


def _names(heading: etree._Element) -> Iterator[str]:
    """The possible anchors of a heading, the preferred ones first; some are empty."""
    yield heading.get("id", "")
    inner = [element for element in islice(heading.iterdescendants(), MOST_WITHIN) if isinstance(element.tag, str)]
    for element in inner:
        yield element.get("id", "")
        if element.tag == "a":
            yield element.get("name", "")
    for element in inner:
        href = element.get("href", "")
        if href.startswith("#"):
            yield unquote(href[1:])
    before = heading.getprevious()
    if before is not None and before.tag == "a" and not len(before) and not (before.text or "").strip():
        yield before.get("id", "") or before.get("name", "")
    yield from _names_of_sections(heading)


def _names_of_sections(heading: etree._Element) -> Iterator[str]:
    """The ids of the sections that begin with a heading, the innermost first."""
    inner = heading
    for section in islice(heading.iterancestors(), MOST_ABOVE):
        is_first = next(section.iterchildren(etree.Element), None) is inner and not (section.text or "").strip()
        if section.tag not in SECTIONS or not is_first:
            return
        yield section.get("id", "")
        inner = section


def _is_anchor(name: str) -> bool:
    return 0 < len(name) <= LONGEST_ANCHOR and name.isprintable() and not any(map(str.isspace, name))
