"""The contents of a page in one walk over its tree: blocks of text, and the elements that may be links and images.

A block is the text between two breaks of the line: the start or end of an element that is not inline, or a <br>. The
records are not frozen, because a page makes hundreds, and a frozen one takes three times as long to make.

Markup cuts a line into pieces, which `joined` puts together. In a browser the style sheet sets elements apart: tags,
prices, buttons. Without it the two words of `<span>Reviews</span><span>12</span>` are one. Which words are two was
counted on real pages beside the text that people marked: links side by side nearly always are (of 600 pairs three were
not), and so are two pieces of which the second begins with a capital or a digit (of 700 one in a hundred was not), but
where the first is a single capital, or the markup is of the kind that stands in words.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from crawler.page.formulas import formula, image_formula, is_drawing
from crawler.page.text import EASTERN, fold_space

WITHIN_WORDS = frozenset("em i mark q s sub sup u wbr".split())
"""Elements that begin and end within words: an empty piece stands for their tags, and what touches it is left alone."""

# After these characters, too, a capital begins a word.
ENDS_OF_PHRASES = frozenset(".:;,!?)]%®™")
# Han and kana, their punctuation and wide characters; Hangul has spaces.
_WIDE = (
    "\u2e80-\u2fdf\u3001-\u30ff\u31c0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff60\U00020000-\U000323af"
)
LINE_END_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}])[ \t\r]*+\n\s*+(?=[{_WIDE}])")


def joined(pieces: list[str]) -> str:
    """The pieces as one text: a space is inserted between two pieces if a word clearly begins, and a line break in the
    source between two characters of Chinese or Japanese is not a space.

    >>> joined(["Reviews", "12"]), joined(["D", "ie Bienen"]), joined(["Area", "", "51"]), joined(["蜜\\n  蜂"])
    ('Reviews 12', 'Die Bienen', 'Area51', '蜜蜂')
    """
    apart = pieces if len(pieces) == 1 else _set_apart(pieces)
    text = "".join(apart)
    if text.isascii() or "\n" not in text.strip():
        return text
    # Piece by piece, so that elements on separate lines, such as names in a list, stay apart.
    return "".join([LINE_END_BETWEEN_WIDE.sub("", piece) for piece in apart])


def _set_apart(pieces: list[str]) -> list[str]:
    """The pieces, with a space between two of which the second begins a new word."""
    apart = []
    before = ""
    for piece in pieces:
        first = piece[:1]
        if (first.isupper() or first.isdigit()) and begins_a_word(first, before[-2:]):
            apart.append(" ")
        apart.append(piece)
        before = piece
    return apart


def begins_a_word(first: str, before: str) -> bool:
    """Whether a capital or digit begins a word after these two characters."""
    last = before[-1:]
    if last >= EASTERN:
        return False
    if last.isalnum():
        return before[:-1].isalnum() or (last.isdigit() and first.isupper())
    return last in ENDS_OF_PHRASES and first.isupper() and not before[:-1].isupper()


TO_SOURCE = frozenset("[docs] [source] [src]".split())
"""Links between a description and the code that it describes; they stand in code, too."""
ANCHORS = TO_SOURCE | frozenset("¶ # § 🔗 [edit]".split()) | {"[edit|edit source]"}
"""Links from a heading to itself, to its source, or to the form that edits it."""
LONGEST_ANCHOR = max(map(len, ANCHORS))
BLANKS = " \t\r\n\xa0" + "".join(map(chr, range(0xFDD0, 0xFDDC)))
"""White space, and the marks of Markdown (crawler.extraction.output.markdown_inline)."""
ANCHORED = frozenset("h1 h2 h3 h4 h5 h6 dt".split())


def without_anchors(pieces: list[str]) -> list[str]:
    """The pieces of a heading, without the links of its own at the end.

    >>> without_anchors(["Bees", " ¶", "\\n"]), without_anchors(["C#"]), without_anchors(["#"])
    (['Bees', '\\n'], ['C#'], ['#'])
    >>> without_anchors(["dance()", "[source]", "#"]), without_anchors(["Hives ", "[", "edit", "]"])
    (['dance()'], ['Hives '])
    >>> without_anchors(["See also", "[", "edit", " | ", "edit source", "]"])
    ['See also']
    """
    kept = pieces[:]
    end = len(pieces)
    last = ""
    for at in range(len(pieces) - 1, 0, -1):
        last = pieces[at].strip(BLANKS) + last
        if len(last) > LONGEST_ANCHOR:
            break
        if last in ANCHORS:
            kept[at:end] = [piece for piece in kept[at:end] if not piece.strip(BLANKS)]
            end = at
            last = ""
    return kept


INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label map mark nobr o:p output picture "
    "q rb rp rt rtc ruby s samp small source span strike strong sub sup time tt u var wbr mjx-container "
    "mjx-assistive-mml".split()
)
# Elements whose text is not read, but for formulas. <noscript> is read: it has what readers without scripts see. The
# content of <noframes> and similar elements is for obsolete browsers, and is unparsed markup in the tree.
SILENT = frozenset(
    "applet audio canvas head math mjx-math noembed noframes object script select style svg template textarea title"
    " video".split()
)
# Of the silent elements, those whose text may be a formula.
MAY_BE_FORMULA = frozenset(("math", "script"))
# Elements other than <a> and <img> that link to pages or show images.
LEADING = frozenset(("frame", "iframe", "area", "input"))


@dataclass(slots=True, eq=False)
class Block:
    """A stretch of text without a line break; no two of them are the same."""

    text: str
    tag: str
    linked: int
    """How many of its characters are in links."""
    element: etree._Element
    """The innermost block-level element around it."""


@dataclass(frozen=True, slots=True)
class Containers:
    """The block-level elements, in page order, in columns."""

    elements: list[etree._Element]
    parents: list[int]
    """Index of the container around it, -1 for the first."""
    starts: list[int]
    """Index of its first block."""
    ends: list[int]
    """Index of the first block after it."""
    tags: list[str]


@dataclass(frozen=True, slots=True)
class PageContents:
    """What one walk over a tree finds."""

    blocks: tuple[Block, ...]
    link_elements: list["LinkElement"]
    """Possible links, in the order of their ends."""
    image_elements: list["ImageElement"]
    """Possible images."""
    containers: Containers
    homes: list[int]
    """For each block, the index of the innermost container around it."""
    wraps: list[etree._Element | None]
    """For each block, the first inline element that begins in it."""


class LinkElement:
    """An element that may lead to another page."""

    __slots__ = ("at", "element", "has_image", "href", "pieces")

    def __init__(self, element: etree._Element, href: str | None, at: int) -> None:
        self.element = element
        self.href = href
        self.at = at
        """Index of its block, or of the next one if it has no text."""
        self.has_image = False
        self.pieces: list[str] = []


@dataclass(slots=True)
class ImageElement:
    """An element that may show an image."""

    element: etree._Element
    srcset: str
    """The candidates of the elements before it in its <picture>."""
    anchor: LinkElement | None
    at: int


def steps(root: etree._Element) -> Iterator[tuple[str, etree._Element, str]]:
    """Every "start" and "end" of an element that is read, and the "skipped" ones, each with the text that follows; and
    each "formula", with its own.

    `contents` itself has these steps in it, for speed.
    """
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        is_silent = element.tag in SILENT
        if event == "end":
            if element.tag in MAY_BE_FORMULA and (tex := formula(element)):
                yield "formula", element, tex
            yield "skipped" if is_silent else "end", element, (element.tail or "") if element is not root else ""
        elif is_silent or (element.tag == "span" and is_drawing(element)):
            walker.skip_subtree()
            if not is_silent:
                yield "start", element, ""
        else:
            is_read = element.tag != "iframe" and not _leads_from_code(element)
            yield "start", element, (element.text or "") if is_read else ""
            if element.tag == "img" and (formula_text := image_formula(element)):
                yield "formula", element, formula_text


def _leads_from_code(element: etree._Element) -> bool:
    """Whether an element is a link in code to the description of the code."""
    is_named = element.tag == "a" and (element.text or "").strip() in TO_SOURCE
    return is_named and next(element.iterancestors("pre"), None) is not None


def contents(root: etree._Element) -> PageContents:
    """The blocks below `root`, the elements around them, and possible links and images."""
    return _ContentsReader().run(root)


class _ContentsReader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.link_elements: list[LinkElement] = []
        self.image_elements: list[ImageElement] = []
        self.pieces: list[str] = []
        self.linked = 0
        self.anchor: LinkElement | None = None
        self.containers = Containers(elements=[], parents=[], starts=[], ends=[], tags=[])
        self.home = -1
        """Index of the innermost container."""
        self.pres = 0
        """How many <pre> are open."""
        self.homes: list[int] = []
        self.wrap: etree._Element | None = None
        self.wraps: list[etree._Element | None] = []
        self.srcset = ""
        self.after_link = -1
        """The number of pieces in the block when a link in it ended."""

    def run(self, root: etree._Element) -> PageContents:
        pieces = self.pieces
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
                text = element.text if tag != "iframe" else None
            else:
                self.close_container()
                text = element.tail if element is not root else None
            # Most texts of a page are white space between elements, which only <pre> keeps at a line's start.
            if text and (pieces or not text.isspace() or self.pres):
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
        if self.pieces:
            self.close_block()
        containers = self.containers
        containers.parents.append(self.home)
        self.home = len(containers.elements)
        self.wrap = None
        containers.elements.append(element)
        containers.starts.append(len(self.blocks))
        containers.ends.append(0)
        containers.tags.append(tag)
        if tag == "pre":
            self.pres += 1
        elif tag in LEADING:
            self.lead(element, tag)

    def close_container(self) -> None:
        if self.pieces:
            self.close_block()
        self.containers.ends[self.home] = len(self.blocks)
        if self.containers.tags[self.home] == "pre":
            self.pres -= 1
        self.home = self.containers.parents[self.home]
        self.wrap = None

    def enter(self, element: etree._Element, tag: str) -> str | None:
        """Enter an inline element; returns its text."""
        if self.wrap is None:
            self.wrap = element
        if tag == "a":
            self.close_anchor()  # as in browsers, a link in a link ends the outer one
            if self.after_link == len(self.pieces):
                self.pieces.append(" ")  # adjacent links are never one word
            self.anchor = LinkElement(element, element.get("href"), len(self.blocks))
            if self.pres and _leads_from_code(element):
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

    def lead(self, element: etree._Element, tag: str) -> None:
        """Record an element that leads elsewhere but has no text."""
        if tag == "input":
            if element.get("type", "").lower() == "image":
                self.add_image(element)
        else:
            self.link_elements.append(
                LinkElement(element, element.get("href" if tag == "area" else "src"), len(self.blocks))
            )

    def close_anchor(self) -> None:
        anchor = self.anchor
        self.anchor = None
        if anchor is not None:
            self.link_elements.append(anchor)
            self.after_link = len(self.pieces)

    def read(self, text: str) -> None:
        self.pieces.append(text)
        if self.anchor is not None:
            self.anchor.pieces.append(text)
            self.linked += len(text.strip())

    def close_block(self) -> None:
        home = self.home
        pieces = self.pieces
        tag = self.containers.tags[home]
        if self.linked and tag in ANCHORED:
            pieces[:] = without_anchors(pieces)
        text = _lines("".join(pieces)) if self.pres else fold_space(joined(pieces))
        if text:
            self.blocks.append(
                Block(text=text, tag=tag, linked=min(self.linked, len(text)), element=self.containers.elements[home])
            )
            self.homes.append(home)
            self.wraps.append(self.wrap)
        pieces.clear()
        self.linked = 0
        self.after_link = -1

    def add_image(self, element: etree._Element) -> None:
        self.image_elements.append(
            ImageElement(element=element, srcset=self.srcset, anchor=self.anchor, at=len(self.blocks))
        )
        self.srcset = ""
        if self.anchor is not None:
            self.anchor.has_image = True


def _lines(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
