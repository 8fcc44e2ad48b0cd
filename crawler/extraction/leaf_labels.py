"""The leaf labels of a page: each element's own text, line by line, and the block-level label around it.

A leaf label is an element that has text of its own in one line; the lines are `page.blocks`. The text of a leaf may be
interrupted by other leaves: `<p>one <b>two</b> three</p>` has the leaves (p, "one three") and (b, "two").
Block-level labels are body, section and div; a leaf in none of them belongs to the page's root.

`LabelIndex` finds near labels: they have the same tag, and their texts are equal or a few edits apart. Two texts are
near if their edit distance D <= min(len) / 8; texts of up to 8 characters must be equal. Most pairs of texts are never
compared, by the pigeonhole principle: if two texts are at most k edits apart, and one is cut into k + 1 pieces, at
least one of the pieces is in the other text unchanged. So a text is compared only with texts of which it contains a
piece.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

from lxml import etree
from rapidfuzz.distance import Levenshtein

from crawler.page.blocks import INLINE, steps
from crawler.page.page import Page
from crawler.page.text import fold_space

BLOCK_LEVEL = frozenset(("body", "section", "div"))


@dataclass(slots=True)
class Leaf:
    """A leaf label."""

    tag: str
    text: str
    line: int
    """Index of its line in `page.blocks`."""
    block_label: int
    """Index of the block-level label around it in `Leaves.block_labels`."""
    anchor: int
    """Index of the link around it in `Leaves.anchors`; -1 if there is none."""


@dataclass(slots=True)
class BlockLabel:
    """A block-level label, without the block-level labels nested in it."""

    tag: str
    images: int
    """How many <img> it has."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """All leaf labels and block-level labels, in page order."""

    leaves: tuple[Leaf, ...]
    block_labels: tuple[BlockLabel, ...]
    anchors: tuple[int, ...]
    """For each <a>, the index of the block-level label around it."""


def leaves(page: Page) -> Leaves:
    """The leaf labels of a page and its block-level labels, computed once."""
    return page.once(_leaves)


def _leaves(page: Page) -> Leaves:
    return _LeafReader().run(page.root)


class _LeafReader:
    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.block_label_tags: list[str] = []
        """The tags of the block-level labels."""
        self.image_counts: list[int] = []
        """The number of images in each block-level label."""
        self.anchors: list[int] = []
        """The index of the block-level label around each link."""
        self.line_count = 0
        """The number of lines so far."""
        self.open_anchor = -1
        """The index of the open link; -1 if there is none."""
        self.element_count = 0
        """The number of elements so far. It becomes the number of each new element."""
        self.open_elements: list[tuple[int, str]] = []
        """The number and the tag of each open element."""
        self.open_block_labels: list[int] = []
        """The indexes of the open block-level labels."""
        self.open_pre_count = 0
        """The number of open <pre>."""
        self.pieces: dict[int, tuple[str, int, list[str]]] = {}
        """For each element with text in this line, by its number: its tag, its link and the pieces of its text."""

    def run(self, root: etree._Element) -> Leaves:
        # Lines must break as in crawler.page.blocks, whose blocks are counted here.
        self.add_block_label(root.tag)
        for step, element, text in steps(root):
            if step == "start":
                self.enter(element.tag)
            elif step == "end":
                self.leave(element.tag)
            if text:
                self.add_text(text)
        self.end_line()
        return Leaves(
            leaves=tuple(self.leaves),
            block_labels=tuple(map(BlockLabel, self.block_label_tags, self.image_counts)),
            anchors=tuple(self.anchors),
        )

    def enter(self, tag: str) -> None:
        self.element_count += 1
        self.open_elements.append((self.element_count, tag))
        if tag not in INLINE:
            self.end_line()
            if tag in BLOCK_LEVEL:
                self.add_block_label(tag)
            elif tag == "pre":
                self.open_pre_count += 1
        elif tag == "a":
            self.open_anchor = len(self.anchors)
            self.anchors.append(self.open_block_labels[-1])
        elif tag == "img":
            self.image_counts[self.open_block_labels[-1]] += 1

    def leave(self, tag: str) -> None:
        self.open_elements.pop()
        if tag not in INLINE:
            self.end_line()
            if tag in BLOCK_LEVEL:
                self.open_block_labels.pop()
            elif tag == "pre":
                self.open_pre_count -= 1
        elif tag == "a":
            self.open_anchor = -1

    def add_block_label(self, tag: str) -> None:
        self.open_block_labels.append(len(self.block_label_tags))
        self.block_label_tags.append(tag)
        self.image_counts.append(0)

    def add_text(self, text: str) -> None:
        number, tag = self.open_elements[-1]
        _, _, pieces = self.pieces.setdefault(number, (tag, self.open_anchor, []))
        pieces.append(text)

    def end_line(self) -> None:
        if not self.pieces:
            return
        leaves_before = len(self.leaves)
        has_characters = False
        for tag, anchor, pieces in self.pieces.values():
            raw = "".join(pieces)
            text = fold_space(raw)
            if text:
                self.leaves.append(
                    Leaf(
                        tag=tag, text=text, line=self.line_count, block_label=self.open_block_labels[-1], anchor=anchor
                    )
                )
            has_characters = has_characters or bool(raw.strip())
        # A line that has only zero-width characters is a block in <pre>, but not elsewhere.
        if len(self.leaves) > leaves_before or (has_characters and self.open_pre_count):
            self.line_count += 1
        self.pieces = {}


# Up to this number of characters only equal texts are near; longer ones may have one edit for each 8 characters.
EXACT_LENGTH = 8
# Labels of more characters are found only if equal: few of them are noise, and comparing them is slow.
MAX_NEAR_LENGTH = 100
# Because of these two limits some near labels are not found, so that some noise stays.
MOST_COMPARED = 2  # labels that a text is compared with: those that share the most pieces with it
MOST_OF_PIECE = 8  # labels that are stored for a piece


class LabelIndex:
    """An index of labels that also finds nearly equal ones. Labels can be added, but not removed."""

    def __init__(self, longest_near: int = MAX_NEAR_LENGTH) -> None:
        self.longest_near = longest_near
        """Labels of more characters are found only if they are equal."""
        self._numbers: dict[tuple[str, str], int] = {}
        """The number of each label."""
        self._texts: list[str] = []
        """The texts of the labels, by number."""
        self._pieces: dict[str, dict[str, list[int]]] = {}
        """For each tag and piece, the numbers of the labels with this tag whose texts were cut into it."""

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, label: tuple[str, str]) -> bool:
        """Whether exactly this label is in the index."""
        return label in self._numbers

    def add(self, tag: str, text: str) -> int:
        """Add a label that is not in the index; returns its number."""
        number = self._numbers[tag, text] = len(self._texts)
        self._texts.append(text)
        if EXACT_LENGTH < len(text) <= self.longest_near:
            numbers_of_piece = self._pieces.setdefault(tag, {})
            for piece in _pieces(text):
                numbers = numbers_of_piece.setdefault(piece, [])
                if len(numbers) < MOST_OF_PIECE:
                    numbers.append(number)
        return number

    def find(self, tag: str, text: str) -> int | None:
        """The number of the label that is equal, or else of one that is near; None if there is none."""
        number = self._numbers.get((tag, text))
        if number is not None or tag not in self._pieces or not EXACT_LENGTH < len(text) <= self.longest_near:
            return number

        # Pieces of near texts have a few possible lengths: each part of the text with such a length is looked up.
        numbers_of_piece = self._pieces[tag]
        min_length = _shortest(len(text))
        max_length = len(text) + len(text) // EXACT_LENGTH
        shared_pieces: Counter[int] = Counter()
        for length in _piece_lengths(len(text)):
            parts = {text[start : start + length] for start in range(len(text) - length + 1)}
            for piece in numbers_of_piece.keys() & parts:
                shared_pieces.update(
                    other for other in numbers_of_piece[piece] if min_length <= len(self._texts[other]) <= max_length
                )
        ranked = sorted(shared_pieces, key=lambda other: (-shared_pieces[other], other))[:MOST_COMPARED]
        return next((other for other in ranked if is_near(text, self._texts[other])), None)


def is_near(text: str, other: str) -> bool:
    """Whether two texts are nearly equal.

    >>> is_near("12345678", "12345679"), is_near("123456789", "12345678X"), is_near("123456789", "1234567XY")
    (False, True, False)
    """
    shorter = min(len(text), len(other))
    allowed = shorter // EXACT_LENGTH if shorter > EXACT_LENGTH else 0
    if text == other or allowed == 0:
        return text == other
    return Levenshtein.distance(text, other, score_cutoff=allowed) <= allowed


def _pieces(text: str) -> list[str]:
    """The pieces into which a text in the index is cut: one more than the number of edits that it may have."""
    count = len(text) // EXACT_LENGTH + 1
    length = len(text) // count
    return [text[number * length : (number + 1) * length] for number in range(count)]


@cache
def _shortest(length: int) -> int:
    """The length of the shortest text that may be near a text of this length."""
    # A text of 8n characters may have n edits, so a near text has at most 9n characters.
    return next(short for short in range(length * 8 // 9, length + 1) if length - short <= short // EXACT_LENGTH)


@cache
def _piece_lengths(length: int) -> tuple[int, ...]:
    """The lengths of the pieces of all texts that may be near a text of this length."""
    others = range(max(EXACT_LENGTH + 1, _shortest(length)), length + length // EXACT_LENGTH + 1)
    return tuple(sorted({other // (other // EXACT_LENGTH + 1) for other in others}))
