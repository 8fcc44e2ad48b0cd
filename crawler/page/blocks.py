"""The contents of a page in one walk over its tree: blocks of text, and the elements that may be links and images.

A block is the text between two line breaks: the start or end of an element that is not inline, or a <br>. The elements
that are not inline are called containers; the home of a block is the innermost container around it. The wrap of a block
is the first inline element that begins in it. Blocks and elements are not frozen, because a page has hundreds of them
and a frozen record takes three times as long to create.

Markup cuts a line into pieces, which `joined` puts together. In a browser the style sheet sets elements apart: tags,
prices, buttons. Without it the two words of `<span>Reviews</span><span>12</span>` would be one. The rules for separate
words were measured on real pages whose text people had marked. Adjacent links are separate words in all but 3 of 600
pairs. A piece that begins with a capital or a digit begins a new word in all but 1 % of 700 pairs, unless the piece
before it is a single capital, or the markup between them occurs within words (`WITHIN_WORDS`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from crawler.page.formulas import formula, image_formula, is_drawing
from crawler.page.text import EASTERN, fold_space

WITHIN_WORDS = frozenset("em i mark q s sub sup u wbr".split())
"""Elements that begin and end within words: an empty piece stands for each of their tags, and no space is inserted
beside it.
"""

ENDS_OF_PHRASES = frozenset(".:;,!?)]%®™")
"""Characters other than letters and digits after which a capital begins a word."""
# Han, kana, their punctuation and full-width characters. Hangul is not included, because Korean has spaces.
_WIDE = (
    "\u2e80-\u2fdf\u3001-\u30ff\u31c0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U000323af"
)
LINE_END_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}])[ \t\r]*+\n\s*+(?=[{_WIDE}])")


def joined(pieces: list[str]) -> str:
    """The pieces as one text: a space is inserted between two pieces if a word clearly begins, and a line break
    between two Chinese or Japanese characters is removed.

    >>> joined(["Reviews", "12"]), joined(["D", "ie Bienen"]), joined(["Area", "", "51"]), joined(["蜜\\n  蜂"])
    ('Reviews 12', 'Die Bienen', 'Area51', '蜜蜂')
    """
    spaced = pieces if len(pieces) == 1 else _spaced(pieces)
    text = "".join(spaced)
    if text.isascii() or "\n" not in text.strip():
        return text
    # Piece by piece, so that elements on separate lines, such as names in a list, stay apart.
    return "".join([LINE_END_BETWEEN_WIDE.sub("", piece) for piece in spaced])


def _spaced(pieces: list[str]) -> list[str]:
    """The pieces, with a space before each one that begins a new word."""
    spaced = []
    before = ""
    for piece in pieces:
        first = piece[:1]
        if (first.isupper() or first.isdigit()) and begins_a_word(first, before[-2:]):
            spaced.append(" ")
        spaced.append(piece)
        before = piece
    return spaced


def begins_a_word(first: str, before: str) -> bool:
    """Whether a capital or digit begins a word, given the (at most two) characters before it.

    It does after two letters or digits; a capital also does after a single digit. After `ENDS_OF_PHRASES`, only a
    capital does, unless a capital comes before them, as in initials. After an East Asian character, neither does.

    >>> begins_a_word("1", "ws"), begins_a_word("D", "99"), begins_a_word("D", ": ")
    (True, True, False)
    >>> begins_a_word("D", "A"), begins_a_word("D", " A"), begins_a_word("D", "s:"), begins_a_word("D", "B:")
    (False, False, True, False)
    """
    last = before[-1:]
    if last >= EASTERN:
        return False
    if last.isalnum():
        return before[:-1].isalnum() or (last.isdigit() and first.isupper())
    return last in ENDS_OF_PHRASES and first.isupper() and not before[:-1].isupper()


SOURCE_LINKS = frozenset("[docs] [source] [src]".split())
"""Texts of links between the documentation of code and the code; they also occur in <pre>."""
ANCHORS = SOURCE_LINKS | frozenset("¶ # § 🔗 [edit]".split()) | {"[edit|edit source]"}
"""Texts of links from a heading to itself, to its source, or to the form that edits it."""
LONGEST_ANCHOR = max(map(len, ANCHORS))
BLANKS = " \t\r\n\xa0" + "".join(map(chr, range(0xFDD0, 0xFDDC)))
"""White space, and the noncharacters that mark emphasis, code, links and formulas in a text, but not footnotes
(crawler/extraction/output/markdown_inline.py).
"""
ANCHORED = frozenset("h1 h2 h3 h4 h5 h6 dt".split())
"""Headings and defined terms, which may contain a link to themselves."""


def without_anchors(pieces: list[str]) -> list[str]:
    """The pieces of a heading, without the `ANCHORS` at its end. The first piece stays: it is the heading itself.

    >>> without_anchors(["Bees", " ¶", "\\n"]), without_anchors(["C#"]), without_anchors(["#"])
    (['Bees', '\\n'], ['C#'], ['#'])
    >>> without_anchors(["dance()", "[source]", "#"]), without_anchors(["Hives ", "[", "edit", "]"])
    (['dance()'], ['Hives '])
    >>> without_anchors(["See also", "[", "edit", " | ", "edit source", "]"])
    ['See also']
    """
    kept = pieces[:]
    end = len(pieces)
    text = ""  # of the pieces from `at` to `end`
    for at in range(len(pieces) - 1, 0, -1):
        text = pieces[at].strip(BLANKS) + text
        if len(text) > LONGEST_ANCHOR:
            break
        if text in ANCHORS:
            # White space and marks stay; another anchor may be before this one.
            kept[at:end] = [piece for piece in kept[at:end] if not piece.strip(BLANKS)]
            end = at
            text = ""
    return kept


INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label map mark nobr o:p output picture "
    "q rb rp rt rtc ruby s samp small source span strike strong sub sup time tt u var wbr mjx-container "
    "mjx-assistive-mml".split()
)
# Elements whose text is not read, except that of formulas. <noscript> is read: it has what readers without scripts see.
# The content of <noframes> and similar elements is for obsolete browsers, and is unparsed markup in the tree.
SILENT = frozenset(
    "applet audio canvas head math mjx-math noembed noframes object script select style svg template textarea title"
    " video".split()
)
# Of the silent elements, those whose text may be a formula.
MAY_BE_FORMULA = frozenset(("math", "script"))
# Elements other than <a> and <img> that may link to a page or show an image.
OTHER_TARGETS = frozenset(("frame", "iframe", "area", "input"))


@dataclass(slots=True, eq=False)
class Block:
    """A stretch of text without a line break. Two blocks are never equal, even if their texts are."""

    text: str
    tag: str
    """The tag of `element`."""
    linked: int
    """How many of its characters are in links."""
    element: etree._Element
    """The home of the block."""


@dataclass(frozen=True, slots=True)
class Containers:
    """The containers in page order, as columns: index i of each list is about container i."""

    elements: list[etree._Element]
    parents: list[int]
    """Index of the container around it; -1 for the first container."""
    starts: list[int]
    """Index of its first block."""
    ends: list[int]
    """Index of the first block after it."""
    tags: list[str]


@dataclass(frozen=True, slots=True)
class PageContents:
    """The blocks and elements that one walk over a tree finds."""

    blocks: tuple[Block, ...]
    link_elements: list["LinkElement"]
    """Possible links, in the order of their ends."""
    image_elements: list["ImageElement"]
    """Possible images."""
    containers: Containers
    homes: list[int]
    """The index of each block's home in `containers`."""
    wraps: list[etree._Element | None]
    """The wrap of each block; None if no inline element begins in it."""


