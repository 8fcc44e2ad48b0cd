"""The footnotes of a page, and the links from the text to them and back.

A reference is a short link within the page, such as [a] or a raised (superscript) 1, to an element below it. The
element is a footnote if it links back to the reference, or if the reference is raised and its fragment is named as a
note: #fn1. Pandoc, markdown-it, MediaWiki, Sphinx, WordPress and Word write footnotes in these ways. Only notes and
references in the kept text count.

`footnotes` reads the labels of the links, then the elements that they lead to (`_references`), then the links back from
these elements (`_returns`).
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

MAX_PIECES = 8  # texts of a link that are joined to its label
MAX_AROUND = 8  # elements around a link or a target that are examined
MAX_NAME = 200  # characters
_LABEL = re.compile(r"[\[(]?\s*([\w*†‡§¶]{1,4})(?::\d{1,3})?\s*[\])]?")
_NOTE_NAME = re.compile("fn|foot|note|cite|ref", re.IGNORECASE)
_REFERENCE_NAME = re.compile("footnote|noteref", re.IGNORECASE)
_NEVER_NOTES = frozenset("html body main article h1 h2 h3 h4 h5 h6 dt".split())


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
    """The footnotes in these blocks to which links in these blocks refer."""
    # Links in the blocks that may be references, with the labels that are their texts.
    links = [link for link in islice(page.root.iter("a"), MAX_LINKS) if _fragment(link)]
    labels = {}
    for link in links:
        text = _LABEL.fullmatch(_text(link))
        if text is not None:
            labels[link] = text[1]
    if not labels:
        return Footnotes()
    elements_of_blocks = {block.element for block in blocks}
    labels = {link: label for link, label in labels.items() if _block_level_element(link) in elements_of_blocks}

    # Notes that link back, or whose references are raised. A note keeps its label if this is a number or word that no
    # earlier note has; otherwise it gets the next free number.
    references = _references(page.root, labels, _kept(blocks))
    returns = dict(_returns(links, references))
    notes_with_returns = set(returns.values())
    label_of_note: dict[etree._Element, str] = {}
    used_labels: set[str] = set()
    free_labels = (label for label in map(str, count(1)) if label not in used_labels)
    for note, its_links in references.items():
        if note in notes_with_returns or any(map(_is_raised, its_links)):
            label = labels[its_links[0]]
            if not label.isalnum() or label in used_labels:
                label = next(free_labels)
            used_labels.add(label)
            label_of_note[note] = label
    return Footnotes(
        references={
            link: label_of_note[note]
            for note, its_links in references.items()
            if note in label_of_note
            for link in its_links
        },
        notes=label_of_note,
        returns=frozenset(link for link, note in returns.items() if note in label_of_note),
    )


def _references(
    root: etree._Element, labels: Mapping[etree._Element, str], kept: set[etree._Element]
) -> dict[etree._Element, list[etree._Element]]:
    """For each kept element that may be a note, the links with labels that lead to it from above.

    An element that is reached by several fragments, such as a whole list, is not a note.
    """
    # The positions of the links and of their targets in the page.
    fragments_of_links = set(map(_fragment, labels))
    targets: dict[str, tuple[int, etree._Element]] = {}
    positions: dict[etree._Element, int] = {}
    for at, element in enumerate(root.iter(etree.Element)):
        if element in labels:
            positions[element] = at
        for name in (element.get("id"), element.get("name")):
            if name in fragments_of_links:
                targets.setdefault(name, (at, element))

    # The links to each element below them.
    links_of_note: defaultdict[etree._Element, list[etree._Element]] = defaultdict(list)
    fragments: defaultdict[etree._Element, set[str]] = defaultdict(set)
    for link in labels:
        at, target = targets.get(_fragment(link), (0, link))  # position 0 is not below the link: a target is missing
        if at <= positions[link]:
            continue
        note = _note(target)
        if note is not None and note in kept:
            links_of_note[note].append(link)
            fragments[note].add(_fragment(link))
    return {note: its_links for note, its_links in links_of_note.items() if len(fragments[note]) == 1}


def _note(target: etree._Element) -> etree._Element | None:
    """The element with the text of the note at the target of a link; None if it cannot be a note."""
    note = _block_level_element(target)
    if note is not None and note.tag == "dt":
        note = note.getnext()
    if note is None or note.tag in _NEVER_NOTES:
        return None
    return note


def _block_level_element(element: etree._Element) -> etree._Element | None:
    """The element itself if it is block-level, or else the nearest block-level element around it; None if that is far
    above.
    """
    around = islice(chain([element], element.iterancestors()), MAX_AROUND)
    return next((ancestor for ancestor in around if ancestor.tag not in INLINE), None)


def _returns(
    links: Sequence[etree._Element], references: Mapping[etree._Element, Sequence[etree._Element]]
) -> Iterator[tuple[etree._Element, etree._Element]]:
    """The links from notes back to their references, with the notes. A link back leads to the reference itself, to an
    element directly around it, or to its first child.
    """
    names_of_references = {
        note: {
            name
            for link in its_links
            for element in (link, *islice(link.iterancestors(), 2), *islice(link.iterchildren(), 1))
            for name in (element.get("id"), element.get("name"))
        }
        for note, its_links in references.items()
    }
    for link in links:
        for ancestor in islice(link.iterancestors(), MAX_AROUND):
            note = ancestor.getnext() if ancestor.tag == "dt" else ancestor
            if note in names_of_references and _fragment(link) in names_of_references[note]:
                yield link, note
                break


def _is_raised(link: etree._Element) -> bool:
    """Whether a link is raised or named as a reference, and its fragment is named as a note."""
    around = (link, *islice(link.iterancestors(), 2), *islice(link.iterchildren(), 1))
    is_named = _REFERENCE_NAME.search(f"{link.get('class', '')[:MAX_NAME]} {link.get('role', '')[:MAX_NAME]}")
    return bool(_NOTE_NAME.search(_fragment(link)) and (is_named or any(element.tag == "sup" for element in around)))


def _kept(blocks: Sequence[Block]) -> set[etree._Element]:
    """The elements of the blocks, and all elements around them."""
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
