"""The leaf labels of a page: each element's own text, line by line, and the block-level label it stands in.

A leaf label is an element that has text of its own, in one line; `page.blocks` are those lines. An element whose text
is broken by others (`<p>one <b>two</b> three</p>`) is one leaf, "one three", beside that of the others. Block-level
labels are body, section and div; what stands in none of them belongs to the page's root.

`enclosing` and `spans` answer what several methods ask of the tree, in time that does not grow with its depth.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from lxml import etree

from crawler.page.contents import INLINE, Block, steps
from crawler.page.page import Page
from crawler.page.text import fold_space

BLOCK_LEVEL = frozenset(("body", "section", "div"))


class Leaf(NamedTuple):
    """A leaf label."""

    tag: str
    text: str
    line: int
    """Index of its line in `page.blocks`."""
    home: int
    """Index of the block-level label it stands in."""
    anchor: int
    """Index of the link it stands in, or -1."""


class BlockLabel(NamedTuple):
    """A block-level label, without those nested in it."""

    tag: str
    images: int


class Leaves(NamedTuple):
    """What one walk finds, in page order."""

    leaves: tuple[Leaf, ...]
    homes: tuple[BlockLabel, ...]
    anchors: tuple[int, ...]
    """Of each `a`, the block-level label it stands in."""


def leaves(page: Page) -> Leaves:
    """The leaf labels of a page and its block-level labels, computed once."""
    return page.once(_read)


def _read(page: Page) -> Leaves:
    return _LeafReader().run(page.root)


class _LeafReader:
    def __init__(self) -> None:
        self.found: list[Leaf] = []
        self.tags: list[str] = []
        """Those of the block-level labels; `images` counts beside them."""
        self.images: list[int] = []
        self.anchors: list[int] = []
        self.lines = 0
        self.anchor = -1
        self.serial = 0
        self.open: list[tuple[int, str]] = []
        self.homes: list[int] = []
        self.containers: list[str] = []
        self.pieces: dict[int, tuple[str, int, list[str]]] = {}

    def run(self, root: etree._Element) -> Leaves:
        # The same breaks of lines as in crawler.page.contents, whose blocks are counted here.
        self.containers.append(root.tag)
        self.add_home(root.tag)
        for step, element, text in steps(root):
            if step == "start":
                self.enter(element.tag)
            elif step == "end":
                self.leave(element.tag)
            if text:
                self.read(text)
        self.end_line()
        return Leaves(tuple(self.found), tuple(map(BlockLabel, self.tags, self.images)), tuple(self.anchors))

    def enter(self, tag: str) -> None:
        self.serial += 1
        self.open.append((self.serial, tag))
        if tag not in INLINE:
            self.end_line()
            self.containers.append(tag)
            if tag in BLOCK_LEVEL:
                self.add_home(tag)
        elif tag == "a":
            self.anchor = len(self.anchors)
            self.anchors.append(self.homes[-1])
        elif tag == "img":
            self.images[self.homes[-1]] += 1

    def leave(self, tag: str) -> None:
        self.open.pop()
        if tag not in INLINE:
            self.end_line()
            self.containers.pop()
            if tag in BLOCK_LEVEL:
                self.homes.pop()
        elif tag == "a":
            self.anchor = -1

    def add_home(self, tag: str) -> None:
        self.homes.append(len(self.tags))
        self.tags.append(tag)
        self.images.append(0)

    def read(self, text: str) -> None:
        serial, tag = self.open[-1]
        self.pieces.setdefault(serial, (tag, self.anchor, []))[2].append(text)

    def end_line(self) -> None:
        if not self.pieces:
            return
        before, written = len(self.found), False
        for tag, anchor, pieces in self.pieces.values():
            raw = "".join(pieces)
            if text := fold_space(raw):
                self.found.append(Leaf(tag, text, self.lines, self.homes[-1], anchor))
            written = written or bool(raw.strip())
        # A line of zero-width characters alone is one in <pre>, and nowhere else.
        self.lines += len(self.found) > before or (written and self.containers[-1] == "pre")
        self.pieces = {}


Element = etree._Element


def enclosing(elements: Iterable[Element | None], is_home: Callable[[Element], bool]) -> Iterator[Element | None]:
    """For each element the innermost one around it, itself included, that is a home; None where there is none."""
    known: dict[Element | None, Element | None] = {None: None}
    for element in elements:
        if element not in known:
            path = []
            above = element
            while above is not None and above not in known and not is_home(above):
                path.append(above)
                above = above.getparent()
            known.update(dict.fromkeys([*path, above], known.get(above, above)))
        yield known[element]


def spans(blocks: tuple[Block, ...]) -> dict[Element, tuple[int, int]]:
    """For each element with text the indexes of its first block and of the one after its last."""
    # Twice: text in an inline element is its container's, so blocks may leave an element and come back.
    ends = _reach(blocks, range(len(blocks) - 1, -1, -1))
    return {element: (first, ends[element] + 1) for element, first in _reach(blocks, range(len(blocks))).items()}


def _reach(blocks: tuple[Block, ...], order: range) -> dict[Element, int]:
    """For each element the index of the block in it that comes first in this order."""
    reached: dict[Element, int] = {}
    for index in order:
        element: Element | None = blocks[index].element
        while element is not None and element not in reached:
            reached[element] = index
            element = element.getparent()
    return reached
