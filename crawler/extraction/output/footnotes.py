"""The footnotes of a page, and the links from the text to them and back.

A reference is a short link within the page, such as a raised 1 or [a], to an element below it. That element is a
footnote if it links back to the reference, or if the reference is raised and the element is named as a note. Pandoc,
markdown-it, MediaWiki, Sphinx, WordPress and Word write footnotes in these ways. Only notes and references of the kept
text count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, count, islice

from lxml import etree

from crawler.extraction.output.markdown_inline import Markup
from crawler.page.blocks import INLINE, Block
from crawler.page.links import MAX_LINKS
from crawler.page.page import Page

MAX_PIECES = 8  # texts in a reference that are joined
MAX_ABOVE = 8  # elements between a note and its link back
MAX_NAME = 200  # characters
_LABEL = re.compile(r"[\[(]?\s*([\w*†‡§¶]{1,4})(?::\d{1,3})?\s*[\])]?")
_NAMED = re.compile("fn|foot|note|cite|ref", re.IGNORECASE)
_REFERENCE = re.compile("footnote|noteref", re.IGNORECASE)
_NO_NOTES = frozenset("html body main article h1 h2 h3 h4 h5 h6 dt".split())


@dataclass(frozen=True, slots=True)
class Footnotes:
    """The footnotes of a page, each with its label."""

    _: KW_ONLY
    references: Mapping[etree._Element, str] = field(default_factory=dict)
    """The links to notes, with the labels of the notes."""
    notes: Mapping[etree._Element, str] = field(default_factory=dict)
    """The elements of the notes, with their labels."""
    returns: frozenset[etree._Element] = frozenset()
    """The links from notes back to their references."""

    def kind(self, element: etree._Element) -> Markup | None:
        """NOTE for a link to a note, RETURN for a link back from one; None for other elements."""
        if element in self.references:
            return Markup.NOTE
        if element in self.returns:
            return Markup.RETURN
        return None


def footnotes(page: Page, blocks: Sequence[Block]) -> Footnotes:
    """The footnotes in these blocks to which others of these blocks refer."""
    # Links that may be references, by their texts and their places.
    links = [link for link in islice(page.root.iter("a"), MAX_LINKS) if _fragment(link)]
    labels = {}
    for link in links:
        text = _LABEL.fullmatch(_text(link))
        if text is not None:
            labels[link] = text[1]
    if not labels:
        return Footnotes()
    own = {block.element for block in blocks}
    labels = {link: label for link, label in labels.items() if _around(link) in own}

    # Notes that link back, or whose references are raised. A note keeps its label if that is unique in the text.
    references = _references(page.root, labels, _kept(blocks))
    returns = dict(_returns(links, references))
    returned = set(returns.values())
    label_of_note: dict[etree._Element, str] = {}
    used: set[str] = set()
    free = (label for label in map(str, count(1)) if label not in used)
    for note, its in references.items():
        if note in returned or any(map(_is_raised, its)):
            label = labels[its[0]]
            if not label.isalnum() or label in used:
                label = next(free)
            used.add(label)
            label_of_note[note] = label
    return Footnotes(
        references={
            link: label_of_note[note] for note, its in references.items() if note in label_of_note for link in its
        },
        notes=label_of_note,
        returns=frozenset(link for link, note in returns.items() if note in label_of_note),
    )


def _references(
    root: etree._Element, labels: Mapping[etree._Element, str], kept: set[etree._Element]
) -> dict[etree._Element, list[etree._Element]]:
    """The kept elements to which links with labels above them lead, each with these links.

    An element that is reached by several fragments, such as a whole list, is not a note.
    """
    fragments_of_links = set(map(_fragment, labels))
    targets: dict[str, tuple[int, etree._Element]] = {}
    places: dict[etree._Element, int] = {}
    for at, element in enumerate(root.iter(etree.Element)):
        if element in labels:
            places[element] = at
        for name in (element.get("id"), element.get("name")):
            if name in fragments_of_links:
                targets.setdefault(name, (at, element))
    links_of_note: defaultdict[etree._Element, list[etree._Element]] = defaultdict(list)
    fragments: defaultdict[etree._Element, set[str]] = defaultdict(set)
    for link in labels:
        at, target = targets.get(_fragment(link), (0, link))
        if at <= places[link]:
            continue
        note = _note(target)
        if note is not None and note in kept:
            links_of_note[note].append(link)
            fragments[note].add(_fragment(link))
    return {note: its for note, its in links_of_note.items() if len(fragments[note]) == 1}


def _note(target: etree._Element) -> etree._Element | None:
    """The element around the text of the note that a link leads to."""
    note = _around(target)
    if note is not None and note.tag == "dt":
        note = note.getnext()
    if note is None or note.tag in _NO_NOTES:
        return None
    return note


def _around(element: etree._Element) -> etree._Element | None:
    """The nearest block-level element that is or contains an element; None if it is far above."""
    around = islice(chain([element], element.iterancestors()), MAX_ABOVE)
    return next((ancestor for ancestor in around if ancestor.tag not in INLINE), None)


def _returns(
    links: Sequence[etree._Element], references: Mapping[etree._Element, Sequence[etree._Element]]
) -> Iterator[tuple[etree._Element, etree._Element]]:
    """The links from notes back to their references, with the notes."""
    names = {
        note: {
            name
            for link in its
            for element in (link, *islice(link.iterancestors(), 2), *islice(link.iterchildren(), 1))
            for name in (element.get("id"), element.get("name"))
        }
        for note, its in references.items()
    }
    for link in links:
        for ancestor in islice(link.iterancestors(), MAX_ABOVE):
            note = ancestor.getnext() if ancestor.tag == "dt" else ancestor
            if note in names and _fragment(link) in names[note]:
                yield link, note
                break


def _is_raised(link: etree._Element) -> bool:
    """Whether a link is raised or named as a reference, and the fragment that it leads to is named as a note."""
    around = (link, *islice(link.iterancestors(), 2), *islice(link.iterchildren(), 1))
    is_named = _REFERENCE.search(f"{link.get('class', '')[:MAX_NAME]} {link.get('role', '')[:MAX_NAME]}")
    return bool(_NAMED.search(_fragment(link)) and (is_named or any(element.tag == "sup" for element in around)))


def _kept(blocks: Sequence[Block]) -> set[etree._Element]:
    """The elements around the blocks."""
    kept: set[etree._Element] = set()
    for block in blocks:
        for ancestor in chain([block.element], block.element.iterancestors()):
            if ancestor in kept:
                break
            kept.add(ancestor)
    return kept


def _fragment(link: etree._Element) -> str:
    """The fragment to which a link within the page leads; empty for other links."""
    href = link.get("href", "")
    return href[1 : MAX_NAME + 1] if href[:1] == "#" else ""


def _text(link: etree._Element) -> str:
    return "".join(map(str, islice(link.itertext(), MAX_PIECES)))[:MAX_NAME].strip()