class LinkElement:
    """An element that may link to another page."""

    __slots__ = ("at", "element", "has_image", "href", "pieces")

    def __init__(self, element: etree._Element, href: str | None, at: int) -> None:
        self.element = element
        self.href = href
        self.at = at
        """Index of its block, or of the next one if it has no text."""
        self.has_image = False
        self.pieces: list[str] = []
        """Its text, in pieces."""


@dataclass(slots=True)
class ImageElement:
    """An element that may show an image."""

    element: etree._Element
    srcset: str
    """The first `srcset` of the <source> elements before it in its <picture>."""
    anchor: LinkElement | None
    """The link around it."""
    at: int
    """Index of its block, or of the next one."""


def steps(root: etree._Element) -> Iterator[tuple[str, etree._Element, str]]:
    """The steps of a walk over the elements that are read: a name, an element and a text.

    - "start" and "end" of an element, with the text that follows the tag;
    - "skipped", one of the `SILENT` elements, with the text after it;
    - "formula", an element that is read as TeX, with the TeX.

    `contents` makes the same walk without this function, for speed.
    """
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        is_silent = element.tag in SILENT
        if event == "end":
            if element.tag in MAY_BE_FORMULA and (tex := formula(element)):
                yield "formula", element, tex
            tail = "" if element is root else element.tail or ""
            yield "skipped" if is_silent else "end", element, tail
        elif is_silent or (element.tag == "span" and is_drawing(element)):
            walker.skip_subtree()
            if not is_silent:  # a drawing: its source is the formula
                yield "start", element, ""
        else:
            # The text in an <iframe> is for obsolete browsers.
            is_read = element.tag != "iframe" and not _is_source_link_in_code(element)
            yield "start", element, (element.text or "") if is_read else ""
            if element.tag == "img" and (formula_text := image_formula(element)):
                yield "formula", element, formula_text


