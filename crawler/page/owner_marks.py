"""Removes the text from a page's tree that its owner marks as not to be used.

- `data-nosnippet`, on span, div and section
  (https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag#data-nosnippet-attr);
- `data-ai-crawl-exclude` and `data-pagefind-ignore`, on any element
  (https://pagefind.app/docs/indexing/#removing-individual-elements-from-the-index), unless their value is "false";
- the comments `googleoff: index`, `snippet` or `all`, which mark the text that follows, as Google's Search Appliance
  read them. Each kind is off until a `googleon` turns on this kind or `all`, or until the end of the page. They do not
  nest.

Links and images stay, because the marks are about text. The text of a link becomes its title, by which it is scored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from lxml import etree

from crawler.page.text import fold_space


class OwnerMark(StrEnum):
    """The ways in which owners mark text: three attributes and a comment."""

    NO_SNIPPET = "data-nosnippet"
    AI_CRAWL_EXCLUDE = "data-ai-crawl-exclude"
    PAGEFIND_IGNORE = "data-pagefind-ignore"
    GOOGLE_OFF = "googleoff"


@dataclass(frozen=True)
class MarkedParts:
    """How many parts of a page have one kind of mark."""

    mark: OwnerMark
    first_mark: str
    """The first mark as the page writes it, e.g. `<div data-nosnippet>`."""
    count: int


@dataclass(frozen=True)
class Withheld:
    """The text that was removed from a page."""

    parts: tuple[MarkedParts, ...] = ()
    is_whole: bool = False
    """Whether the marks cover all text of the page's main part. If so, all other text of the page was removed, too."""


NOTHING = Withheld()
SPELLINGS = {
    OwnerMark.NO_SNIPPET: (b"data-nosnippet",),
    OwnerMark.AI_CRAWL_EXCLUDE: (b"data-ai-crawl-exclude",),
    OwnerMark.PAGEFIND_IGNORE: (b"data-pagefind-ignore",),
    OwnerMark.GOOGLE_OFF: (b"oogleoff", b"GOOGLEOFF"),
}
"""Texts by which a source is searched for each mark. They are spelled as pages spell them (googleoff, Googleoff or
GOOGLEOFF): a search that ignores case would take three times as long, on every page.
"""
ON_TAGS = {OwnerMark.NO_SNIPPET: frozenset(("span", "div", "section"))}
"""The elements on which a mark counts; other marks count on all elements."""
BOOLEAN = frozenset((OwnerMark.NO_SNIPPET,))
"""Attributes that count whatever their value is (https://html.spec.whatwg.org/#boolean-attributes)."""
COMMENT = re.compile(r"\s*+googleo(?P<way>ff|n)\s*+:?\s*+(?P<kind>all|index|snippet|anchor)?\s*+", re.IGNORECASE)
ALL_KINDS = frozenset(("index", "snippet", "anchor"))
KINDS_OF_TEXT = frozenset(("index", "snippet"))
"""The kinds that withhold text of the page. The kind `anchor` only forbids using the text of a link as a description
of the page to which the link leads; the crawler stores no such descriptions.
"""
NOT_TEXT = frozenset(("script", "style", "title", "template", "noframes"))
"""Elements whose content is not shown as text, and so stays."""
MAIN = ("main", "article", "body")
"""Tags of the main part; the first of them that a page has is used."""
TEXT_ATTRIBUTES = ("alt", "title")
MAX_MARK = 60
"""Characters of a mark that are kept."""
MOST_ELEMENTS_OF_LINK = 20
"""Elements in a link whose text is read."""
MAX_LINK_TEXT = 300
"""Characters of a link's text that are kept."""


def marks_in(source: bytes) -> list[OwnerMark]:
    """The marks whose texts a source contains, found without parsing it."""
    return [mark for mark, spellings in SPELLINGS.items() if any(spelling in source for spelling in spellings)]


def withhold(root: etree._Element, marks: Collection[OwnerMark]) -> Withheld:
    """Remove the text with these marks from a tree, and return what was removed. If `GOOGLE_OFF` is one of them, all
    comments are removed, too.
    """
    parts: list[MarkedParts] = []
    if OwnerMark.GOOGLE_OFF in marks:
        parts += _by_comments(root)
        etree.strip_tags(root, etree.Comment)
    for mark in marks:
        if mark is not OwnerMark.GOOGLE_OFF:
            parts += _by_attribute(root, mark)
    if not parts:
        return NOTHING
    is_whole = not _shows_text(root, _main_tag(root))
    if is_whole:  # the rest of the page is withheld, too
        _silence(root)
    return Withheld(tuple(parts), is_whole)