def _is_source_link_in_code(element: etree._Element) -> bool:
    """Whether an element is a link with one of the texts in `SOURCE_LINKS`, in a <pre>."""
    is_source_link = element.tag == "a" and (element.text or "").strip() in SOURCE_LINKS
    return is_source_link and next(element.iterancestors("pre"), None) is not None


def contents(root: etree._Element) -> PageContents:
    """The blocks of a tree, the elements around them, and possible links and images."""
    return _ContentsReader().run(root)


class _ContentsReader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.link_elements: list[LinkElement] = []
        self.image_elements: list[ImageElement] = []
        self.pieces: list[str] = []
        """The text of the open block."""
        self.linked = 0
        """Characters of the open block that are in links."""
        self.anchor: LinkElement | None = None
        """The link around the current position."""
        self.containers = Containers(elements=[], parents=[], starts=[], ends=[], tags=[])
        self.home = -1
        """Index of the innermost open container."""
        self.open_pres = 0
        """How many <pre> are open."""
        self.homes: list[int] = []
        """The homes of the blocks."""
        self.wrap: etree._Element | None = None
        """The first inline element that begins in the open block."""
        self.wraps: list[etree._Element | None] = []
        """The wraps of the blocks."""
        self.srcset = ""
        """The first `srcset` in the open <picture>."""
        self.link_end = -1
        """How many pieces the open block had when the last link in it ended; -1 if no link has ended in it."""

    def run(self, root: etree._Element) -> PageContents:
        pieces = self.pieces
        # The root is always the first container, so that every text has a home even if the root is an inline element.
        # Any other root is opened a second time in the walk.
        self.open_container(root, root.tag)
        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            tag = element.tag
            if tag in INLINE:
                if tag == "span" and event == "start" and is_drawing(element):
                    walker.skip_subtree()
                    continue
                text = self.enter(element, tag) if event == "start" else self.leave(element, tag)
            elif tag in SILENT:
                if event == "start":
                    walker.skip_subtree()
                    continue
                text = element.tail
                if tag in MAY_BE_FORMULA and (formula_text := formula(element)):
                    text = formula_text + (text or "")
            elif event == "start":
                self.open_container(element, tag)
                text = element.text if tag != "iframe" else None  # not read: it is for obsolete browsers
            else:
                self.close_container()
                text = element.tail if element is not root else None
            # Most texts are white space between elements. It is dropped at the start of a block, except in <pre>. An
            # open link keeps it, because the link's text may begin in an earlier block.
            if text and (pieces or not text.isspace() or self.open_pres):
                self.read(text)
            elif text and self.anchor is not None:
                self.anchor.pieces.append(text)
        self.close_anchor()
        self.close_container()
        return PageContents(
            blocks=tuple(self.blocks),
            link_elements=self.link_elements,
            image_elements=self.image_elements,
            containers=self.containers,
            homes=self.homes,
            wraps=self.wraps,
        )

    def open_container(self, element: etree._Element, tag: str) -> None:
        """Enter a container, which ends the block before it."""
        if self.pieces:
            self.close_block()
        containers = self.containers
        containers.parents.append(self.home)
        self.home = len(containers.elements)
        self.wrap = None
        containers.elements.append(element)
        containers.starts.append(len(self.blocks))
        containers.ends.append(0)  # until it is closed
        containers.tags.append(tag)
        if tag == "pre":
            self.open_pres += 1
        elif tag in OTHER_TARGETS:
            self.add_other_target(element, tag)

    def close_container(self) -> None:
        """Leave a container, which ends the block in it."""
        if self.pieces:
            self.close_block()
        self.containers.ends[self.home] = len(self.blocks)
        if self.containers.tags[self.home] == "pre":
            self.open_pres -= 1
        self.home = self.containers.parents[self.home]
        self.wrap = None

    def enter(self, element: etree._Element, tag: str) -> str | None:
        """Enter an inline element; returns its text."""
        if self.wrap is None:
            self.wrap = element
        if tag == "a":
            self.close_anchor()  # as in browsers, a link in a link ends the outer one
            if self.link_end == len(self.pieces):
                self.pieces.append(" ")  # adjacent links are separate words
            self.anchor = LinkElement(element, element.get("href"), len(self.blocks))
            if self.open_pres and _is_source_link_in_code(element):  # e.g. "[source]": kept as a link, not as text
                self.anchor.pieces.append(element.text or "")
                return None
        elif tag == "img":
            self.add_image(element)
            return image_formula(element)
        elif tag == "source":
            self.srcset = self.srcset or element.get("srcset") or element.get("data-srcset") or ""
        elif tag in WITHIN_WORDS:
            self.pieces.append("")
        return element.text

    def leave(self, element: etree._Element, tag: str) -> str | None:
        """Leave an inline element; returns the text after it."""
        if tag == "a":
            if self.anchor is not None and self.anchor.element is element:
                self.close_anchor()
        elif tag == "picture":
            self.srcset = ""
        elif tag in WITHIN_WORDS:
            self.pieces.append("")
        return element.tail

    def add_other_target(self, element: etree._Element, tag: str) -> None:
        """Add the link or image of one of the `OTHER_TARGETS` elements."""
        if tag == "input":
            if element.get("type", "").lower() == "image":
                self.add_image(element)
        else:
            href = element.get("href" if tag == "area" else "src")
            self.link_elements.append(LinkElement(element, href, len(self.blocks)))

    def close_anchor(self) -> None:
        """End the open link, if there is one."""
        anchor = self.anchor
        self.anchor = None
        if anchor is not None:
            self.link_elements.append(anchor)
            self.link_end = len(self.pieces)

    def read(self, text: str) -> None:
        """Add a text to the open block and the open link."""
        self.pieces.append(text)
        if self.anchor is not None:
            self.anchor.pieces.append(text)
            self.linked += len(text.strip())

    def close_block(self) -> None:
        """End the open block, and keep it if it has text."""
        home = self.home
        pieces = self.pieces
        tag = self.containers.tags[home]
        if self.linked and tag in ANCHORED:
            pieces[:] = without_anchors(pieces)  # in place, because `run` uses the same list

        if self.open_pres:
            text = _lines("".join(pieces))
        else:
            text = fold_space(joined(pieces))
        if text:
            # `linked` may exceed the length: anchors are removed and white space is folded.
            self.blocks.append(
                Block(text=text, tag=tag, linked=min(self.linked, len(text)), element=self.containers.elements[home])
            )
            self.homes.append(home)
            self.wraps.append(self.wrap)

        pieces.clear()
        self.linked = 0
        self.link_end = -1

    def add_image(self, element: etree._Element) -> None:
        """Add a possible image."""
        self.image_elements.append(
            ImageElement(element=element, srcset=self.srcset, anchor=self.anchor, at=len(self.blocks))
        )
        self.srcset = ""
        if self.anchor is not None:
            self.anchor.has_image = True


def _lines(text: str) -> str:
    """The text of a <pre>: its lines without space at their ends, and without blank lines around them."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