def _by_attribute(root: etree._Element, mark: OwnerMark) -> Iterator[MarkedParts]:
    """Remove the text of the elements with an attribute; yields what was removed, or nothing."""
    marked = [element for element in root.iter(etree.Element) if _is_marked(element, mark)]
    if not marked:
        return
    first = marked[0]
    value = first.get(mark)
    attribute = f'{mark}="{value}"' if value else mark.value
    # An element inside a silenced element has no text any more.
    silenced: set[etree._Element] = set()
    for element in marked:
        if element.getparent() not in silenced:
            silenced.update(_silence(element))
    yield MarkedParts(mark, f"<{first.tag} {attribute}>"[:MAX_MARK], len(marked))


def _is_marked(element: etree._Element, mark: OwnerMark) -> bool:
    value = element.get(mark)
    if value is None or (mark in ON_TAGS and element.tag not in ON_TAGS[mark]):
        return False
    return mark in BOOLEAN or value.strip().lower() != "false"


class _Switch:
    """The kinds that comments have turned off at the current node."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.first_mark = ""
        """The first comment that turned text off."""
        self.count = 0
        """How often text was turned off."""

    @property
    def is_off(self) -> bool:
        """Whether text is marked as not to be used."""
        return bool(self.kinds & KINDS_OF_TEXT)

    def turn(self, comment: etree._Element) -> None:
        """Turn kinds off or on, as a comment says."""
        comment_words = COMMENT.fullmatch(comment.text or "")
        if comment_words is None:
            return
        was_off = self.is_off
        kind = (comment_words["kind"] or "all").lower()
        kinds = ALL_KINDS if kind == "all" else {kind}
        if comment_words["way"].lower() == "ff":
            self.kinds |= kinds
        else:
            self.kinds -= kinds
        if self.is_off and not was_off:
            self.first_mark = self.first_mark or f"<!--{(comment.text or '').strip()}-->"[:MAX_MARK]
            self.count += 1


def _by_comments(root: etree._Element) -> Iterator[MarkedParts]:
    """Remove the text that comments turn off; yields what was removed, or nothing."""
    switch = _Switch()
    # Comments before the root count, too.
    for comment in reversed(list(root.itersiblings(etree.Comment, preceding=True))):
        switch.turn(comment)
    # The nodes around the current node. `iterwalk` would report their ends, but takes quadratic time if many comments
    # follow each other.
    open_nodes: list[etree._Element] = []
    for node in root.iter(etree.Element, etree.Comment):
        parent = node.getparent()
        while open_nodes and open_nodes[-1] is not parent:
            _close(open_nodes.pop(), switch)
        open_nodes.append(node)
        if isinstance(node, etree._Comment):
            switch.turn(node)
        elif switch.is_off and node.tag not in NOT_TEXT:
            _silence_element(node)
    for node in reversed(open_nodes):
        _close(node, switch)
    if switch.count:
        yield MarkedParts(OwnerMark.GOOGLE_OFF, switch.first_mark, switch.count)


def _close(node: etree._Element, switch: _Switch) -> None:
    """Remove the text after an element or a comment that ends while text is turned off."""
    if switch.is_off:
        node.tail = None


def _silence(element: etree._Element) -> list[etree._Element]:
    """Remove all text from an element; returns the element and all elements in it."""
    silenced = list(element.iter(etree.Element))
    for inner in silenced:
        if inner.tag not in NOT_TEXT:
            _silence_element(inner)
        if inner is not element:
            inner.tail = None
    return silenced


def _silence_element(element: etree._Element) -> None:
    """Remove the text before the first child of an element, and the text in its attributes. The text of a link becomes
    its title.
    """
    if element.tag == "a":
        if not element.get("title"):
            element.set("title", _link_text(element))
    else:
        for name in TEXT_ATTRIBUTES:
            if name in element.attrib:
                del element.attrib[name]
    element.text = None


def _link_text(link: etree._Element) -> str:
    pieces = [link.text or ""]
    for element in islice(link.iterdescendants(etree.Element), MOST_ELEMENTS_OF_LINK):
        pieces += (element.text or "", element.tail or "")
    return fold_space(" ".join(pieces))[:MAX_LINK_TEXT]


def _main_tag(root: etree._Element) -> str:
    """The first of the `MAIN` tags that a tree has."""
    return next((tag for tag in MAIN if next(root.iter(tag), None) is not None), root.tag)


def _shows_text(root: etree._Element, tag: str) -> bool:
    """Whether any element with this tag shows text. One walk finds it, although such elements may be nested."""
    walker = etree.iterwalk(root, events=("start", "end"))
    depth = 0  # open elements with the tag
    for event, node in walker:
        if event == "end":
            depth -= node.tag == tag
            text = node.tail
        elif node.tag in NOT_TEXT:
            walker.skip_subtree()
            continue
        else:
            depth += node.tag == tag
            text = node.text
        if depth and text and not text.isspace():
            return True
    return False
